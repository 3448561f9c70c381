"""The information limit: how few duels any delta-correct algorithm can do with, on a known instance.

For the winner A and a rival B let D(A, B) = sum_j d_j(A(j), B(j)), where d_j(a, b) is p(a, b) - 1/2
(Condorcet) or w(a) - w(b) (Borda). Each d_j is linear in the pair probabilities at position j, with
coefficients c_pair. With duels spread over the pairs in proportions omega, no delta-correct algorithm
stops before T* kl(delta, 1 - delta) duels on average (Garivier and Kaufmann 2016), where

    T* = min over omega of max over B != A of [sum_pair c_pair(A, B)^2 / omega_pair] / (2 D(A, B)^2).

This is the **near-even form**, for noise of variance 1/4, which a duel has at p = 1/2. Lopsided duels tell
more than that, so on instances with probabilities near 0 or 1 an algorithm may do with fewer, and this is a
yardstick, not a bound. The **exact form**, with the divergence of a coin in place of a square, is a proven
lower bound (:mod:`duelmatch.theory.divergence`). It is never larger, and takes longer to compute.

For Condorcet, delta-correct means on every instance, whether it has a winner or not: a matching that is not
the winner is named at most delta often. An algorithm that may take a winner for granted can do with fewer,
since a rival need not be compared with A once another matching is known to beat it: its limit is that of
:mod:`duelmatch.theory.any_opponent`.

The minimum over omega swaps with the maximum over mixtures mu of rivals, where it is explicit:

    T* = max over mu of (sum_pair sqrt(sum_B mu_B g_B,pair))^2,    g_B,pair = c_pair(A, B)^2 / (2 D(A, B)^2).

So any finite set of rivals bounds T* from below and its best omega, tried against all rivals, from above;
rivals are added until the two meet. The hardest rival for an omega is found by assignment problems.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from math import log
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from duelmatch.errors import DuelmatchError, ProblemError, TooLargeError
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.decisions import Decisions, allowed_edges, decisions_of
from duelmatch.preferences import TIE, Criterion, Pair, Preferences, check_preferences
from duelmatch.theory.any_opponent import AnyOpponent
from duelmatch.theory.width import require_matchings

Form = Literal["near-even", "exact"]

ACCURACY = 1e-6
"""Relative distance between the two bounds on T* at which the search ends."""

MOST_ROUNDS = 500
MOST_TANGENTS = 30

MOST_CELLS = 5_000_000
"""Decisions times pairs that are looked at where positions have several seats: 120 MB."""

PRECISION = 1e-9
"""Relative precision of the ratio of the hardest rival."""


@dataclass(frozen=True, slots=True)
class InformationLimit:
    """T* with ``lower <= T* <= upper``, and the proportions of duels that attain ``upper``."""

    lower: float
    upper: float
    allocation: dict[Pair, float]

    def duels(self, delta: float) -> float:
        """Return T* kl(delta, 1 - delta): the duels needed on average to be wrong at most delta often."""
        return self.lower * binary_divergence(delta)


def binary_divergence(delta: float) -> float:
    """Return kl(delta, 1 - delta), the price of certainty 1 - delta."""
    if not 0 < delta < 1:
        raise ProblemError(f"delta must lie between 0 and 1, not {delta!r}.")
    return 0.0 if delta >= 0.5 else (1 - 2 * delta) * log((1 - delta) / delta)


def lower_bound(
    preferences: Preferences,
    criterion: Criterion,
    delta: float,
    form: Form = "near-even",
    assume_winner: bool = False,
) -> float:
    """Return the information limit in duels; infinite if the winner is tied, 0 if there is no choice.

    ``near-even`` counts every duel as if it were nearly even; ``exact`` is what no delta-correct algorithm
    can do without, on average. The two agree where all probabilities are close to 1/2. ``assume_winner``:
    the limit of algorithms that may take a Condorcet winner for granted; near-even form, within about 0.2%.

    :raises ProblemError: for the criterion ``condorcet`` if there is no Condorcet winner, for the exact
        form beyond one-to-one matchings, and for ``assume_winner`` with another criterion, form or several
        seats.
    """
    check_preferences(preferences, "A lower bound")
    divergence = binary_divergence(delta)
    if assume_winner:
        if criterion != "condorcet" or form != "near-even":
            raise ProblemError("assume_winner is for the criterion 'condorcet' in the near-even form.")
        limit = information_limit(preferences, criterion, assume_winner=True)
        return limit.lower * divergence if divergence else 0.0
    if form not in ("near-even", "exact"):
        raise ProblemError(f"The form must be 'near-even' or 'exact', not {form!r:.50}.")
    if form == "exact":
        require_matchings(preferences.problem, "The exact form")
    limit, rivals = _limit_and_rivals(preferences, criterion)
    if divergence == 0:
        return 0.0
    if form == "exact" and 0 < limit.lower < float("inf"):
        from duelmatch.theory.divergence import exact_limit

        return exact_limit(preferences, criterion, rivals) * divergence
    return limit.lower * divergence


def information_limit(
    preferences: Preferences, criterion: Criterion, assume_winner: bool = False
) -> InformationLimit:
    """Compute T* of the near-even form, and the allocation of duels that attains it.

    ``assume_winner``: for algorithms that may take a Condorcet winner for granted
    (:mod:`duelmatch.theory.any_opponent`).

    :raises ProblemError: for the criterion ``condorcet`` if there is no Condorcet winner.
    """
    check_preferences(preferences, "The information limit")
    limit, _ = _limit_and_rivals(preferences, criterion)
    if not assume_winner or criterion != "condorcet" or limit.lower in (0.0, float("inf")):
        return limit
    graph = preferences.problem.graph
    if graph.places != graph.positions:
        raise ProblemError("The limit with a winner taken for granted is for positions with one seat.")
    winner = preferences.winner_edges(criterion)
    search = AnyOpponent(graph, winner, preferences.matrix, balanced_allocation)
    lower, upper, omega = search.solve()
    if limit.upper <= upper:
        return InformationLimit(min(lower, limit.lower), limit.upper, limit.allocation)
    return InformationLimit(lower, upper, _shares(preferences, omega))


def _limit_and_rivals(
    preferences: Preferences, criterion: Criterion
) -> tuple[InformationLimit, list[Indices]]:
    """Return T* and the rivals that settle it."""
    graph = preferences.problem.graph
    if graph.places != graph.positions:
        return _listed_limit(preferences, criterion), []
    winner, deficits, squares = design(preferences, criterion)
    rivals = _first_rivals(graph, winner, deficits)
    if not rivals:
        return InformationLimit(0.0, 0.0, {}), rivals
    if min(deficits[rival].sum() for rival in rivals) <= graph.total_weight * TIE:
        return InformationLimit(float("inf"), float("inf"), {}), rivals
    for _ in range(MOST_ROUNDS):
        costs = np.stack([_costs(squares, deficits, rival) for rival in rivals])
        lower, omega = balanced_allocation(costs)
        with np.errstate(divide="ignore"):
            spread = squares @ np.where(omega > 0, 1.0 / omega, 0.0)
        upper, rival = hardest_rival(graph, winner, spread, deficits, at_least=lower)
        if rival is None or upper <= lower * (1 + ACCURACY):
            return InformationLimit(lower, max(lower, upper), _shares(preferences, omega)), rivals
        rivals.append(rival)
    raise DuelmatchError(f"The information limit did not settle in {MOST_ROUNDS} rounds.")


def design(preferences: Preferences, criterion: Criterion) -> tuple[Indices, Vector, csr_array]:
    """Return the winner, d_j(winner, b) for every edge b, and c_pair^2 as an edges x pairs matrix.

    Every position has one seat here; its weight is a factor of d_j and of c_pair.
    """
    graph = preferences.problem.graph
    winner = preferences.winner_edges(criterion)
    own = winner[graph.edge_position]
    if criterion == "condorcet":
        deficits = preferences.matrix[own, np.arange(graph.edges)] - 0.5
    else:
        deficits = preferences.edge_rewards[own] - preferences.edge_rewards
    squares = coefficients(graph, criterion, winner).power(2)
    if graph.even:
        return winner, deficits, squares
    weight = graph.weight[graph.edge_position]
    return winner, deficits * weight, csr_array(diags_array(weight**2) @ squares)


def _listed_limit(preferences: Preferences, criterion: Criterion) -> InformationLimit:
    """Compute T* where positions have several seats: c_pair^2 is no sum over edges, so rivals are listed.

    For the edges (x, y) of a pair c_pair(B) = neither + [x in B] (first - neither) + [y in B] (second -
    neither), with the three values of :func:`seat_coefficients`.
    """
    graph, table = preferences.problem.graph, preferences.problem.graph.pair_table
    winner = preferences.winner_edges(criterion)
    rows = decisions_of(graph).listed(None, MOST_CELLS // max(graph.pairs, 1))
    if rows is None:
        raise TooLargeError(
            "With several seats the information limit is known only where the decisions can be listed, "
            f"up to {MOST_CELLS:,} decisions times pairs."
        )
    rows = rows[(rows != winner).any(axis=1)]
    if not len(rows):
        return InformationLimit(0.0, 0.0, {})
    marginals = decisions_of(graph).marginals() if criterion == "borda" else np.zeros(graph.edges)
    neither, first, second = seat_coefficients(graph, winner, criterion, marginals)
    uses = graph.uses(rows)
    c = neither + uses[:, table.first] * (first - neither) + uses[:, table.second] * (second - neither)
    deficits = c @ (preferences.matrix[table.first, table.second] - 0.5)
    if deficits.min() <= graph.total_weight * TIE:
        return InformationLimit(float("inf"), float("inf"), {})
    costs = c**2 / (2 * deficits[:, None] ** 2)
    chosen = [int(np.argmax(costs.sum(axis=1)))]
    for _ in range(MOST_ROUNDS):
        lower, omega = balanced_allocation(costs[chosen])
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.where(costs > 0, costs / omega, 0.0).sum(axis=1)
        hardest = int(np.argmax(needed))
        if hardest in chosen or needed[hardest] <= lower * (1 + ACCURACY):
            upper = max(lower, float(needed[hardest]))
            return InformationLimit(lower, upper, _shares(preferences, omega))
        chosen.append(hardest)
    raise DuelmatchError(f"The information limit did not settle in {MOST_ROUNDS} rounds.")


def coefficients(graph: Graph, criterion: Criterion, winner: Indices) -> csr_array:
    """Return c_pair of every edge b, edges x pairs: D(A, B) is the sum of c_pair (p_pair - 1/2) over B.

    Condorcet: 1 on the pair of b and the winner's edge a. Borda: q(a) + q(b) on (a, b), q(x) on (a, x) and
    -q(x) on (b, x). The sign is that of the pair's order. Every position has one seat and counts 1.
    """
    table = graph.pair_table
    pair, own = np.arange(table.count), winner[graph.edge_position]
    shape = (graph.edges, table.count)
    if criterion == "condorcet":
        won, lost = own[table.first] == table.first, own[table.second] == table.second
        values = np.concatenate([np.ones(won.sum()), -np.ones(lost.sum())])
        rows = np.concatenate([table.second[won], table.first[lost]])
        return csr_array((values, (rows, np.concatenate([pair[won], pair[lost]]))), shape=shape)
    q = decisions_of(graph).marginals()
    values = np.concatenate([q[table.second], -q[table.first]])
    rows = np.concatenate([table.first, table.second])
    rewards = csr_array((values, (rows, np.concatenate([pair, pair]))), shape=shape)
    return csr_array(rewards[own] - rewards)


def seat_coefficients(
    graph: Graph, champion: Indices, criterion: Criterion, marginals: Vector
) -> tuple[Vector, Vector, Vector]:
    """Return c_pair for rivals with neither edge of the pair, with its first only, with its second only.

    Condorcet: a pair of the champion's seat and the rival's counts v_j / k_j^2. Borda: every pair moves the
    rewards of its two edges, by the share of decisions that use the other one.
    """
    table = graph.pair_table
    chosen = graph.uses(champion).astype(np.float64)
    scale = graph.edge_scale[table.first]
    if criterion == "condorcet":
        return np.zeros(table.count), -scale * chosen[table.second], scale * chosen[table.first]
    of_first, of_second = scale * marginals[table.second], -scale * marginals[table.first]
    own = chosen[table.first] * of_first + chosen[table.second] * of_second
    return own, own - of_first, own - of_second


def balanced_allocation(costs: NDArray[np.float64]) -> tuple[float, Vector]:
    """Maximise sum_pair sqrt((mu @ costs)_pair) over the simplex; return its square and the best omega.

    ``costs`` has a row of g_B,pair per rival. The function is concave; a logarithmic barrier keeps mu
    inside the simplex and Newton's method follows its path. At the end omega is proportional to
    sqrt(mu @ costs), and the square is a lower bound on T* whatever mu is.
    """
    used = costs.any(axis=0)
    scale = costs.max()
    matrix = costs[:, used] / scale
    count = len(matrix)
    mu = np.full(count, 1.0 / count)
    barrier = float(np.sqrt(mu @ matrix).sum()) / count
    floor = barrier * 1e-9
    while barrier > floor:
        barrier *= 0.1
        mu = _newton(matrix, mu, barrier)
    root = np.sqrt(mu @ matrix)
    omega = np.zeros(costs.shape[1])
    omega[used] = root / root.sum()
    return float(root.sum() ** 2 * scale), omega


def _newton(matrix: NDArray[np.float64], mu: Vector, barrier: float) -> Vector:
    """Maximise sum sqrt(mu @ matrix) + barrier sum log mu subject to sum mu = 1."""

    def height(point: Vector) -> float:
        return float(np.sqrt(point @ matrix).sum() + barrier * np.log(point).sum())

    for _ in range(60):
        level = mu @ matrix
        gradient = 0.5 * matrix @ level**-0.5 + barrier / mu
        curvature = 0.25 * (matrix * level**-1.5) @ matrix.T + np.diag(barrier / mu**2)
        solved = np.linalg.solve(curvature, np.stack([gradient, np.ones_like(mu)], axis=1))
        direction = solved[:, 0] - solved[:, 0].sum() / solved[:, 1].sum() * solved[:, 1]
        gain = float(gradient @ direction)
        if gain < 1e-3 * barrier:
            break
        shrinking = direction < 0
        step = min(1.0, 0.99 * float(np.min(-mu[shrinking] / direction[shrinking], initial=np.inf)))
        while step > 1e-12 and height(mu + step * direction) < height(mu) + 0.1 * step * gain:
            step *= 0.5
        mu = mu + step * direction
        mu /= mu.sum()
    return mu


def _costs(squares: csr_array, deficits: Vector, rival: Indices) -> Vector:
    """Return g_B,pair of one rival."""
    costs: Vector = np.asarray(squares[rival].sum(axis=0)).ravel() / (2 * deficits[rival].sum() ** 2)
    return costs


def _first_rivals(graph: Graph, winner: Indices, deficits: Vector) -> list[Indices]:
    """Return the closest rival through every usable edge that the winner does not use."""
    rivals = dict[tuple[int, ...], Indices]()
    for edge in np.setdiff1d(np.flatnonzero(decisions_of(graph).usable), winner):
        rival = decisions_of(graph).best(-deficits, required=[int(edge)])
        assert rival is not None, "the edge is usable"
        rivals[tuple(rival.tolist())] = rival
    return list(rivals.values())


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
    record = _Record(decisions_of(graph), spread, deficits, at_least)
    order = count()
    queue = [(-np.inf, next(order), part) for part in _without_champion(graph, champion)]
    while queue:
        negative_bound, _, allowed = heapq.heappop(queue)
        if -negative_bound <= record.ratio * (1 + PRECISION):
            break
        split, bound = record.explore(allowed)
        if split is not None:
            with_edge, without_edge = allowed & allowed_edges(graph, [split]), allowed.copy()
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
        prefix &= allowed_edges(graph, [edge])
    return parts


@dataclass
class _Record:
    """The best ratio met so far, and the matching that has it."""

    decisions: Decisions
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
        closest = self.decisions.best(-self.deficits, allowed)
        if closest is None:
            return None, 0.0
        smallest = self._try(closest)
        below, above = closest, closest
        low, high, tangent = smallest, np.inf, smallest
        excess = np.inf
        for _ in range(MOST_TANGENTS):
            weights = self.spread - 4 * self.ratio * tangent * self.deficits
            matching = self.decisions.best(weights, allowed)
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


def _shares(preferences: Preferences, omega: Vector) -> dict[Pair, float]:
    """Return the shares of the duels that are not 0, by (position, first, second)."""
    table, edges = preferences.problem.graph.pair_table, preferences.problem.edges
    shares = {}
    for pair in np.flatnonzero(omega > 0):
        first, position = edges[table.first[pair]]
        shares[position, first, edges[table.second[pair]][0]] = float(omega[pair])
    return shares
