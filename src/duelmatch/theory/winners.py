"""The winners of known preferences, and how clearly they win."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from duelmatch.preferences import Preferences, check_preferences
from duelmatch.problem import Matching


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
