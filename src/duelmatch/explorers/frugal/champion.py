"""Whom to back: the matching that the answers so far speak for.

Borda: the best matching under the estimated rewards. Condorcet: follow best responses from the last champion
until one has no answer. If that runs into a cycle, the estimates have no winner; then somebody in
the cycle is not the winner for sure, and the champion is the one whose victory over the one before it
is clearest. Betting on it either rejects the loser for good or corrects the estimate, and so resolves
the cycle, whether a winner exists or not. (The mixed optimum of the game would draw with everything in its
support, and stall.)
"""

from __future__ import annotations

import numpy as np

from duelmatch.explorers.frugal.stakes import Pairs
from duelmatch.graph import Indices, Mask, Vector
from duelmatch.matchings.assignment import best_matching

LONGEST_WALK = 12
ROUNDING = 1e-12


def condorcet_champion(pairs: Pairs, advantage: Vector, last: Indices | None, allowed: Mask) -> Indices:
    """Return a champion among the allowed edges; ``advantage`` is the estimate of p - 1/2 of each pair."""
    graph = pairs.graph
    current = last if last is not None and allowed[last].all() else _most_wins(pairs, advantage, allowed)
    seen: list[Indices] = [current]
    clearest, clearness = current, -np.inf
    for _ in range(LONGEST_WALK):
        against = pairs.edges_against(current, advantage)
        response = best_matching(graph, against, allowed)
        assert response is not None, "the allowed edges hold a matching"
        lead = float(against[response].sum())
        if lead <= ROUNDING:
            return current
        variance = np.abs(pairs.edges_against(current, 0.25 / (pairs.duels + 2)))
        error = float(np.sqrt(variance[response].sum()))
        if lead / error > clearness:
            clearest, clearness = response, lead / error
        if any(np.array_equal(response, other) for other in seen):
            break
        seen.append(response)
        current = response
    return clearest


def borda_champion(pairs: Pairs, advantage: Vector, marginals: Vector, allowed: Mask) -> Indices:
    """Return the best matching of the allowed edges under the estimated rewards."""
    rewards = np.bincount(pairs.first, advantage * marginals[pairs.second], pairs.graph.edges)
    rewards -= np.bincount(pairs.second, advantage * marginals[pairs.first], pairs.graph.edges)
    champion = best_matching(pairs.graph, rewards, allowed)
    assert champion is not None, "the allowed edges hold a matching"
    return champion


def _most_wins(pairs: Pairs, advantage: Vector, allowed: Mask) -> Indices:
    """Return the best matching if all opponents at a position were equally likely."""
    return borda_champion(pairs, advantage, np.ones(pairs.graph.edges), allowed)
