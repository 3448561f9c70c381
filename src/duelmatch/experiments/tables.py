"""The tables of a report: every cell, the error rates, and the fitted slopes."""

from __future__ import annotations

from duelmatch.experiments.bounds import Bounds
from duelmatch.experiments.figures.errors import error_rates
from duelmatch.experiments.page import Table
from duelmatch.experiments.slopes import Series
from duelmatch.experiments.summary import Summary


def cell_table(summaries: list[Summary], bounds: Bounds) -> Table:
    """Return a row for every cell."""
    columns = (
        "problem",
        "algorithm",
        "delta",
        "runs",
        "duels, median",
        "duels, mean",
        "duels, 95% need at most",
        "information limit",
        "paper's bound",
        "wrong",
        "refuted",
        "unfinished",
        "failed",
    )
    rows = []
    for summary in summaries:
        cell = summary.cell
        numbers = ("", "", "")
        if len(summary.duels):
            (high,) = summary.quantiles(0.95)
            numbers = (f"{summary.median:.0f}", f"{summary.mean:.1f}", f"{high:.0f}")
        rows.append(
            (
                cell.instance.label,
                cell.variant.label,
                f"{cell.delta:g}",
                str(summary.runs),
                *numbers,
                _duels(bounds.limit(cell)),
                _duels(bounds.upper(cell)),
                str(summary.wrong),
                str(summary.refuted),
                str(summary.unfinished),
                str(summary.failed),
            )
        )
    note = (
        "How many votes will it take? Half of the runs ended by the median, and all but one in twenty by the "
        "number next to the mean. Refuted: answers that are not true, but were promised with a larger delta. "
        "Unfinished: runs that ended with their budget, and so would have taken more duels than are counted."
    )
    return Table("cells", "Every cell", note, columns, rows)


def error_table(summaries: list[Summary]) -> Table:
    """Return a row for every variant and delta."""
    rows = []
    for rate in error_rates(summaries):
        low, high = rate.interval
        verdict = "too few runs to tell" if high > rate.delta else "as promised"
        if low > rate.delta:
            verdict = "MORE than promised"
        rows.append(
            (
                rate.variant.label,
                f"{rate.delta:g}",
                str(rate.runs),
                str(rate.wrong),
                f"{rate.wrong / rate.runs:.3g}",
                f"{low:.2g} to {high:.2g}",
                verdict,
            )
        )
    note = "Over all problems, with exact 95% intervals. Unfinished runs claim nothing and are left out."
    columns = ("algorithm", "delta", "answers", "wrong", "error rate", "95% interval", "verdict")
    return Table("errors", "Error rates", note, columns, rows)


def slope_table(along: dict[str, list[Series]]) -> Table:
    """Return a row for every series that a slope can be fitted to."""
    meaning = {
        "gap": "duels ~ gap^slope",
        "positions": "duels ~ positions^slope",
        "bound": "duels ~ bound^slope",
        "delta": "duels per nat of ln(1/delta)",
    }
    rows = []
    for axis, series in along.items():
        for one in series:
            slope = one.per_nat() if axis == "delta" else one.power()
            if slope is not None:
                digits = ".1f" if axis == "delta" else ".3f"
                rows.append(
                    (
                        meaning[axis],
                        one.panel,
                        one.variant.label,
                        f"{slope.value:{digits}}",
                        f"{slope.low:{digits}} to {slope.high:{digits}}",
                        str(slope.points),
                    )
                )
    note = "Least squares on the means, with 95% intervals from the scatter of the points."
    columns = ("fit", "cells", "algorithm", "slope", "95% interval", "points")
    return Table("slopes", "Fitted slopes", note, columns, rows)


def _duels(number: float | None) -> str:
    return "" if number is None else f"{number:.0f}"
