"""Ordinal preferences from PrefLib, as one position: strict (.soc, .soi) or with ties (.toc, .toi).

The file is made of lines ``# KEY: VALUE``, among them ``# ALTERNATIVE NAME 3: Ann``, and of lines ``COUNT:
ORDER`` such as ``5: 3,1,{2,4}``: five voters put 3 first, then 1, then 2 and 4 alike. P(a beats b) is the
share of voters who put a before b, with a tie as half a voter for each. Orders that leave alternatives out
(.soi, .toi) do not say how these compare: they are answers, but no preferences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from duelmatch.answers import Answer
from duelmatch.errors import FileError
from duelmatch.files.documents import AnyPath, dump, naming, parse, read_text
from duelmatch.files.problems import MOST_EDGES_WITH_PREFERENCES, Document, sections_of, tree_of
from duelmatch.preferences import Preferences
from duelmatch.problem import Problem

SUFFIXES = (".soc", ".toc")
INCOMPLETE_SUFFIXES = (".soi", ".toi")
GRAPH_SUFFIXES = (".wmd",)
ALL_SUFFIXES = (*SUFFIXES, *INCOMPLETE_SUFFIXES, *GRAPH_SUFFIXES)
FILE_BYTES = 200_000_000

_NAME = re.compile(r"# *ALTERNATIVE NAME (\d+) *: *(.*?) *$")
_COUNT = re.compile(r"# *NUMBER ALTERNATIVES *: *(\d+) *$")
_ORDER = re.compile(r"(\d+) *: *(.+)$")
_PLACE = re.compile(r" *(?:\{([\d ,]*)\}|(\d+)) *(?:,|$)")


def load_preflib(path: AnyPath, position: str = "winner") -> Preferences:
    """Read a PrefLib file (.soc or .toc) as the preferences of one position.

    :raises FileError: if the file cannot be read or understood.
    """
    with naming(path) as file:
        if file.suffix.lower() in GRAPH_SUFFIXES:
            raise FileError(
                "This is a graph of who fits whom, in which nobody is preferred: there is nothing to ask. Of "
                "PrefLib's files, .soc and .toc have preferences."
            )
        if file.suffix.lower() not in SUFFIXES:
            raise FileError(
                "Only complete orders can be read: the name of the file must end in .soc or .toc. Orders "
                "that leave alternatives out (.soi, .toi) do not say how these compare."
            )
        lines = read_text(file, FILE_BYTES).splitlines()
        names = _names(lines)
        before = np.zeros((len(names),) * 2)
        voters = 0
        for line, count, levels in _orders(lines, len(names)):
            if file.suffix.lower() == ".soc" and levels.max() < len(names) - 1:
                raise FileError(f"line {line}: a .soc file has no ties; is it a .toc?")
            before += count * (0.5 * (levels[:, None] <= levels[None, :]) + 0.5 * (levels[:, None] < levels))
            voters += count
        if voters == 0:
            raise FileError("There is no order in the file; a line such as '5: 1,3,2' is one.")
        return Preferences.from_matrix(Problem.complete(names, [position]), before / voters)


def open_preflib(path: AnyPath) -> Document:
    """Read a PrefLib file (.soc or .toc) as the document of a problem with preferences at one position."""
    preferences = load_preflib(path)
    text = dump(tree_of(preferences.problem, preferences), ".json")  # numbers are written as they were meant
    return Document(str(path), sections_of(parse(text, ".json")))


def load_preflib_answers(
    path: AnyPath, position: str = "winner"
) -> tuple[Problem, list[Answer], dict[str, float]]:
    """Read a PrefLib file as the answers of a panel: the problem, the rankings, and what each voter weighs.

    A line is a voter who weighs as many as the line stands for. Alternatives that it leaves out are not
    ranked: how they compare is open.

    :raises FileError: if the file cannot be read or understood.
    """
    with naming(path) as file:
        suffix = file.suffix.lower()
        if suffix not in (*SUFFIXES, *INCOMPLETE_SUFFIXES):
            raise FileError("The name of a PrefLib file ends in .soc, .toc, .soi or .toi.")
        lines = read_text(file, FILE_BYTES).splitlines()
        names = _names(lines)
        problem = Problem.complete(names, [position])
        answers: list[Answer] = []
        weights: dict[str, float] = {}
        for line, count, levels in _orders(lines, len(names), suffix in INCOMPLETE_SUFFIXES):
            groups = [
                tuple(names[place] for place in np.flatnonzero(levels == level).tolist())
                for level in range(int(levels.max()) + 1)
            ]
            if suffix in (".soc", ".soi") and any(len(group) > 1 for group in groups):
                raise FileError(f"line {line}: a {suffix} file has no ties; is it a .t{suffix[2:]}?")
            if count == 0:
                continue
            voter = f"line {line}"
            weights[voter] = float(count)
            if sum(map(len, groups)) > 1:  # one alternative alone says nothing
                answers.append(Answer(position, groups, voter, float(count)))
        if not weights:
            raise FileError("There is no order in the file; a line such as '5: 1,3,2' is one.")
        return problem, answers, weights


def _names(lines: list[str]) -> list[str]:
    """Return the names of the alternatives 1, 2, ...; one that has no name is called by its number."""
    named = {int(match[1]): match[2] for match in map(_NAME.match, lines) if match}
    counts = [int(match[1]) for match in map(_COUNT.match, lines) if match]
    if not named and not counts:
        raise FileError(
            "There is no line '# NUMBER ALTERNATIVES: ...'; files in PrefLib's format of before 2022 must be "
            "downloaded again."
        )
    number = counts[0] if counts else max(named)
    if number > MOST_EDGES_WITH_PREFERENCES:
        raise FileError(
            f"There are {number:,} alternatives, where {MOST_EDGES_WITH_PREFERENCES:,} are allowed."
        )
    if any(not 1 <= alternative <= number for alternative in named):
        raise FileError(f"An alternative has a number outside 1 to {number}.")
    names = [named.get(alternative, "") or str(alternative) for alternative in range(1, number + 1)]
    return [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, 1)]


def _orders(
    lines: list[str], alternatives: int, incomplete: bool = False
) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield (line number, voters, the level of each alternative: 0 for the best, -1 if it is left out)."""
    for line, text in enumerate(lines, start=1):
        if not text.strip() or text.startswith("#"):
            continue
        match = _ORDER.match(text.strip())
        levels = None if match is None else _levels(match[2], alternatives, incomplete)
        if match is None or levels is None:
            raise FileError(
                f"line {line}: '{text:.60}' is not an order of {'' if incomplete else 'all '}{alternatives} "
                "alternatives, such as "
                "'5: 1,3,2' or '5: 1,{2,3}'."
            )
        yield line, int(match[1]), levels


def _levels(order: str, alternatives: int, incomplete: bool) -> np.ndarray | None:
    """Return the level of each alternative, or None if the order names one twice, or not all if it must."""
    levels = np.full(alternatives, -1)
    end = level = 0
    while end < len(order):
        place = _PLACE.match(order, end)
        if place is None:
            return None
        for name in (place[1] if place[2] is None else place[2]).split(","):
            number = int(name) if name.strip().isdecimal() else 0
            if not 1 <= number <= alternatives or levels[number - 1] >= 0:
                return None
            levels[number - 1] = level
        level += 1
        end = place.end()
    return None if (levels < 0).any() and not incomplete else levels
