"""The tables of a report, and its page: one HTML file that needs no other, no script and no network."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from duelmatch.experiments.evaluation import CellSummary, ExperimentStatus, error_rates
from duelmatch.experiments.experiment import Experiment
from duelmatch.experiments.slopes import Series
from duelmatch.phrases import counted

MOST_ROWS = 200
"""Of a table on the page; the CSV has all."""

_CSS = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 70rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin-bottom: 0.3rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 0.5rem; }
figure { margin: 0; }
figure img { max-width: 100%; height: auto; }
figcaption, .note { color: #555; font-size: 0.9rem; max-width: 46rem; }
nav a { margin-right: 1em; white-space: nowrap; color: #005a8c; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums;
  margin-top: 0.7rem; }
th, td { padding: 0.25rem 0.7rem; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #222; }
td.number, th.number { text-align: right; white-space: nowrap; }
@media print { nav { display: none; } figure { break-inside: avoid; } }
"""


@dataclass(frozen=True)
class Table:
    """Rows of text under named columns; ``name`` is that of its CSV."""

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Illustration:
    """A figure: its name, title and caption, and its SVG."""

    name: str
    title: str
    caption: str
    svg: bytes


def cell_table(summaries: list[CellSummary]) -> Table:
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
                _duels(cell.limit),
                _duels(cell.upper_bound),
                str(summary.wrong),
                str(summary.refuted),
                str(summary.unfinished),
                str(summary.failed),
            )
        )
    note = (
        "How many votes will it take? Half of the runs ended by the median, and all but one in twenty by the "
        "number next to the mean. Refuted: answers that are not so, but were promised with a larger delta. "
        "Unfinished: runs that ended with their budget, and so would have taken more duels than are counted."
    )
    return Table("cells", "Every cell", note, columns, rows)


def error_table(summaries: list[CellSummary]) -> Table:
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
        "width": "duels ~ width^slope",
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


def page(
    status: ExperimentStatus, experiment: Experiment, tables: list[Table], illustrations: list[Illustration]
) -> str:
    """Return the page."""
    tables = [table for table in tables if table.rows]
    links = [(one.name, one.title) for one in illustrations] + [(table.name, table.title) for table in tables]
    title = escape(experiment.title)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>{title}</title><style>{_CSS}</style></head><body>",
        f"<h1>{title}</h1>",
        f"<p>{_summary(status, experiment)}</p>",
        "<nav>" + " ".join(f'<a href="#{name}">{escape(text)}</a>' for name, text in links) + "</nav>",
        *map(_figure, illustrations),
        *map(_table, tables),
        _made_by(status),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _summary(status: ExperimentStatus, experiment: Experiment) -> str:
    grid = (
        f"{counted(len(experiment.instances), 'problem')}, "
        f"{counted(len(experiment.variants), 'algorithm')}, "
        f"{counted(len(experiment.deltas), 'delta')}, {counted(experiment.repetitions, 'repetition')}"
    )
    done = (
        f"All {status.runs:,} runs are done."
        if status.finished
        else f"<strong>Not finished: {status.done:,} of {status.runs:,} runs are done.</strong> Where a cell "
        "is incomplete, runs that take long are missing more often than others."
    )
    failed = f" {counted(status.failed, 'run')} ended with an error." if status.failed else ""
    budget = "" if experiment.max_duels is None else f" A run has a budget of {experiment.max_duels:,} duels."
    return f"{grid}; seed {experiment.seed}. {done}{failed}{budget}"


def _figure(one: Illustration) -> str:
    data = base64.b64encode(one.svg).decode()
    return (
        f'<h2 id="{one.name}">{escape(one.title)}</h2><figure>'
        f'<img alt="{escape(one.title)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{escape(one.caption)}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    numeric = [all(_is_number(row[place]) for row in table.rows) for place in range(len(table.columns))]
    kinds = [' class="number"' if is_number else "" for is_number in numeric]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, table.columns, strict=True))
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{kind}>{_shown(cell, kind)}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for row in table.rows[:MOST_ROWS]
    )
    more = len(table.rows) - MOST_ROWS
    rest = f'<p class="note">{more:,} more rows are in {table.name}.csv.</p>' if more > 0 else ""
    return (
        f'<h2 id="{table.name}">{escape(table.title)}</h2><p class="note">{escape(table.note)}</p>'
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
        f"{rest}"
    )


def _is_number(text: str) -> bool:
    try:
        float(text or 0)
    except ValueError:
        return False
    return True


def _shown(cell: str, kind: str) -> str:
    if kind and cell.isdecimal():
        return f"{int(cell):,}"
    return escape(cell)


def _made_by(status: ExperimentStatus) -> str:
    rows = []
    for session in status.sessions:
        versions = ", ".join(f"{name} {version}" for name, version in session["versions"].items())
        machine = session["machine"]
        where = counted(session["jobs"], "job") if session["scheduler"] is None else "a Dask cluster"
        rows.append(
            (
                str(session["session"]),
                session["started"],
                where,
                f"{machine['system']}, {machine['processors']} processors",
                versions,
            )
        )
    note = "When, where and with what the runs were made."
    return _table(
        Table("sessions", "Sessions", note, ("session", "started", "by", "machine", "versions"), rows)
    )
