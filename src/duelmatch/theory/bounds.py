"""The paper's own bounds on the number of duels, with its constants, for an instance that is known.

Upper bounds hold with probability 1 - delta, but CAR-Verify's with 1 - delta - 0.01, and CAR-Parallel's on
average; they are far from tight. Lower bounds hold on average, for any delta-correct algorithm, on the
instances that meet their side conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import numpy as np

from duelmatch.errors import ProblemError, TooLargeError
from duelmatch.graph import Graph, Indices
from duelmatch.matchings.counting import count_matchings, edge_marginals
from duelmatch.matchings.decisions import all_matchings
from duelmatch.preferences import TIE, Criterion, Preferences, check_preferences
from duelmatch.theory.gaps import (
    borda_gap_vector,
    borda_hardness,
    condorcet_gap_vector,
    condorcet_pair_gaps,
    verification_hardness,
)
from duelmatch.theory.width import require_matchings

VERIFICATION_DELTA = 0.01
"""delta_0 of CAR-Verify: the confidence of the guess that is then verified."""

BOUND = "This bound of the paper"

MOST_MATCHINGS = 3_000
"""Limit on the matchings whose every two are compared to check Theorem 6's side condition."""


def clucb_borda_pac_bound(preferences: Preferences, delta: float, epsilon: float) -> float:
    """Return 985 H^B_eps ln(4 H^B_eps / delta) + 2 m (Appendix B.4)."""
    graph = _checked_graph(preferences, delta)
    if not epsilon > 0:
        raise ProblemError(f"epsilon must be above 0, not {epsilon!r}.")
    hardness = borda_hardness(preferences, epsilon)
    if hardness == 0:
        return 0.0
    return 985 * hardness * log(4 * hardness / delta) + 2 * graph.edges


def clucb_borda_exact_bound(preferences: Preferences, delta: float) -> float:
    """Return the sum of the PAC bounds of the epochs q = 1, ..., q* (Appendix B.5).

    The paper states the order only; its proof runs CLUCB-Borda-PAC with eps_q = 2^-q and delta_q =
    delta / (2 q^2) until eps_q is below the smallest gap over l, and this adds those up. The proof that this
    epoch is the last has a gap (docs/paper.md, Theorem 2), and runs do go on: this is what the theorem says,
    not a proven bound.
    """
    graph = _checked_graph(preferences, delta)
    smallest = float(borda_gap_vector(preferences).min())
    if smallest <= TIE:
        return inf
    if smallest == inf:
        return 0.0
    last_epoch = max(1, int(np.floor(np.log2(graph.positions / smallest))) + 1)
    return sum(
        clucb_borda_pac_bound(preferences, delta / (2 * q * q), 2.0**-q) for q in range(1, last_epoch + 1)
    )


def car_cond_bound(preferences: Preferences, delta: float) -> float:
    """Return the sum over pairs of 162 / Delta^2 ln(162 K / (delta Delta^2)) (Appendix C.1)."""
    graph = _checked_graph(preferences, delta)
    return sum(
        162 / gap**2 * log(162 * graph.pairs / (delta * gap**2))
        for gap in condorcet_pair_gaps(preferences).values()
        if gap < inf
    )


def car_verify_bound(preferences: Preferences, delta: float) -> float:
    """Return CAR-Cond's bound at delta_0 plus the largest T with T <= 2 H_ver ln(4 K T^3 / delta) + m - l.

    It holds with probability 1 - delta - delta_0, delta_0 = 0.01: the guess must be right, too (Lemma 10).

    The paper prints H_ver ln(4 K T^3 / delta) + 1 (Appendix C.3); its argument, that a pair is left
    alone once its radius is below half its gap, gives the factor 2 and a duel for each of m - l edges.
    """
    graph = _checked_graph(preferences, delta)
    hardness = verification_hardness(preferences)
    guess = car_cond_bound(preferences, VERIFICATION_DELTA)
    if hardness == 0:
        return guess
    total = guess + 1.0
    while True:
        verify = 2 * hardness * log(4 * graph.pairs * total**3 / delta) + graph.edges - graph.positions
        if guess + verify <= total * (1 + 1e-12):
            return total
        total = guess + verify


def car_parallel_bound(preferences: Preferences, delta: float) -> float:
    """Return an upper bound on the *expected* number of duels of CAR-Parallel (Theorem 5).

    The paper states the order, and quotes a lemma on parallel simulation without constants (Lemma 4.8 of
    Chen, Li and Qiao, "Nearly optimal sampling algorithms for combinatorial pure exploration", COLT 2017).
    Here is a proof with constants. Sub-run k is CAR-Verify at delta_k = delta / 2^(k+1); with probability 1
    - p_k, p_k = delta_0 + delta_k, it certifies the winner within T_k duels (Lemma 10,
    :func:`car_verify_bound`). It has had T_k duels at tick 2^k T_k, and up to tick t all sub-runs together
    have had t + t/2 + t/4 + ... < 2 t. So if k is the first sub-run that keeps its word, the run takes
    2^(k+1) T_k duels at most. Sub-runs share no answers, hence are independent, and

        E[duels] <= sum over k of p_0 p_1 ... p_(k-1) 2^(k+1) T_k.

    2 p_k is near 0.02, so this is little more than 2 T_0; the rest of the sum is left out when it can add no
    more than rounding. The theorem asks for delta < 0.01; the sum is a bound for any delta.
    """
    _check_delta(delta)
    total, failed = 0.0, 1.0
    for k in range(60):
        confidence = delta / 2 ** (k + 1)
        term = failed * 2 ** (k + 1) * car_verify_bound(preferences, confidence)
        total += term
        if term <= 1e-15 * total:
            break
        failed *= min(1.0, VERIFICATION_DELTA + confidence)
    return total


@dataclass(frozen=True, slots=True)
class PaperLowerBound:
    """A lower bound of the paper: ``duels``, or None and the side condition that the instance fails."""

    duels: float | None
    unmet: str | None = None


def paper_lower_bound(preferences: Preferences, criterion: Criterion, delta: float) -> PaperLowerBound:
    """Return the paper's lower bound for this instance: Theorem 3 (Borda) or Theorem 6 (Condorcet)."""
    check_preferences(preferences, BOUND)
    _check_delta(delta)
    if preferences.problem.conditions:
        has = " and ".join(preferences.problem.conditions)
        return PaperLowerBound(
            None, f"it is proven for one-to-one matchings of equal positions, without {has}"
        )
    if delta >= 0.1:
        return PaperLowerBound(None, "delta must be below 0.1")
    if criterion == "borda":
        return _borda_lower_bound(preferences, delta)
    if criterion == "condorcet":
        return _condorcet_lower_bound(preferences, delta)
    raise ProblemError(f"The criterion must be 'borda' or 'condorcet', not {criterion!r}.")


def _borda_lower_bound(preferences: Preferences, delta: float) -> PaperLowerBound:
    """Theorem 3: 0.2 gamma (1 - gamma) (4 gamma l / (1 - 4 gamma))^2 H^B ln(1 / delta).

    It grows with gamma, so the largest gamma that meets 1 / (1 - P(e in M)) <= (1 - 4 gamma) / (4 gamma l)
    for every undecided edge is taken; the edges in every matching have no alternative to speak of.
    """
    graph = preferences.problem.graph
    marginals = edge_marginals(graph)
    gaps = borda_gap_vector(preferences)
    undecided = gaps < inf
    if not undecided.any():
        return PaperLowerBound(0.0)
    ratio = float(1 / (1 - marginals[undecided].max()))
    gamma = 1 / (4 * (1 + graph.positions * ratio))
    farthest = _farthest_from_half(preferences)
    if farthest > gamma + TIE:
        return _too_far(gamma, farthest)
    hardness = borda_hardness(preferences)
    return PaperLowerBound(0.2 * gamma * (1 - gamma) / ratio**2 * hardness * log(1 / delta))


def _condorcet_lower_bound(preferences: Preferences, delta: float) -> PaperLowerBound:
    """Theorem 6: 0.4 gamma (1 - gamma) / l^2 sum over e outside the winner of ln(1 / delta) / Delta_e^2.

    It grows with gamma, so its limit as gamma approaches 1 / (2 (2 + l)) is taken.
    """
    graph = preferences.problem.graph
    winner = preferences.winner_edges("condorcet")
    gamma = 1 / (2 * (2 + graph.positions))
    farthest = _farthest_from_half(preferences)
    if farthest >= gamma:
        return _too_far(gamma, farthest)
    total = count_matchings(graph)
    if total > MOST_MATCHINGS:
        raise TooLargeError(
            f"The side condition of Theorem 6 compares every two of {total} matchings; "
            f"the limit is {MOST_MATCHINGS} matchings."
        )
    if not _winner_is_hardest_to_beat(preferences, winner):
        return PaperLowerBound(
            None,
            "whoever beats a matching must use the winner's edges, and beat it by no more than the winner",
        )
    outside = np.setdiff1d(np.arange(graph.edges), winner)
    gaps = condorcet_gap_vector(preferences)[outside]
    hardness = float((1 / gaps**2).sum())
    return PaperLowerBound(0.4 * gamma * (1 - gamma) / graph.positions**2 * hardness * log(1 / delta))


def _too_far(gamma: float, farthest: float) -> PaperLowerBound:
    unmet = f"every probability must be within {gamma:.3g} of 1/2, but one is {farthest:.3g} away"
    return PaperLowerBound(None, unmet)


def _winner_is_hardest_to_beat(preferences: Preferences, winner: Indices) -> bool:
    """Check the condition of Theorem 6 on every two matchings.

    For every M other than the winner W and every M_x that beats it: f(M, W) <= f(M, M_x), and M_x uses
    the winner's edge wherever M does not.
    """
    graph = preferences.problem.graph
    everyone = all_matchings(graph)
    for matching in everyone:
        if np.array_equal(matching, winner):
            continue
        scores = preferences.matrix[matching, everyone].mean(axis=1)
        others = (everyone != matching).any(axis=1)
        beats = others & (scores <= 0.5 + TIE)
        differs = matching != winner
        uses_winner = (everyone[:, differs] == winner[differs]).all(axis=1)
        against_winner = preferences.matrix[matching, winner].mean()
        if (beats & ~(uses_winner & (against_winner <= scores + TIE))).any():
            return False
    return True


def _farthest_from_half(preferences: Preferences) -> float:
    return float(np.abs(preferences.matrix - 0.5)[preferences.problem.graph.comparable].max())


def _checked_graph(preferences: Preferences, delta: float) -> Graph:
    """Return the graph of preferences that the paper's upper bounds are proven for."""
    check_preferences(preferences, BOUND)
    require_matchings(preferences.problem, BOUND)
    _check_delta(delta)
    return preferences.problem.graph


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ProblemError(f"delta must lie between 0 and 1, not {delta!r}.")
