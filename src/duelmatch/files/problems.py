"""Problems and preferences as files that people write, read and share; see :mod:`duelmatch.files`."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from duelmatch.errors import FileError, ProblemError
from duelmatch.files.documents import Bare, Tree, dump, parse
from duelmatch.files.layout import (
    PREFERENCE_COLUMNS,
    Largest,
    Sections,
    check_size,
    problem_of,
    sections_of,
    tree_of,
    win_of,
)
from duelmatch.files.tables import dump_exactly, read_table
from duelmatch.files.text import AnyPath, naming, read_text, write_text
from duelmatch.preferences import Preferences
from duelmatch.problem import Problem

PROBLEM_BYTES = 5_000_000
MOST_EDGES_WITH_PREFERENCES = 5_000
"""Preferences take a matrix of edges times edges: 200 MB at this size."""

EDGE_COLUMNS = ("candidate", "position")

_CSV_BEGINNING = re.compile(r"\s*[^\s#%?-][^:\n]*[,;]")
"""A first line with commas. In YAML it has a colon before them, or is a comment or a directive."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file of a problem, read and taken apart; what it says is checked when it is asked for."""

    name: str
    sections: Sections

    @property
    def has_preferences(self) -> bool:
        """Whether there are preferences, right or wrong, besides the problem."""
        return "preferences" in self.sections

    def problem(self) -> Problem:
        """Return the problem; preferences name one, too."""
        with naming(self.name):
            return problem_of(self.sections)

    def preferences(self, problem: Problem | None = None) -> Preferences:
        """Return the preferences, for the problem given or else the one in the same file."""
        with naming(self.name):
            win = win_of(self.sections)
            problem = problem or problem_of(self.sections)
            _check_size_with_preferences(problem)
            return Preferences(problem, win)


def open_document(path: AnyPath) -> Document:
    """Read a file whose name ends in .yaml, .yml, .json or .csv."""
    with naming(path) as file:
        suffix = _suffix(file)
        return Document(str(file), _sections(read_text(file, PROBLEM_BYTES), suffix))


def read_document(text: str, name: str) -> Document:
    """Read a text that tells by its content what it is: JSON, CSV or else YAML."""
    with naming(name):
        return Document(name, _sections(text, suffix_of(text)))


def load_problem(path: AnyPath) -> Problem:
    """Read a problem; preferences in the same file are left to :func:`load_preferences`.

    :raises FileError: if the file cannot be read or understood.
    :raises ProblemError: if what it says is not a problem.
    """
    return open_document(path).problem()


def read_problem(text: str, suffix: str, largest: Largest | None = None) -> Problem:
    """Read a problem from the text of a file whose name ends in .yaml, .json or .csv."""
    return problem_of(_sections(text, suffix), largest)


def load_preferences(path: AnyPath, problem: Problem | None = None) -> Preferences:
    """Read win probabilities, for the problem given or else the one in the same file.

    A CSV holds no problem of its own: unless one is given, its candidates and positions are those
    that the rows name, in that order.
    """
    return open_document(path).preferences(problem)


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


def suffix_of(text: str) -> str:
    r"""Return the suffix that the file of a text would have.

    >>> [suffix_of(text) for text in ('{"edges": {', "candidate,position\nann,x", "edges: [[ann, chair]]")]
    ['.json', '.csv', '.yaml']
    """
    if text.lstrip().startswith(("{", "[")):
        return ".json"
    return ".csv" if _CSV_BEGINNING.match(text) else ".yaml"


def _suffix(file: Path) -> str:
    suffix = file.suffix.lower()
    if suffix not in (".yaml", ".yml", ".json", ".csv"):
        raise FileError("The name of the file must end in .yaml, .yml, .json or .csv.")
    return suffix


def _sections(text: str, suffix: str) -> Sections:
    return _table_sections(text) if suffix == ".csv" else sections_of(parse(text, suffix))


def _table_sections(text: str) -> Sections:
    """Return the document that says the same as a CSV of edges or of preferences."""
    header, rows = read_table(text, EDGE_COLUMNS, PREFERENCE_COLUMNS)
    if header == EDGE_COLUMNS:
        return {"edges": [[candidate, position] for _, (candidate, position) in rows]}
    preferences: list[Tree] = []
    edges: dict[tuple[str, str], None] = {}
    for line, (position, first, second, probability) in rows:
        preferences.append([position, first, second, Bare(probability, where=f"line {line}: ")])
        edges |= {(first, position): None, (second, position): None}
    return {"edges": [list(edge) for edge in edges], "preferences": preferences}


def _check_size_with_preferences(problem: Problem) -> None:
    if len(problem.edges) > MOST_EDGES_WITH_PREFERENCES:
        raise FileError(
            f"The problem is too large to have preferences: it has {len(problem.edges):,} edges, "
            f"where {MOST_EDGES_WITH_PREFERENCES:,} are allowed."
        )


def _problem_table(problem: Problem, preferences: Preferences | None) -> str:
    """Return the CSV whose rows bring the names up in the right order, if there is one."""
    has_details = problem.candidate_details or problem.position_details
    if preferences is None and not has_details and not problem.conditions:
        by_candidate = sorted(problem.edges, key=lambda edge: problem.candidate_number(edge[0]))
        for edges in (problem.edges, by_candidate):
            with suppress(FileError):
                text = dump_exactly(EDGE_COLUMNS, edges)
                if Problem.from_edges(edges) == problem:
                    return text
    raise FileError(
        "A CSV cannot hold all of this problem (preferences, details, capacities, seats, weights, rules, "
        "candidates without a position, the order of names, names that begin or end with a space); "
        "save it as .yaml or .json."
    )
