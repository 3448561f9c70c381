"""``duelmatch check``: what a problem is."""

from __future__ import annotations

from math import lgamma, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import duelmatch as dm
from duelmatch.cli.options import Source, file_argument, json_option, plot_option
from duelmatch.cli.output import Page, counted, print_json
from duelmatch.errors import TooLargeError

if TYPE_CHECKING:
    from duelmatch.graph import Graph

MOST_DIGITS = 18
"""A number of matchings with more digits is printed as a power of ten, too."""


@click.command("check")
@file_argument
@plot_option
@json_option
def command(source: Source, plot: Path | None, as_json: bool) -> None:
    """Say what the problem in FILE is.

    How many candidates, positions and different duels there are, how many maximum matchings (the ways to
    fill every position), and which edges are decided before any duel. Preferences, if FILE has them, are
    checked too.

    \b
    Example:
      duelmatch check example:lineup
      duelmatch check team.yaml --plot team.svg
    """  # noqa: D301
    document = source.document
    problem = document.preferences().problem if document.has_preferences else document.problem()
    answer = describe(problem)
    if plot is not None:
        from duelmatch.drawing import draw

        answer["plot"] = str(draw(problem, path=plot, title=source.name))
    if as_json:
        print_json({"file": source.name, **answer})
    else:
        _print(source, problem, answer)


def describe(problem: dm.Problem) -> dict[str, Any]:
    """Return what ``check --json`` prints."""
    graph = problem.graph
    some, every = dm.matchings.edges_in_some(problem), dm.matchings.edges_in_every(problem)
    try:
        matchings, too_large, share = dm.matchings.count(problem), None, dm.matchings.marginals(problem)
    except TooLargeError as error:
        matchings, too_large, share = None, str(error), {}
    return {
        "candidates": len(problem.candidates),
        "positions": len(problem.positions),
        "edges": graph.edges,
        "duels": graph.pairs,
        "matchings": matchings,
        "matchings_at_most_log10": log_matchings_bound(graph) / log(10),
        "too_large": too_large,
        "never": [list(edge) for edge in problem.edges if edge not in some],
        "certain": [list(edge) for edge in problem.edges if edge in every],
        "per_position": [
            {
                "position": position,
                "duels": degree * (degree - 1) // 2,
                "candidates": {c: share.get((c, p)) for c, p in problem.edges if p == position},
            }
            for position, degree in zip(problem.positions, graph.degrees.tolist(), strict=True)
        ],
    }


def log_matchings_bound(graph: Graph) -> float:
    """Return the natural logarithm of an upper bound on the number of maximum matchings.

    Bregman's bound on the permanent, prod_j (d_j!)^(1/d_j), for the square matrix that n - l positions
    open to all candidates complete; each matching is then counted (n - l)! times.
    """
    spare = graph.candidates - graph.positions
    bregman: float = sum(lgamma(degree + 1) / degree for degree in graph.degrees.tolist())
    return bregman + spare * lgamma(graph.candidates + 1) / graph.candidates - lgamma(spare + 1)


def _print(source: Source, problem: dm.Problem, answer: dict[str, Any]) -> None:
    page = Page()
    page.heading(source.name)
    page.facts(
        [
            ("Candidates", f"{answer['candidates']:,}"),
            ("Positions", f"{answer['positions']:,}"),
            ("Edges (who can fill what)", f"{answer['edges']:,}"),
            ("Different duels (K)", f"{answer['duels']:,}"),
            ("Maximum matchings", _matchings(answer)),
        ]
    )
    columns = {"Position": "left", "Duels": "right", "Candidates, and their share of all matchings": "left"}
    page.table(columns, [_row(entry) for entry in answer["per_position"]])
    if answer["certain"]:
        page.paragraph(f"Certain, in every maximum matching: {_edges(answer['certain'])}.")
    if answer["never"]:
        page.paragraph(f"Can never matter, in no maximum matching: {_edges(answer['never'])}.")
    if not answer["certain"] and not answer["never"]:
        page.paragraph("Every edge is in some maximum matching, and none is in all of them.")
    if answer["too_large"]:
        page.paragraph(f"Why there is no exact number: {answer['too_large']}")
    if "plot" in answer:
        page.picture(answer["plot"])


def _matchings(answer: dict[str, Any]) -> str:
    exact = answer["matchings"]
    if exact is None:
        return f"too many to count exactly; at most 10^{answer['matchings_at_most_log10']:.1f}"
    if len(str(exact)) > MOST_DIGITS:
        return f"{exact:,} (about 10^{len(str(exact)) - 1})"
    return f"{exact:,}"


def _row(entry: dict[str, Any]) -> list[str]:
    candidates = [
        name if share is None else f"{name} {share:.0%}" for name, share in entry["candidates"].items()
    ]
    return [entry["position"], f"{entry['duels']:,}", ", ".join(candidates)]


def _edges(edges: list[list[str]], most: int = 20) -> str:
    named = [f"{candidate} at {position}" for candidate, position in edges[:most]]
    rest = f", and {counted(len(edges) - most, 'other')}" if len(edges) > most else ""
    return ", ".join(named) + rest
