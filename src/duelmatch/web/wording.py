"""Sentences for people: what makes a line-up the best, what a result says, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from math import floor
from typing import Literal

from duelmatch.explorers.catalogue import Assumption
from duelmatch.models.standings import Standings
from duelmatch.phrases import counted, likely, two_digits, votes_in_100
from duelmatch.preferences import Criterion
from duelmatch.problem import Matching, seated
from duelmatch.studies import AnswersLeft, Hints, Preview, Status
from duelmatch.web.names import Names

CRITERIA: Mapping[Criterion, str] = {
    "condorcet": "It beats every other line-up head to head.",
    "borda": "It does best on average against everybody.",
}
"""What makes a line-up the best."""

CONFIDENCES = ((0.1, "10"), (0.05, "20"), (0.01, "100"), (0.001, "1,000"))
"""How often the result may be wrong, and that as one time in so many."""

SOME = 0.25
"""A proven bound is told from here on: a larger one tells nobody anything."""

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


def explanation(status: Status, standings: Standings | None) -> str:
    """Say what a study has found, how sure that is, and what it takes for granted."""
    known = standings is None or standings.leader == status.result.matching  # what is known is of that one
    text = _panel_sentence(status, known) if status.algorithm == "panel" else _crowd_sentence(status, known)
    if not status.certain:
        return text if standings is None else f"{text} {estimate(standings)}"
    for assumption in status.assuming:
        clause = A_WINNER if assumption is Assumption.CONDORCET_WINNER else assumption.sentence
        text += f" It takes for granted that {clause}."
    return text


def estimate(standings: Standings) -> str:
    """Say how good the leader probably is."""
    whole, behind = likely(standings.leader_probability), f"{100 * standings.expected_shortfall:.1f}"
    return (
        f"By an estimate from the votes so far, this whole line-up is the best one with a probability of "
        f"{whole}; it is expected to fall short of the best by {behind} votes in 100 at each position."
    )


def check(status: Status, standings: Standings | None, names: Names) -> str:
    """Say what a check of the log shows where nothing is decided: not the estimate. Else nothing."""
    result = status.result
    if status.certain or not status.counted:
        return ""
    text = "It says that nothing is decided: who leads here is an estimate, which is no part of the log."
    if standings is None or result.matching is None or result.matching == standings.leader:
        return text
    named, bound = _named(result.matching, names), votes_in_100(result.shortfall or 0.0)
    lineup = "; ".join(f"{called}: {named[position]}" for position, called in names.positions.items())
    if status.algorithm != "panel":
        return (
            f"{text} The log has the line-up that is first in the test, which is no winner either ({lineup})."
        )
    return (
        f"{text} The line-up of the log is no winner either ({lineup}): for certain it falls short of any "
        f"other by at most {bound} at each position."
    )


def kind(status: Status, standings: Standings | None) -> str:
    """Say in one sentence what kind of answer a result is."""
    closed, decided = status.phase == "closed", _decided(status.voters_gone)
    match status.result.status:
        case "decided":
            return f"{decided}, and no vote still missing can change it."
        case "unbeaten":
            return f"{decided}, and no other line-up can beat this one."
        case "tied":
            return f"{decided}; it shares the best score with another."
        case "no_winner" if status.algorithm == "panel":
            return f"{decided}; every line-up is beaten by another, and this one is beaten least."
        case "certified" | "within_epsilon" | "no_winner":
            return f"Certified: results like this are {wrong_at_most(status.result.delta)}."
    if not status.counted:
        return f"No answer yet: there are no votes{' that count' if status.answers else ''}."
    how = "Leading by estimate" if standings is not None else "Leading so far"
    return f"{how}: {'it was' if closed else 'it is'} not decided, and more votes could change it."


def votes(status: Status) -> str:
    """Say how many votes count, from how many people, and how many do not."""
    voter = "judge" if status.algorithm == "panel" else "voter"
    text = f"{counted(status.counted, 'vote')} from {counted(status.voters_counted, voter)}"
    if more := status.answers - status.counted:
        text += f"; {counted(more, 'more vote')} {'does' if more == 1 else 'do'} not count"
    return f"{text}."


def _decided(gone: int) -> str:
    """Begin the sentence on a panel's decision; those who have left might have voted otherwise."""
    if gone == 0:
        return "Decided by this panel: the votes were counted"
    who = "one judge" if gone == 1 else f"{gone} judges"
    return f"Decided by this panel: the votes were counted without waiting for {who}, who had left"


def counts_times(weight: int) -> str:
    """Say how much a vote of a judge counts.

    >>> counts_times(2), counts_times(3)
    ('each vote counts twice', 'each vote counts 3 times')
    """
    return f"each vote counts {'twice' if weight == 2 else f'{weight} times'}"


def left(answers: AnswersLeft | None) -> str:
    """Say how many more votes it takes, in 8 of 10 cases.

    >>> left(AnswersLeft(361, 397, 666, None)), left(AnswersLeft(120, None, None, 2290)), left(None)
    ('360 to 670', '120 or more', 'not known yet')
    """
    if answers is None:
        return "not known yet"
    low, high = answers.low, answers.high
    if high is not None:
        most = two_digits(high)
        return f"{two_digits(low)} to {most}" if low is not None and low < high else most
    return f"{two_digits(low)} or more" if low is not None else f"more than {two_digits(answers.beyond or 0)}"


def hints(found: Hints, secret: bool = False) -> list[str]:
    """Say what is odd about how somebody votes.

    Of a ``secret`` ballot neither how many votes it has, which would tell it from others in an export, nor
    whether it is like the others'.
    """
    sentences = []
    if found.quick is not None:
        own, others = found.quick
        usual = "" if others is None else f", others {_about(others)}"
        sentences.append(f"Very quick: {_about(own)} seconds a vote{usual}.")
    if found.side is not None:
        side, times, of = found.side
        often = "nearly every time" if secret else f"in {times} of {of} votes"
        sentences.append(f"Takes the {side} of the two shown {often}.")
    if found.agrees is not None and not secret:
        agreed, of = found.agrees
        sentences.append(f"Agrees with most others in only {agreed} of {of} votes.")
    return sentences


def _about(seconds: float) -> str:
    """Write seconds down.

    >>> _about(0.04), _about(2.44), _about(12.0)
    ('less than 0.1', 'about 2.4', 'about 12.0')
    """
    return "less than 0.1" if seconds < 0.1 else f"about {seconds:.1f}"


def preview(found: Preview, names: Names) -> list[str]:
    """Say what a change would do."""
    before, after = found.before, found.after
    sentences = []
    if (fewer := before.answers - after.answers) != 0:
        verb = "would not count any more" if fewer > 0 else "would count again"
        sentences.append(f"{counted(abs(fewer), 'vote')} {verb}.")
    if before.certain and not after.certain:
        sentences.append("The result is certain now, and would be open again.")
    elif after.certain and not before.certain:
        sentences.append("The result is open now, and would be certain.")
    was, would_be = (_named(each.lineup, names) for each in (before, after))
    changed = [
        f"{called}: {would_be[position]} instead of {was.get(position, 'nobody')}"
        for position, called in names.positions.items()
        if position in would_be and was.get(position) != would_be[position]
    ]
    leads = "The result" if after.certain else "Who leads, by the estimate,"
    if changed:
        sentences.append(f"{leads} would change. {'; '.join(changed)}.")
    elif would_be:
        sentences.append(f"{leads} would stay the same.")
    return sentences


def _named(lineup: Matching | None, names: Names) -> dict[str, str]:
    return {
        position: " and ".join(str(names.candidates[name]) for name in seated(chosen))
        for position, chosen in (lineup or {}).items()
    }


def _panel_sentence(status: Status, known: bool) -> str:
    result = status.result
    behind = votes_in_100(result.shortfall or 0.0)
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
                f"most {behind} below half at each position."
            )
    if result.duels == 0 and result.shortfall == 0:
        return "Nothing is decided: there is no judge whose votes count."
    if not status.counted:
        sentence = "There are no votes" if status.done else "Nobody leads before the first votes"
        return f"{sentence}.{_way_out(status)}"
    leads = "led when the study was closed" if status.phase == "closed" else "leads so far"
    may = "if the missing votes went against it, another could be ahead."
    if known and behind == votes_in_100(0.0):
        may = "none can be ahead of it any more, but others may draw level."
    return f"This line-up {leads}. It is not certain: {may}{_way_out(status)}"


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


def _crowd_sentence(status: Status, known: bool) -> str:
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
        return "This line-up led when the study was closed. Nothing was proven: there were too few votes."
    if _all_planned(status):
        return "This line-up leads. Nothing is proven, and as many votes as were planned are in."
    bound = status.shortfall
    if known and bound is not None and bound < SOME:
        proven = f"It is proven that none is better by more than {votes_in_100(bound)} at each position."
        return f"This line-up leads so far. {proven}"
    return "This line-up leads so far. Nothing is proven yet, and more votes can change it."


def percent(share: float) -> str:
    """Write a confidence down, rounded so that it never says more than is known.

    >>> percent(0.94996), percent(1 - 0.05), percent(0.0)
    ('94.9%', '95.0%', '0.0%')
    """
    return f"{floor(1000 * share + 1e-6) / 10:.1f}%"


def written_time(at: float, precision: Literal["seconds", "minutes"] = "seconds") -> str:
    """Return a time as ISO 8601 has it; a page shows it as its reader writes times."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec=precision)
