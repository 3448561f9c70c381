"""``duelmatch plan --judges 20 --minutes 15``: what to expect of people who vote, from simulations."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from duelmatch.cli.output import Page, print_json, working

if TYPE_CHECKING:
    from duelmatch.cli.options import Source
    from duelmatch.preferences import Criterion

SIMULATING = 20.0
"""Seconds of a processor."""


def print_expectations(
    source: Source,
    judges: int | None,
    voters: int | None,
    minutes: float | None,
    seconds_each: float | None,
    question_size: int,
    criterion: Criterion,
    delta: float,
    as_json: bool,
) -> None:
    """Say what so many judges of a panel, or voters of a crowd, bring in their time."""
    import duelmatch as dm

    if (judges is None) == (voters is None):
        raise click.UsageError("Give either --judges, who decide, or --voters, who stand for many others.")
    problem, size = source.document.problem(), question_size
    run: object = None
    if judges is not None:
        names = [str(number) for number in range(judges)]
        run = dm.explorer("panel", problem, voters=names, criterion=criterion, question_size=size)
    else:
        run = dm.explorer(criterion, problem, delta=delta, seed=0, question_size=size)
    with working("Simulating studies like this one, for up to a minute"):
        found = dm.forecast(run, voters, minutes, seconds_each, seconds=SIMULATING)
    if as_json:
        about = {"file": source.name, "criterion": criterion, "judges": judges, "minutes": minutes}
        print_json(about | asdict(found) | {"sentences": found.sentences()})
        return
    page = Page()
    page.heading(f"{source.name}: what to expect")
    page.paragraph(" ".join(found.sentences()))
    if voters is not None:
        page.paragraph(
            "A voter of a crowd has one ballot, and the crowd is sampled: the result is right with a stated "
            "probability. Judges of a panel are counted, which takes far fewer answers: --judges."
        )
