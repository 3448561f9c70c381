"""The cheapest decision beyond one-to-one, in whole numbers: no certificate rests on a solver's rounding.

Capacities and seats are a flow, which is exact in whole numbers. With rules, decisions that are few are
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

from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.assignment import decisions_of
from duelmatch.matchings.flows import Costs
from duelmatch.matchings.integers import SAFE
from duelmatch.matchings.ruled import Ruled

FINE = 1 << 10
"""Parts of a unit of cost in which multipliers are taken."""

MOST_NODES = 300
"""A millisecond or two each. Then the bound that has been reached has to do: a certificate that needs a
better one comes some answers later."""


def cheapest_decision(graph: Graph, costs: Costs, allowed: Mask | None = None) -> tuple[Indices, Any] | None:
    """Return a decision of least total cost among the allowed edges, and what any of them costs at least.

    The two agree, except with rules after MOST_NODES: then it is the cheapest decision that was found, and
    the bound is as sound as ever. None if there is no decision.
    """
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
