"""The cheapest decision in exact arithmetic: whole numbers of 64 bits, or of any size.

``linear_sum_assignment`` works in doubles. A verdict that rests on a draw needs every digit, so this solver
does nothing but add, subtract and compare the numbers it is given: int64 compiled, Python's own integers
(dtype object) where 64 bits are not enough, and float64 where speed matters and digits do not. The flows of
capacities and seats are as exact (:mod:`.flows`); rules take a branch and bound (:mod:`.whole`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.graph import Graph, Indices, Mask

Costs = NDArray[Any]
"""A cost per edge: int64, float64, or Python integers in an array of objects."""

SAFE = 1 << 60
"""Sums of costs below this stay exact in int64 while the solver works with them."""


def cheapest(graph: Graph, costs: Costs, allowed: Mask | None = None) -> Indices | None:
    """Return a decision of least total cost among the allowed edges; None if there is none.

    For matchings: successive shortest augmenting paths with potentials (Kuhn 1955, Munkres 1957, in the form
    of Jonker and Volgenant 1987 without their start), O(l^2 n). The choice among equally cheap ones depends
    on the costs alone. With rules it may be a cheap one, not the cheapest: see :func:`cheapest_and_bound`.
    """
    if not graph.one_to_one:
        found = cheapest_and_bound(graph, costs, allowed)
        return None if found is None else found[0]
    table = np.zeros(graph.edge_at.shape, dtype=costs.dtype)
    table.ravel()[graph.cell] = costs
    present = graph.edge_at >= 0
    if allowed is not None:
        present.ravel()[graph.cell] &= allowed
    candidate_of = np.empty(graph.positions, dtype=np.intp)
    solve = assign.py_func if costs.dtype == object else assign
    if not solve(table, present, candidate_of):
        return None
    matching: Indices = graph.edge_at[np.arange(graph.positions), candidate_of]
    return matching


def cheapest_and_bound(graph: Graph, costs: Costs, allowed: Mask | None = None) -> tuple[Indices, Any] | None:
    """Return a decision of least total cost, and what every decision costs at least; None if there is none.

    Only with rules may the two differ, where the decision is too much work to find.
    """
    if not graph.one_to_one:
        from duelmatch.matchings.whole import cheapest_decision

        return cheapest_decision(graph, costs, allowed)
    decision = cheapest(graph, costs, allowed)
    return None if decision is None else (decision, costs[decision].sum())


@njit(cache=True)  # type: ignore[untyped-decorator]
def assign(cost: Costs, present: Mask, column_of: Indices) -> bool:
    """Fill ``column_of`` with the column of each row in a cheapest assignment; False if there is none."""
    rows, columns = cost.shape
    row_price = np.zeros(rows + 1, dtype=cost.dtype)
    column_price = np.zeros(columns + 1, dtype=cost.dtype)
    row_of = np.zeros(columns + 1, dtype=np.int64)  # 0: free; rows and columns count from 1 in here
    came_from = np.zeros(columns + 1, dtype=np.int64)
    for row in range(1, rows + 1):
        row_of[0] = row
        column = 0
        distance = np.zeros(columns + 1, dtype=cost.dtype)
        reached = np.zeros(columns + 1, dtype=np.bool_)
        done = np.zeros(columns + 1, dtype=np.bool_)
        while True:
            done[column] = True
            here = row_of[column]
            nearest = 0
            for other in range(1, columns + 1):
                if done[other]:
                    continue
                if present[here - 1, other - 1]:
                    length = cost[here - 1, other - 1] - row_price[here] - column_price[other]
                    if not reached[other] or length < distance[other]:
                        distance[other] = length
                        came_from[other] = column
                        reached[other] = True
                if reached[other] and (nearest == 0 or distance[other] < distance[nearest]):
                    nearest = other
            if nearest == 0:
                return False
            step = distance[nearest]
            for other in range(columns + 1):
                if done[other]:
                    row_price[row_of[other]] += step
                    column_price[other] -= step
                elif reached[other]:
                    distance[other] -= step
            column = nearest
            if row_of[column] == 0:
                break
        while column != 0:
            row_of[column] = row_of[came_from[column]]
            column = came_from[column]
    for column in range(1, columns + 1):
        if row_of[column] > 0:
            column_of[row_of[column] - 1] = column - 1
    return True
