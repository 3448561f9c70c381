"""Whom to back: the matching that the answers so far speak for.

Borda: the best matching under the estimated rewards. Condorcet: follow best responses from the last champion
until one has no answer. If that runs into a cycle, the estimates have no winner; then somebody in
the cycle is not the winner for sure, and the champion is the one whose victory over a possible winner is
clearest. Betting on it either rejects the loser for good or corrects the estimate, and so resolves
the cycle, whether a winner exists or not. (The mixed optimum of the game would draw with everything in its
support, and stall.)
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from duelmatch.explorers.frugal.stakes import Pairs
from duelmatch.graph import Indices, Mask, Vector
from duelmatch.matchings.assignment import best_matching

LONGEST_WALK = 12
ROUNDING = 1e-12


class Standing(Protocol):
    """What is known of the possible winners."""

    def is_possible(self, matching: Indices) -> bool:
        """Whether a matching may be the winner."""

    def somebody(self) -> Indices:
        """Return one that may be."""


def condorcet_champion(
    pairs: Pairs, advantage: Vector, last: Indices | None, allowed: Mask, rivals: Standing
) -> Indices:
    """Return a champion among the allowed edges; ``advantage`` is the estimate of p - 1/2 of each pair."""
    current = last if last is not None and allowed[last].all() else _most_wins(pairs, advantage, allowed)
    clearest: Indices | None = None
    clearness = -np.inf
    seen = [current]
    for _ in range(LONGEST_WALK):
        response, lead = _response(pairs, advantage, current, allowed)
        if lead <= ROUNDING:
            return current
        clear = lead / _error(pairs, current, response)
        if clear > clearness and rivals.is_possible(current):
            clearest, clearness = response, clear
        if any(np.array_equal(response, other) for other in seen):
            break
        seen.append(response)
        current = response
    if clearest is None:
        clearest, _ = _response(pairs, advantage, rivals.somebody(), allowed)
    return clearest


def _response(pairs: Pairs, advantage: Vector, current: Indices, allowed: Mask) -> tuple[Indices, float]:
    """Return what does best against a matching, and by how much it beats it."""
    against = pairs.against(current, advantage)
    response = best_matching(pairs.graph, against, allowed)
    assert response is not None, "the allowed edges hold a matching"
    return response, float(against[response].sum())


def _error(pairs: Pairs, current: Indices, response: Indices) -> float:
    """Return the standard error of how much one beats the other."""
    variance = np.abs(pairs.against(current, 0.25 / (pairs.duels + 2)))
    return float(np.sqrt(variance[response].sum()))


def borda_champion(pairs: Pairs, advantage: Vector, marginals: Vector, allowed: Mask) -> Indices:
    """Return the best matching of the allowed edges under the estimated rewards."""
    won = np.bincount(pairs.first, advantage * marginals[pairs.second], pairs.graph.edges)
    lost = np.bincount(pairs.second, advantage * marginals[pairs.first], pairs.graph.edges)
    rewards = np.asarray(won - lost, dtype=np.float64)
    champion = best_matching(pairs.graph, rewards, allowed)
    assert champion is not None, "the allowed edges hold a matching"
    return champion


def _most_wins(pairs: Pairs, advantage: Vector, allowed: Mask) -> Indices:
    """Return the best matching if all opponents at a position were equally likely."""
    return borda_champion(pairs, advantage, np.ones(pairs.graph.edges), allowed)
