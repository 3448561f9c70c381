"""The decisions of a graph, by the fastest class that knows them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.assignment import (
    Alternatives,
    allowed_edges,
    alternatives,
    best_matching,
    best_other_matching,
    certain_edges,
    list_matchings,
    usable_edges,
)
from duelmatch.matchings.counting import MEMORY, count_matchings, edge_marginals, log_count_bound
from duelmatch.matchings.protocol import Decisions

FORBIDDEN = 1e7
"""A weight that no matching of allowed edges outweighs, far from where doubles lose the digits needed."""


class Assignments(Decisions):
    """The maximum matchings of a graph."""

    def best(
        self, weights: Vector, allowed: Mask | None = None, required: Sequence[int] | Indices = ()
    ) -> Indices | None:
        """Return a matching of largest weight among the allowed edges, with the required; None if none is."""
        if len(required):
            fits = allowed_edges(self.graph, required)  # with one seat, nothing else is left at a position
            allowed = fits if allowed is None else fits & allowed
        return best_matching(self.graph, weights, allowed)

    def best_other(self, weights: Vector, decision: Indices, allowed: Mask | None = None) -> Indices | None:
        """Return a best matching that differs from ``decision``; None if there is no other."""
        return best_other_matching(self.graph, weights, decision, allowed)

    def alternatives(self, weights: Vector) -> Alternatives:
        """Return the best weight with and without every single edge; -inf where there is no such matching."""
        return alternatives(self.graph, weights)

    def most_through(self, weights: Vector, allowed: Mask) -> Vector:
        """Return, for every edge, the largest weight of a matching of allowed edges through it.

        Below -FORBIDDEN / 2 where there is none; the weights must be far smaller than that.
        """
        return alternatives(self.graph, np.where(allowed, weights, -FORBIDDEN)).with_edge

    @cached_property
    def usable(self) -> Mask:
        """Marks the edges that lie in some maximum matching."""
        return usable_edges(self.graph)

    @cached_property
    def certain(self) -> Mask:
        """Marks the edges that lie in every maximum matching."""
        return certain_edges(self.graph)

    def count(self, memory: int = MEMORY) -> int:
        """Return the number of maximum matchings, exactly."""
        return count_matchings(self.graph, memory)

    def marginals(self, memory: int = MEMORY) -> Vector:
        """Return, for every edge, the probability that a uniformly random maximum matching uses it."""
        return edge_marginals(self.graph, memory)

    def log_count_bound(self) -> float:
        """Return the logarithm of an upper bound on their number."""
        return log_count_bound(self.graph)

    def listed(self, allowed: Mask | None, at_most: int) -> Indices | None:
        """Return the matchings of the allowed edges, a row each; None if there may be more than so many."""
        return list_matchings(self.graph, self.usable if allowed is None else allowed, at_most)


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
