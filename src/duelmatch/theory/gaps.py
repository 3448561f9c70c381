"""Who wins known preferences, how clearly, and how far each edge is from being decided the other way.

The latter are the gaps and hardness measures of the paper. A gap is infinite for an edge that lies in every
maximum matching or in none: there is nothing to decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from duelmatch.errors import ProblemError
from duelmatch.graph import Graph, Indices, Vector
from duelmatch.matchings import Edge
from duelmatch.matchings.decisions import (
    Alternatives,
    allowed_edges,
    best_matching,
    decisions_of,
)
from duelmatch.preferences import TIE, Pair, Preferences, check_preferences
from duelmatch.problem import Matching
from duelmatch.theory.width import best_width_bound, require_matchings


@dataclass(frozen=True, slots=True)
class BordaWinner:
    """The matching with the highest Borda ``score``, and its ``margin`` over the runner-up.

    The margin is 0 if another matching scores the same, and infinite if there is no other.
    """

    matching: Matching
    score: float
    margin: float

    @property
    def unique(self) -> bool:
        """Whether no other matching scores the same."""
        return self.margin > 0


@dataclass(frozen=True, slots=True)
class CondorcetWinner:
    """The matching that beats every other: its ``closest_rival`` least, by 1/2 + ``margin``.

    If there is no other matching, there is no rival and the margin is infinite.
    """

    matching: Matching
    margin: float
    closest_rival: Matching | None


def borda_winner(preferences: Preferences) -> BordaWinner:
    """Return the Borda winner with its score and margin.

    :raises TooLargeError: if the Borda scores are out of reach.
    """
    check_preferences(preferences, "A winner")
    winner = preferences.borda_winner()
    return BordaWinner(winner, preferences.borda_score(winner), preferences.borda_margin())


def condorcet_winner(preferences: Preferences) -> CondorcetWinner | None:
    """Return the Condorcet winner with its margin and closest rival; None if there is no winner."""
    check_preferences(preferences, "A winner")
    winner = preferences.condorcet_winner()
    if winner is None:
        return None
    problem = preferences.problem
    rival, lead = preferences.closest_rival(problem.edge_numbers(winner))
    if rival is None:
        return CondorcetWinner(winner, inf, None)
    return CondorcetWinner(winner, lead - 0.5, problem.matching(rival.tolist()))


def borda_gaps(preferences: Preferences) -> dict[Edge, float]:
    """Return Delta^B_e: how much w(M) drops if an edge of the Borda winner is left out, or another put in.

    w(M) is the Borda score times the number of positions, or times the sum of their weights.
    """
    return _by_edge(preferences, borda_gap_vector(preferences))


def borda_hardness(preferences: Preferences, epsilon: float = 0.0) -> float:
    """Return H^B, the sum of 1 / Delta^B_e squared; with an epsilon above 0, H^B_epsilon of Theorem 1.

    H^B_epsilon is the sum of min(width(G)^2 / Delta^2, 1 / epsilon^2). Where the exact width is out of
    reach its upper bound stands in, which can only enlarge the sum.
    """
    if not epsilon >= 0:
        raise ProblemError(f"epsilon must be at least 0, not {epsilon!r}.")
    inverse_squares = _inverse_squares(borda_gap_vector(preferences))
    if epsilon == 0:
        return float(inverse_squares.sum())
    require_matchings(preferences.problem, "H^B_epsilon")
    width = best_width_bound(preferences.problem)
    return float(np.minimum(width**2 * inverse_squares, epsilon**-2).sum())


def condorcet_gaps(preferences: Preferences) -> dict[Edge, float]:
    """Return Delta^C_e of every edge (Definition 5).

    :raises ProblemError: if there is no Condorcet winner.
    """
    return _by_edge(preferences, condorcet_gap_vector(preferences))


def condorcet_pair_gaps(preferences: Preferences) -> dict[Pair, float]:
    """Return Delta^C_{e,e'}, the larger of the two gaps, for every two candidates of a position."""
    gaps = condorcet_gaps(preferences)
    return {
        (position, first, second): max(gaps[first, position], gaps[second, position])
        for (position, first, second), _ in preferences.items()
    }


def verification_gaps(preferences: Preferences) -> dict[Edge, float]:
    """Return the verification gap of every edge outside the Condorcet winner (Section 4.3).

    :raises ProblemError: if there is no Condorcet winner.
    """
    gaps = _verification_gaps(preferences)
    return {preferences.problem.edges[edge]: gap for edge, gap in gaps.items()}


def verification_hardness(preferences: Preferences) -> float:
    """Return H^C_ver, the sum of 1 / gap^2 over the verification gaps."""
    gaps = np.array(list(_verification_gaps(preferences).values()), dtype=np.float64)
    return float(_inverse_squares(gaps).sum())


def borda_gap_vector(preferences: Preferences) -> Vector:
    """Return Delta^B_e in edge order; what rounding leaves of a tie is made 0."""
    check_preferences(preferences, "A gap")
    graph = preferences.problem.graph
    gaps = _gaps(decisions_of(graph).alternatives(preferences.edge_values))
    gaps[gaps <= graph.total_weight * TIE] = 0.0
    return gaps


def condorcet_gap_vector(preferences: Preferences) -> Vector:
    """Return Delta^C_e in edge order.

    The winner is the best matching against itself, so its alternatives under the weights p(e, winner)
    are the gaps, up to the factor l.
    """
    check_preferences(preferences, "A gap")
    graph = preferences.problem.graph
    winner = preferences.winner_edges("condorcet")
    if graph.conditions is not None:
        return _gaps(decisions_of(graph).alternatives(preferences.shares_against(winner)))
    return _gaps(decisions_of(graph).alternatives(_against(preferences, winner))) / graph.positions


def _gaps(options: Alternatives) -> Vector:
    inside = np.zeros(len(options.with_edge), dtype=np.bool_)
    inside[options.matching] = True
    best = options.with_edge[options.matching[0]]
    gaps: Vector = best - np.where(inside, options.without_edge, options.with_edge)
    return gaps


def _against(preferences: Preferences, winner: Indices) -> Vector:
    """Return p(e, the winner's edge at the position of e) for every edge."""
    graph = preferences.problem.graph
    against: Vector = preferences.matrix[np.arange(graph.edges), winner[graph.edge_position]]
    return against


def _verification_gaps(preferences: Preferences) -> dict[int, float]:
    check_preferences(preferences, "A gap")
    require_matchings(preferences.problem, "The verification gap")
    graph = preferences.problem.graph
    winner = preferences.winner_edges("condorcet")
    margins = 0.5 - _against(preferences, winner)
    usable = decisions_of(graph).usable
    return {
        int(edge): _smallest_mean(graph, margins, winner, int(edge)) if usable[edge] else float("inf")
        for edge in np.setdiff1d(np.arange(graph.edges), winner)
    }


def _smallest_mean(graph: Graph, margins: Vector, winner: Indices, edge: int) -> float:
    """Minimise the mean margin over the positions where a matching through ``edge`` differs from the winner.

    A ratio of two sums over edges, minimised exactly by Dinkelbach's method: with the best ratio so
    far, look for a matching whose margins minus that ratio add up to less than 0.
    """
    differs = np.ones(graph.edges)
    differs[winner] = 0.0
    allowed = allowed_edges(graph, required=[edge])
    ratio = np.inf
    weights = -margins
    while True:
        matching = best_matching(graph, weights, allowed)
        assert matching is not None, "the edge is usable"
        lower = float(margins[matching].sum() / differs[matching].sum())
        if lower >= ratio - 1e-15:
            return lower
        ratio = lower
        weights = ratio * differs - margins


def _inverse_squares(gaps: Vector) -> Vector:
    with np.errstate(divide="ignore"):
        return 1.0 / gaps**2


def _by_edge(preferences: Preferences, values: Vector) -> dict[Edge, float]:
    return dict(zip(preferences.problem.edges, values.tolist(), strict=True))
