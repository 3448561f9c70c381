"""``duelmatch check``: what a problem is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import duelmatch as dm
from duelmatch.cli.options import Source, file_argument, json_option, plot_option
from duelmatch.cli.output import Page, print_json
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
@json_option
def command(source: Source, plot: Path | None, as_json: bool) -> None:
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
    picture = None
    if plot is not None:
        from duelmatch.drawing import draw

        picture = str(draw(problem, path=plot, title=source.name))
    if as_json:
        print_json({"file": source.name, **as_dict(about, problem)} | ({"plot": picture} if picture else {}))
    else:
        _print(source.name, about, problem, picture)


def as_dict(about: Description, problem: dm.Problem) -> dict[str, Any]:
    """Return what ``check --json`` prints."""
    from duelmatch.files.conditions import conditions_of

    names = ("candidates", "positions", "edges", "duels", "matchings", "matchings_at_most_log10", "too_large")
    return (
        {name: getattr(about, name) for name in (*names, "never", "certain")}
        | {
            "per_position": [
                {
                    "position": position,
                    "duels": degree * (degree - 1) // 2,
                    "candidates": {c: about.share.get((c, p)) for c, p in problem.edges if p == position},
                }
                for position, degree in zip(problem.positions, problem.graph.degrees.tolist(), strict=True)
            ]
        }
        | conditions_of(problem)
    )


def _print(name: str, about: Description, problem: dm.Problem, picture: str | None) -> None:
    page = Page()
    page.heading(name)
    page.facts(
        [
            ("Candidates", f"{about.candidates:,}"),
            ("Positions", f"{about.positions:,}"),
            ("Edges (who can fill what)", f"{about.edges:,}"),
            ("Different duels (K)", f"{about.duels:,}"),
            ("Decisions" if problem.conditions else "Maximum matchings", _matchings(about)),
        ]
    )
    from duelmatch.files.conditions import explained

    for sentence in explained(problem):
        page.paragraph(sentence)
    columns = {"Position": "left", "Duels": "right", "Candidates, and their share of all matchings": "left"}
    page.table(columns, [_row(**entry) for entry in as_dict(about, problem)["per_position"]])
    what = "decision" if problem.conditions else "maximum matching"
    if about.certain:
        page.paragraph(f"Certain, in every {what}: {_edges(about.certain)}.")
    if about.never:
        page.paragraph(f"Can never matter, in no {what}: {_edges(about.never)}.")
    if not about.certain and not about.never:
        page.paragraph(f"Every edge is in some {what}, and none is in all of them.")
    if about.too_large:
        page.paragraph(f"Why there is no exact number: {about.too_large}")
    if picture:
        page.picture(picture)


def _matchings(about: Description) -> str:
    exact = about.matchings
    if exact is None:
        return f"too many to count exactly; at most 10^{about.matchings_at_most_log10:.1f}"
    if len(str(exact)) > MOST_DIGITS:
        return f"{exact:,} (about 10^{len(str(exact)) - 1})"
    return f"{exact:,}"


def _row(position: str, duels: int, candidates: dict[str, float | None]) -> list[str]:
    shares = [name if share is None else f"{name} {share:.0%}" for name, share in candidates.items()]
    return [position, f"{duels:,}", ", ".join(shares)]


def _edges(edges: tuple[tuple[str, str], ...]) -> str:
    named = [f"{candidate} at {position}" for candidate, position in edges[:MOST_EDGES]]
    rest = f", and {counted(len(edges) - MOST_EDGES, 'other')}" if len(edges) > MOST_EDGES else ""
    return ", ".join(named) + rest
