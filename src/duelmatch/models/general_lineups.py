"""The best decision of each of many tables, beyond one-to-one matchings: by the linear oracle alone.

The same as :mod:`duelmatch.models.lineups` for capacities, seats, weights and rules. How far an edge is ahead
of a mixture y of edges (a decision, or against whom Borda counts) is, at a position of weight v and k seats,

    v / k^2  sum over b of y_b (p(e, b) - 1/2),

and the sum over a decision's edges, over the total weight, is by how much it is ahead: see
docs/decisions-mathematics.md. So Borda is one question to the oracle, and so is a best response.
"""

from __future__ import annotations

import numpy as np

from duelmatch.graph import Graph, Indices, Mask, Matrix, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.models.lineups import LONGEST_WALK, ROUNDING, Finder, LineupFinder, advantages


def finder_of(graph: Graph, marginals: Vector | None = None, usable: Mask | None = None) -> Finder:
    """Return what finds the best decisions of a graph; the parameters are those of LineupFinder.

    ``marginals`` add up to the seats of every position.
    """
    if graph.one_to_one and graph.even:
        return LineupFinder(graph, marginals, usable)
    return DecisionFinder(graph, marginals, usable)


class DecisionFinder(Finder):
    """Finds best decisions, whatever may be chosen.

    Where the oracle takes milliseconds (many decisions under rules) good decisions stand for the best.
    """

    def __init__(self, graph: Graph, marginals: Vector | None = None, usable: Mask | None = None) -> None:
        super().__init__(graph, marginals, usable)
        self._decisions = decisions_of(graph)

    def best(self, tables: Matrix, start: Indices, allowed: Mask | None = None) -> tuple[Indices, Vector]:
        """Return the best decision by each table, and its worst defeat."""
        among = self._among(allowed)
        rows = np.empty((len(tables), self._graph.places), dtype=np.intp)
        defeats = np.zeros(len(tables))
        for number, table in enumerate(tables):
            if self._marginals is None:
                rows[number], defeats[number] = self._unbeaten(table, start, among)
            else:
                rows[number] = self._decisions.one(self._ahead(table, self._marginals), among, exact=False)
        return rows, defeats

    def shortfalls(self, tables: Matrix, best: Indices, matching: Indices) -> Vector:
        """Return by how much a decision falls short in each table, per unit of weight."""
        out = np.empty(len(tables))
        for number, table in enumerate(tables):
            if self._marginals is None:
                out[number] = self._respond(table, matching, self._usable)[1]
            else:
                ahead = self._ahead(table, self._marginals)
                out[number] = ahead[best[number]].sum() - ahead[matching].sum()
        shortfalls: Vector = np.maximum(out / self._graph.total_weight, 0.0)
        return shortfalls

    def _unbeaten(self, table: Vector, start: Indices, among: Mask | None) -> tuple[Indices, float]:
        """Follow best responses until one has no answer; return the least beaten met, and its defeat."""
        current, best, least, met = start, start, np.inf, set[bytes]()
        for _ in range(LONGEST_WALK):
            met.add(current.tobytes())
            response, lead = self._respond(table, current, among)
            if lead < least:
                best, least = current, lead
            if lead <= ROUNDING or response.tobytes() in met:
                break
            current = response
        return best, max(least, 0.0)

    def _respond(self, table: Vector, decision: Indices, among: Mask | None) -> tuple[Indices, float]:
        """Return the decision that does best against another, and by how much it is ahead."""
        ahead = self._ahead(table, self._graph.uses(decision).astype(np.float64))
        response = self._decisions.one(ahead, among, exact=False)
        return response, float(ahead[response].sum())

    def _ahead(self, table: Vector, mixture: Vector) -> Vector:
        """Return by how much every edge is ahead of a mixture of edges."""
        ahead: Vector = advantages(self._graph, table, mixture) * self._graph.edge_scale
        return ahead
