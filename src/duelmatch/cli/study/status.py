"""What ``duelmatch study status`` says of estimates, and of a panel: what is certain, and who is awaited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from duelmatch.cli.ask import estimated
from duelmatch.cli.output import Page
from duelmatch.phrases import counted, likely, two_digits, votes_in_100
from duelmatch.problem import seated

if TYPE_CHECKING:
    import duelmatch as dm
    from duelmatch.studies import AnswersLeft, Estimates, Status, Study

MOST_OTHERS = 3
"""How many others are named at a position."""

SMALL = 0.01
"""Those who are less probable are not."""

NO_JUDGE = "Nothing is decided: there is no judge whose answers count."

MOST_AWAITED = 8
"""How many judges are named whose opinions are open."""


def to_go(left: AnswersLeft | None) -> str:
    """Say how many more answers it takes.

    >>> from duelmatch.studies import AnswersLeft
    >>> to_go(AnswersLeft(361, 397, 666, None)), to_go(AnswersLeft(120, None, None, 2290))
    ('360 to 670 in 8 of 10 cases (an estimate)', '120 or more, maybe more than 2,300 (an estimate)')
    >>> to_go(AnswersLeft(None, None, None, 2290)), to_go(None)
    ('more than 2,300 (an estimate)', 'not known')
    """
    if left is None:
        return "not known"
    if left.high is not None:
        if left.low is None or left.low == left.high:
            return f"{two_digits(left.high)} at most"
        return f"{two_digits(left.low)} to {two_digits(left.high)} in 8 of 10 cases (an estimate)"
    beyond = f"more than {two_digits(left.beyond or 0)} (an estimate)"
    return beyond if left.low is None else f"{two_digits(left.low)} or more, maybe {beyond}"


def print_standings(page: Page, estimates: Estimates) -> None:
    """Print who leads, and who is probably in the best line-up."""
    found = estimates.standings
    assert found is not None, "there are standings"
    rows, estimated = [], found.by_position
    for position, chosen in found.leader.items():
        leaders = seated(chosen)
        shares = estimated[position]
        others = sorted(shares.keys() - set(leaders), key=lambda name: (-shares[name], name))[:MOST_OTHERS]
        rows.append(
            (
                position,
                ", ".join(f"{name} {likely(shares[name])}" for name in leaders),
                ", ".join(f"{name} {likely(shares[name])}" for name in others if shares[name] >= SMALL),
            )
        )
    page.table(["Position", "Leads (NOT CERTAIN)", "Or else"], rows)
    page.paragraph(
        "Nothing is certain yet. These are standings, an estimate without a guarantee, by a model of "
        f"{counted(estimates.answers, 'answer')}: how probably each belongs to the best line-up. The leader "
        f"as a whole is the best one with probability {likely(found.leader_probability)}, and is expected to "
        f"be behind the best by {100 * found.expected_shortfall:.1f} votes in 100 at each position."
    )


def standings_as_dict(estimates: Estimates | None) -> dict[str, Any] | None:
    """Return the standings as JSON has them, if there are any."""
    if estimates is None or estimates.standings is None:
        return None
    return estimated(estimates.standings) | {"answers": estimates.answers, "entry": estimates.entry}


def panel_facts(where: Status, positions: int) -> Iterator[tuple[str, str]]:
    """Say how far a panel is: nothing is left to decide once the outcome is certain."""
    progress = where.progress
    if where.certain:
        yield "Outcome", where.result.status.replace("_", " ")
        return
    yield "Positions decided", f"{len(progress.decided):,} of {positions:,}"
    if progress.possible is not None:
        yield "Line-ups that may win", f"{progress.possible:,}"


def panel_meaning(result: dm.Result) -> str:
    """Say what a panel has decided."""
    proviso = "".join(f", if {assumption.sentence}" for assumption in result.assuming)
    shortfall = result.shortfall or 0.0
    points = f"{votes_in_100(shortfall)} at each position"
    match result.status:
        case "decided":
            return f"This is decided{proviso}: whatever the open answers are, it is the panel's choice."
        case "unbeaten":
            return (
                f"This is certain{proviso}: nothing beats it, whatever the open answers are; some may draw."
            )
        case "tied":
            return f"This is certain{proviso}: no score is above it, and at least one other is equal."
        case "no_winner":
            return (
                f"Every line-up is beaten by another{proviso}. This one is beaten least: its share of the "
                f"votes is {points} below half at most."
            )
    if votes_in_100(shortfall) == votes_in_100(0.0):
        return "This is not certain yet: nobody can be ahead any more, but others may draw level."
    return f"This is not certain yet: by the open answers another line-up may be ahead, by {points} at most."


def nothing_counts(result: dm.Result) -> bool:
    """Whether a panel has nobody to count: all judges are struck, or judge nothing."""
    return result.status == "budget_spent" and result.duels == 0 and result.shortfall == 0


def print_awaited(page: Page, where: Status, study: Study) -> None:
    """Say whose answers a panel waits for, and what to do if they will not come."""
    judges = {voter.id: voter for voter in study.voters()}
    awaited = where.progress.waiting_for
    if not awaited or where.certain:
        return
    names = [
        f"{judges[voter].name or voter} {number:,}" + " (has left)" * judges[voter].left
        for voter, number in awaited[:MOST_AWAITED]
    ]
    more = f", and of {counted(len(awaited) - MOST_AWAITED, 'other')}" if len(awaited) > MOST_AWAITED else ""
    page.paragraph(f"Open opinions of {', '.join(names)}{more}.")
    if where.phase != "closed":
        page.line(
            "Not to wait for what a judge has not said: duelmatch study leave NAME --drop-open (what they "
            "have said still counts)."
        )
