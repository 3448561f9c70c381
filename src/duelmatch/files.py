"""Problems, preferences and votes as files that people write, read and share.

A problem is YAML or JSON::

    candidates: [ann, bob, cyd]       # or [{name: ann, title: Ann, text: Likes cake}, bob]
    positions: [chair, editor]
    edges:                            # who can fill what; left out if everyone can fill everything
      chair: [ann, bob]
      editor: [bob, cyd]
    preferences:                      # optional
      chair:
      - [ann, bob, 0.55]              # ann beats bob at chair with this probability
      editor:
      - [bob, cyd, 0.6]

A candidate or position may carry a title, a text, a picture and a link for the voters to see.
``edges`` may also be a list of [candidate, position], ``preferences`` a list of [position, first,
second, probability]. As CSV, a problem has the columns ``candidate,position``, preferences
``position,first,second,probability`` and votes ``position,winner,loser``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from duelmatch.documents import Bare, dump, number, parse
from duelmatch.errors import FileError, ProblemError
from duelmatch.layout import (
    PREFERENCE_COLUMNS,
    Largest,
    add_pair,
    check_size,
    problem_of,
    sections_of,
    tree_of,
    win_of,
)
from duelmatch.preferences import Pair, Preferences
from duelmatch.problem import Problem
from duelmatch.textfiles import append_table, dump_table, naming, read_text, table, write_text

PROBLEM_BYTES = 5_000_000
VOTES_BYTES = 50_000_000
MOST_EDGES_WITH_PREFERENCES = 5_000
"""Preferences take a matrix of edges times edges: 200 MB at this size."""

PROBLEM_HEADER = ("candidate", "position")
VOTES_HEADER = ("position", "winner", "loser")

AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer: at ``position``, ``winner`` was found better than ``loser``."""

    position: str
    winner: str
    loser: str


def load_problem(path: AnyPath) -> Problem:
    """Read a problem; preferences in the same file are left to :func:`load_preferences`.

    :raises FileError: if the file cannot be read or understood.
    :raises ProblemError: if what it says is not a problem.
    """
    with naming(path) as file:
        return read_problem(read_text(file, PROBLEM_BYTES), _suffix(file))


def read_problem(text: str, suffix: str, largest: Largest | None = None) -> Problem:
    """Read a problem from the text of a file whose name ends in .yaml, .json or .csv."""
    if suffix == ".csv":
        return _table_problem(text, largest)
    return problem_of(sections_of(parse(text, suffix)), largest)


def load_preferences(path: AnyPath, problem: Problem | None = None) -> Preferences:
    """Read win probabilities, for the problem given or else the one in the same file.

    A CSV holds no problem of its own: unless one is given, its candidates and positions are those
    that the rows name, in that order.
    """
    with naming(path) as file:
        text = read_text(file, PROBLEM_BYTES)
        suffix = _suffix(file)
        if suffix == ".csv":
            win = _table_win(text)
            problem = problem or _problem_of_pairs(win)
        else:
            sections = sections_of(parse(text, suffix))
            win = win_of(sections)
            problem = problem or problem_of(sections)
        _check_size_with_preferences(problem)
        return Preferences(problem, win)


def save_problem(problem: Problem, path: AnyPath, preferences: Preferences | None = None) -> None:
    """Write a problem, whole or not at all, so that loading it gives the same again."""
    with naming(path) as file:
        suffix = _suffix(file)
        check_size(problem.candidates, problem.positions)
        if preferences is not None:
            if preferences.problem != problem:
                raise ProblemError("The preferences belong to another problem.")
            _check_size_with_preferences(problem)
        if suffix == ".csv":
            text = _problem_table(problem, preferences)
        else:
            text = dump(tree_of(problem, preferences), suffix)
        write_text(file, text, PROBLEM_BYTES)


def load_votes(path: AnyPath, problem: Problem) -> list[Vote]:
    """Read votes, each checked against the problem."""
    with naming(path) as file:
        _check_is_csv(file)
        votes = []
        for line, cells in table(read_text(file, VOTES_BYTES), VOTES_HEADER):
            vote = Vote(*cells)
            try:
                _check_vote(vote, problem)
            except ProblemError as error:
                raise ProblemError(f"line {line}: {error}") from None
            votes.append(vote)
        return votes


def save_votes(votes: Iterable[Vote], path: AnyPath) -> None:
    """Write votes as a new file, in place of an old one."""
    with naming(path) as file:
        _check_is_csv(file)
        write_text(file, votes_table(votes), VOTES_BYTES)


def append_votes(votes: Iterable[Vote], path: AnyPath) -> None:
    """Add votes at the end of a file, which is made if it is not there."""
    with naming(path) as file:
        _check_is_csv(file)
        append_table(file, votes_table(votes), VOTES_HEADER, VOTES_BYTES)


def _suffix(file: Path) -> str:
    suffix = file.suffix.lower()
    if suffix not in (".yaml", ".yml", ".json", ".csv"):
        raise FileError("The name of the file must end in .yaml, .yml, .json or .csv.")
    return suffix


def _check_is_csv(file: Path) -> None:
    if file.suffix.lower() != ".csv":
        raise FileError("Votes are kept as CSV: the name of the file must end in .csv.")


def _check_size_with_preferences(problem: Problem) -> None:
    if len(problem.edges) > MOST_EDGES_WITH_PREFERENCES:
        raise FileError(
            f"The problem is too large to have preferences: it has {len(problem.edges):,} edges, "
            f"where {MOST_EDGES_WITH_PREFERENCES:,} are allowed."
        )


def _check_vote(vote: Vote, problem: Problem) -> None:
    problem.edge_number(vote.winner, vote.position)
    problem.edge_number(vote.loser, vote.position)
    if vote.winner == vote.loser:
        raise ProblemError(f"'{vote.winner}' cannot win against itself.")


def _table_problem(text: str, largest: Largest | None) -> Problem:
    edges = [(candidate, position) for _, (candidate, position) in table(text, PROBLEM_HEADER)]
    candidates = dict.fromkeys(candidate for candidate, _ in edges)
    positions = dict.fromkeys(position for _, position in edges)
    check_size(candidates, positions)
    if largest is not None:
        largest.check(Counter(position for _, position in edges).values())
    return Problem.from_edges(edges)


def _table_win(text: str) -> dict[Pair, float]:
    win: dict[Pair, float] = {}
    for line, (position, first, second, probability) in table(text, PREFERENCE_COLUMNS):
        pair = position, first, second
        value = number(Bare(probability, where=f"line {line}: "), "the probability")
        try:
            add_pair(win, pair, value)
        except FileError as error:
            raise FileError(f"line {line}: {error}") from None
    return win


def _problem_of_pairs(win: Mapping[Pair, float]) -> Problem:
    edges = dict.fromkeys((candidate, position) for position, *rivals in win for candidate in rivals)
    check_size({candidate for candidate, _ in edges}, {position for _, position in edges})
    return Problem.from_edges(edges)


def _problem_table(problem: Problem, preferences: Preferences | None) -> str:
    """Return the CSV whose rows bring the names up in the right order, if there is one."""
    if preferences is None and not problem.candidate_details and not problem.position_details:
        by_candidate = sorted(problem.edges, key=lambda edge: problem.candidate_number(edge[0]))
        for edges in (problem.edges, by_candidate):
            text = dump_table(PROBLEM_HEADER, edges)
            if _reads_back(text, PROBLEM_HEADER, edges) and Problem.from_edges(edges) == problem:
                return text
    raise FileError(
        "A CSV cannot hold all of this problem (preferences, details, candidates without a "
        "position, the order of names, names that begin or end with a space); "
        "save it as .yaml or .json."
    )


def votes_table(votes: Iterable[Vote]) -> str:
    """Return the text of a file of votes.

    :raises FileError: if a name would not be the same when the file is read.
    """
    rows = [(vote.position, vote.winner, vote.loser) for vote in votes]
    text = dump_table(VOTES_HEADER, rows)
    if not _reads_back(text, VOTES_HEADER, rows):
        raise FileError("A CSV cannot hold a name that is empty, or begins or ends with a space.")
    return text


def _reads_back(text: str, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> bool:
    if "\0" in text:
        return False
    try:
        return [tuple(cells) for _, cells in table(text, header)] == list(rows)
    except FileError:
        return False
