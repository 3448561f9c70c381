"""What is being decided: candidates, positions, who can fill which, and what else a decision must obey.

Names live here and at the edges of the program; everything below works on ``Problem.graph``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any
from unicodedata import category

import numpy as np

from duelmatch.conditions import (
    applied,
    check_capacity,
    check_rules,
    check_seats,
    checked_rules,
    hall_sentence,
)
from duelmatch.errors import NoMatchingError, ProblemError, brief, listed
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.rules import Rule

LONGEST_NAME = 200
UNCONDITIONAL = {**dict.fromkeys(("capacity", "seats", "weight"), MappingProxyType({})), "rules": ()}


@dataclass(frozen=True, slots=True)
class Details:
    """What voters see of a candidate or a position besides its name."""

    title: str | None = None
    text: str | None = None
    picture: str | None = None
    link: str | None = None
    place: str | None = None
    """Where to find the candidate, such as "table 12"."""


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


class Matching(Mapping[str, Any]):
    """Who fills which position: an immutable, hashable mapping from position to candidate.

    A position of several seats is mapped to a tuple of names, in the order of the candidates. A name may come
    twice: whether it may fill so many positions is for the :class:`Problem` to say.

    >>> Matching({"chair": "ann", "editor": "bob"})["chair"]
    'ann'
    >>> Matching({"chair": "ann", "jury": ["bob", "cyd"]}).edges
    (('ann', 'chair'), ('bob', 'jury'), ('cyd', 'jury'))
    """

    __slots__ = ("_candidate_of",)

    def __init__(self, candidate_of: Mapping[str, str | Sequence[str]]) -> None:
        if not isinstance(candidate_of, Mapping):
            raise ProblemError(
                f"A matching is a mapping from positions to candidates, not {candidate_of!r:.80}."
            )
        chosen = {position: _one_or_several(names) for position, names in candidate_of.items()}
        for position, names in chosen.items():
            for name in (position, *seated(names)):
                if not isinstance(name, str):
                    raise ProblemError(f"A matching is made of names, not {name!r:.80}.")
        self._candidate_of = chosen

    def __getitem__(self, position: str) -> Any:
        return self._candidate_of[position]

    def __iter__(self) -> Iterator[str]:
        return iter(self._candidate_of)

    def __len__(self) -> int:
        return len(self._candidate_of)

    def __hash__(self) -> int:
        return hash(frozenset(self._candidate_of.items()))

    def __repr__(self) -> str:
        return f"Matching({self._candidate_of!r})"

    def as_json(self) -> dict[str, str | list[str]]:
        """Return it as JSON has it, with a list for several seats."""
        return {place: list(names) if isinstance(names, tuple) else names for place, names in self.items()}

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The (candidate, position) of every seat."""
        return tuple((name, position) for position, names in self.items() for name in seated(names))


def check_problem(problem: object, what: str) -> None:
    """Refuse what is no problem; the sentence begins with ``what`` needs one.

    :raises ProblemError: saying what was given instead.
    """
    if not isinstance(problem, Problem):
        raise ProblemError(f"{what} needs a Problem, not {brief(problem)}.")


def seated(names: Any) -> tuple[Any, ...]:
    """Return who fills a position, one or several, as a tuple."""
    return names if isinstance(names, tuple) else (names,)


def _one_or_several(names: Any) -> Any:
    if not isinstance(names, (list, tuple)):
        return names
    return names[0] if len(names) == 1 else tuple(names)


@dataclass(frozen=True, repr=False)
class Problem:
    """Candidates, positions, and the edges (candidate, position) saying who can fill what.

    Edges are put into the paper's order: by position, then by candidate, each in the order of
    ``positions`` and ``candidates``. A problem is checked once, here: names are unique, every edge is
    listed once between known names, and some matching fills every position.

    Unless something else is given, every candidate fills one position at most, and every position has one
    seat and counts the same. ``capacity`` says how many positions a candidate may fill, ``seats`` how many
    different candidates a position holds, ``weight`` how much it counts, and ``rules`` what else a decision
    must obey. The mappings keep what differs from 1.

    :raises NoMatchingError: naming a set of positions that share too few candidates, or a smallest set of
        rules that contradict each other.
    :raises ProblemError: for anything else that is wrong.
    """

    candidates: tuple[str, ...]
    positions: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    candidate_details: Mapping[str, Details] = field(default_factory=dict, compare=False, repr=False)
    position_details: Mapping[str, Details] = field(default_factory=dict, compare=False, repr=False)
    capacity: Mapping[str, int] = field(default_factory=dict, hash=False, kw_only=True)
    seats: Mapping[str, int] = field(default_factory=dict, hash=False, kw_only=True)
    weight: Mapping[str, float] = field(default_factory=dict, hash=False, kw_only=True)
    rules: tuple[Rule, ...] = field(default=(), kw_only=True)
    graph: Graph = field(init=False, compare=False, repr=False)
    _candidate_number: Mapping[str, int] = field(init=False, compare=False, repr=False)
    _position_number: Mapping[str, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        candidate_number = _numbered("candidate", _names("candidates", self.candidates))
        position_number = _numbered("position", _names("positions", self.positions))
        candidate, position = _edge_numbers(self.edges, candidate_number, position_number)
        graph = Graph.from_edges(len(candidate_number), len(position_number), candidate, position)
        candidates, positions = tuple(candidate_number), tuple(position_number)
        of_names = self.capacity, self.seats, self.weight
        conditions: Mapping[str, Any] = UNCONDITIONAL
        if self.rules != () or not all(isinstance(given, Mapping) and not given for given in of_names):
            graph, conditions = applied(graph, *of_names, self.rules, candidate_number, position_number)
        elif violator := graph.hall_violator():
            raise NoMatchingError(hall_sentence(violator, candidates, positions))
        edges = tuple(
            (candidates[c], positions[s])
            for c, s in zip(graph.edge_candidate, graph.edge_position, strict=True)
        )
        freeze = object.__setattr__
        freeze(self, "candidates", candidates)
        freeze(self, "positions", positions)
        freeze(self, "edges", edges)
        for name, value in conditions.items():
            freeze(self, name, value)
        freeze(self, "graph", graph)
        freeze(self, "_candidate_number", candidate_number)
        freeze(self, "_position_number", position_number)
        for kind, numbers in (("candidate", candidate_number), ("position", position_number)):
            details = dict(getattr(self, f"{kind}_details"))
            if unknown := [name for name in details if name not in numbers]:
                raise ProblemError(f"Details are given for {listed(unknown)}, but there is no such {kind}.")
            freeze(self, f"{kind}_details", MappingProxyType(details))

    def __repr__(self) -> str:
        shown: dict[str, Any] = {
            "candidates": self.candidates,
            "positions": self.positions,
            "edges": self.edges,
        }
        for name in self.conditions:
            value = getattr(self, name)
            shown[name] = value if isinstance(value, tuple) else dict(value)
        return f"Problem({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the arguments: read-only mappings cannot be pickled themselves."""
        details = dict(self.candidate_details), dict(self.position_details)
        capacity, seats, weight = dict(self.capacity), dict(self.seats), dict(self.weight)
        rebuild = partial(Problem, capacity=capacity, seats=seats, weight=weight, rules=self.rules)
        return rebuild, (self.candidates, self.positions, self.edges, *details)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[str, str]],
        candidates: Iterable[str] | None = None,
        positions: Iterable[str] | None = None,
        *,
        capacity: Mapping[str, int] | None = None,
        seats: Mapping[str, int] | None = None,
        weight: Mapping[str, float] | None = None,
        rules: Iterable[Rule] = (),
    ) -> Problem:
        """Build a problem from (candidate, position) pairs; names in order of first appearance."""
        pairs = tuple(edges)
        if candidates is None:
            candidates = dict.fromkeys(_pair(edge)[0] for edge in pairs)
        if positions is None:
            positions = dict.fromkeys(_pair(edge)[1] for edge in pairs)
        return cls(
            _names("candidates", candidates),
            _names("positions", positions),
            pairs,
            capacity=capacity or {},
            seats=seats or {},
            weight=weight or {},
            rules=checked_rules(rules),
        )

    @classmethod
    def complete(
        cls,
        candidates: Iterable[str],
        positions: Iterable[str],
        *,
        capacity: Mapping[str, int] | None = None,
        seats: Mapping[str, int] | None = None,
        weight: Mapping[str, float] | None = None,
        rules: Iterable[Rule] = (),
    ) -> Problem:
        """Build the problem in which every candidate can fill every position.

        >>> jury = Problem.complete(["ann", "bob", "cyd"], ["jury"], seats={"jury": 2},
        ...                         rules=[Rule(of=["ann", "bob"], at_most=1)])
        >>> jury.matching(jury.edge_numbers({"jury": ("cyd", "ann")}))
        Matching({'jury': ('ann', 'cyd')})
        """
        candidates = _names("candidates", candidates)
        positions = _names("positions", positions)
        pairs = product(candidates, positions)
        return cls.from_edges(
            pairs, candidates, positions, capacity=capacity, seats=seats, weight=weight, rules=rules
        )

    @property
    def conditions(self) -> tuple[str, ...]:
        """Which of 'capacity', 'seats', 'weight' and 'rules' it has; none of them: one-to-one matchings."""
        return tuple(name for name in ("capacity", "seats", "weight", "rules") if getattr(self, name))

    def without(self, candidates: Iterable[str]) -> Problem:
        """Return the problem without some candidates, who are left out of its rules, too.

        :raises ProblemError: if there is none of such a name, or nothing could be decided any more.
        """
        gone = set(candidates)
        for name in gone:
            self.candidate_number(name)
        rules: list[Rule] = list(self.rules)
        for name in gone:
            rules = [left for rule in rules if (left := rule.without(name)) is not None]
        return replace(
            self,
            candidates=tuple(name for name in self.candidates if name not in gone),
            edges=tuple(edge for edge in self.edges if edge[0] not in gone),
            candidate_details={name: of for name, of in self.candidate_details.items() if name not in gone},
            capacity={name: number for name, number in self.capacity.items() if name not in gone},
            rules=tuple(rules),
        )

    def with_candidate(self, candidate: str, positions: Iterable[str]) -> Problem:
        """Return the problem with one more candidate, the last, who can fill some positions."""
        edges = (*self.edges, *((candidate, position) for position in positions))
        return replace(self, candidates=(*self.candidates, candidate), edges=edges)

    def edge_number(self, candidate: str, position: str) -> int:
        """Return where (candidate, position) stands in ``edges``."""
        row, column = self.position_number(position), self.candidate_number(candidate)
        edge = int(self.graph.edge_at[row, column])
        if edge < 0:
            raise ProblemError(f"'{candidate}' is not a candidate for position '{position}'.")
        return edge

    def edge_numbers(self, matching: Mapping[str, str | Sequence[str]]) -> Indices:
        """Return the edges of a matching in the order of ``edges``, checked against this problem."""
        if empty := [position for position in self.positions if position not in matching]:
            raise ProblemError(f"The matching leaves {listed(empty)} empty.")
        for position in matching:
            self.position_number(position)
        if not isinstance(matching, Matching):
            matching = Matching(matching)
        chosen = {position: seated(matching[position]) for position in self.positions}
        check_seats(chosen, self.seats)
        numbers = [self.edge_number(name, position) for position, names in chosen.items() for name in names]
        check_capacity(chosen, self.capacity)
        edges = np.array(sorted(numbers), dtype=np.intp)
        if self.rules:
            check_rules(self.graph, edges, self.rules)
        return edges

    def edge_vector(self, values: Mapping[tuple[str, str], float]) -> Vector:
        """Return numbers given by name, {(candidate, position): number}, in edge order: 0 where none is."""
        vector = np.zeros(self.graph.edges)
        for (candidate, position), number in values.items():
            vector[self.edge_number(candidate, position)] = number
        return vector

    def matching(self, edge_numbers: Iterable[int]) -> Matching:
        """Return the named matching made of these edges."""
        if not self.seats:
            return Matching({self.edges[e][1]: self.edges[e][0] for e in edge_numbers})
        chosen: dict[str, list[str]] = {}
        for edge in sorted(edge_numbers):
            candidate, position = self.edges[edge]
            chosen.setdefault(position, []).append(candidate)
        return Matching(
            {position: names if position in self.seats else names[0] for position, names in chosen.items()}
        )

    def marked(self, edges: Mask) -> tuple[tuple[str, str], ...]:
        """Return the (candidate, position) of the marked edges."""
        return tuple(self.edges[edge] for edge in np.flatnonzero(edges).tolist())

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
    if not isinstance(names, Iterable):
        raise ProblemError(f"The {kind} must be a list of names, not {names!r:.50}.")
    return tuple(names)


def is_shown(text: str) -> bool:
    """Whether a text has only characters that every database and terminal can hold on one line."""
    return all(category(character) not in ("Cc", "Cs", "Zl", "Zp") for character in text)


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
        if not is_shown(name):
            raise ProblemError(
                f"The name of a {kind} may have no line break or other character that cannot be shown, as "
                f"{name!r:.80} has."
            )
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
