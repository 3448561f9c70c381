"""Decisions with capacities and several seats: minimum cost flows from positions to candidates.

Position j sends as many units as it has seats, candidate i takes as many as its capacity, and an edge carries
one at most: so no candidate fills two seats of a position. The constraints are totally unimodular, so flows
are decisions and linear programs over them are exact. Copies would not do: of positions, since swapped copies
tie; of candidates, since two copies could meet in one position, and decisions would be counted several times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.graph import Edges, Graph, Indices, Mask, Vector
from duelmatch.matchings.decisions import Alternatives, Decisions

Costs = NDArray[Any]
"""A cost per edge: int64, float64, or Python integers in an array of objects."""


class Flows(Decisions):
    """The decisions of a graph by its seats and capacities; its rules, if any, are ignored."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._present = graph.edge_at >= 0

    def best(
        self, weights: Costs, allowed: Mask | None = None, required: Edges = (), exact: bool = True
    ) -> Indices | None:
        """Return a decision of largest weight among the allowed edges, with the required; None if none is.

        Successive shortest paths with potentials, O(seats (l + n)^2). The choice among equally good ones
        depends on the weights alone. Whole numbers (int64, or Python's in an array of objects) stay exact.
        """
        graph = self.graph
        cost = np.zeros(graph.edge_at.shape, dtype=weights.dtype)
        cost.ravel()[graph.cell] = weights.max() - weights
        present = self._present
        if allowed is not None:
            present = np.zeros_like(present)
            present.ravel()[graph.cell] = allowed
        fixed = np.zeros_like(present)
        fixed.ravel()[graph.cell[np.asarray(required, dtype=np.intp)]] = True
        if (fixed & ~present).any():
            return None
        used = fixed.copy()
        fill = _fill.py_func if cost.dtype == object else _fill
        if not fill(cost, present, fixed, graph.seats, graph.capacity, used):
            return None
        return np.flatnonzero(used.ravel()[graph.cell])

    def alternatives(self, weights: Vector) -> Alternatives:
        """Return the best weight with and without every edge: cycles in the residual network.

        Another decision differs from the best one in cycles: a position takes a candidate, who drops another
        position or uses capacity left, and so on round. No cycle gains, so the best through an edge is
        one shortest path away: O((l + n)^3) for all edges at once.
        """
        decision = self.one(weights)
        with_edge, without_edge = self._changed(weights, decision, None)
        return Alternatives(decision, with_edge, without_edge)

    def most_through(self, weights: Vector, allowed: Mask) -> Vector:
        """Return, for every edge, the largest weight of a decision of allowed edges through it."""
        decision = self.best(weights, allowed)
        if decision is None:
            return np.full(self.graph.edges, -np.inf)
        return self._changed(weights, decision, allowed)[0]

    def _changed(self, weights: Vector, decision: Indices, allowed: Mask | None) -> tuple[Vector, Vector]:
        graph = self.graph
        total = float(weights[decision].sum())
        used = graph.uses(decision)
        free = ~used if allowed is None else ~used & allowed
        load = np.bincount(graph.edge_candidate[decision], minlength=graph.candidates)
        distance = _distances(
            graph.edge_position, graph.edge_candidate, weights, used, free, load, graph.capacity,
            graph.positions,
        )  # fmt: skip
        position, candidate = graph.edge_position, graph.positions + graph.edge_candidate
        loss_with = np.maximum(distance[candidate, position] - weights, 0.0)
        loss_without = np.maximum(distance[position, candidate] + weights, 0.0)
        with_edge = np.where(used, total, np.where(free, total - loss_with, -np.inf))
        without_edge = np.where(used, total - loss_without, total)
        return with_edge, without_edge


@njit(cache=True)  # type: ignore[untyped-decorator]
def _distances(
    edge_position: Indices,
    edge_candidate: Indices,
    weights: Vector,
    used: Mask,
    free: Mask,
    load: Indices,
    capacity: Indices,
    positions: int,
) -> NDArray[np.float64]:
    """Return all shortest paths of the residual network: positions, candidates, and capacity left (last).

    A free edge is taken at the cost of minus its weight, a used one dropped at its weight.
    """
    nodes = positions + len(capacity) + 1
    spare = nodes - 1
    distance = np.full((nodes, nodes), np.inf)
    for node in range(nodes):
        distance[node, node] = 0.0
    for edge in range(len(weights)):
        position, candidate = edge_position[edge], positions + edge_candidate[edge]
        if used[edge]:
            distance[candidate, position] = weights[edge]
        elif free[edge]:
            distance[position, candidate] = -weights[edge]
    for candidate in range(len(capacity)):
        if load[candidate] < capacity[candidate]:
            distance[positions + candidate, spare] = 0.0
        if load[candidate] > 0:
            distance[spare, positions + candidate] = 0.0
    for middle in range(nodes):
        for one in range(nodes):
            first = distance[one, middle]
            if first < np.inf:
                for other in range(nodes):
                    length = first + distance[middle, other]
                    if length < distance[one, other]:
                        distance[one, other] = length
    return distance


@njit(cache=True)  # type: ignore[untyped-decorator]
def _fill(cost: Costs, present: Mask, fixed: Mask, seats: Indices, capacity: Indices, used: Mask) -> bool:
    """Mark in ``used`` a cheapest way to fill all seats, beside what is ``fixed``; False if there is none.

    ``cost`` must not be negative. Every path is found by Dijkstra's method: under the potentials no arc of
    the residual network has a negative cost, up to rounding, and no node is looked at twice.
    """
    rows, columns = cost.shape
    load = np.zeros(columns, dtype=np.int64)
    row_price = np.zeros(rows, dtype=cost.dtype)
    column_price = np.zeros(columns, dtype=cost.dtype)
    for column in range(columns):
        for row in range(rows):
            load[column] += fixed[row, column]
        if load[column] > capacity[column]:
            return False
    for start in range(rows):
        wanted = seats[start]
        for column in range(columns):
            wanted -= fixed[start, column]
        if wanted < 0:
            return False
        for _ in range(wanted):
            row_reached = np.zeros(rows, dtype=np.bool_)
            row_done = np.zeros(rows, dtype=np.bool_)
            column_reached = np.zeros(columns, dtype=np.bool_)
            column_done = np.zeros(columns, dtype=np.bool_)
            row_distance = np.zeros(rows, dtype=cost.dtype)
            column_distance = np.zeros(columns, dtype=cost.dtype)
            row_from = np.full(rows, -1)
            column_from = np.full(columns, -1)
            row_reached[start] = True
            end = -1
            while end < 0:
                row, column = -1, -1
                for other in range(rows):
                    waits = row_reached[other] and not row_done[other]
                    if waits and (row < 0 or row_distance[other] < row_distance[row]):
                        row = other
                for other in range(columns):
                    waits = column_reached[other] and not column_done[other]
                    if waits and (column < 0 or column_distance[other] < column_distance[column]):
                        column = other
                if row < 0 and column < 0:
                    return False
                if column < 0 or (row >= 0 and row_distance[row] <= column_distance[column]):
                    row_done[row] = True
                    for other in range(columns):
                        if present[row, other] and not used[row, other] and not column_done[other]:
                            length = row_distance[row] + cost[row, other]
                            length += row_price[row] - column_price[other]
                            if not column_reached[other] or length < column_distance[other]:
                                column_reached[other] = True
                                column_distance[other] = length
                                column_from[other] = row
                else:
                    column_done[column] = True
                    if load[column] < capacity[column]:
                        end = column
                        break
                    for other in range(rows):
                        if used[other, column] and not fixed[other, column] and not row_done[other]:
                            length = column_distance[column] - cost[other, column]
                            length += column_price[column] - row_price[other]
                            if not row_reached[other] or length < row_distance[other]:
                                row_reached[other] = True
                                row_distance[other] = length
                                row_from[other] = column
            farthest = column_distance[end]
            for row in range(rows):
                reach = farthest
                if row_reached[row] and row_distance[row] < farthest:
                    reach = row_distance[row]
                row_price[row] += reach
            for column in range(columns):
                reach = farthest
                if column_reached[column] and column_distance[column] < farthest:
                    reach = column_distance[column]
                column_price[column] += reach
            load[end] += 1
            column = end
            while True:
                row = column_from[column]
                used[row, column] = True
                if row == start:
                    break
                column = row_from[row]
                used[row, column] = False
    return True
