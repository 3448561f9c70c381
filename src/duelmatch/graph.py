"""The bipartite graph G(C, S, E) in integers: candidates 0..n-1, positions 0..l-1, edges 0..m-1.

Edges are kept in the paper's order, by position and then by candidate, so the edges of position j are
the contiguous range ``start[j]:start[j + 1]`` (E_j in the paper).

A decision fills every seat of every position. Unless :class:`Conditions` say otherwise, a position has one
seat, a candidate fills one seat at most, and all positions count the same: the paper's maximum matchings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Edges = Sequence[int] | Indices
"""Some edges, by their numbers."""


@dataclass(frozen=True, eq=False)
class PairTable:
    """The ``count`` pairs of edges that can be duelled, numbered (K in the paper).

    ``first < second`` are edges of ``position``.
    """

    first: Indices
    second: Indices
    position: Indices
    count: int

    def number(self, first: Indices, second: Indices) -> Indices:
        """Return the numbers of the pairs of these edges, given in either order."""
        low, high = np.minimum(first, second), np.maximum(first, second)
        start = np.searchsorted(self.first, low)
        numbers: Indices = start + (high - self.second[np.minimum(start, self.count - 1)])
        return numbers

    def number_of(self, low: int, high: int) -> int:
        """Return the number of one pair, of which ``low < high``."""
        return self._number_before[low] + high

    @cached_property
    def _number_before(self) -> list[int]:
        """By their lower edge, the numbers of pairs less their higher edge."""
        edges = np.arange(self.second.max(initial=-1) + 1)
        numbers: list[int] = (np.searchsorted(self.first, edges) - edges - 1).tolist()
        return numbers


@dataclass(frozen=True, eq=False, slots=True)
class EdgeRule:
    """A rule in edge numbers: how many of ``edges`` a decision uses, or which ``groups`` go together.

    With ``groups`` (each a set of edges; ``edges`` is their union) every group is used, or none is.
    """

    edges: Indices
    at_least: int = 0
    at_most: int | None = None
    groups: tuple[Indices, ...] = ()

    def holds(self, uses: Mask) -> Mask:
        """Mark the decisions that obey it; ``uses`` has a row per decision and a column per edge."""
        if self.groups:
            used = np.stack([uses[..., group].any(axis=-1) for group in self.groups])
            return np.asarray(used.all(axis=0) | ~used.any(axis=0))
        count = uses[..., self.edges].sum(axis=-1)
        at_most = len(self.edges) if self.at_most is None else self.at_most
        return np.asarray((count >= self.at_least) & (count <= at_most))

    def among(self, number: Indices) -> EdgeRule:
        """Return what it says of some of the edges; ``number`` gives their new numbers, -1 for the others."""

        def renumbered(edges: Indices) -> Indices:
            return number[edges][number[edges] >= 0]

        groups = tuple(renumbered(group) for group in self.groups)
        return EdgeRule(renumbered(self.edges), self.at_least, self.at_most, groups)


@dataclass(frozen=True, eq=False, slots=True)
class Conditions:
    """What makes a decision something else than a matching, or positions count differently."""

    capacity: Indices
    """How many seats each candidate can fill."""
    seats: Indices
    """How many different candidates each position holds."""
    weight: Vector
    """How much each position counts."""
    rules: tuple[EdgeRule, ...] = ()


@dataclass(frozen=True, eq=False)
class Graph:
    """A bipartite graph; build it with :meth:`from_edges` unless the edges are already in order."""

    candidates: int
    positions: int
    edge_candidate: Indices
    edge_position: Indices
    conditions: Conditions | None = None
    edges: int = field(init=False, repr=False)
    """How many edges there are (m in the paper)."""
    pairs: int = field(init=False, repr=False)
    """How many different duels there are (K in the paper)."""
    degrees: Indices = field(init=False, repr=False)
    """How many candidates each position has (|E_j|)."""
    start: Indices = field(init=False, repr=False)
    edge_at: Indices = field(init=False, repr=False)
    """l x n table of edge numbers, -1 where there is no edge."""
    cell: Indices = field(init=False, repr=False)
    """Where each edge stands in that table, read row by row."""
    no_costs: NDArray[np.float64] = field(init=False, repr=False)
    """An l x n table of infinite costs, to be copied and filled in."""
    capacity: Indices = field(init=False, repr=False)
    seats: Indices = field(init=False, repr=False)
    weight: Vector = field(init=False, repr=False)
    rules: tuple[EdgeRule, ...] = field(init=False, repr=False)
    places: int = field(init=False, repr=False)
    """How many seats there are in all: the edges of a decision."""
    total_weight: float = field(init=False, repr=False)
    one_to_one: bool = field(init=False, repr=False)
    """Whether the decisions are the maximum matchings; positions may count differently."""
    even: bool = field(init=False, repr=False)
    """Whether every position has one seat and the same weight 1, so that f is a plain mean."""

    def __post_init__(self) -> None:
        edges = len(self.edge_candidate)
        start = np.searchsorted(self.edge_position, np.arange(self.positions + 1))
        degrees = np.diff(start)
        edge_at = np.full((self.positions, self.candidates), -1, dtype=np.intp)
        edge_at[self.edge_position, self.edge_candidate] = np.arange(edges)
        derived = {
            "edges": edges,
            "pairs": int((degrees * (degrees - 1) // 2).sum()),
            "degrees": degrees,
            "start": start,
            "edge_at": edge_at,
            "cell": self.edge_position * self.candidates + self.edge_candidate,
            "no_costs": np.full(edge_at.shape, np.inf),
        }
        under = self.conditions or Conditions(
            np.ones(self.candidates, dtype=np.intp),
            np.ones(self.positions, dtype=np.intp),
            np.ones(self.positions),
        )
        places = int(under.seats.sum())
        derived |= {
            "capacity": under.capacity,
            "seats": under.seats,
            "weight": under.weight,
            "rules": under.rules,
            "places": places,
            "total_weight": float(under.weight.sum()),
            "one_to_one": not under.rules and places == self.positions and bool((under.capacity == 1).all()),
            "even": places == self.positions and bool((under.weight == 1.0).all()),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)
        for array in (self.edge_candidate, self.edge_position, *derived.values()):
            if isinstance(array, np.ndarray):
                array.setflags(write=False)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the arguments: for arrays that can be written to, all would be compiled once more."""
        ends = self.edge_candidate, self.edge_position
        return Graph, (self.candidates, self.positions, *ends, self.conditions)

    @classmethod
    def from_edges(
        cls, candidates: int, positions: int, edge_candidate: Indices, edge_position: Indices
    ) -> Graph:
        """Put the edges into the paper's order."""
        order = np.lexsort((edge_candidate, edge_position))
        return cls(
            candidates,
            positions,
            np.asarray(edge_candidate, dtype=np.intp)[order],
            np.asarray(edge_position, dtype=np.intp)[order],
        )

    @cached_property
    def pair_table(self) -> PairTable:
        """The duels there can be."""
        corners = [np.triu_indices(degree, 1) for degree in self.degrees]
        starts = self.start[:-1]
        first = np.concatenate([start + corner[0] for start, corner in zip(starts, corners, strict=True)])
        second = np.concatenate([start + corner[1] for start, corner in zip(starts, corners, strict=True)])
        return PairTable(first, second, self.edge_position[first], self.pairs)

    def table(self, forth: NDArray[Any], back: NDArray[Any]) -> NDArray[Any]:
        """Return an m x m table of what each pair says of its first edge against its second, and back."""
        table, pairs = np.zeros((self.edges, self.edges), dtype=forth.dtype), self.pair_table
        table[pairs.first, pairs.second], table[pairs.second, pairs.first] = forth, back
        return table

    def leads(self, ahead: Vector, mixture: Vector) -> Vector:
        """Return by how much each edge is ahead of a mixture of edges, if pairs' first are by so much."""
        pairs = self.pair_table
        won = np.bincount(pairs.first, ahead * mixture[pairs.second], self.edges)
        lost = np.bincount(pairs.second, ahead * mixture[pairs.first], self.edges)
        return np.asarray(won - lost, dtype=np.float64)

    def pairs_among(self, edges: Mask) -> tuple[Indices, Indices]:
        """Return every two marked edges of the same position."""
        table = self.pair_table
        both = edges[table.first] & edges[table.second]
        return table.first[both], table.second[both]

    @property
    def comparable(self) -> Mask:
        """An m x m table that marks the edges of the same position; an edge and itself, too."""
        same: Mask = self.edge_position[:, None] == self.edge_position[None, :]
        return same

    @cached_property
    def edge_share(self) -> Vector:
        """What the seat of each edge counts: the weight of its position, divided by its seats."""
        share: Vector = (self.weight / self.seats)[self.edge_position]
        return share

    @cached_property
    def edge_scale(self) -> Vector:
        """What one pair of seats counts in f, at each edge's position: its weight over its seats squared."""
        scale: Vector = (self.weight / self.seats**2)[self.edge_position]
        return scale

    def part(self, kept: Mask) -> Graph:
        """Return the graph of some of the edges, in the same order and under the same conditions."""
        conditions = self.conditions
        if conditions is not None and conditions.rules:
            number = np.where(kept, np.cumsum(kept) - 1, -1)
            conditions = replace(conditions, rules=tuple(rule.among(number) for rule in conditions.rules))
        ends = self.edge_candidate[kept], self.edge_position[kept]
        return Graph(self.candidates, self.positions, *ends, conditions)

    def uses(self, rows: Indices) -> Mask:
        """Return, for decisions given by their edges, a row each, which edges each of them uses."""
        uses = np.zeros((*rows.shape[:-1], self.edges), dtype=np.bool_)
        np.put_along_axis(uses, rows, True, axis=-1)
        return uses

    def allows(self, decision: Indices) -> bool:
        """Whether these edges are a decision: every seat filled, no capacity exceeded, every rule obeyed."""
        if len(np.unique(decision)) != self.places or len(decision) != self.places:
            return False
        filled = np.bincount(self.edge_position[decision], minlength=self.positions)
        load = np.bincount(self.edge_candidate[decision], minlength=self.candidates)
        return (
            np.array_equal(filled, self.seats)
            and bool((load <= self.capacity).all())
            and all(rule.holds(self.uses(decision)) for rule in self.rules)
        )

    @property
    def is_complete(self) -> bool:
        """Whether every candidate fits every position."""
        return self.edges == self.candidates * self.positions

    def at(self, position: int) -> slice:
        """Return the edges of one position."""
        return slice(int(self.start[position]), int(self.start[position + 1]))

    def per_position(self, marked: Mask) -> Indices:
        """Return how many edges of each position are marked."""
        return np.add.reduceat(marked, self.start[:-1], dtype=np.intp)

    def without_choice(self, possible: Mask) -> Mask:
        """Mark the possible edges of positions that have no more of them than seats."""
        filled = self.per_position(possible) == self.seats
        decided: Mask = possible & filled[self.edge_position]
        return decided

    def some_matching(self, allowed: Mask | None = None) -> Indices | None:
        """Return a matching that fills every position, as an edge per position; None if there is none."""
        candidate_of = self._maximum_matching(allowed)
        if (candidate_of < 0).any():
            return None
        matching: Indices = self.edge_at[np.arange(self.positions), candidate_of]
        return matching

    def hall_violator(self) -> tuple[list[int], list[int]] | None:
        """Return positions with too few candidates between them, and those candidates; None if none.

        From a position left empty by a maximum matching, the positions on its alternating paths have
        one candidate less than they are (König, Hall); the smallest such set found is returned.
        """
        candidate_of = self._maximum_matching()
        if (candidate_of >= 0).all():
            return None
        position_of = {int(c): j for j, c in enumerate(candidate_of) if c >= 0}
        rivals_of = [set(self.edge_candidate[self.at(j)].tolist()) for j in range(self.positions)]
        violators = []
        for empty in np.flatnonzero(candidate_of < 0).tolist():
            reached, rivals = [empty], set[int]()
            for position in reached:
                new = rivals_of[position] - rivals
                rivals |= new
                reached += [position_of[candidate] for candidate in new]
            violators.append((sorted(reached), sorted(rivals)))
        return min(violators, key=lambda pair: len(pair[0]))

    def _maximum_matching(self, allowed: Mask | None = None) -> Indices:
        """Return the candidate of each position in a maximum matching, -1 for an empty position."""
        keep = slice(None) if allowed is None else allowed
        candidate, position = self.edge_candidate[keep], self.edge_position[keep]
        biadjacency = csr_array(
            (np.ones(len(candidate), dtype=np.int8), (position, candidate)),
            shape=(self.positions, self.candidates),
        )
        matched: Indices = maximum_bipartite_matching(biadjacency, perm_type="column")
        return matched
