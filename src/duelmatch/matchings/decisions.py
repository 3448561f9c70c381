"""What may be chosen, as one small protocol built on a linear oracle; and the paper's maximum matchings.

A decision is a set of edges, given by their numbers in ascending order; all decisions of a graph have as many
edges as there are seats. A class of decisions owes one thing, :meth:`Decisions.best`: a decision of largest
weight with some edges required and others forbidden. The rest has defaults that use nothing else, and that
the classes of this package replace where they know something faster:

- :class:`Assignments`: the paper's maximum matchings, by the functions of this file. A matching is an array
  with the edge of each position, and every maximum matching of a problem fills every position.
- :class:`duelmatch.matchings.flows.Flows`: with capacities and several seats, a minimum cost flow.
- :class:`duelmatch.matchings.ruled.Ruled`: with rules, listed while they are few, else an integer program.

:func:`decisions_of` gives the class that a graph's conditions ask for. What the defaults need is imported
when they are used: assignments, which have their own, come without it.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from duelmatch.graph import EdgeRule, Edges, Graph, Indices, Mask, Vector

if TYPE_CHECKING:
    from duelmatch.matchings.counters import Counters
    from duelmatch.matchings.general_game import PolytopeGame

MEMORY = 1 << 30
"""What counting may take unless told otherwise, in bytes."""

FORBIDDEN = 1e7
"""A weight that no matching of allowed edges outweighs, far from where doubles lose the digits needed."""

CELLS = 50_000_000
"""Rows times choices looked at in one piece where decisions are listed, to bound the memory."""


@dataclass(frozen=True, slots=True)
class Alternatives:
    """A best matching, and the largest weight a matching can have with, or without, each edge."""

    matching: Indices
    with_edge: Vector
    without_edge: Vector


@dataclass(eq=False)
class Decisions(ABC):
    """The decisions of a graph."""

    graph: Graph

    integral = True
    """Whether seats and capacities alone describe their convex hull, so that linear programs are exact."""

    @property
    def fast(self) -> bool:
        """Whether the oracle takes microseconds, not milliseconds."""
        return True

    @abstractmethod
    def best(
        self, weights: Vector, allowed: Mask | None = None, required: Edges = (), exact: bool = True
    ) -> Indices | None:
        """Return a decision of largest weight among the allowed edges, with the required; None if none is.

        Where the best takes long and need not be ``exact``, since it proves nothing, a good one will do.
        """

    def some(self, allowed: Mask | None = None, required: Edges = ()) -> Indices | None:
        """Return a decision of allowed edges with those required; None if there is none."""
        return self.best(np.zeros(self.graph.edges), allowed, required)

    def one(self, weights: Vector, allowed: Mask | None = None, exact: bool = True) -> Indices:
        """Return a decision of largest weight where there must be one, or a good one."""
        best = self.best(weights, allowed, exact=exact)
        assert best is not None, "the allowed edges hold a decision"
        return best

    def best_other(self, weights: Vector, decision: Indices) -> Indices | None:
        """Return a best decision that differs from ``decision``; None if there is no other.

        Another decision misses one of its edges, since all have the same number of them.
        """
        allowed = np.ones(self.graph.edges, dtype=np.bool_)
        best: Indices | None = None
        for edge in decision:
            allowed[edge] = False
            other = self.best(weights, allowed)
            allowed[edge] = True
            if other is not None and (best is None or weights[other].sum() > weights[best].sum()):
                best = other
        return best

    def alternatives(self, weights: Vector) -> Alternatives:
        """Return the best weight with and without every single edge; -inf where there is no such decision."""
        decision = self.one(weights)
        total = float(weights[decision].sum())
        with_edge, without_edge = np.full(self.graph.edges, total), np.full(self.graph.edges, total)
        inside = self.graph.uses(decision)
        for edge in range(self.graph.edges):
            if inside[edge]:
                allowed = np.ones(self.graph.edges, dtype=np.bool_)
                allowed[edge] = False
                without_edge[edge] = self._weight(weights, self.best(weights, allowed))
            else:
                with_edge[edge] = self._weight(weights, self.best(weights, required=[edge]))
        return Alternatives(decision, with_edge, without_edge)

    @staticmethod
    def _weight(weights: Vector, decision: Indices | None) -> float:
        return float("-inf") if decision is None else float(weights[decision].sum())

    def most_through(self, weights: Vector, allowed: Mask) -> Vector:
        """Bound from above, for every edge, the weight of the decisions of allowed edges through it.

        The default is exact; -inf where there is none.
        """
        most = np.full(self.graph.edges, -np.inf)
        for edge in np.flatnonzero(allowed).tolist():
            most[edge] = self._weight(weights, self.best(weights, allowed, [edge]))
        return most

    @cached_property
    def usable(self) -> Mask:
        """Marks the edges that lie in some decision.

        The oracle is asked for as many edges not seen yet as a decision can use, until it is none.
        """
        seen = np.zeros(self.graph.edges, dtype=np.bool_)
        while True:
            decision = self.best(np.where(seen, 0.0, 1.0))
            if decision is None or seen[decision].all():
                return seen
            seen[decision] = True

    @cached_property
    def certain(self) -> Mask:
        """Marks the edges that lie in every decision: the oracle is asked to avoid as many as it can."""
        always = self.graph.uses(self.one(np.zeros(self.graph.edges)))
        while True:
            inside = self.graph.uses(self.one(np.where(always, -1.0, 0.0)))
            if not (always & ~inside).any():
                return always
            always &= inside

    def count(self, memory: int = MEMORY) -> int:
        """Return the number of decisions, exactly.

        :raises TooLargeError: if that takes more than ``memory`` bytes, or too many states.
        """
        return self._counters(memory).count()

    def marginals(self, memory: int = MEMORY) -> Vector:
        """Return, for every edge, the probability that a uniformly random decision uses it.

        :raises TooLargeError: if that takes more than ``memory`` bytes, or too many states.
        """
        marginals = np.zeros(self.graph.edges)
        marginals[self.usable] = self._counters(memory).marginals()
        return marginals

    def log_count_bound(self) -> float:
        """Return the logarithm of an upper bound on their number: any candidates in any seats."""
        seats = zip(self.graph.degrees.tolist(), self.graph.seats.tolist(), strict=True)
        return sum(log(comb(degree, number)) for degree, number in seats)

    def draw(self, size: int, rng: np.random.Generator) -> Indices:
        """Return independent uniformly random decisions, a row each.

        :raises TooLargeError: if counting them takes too many states.
        """
        return np.flatnonzero(self.usable)[self._counters(MEMORY).draw(size, rng)]

    def _counters(self, memory: int) -> Counters:
        from duelmatch.matchings.counters import STATE_BYTES, STATES, Counters

        return Counters(self.graph.part(self.usable), min(STATES, memory // STATE_BYTES))

    def game(self, matrix: NDArray[np.float64]) -> PolytopeGame:
        """Return the game of two mixtures of decisions with the payoff x^T matrix y."""
        from duelmatch.matchings.general_game import DoubleOracle, LinearGame

        return LinearGame(self, matrix) if self.integral else DoubleOracle(self, matrix)

    def listed(self, allowed: Mask | None, at_most: int) -> Indices | None:
        """Return the decisions of the allowed edges, a row each; None if there may be more than so many."""
        return list_decisions(self.graph, self.usable if allowed is None else allowed, at_most)


def allowed_edges(graph: Graph, required: Edges = (), forbidden: Edges = ()) -> Mask:
    """Mark the edges left once ``required`` (A in the paper) and ``forbidden`` (R) are honoured.

    Requiring an edge forbids every other edge at its position and of its candidate, unless that has capacity
    left. Whether a matching of the edges that are left exists is a different question. Every position has one
    seat; with more, what is left says nothing of what is required.
    """
    allowed = np.ones(graph.edges, dtype=np.bool_)
    allowed[np.asarray(forbidden, dtype=np.intp)] = False
    for edge in required:
        meets = graph.edge_position == graph.edge_position[edge]
        if graph.capacity[graph.edge_candidate[edge]] == 1:
            meets |= graph.edge_candidate == graph.edge_candidate[edge]
        meets[edge] = False
        allowed &= ~meets
    return allowed


def best_matching(graph: Graph, weights: Vector, allowed: Mask | None = None) -> Indices | None:
    """Return a matching of largest total weight among the allowed edges; None if none fills all positions.

    This is MWMC(w) of the paper: scipy's ``linear_sum_assignment`` (a shortest augmenting path method,
    O(l^2 n)). Among equally good matchings scipy's choice stands; it depends on the weights alone.
    """
    cost = graph.no_costs.copy()
    cost.ravel()[graph.cell] = -weights if allowed is None else np.where(allowed, -weights, np.inf)
    try:
        rows, columns = linear_sum_assignment(cost)
    except ValueError:  # scipy's word for "infeasible"
        return None
    matching: Indices = graph.edge_at[rows, columns]
    return matching


def usable_edges(graph: Graph) -> Mask:
    """Mark the edges that lie in some maximum matching.

    With the moves of :meth:`Assignments.alternatives`, an edge outside a matching M is usable exactly if its
    move lies on a cycle, that is, stays inside one strongly connected component.
    """
    matching = graph.some_matching()
    assert matching is not None, "a Problem has a matching"
    free = graph.positions
    target = _holder(graph, matching)[graph.edge_candidate]
    tails = np.concatenate([graph.edge_position, np.full(graph.positions, free)])
    heads = np.concatenate([target, np.arange(graph.positions)])
    moves = csr_array((np.ones(len(tails)), (tails, heads)), shape=(free + 1, free + 1))
    _, component = connected_components(moves, connection="strong")
    usable: Mask = component[graph.edge_position] == component[target]
    return usable


def list_decisions(graph: Graph, allowed: Mask, at_most: int) -> Indices | None:
    """Return the decisions of the allowed edges, a row each; None if there may be more than ``at_most``.

    Position by position, every choice of candidates for its seats that leaves capacities respected; what
    cannot obey a rule any more is dropped on the way.
    """
    rows = np.zeros((1, 0), dtype=np.intp)
    load = np.zeros((1, graph.candidates), dtype=np.int32)
    for position in range(graph.positions):
        edges = np.flatnonzero(allowed[graph.at(position)]) + graph.start[position]
        seats = int(graph.seats[position])
        if comb(len(edges), seats) > 10 * at_most:
            return None
        choices = np.array(list(combinations(range(len(edges)), seats)), dtype=np.intp).reshape(-1, seats)
        candidate = graph.edge_candidate[edges]
        free = load[:, candidate] < graph.capacity[candidate]
        fitting = _fitting(free, choices, 10 * at_most)
        if fitting is None:
            return None
        row, choice = fitting
        rows = np.column_stack([rows[row], edges[choices[choice]]])
        load = load[row]
        for seat in range(seats):
            load[np.arange(len(row)), candidate[choices[choice, seat]]] += 1
        later = np.flatnonzero(allowed & (graph.edge_position > position))
        for rule in graph.rules:
            kept = _may_obey(graph, rule, rows, later)
            rows, load = rows[kept], load[kept]
    return rows if len(rows) <= at_most else None


def _fitting(free: Mask, choices: Indices, at_most: int) -> tuple[Indices, Indices] | None:
    """Return every row with each choice of free candidates; None if there are more than so many."""
    step = max(1, CELLS // max(1, choices.size))
    parts, found = [], 0
    for first in range(0, max(1, len(free)), step):
        fits = free[first : first + step, choices].all(axis=2)
        row, choice = np.nonzero(fits)
        parts.append((row + first, choice))
        found += len(row)
        if found > at_most:
            return None
    return np.concatenate([row for row, _ in parts]), np.concatenate([choice for _, choice in parts])


def _may_obey(graph: Graph, rule: EdgeRule, rows: Indices, later: Indices) -> Mask:
    """Mark the beginnings of decisions that the ``later`` edges may complete to one that obeys a rule."""
    if rule.groups:
        used = np.stack([np.isin(rows, group).any(axis=1) for group in rule.groups])
        open_still = np.stack([np.isin(group, later).any() for group in rule.groups])[:, None]
        return np.asarray((used | open_still).all(axis=0) | ~used.any(axis=0))
    count = np.isin(rows, rule.edges).sum(axis=1)
    still = np.bincount(graph.edge_position[np.intersect1d(rule.edges, later)], minlength=graph.positions)
    most = int(np.minimum(still, graph.seats).sum())
    enough: Mask = count + most >= rule.at_least
    return enough if rule.at_most is None else enough & (count <= rule.at_most)


def all_matchings(graph: Graph) -> Indices:
    """List every maximum matching, a row of edge numbers each: for small graphs only."""
    rows = decisions_of(graph).listed(None, sys.maxsize)
    assert rows is not None, "there is no limit"
    return rows


def _holder(graph: Graph, matching: Indices) -> Indices:
    """Return the position that each candidate fills, and l for those who are free."""
    holder = np.full(graph.candidates, graph.positions)
    holder[graph.edge_candidate[matching]] = np.arange(graph.positions)
    return holder


def _all_distances(graph: Graph, target: Indices, loss: Vector) -> NDArray[np.float64]:
    """Floyd and Warshall's shortest paths over positions and the node of free candidates (the last)."""
    nodes = graph.positions + 1
    distance = np.full((nodes, nodes), np.inf)
    np.minimum.at(distance, (graph.edge_position, target), loss)
    distance[-1, :] = 0.0
    np.fill_diagonal(distance, 0.0)
    for middle in range(nodes):
        np.minimum(distance, distance[:, middle, None] + distance[None, middle, :], out=distance)
    return distance


class Assignments(Decisions):
    """The maximum matchings of a graph, by the functions above."""

    fast = True

    def best(
        self, weights: Vector, allowed: Mask | None = None, required: Edges = (), exact: bool = True
    ) -> Indices | None:
        """Return a matching of largest weight among the allowed edges, with the required; None if none is."""
        if len(required):
            fits = allowed_edges(self.graph, required)  # with one seat, nothing else is left at a position
            allowed = fits if allowed is None else fits & allowed
        return best_matching(self.graph, weights, allowed)

    def alternatives(self, weights: Vector) -> Alternatives:
        """Return the best weight with and without every single edge; -inf where no such matching exists.

        One assignment problem and one all-pairs shortest path problem, instead of 2m assignment problems.
        From a best matching M, let position j move to the candidate of position k (or to a free
        candidate): the total changes by w(j, new) - w(j, old). A change of matching is a cycle of such
        moves, where a free candidate closes the cycle at no cost, and no cycle gains, since M is best.
        The best matching through e = (c, j) is therefore M plus the best cycle that starts with the move
        of j to c. O(m + l^3).
        """
        graph, matching = self.graph, self.one(weights)
        total = float(weights[matching].sum())
        target = _holder(graph, matching)[graph.edge_candidate]
        loss = weights[matching][graph.edge_position] - weights
        distance = _all_distances(graph, target, loss)

        with_edge = total - np.maximum(loss + distance[target, graph.edge_position], 0.0)
        with_edge[matching] = total
        without_edge = np.full(graph.edges, total)
        rivals = with_edge.copy()
        rivals[matching] = -np.inf
        without_edge[matching] = np.maximum.reduceat(rivals, graph.start[:-1])
        return Alternatives(matching, with_edge, without_edge)

    def most_through(self, weights: Vector, allowed: Mask) -> Vector:
        """Return, for every edge, the largest weight of a matching of allowed edges through it.

        Below -FORBIDDEN / 2 where there is none; the weights must be far smaller than that.
        """
        return self.alternatives(np.where(allowed, weights, -FORBIDDEN)).with_edge

    @cached_property
    def usable(self) -> Mask:
        """Marks the edges that lie in some maximum matching."""
        return usable_edges(self.graph)

    @cached_property
    def certain(self) -> Mask:
        """Marks the edges that lie in every maximum matching: the only usable edge of their position."""
        return self.graph.without_choice(self.usable)

    def count(self, memory: int = MEMORY) -> int:
        """Return the number of maximum matchings, exactly."""
        from duelmatch.matchings.counting import count_matchings

        return count_matchings(self.graph, memory)

    def marginals(self, memory: int = MEMORY) -> Vector:
        """Return, for every edge, the probability that a uniformly random maximum matching uses it."""
        from duelmatch.matchings.counting import edge_marginals

        return edge_marginals(self.graph, memory)

    def log_count_bound(self) -> float:
        """Return the logarithm of an upper bound on their number."""
        from duelmatch.matchings.counting import log_count_bound

        return log_count_bound(self.graph)


def decisions_of(graph: Graph) -> Decisions:
    """Return the decisions of a graph; the same object every time, since some keep a solver warm."""
    found: Decisions | None = graph.__dict__.get("_decisions")
    if found is None:
        found = _class_of(graph)
        graph.__dict__["_decisions"] = found
    return found


def _class_of(graph: Graph) -> Decisions:
    if graph.one_to_one:
        return Assignments(graph)
    if graph.rules:
        from duelmatch.matchings.ruled import Ruled

        return Ruled(graph)
    from duelmatch.matchings.flows import Flows

    return Flows(graph)
