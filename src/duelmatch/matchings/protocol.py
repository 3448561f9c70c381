"""What may be chosen, as one small protocol: everything else is built on a linear oracle.

A decision is a set of edges, given by their numbers in ascending order; all decisions of a graph have as many
edges as there are seats. A class of decisions owes one thing, :meth:`Decisions.best`: a decision of largest
weight with some edges required and others forbidden. The rest has defaults that use nothing else, and that
the classes of this package replace where they know something faster:

- :class:`duelmatch.matchings.assignment.Assignments`: the paper's maximum matchings.
- :class:`duelmatch.matchings.flows.Flows`: with capacities and several seats, a minimum cost flow.
- :class:`duelmatch.matchings.ruled.Ruled`: with rules, listed while they are few, else an integer program.

What the defaults need is imported when they are used: assignments, which have their own, come without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import comb, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from duelmatch.graph import Edges, Graph, Indices, Mask, Vector

if TYPE_CHECKING:
    from duelmatch.matchings.counters import Counters
    from duelmatch.matchings.general_game import PolytopeGame

MEMORY = 1 << 30
"""What counting may take unless told otherwise, in bytes."""


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

    def best_other(self, weights: Vector, decision: Indices, allowed: Mask | None = None) -> Indices | None:
        """Return a best decision that differs from ``decision``; None if there is no other.

        Another decision misses one of its edges, since all have the same number of them.
        """
        usable = np.ones(self.graph.edges, dtype=np.bool_) if allowed is None else allowed.copy()
        best: Indices | None = None
        for edge in decision:
            if not usable[edge]:
                return self.best(weights, usable)
            usable[edge] = False
            other = self.best(weights, usable)
            usable[edge] = True
            if other is not None and (best is None or weights[other].sum() > weights[best].sum()):
                best = other
        return best

    def alternatives(self, weights: Vector) -> Alternatives:
        """Return the best weight with and without every single edge; -inf where there is no such decision."""
        decision = self.one(weights)
        total = float(weights[decision].sum())
        with_edge, without_edge = np.full(self.graph.edges, total), np.full(self.graph.edges, total)
        inside = np.zeros(self.graph.edges, dtype=np.bool_)
        inside[decision] = True
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
        always = np.zeros(self.graph.edges, dtype=np.bool_)
        always[self.one(np.zeros(self.graph.edges))] = True
        while True:
            inside = np.zeros(self.graph.edges, dtype=np.bool_)
            inside[self.one(np.where(always, -1.0, 0.0))] = True
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
        from duelmatch.matchings.listing import list_decisions

        return list_decisions(self.graph, self.usable if allowed is None else allowed, at_most)
