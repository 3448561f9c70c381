"""The report of an experiment: tables and figures into a folder, and one page that holds them all.

The figures are the same bytes whenever the results are the same runs, in whatever order or session they were
made; only ``time-per-duel`` shows measured time, and so differs from machine to machine and run to run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from duelmatch.drawing import draw
from duelmatch.errors import DuelmatchError, FileError, TooLargeError
from duelmatch.experiments.cell import Instance
from duelmatch.experiments.evaluation import CellSummary, cell_summaries, error_rates, status
from duelmatch.experiments.experiment import Experiment
from duelmatch.experiments.figures import problems, progress, scaling, spread
from duelmatch.experiments.figures.style import MOST_PANELS, Styles, save, spread_out
from duelmatch.experiments.folder import Folder
from duelmatch.experiments.page import Illustration, cell_table, error_table, page, slope_table
from duelmatch.experiments.slopes import AXES, Series, series_along
from duelmatch.files.tables import dump_table
from duelmatch.files.text import explaining, naming, write_text
from duelmatch.problem import Matching

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PROBLEMS = 3
"""Drawn in a report."""

TEXT_BYTES = 500_000_000


def report(out: str | os.PathLike[str], to: str | os.PathLike[str] | None = None) -> Path:
    """Write the report of the experiment in a folder, finished or not, and return the path of its page.

    It goes to ``report`` in that folder, unless told otherwise: ``report.html``, which needs nothing else,
    ``figures`` as SVG and PNG, and the tables as CSV.

    :raises FileError: if there is no experiment, or no result yet.
    """
    folder = Folder(out)
    experiment = folder.experiment()
    found = cell_summaries(folder, experiment)
    if not any(len(summary.duels) for summary in found):
        raise FileError(f"{folder.path}: There are no results yet.")
    target = folder.path / "report" if to is None else Path(to)
    with naming(target), explaining("made", "folder"):
        (target / "figures").mkdir(parents=True, exist_ok=True)
    drawing = _Drawing(target / "figures", experiment, [summary for summary in found if len(summary.duels)])
    tables = [
        cell_table(found),
        error_table(drawing.summaries),
        slope_table(drawing.along),
    ]
    for table in tables:
        with naming(target / f"{table.name}.csv") as path:
            write_text(path, dump_table(table.columns, table.rows), TEXT_BYTES)
    html = page(status(folder.path), experiment, tables, drawing.all())
    with naming(target / "report.html") as path:
        write_text(path, html, TEXT_BYTES)
    return path


@dataclass
class _Drawing:
    """Draws the figures that the results give, each into its files."""

    folder: Path
    experiment: Experiment
    summaries: list[CellSummary]

    def __post_init__(self) -> None:
        self.styles = Styles(self.experiment.variants)
        self.along: dict[str, list[Series]] = {
            name: series_along(self.summaries, axis) for name, axis in AXES.items()
        }

    def all(self) -> list[Illustration]:
        """Return the illustrations in the order of the page."""
        return [
            *self._scaling(),
            *self._bound(),
            *self._errors(),
            *self._spread(),
            *self._progress(),
            *self._problems(),
        ]

    def _drawn(self, name: str, title: str, caption: str, figure: Figure) -> Illustration:
        save(figure, self.folder, name)
        return Illustration(name, title, caption, (self.folder / f"{name}.svg").read_bytes())

    def _scaling(self) -> list[Illustration]:
        titles = {
            "gap": "Duels against the gap",
            "positions": "Duels against the number of positions",
            "width": "Duels against the width of the graph",
            "delta": "Duels against delta",
        }
        found = []
        for axis, title in titles.items():
            series = self.along[axis]
            if not series:
                continue
            caption = "Means, on log axes."
            if not all(one.scattered for one in series):
                caption += " The shade is where 90% of the runs are."
            caption += self._left_out(series)
            figure = scaling.against(axis, series, self.styles)
            found.append(self._drawn(f"duels-against-{axis}", title, caption, figure))
        if self.along["delta"]:
            caption = "Theory wants straight lines: a fixed number of duels for each nat of certainty."
            caption += self._left_out(self.along["delta"])
            figure = scaling.against_certainty(self.along["delta"], self.styles)
            found.append(self._drawn("duels-against-certainty", "Duels against certainty", caption, figure))
        return found

    def _left_out(self, series: list[Series]) -> str:
        panels = len({one.panel for one in series})
        return f" Shown are {MOST_PANELS} of {panels} panels." if panels > MOST_PANELS else ""

    def _bound(self) -> list[Illustration]:
        series = [one for one in self.along["bound"] if one.power()]
        if not series:
            return []
        caption = (
            "Every cell is a point. A slope of 1 means that the duels grow as the theorem says, across "
            "problems and deltas; how far they stay below it is the theorem's constant."
        )
        figure = scaling.against_bound(series, self.styles)
        return [self._drawn("duels-against-bound", "Duels against the paper's bound", caption, figure)]

    def _errors(self) -> list[Illustration]:
        rates = error_rates(self.summaries)
        if not rates:
            return []
        caption = (
            "Over all problems, with exact 95% intervals. Below the dashed lines is as promised; where none "
            "is in sight, the runs are too few to tell."
        )
        figure = spread.errors_against_delta(rates, self.styles)
        return [self._drawn("error-rate", "Error rate against delta", caption, figure)]

    def _spread(self) -> list[Illustration]:
        panels = len(spread.box_panels(self.summaries))
        caption = "Boxes hold half of the runs, whiskers 90%; the line is the median."
        if panels > MOST_PANELS:
            caption += f" Shown are {MOST_PANELS} of {panels} combinations of problem and delta."
        boxes = spread.duels_by_algorithm(self.summaries, self.styles)
        times = spread.time_per_duel(self.summaries, self.styles)
        note = "Measured time, of the machine that made the runs: the one figure that is not reproducible."
        return [
            self._drawn("duels-by-algorithm", "Duels by algorithm", caption, boxes),
            self._drawn("time-per-duel", "Time per duel", note, times),
        ]

    def _progress(self) -> list[Illustration]:
        traces = progress.traces(self.summaries)
        if not traces:
            return []
        cell = traces[0].cell
        caption = (
            f"The first run of each on {cell.instance.label}, delta {cell.delta:g}. Borda algorithms decide "
            "all edges at once, at the end."
        )
        figure = progress.over_time(traces, self.styles)
        return [self._drawn("single-run", "A single run over time", caption, figure)]

    def _problems(self) -> list[Illustration]:
        found = []
        for number, instance in enumerate(spread_out(self.experiment.instances, MOST_PROBLEMS), start=1):
            matrix = problems.preference_matrix(instance.preferences)
            caption = "How often the row beats the column."
            found.append(
                self._drawn(f"preferences-{number}", f"Preferences of {instance.label}", caption, matrix)
            )
            found.append(self._winners(f"winners-{number}", instance))
        return found

    def _winners(self, name: str, instance: Instance) -> Illustration:
        preferences = instance.preferences
        chosen: dict[str, Matching] = {}
        finders: dict[str, Callable[[], Matching | None]] = {
            "Borda winner": preferences.borda_winner,
            "Condorcet winner": preferences.condorcet_winner,
        }
        for label, find in finders.items():
            try:
                winner = find()
            except (TooLargeError, DuelmatchError):
                continue
            if winner is not None:
                chosen[label] = winner
        for suffix in (".png", ".svg"):
            draw(preferences.problem, chosen, path=self.folder / f"{name}{suffix}")
        caption = "The best on average (Borda)"
        caption += (
            ", and the one that beats every other (Condorcet)."
            if "Condorcet winner" in chosen
            else "; no matching beats every other, so there is no Condorcet winner."
        )
        data = (self.folder / f"{name}.svg").read_bytes()
        return Illustration(name, f"Winners of {instance.label}", caption, data)
