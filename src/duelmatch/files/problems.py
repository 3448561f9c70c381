"""Problems and preferences as files that people write, read and share; see :mod:`duelmatch.files`.

A file is read as a :class:`Document`, and checked section by section when it is asked for what it says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from duelmatch.errors import FileError, ProblemError, did_you_mean, listed
from duelmatch.files.conditions import rule_entry, rules_of, whole_or_not
from duelmatch.files.documents import (
    AnyPath,
    Bare,
    Tree,
    check_keys,
    dump,
    items_of,
    name,
    naming,
    number,
    parse,
    read_text,
    row_of,
    shown,
)
from duelmatch.files.spreadsheets import read_spreadsheet
from duelmatch.files.tables import dump_exactly, filled_rows, read_table
from duelmatch.files.writing import write_text
from duelmatch.preferences import Pair, Preferences
from duelmatch.problem import Details, Problem, check_problem

PROBLEM_BYTES = 5_000_000
MOST_CELLS, CELLS = 1_000_000, "pairs of a candidate and a position"
"""What the table of edges takes."""

MOST_EDGES_WITH_PREFERENCES = 5_000
"""Preferences take a matrix of edges times edges: 200 MB at this size."""

EXAMPLE = "example:"
"""What the name of a bundled example begins with, wherever a file is expected."""
_EXAMPLES = Path(__file__).with_name("examples")

KEYS = ("candidates", "positions", "edges", "rules", "preferences")
DETAILS = Details.__match_args__
NUMBERS = {"candidates": ("capacity",), "positions": ("seats", "weight")}
"""What besides its details an entry of a section may say, as a number."""
EDGE_COLUMNS = ("candidate", "position")
PREFERENCE_COLUMNS = ("position", "first", "second", "probability")

Sections = dict[str, Tree]
"""The known keys of a document, and what they hold."""

_CSV_BEGINNING = re.compile(r"\s*[^\s#%?-][^:\n]*[,;]")
"""A first line with commas. In YAML it has a colon before them, or is a comment or a directive."""
_YAML_KEY = re.compile(rf"^({'|'.join(KEYS)})\s*:", re.MULTILINE)
_EDGES_BEGINNING = re.compile(r"\s*candidate\s*,\s*position\s*$", re.MULTILINE | re.IGNORECASE)


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
            if (edges := len(problem.edges)) > MOST_EDGES_WITH_PREFERENCES:
                raise _too_large("edges", edges, MOST_EDGES_WITH_PREFERENCES, " to have preferences")
            return Preferences(problem, win)


def example_names() -> tuple[str, ...]:
    """Return the names of the bundled examples."""
    return tuple(sorted(path.stem for path in _EXAMPLES.glob("*.yaml")))


def example_path(name: str) -> Path:
    """Return the file of a bundled example."""
    known = example_names()
    if name not in known:
        hint = did_you_mean(name, known)
        raise ProblemError(f"There is no example '{name:.50}'; the examples are {listed(known)}.{hint}")
    return _EXAMPLES / f"{name}.yaml"


def open_document(path: AnyPath) -> Document:
    """Read a file whose name ends in .yaml, .yml, .json or .csv, or a bundled example, ``example:lineup``."""
    if isinstance(path, str) and path.startswith(EXAMPLE):
        path = example_path(path.removeprefix(EXAMPLE))
    with naming(path) as file:
        if file.is_dir():
            raise FileError("This is a directory, not a file.")
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


def read_pasted(
    text: str, largest: Largest | None = None, mistakes: list[str] | None = None
) -> dict[str, Any]:
    """Return what a text describes, whatever way it is written, as far as it goes: positions may be missing.

    It is a file of any kind, a piece of a spreadsheet, or names below ``candidates:`` and ``positions:``.
    What is wrong with a spreadsheet that can be read all the same is noted in ``mistakes``, if given.
    """
    if (lists := _lists_below_headings(text)) is not None:
        return lists
    suffix = suffix_of(text)
    if suffix == ".json" or (suffix == ".yaml" and _YAML_KEY.search(text)):
        return tree_of(read_problem(text, suffix, largest))
    if suffix == ".csv" and _EDGES_BEGINNING.match(text):
        return tree_of(read_problem(text, suffix, largest))
    sections = read_spreadsheet(text, mistakes)
    try:
        if "positions" in sections:
            return tree_of(problem_of(sections, largest))
        names, details, numbers = _named_things(sections, "candidates")
        return {"candidates": _entries(names or (), details, numbers), "positions": []}
    except (FileError, ProblemError) as error:
        if mistakes is None:
            raise
        mistakes.append(str(error))
        return _as_written(sections)


def _as_written(sections: Mapping[str, Tree]) -> dict[str, Any]:
    """Return the sections of a spreadsheet as they are, so that people can mend them."""

    def plain(tree: Tree) -> Any:
        match tree:
            case dict():
                return {key: plain(value) for key, value in tree.items()}
            case list():
                return [plain(value) for value in tree]
        return tree.raw if isinstance(tree, Bare) else tree

    return {"positions": [], **plain(dict(sections))}


def _lists_below_headings(text: str) -> dict[str, Any] | None:
    """Return names, one on a line, below "candidates:" and "positions:"; None if it is something else."""
    lists: dict[str, list[str]] = {"candidates": [], "positions": []}
    current: list[str] | None = None
    for line in map(str.strip, text.splitlines()):
        if line.casefold().removesuffix(":") in lists and line.endswith(":"):
            current = lists[line.casefold().removesuffix(":")]
        elif line and (current is None or line[0] in "-{[" or re.search(r":(\s|$)", line)):
            return None
        elif line and current is not None:
            current.append(line)
    return dict(lists) if all(lists.values()) else None


def load_preferences(path: AnyPath, problem: Problem | None = None) -> Preferences:
    """Read win probabilities, for the problem given or else the one in the same file.

    A CSV holds no problem of its own: unless one is given, its candidates and positions are those
    that the rows name, in that order.
    """
    return open_document(path).preferences(problem)


def save_problem(problem: Problem, path: AnyPath, preferences: Preferences | None = None) -> None:
    """Write a problem, whole or not at all, so that loading it gives the same again."""
    check_problem(problem, "A file of a problem")
    with naming(path) as file:
        suffix = _suffix(file)
        if (cells := len(problem.candidates) * len(problem.positions)) > MOST_CELLS:
            raise _too_large(CELLS, cells, MOST_CELLS)
        if preferences is not None:
            if preferences.problem != problem:
                raise ProblemError("The preferences belong to another problem.")
            if (edges := len(problem.edges)) > MOST_EDGES_WITH_PREFERENCES:
                raise _too_large("edges", edges, MOST_EDGES_WITH_PREFERENCES, " to have preferences")
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
    """Return the document that says the same as a CSV of edges, of preferences, or of a spreadsheet."""
    headings = next(filled_rows(text), (1, [""]))[1]
    if tuple(cell.casefold() for cell in headings) not in (EDGE_COLUMNS, PREFERENCE_COLUMNS):
        with suppress(FileError):  # then it is a table of another kind, and the headings are explained
            sections = read_spreadsheet(text)
            if "positions" in sections:
                return sections
    header, rows = read_table(text, EDGE_COLUMNS, PREFERENCE_COLUMNS)
    if header == EDGE_COLUMNS:
        return {"edges": [[candidate, position] for _, (candidate, position) in rows]}
    preferences: list[Tree] = []
    edges: dict[tuple[str, str], None] = {}
    for line, (position, first, second, probability) in rows:
        preferences.append([position, first, second, Bare(probability, where=f"line {line}: ")])
        edges |= {(first, position): None, (second, position): None}
    return {"edges": [list(edge) for edge in edges], "preferences": preferences}


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


@dataclass(frozen=True, slots=True)
class Largest:
    """How many edges and different duels a problem may have that a stranger sends.

    A few names can mean a million edges, so they are counted before they are made.
    """

    edges: int
    duels: int

    def check(self, rivals: Collection[int]) -> None:
        """Refuse what is larger, given how many candidates each position has."""
        edges, duels = sum(rivals), sum(n * (n - 1) // 2 for n in rivals)
        if edges > self.edges:
            raise _too_large("edges", edges, self.edges, " for a study")
        if duels > self.duels:
            raise _too_large("different duels", duels, self.duels, " for a study")


def _too_large(what: str, count: int, most: int, purpose: str = "") -> FileError:
    """Return the refusal of what would fill the memory, made before it does."""
    return FileError(
        f"The problem is too large{purpose}: it has {count:,} {what}, where {most:,} are allowed."
    )


def sections_of(tree: Tree) -> Sections:
    """Return a document, if it has no other keys than those."""
    if not isinstance(tree, dict):
        raise FileError(f"The file must be a mapping with the keys {listed(KEYS)}, not {shown(tree)}.")
    for key, owner in (("capacity", "candidate"), ("seats", "position"), ("weight", "position")):
        if key in tree:
            raise FileError(f"The key '{key}' belongs to a {owner}: write {owner}s: {{NAME: {{{key}: 2}}}}.")
    check_keys(tree, KEYS, "The file")
    return tree


def problem_of(sections: Sections, largest: Largest | None = None) -> Problem:
    """Return the problem that a document describes, if it is not too large."""
    candidates, candidate_details, of_candidates = _named_things(sections, "candidates")
    positions, position_details, of_positions = _named_things(sections, "positions")
    edges = _edges(sections["edges"]) if "edges" in sections else None
    if edges is not None:
        if candidates is None:
            candidates = list(dict.fromkeys(candidate for candidate, _ in edges))
        if positions is None:
            listed = sections["edges"] if isinstance(sections["edges"], dict) else None
            positions = list(listed or dict.fromkeys(position for _, position in edges))
    elif candidates is None or positions is None:
        missing = "candidates" if candidates is None else "positions"
        raise FileError(f"The key '{missing}' is missing; give it, or give 'edges'.")
    if (cells := len(candidates) * len(positions)) > MOST_CELLS:
        raise _too_large(CELLS, cells, MOST_CELLS)
    if largest is not None:
        largest.check(
            [len(candidates)] * len(positions)
            if edges is None
            else Counter(position for _, position in edges).values()
        )
    pairs = product(candidates, positions) if edges is None else edges
    return Problem(
        tuple(candidates),
        tuple(positions),
        tuple(pairs),
        candidate_details,
        position_details,
        capacity={entry: whole_or_not(value) for entry, value in of_candidates["capacity"].items()},
        seats={entry: whole_or_not(value) for entry, value in of_positions["seats"].items()},
        weight=of_positions["weight"],
        rules=rules_of(sections["rules"]) if "rules" in sections else (),
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
            pairs = [row_of(pair, "An edge", ("candidate", "position")) for pair in tree]
            return [(name(pair[0], "A candidate"), name(pair[1], "A position")) for pair in pairs]
        case dict():
            return [
                (name(candidate, "A candidate"), position)
                for position, candidates in tree.items()
                for candidate in items_of(candidates, f"The edges of '{position:.50}'", "candidates")
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
                yield row_of(row, "A preference", PREFERENCE_COLUMNS)
        case dict():
            for position, rows in tree.items():
                at = f"at '{position:.50}'"
                for row in items_of(rows, f"The preferences {at}", "rows"):
                    yield [position, *row_of(row, f"A preference {at}", PREFERENCE_COLUMNS[1:])]
        case _:
            raise FileError(
                "The key 'preferences' must hold a list of [first, second, probability] for each "
                f"position, not {shown(tree)}."
            )


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
        tree["rules"] = [rule_entry(rule) for rule in problem.rules]
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
