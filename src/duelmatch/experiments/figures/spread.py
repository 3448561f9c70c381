"""How the runs of a cell spread: duels by algorithm, and the time a duel takes, as box plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from duelmatch.drawing import INK
from duelmatch.experiments.bounds import Bounds
from duelmatch.experiments.experiment import Variant
from duelmatch.experiments.figures.style import Styles, legend_below, look, panels, plain, spread_out
from duelmatch.experiments.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def box_panels(summaries: list[Summary]) -> list[tuple[str, float]]:
    """Return the problems and deltas that there are boxes for."""
    return list(dict.fromkeys((s.cell.instance.label, s.cell.delta) for s in summaries if len(s.duels)))


def duels_by_algorithm(summaries: list[Summary], bounds: Bounds, styles: Styles) -> Figure:
    """Draw the spread of the number of duels, a panel for each problem and delta."""
    from matplotlib.lines import Line2D

    shown = spread_out(box_panels(summaries))
    limited = False
    with look() as figure_class:
        rows = max(sum((s.cell.instance.label, s.cell.delta) == panel for s in summaries) for panel in shown)
        figure, axes = panels(figure_class, len(shown), (4.6, 1.3 + 0.42 * rows))
        for ax, panel in zip(axes, shown, strict=True):
            own = [s for s in summaries if (s.cell.instance.label, s.cell.delta) == panel and len(s.duels)]
            _boxes(ax, [s.duels for s in own], [s.cell.variant for s in own], styles)
            for limit in sorted({value for s in own if (value := bounds.limit(s.cell))}):
                ax.axvline(limit, color="black", linestyle="--", linewidth=1.2)
                limited = True
            ax.set_title(plain(f"{panel[0]}, delta {panel[1]:g}", 40))
            ax.set_xlabel("duels")
        if limited:
            legend_below(figure, [Line2D([], [], color="black", linestyle="--", label="information limit")])
        return figure


def time_per_duel(summaries: list[Summary], styles: Styles) -> Figure:
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
