"""What is being decided: candidates, positions and who can fill which; matchings and duels over them.

Names live here and at the edges of the program; everything below works on ``Problem.graph``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType

import numpy as np

from duelmatch.errors import NoMatchingError, ProblemError, listed
from duelmatch.graph import Graph, Indices, Vector

LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Details:
    """What voters see of a candidate or a position besides its name."""

    title: str | None = None
    text: str | None = None
    picture: str | None = None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Duel:
    """One question: which of ``first`` and ``second`` is better at ``position``."""

    position: str
    first: str
    second: str
    id: int = 0

    @property
    def candidates(self) -> tuple[str, str]:
        """The two in question."""
        return self.first, self.second


class Matching(Mapping[str, str]):
    """Who fills which position: an immutable, hashable mapping from position to candidate.

    >>> Matching({"chair": "ann", "editor": "bob"})["chair"]
    'ann'
    """

    __slots__ = ("_candidate_of",)

    def __init__(self, candidate_of: Mapping[str, str]) -> None:
        if not isinstance(candidate_of, Mapping):
            raise ProblemError(
                f"A matching is a mapping from positions to candidates, not {candidate_of!r:.80}."
            )
        for name in (*candidate_of, *candidate_of.values()):
            if not isinstance(name, str):
                raise ProblemError(f"A matching is made of names, not {name!r:.80}.")
        counts = Counter(candidate_of.values())
        if twice := [name for name, count in counts.items() if count > 1]:
            raise ProblemError(
                f"A candidate can fill one position only, but {listed(twice)} would fill several."
            )
        self._candidate_of = dict(candidate_of)

    def __getitem__(self, position: str) -> str:
        return self._candidate_of[position]

    def __iter__(self) -> Iterator[str]:
        return iter(self._candidate_of)

    def __len__(self) -> int:
        return len(self._candidate_of)

    def __hash__(self) -> int:
        return hash(frozenset(self._candidate_of.items()))

    def __repr__(self) -> str:
        return f"Matching({self._candidate_of!r})"


@dataclass(frozen=True)
class Problem:
    """Candidates, positions, and the edges (candidate, position) saying who can fill what.

    Edges are put into the paper's order: by position, then by candidate, each in the order of
    ``positions`` and ``candidates``. A problem is checked once, here: names are unique, every edge is
    listed once between known names, and some matching fills every position.

    :raises NoMatchingError: naming a set of positions that share too few candidates.
    :raises ProblemError: for anything else that is wrong.
    """

    candidates: tuple[str, ...]
    positions: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    candidate_details: Mapping[str, Details] = field(default_factory=dict, compare=False, repr=False)
    position_details: Mapping[str, Details] = field(default_factory=dict, compare=False, repr=False)
    graph: Graph = field(init=False, compare=False, repr=False)
    _candidate_number: Mapping[str, int] = field(init=False, compare=False, repr=False)
    _position_number: Mapping[str, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        candidate_number = _numbered("candidate", _names("candidates", self.candidates))
        position_number = _numbered("position", _names("positions", self.positions))
        candidate, position = _edge_numbers(self.edges, candidate_number, position_number)
        graph = Graph.from_edges(len(candidate_number), len(position_number), candidate, position)
        candidates, positions = tuple(candidate_number), tuple(position_number)
        if violator := graph.hall_violator():
            raise NoMatchingError(_hall_sentence(violator, candidates, positions))
        edges = tuple(
            (candidates[c], positions[s])
            for c, s in zip(graph.edge_candidate, graph.edge_position, strict=True)
        )
        freeze = object.__setattr__
        freeze(self, "candidates", candidates)
        freeze(self, "positions", positions)
        freeze(self, "edges", edges)
        freeze(self, "graph", graph)
        freeze(self, "_candidate_number", candidate_number)
        freeze(self, "_position_number", position_number)
        for kind, numbers in (("candidate", candidate_number), ("position", position_number)):
            details = dict(getattr(self, f"{kind}_details"))
            if unknown := [name for name in details if name not in numbers]:
                raise ProblemError(f"Details are given for {listed(unknown)}, but no {kind} is called so.")
            freeze(self, f"{kind}_details", MappingProxyType(details))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the arguments: read-only mappings cannot be pickled themselves."""
        details = dict(self.candidate_details), dict(self.position_details)
        return Problem, (self.candidates, self.positions, self.edges, *details)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[str, str]],
        candidates: Iterable[str] | None = None,
        positions: Iterable[str] | None = None,
    ) -> Problem:
        """Build a problem from (candidate, position) pairs; names in order of first appearance."""
        pairs = tuple(_pair(edge) for edge in edges)
        if candidates is None:
            candidates = dict.fromkeys(candidate for candidate, _ in pairs)
        if positions is None:
            positions = dict.fromkeys(position for _, position in pairs)
        return cls(_names("candidates", candidates), _names("positions", positions), pairs)

    @classmethod
    def complete(cls, candidates: Iterable[str], positions: Iterable[str]) -> Problem:
        """Build the problem in which every candidate can fill every position."""
        candidates = _names("candidates", candidates)
        positions = _names("positions", positions)
        return cls(candidates, positions, tuple(product(candidates, positions)))

    def edge_number(self, candidate: str, position: str) -> int:
        """Return where (candidate, position) stands in ``edges``."""
        row, column = self.position_number(position), self.candidate_number(candidate)
        edge = int(self.graph.edge_at[row, column])
        if edge < 0:
            raise ProblemError(f"'{candidate}' is not a candidate for position '{position}'.")
        return edge

    def edge_numbers(self, matching: Mapping[str, str]) -> Indices:
        """Return the edge of each position in a matching, checked against this problem."""
        if empty := [position for position in self.positions if position not in matching]:
            raise ProblemError(f"The matching leaves {listed(empty)} empty.")
        for position in matching:
            self.position_number(position)
        if not isinstance(matching, Matching):
            matching = Matching(matching)
        numbers = [self.edge_number(matching[position], position) for position in self.positions]
        return np.array(numbers, dtype=np.intp)

    def edge_vector(self, values: Mapping[tuple[str, str], float]) -> Vector:
        """Return numbers given by name, {(candidate, position): number}, in edge order: 0 where none is."""
        vector = np.zeros(self.graph.edges)
        for (candidate, position), number in values.items():
            vector[self.edge_number(candidate, position)] = number
        return vector

    def matching(self, edge_numbers: Iterable[int]) -> Matching:
        """Return the named matching made of these edges."""
        return Matching({self.edges[e][1]: self.edges[e][0] for e in edge_numbers})

    def position_number(self, position: str) -> int:
        """Return where a position stands in ``positions``."""
        if position not in self._position_number:
            raise ProblemError(f"There is no position '{position}'.")
        return self._position_number[position]

    def candidate_number(self, candidate: str) -> int:
        """Return where a candidate stands in ``candidates``."""
        if candidate not in self._candidate_number:
            raise ProblemError(f"There is no candidate '{candidate}'.")
        return self._candidate_number[candidate]


def _names(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise ProblemError(f"The {kind} must be a list of names, not the single text '{names[:50]}'.")
    return tuple(names)


def _pair(edge: object) -> tuple[str, str]:
    match edge:
        case (str(candidate), str(position)):
            return candidate, position
    raise ProblemError(f"An edge is a pair of names (candidate, position), not {edge!r:.80}.")


def _numbered(kind: str, names: Iterable[str]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for name in names:
        if not isinstance(name, str):
            raise ProblemError(f"The name of a {kind} must be text, not {name!r:.80}.")
        if not name.strip():
            raise ProblemError(f"A {kind} has an empty name.")
        if len(name) > LONGEST_NAME:
            raise ProblemError(
                f"The name of a {kind} may have {LONGEST_NAME} characters at most; "
                f"'{name[:30]}…' has {len(name)}."
            )
        if name in numbers:
            raise ProblemError(f"The {kind} '{name}' is listed twice.")
        numbers[name] = len(numbers)
    if not numbers:
        raise ProblemError(f"A problem needs at least one {kind}.")
    return numbers


def _edge_numbers(
    edges: Iterable[tuple[str, str]],
    candidate_number: Mapping[str, int],
    position_number: Mapping[str, int],
) -> tuple[Indices, Indices]:
    seen = dict[tuple[str, str], None]()
    for edge in edges:
        candidate, position = _pair(edge)
        if candidate not in candidate_number:
            raise ProblemError(f"The edge ('{candidate}', '{position}') names an unknown candidate.")
        if position not in position_number:
            raise ProblemError(f"The edge ('{candidate}', '{position}') names an unknown position.")
        if (candidate, position) in seen:
            raise ProblemError(f"The edge ('{candidate}', '{position}') is listed twice.")
        seen[candidate, position] = None
    return (
        np.array([candidate_number[candidate] for candidate, _ in seen], dtype=np.intp),
        np.array([position_number[position] for _, position in seen], dtype=np.intp),
    )


def _hall_sentence(
    violator: tuple[list[int], list[int]], candidates: tuple[str, ...], positions: tuple[str, ...]
) -> str:
    short = [positions[j] for j in violator[0]]
    shared = [candidates[i] for i in violator[1]]
    if not shared:
        return f"No matching fills every position: {listed(short)} has no candidate."
    return (
        f"No matching fills every position: the {len(short)} positions {listed(short)} have only "
        f"{len(shared)} candidate{'s' * (len(shared) > 1)} between them ({listed(shared)}). "
        "Add a candidate to one of them, or drop a position."
    )
