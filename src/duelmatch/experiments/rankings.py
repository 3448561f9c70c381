"""Voters who rank: rankings drawn at random so that every two candidates have their known probability.

Preferences say how often one of two is found better. Many laws of rankings agree with them, and a test that
holds for all of them may be tried with any; here it is the one of the largest entropy, found by iterative
proportional fitting: begin with all rankings equally likely, and scale for each pair in turn. Where no law
agrees, as with three candidates who beat each other in a circle for sure, that does not converge.
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from duelmatch.errors import ProblemError
from duelmatch.graph import Mask, Vector
from duelmatch.preferences import Preferences

MOST_RANKED = 6
"""Candidates in a question; there are 720 rankings of six."""

CLOSE = 1e-9
SWEEPS = 5_000


class Rankings:
    """Draws answers of single voters to questions about several candidates."""

    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences
        self._laws: dict[tuple[str, tuple[str, ...]], tuple[list[tuple[str, ...]], Vector]] = {}

    def draw(self, position: str, candidates: tuple[str, ...], rng: np.random.Generator) -> tuple[str, ...]:
        """Return a ranking, best first.

        :raises ProblemError: if they are too many, or no rankings agree with the preferences.
        """
        key = position, tuple(sorted(candidates))
        if key not in self._laws:
            self._laws[key] = self._law(*key)
        orders, cumulative = self._laws[key]
        return orders[min(int(np.searchsorted(cumulative, rng.random(), "right")), len(orders) - 1)]

    def _law(self, position: str, candidates: tuple[str, ...]) -> tuple[list[tuple[str, ...]], Vector]:
        if len(candidates) > MOST_RANKED:
            raise ProblemError(
                f"Rankings of {len(candidates)} cannot be drawn from preferences; {MOST_RANKED} can be."
            )
        orders = list(permutations(candidates))
        pairs = list(combinations(candidates, 2))
        wins = np.array([[order.index(one) < order.index(other) for order in orders] for one, other in pairs])
        chance = np.array([self._preferences.probability(position, one, other) for one, other in pairs])
        law = fitted(wins, chance)
        if law is None:
            raise ProblemError(
                f"No rankings of {', '.join(candidates)} at '{position}' agree with these preferences, "
                "which are about two at a time: simulate with question_size=2."
            )
        return orders, np.cumsum(law)


def fitted(wins: Mask, chance: Vector) -> Vector | None:
    """Return weights of rankings that give every pair its chance; None if there are none.

    ``wins`` marks, for each pair, the rankings in which its first candidate is the better one.
    """
    law = np.full(wins.shape[1], 1.0 / wins.shape[1])
    for _ in range(SWEEPS):
        for row, p in zip(wins, chance, strict=True):
            mass = float(law[row].sum())
            law[row] *= p / mass if mass > 0 else 0.0
            law[~row] *= (1 - p) / (1 - mass) if mass < 1 else 0.0
        if np.abs(wins @ law - chance).max() < CLOSE:
            return np.asarray(law / law.sum())
    return None
