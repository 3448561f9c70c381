"""Whom to back, and what is needed to prove it, where capacities, weights or rules are in force.

Nothing here is part of a certificate.

**Goals.** The decisions are points x of A x <= b; what proves a champion is a goal for each pair that one of
its edges is in (:mod:`.plan`). For multipliers y >= 0 of the rows let goal = -A^T y. Once all goals are
reached, D(A, B) >= the sum of the goals over the edges of B >= -y b. So goals with -y b >= 0, and at most 0
for the champion's own edges, are enough. The cheapest are wanted, as for matchings: a goal costs (goal -
least)+ / 2 share answers, and what is beyond the estimate is penalised. The dual of that linear program has
few rows,

    minimise  least p + ahead q
    subject to  A (p + q) <= lambda b,    0 <= p <= 1 / 2 share,    0 <= q <= penalty,

a decision scaled by lambda, with the first part of an edge at its lower bound and the rest at its estimate;
the goals are its prices. With rules, the relaxation may ask for more than the decisions need.

**Champion.** Best replies play against each other (Robinson 1951); the last champion stays while it may.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack

from duelmatch.feasibility import decision_rows
from duelmatch.graph import Graph, Indices, Vector

NOTHING = 1e-9
"""Less than any vote."""

ACCURACY = 1e-7
"""What the prices of the program are exact to."""


def least_beaten(
    facing: Callable[[Indices], Vector], reply: Callable[[Vector], Indices], last: Indices, rounds: int
) -> Indices:
    """Return the least beaten decision met.

    ``facing`` is by how much a decision is ahead of each edge, ``reply`` a decision that weighs most.
    """
    champion, best, lead = last, last, -np.inf
    gain: Vector | None = None
    for _ in range(rounds):
        over = facing(champion)
        rival = reply(-over)
        total = float(over[rival].sum())
        if total > lead:
            best, lead = champion, total
        if lead >= -NOTHING:
            break
        gain = -facing(rival) if gain is None else gain - facing(rival)
        champion = reply(gain)
    return best


def goals(
    graph: Graph, champion: Indices, share: Vector, ahead: Vector, least: Vector, too_high: float
) -> Vector:
    """Return by how much the champion's edge must be ahead of each edge of its position, at least.

    It is ahead by ``least`` for certain, and will be by ``ahead`` according to the estimates.
    """
    edges, rows = graph.edges, decision_rows(graph, graph.rules)
    matrix, low, high = rows.matrix, rows.low, rows.high
    extra, of_rules = matrix.shape[1] - edges, slice(graph.positions + graph.candidates, None)
    equal, above = low == high, np.isfinite(high) & (low < high)
    below = np.isfinite(low) & (low < high) & (low > 0)  # the others hold anyway, or are of the form >= 0
    below[of_rules] |= (low[of_rules] == 0) & np.isinf(high[of_rules])
    chosen = csr_array(
        (np.ones(extra), (np.arange(extra), edges + np.arange(extra))), shape=(extra, edges + extra)
    )
    at_most = vstack([matrix[above], -matrix[below], chosen])
    limit = np.concatenate([high[above], -low[below], np.ones(extra)])
    per_answer = 1.0 / (2 * share + 1e-3)
    per_answer[champion] = np.inf
    beyond = np.full(edges, too_high)
    beyond[champion] = 0.0
    upper = np.concatenate([per_answer, beyond, np.full(extra + 1, np.inf)])
    solved = linprog(
        np.concatenate([np.where(np.isinf(per_answer), 0.0, least), ahead, np.zeros(extra + 1)]),
        A_ub=_scaled(at_most, limit, edges),
        b_ub=np.zeros(len(limit)),
        A_eq=_scaled(matrix[equal], high[equal], edges),
        b_eq=np.zeros(int(equal.sum())),
        bounds=np.column_stack([np.zeros(len(upper)), upper]),
        method="highs",
    )
    if solved.status != 0:
        return np.zeros(edges)  # a majority everywhere is always enough
    prices: Vector = matrix[equal].T @ solved.eqlin.marginals + at_most.T @ solved.ineqlin.marginals
    return prices[:edges] - ACCURACY


def _scaled(matrix: csr_array, limit: Vector, edges: int) -> csr_array:
    """Return the rows for both kinds of edges, the rules' own variables, and lambda."""
    matrix = csr_array(matrix)
    return csr_array(hstack([matrix[:, :edges], matrix, csr_array(-limit[:, None])]))
