"""How a single run comes to its answer: edges accepted and rejected, and the gap that is left, over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from duelmatch.drawing import INK
from duelmatch.experiments.cell import Cell
from duelmatch.experiments.evaluation import CellSummary
from duelmatch.experiments.figures.style import Styles, legend_below, look, plain
from duelmatch.experiments.simulation import simulated_run
from duelmatch.explorers.explorer import Explorer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DUELS = 3e6
"""Where runs take more on average, none is done again for a picture."""

MOST_COLUMNS = 5
STEP = 1.03
"""A run is looked at each time its duels have grown by this factor."""

ACCEPTED, REJECTED, UNDECIDED = "#009E73", "#D55E00", "#DDDDDD"


@dataclass(frozen=True)
class ProgressTrace:
    """Where a run stood after so many duels: edges accepted, rejected and undecided, and the gap left."""

    cell: Cell
    duels: list[int]
    accepted: list[int]
    rejected: list[int]
    undecided: list[int]
    gaps: list[float | None]


def traces(summaries: list[CellSummary]) -> list[ProgressTrace]:
    """Do the first run of each variant again, on the largest problem that is quickly done, and watch it."""
    quick: dict[tuple[str, float], dict[str, Cell]] = {}
    edges: dict[tuple[str, float], int] = {}
    for summary in summaries:
        cell = summary.cell
        place = cell.instance.label, cell.delta
        edges[place] = cell.instance.preferences.problem.graph.edges
        if summary.mean <= MOST_DUELS:
            quick.setdefault(place, {})[cell.variant.label] = cell
    if not quick:
        return []
    best = max(quick, key=lambda place: (len(quick[place]), edges[place]))
    return [trace(cell) for cell in list(quick[best].values())[:MOST_COLUMNS]]


def trace(cell: Cell) -> ProgressTrace:
    """Do the first run again, with the same answers as before, and watch it."""
    found = ProgressTrace(cell, [], [], [], [], [])

    def observe(run: Explorer) -> None:
        if found.duels and run.duels < STEP * found.duels[-1] and not run.done:
            return
        progress, matching = run.progress, run.result.matching
        accepted, rejected = len(progress.accepted), len(progress.rejected)
        edges = accepted + rejected + len(progress.undecided)
        if run.done and matching is not None and run.result.status != "budget_spent":
            accepted, rejected = len(matching), edges - len(matching)  # an answer decides every edge
        found.duels.append(progress.duels)
        found.accepted.append(accepted)
        found.rejected.append(rejected)
        found.undecided.append(edges - accepted - rejected)
        found.gaps.append(progress.gap)

    preferences, variant, seed = cell.instance.preferences, cell.variant, cell.seed(0)
    run = variant.algorithm, cell.delta, seed, cell.max_duels
    simulated_run(preferences, *run, observe, **variant.parameters)
    return found


def over_time(found: list[ProgressTrace], styles: Styles) -> Figure:
    """Draw the edges by what is decided of them, and below the gap, a column for each variant."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    with look() as figure_class:
        figure = figure_class(
            figsize=(max(3.1 * len(found), 5.5), 4.8), facecolor="white", layout="constrained"
        )
        grid = figure.subplots(2, len(found), squeeze=False, sharex="col", height_ratios=(3, 2))
        for column, one in enumerate(found):
            upper, lower = grid[0][column], grid[1][column]
            duels = [*one.duels, 1.04 * one.duels[-1]]  # a little room, to see how it ended
            upper.stackplot(
                duels,
                *([*edges, edges[-1]] for edges in (one.accepted, one.rejected, one.undecided)),
                colors=[ACCEPTED, REJECTED, UNDECIDED],
                step="post",
                linewidth=0,
            )
            upper.set(xlim=(0, duels[-1]), ylim=(0, None))
            upper.set_title(plain(one.cell.variant.label, 30))
            known = [
                (n, gap) for n, gap in zip(one.duels, one.gaps, strict=True) if gap is not None and gap > 0
            ]
            lower.plot(
                [n for n, _ in known], [gap for _, gap in known], color=styles.colour(one.cell.variant)
            )
            lower.set(yscale="log", xlabel="duels")
            lower.xaxis.set_major_locator(MaxNLocator(4))
            lower.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            if not known:
                lower.set_yticks([])
        grid[0][0].set_ylabel("edges")
        grid[1][0].set_ylabel("gap left")
        names = {ACCEPTED: "accepted", REJECTED: "rejected", UNDECIDED: "undecided"}
        legend_below(figure, [Patch(facecolor=colour, edgecolor=INK, label=n) for colour, n in names.items()])
        return figure
