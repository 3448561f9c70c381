"""``duelmatch check``: what a problem is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import duelmatch as dm
from duelmatch.cli.options import Source, file_argument, plot_option
from duelmatch.cli.output import Output, Page, picked, printed
from duelmatch.phrases import counted

if TYPE_CHECKING:
    from duelmatch.matchings import Description

MOST_DIGITS = 18
"""A number of matchings with more digits is printed as a power of ten, too."""

MOST_EDGES = 20
"""How many edges are listed."""


@click.command("check")
@file_argument
@plot_option
@printed
def command(source: Source, plot: Path | None) -> Output:
    """Describe the problem in FILE, and check it.

    How many candidates, positions and different duels there are, how many maximum matchings (the ways to
    fill every position), and which edges are decided before any duel. Capacities, seats, weights and rules
    are explained. If FILE has preferences, they are checked too.

    \b
    Example:
      duelmatch check example:lineup
      duelmatch check team.yaml --plot team.svg
    """
    document = source.document
    problem = document.preferences().problem if document.has_preferences else document.problem()
    about = dm.matchings.describe(problem)
    summary = {"file": source.name} | _as_dict(about, problem)
    if plot is not None:
        from duelmatch.drawing import draw

        summary["plot"] = str(draw(problem, path=plot, title=source.name))
    return Output(summary, lambda page: _print(page, summary, about, problem))


def _as_dict(about: Description, problem: dm.Problem) -> dict[str, Any]:
    from duelmatch.files.conditions import conditions_of

    names = ("candidates", "positions", "edges", "duels", "matchings", "matchings_at_most_log10", "too_large")
    per_position = [
        {
            "position": position,
            "duels": degree * (degree - 1) // 2,
            "candidates": {c: about.share.get((c, p)) for c, p in problem.edges if p == position},
        }
        for position, degree in zip(problem.positions, problem.graph.degrees.tolist(), strict=True)
    ]
    return picked(about, *names, "never", "certain") | {"per_position": per_position} | conditions_of(problem)


def _print(page: Page, summary: dict[str, Any], about: Description, problem: dm.Problem) -> None:
    from duelmatch.files.conditions import explained

    page.heading(summary["file"])
    page.facts(
        [
            ("Candidates", about.candidates),
            ("Positions", about.positions),
            ("Edges (who can fill what)", about.edges),
            ("Different duels (K)", about.duels),
            ("Decisions" if problem.conditions else "Maximum matchings", _matchings(about)),
        ]
    )
    for sentence in explained(problem):
        page.paragraph(sentence)
    page.table(
        ["Position", "Duels", "Candidates, and their share of all matchings"],
        [
            (entry["position"], entry["duels"], _shares(entry["candidates"]))
            for entry in summary["per_position"]
        ],
        right=["Duels"],
    )
    what = "decision" if problem.conditions else "maximum matching"
    if about.certain:
        page.paragraph(f"Certain, in every {what}: {_edges(about.certain)}.")
    if about.never:
        page.paragraph(f"Can never matter, in no {what}: {_edges(about.never)}.")
    if not about.certain and not about.never:
        page.paragraph(f"Every edge is in some {what}, and none is in all of them.")
    if about.too_large:
        page.paragraph(f"Why there is no exact number: {about.too_large}")
    page.picture(summary)


def _matchings(about: Description) -> str:
    exact = about.matchings
    if exact is None:
        return f"too many to count exactly; at most 10^{about.matchings_at_most_log10:.1f}"
    if len(str(exact)) > MOST_DIGITS:
        return f"{exact:,} (about 10^{len(str(exact)) - 1})"
    return f"{exact:,}"


def _shares(candidates: dict[str, float | None]) -> str:
    return ", ".join(name if share is None else f"{name} {share:.0%}" for name, share in candidates.items())


def _edges(edges: tuple[tuple[str, str], ...]) -> str:
    named = [f"{candidate} at {position}" for candidate, position in edges[:MOST_EDGES]]
    rest = f", and {counted(len(edges) - MOST_EDGES, 'other')}" if len(edges) > MOST_EDGES else ""
    return ", ".join(named) + rest
