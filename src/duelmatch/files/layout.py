"""How a problem is laid out: a document into a problem with its preferences, and back.

The layout is described in :mod:`duelmatch.files`; here it is taken apart, and every sentence about
what is wrong with it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import product

from duelmatch.errors import FileError, listed
from duelmatch.files.documents import Bare, Tree, check_keys, name, number, shown
from duelmatch.preferences import Pair, Preferences
from duelmatch.problem import Details, Problem

MOST_CELLS = 1_000_000
"""Candidates times positions: what the table of edges takes."""

KEYS = ("candidates", "positions", "edges", "preferences")
DETAILS = tuple(field.name for field in fields(Details))
PREFERENCE_COLUMNS = ("position", "first", "second", "probability")

Sections = dict[str, Tree]
"""The known keys of a document, and what they hold."""


def check_size(candidates: Collection[str], positions: Collection[str]) -> None:
    """Refuse what would fill the memory before it does."""
    cells = len(candidates) * len(positions)
    if cells > MOST_CELLS:
        raise FileError(
            f"The problem is too large: candidates times positions are {cells:,}, "
            f"where {MOST_CELLS:,} are allowed."
        )


@dataclass(frozen=True, slots=True)
class Largest:
    """How many edges and different duels a problem may have that a stranger sends.

    A few names can mean a million edges, so they are counted before they are made.
    """

    edges: int
    duels: int

    def check(self, rivals: Iterable[int]) -> None:
        """Refuse what is larger, given how many candidates each position has."""
        counts = list(rivals)
        for what, count, most in (
            ("edges", sum(counts), self.edges),
            ("different duels", sum(n * (n - 1) // 2 for n in counts), self.duels),
        ):
            if count > most:
                raise FileError(
                    f"The problem is too large for a study: it has {count:,} {what}, "
                    f"where {most:,} are allowed."
                )


def sections_of(tree: Tree) -> Sections:
    """Return a document, if it has no other keys than those."""
    if not isinstance(tree, dict):
        raise FileError(f"The file must be a mapping with the keys {listed(KEYS)}, not {shown(tree)}.")
    check_keys(tree, KEYS, "The file")
    return tree


def problem_of(sections: Sections, largest: Largest | None = None) -> Problem:
    """Return the problem that a document describes, if it is not too large."""
    candidates, candidate_details = _named_things(sections, "candidates")
    positions, position_details = _named_things(sections, "positions")
    if "edges" in sections:
        edges = _edges(sections["edges"])
        if candidates is None:
            candidates = list(dict.fromkeys(candidate for candidate, _ in edges))
        if positions is None:
            listed = sections["edges"] if isinstance(sections["edges"], dict) else None
            positions = list(listed or dict.fromkeys(position for _, position in edges))
        check_size(candidates, positions)
        if largest is not None:
            largest.check(Counter(position for _, position in edges).values())
    elif candidates is None or positions is None:
        missing = "candidates" if candidates is None else "positions"
        raise FileError(f"The key '{missing}' is missing; give it, or give 'edges'.")
    else:
        check_size(candidates, positions)
        if largest is not None:
            largest.check([len(candidates)] * len(positions))
        edges = list(product(candidates, positions))
    return Problem(tuple(candidates), tuple(positions), tuple(edges), candidate_details, position_details)


def _named_things(sections: Sections, key: str) -> tuple[list[str] | None, dict[str, Details]]:
    """Return the names under a key (None if it is absent), and the details some of them have."""
    if key not in sections:
        return None, {}
    names: list[str] = []
    details: dict[str, Details] = {}
    for entry, about in _entries_of(sections[key], key):
        names.append(entry)
        if about is not None:
            given = {detail: value for detail, value in about.items() if not _is_nothing(value)}
            details[entry] = Details(
                **{detail: name(value, f"The {detail} of '{entry:.50}'") for detail, value in given.items()}
            )
    return names, details


def _entries_of(tree: Tree, key: str) -> Iterator[tuple[str, Sections | None]]:
    """Yield each name in a list or a mapping, with its details, if it has any."""
    kind = f"A {key.removesuffix('s')}"
    match tree:
        case list():
            for entry in tree:
                if not isinstance(entry, dict):
                    yield name(entry, kind), None
                    continue
                check_keys(entry, ("name", *DETAILS), kind)
                if "name" not in entry:
                    raise FileError(f"{kind} has no 'name'.")
                about = dict(entry)
                yield name(about.pop("name"), kind), about
        case dict():
            for entry, details in tree.items():
                if isinstance(details, dict):
                    check_keys(details, DETAILS, f"'{entry:.50}'")
                elif not _is_nothing(details):
                    raise FileError(
                        f"The details of '{entry:.50}' must be a mapping with the keys {listed(DETAILS)}, "
                        f"not {shown(details)}."
                    )
                yield entry, details if isinstance(details, dict) else None
        case _:
            raise FileError(f"The key '{key}' must hold a list of names, not {shown(tree)}.")


def _is_nothing(value: Tree) -> bool:
    return value is None or (isinstance(value, Bare) and value.meaning == "nothing")


def _edges(tree: Tree) -> list[tuple[str, str]]:
    match tree:
        case list():
            pairs = [_row(pair, "An edge", ("candidate", "position")) for pair in tree]
            return [(name(pair[0], "A candidate"), name(pair[1], "A position")) for pair in pairs]
        case dict():
            return [
                (name(candidate, "A candidate"), position)
                for position, candidates in tree.items()
                for candidate in _list(candidates, f"The edges of '{position:.50}'", "candidates")
            ]
    raise FileError(
        "The key 'edges' must hold a list of candidates for each position, or a list of "
        f"[candidate, position], not {shown(tree)}."
    )


def win_of(sections: Sections) -> dict[Pair, float]:
    """Return the win probabilities that a document gives."""
    if "preferences" not in sections:
        raise FileError(
            "The file has no preferences; add them under the key 'preferences', or give a CSV with the "
            f"columns {','.join(PREFERENCE_COLUMNS)}."
        )
    win: dict[Pair, float] = {}
    for position, first, second, probability in _preference_rows(sections["preferences"]):
        pair = name(position, "A position"), name(first, "A candidate"), name(second, "A candidate")
        what = f"The probability of '{pair[1]:.50}' against '{pair[2]:.50}' at '{pair[0]:.50}'"
        value = number(probability, what)
        if pair in win:
            where = probability.where if isinstance(probability, Bare) else ""
            raise FileError(f"{where}{what} is given twice.")
        win[pair] = value
    return win


def _preference_rows(tree: Tree) -> Iterator[list[Tree]]:
    match tree:
        case list():
            for row in tree:
                yield _row(row, "A preference", PREFERENCE_COLUMNS)
        case dict():
            for position, rows in tree.items():
                at = f"at '{position:.50}'"
                for row in _list(rows, f"The preferences {at}", "rows"):
                    yield [position, *_row(row, f"A preference {at}", PREFERENCE_COLUMNS[1:])]
        case _:
            raise FileError(
                "The key 'preferences' must hold a list of [first, second, probability] for each "
                f"position, not {shown(tree)}."
            )


def _list(tree: Tree, what: str, of: str) -> list[Tree]:
    if not isinstance(tree, list):
        raise FileError(f"{what} must be a list of {of}, not {shown(tree)}.")
    return tree


def _row(tree: Tree, what: str, columns: tuple[str, ...]) -> list[Tree]:
    row = _list(tree, what, f"{len(columns)}: [{', '.join(columns)}]")
    if len(row) != len(columns):
        raise FileError(
            f"{what} must be a list of {len(columns)}: [{', '.join(columns)}], not of {len(row)}."
        )
    return row


def tree_of(problem: Problem, preferences: Preferences | None = None) -> dict[str, object]:
    """Return the document that describes a problem; ``edges`` is left out if all are there."""
    tree: dict[str, object] = {
        "candidates": _entries(problem.candidates, problem.candidate_details),
        "positions": _entries(problem.positions, problem.position_details),
    }
    if not problem.graph.is_complete:
        edges: dict[str, list[str]] = {position: [] for position in problem.positions}
        for candidate, position in problem.edges:
            edges[position].append(candidate)
        tree["edges"] = edges
    if preferences is not None:
        win: dict[str, list[list[object]]] = {}
        for (position, first, second), probability in preferences.items():
            reverse = preferences.probability(position, second, first)
            # Of p and 1 - p in floating point, only one may give the other back exactly.
            if 1.0 - probability == reverse:
                win.setdefault(position, []).append([first, second, probability])
            else:
                win.setdefault(position, []).append([second, first, reverse])
        tree["preferences"] = win
    return tree


def _entries(names: Iterable[str], details: Mapping[str, Details]) -> list[object]:
    return [
        {"name": entry} | {k: v for k, v in asdict(details[entry]).items() if v is not None}
        if entry in details
        else entry
        for entry in names
    ]
