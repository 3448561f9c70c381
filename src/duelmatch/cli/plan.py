"""``duelmatch plan``: how many duels to expect, or how far people get in the time they have."""

from __future__ import annotations

from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import duelmatch as dm
from duelmatch.cli import NO_WINNER, TOO_LARGE
from duelmatch.cli.options import DELTA, DELTA_HELP, Between, Source, criterion_option, file_argument, flag
from duelmatch.cli.output import Output, Page, printed, rounded, working
from duelmatch.explorers.catalogue import SMALLEST_DELTA, SMALLEST_EPSILON

if TYPE_CHECKING:
    from duelmatch.explorers.planning import DuelBounds, Plan, Sizes
    from duelmatch.files.problems import Document
    from duelmatch.preferences import Criterion

MOST_PEOPLE = 100_000

SIMULATING = 20.0
"""Seconds of a processor, for how far people get in the time they have."""

THEOREMS = {"borda": "Theorem 3", "condorcet": "Theorem 6"}


@click.command("plan")
@file_argument
@click.option("--delta", type=Between(SMALLEST_DELTA, 1), default=DELTA, help=DELTA_HELP)
@click.option(
    "--epsilon",
    type=Between(SMALLEST_EPSILON, 1),
    default=0.05,
    help="How much worse than the best is good enough, for algorithms that take an epsilon.",
)
@criterion_option
@click.option(
    "--gap",
    type=Between(0, 0.5, max_open=False),
    help="Instead of known preferences, assume that the winner's candidates win with 1/2 + GAP.",
)
@flag("--quick", "Leave out the information limit, which takes minutes on large problems.")
@click.option(
    "--judges", type=click.IntRange(1, MOST_PEOPLE), help="Number of judges, whose votes alone decide."
)
@click.option(
    "--voters", type=click.IntRange(1, MOST_PEOPLE), help="Number of voters, taken as a sample of a crowd."
)
@click.option("--minutes", type=Between(0, 100_000), help="How long each of them votes.")
@click.option(
    "--seconds-each", type=Between(0, 100_000), help="How long a question takes: 15 for each candidate in it."
)
@click.option("--question-size", type=click.IntRange(2, 10), default=2, help="Candidates in a question.")
@printed
def command(
    source: Source,
    delta: float,
    epsilon: float,
    criterion: str,
    gap: float | None,
    quick: bool,
    **people: Any,
) -> Output:
    """Say how many duels to expect for FILE, or how far a given number of people get in the time they have.

    With --judges or --voters, studies like this one are simulated: how probably the result is certain when
    their time is over, how good the leader will be otherwise, and how many answers it takes. This takes up
    to a minute.

    Without, it is the bounds. If FILE has preferences, they are for exactly these. If not, assume with --gap
    how clearly the best matching wins.

    \b
    Example:
      duelmatch plan team.csv --judges 20 --minutes 15
      duelmatch plan example:lineup
      duelmatch plan team.csv --gap 0.1 --delta 0.01
    """
    if people["judges"] is not None or people["voters"] is not None:
        _check_of_people(people["judges"])
        wanted: Criterion = "borda" if criterion == "borda" else "condorcet"
        return _expectations(source, wanted, delta, **people)
    if people["minutes"] is not None or people["seconds_each"] is not None:
        raise click.UsageError("Say whose minutes these are: give --judges or --voters, too.")
    sizes, plans = _planned(source.document, gap, criterion, delta, epsilon, quick)
    summary = {"file": source.name, "delta": delta, "epsilon": epsilon, "assumed_gap": gap, **asdict(sizes)}
    both = {name: _as_dict(plans[name]) if name in plans else None for name in THEOREMS}
    code = NO_WINNER if criterion == "condorcet" and not all(plan.winner for plan in plans.values()) else 0
    if any(plan.too_large for plan in plans.values()):
        code = TOO_LARGE
    return Output(summary | both, lambda page: _print(page, summary, plans), code)


def _planned(
    document: Document, gap: float | None, criterion: str, delta: float, epsilon: float, quick: bool
) -> tuple[Sizes, dict[str, Plan]]:
    """Return the sizes of a problem, and the bounds by criterion; none without preferences or a gap."""
    from duelmatch.explorers import planning

    problem, preferences = document.problem(), None
    if gap is not None:
        preferences = planning.assumed_preferences(problem, gap)
    elif document.has_preferences:
        preferences = document.preferences()
    criteria: list[Criterion] = [name for name in ("borda", "condorcet") if criterion in (name, "both")]
    with working("Computing the bounds (on large problems --quick is quicker)"):
        sizes = planning.sizes(problem)
        if preferences is None:
            return sizes, {}
        given = {"epsilon": epsilon}
        return sizes, {name: planning.plan(preferences, name, delta, quick, given) for name in criteria}


def _check_of_people(judges: int | None) -> None:
    """Refuse options that would make no difference to how far people get in the time they have."""
    of_bounds = ("gap", "epsilon", "quick") if judges is None else ("gap", "epsilon", "quick", "delta")
    for name in of_bounds:
        if click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT:
            whom = "--voters" if judges is None else "--judges"
            raise click.UsageError(f"--{name} has no meaning with {whom}.")


def _expectations(
    source: Source,
    criterion: Criterion,
    delta: float,
    judges: int | None,
    voters: int | None,
    minutes: float | None,
    seconds_each: float | None,
    question_size: int,
) -> Output:
    """Say what so many judges of a panel, or voters of a crowd, achieve in the time they have."""
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
    about = {"file": source.name, "criterion": criterion, "judges": judges, "minutes": minutes}

    def show(page: Page) -> None:
        page.heading(f"{source.name}: what to expect")
        page.paragraph(" ".join(found.sentences()))
        if voters is not None:
            page.paragraph(
                "A voter of a crowd has one ballot, and the crowd is sampled: the result is right with a "
                "stated probability. Judges of a panel are counted, which takes far fewer answers: --judges."
            )

    return Output(about | asdict(found) | {"sentences": found.sentences()}, show)


def _as_dict(plan: Plan) -> dict[str, Any]:
    if plan.criterion == "borda":
        head: dict[str, Any] = {"too_large": plan.too_large, "unique": plan.winner}
        left_out = {"verification_hardness"}
    else:
        head, left_out = {"exists": plan.winner}, set()
    if plan.bounds is None:
        return {name: value for name, value in head.items() if name != "unique"}
    bounds = {name: value for name, value in asdict(plan.bounds).items() if name not in left_out}
    return head | bounds | {"upper_bounds": {one.algorithm: one.duels for one in plan.bounds.upper_bounds}}


def _print(page: Page, summary: dict[str, Any], plans: dict[str, Plan]) -> None:
    page.heading(f"{summary['file']}: how many duels will it take?")
    page.facts(
        [
            ("Candidates, positions", f"{summary['candidates']:,}, {summary['positions']:,}"),
            ("Different duels (K)", summary["duels"]),
            ("Width of the graph", _width(summary)),
        ]
    )
    if not plans:
        page.paragraph(
            "The file has no preferences, so there are no bounds to compute. Assume how clearly the best "
            "matching wins, for example with --gap 0.1."
        )
        return
    if summary["assumed_gap"] is not None:
        page.paragraph(
            "This is an assumption: one matching's candidates win all their duels with probability "
            f"{0.5 + summary['assumed_gap']:g}, and all other duels are even."
        )
    for plan in plans.values():
        _print_plan(page, plan)
    delta = summary["delta"]
    page.paragraph(
        f"Delta {delta:g}: the result may be wrong in {100 * delta:g}% of all runs. The information limit is "
        "the least that any such method needs on average; it counts every duel as if it were nearly even, "
        "and lopsided duels tell more. The upper bounds are far from tight. To see what an "
        "algorithm takes in practice, run `duelmatch simulate`: condorcet and borda take a small multiple of "
        "the limit."
    )


def _width(summary: dict[str, Any]) -> str:
    if summary["width"] is None:
        return "not defined: the decisions are not one-to-one matchings"
    return f"{'' if summary['width_is_exact'] else 'at most '}{summary['width']:,}"


def _print_plan(page: Page, plan: Plan) -> None:
    page.heading(f"To find the {plan.criterion.capitalize()} winner")
    if plan.bounds is None:
        none = "There is none: no matching beats every other, and no number of duels will find one."
        page.paragraph(f"Not known. {plan.too_large}" if plan.too_large else none)
        return
    if not plan.winner:
        page.paragraph("Two matchings share the best score, so no number of duels tells which is best.")
    _print_bounds(page, plan.bounds, THEOREMS[plan.criterion])
    verify = plan.bounds.verification_hardness
    page.paragraph(
        f"Hardness H^{plan.criterion[0].upper()} {_duels(plan.bounds.hardness)}"
        + ("" if verify is None else f", to verify {_duels(verify)}")
        + f"; smallest gap of an edge {_gap(plan.bounds.smallest_gap)}."
    )


def _print_bounds(page: Page, bounds: DuelBounds, theorem: str) -> None:
    rows = []
    if bounds.information_limit is not None:
        rows.append(("Information limit (near-even form)", _duels(bounds.information_limit)))
    paper = bounds.paper_lower_bound
    if paper.duels is not None:
        rows.append((f"The paper's lower bound ({theorem})", _duels(paper.duels)))
    for one in bounds.upper_bounds:
        within = "" if one.epsilon is None else f" (within {one.epsilon:g} of the best)"
        note = f" ({one.note})" if one.note else ""
        rows.append((f"{one.algorithm}, at most{within}{note}", _duels(one.duels)))
    page.table(["Bound", "Duels"], rows, right=["Duels"])
    if paper.duels is None:
        page.paragraph(f"The paper's lower bound ({theorem}) does not apply: {paper.unmet}.")


def _duels(number: float) -> str:
    return "no end" if number == inf else rounded(number)


def _gap(gap: float) -> str:
    return "none: there is nothing to decide" if gap == inf else rounded(gap)
