"""How often an algorithm is wrong, against how often it may be."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from duelmatch.drawing import GREY
from duelmatch.experiments.experiment import Variant
from duelmatch.experiments.figures.style import Styles, legend_below, look, panels, plain
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
    """Draw error rates with intervals against delta; what was never wrong hangs from its upper end."""
    from matplotlib.lines import Line2D

    with look() as figure_class:
        figure, (ax,) = panels(figure_class, 1, (7.0, 4.2))
        deltas = sorted({rate.delta for rate in rates})
        positive = [rate.wrong / rate.runs for rate in rates if rate.wrong]
        floor = min([*deltas, *positive, *(rate.interval[1] for rate in rates)]) / 3
        labels = list(dict.fromkeys(rate.variant.label for rate in rates))
        closest = min((b / a for a, b in pairwise(deltas)), default=4.0)
        for rate in rates:
            shift = 0.5 - (labels.index(rate.variant.label) + 1) / (len(labels) + 1)
            x = rate.delta * closest ** (0.7 * shift)
            colour, (low, high) = styles.colour(rate.variant), rate.interval
            ax.plot([x, x], [max(low, floor), high], color=colour, linewidth=1.4)
            if rate.wrong:
                ax.plot([x], [rate.wrong / rate.runs], styles.marker(rate.variant), color=colour)
            else:
                ax.plot([x], [high], marker=7, color=colour, markersize=6)  # a caret that points down
        ends = [deltas[0] / closest**0.5, deltas[-1] * closest**0.5]
        ax.plot(ends, ends, "--", color="black", linewidth=1.2)
        ax.set(xscale="log", yscale="log", ylim=(floor, 1.0), xlim=(ends[1], ends[0]))
        ax.set(xlabel="delta: how often it may be wrong", ylabel="how often it was wrong")
        ax.set_xticks(deltas, [f"{delta:g}" for delta in deltas])
        ax.minorticks_off()
        variants = {rate.variant.label: rate.variant for rate in rates}
        handles = [
            Line2D([], [], color=styles.colour(variant), marker=styles.marker(variant), label=plain(label))
            for label, variant in variants.items()
        ]
        handles += [
            Line2D([], [], color="black", linestyle="--", label="allowed"),
            Line2D([], [], color=GREY, marker=7, label="never wrong: 95% upper limit"),
        ]
        legend_below(figure, handles)
        return figure
