"""A run in words: what is still possible, who leads and how surely, how much is left, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from duelmatch.cli.output import Page
from duelmatch.errors import spoken
from duelmatch.explorers.catalogue import described
from duelmatch.phrases import counted

if TYPE_CHECKING:
    import duelmatch as dm

FEW = 4
"""How many possible winners are listed."""


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


def print_matching(page: Page, result: dm.Result) -> None:
    """Print who fills what, and whether that is certified."""
    if result.matching is not None:
        certified = result.status in ("certified", "within_epsilon")
        heading = "Candidate" if certified else "Candidate (NOT CERTIFIED)"
        rows = [(position, spoken(names)) for position, names in result.matching.items()]
        page.table(["Position", heading], rows)


def how_sure(progress: dm.Progress, result: dm.Result) -> str:
    """Say how sure one may be of the leader of a run that is not over."""
    if progress.leader is None:
        return f"{result.algorithm} names no leader yet: the run was stopped too early for that."
    if progress.p_value is None:
        return "This is a guess from the answers so far: the run was stopped before it was sure of anything."
    chance = probability(progress.p_value)
    sentence = "This is a guess from the answers so far, which do not speak for it yet (p 1)."
    if chance != "1":
        sentence = (
            f"This is a guess from the answers so far (p {chance}): if another matching were the winner, the "
            f"chance of ever seeing evidence this strong for this one would be at most {chance}."
        )
    if progress.possible is not None and progress.possible > 1:
        condorcet = described(result.algorithm).criterion == "condorcet"
        winner = "The Condorcet winner, if there is one," if condorcet else "The Borda winner"
        sentence += (
            f" {winner} is among the {counted(progress.possible, 'matching')} still possible, unless this is "
            f"one of the {100 * result.delta:g}% of all runs that may go wrong."
        )
    return sentence


def meaning(result: dm.Result) -> str:
    """Say what the result of a run that is over means, and how sure it is."""
    from duelmatch.explorers.result import AGAINST

    proviso = "".join(f", if {assumption.sentence}" for assumption in result.assuming)
    against = AGAINST.get(result.reference or "", "").removeprefix(", Borda")
    match result.status, described(result.algorithm).criterion:
        case "certified", "condorcet":
            sentence = f"This is the Condorcet winner{proviso}: put against any other matching, it wins."
        case "certified", _:
            sentence = f"This is the Borda winner{proviso}: no matching does better on average{against}."
        case "within_epsilon", "condorcet":
            whom = "the Condorcet winner" if result.assuming else "any other matching"
            sentence = (
                f"This is good enough{proviso}: put against {whom}, it wins, or loses by at most "
                f"{result.epsilon:g}."
            )
        case "within_epsilon", _:
            whom = against or " against all matchings"
            sentence = (
                f"This is as good as the Borda winner, or nearly{proviso}: its average score{whom} is within "
                f"{result.epsilon:g} of the best."
            )
        case _:
            sentence = "There is no Condorcet winner: every matching loses to another, or ties with it."
    return (
        f"{sentence} The chance that this is wrong is at most {100 * result.delta:g}%, provided that each "
        "duel was answered independently and with the same probabilities throughout. What "
        f"{result.algorithm} promises: {described(result.algorithm).guarantee}"
    )


def lineup(matching: Mapping[str, str]) -> str:
    """Return who fills what, in words."""
    return ", ".join(f"{spoken(names)} for {position}" for position, names in matching.items())


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
