"""Duels against the gap, the number of positions, the width, delta, and the paper's bound."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from duelmatch.drawing import GREY
from duelmatch.experiments.figures.style import (
    Styles,
    legend_below,
    look,
    panels,
    plain,
    spread_out,
    variant_handles,
)
from duelmatch.experiments.slopes import AXES, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def chosen_panels(series: list[Series]) -> list[str]:
    """Return the panels to draw unless told otherwise: some of those with many points, in their order."""
    points: dict[str, int] = {}
    for one in series:
        points[one.panel] = max(points.get(one.panel, 0), len(one.x))
    most = max(points.values())
    return spread_out([panel for panel in points if 2 * points[panel] >= most])


def against(axis: str, series: list[Series], styles: Styles, titles: Sequence[str]) -> Figure:
    """Draw the duels against gap, positions, width or delta, on log axes, with the bounds of theory.

    ``titles`` are those of the panels to draw.
    """
    series = [one for one in series if one.panel in titles]
    with look() as figure_class:
        figure, axes = panels(figure_class, len(titles))
        for ax, title in zip(axes, titles, strict=True):
            own = [one for one in series if one.panel == title]
            _draw_panel(ax, own, styles)
            slopes = [f"{one.variant.label} {slope.value:.2f}" for one in own if (slope := one.power())]
            ax.set_title(_wrapped(title, slopes if axis != "delta" else []))
            ax.set_xlabel(AXES[axis].name)
            if axis == "delta":
                ax.invert_xaxis()
            if axis in ("positions", "width"):
                ticks = sorted({x for one in own for x in one.x})
                ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
                ax.minorticks_off()
        for ax in axes[::3]:
            ax.set_ylabel("duels")
        legend_below(figure, _legend(series, styles))
        return figure


def against_bound(series: list[Series], styles: Styles) -> Figure:
    """Draw the mean number of duels against the paper's upper bound, with the fitted slopes."""
    with look() as figure_class:
        figure, axes = panels(figure_class, len(series))
        for ax, one in zip(axes, series, strict=True):
            colour, slope = styles.colour(one.variant), one.power()
            ax.loglog(one.x, one.means, styles.marker(one.variant), color=colour, alpha=0.85)
            if slope:
                x = np.array([min(one.x), max(one.x)])
                centre = np.mean(np.log(one.means)) - slope.value * np.mean(np.log(one.x))
                ax.loglog(x, np.exp(centre + slope.value * np.log(x)), "-", color=colour, linewidth=1.2)
            ax.set_title(f"{plain(one.variant.label)}\nslope {slope}")
            ax.set_xlabel("the paper's upper bound, duels")
        for ax in axes[::3]:
            ax.set_ylabel("duels, mean")
        return figure


def against_certainty(series: list[Series], styles: Styles, titles: Sequence[str]) -> Figure:
    """Draw the mean number of duels against ln(1 / delta), where theory wants straight lines."""
    from matplotlib.lines import Line2D

    series = [one for one in series if one.panel in titles]
    handles = variant_handles([one.variant for one in series], styles)
    with look() as figure_class:
        figure, axes = panels(figure_class, len(titles))
        for ax, title in zip(axes, titles, strict=True):
            for one in (each for each in series if each.panel == title):
                colour, nats = styles.colour(one.variant), [log(1 / delta) for delta in one.x]
                ax.plot(nats, one.means, styles.marker(one.variant), color=colour)
                if slope := one.per_nat():
                    start = np.mean(one.means) - slope.value * np.mean(nats)
                    ends = np.array([min(nats), max(nats)])
                    ax.plot(ends, start + slope.value * ends, "-", color=colour, linewidth=1.2)
            ax.set(title=_wrapped(title, []), xlabel="ln(1 / delta)", ylim=(0, None))
            ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        for ax in axes[::3]:
            ax.set_ylabel("duels, mean")
        if any(one.per_nat() for one in series):
            handles.append(Line2D([], [], color=GREY, label="fitted straight line"))
        legend_below(figure, handles)
        return figure


def _draw_panel(ax: Axes, series: list[Series], styles: Styles) -> None:
    ax.set(xscale="log", yscale="log")
    for one in series:
        colour, marker = styles.colour(one.variant), styles.marker(one.variant)
        if not one.scattered:
            low, high = zip(*(summary.quantiles(0.05, 0.95) for summary in one.summaries), strict=True)
            ax.fill_between(one.x, low, high, color=colour, alpha=0.15, linewidth=0)
            ax.plot(one.x, one.means, "-", color=colour, linewidth=1.5)
        for x, summary in zip(one.x, one.summaries, strict=True):
            face = "white" if summary.unfinished else colour
            ax.plot([x], [summary.mean], marker, color=colour, markerfacecolor=face)
        uppers = _known([(x, s.cell.upper_bound) for x, s in zip(one.x, one.summaries, strict=True)])
        if uppers:
            ax.plot(*uppers, "." if one.scattered else ":", color=colour, linewidth=1.4)
    first = next((one for one in series if one.summaries[0].cell.limit), None)
    if first:
        limits = _known([(x, s.cell.limit) for x, s in zip(first.x, first.summaries, strict=True)])
        if limits:
            ax.plot(*limits, "_" if first.scattered else "--", color="black", linewidth=1.2)


def _known(points: list[tuple[float, float | None]]) -> tuple[list[float], list[float]] | None:
    known = [(x, y) for x, y in points if y is not None]
    return ([x for x, _ in known], [y for _, y in known]) if known else None


def _wrapped(title: str, slopes: list[str]) -> str:
    return "\n".join([plain(title), *([plain(f"slopes: {', '.join(slopes)}", 56, 2)] if slopes else [])])


def _legend(series: list[Series], styles: Styles) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    cells = [summary.cell for one in series for summary in one.summaries]
    lines = any(not one.scattered for one in series)
    handles = variant_handles([one.variant for one in series], styles)
    if lines:
        handles.append(Patch(color=GREY, alpha=0.3, linewidth=0, label="5% to 95% of the runs"))
    if any(cell.upper_bound for cell in cells):
        style: dict[str, Any] = {"linestyle": ":"} if lines else {"linestyle": "", "marker": "."}
        handles.append(Line2D([], [], color=GREY, label="the paper's upper bound", **style))
    if any(cell.limit for cell in cells):
        style = {"linestyle": "--"} if lines else {"linestyle": "", "marker": "_"}
        handles.append(Line2D([], [], color="black", label="information limit", **style))
    if any(summary.unfinished for one in series for summary in one.summaries):
        hollow: dict[str, Any] = {"marker": "o", "markerfacecolor": "white", "linestyle": ""}
        handles.append(Line2D([], [], color=GREY, label="some runs unfinished", **hollow))
    return handles
