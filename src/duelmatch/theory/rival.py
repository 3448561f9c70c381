"""The rival that is hardest to tell from a champion, among all maximum matchings."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np

from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.assignment import best_matching

MOST_TANGENTS = 30

PRECISION = 1e-9
"""Relative precision of the ratio."""


def hardest_rival(
    graph: Graph, champion: Indices, spread: Vector, deficits: Vector, at_least: float = 0.0
) -> tuple[float, Indices | None]:
    """Maximise spread(B) / (2 deficit(B)^2) over the maximum matchings B other than the champion.

    ``spread`` and ``deficits`` are given per edge and add up over a matching; both are 0 on the
    champion's edges, and deficit(B) > 0 for every rival. Returns the maximum and a rival that attains
    it, or (``at_least``, None) if no rival exceeds ``at_least``.

    To ask whether some B has spread(B) > 2 r deficit(B)^2, replace the square by a tangent,
    deficit^2 >= 2 t deficit - t^2: then one assignment problem answers no for all B at once, or offers
    a B to try. If neither happens for the best tangent t, two matchings with deficits on both sides of t
    are in the way, and the set of matchings is split by an edge in which they differ.
    """
    record = _Record(graph, spread, deficits, at_least)
    order = count()
    queue = [(-np.inf, next(order), part) for part in _without_champion(graph, champion)]
    while queue:
        negative_bound, _, allowed = heapq.heappop(queue)
        if -negative_bound <= record.ratio * (1 + PRECISION):
            break
        split, bound = record.explore(allowed)
        if split is not None:
            with_edge, without_edge = allowed & ~_meeting(graph, split), allowed.copy()
            without_edge[split] = False
            for half in (with_edge, without_edge):
                heapq.heappush(queue, (-bound, next(order), half))
    return record.ratio, record.rival


def _without_champion(graph: Graph, champion: Indices) -> list[Mask]:
    """Split the other matchings by the first position in which they differ from the champion."""
    parts = []
    prefix = np.ones(graph.edges, dtype=np.bool_)
    for edge in champion:
        part = prefix.copy()
        part[edge] = False
        parts.append(part)
        prefix &= ~_meeting(graph, int(edge))
    return parts


def _meeting(graph: Graph, edge: int) -> Mask:
    """Mark the other edges at the position and of the candidate of an edge."""
    meets: Mask = graph.edge_position == graph.edge_position[edge]
    meets = meets | (graph.edge_candidate == graph.edge_candidate[edge])
    meets[edge] = False
    return meets


@dataclass
class _Record:
    """The best ratio met so far, and the matching that has it."""

    graph: Graph
    spread: Vector
    deficits: Vector
    ratio: float
    rival: Indices | None = None

    def explore(self, allowed: Mask) -> tuple[int | None, float]:
        """Try tangents on the matchings of these edges.

        Returns an edge to split by, with a bound on the ratio, or None if the record holds for all. The
        larger the tangent point t, the smaller the deficit of the matching offered, so the best t is
        where the two cross.
        """
        closest = best_matching(self.graph, -self.deficits, allowed)
        if closest is None:
            return None, 0.0
        smallest = self._try(closest)
        below, above = closest, closest
        low, high, tangent = smallest, np.inf, smallest
        excess = np.inf
        for _ in range(MOST_TANGENTS):
            weights = self.spread - 4 * self.ratio * tangent * self.deficits
            matching = best_matching(self.graph, weights, allowed)
            assert matching is not None, "there is the closest"
            excess = float(weights[matching].sum()) + 2 * self.ratio * tangent**2
            if excess <= 2 * self.ratio * smallest**2 * PRECISION:
                return None, 0.0
            deficit = self._try(matching)
            if deficit <= tangent:
                high, below = tangent, matching
            else:
                low, above = tangent, matching
            tangent = deficit if np.isinf(high) else (low + high) / 2
        only_above = np.setdiff1d(above, below)
        if len(only_above) == 0:
            return None, 0.0
        return int(only_above[0]), self.ratio + excess / (2 * smallest**2)

    def _try(self, matching: Indices) -> float:
        """Let a matching compete for the record; return its deficit."""
        deficit = float(self.deficits[matching].sum())
        ratio = float(self.spread[matching].sum()) / (2 * deficit**2)
        if ratio > self.ratio:
            self.ratio, self.rival = ratio, matching
        return deficit
