"""``duelmatch plan``: how many duels to expect."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import click

import duelmatch as dm
from duelmatch.cli.options import Between, Source, criterion_option, file_argument, json_option
from duelmatch.cli.output import Page, print_json, rounded, working
from duelmatch.cli.status import ANSWER_IS_NO, TOO_LARGE
from duelmatch.errors import TooLargeError

if TYPE_CHECKING:
    from duelmatch.preferences import Criterion


@click.command("plan")
@file_argument
@click.option(
    "--delta", type=Between(0, 1), default=0.05, show_default=True, help="How often the answer may be wrong."
)
@click.option(
    "--epsilon",
    type=Between(0),
    default=0.05,
    show_default=True,
    help="How far from the best score clucb-borda-pac may end.",
)
@criterion_option
@click.option(
    "--gap",
    type=Between(0, 0.5, max_open=False),
    help="Assume instead of known preferences that the winner's candidates win with 1/2 + GAP.",
)
@click.option("--quick", is_flag=True, help="Leave out the information limit: minutes on large problems.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    source: Source,
    delta: float,
    epsilon: float,
    criterion: str,
    gap: float | None,
    quick: bool,
    as_json: bool,
) -> None:
    """Say how many duels to expect for the problem in FILE, from the bounds.

    With preferences in FILE the bounds are those of just this problem. Without, assume with --gap how
    clearly the best matching wins.

    \b
    Example:
      duelmatch plan example:lineup
      duelmatch plan team.csv --gap 0.1 --delta 0.01
    """  # noqa: D301
    problem = source.document.problem()
    preferences = None
    if gap is not None:
        preferences = assumed(problem, gap)
    elif source.document.has_preferences:
        preferences = source.document.preferences()
    answer: dict[str, Any] = {"file": source.name, "delta": delta, "epsilon": epsilon, "assumed_gap": gap}
    answer |= _sizes(problem) | {"borda": None, "condorcet": None}
    with working("Computing the bounds (on large problems --quick is quicker)"):
        if preferences is not None and criterion in ("borda", "both"):
            answer["borda"] = borda(preferences, delta, epsilon, quick)
        if preferences is not None and criterion in ("condorcet", "both"):
            answer["condorcet"] = condorcet(preferences, delta, quick)
    if as_json:
        print_json(answer)
    else:
        _print(answer)
    if answer["borda"] and answer["borda"]["too_large"]:
        ctx.exit(TOO_LARGE)
    if criterion == "condorcet" and answer["condorcet"] and not answer["condorcet"]["exists"]:
        ctx.exit(ANSWER_IS_NO)


def assumed(problem: dm.Problem, gap: float) -> dm.Preferences:
    """Return preferences in which one matching wins all its duels with 1/2 + ``gap``; all others are even."""
    import numpy as np

    from duelmatch.files.problems import MOST_EDGES_WITH_PREFERENCES

    graph = problem.graph
    if graph.edges > MOST_EDGES_WITH_PREFERENCES:
        raise TooLargeError(
            f"The bounds take a matrix of edges times edges, and there are {graph.edges:,} edges, "
            f"where {MOST_EDGES_WITH_PREFERENCES:,} are allowed."
        )
    winner = graph.some_matching()
    assert winner is not None, "a Problem has a matching"
    wins = np.zeros(graph.edges)
    wins[winner] = 1.0
    return dm.Preferences.from_matrix(problem, 0.5 + gap * (wins[:, None] - wins[None, :]))


def _sizes(problem: dm.Problem) -> dict[str, Any]:
    try:
        width, exact = dm.theory.width(problem), True
    except TooLargeError:
        width, exact = dm.theory.width_bound(problem), False
    return {
        "candidates": len(problem.candidates),
        "positions": len(problem.positions),
        "edges": problem.graph.edges,
        "duels": problem.graph.pairs,
        "width": width,
        "width_is_exact": exact,
    }


def borda(preferences: dm.Preferences, delta: float, epsilon: float, quick: bool = False) -> dict[str, Any]:
    """Return what ``plan --json`` says about finding the Borda winner."""
    try:
        gaps = dm.theory.borda_gaps(preferences)
    except TooLargeError as error:
        return {"too_large": str(error)}
    return {
        "too_large": None,
        "unique": preferences.borda_margin() > 0,
        "smallest_gap": min(gaps.values()),
        "hardness": dm.theory.borda_hardness(preferences),
        "information_limit": None if quick else dm.theory.lower_bound(preferences, "borda", delta),
        "paper_lower_bound": _paper_lower_bound(preferences, "borda", delta),
        "upper_bounds": {
            "clucb-borda-pac": dm.theory.clucb_borda_pac_bound(preferences, delta, epsilon),
            "clucb-borda-exact": dm.theory.clucb_borda_exact_bound(preferences, delta),
        },
    }


def condorcet(preferences: dm.Preferences, delta: float, quick: bool = False) -> dict[str, Any]:
    """Return what ``plan --json`` says about finding the Condorcet winner."""
    if preferences.condorcet_winner() is None:
        return {"exists": False}
    pair_gaps = dm.theory.condorcet_pair_gaps(preferences).values()
    return {
        "exists": True,
        "smallest_gap": min(dm.theory.condorcet_gaps(preferences).values()),
        "hardness": sum(gap**-2 for gap in pair_gaps if isfinite(gap)),
        "verification_hardness": dm.theory.verification_hardness(preferences),
        "information_limit": None if quick else dm.theory.lower_bound(preferences, "condorcet", delta),
        "paper_lower_bound": _paper_lower_bound(preferences, "condorcet", delta),
        "upper_bounds": {
            "car-cond": dm.theory.car_cond_bound(preferences, delta),
            "car-verify": dm.theory.car_verify_bound(preferences, delta),
        },
    }


def _paper_lower_bound(preferences: dm.Preferences, criterion: Criterion, delta: float) -> dict[str, Any]:
    try:
        bound = dm.theory.paper_lower_bound(preferences, criterion, delta)
    except TooLargeError as error:
        return {"duels": None, "unmet": f"not checked: {error}"}
    return {"duels": bound.duels, "unmet": bound.unmet}


def _print(answer: dict[str, Any]) -> None:
    page = Page()
    page.heading(f"{answer['file']}: how many duels will it take?")
    page.facts(
        [
            ("Candidates, positions", f"{answer['candidates']:,}, {answer['positions']:,}"),
            ("Different duels (K)", f"{answer['duels']:,}"),
            ("Width of the graph", f"{'' if answer['width_is_exact'] else 'at most '}{answer['width']:,}"),
        ]
    )
    if answer["assumed_gap"] is not None:
        page.paragraph(
            "An assumption, not knowledge: one matching's candidates win all their duels with probability "
            f"{0.5 + answer['assumed_gap']:g}, and all other duels are even."
        )
    elif answer["borda"] is None and answer["condorcet"] is None:
        page.paragraph(
            "The file has no preferences, so there are no bounds to compute. Assume how clearly the best "
            "matching wins, for example with --gap 0.1, to plan with."
        )
        return
    sections: list[tuple[str, Callable[[Page, dict[str, Any], dict[str, Any]], None]]] = [
        ("borda", _print_borda),
        ("condorcet", _print_condorcet),
    ]
    for criterion, print_section in sections:
        if answer[criterion]:
            page.heading(f"To find the {criterion.capitalize()} winner")
            print_section(page, answer, answer[criterion])
    page.paragraph(
        f"Delta {answer['delta']:g}: the answer may be wrong in {100 * answer['delta']:g}% of all runs. The "
        "information limit is the least that any such method needs on average; it counts every duel as if it "
        "were nearly even, and lopsided ones tell more. The upper bounds are the paper's guarantees, and far "
        "from tight. What an algorithm takes in practice, `duelmatch simulate` tells: condorcet and borda "
        "take a small multiple of the limit."
    )


def _print_borda(page: Page, answer: dict[str, Any], entry: dict[str, Any]) -> None:
    if entry["too_large"]:
        page.paragraph(f"Not known. {entry['too_large']}")
        return
    if not entry["unique"]:
        page.paragraph("Two matchings share the best score, so no number of duels tells which is best.")
    uppers = {
        f"clucb-borda-pac, at most (score within {answer['epsilon']:g} of the best)": "clucb-borda-pac",
        "clucb-borda-exact, at most": "clucb-borda-exact",
    }
    _print_bounds(page, entry, "Theorem 3", uppers)
    page.paragraph(
        f"Hardness H^B {_duels(entry['hardness'])}; smallest gap of an edge {_gap(entry['smallest_gap'])}."
    )


def _print_condorcet(page: Page, answer: dict[str, Any], entry: dict[str, Any]) -> None:
    if not entry["exists"]:
        page.paragraph("There is none: no matching beats every other, and no number of duels will find one.")
        return
    uppers = {"car-cond, at most": "car-cond", "car-verify, at most": "car-verify"}
    _print_bounds(page, entry, "Theorem 7", uppers)
    page.paragraph(
        f"Hardness H^C {_duels(entry['hardness'])}, to verify {_duels(entry['verification_hardness'])}; "
        f"smallest gap of an edge {_gap(entry['smallest_gap'])}."
    )


def _print_bounds(page: Page, entry: dict[str, Any], theorem: str, uppers: dict[str, str]) -> None:
    paper = entry["paper_lower_bound"]
    rows = []
    if entry["information_limit"] is not None:
        rows.append(("Information limit: any method, on average", _duels(entry["information_limit"])))
    if paper["duels"] is not None:
        rows.append((f"The paper's lower bound ({theorem})", _duels(paper["duels"])))
    rows += [(label, _duels(entry["upper_bounds"][name])) for label, name in uppers.items()]
    page.table({"Bound": "left", "Duels": "right"}, rows)
    if paper["duels"] is None:
        page.paragraph(f"The paper's lower bound ({theorem}) does not apply: {paper['unmet']}.")


def _duels(number: float) -> str:
    return "no end" if number == inf else rounded(number)


def _gap(gap: float) -> str:
    return "none: there is nothing to decide" if gap == inf else rounded(gap)
