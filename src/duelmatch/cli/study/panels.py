"""What ``duelmatch study status`` says of a panel: how far it is, what is certain, and who is awaited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from duelmatch.cli.output import Page
from duelmatch.phrases import counted, votes_in_100

if TYPE_CHECKING:
    import duelmatch as dm
    from duelmatch.studies import Status, Study

NO_JUDGE = "Nothing is decided: there is no judge whose answers count."

LISTED = 8
"""How many judges are named whose opinions are open."""


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
        for voter, number in awaited[:LISTED]
    ]
    more = f", and of {counted(len(awaited) - LISTED, 'other')}" if len(awaited) > LISTED else ""
    page.paragraph(f"Open opinions of {', '.join(names)}{more}.")
    if where.phase != "closed":
        page.line(
            "Not to wait for what a judge has not said: duelmatch study leave NAME --drop-open (what they "
            "have said still counts)."
        )
