"""How a problem is laid out: a document into a problem with its preferences, and back.

The layout is described in :mod:`duelmatch.files`; here it is taken apart, and every sentence about
what is wrong with it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import product
from typing import Any

from duelmatch.errors import FileError, listed
from duelmatch.files.documents import Bare, Tree, check_keys, name, number, shown
from duelmatch.preferences import Pair, Preferences
from duelmatch.problem import Details, Problem
from duelmatch.rules import Item, Rule

MOST_CELLS = 1_000_000
"""Candidates times positions: what the table of edges takes."""

KEYS = ("candidates", "positions", "edges", "rules", "preferences")
DETAILS = tuple(field.name for field in fields(Details))
NUMBERS = {"candidates": ("capacity",), "positions": ("seats", "weight")}
"""What besides its details an entry of a section may say, as a number."""
RULE_KEYS = ("of", "at_most", "at_least", "together")
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
    candidates, candidate_details, of_candidates = _named_things(sections, "candidates")
    positions, position_details, of_positions = _named_things(sections, "positions")
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
    return Problem(
        tuple(candidates),
        tuple(positions),
        tuple(edges),
        candidate_details,
        position_details,
        capacity={entry: _whole(value) for entry, value in of_candidates["capacity"].items()},
        seats={entry: _whole(value) for entry, value in of_positions["seats"].items()},
        weight=of_positions["weight"],
        rules=_rules(sections["rules"]) if "rules" in sections else (),
    )


def _named_things(
    sections: Sections, key: str
) -> tuple[list[str] | None, dict[str, Details], dict[str, dict[str, float]]]:
    """Return the names under a key (None if it is absent), their details, and their numbers."""
    numbers: dict[str, dict[str, float]] = {number: {} for number in NUMBERS[key]}
    if key not in sections:
        return None, {}, numbers
    names: list[str] = []
    details: dict[str, Details] = {}
    for entry, about in _entries_of(sections[key], key):
        names.append(entry)
        given = {word: value for word, value in (about or {}).items() if not _is_nothing(value)}
        for word in NUMBERS[key]:
            if word in given:
                numbers[word][entry] = number(given.pop(word), f"The {word} of '{entry:.50}'")
        if given or (about is not None and not any(word in about for word in NUMBERS[key])):
            details[entry] = Details(
                **{detail: name(value, f"The {detail} of '{entry:.50}'") for detail, value in given.items()}
            )
    return names, details, numbers


def _whole(value: float) -> Any:
    """Return a number as a whole one if it is; what is not is left to the problem to refuse."""
    return int(value) if value.is_integer() else value


def _rules(tree: Tree) -> tuple[Rule, ...]:
    rules = []
    for entry in _list(tree, "The key 'rules'", "rules, each with 'of' or 'together'"):
        if not isinstance(entry, dict):
            raise FileError(
                f"A rule must be a mapping with the keys {listed(RULE_KEYS)}, not {shown(entry)}."
            )
        check_keys(entry, RULE_KEYS, "A rule")
        said: dict[str, Any] = {}
        for key, value in entry.items():
            if key in ("of", "together"):
                said[key] = [
                    _item(item) for item in _list(value, f"'{key}' of a rule", "candidates or edges")
                ]
            else:
                said[key] = _whole(number(value, f"'{key}' of a rule"))
        rules.append(Rule(**said))
    return tuple(rules)


def _item(tree: Tree) -> Item:
    if isinstance(tree, list):
        candidate, position = _row(tree, "An edge in a rule", ("candidate", "position"))
        return name(candidate, "A candidate"), name(position, "A position")
    return name(tree, "A candidate")


def _entries_of(tree: Tree, key: str) -> Iterator[tuple[str, Sections | None]]:
    """Yield each name in a list or a mapping, with its details, if it has any."""
    kind, known = f"A {key.removesuffix('s')}", (*DETAILS, *NUMBERS[key])
    match tree:
        case list():
            for entry in tree:
                if not isinstance(entry, dict):
                    yield name(entry, kind), None
                    continue
                check_keys(entry, ("name", *known), kind)
                if "name" not in entry:
                    raise FileError(f"{kind} has no 'name'.")
                about = dict(entry)
                yield name(about.pop("name"), kind), about
        case dict():
            for entry, details in tree.items():
                if isinstance(details, dict):
                    check_keys(details, known, f"'{entry:.50}'")
                elif not _is_nothing(details):
                    raise FileError(
                        f"The details of '{entry:.50}' must be a mapping with the keys {listed(known)}, "
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
        "candidates": _entries(problem.candidates, problem.candidate_details, {"capacity": problem.capacity}),
        "positions": _entries(
            problem.positions,
            problem.position_details,
            {"seats": problem.seats, "weight": problem.weight},
        ),
    }
    if not problem.graph.is_complete:
        edges: dict[str, list[str]] = {position: [] for position in problem.positions}
        for candidate, position in problem.edges:
            edges[position].append(candidate)
        tree["edges"] = edges
    if problem.rules:
        tree["rules"] = [_rule_entry(rule) for rule in problem.rules]
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


def _entries(
    names: Iterable[str], details: Mapping[str, Details], numbers: Mapping[str, Mapping[str, float]]
) -> list[object]:
    entries: list[object] = []
    for entry in names:
        about: dict[str, object] = {word: given[entry] for word, given in numbers.items() if entry in given}
        if entry in details:
            about |= {word: value for word, value in asdict(details[entry]).items() if value is not None}
        entries.append({"name": entry} | about if about or entry in details else entry)
    return entries


def _rule_entry(rule: Rule) -> dict[str, object]:
    entry: dict[str, object] = {}
    for key in RULE_KEYS:
        value = getattr(rule, key)
        if isinstance(value, tuple):
            value = [item if isinstance(item, str) else list(item) for item in value] or None
        if value is not None:
            entry[key] = value
    return entry


def conditions_of(problem: Problem) -> dict[str, Any]:
    """Return the capacities, seats, weights and rules of a problem, as JSON holds them; {} if it has none."""
    return {
        name: [_rule_entry(rule) for rule in problem.rules]
        if name == "rules"
        else dict(getattr(problem, name))
        for name in problem.conditions
    }


def conditions_from(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a Problem that :func:`conditions_of` describes."""
    rules: list[dict[str, Any]] = [
        {key: _items(value) if isinstance(value, list) else value for key, value in entry.items()}
        for entry in tree.get("rules", ())
    ]
    return {**tree, "rules": tuple(Rule(**entry) for entry in rules)}


def _items(entries: list[Any]) -> list[Item]:
    return [entry if isinstance(entry, str) else (entry[0], entry[1]) for entry in entries]
