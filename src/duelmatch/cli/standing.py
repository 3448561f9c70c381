"""Where a run stands, in words: what is still possible, who leads and how surely, and how much is left."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, log10

import duelmatch as dm
from duelmatch.cli.output import counted

FEW = 4
"""So many possible winners are listed."""


def standing(progress: dm.Progress) -> str:
    """Return one sentence; algorithms that do not know what is still possible tell what is decided."""
    if progress.p_value is None:
        decided = len(progress.accepted) + len(progress.rejected)
        parts = [f"{decided:,} of {counted(decided + len(progress.undecided), 'edge')} decided"]
    else:
        parts = [still_possible(progress)]
    if progress.duels_left is not None and progress.possible != 1:
        parts.append(f"about {counted(_roughly(progress.duels_left), 'duel')} left")
    if progress.leader is not None and progress.duels:
        sure = "" if progress.p_value is None else f" (p {probability(progress.p_value)})"
        parts.append(f"leader, NOT CERTIFIED{sure}: {lineup(progress.leader)}")
    return "; ".join(parts)


def still_possible(progress: dm.Progress) -> str:
    """Return how many matchings may still be the winner."""
    if progress.possible is None:
        return "more matchings still possible than can be counted"
    if progress.possible == 1:
        return "1 matching still possible, and not yet proven to be the winner"
    return f"{counted(progress.possible, 'matching')} still possible"


def few_possible(progress: dm.Progress) -> list[str]:
    """Return the matchings that may still be the winner, a line each, if they are few."""
    if progress.duels == 0 or not 1 < len(progress.possible_winners) <= FEW:
        return []
    return [
        f"- {lineup(matching)}{' (the leader)' * (matching == progress.leader)}"
        for matching in progress.possible_winners
    ]


def how_sure(progress: dm.Progress, delta: float, criterion: str) -> str:
    """Say how sure one may be of the leader of a run that is not over."""
    if progress.leader is None:
        return "There is no guess yet: the run was stopped before it could say anything."
    if progress.p_value is None:
        return (
            "This is a guess from the answers so far, not an answer: the run was stopped before it could be "
            "sure of anything."
        )
    chance = probability(progress.p_value)
    sentence = "This is a guess from the answers so far, which do not speak for it yet (p 1)."
    if chance != "1":
        sentence = (
            f"This is a guess from the answers so far, not an answer (p {chance}): if another matching were "
            f"the winner, evidence this strong for this one would ever turn up with probability {chance} at "
            "most."
        )
    if progress.possible is not None and progress.possible > 1:
        winner = "The Condorcet winner, if there is one," if criterion == "condorcet" else "The Borda winner"
        sentence += (
            f" {winner} is among the {counted(progress.possible, 'matching')} still possible, unless this is "
            f"one of the {100 * delta:g}% of all runs that may go wrong."
        )
    return sentence


def lineup(matching: Mapping[str, str]) -> str:
    """Return who fills what."""
    return ", ".join(f"{candidate} for {position}" for position, candidate in matching.items())


def _roughly(duels: int) -> int:
    """Return an estimate with the two digits that may matter, and never 0: the run is not over."""
    return max(1, int(float(f"{duels:.2g}")))


def probability(value: float) -> str:
    """Return a probability with two digits that matter, rounded up: it is a bound.

    >>> probability(1.0), probability(0.9312), probability(0.00213)
    ('1', '0.94', '0.0022')
    """
    if value <= 0:
        return "0"
    unit = 10.0 ** (floor(log10(value)) - 1)
    return f"{min(1.0, ceil(round(value / unit, 9)) * unit):.2g}"
