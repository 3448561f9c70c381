"""How often an algorithm is wrong, against how often it may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from duelmatch.drawing import GREY
from duelmatch.experiments.experiment import Variant
from duelmatch.experiments.figures.style import Styles, legend_below, look, number, panels, variant_handles
from duelmatch.experiments.summary import CONFIDENCE, Summary
from duelmatch.truth import clopper_pearson

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ErrorRate:
    """How often a variant was wrong at a delta, over all problems."""

    variant: Variant
    delta: float
    wrong: int
    runs: int

    @property
    def interval(self) -> tuple[float, float]:
        """The exact interval of the probability of a wrong answer."""
        return clopper_pearson(self.wrong, self.runs, CONFIDENCE)


def error_rates(summaries: list[Summary]) -> list[ErrorRate]:
    """Return the error rates by variant and delta. Unfinished runs claim nothing, and are not wrong."""
    counts: dict[tuple[str, float], list[int]] = {}
    variants: dict[str, Variant] = {}
    for summary in summaries:
        cell = summary.cell
        variants[cell.variant.label] = cell.variant
        count = counts.setdefault((cell.variant.label, cell.delta), [0, 0])
        count[0] += summary.wrong
        count[1] += summary.judged
    return [
        ErrorRate(variants[label], delta, wrong, runs)
        for (label, delta), (wrong, runs) in counts.items()
        if runs
    ]


def against_delta(rates: list[ErrorRate], styles: Styles) -> Figure:
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
