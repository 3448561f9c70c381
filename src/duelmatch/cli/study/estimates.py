"""What ``duelmatch study status`` says of estimates: the standings, and how many answers are to come."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from duelmatch.cli.ask import estimated
from duelmatch.cli.output import Page
from duelmatch.phrases import counted, likely, two_digits
from duelmatch.problem import seated

if TYPE_CHECKING:
    from duelmatch.studies import AnswersLeft, Estimates

LISTED = 3
"""How many others are named at a position."""

SMALL = 0.01
"""Those who are less probable are not."""


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
        others = sorted(shares.keys() - set(leaders), key=lambda name: (-shares[name], name))[:LISTED]
        rows.append(
            (
                position,
                ", ".join(f"{name} {likely(shares[name])}" for name in leaders),
                ", ".join(f"{name} {likely(shares[name])}" for name in others if shares[name] >= SMALL),
            )
        )
    page.table({"Position": "left", "Leads (NOT CERTAIN)": "left", "Or else": "left"}, rows)
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


def left_as_dict(left: AnswersLeft | None) -> dict[str, Any] | None:
    """Return how many answers are still to come, as JSON has it."""
    return None if left is None else asdict(left)
