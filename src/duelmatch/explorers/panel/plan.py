"""Who is backed, and what is still needed to prove it.

**Prices.** A champion A is proven if the least D(A, B) over all B is 0 or more. By duality of the assignment
problem that holds exactly if there are prices pi_j >= 0 of the positions such that for every edge (i, j)

    least d_j(A(j), i) >= pi_j - pi_k   if A gives i the position k,    >= pi_j   if A leaves i out.

So prices turn a statement about all line-ups into a goal for each pair: where the champion must be ahead at
least by how much, and where it may even lose. With all prices 0 every pair must end at a majority. An answer
for the champion lifts the lower bound of its pair by two votes, one against it by none, so reaching a goal
costs about (goal - least) / 2p answers, and the cheapest prices solve a linear program. It is solved
roughly: from the lowest prices whose goals can be reached if the estimates are right (longest paths, by
Bellman and Ford), price by price (each is a one-dimensional convex problem). Goals above what the pair is
expected to reach are penalised.

**Champion.** Condorcet: the line-up whose worst defeat is smallest under the estimates of :mod:`.model`. The
last champion stays while it is unbeaten there. Else fictitious play: in turn the best reply to the line-ups
that beat the champions so far, a method that converges to the optimum of the game (Robinson 1951), which is
the Condorcet winner if there is one. Borda: one assignment problem.

**Conditions.** Where capacities, weights or rules are in force, decisions are points x of A x <= b. For
multipliers y >= 0 of the rows let goal = -A^T y. Once all goals are reached, D(A, B) >= the sum of the goals
over the edges of B >= -y b. So goals with -y b >= 0, and at most 0 for the champion's own edges, are enough.
The cheapest are wanted, as for matchings: a goal costs (goal - least)+ / 2 share answers, and what is beyond
the estimate is penalised. The dual of that linear program has few rows,

    minimise  least p + ahead q
    subject to  A (p + q) <= lambda b,    0 <= p <= 1 / 2 share,    0 <= q <= penalty,

a decision scaled by lambda, with the first part of an edge at its lower bound and the rest at its estimate;
the goals are its prices. With rules, the relaxation may ask for more than the decisions need. The champion
is again the least beaten decision met in fictitious play; the last one stays while it may.

Nothing here is part of a certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack

from duelmatch.explorers.panel.model import PairTables, normal, outlook
from duelmatch.feasibility import decision_rows
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.integers import assign

TOO_HIGH = 20.0
"""What a goal costs per unit that is beyond the estimate."""

PRICE_SWEEPS = 3

ROUNDS = 60
"""Of fictitious play for a new champion, at most; large problems have fewer, after each answer."""

SLOW_ROUNDS = 6
"""The same where a best reply takes milliseconds."""

NOTHING = 1e-9
"""Less than any vote."""

ACCURACY = 1e-7
"""What the prices of the linear program are exact to."""


class QuestionPlan(NamedTuple):
    """What is needed of every edge's duel with the champion's edge at its position, in shares (2p - 1).

    ``need`` is by how much the lower bound falls short of its goal, ``doubt`` the chance that it never
    reaches it, ``share`` how the answers to come are likely to be split.
    """

    champion: Indices
    need: Vector
    doubt: Vector
    share: Vector


def question_plan(
    graph: Graph, champion: Indices, share: Vector, ahead: Vector, deviation: Vector, least: Vector
) -> QuestionPlan:
    """Return what proves a champion, given the outlook of its edges against each edge."""
    if graph.conditions is not None:
        weight = graph.weight[graph.edge_position]
        goal = _goals_of_decisions(graph, champion, share, ahead * weight, least * weight) / weight
    else:
        goal = _goals_of_matchings(graph, champion, share, ahead, least)
    need = np.maximum(goal - least, 0.0)
    need[need < NOTHING] = 0.0
    need[champion] = 0.0
    doubt = np.zeros(graph.edges)
    _doubts(goal - ahead, deviation, doubt)
    return QuestionPlan(champion, need, doubt, share)


def _goals_of_matchings(
    graph: Graph, champion: Indices, share: Vector, ahead: Vector, least: Vector
) -> Vector:
    prices = np.zeros(graph.positions)
    holder = np.full(graph.candidates, -1, dtype=np.intp)
    holder[graph.edge_candidate[champion]] = np.arange(graph.positions)
    _set_prices(
        graph.start, graph.edge_at, champion, graph.edge_candidate, holder, share, ahead, least, prices,
    )  # fmt: skip
    holders = holder[graph.edge_candidate]
    goal: Vector = prices[graph.edge_position] - np.where(holders >= 0, prices[holders], 0.0)
    return goal


def _goals_of_decisions(
    graph: Graph, champion: Indices, share: Vector, ahead: Vector, least: Vector
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
    beyond = np.full(edges, TOO_HIGH)
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


@njit(cache=True)  # type: ignore[untyped-decorator]
def _doubts(gap: Vector, deviation: Vector, out: Vector) -> None:
    for edge in range(len(out)):
        out[edge] = normal(gap[edge] / (deviation[edge] + 1e-9))


@njit(cache=True)  # type: ignore[untyped-decorator]
def outlooks(
    tables: PairTables,
    champion: Indices,
    pending: Vector,
    share: Vector,
    ahead: Vector,
    deviation: Vector,
    least: Vector,
) -> None:
    """Fill in the outlook of the champion's edges; ``pending`` answers count as expected."""
    for position in range(len(champion)):
        own = champion[position]
        for edge in range(tables.start[position], tables.start[position + 1]):
            if edge != own:
                share[edge], ahead[edge], deviation[edge], least[edge] = outlook(tables, position, own, edge)
                least[edge] += 2 * share[edge] * pending[edge]


@njit(cache=True)  # type: ignore[untyped-decorator]
def expected_rewards(tables: PairTables, shares: Vector, rewards: Vector, variances: Vector) -> None:
    """Add up the expected rewards, with their variances, in shares."""
    for position in range(len(tables.start) - 1):
        for one in range(tables.start[position], tables.start[position + 1]):
            for other in range(one + 1, tables.start[position + 1]):
                _, ahead, deviation, _ = outlook(tables, position, one, other)
                rewards[one] += shares[other] * ahead
                rewards[other] -= shares[one] * ahead
                variances[one] += (shares[other] * deviation) ** 2
                variances[other] += (shares[one] * deviation) ** 2


@njit(cache=True)  # type: ignore[untyped-decorator]
def _ahead(tables: PairTables, position: int, one: int, other: int, at_most: bool) -> float:
    """Return by how much an edge is expected to be ahead of another, or by how much it can be at most."""
    if at_most:
        best: float = -outlook(tables, position, other, one)[3]
        return best
    expected: float = outlook(tables, position, one, other)[1]
    return expected


@njit(cache=True)  # type: ignore[untyped-decorator]
def _worst(
    tables: PairTables,
    champion: Indices,
    edge_candidate: Indices,
    present: Mask,
    at_most: bool,
    rival: Indices,
) -> float:
    """Return by how much a line-up loses to the one that beats it most, which is filled in as candidates."""
    cost = np.zeros(present.shape)
    for position in range(len(champion)):
        for edge in range(tables.start[position], tables.start[position + 1]):
            if edge != champion[position]:
                cost[position, edge_candidate[edge]] = _ahead(
                    tables, position, champion[position], edge, at_most
                )
    assign(cost, present, rival)
    defeat = 0.0
    for position in range(len(champion)):
        defeat -= cost[position, rival[position]]
    return defeat


@njit(cache=True)  # type: ignore[untyped-decorator]
def least_beaten_met(
    tables: PairTables,
    last: Indices,
    edge_candidate: Indices,
    edge_at: Indices,
    present: Mask,
    rounds: int,
) -> Indices:
    """Return the least beaten line-up met in fictitious play, one that may be unbeaten if possible.

    First with the margins as they are expected; then, if all that were met are beaten for certain, with the
    largest margins that are possible.
    """
    positions = len(last)
    rival, reply = np.empty(positions, dtype=np.intp), np.empty(positions, dtype=np.intp)
    best = last.copy()
    least = _worst(tables, last, edge_candidate, present, False, rival)
    if least <= NOTHING:
        return best
    hopeless = _worst(tables, last, edge_candidate, present, True, reply) > NOTHING
    for at_most in (False, True):
        if at_most and not hopeless:
            break
        current = last.copy()
        behind = np.zeros(present.shape)
        for _ in range(rounds):
            _worst(tables, current, edge_candidate, present, at_most, rival)
            for position in range(positions):
                other = edge_at[position, rival[position]]
                for edge in range(tables.start[position], tables.start[position + 1]):
                    if edge != other:
                        ahead = _ahead(tables, position, edge, other, at_most)
                        behind[position, edge_candidate[edge]] -= ahead
            assign(behind, present, reply)
            for position in range(positions):
                current[position] = edge_at[position, reply[position]]
            defeat = _worst(tables, current, edge_candidate, present, False, rival)
            if not hopeless and defeat >= least - NOTHING:
                continue
            beaten = _worst(tables, current, edge_candidate, present, True, rival) > NOTHING
            if beaten < hopeless or (beaten == hopeless and defeat < least - NOTHING):
                best[:] = current
                least, hopeless = defeat, beaten
            if least <= NOTHING and not hopeless:
                return best
    return best


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


@njit(cache=True)  # type: ignore[untyped-decorator]
def _set_prices(
    start: Indices,
    edge_at: Indices,
    champion: Indices,
    edge_candidate: Indices,
    holder: Indices,
    share: Vector,
    ahead: Vector,
    least: Vector,
    prices: Vector,
) -> None:
    positions = len(champion)
    most = positions
    for position in range(positions):
        most = max(most, positions + start[position + 1] - start[position])
    offset, sign, edges = np.empty(most), np.empty(most), np.empty(most, dtype=np.int64)
    for _ in range(positions):
        for position in range(positions):
            for other in range(positions):
                edge = edge_at[position, edge_candidate[champion[other]]]
                if other != position and edge >= 0:
                    prices[other] = max(prices[other], prices[position] - ahead[edge])
    for _ in range(PRICE_SWEEPS):
        changed = False
        for position in range(positions):
            terms = 0  # goal = sign * price + offset
            for edge in range(start[position], start[position + 1]):
                if edge != champion[position]:
                    other = holder[edge_candidate[edge]]
                    offset[terms] = 0.0 if other < 0 else -prices[other]
                    sign[terms], edges[terms] = 1.0, edge
                    terms += 1
            for other in range(positions):
                edge = edge_at[other, edge_candidate[champion[position]]]
                if other != position and edge >= 0:
                    offset[terms], sign[terms], edges[terms] = prices[other], -1.0, edge
                    terms += 1
            best, cheapest = 0.0, np.inf
            for kind in range(2 * terms + 1):
                price = 0.0
                if kind < 2 * terms:
                    term = kind // 2
                    bend = least[edges[term]] if kind % 2 == 0 else ahead[edges[term]]
                    price = sign[term] * (bend - offset[term])
                if price < 0.0:
                    continue
                cost = 0.0
                for term in range(terms):
                    goal, edge = sign[term] * price + offset[term], edges[term]
                    cost += max(0.0, goal - least[edge]) / (2 * share[edge] + 1e-3)
                    cost += TOO_HIGH * max(0.0, goal - ahead[edge])
                if cost < cheapest - 1e-12 or (cost < cheapest + 1e-12 and price < best):
                    best, cheapest = price, cost
            changed |= abs(prices[position] - best) > 1e-12
            prices[position] = best
        if not changed:
            break
