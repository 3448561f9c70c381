"""How runs spread: duels and time by algorithm, as box plots; and how often an algorithm is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from duelmatch.drawing import GREY, INK
from duelmatch.experiments.cell import Variant
from duelmatch.experiments.evaluation import CellSummary, ErrorRate
from duelmatch.experiments.figures.style import (
    Styles,
    legend_below,
    look,
    number,
    panels,
    plain,
    variant_handles,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _panel(summary: CellSummary) -> str:
    return f"{summary.cell.instance.label}, delta {summary.cell.delta:g}"


def box_panels(summaries: list[CellSummary]) -> list[str]:
    """Return the problems and deltas that there are boxes for."""
    return list(dict.fromkeys(_panel(s) for s in summaries if len(s.duels)))


def duels_by_algorithm(summaries: list[CellSummary], styles: Styles, shown: Sequence[str]) -> Figure:
    """Draw the spread of the number of duels, a panel for each problem and delta that is shown."""
    from matplotlib.lines import Line2D

    limited = False
    with look() as figure_class:
        rows = max(sum(_panel(s) == panel for s in summaries) for panel in shown)
        figure, axes = panels(figure_class, len(shown), (4.6, 1.3 + 0.42 * rows))
        for ax, panel in zip(axes, shown, strict=True):
            own = [s for s in summaries if _panel(s) == panel and len(s.duels)]
            _boxes(ax, [s.duels for s in own], [s.cell.variant for s in own], styles)
            for limit in sorted({value for s in own if (value := s.cell.limit)}):
                ax.axvline(limit, color="black", linestyle="--", linewidth=1.2)
                limited = True
            ax.set_title(plain(panel, 40))
            ax.set_xlabel("duels")
        if limited:
            legend_below(figure, [Line2D([], [], color="black", linestyle="--", label="information limit")])
        return figure


def time_per_duel(summaries: list[CellSummary], styles: Styles) -> Figure:
    """Draw the time per duel by algorithm, over all problems and deltas."""
    variants = {s.cell.variant.label: s.cell.variant for s in summaries}
    times = {
        label: np.concatenate(
            [1e6 * s.seconds / np.maximum(s.duels, 1) for s in summaries if s.cell.variant.label == label]
        )
        for label in variants
    }
    with look() as figure_class:
        figure, (ax,) = panels(figure_class, 1, (7.0, 1.3 + 0.42 * len(variants)))
        _boxes(ax, list(times.values()), list(variants.values()), styles)
        ax.set_xlabel("microseconds per simulated duel")
        return figure


def errors_against_delta(rates: list[ErrorRate], styles: Styles) -> Figure:
    """Draw error rates with intervals for each delta; what was never wrong hangs from its upper end.

    The axis ends at a tenth of what so many runs can tell, and a delta below that is out of sight.
    """
    from matplotlib.lines import Line2D

    with look() as figure_class:
        figure, (ax,) = panels(figure_class, 1, (7.0, 4.2))
        deltas = sorted({rate.delta for rate in rates}, reverse=True)
        labels = list(dict.fromkeys(rate.variant.label for rate in rates))
        floor = 0.1 / max(rate.runs for rate in rates)
        for rate in rates:
            shift = (labels.index(rate.variant.label) + 1) / (len(labels) + 1) - 0.5
            x = deltas.index(rate.delta) + 0.8 * shift
            colour, (low, high) = styles.colour(rate.variant), rate.interval
            ax.plot([x, x], [max(low, floor), high], color=colour, linewidth=1.4)
            if rate.wrong:
                ax.plot([x], [rate.wrong / rate.runs], styles.marker(rate.variant), color=colour)
            else:
                ax.plot([x], [high], marker=7, color=colour, markersize=6)  # a caret that points down
        ax.hlines(
            deltas,
            [n - 0.42 for n in range(len(deltas))],
            [n + 0.42 for n in range(len(deltas))],
            color="black",
            linestyle="--",
            linewidth=1.2,
        )
        ax.set(yscale="log", ylim=(floor, 1.3), xlim=(-0.6, len(deltas) - 0.4))
        ax.set(xlabel="delta: how often it may be wrong", ylabel="how often it was wrong")
        ax.set_xticks(range(len(deltas)), [number(delta) for delta in deltas])
        ax.grid(axis="x", visible=False)
        handles = [
            *variant_handles([rate.variant for rate in rates], styles),
            Line2D([], [], color="black", linestyle="--", label="allowed"),
            Line2D([], [], color=GREY, marker=7, label="never wrong: 95% upper limit"),
        ]
        legend_below(figure, handles)
        return figure


def _boxes(ax: Axes, values: Sequence[Any], variants: list[Variant], styles: Styles) -> None:
    labels = [plain(variant.label, 24) for variant in variants]
    drawn = ax.boxplot(
        [np.maximum(one, 1e-9) for one in values],
        orientation="horizontal",
        whis=(5, 95),
        showfliers=False,
        patch_artist=True,
        widths=0.55,
        medianprops={"color": INK, "linewidth": 1.0},
    )
    for box, variant in zip(drawn["boxes"], variants, strict=True):
        box.set(facecolor=styles.colour(variant), edgecolor=styles.colour(variant), linewidth=2)
    ax.set_yticklabels(labels)
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.grid(axis="y", visible=False)
