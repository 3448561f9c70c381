"""The cheapest decision in exact arithmetic: whole numbers of 64 bits, or of any size.

``linear_sum_assignment`` and HiGHS work in doubles. A verdict that rests on a draw needs every digit, so
:func:`assign` does nothing but add, subtract and compare the numbers it is given: int64 compiled, Python's
own integers (dtype object) where 64 bits are not enough, and float64 where speed matters and digits do not.

Capacities and seats are a flow (:mod:`.flows`), which is as exact. With rules, decisions that are few are
looked at one by one; else it is a branch and bound. At every node HiGHS solves the relaxation, in doubles;
only its multipliers of the rules are used, rounded to multiples of 1 / FINE. For *any* multipliers

    w x  <=  y b + max over z of (-y B z) + max over flows x of (w - y A) x

(:mod:`.ruled`), and the last maximum is a flow: so the bound of a node is exact, and as good as that of the
relaxation up to the rounding, since flows are whole. Costs are whole numbers, so a node is done with when
less than 1 could be saved. Only that a node has no decision at all is taken from HiGHS.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.flows import Costs
from duelmatch.matchings.ruled import Ruled

SAFE = 1 << 60
"""Sums of costs below this stay exact in int64 while the solver works with them."""

FINE = 1 << 10
"""Parts of a unit of cost in which multipliers are taken."""

MOST_NODES = 300
"""A millisecond or two each. Then the bound that has been reached has to do: a certificate that needs a
better one comes some answers later."""


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
    """Return a decision of least total cost among the allowed edges, and what any of them costs at least.

    The two agree, except with rules after MOST_NODES: then it is the cheapest decision that was found, and
    the bound is as sound as ever. None if there is no decision.
    """
    if graph.one_to_one:
        return _exact(cheapest(graph, costs, allowed), costs)
    decisions = decisions_of(graph)
    if not isinstance(decisions, Ruled):
        return _exact(decisions.best(-costs, allowed), costs)
    if decisions.rows is not None:
        rows = decisions.listed(allowed, len(decisions.rows))
        best = rows[int(costs[rows].sum(axis=1).argmin())] if rows is not None and len(rows) else None
        return _exact(best, costs)
    flow = decisions.flows.best(-costs, allowed)
    if flow is None or decisions.obeys(flow):
        return _exact(flow, costs)
    upper = np.ones(graph.edges) if allowed is None else allowed.astype(np.float64)
    return _branch_and_bound(decisions, costs, upper)


def _exact(decision: Indices | None, costs: Costs) -> tuple[Indices, Any] | None:
    return None if decision is None else (decision, costs[decision].sum())


def _branch_and_bound(decisions: Ruled, costs: Costs, upper: Vector) -> tuple[Indices, Any] | None:
    found: Indices | None = None
    unit = float(max(abs(costs).max(), 1))
    weights = -costs.astype(np.float64) / unit
    nothing_less = int(np.minimum(costs, 0).sum())
    nodes = [(nothing_less, np.zeros(len(costs)), upper)]
    for _ in range(MOST_NODES):
        if not nodes:
            return _exact(found, costs)
        at_least, low, high = nodes.pop()
        if found is not None and costs[found].sum() <= at_least:
            continue
        relaxed = decisions.program.relaxed(weights, low, high)
        if relaxed is None:
            continue
        solved, multipliers = relaxed
        bound, flow = _bound(decisions, costs, multipliers * unit, low, high)
        if flow is None:
            continue
        for decision in (flow, np.flatnonzero(solved > 0.5)):
            cheaper = found is None or costs[decision].sum() < costs[found].sum()
            if cheaper and decisions.graph.allows(decision):
                found = decision
        if found is not None and costs[found].sum() <= bound:
            continue
        distance = np.minimum(solved, 1.0 - solved)
        if distance.max() < 1e-6:  # whole, but the rounding of the multipliers left a doubt
            distance = np.where(solved > 0.5, 1.0, 0.0)
        open_ = np.where(low < high, distance, 0.0)
        if not open_.any():
            continue  # one decision, which was looked at
        edge = int(open_.argmax())
        with_edge, without_edge = low.copy(), high.copy()
        with_edge[edge], without_edge[edge] = 1.0, 0.0
        bound = max(bound, at_least)
        nodes += [(bound, low, without_edge), (bound, with_edge, high)]
    if found is None:
        found = decisions.best(weights, upper > 0.5, exact=False)
    if found is None:
        return None
    return found, min([costs[found].sum(), *(at_least for at_least, _, _ in nodes)])


def _bound(
    decisions: Ruled, costs: Costs, multipliers: Vector, low: Vector, high: Vector
) -> tuple[int, Indices | None]:
    """Return what a decision between these bounds costs at least, and the flow that shows it, if any."""
    graph = decisions.graph
    fine, largest = FINE, float(abs(costs).max()) + float(np.abs(multipliers).sum())
    room = SAFE / (4 * (graph.positions + graph.candidates) * (largest + 1))
    while fine > 1 and fine > room:
        fine //= 2
    kind = np.int64 if fine <= room else object
    whole = np.array([round(float(y) * fine) for y in multipliers], dtype=kind)
    constant, charge = decisions.charged(whole)
    priced = costs.astype(kind) * fine + charge
    flow = decisions.flows.best(-priced, high > 0.5, np.flatnonzero(low > 0.5))
    if flow is None:
        return 0, None
    return -int((constant - priced[flow].sum()) // fine), flow


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
