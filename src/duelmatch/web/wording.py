"""Sentences for people: what makes a line-up the best, what a result says, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor

from duelmatch.explorers.catalogue import Assumption
from duelmatch.preferences import Criterion
from duelmatch.studies import Status

CRITERIA: Mapping[Criterion, str] = {
    "condorcet": "It beats every other line-up head to head.",
    "borda": "It does best on average against everybody.",
}
"""What makes a line-up the best."""

CONFIDENCES = ((0.1, "10"), (0.05, "20"), (0.01, "100"), (0.001, "1,000"))
"""How often the result may be wrong, and that as one time in so many."""

A_WINNER = "some line-up beats every other"


def wrong_at_most(delta: float) -> str:
    """Say how often a result may be wrong.

    >>> wrong_at_most(0.05), wrong_at_most(0.3)
    ('wrong at most 1 time in 20', 'wrong at most 30% of the time')
    """
    times = round(1 / delta)
    if abs(times * delta - 1) < 1e-6:
        return f"wrong at most 1 time in {times:,}"
    return f"wrong at most {100 * delta:.3g}% of the time"


def headline(status: Status) -> str:
    """Say in a few words where a study stands."""
    match status.result.status:
        case "certified" | "within_epsilon" | "decided" | "unbeaten" | "tied":
            return "The result is in"
        case "no_winner":
            return "No line-up beats every other"
    if status.phase != "open":
        return f"The study is {status.phase}"
    if status.done:
        return "Nothing more can be asked"
    return "Voting is under way" if status.answers else "Waiting for the first vote"


def explanation(status: Status) -> str:
    """Say what a study has found, and what that takes for granted."""
    text = _panel_sentence(status) if status.algorithm == "panel" else _crowd_sentence(status)
    if status.result.status == "budget_spent":
        return text
    for assumption in status.assuming:
        clause = A_WINNER if assumption is Assumption.CONDORCET_WINNER else assumption.sentence
        text += f" It takes for granted that {clause}."
    return text


def _panel_sentence(status: Status) -> str:
    result = status.result
    behind = points(result.shortfall or 0.0)
    match result.status:
        case "decided":
            return "This line-up is the panel's choice, whatever the votes still missing would say."
        case "unbeaten":
            return (
                "No other line-up beats this one, whatever the votes still missing would say; some may draw "
                "with it."
            )
        case "tied":
            return "This line-up has the best score, together with at least one other."
        case "no_winner":
            return (
                "Every line-up is beaten by another. This one is beaten least: its share of the votes is at "
                f"most {behind} per position below half."
            )
    if result.duels == 0 and result.shortfall == 0:
        return "Nothing is decided: there is no judge whose votes count."
    if not status.counted:
        sentence = "There are no votes" if status.done else "Nobody leads before the first votes"
        return f"{sentence}.{_way_out(status)}"
    leads = "led when the study was closed" if status.phase == "closed" else "leads so far"
    may = f"another line-up may still be ahead of it, by at most {behind} per position."
    if behind == points(0.0):
        may = "none can be ahead of it any more, but others may draw level."
    return f"The line-up below {leads}. It is not certain: {may}{_way_out(status)}"


def _way_out(status: Status) -> str:
    """Say what would help a panel that is not certain, but has no question left."""
    if not status.done or status.phase == "closed":
        return ""
    planned = _all_planned(status)
    why = "As many votes as were planned are in" if planned else "Nobody can be asked anything more"
    judge = "" if status.counted or planned else ", and a link for a judge who will"
    return (
        f" {why}. What would help: “Has left” beside those who will not say more, so that what they have not "
        f"said is not counted{judge}."
    )


def _all_planned(status: Status) -> bool:
    return status.max_answers is not None and status.counted >= status.max_answers


def _crowd_sentence(status: Status) -> str:
    result = status.result
    wrong = wrong_at_most(result.delta)
    match result.status:
        case "certified":
            return f"This line-up is the best by the criterion chosen. Results like this are {wrong}."
        case "within_epsilon":
            return f"No line-up is better by more than {result.epsilon:g}. Results like this are {wrong}."
        case "no_winner":
            return f"For every line-up there is another that beats it. Results like this are {wrong}."
    if not status.counted:
        return "Nobody leads before the first votes."
    if status.phase == "closed":
        return "The line-up below led when the study was closed. It is a guess: there were too few votes."
    if _all_planned(status):
        return (
            "The line-up below leads. It is a guess, and not certain: as many votes as were planned are in."
        )
    return "The line-up below leads so far. It is a guess until the study says that it is certain."


def points(shortfall: float) -> str:
    """Write a difference of shares down, rounded up: it is a bound.

    >>> points(0.0), points(0.0312)
    ('0.0 percentage points', '3.2 percentage points')
    """
    return f"{ceil(1000 * shortfall - 1e-6) / 10:.1f} percentage points"


def about(number: int) -> str:
    """Round an estimate, so that nobody takes it for more than it is.

    >>> about(12_600_603), about(37)
    ('about 13,000,000', 'about 37')
    """
    digits = max(0, len(str(number)) - 2)
    return f"about {round(number, -digits):,}"


def percent(share: float) -> str:
    """Write a confidence down, rounded so that it never says more than is known.

    >>> percent(0.94996), percent(1 - 0.05), percent(0.0)
    ('94.9%', '95.0%', '0.0%')
    """
    return f"{floor(1000 * share + 1e-6) / 10:.1f}%"


def counted(number: int) -> str:
    """Write a number down, unless nobody could read it.

    >>> counted(1_234), counted(109_027_350_432_000)
    ('1,234', 'over a million')
    """
    return f"{number:,}" if number <= 1_000_000 else "over a million"
