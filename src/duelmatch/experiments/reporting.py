"""The report of an experiment: tables and figures into a folder, and one page that holds them all.

The figures are the same bytes whenever the results are the same runs, in whatever order or session they were
made; only ``time-per-duel`` shows measured time, and so differs from machine to machine and run to run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from duelmatch.drawing import check_format, draw
from duelmatch.errors import DuelmatchError, FileError, listed
from duelmatch.experiments.cell import Instance
from duelmatch.experiments.evaluation import CellSummary, cell_summaries, error_rates, status
from duelmatch.experiments.experiment import Experiment
from duelmatch.experiments.figures import problems, progress, scaling, spread
from duelmatch.experiments.figures.style import MOST_PANELS, Styles, save, spread_out
from duelmatch.experiments.folder import Folder
from duelmatch.experiments.page import Illustration, cell_table, error_table, page, slope_table
from duelmatch.experiments.slopes import AXES, Series, series_along
from duelmatch.files.documents import explaining, naming
from duelmatch.files.tables import dump_table
from duelmatch.files.writing import write_text
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
    target = folder.path / "report" if to is None else Path(to)
    found, drawing = _results_of(folder)
    with naming(target), explaining("made", "folder"):
        (target / "figures").mkdir(parents=True, exist_ok=True)
    tables = [
        cell_table(found),
        error_table(drawing.summaries),
        slope_table(drawing.along),
    ]
    for table in tables:
        with naming(target / f"{table.name}.csv") as path:
            write_text(path, dump_table(table.columns, table.rows), TEXT_BYTES)
    illustrations = []
    for sketch in drawing.sketches():
        files = [target / "figures" / f"{sketch.name}{suffix}" for suffix in (".svg", ".png")]
        sketch.save(sketch.shown, *files)
        illustrations.append(Illustration(sketch.name, sketch.title, sketch.caption, files[0].read_bytes()))
    html = page(status(folder.path), drawing.experiment, tables, illustrations)
    with naming(target / "report.html") as path:
        write_text(path, html, TEXT_BYTES)
    return path


def figure(
    out: str | os.PathLike[str], name: str, to: str | os.PathLike[str], panels: Sequence[str] = ()
) -> Path:
    """Draw one figure of the report of the experiment in a folder, and return its path.

    The ending of ``to`` picks the format: .svg, .pdf, .pgf (for LaTeX, in the font of the document) or .png.
    ``name`` is the figure's in the report, such as "duels-against-gap". Of a figure with several panels,
    those are drawn whose title has one of the ``panels`` in it.

    :raises FileError: for another ending, if there is no experiment or no result yet, or not that figure.
    """
    path, folder = Path(to), Folder(out)
    check_format(path)
    drawing = _results_of(folder)[1]
    sketch = next((each for each in drawing.sketches() if each.name == name), None)
    if sketch is None:
        names = listed([each.name for each in drawing.sketches()], limit=30)
        raise FileError(
            f"{folder.path}: There is no figure '{name}' of these results; the figures are {names}."
        )
    sketch.save(sketch.chosen(panels), path)
    return path


def _results_of(folder: Folder) -> tuple[list[CellSummary], _Drawing]:
    """Return what is known of every cell, and the drawings of those with results."""
    experiment = folder.experiment()
    found = cell_summaries(folder, experiment)
    if not any(len(summary.duels) for summary in found):
        raise FileError(f"{folder.path}: There are no results yet.")
    return found, _Drawing(experiment, [summary for summary in found if len(summary.duels)])


@dataclass(frozen=True)
class Sketch:
    """A figure that can be drawn.

    ``save`` takes the titles of the panels to draw, and the files to write it to. ``panels`` are the titles
    to choose from, where there is a choice, and ``shown`` those in a report, if not all.
    """

    name: str
    title: str
    caption: str
    save: Callable[..., None]
    panels: Sequence[str] = ()
    shown: Sequence[str] = ()

    def chosen(self, texts: Sequence[str]) -> list[str]:
        """Return the titles that have one of some texts in them; without any text, those of a report.

        :raises FileError: if there is none.
        """
        if not texts:
            return list(self.shown)
        found = [title for title in self.panels if any(text.lower() in title.lower() for text in texts)]
        if not found:
            there = (
                f"they are {listed(self.panels, limit=20)}" if self.panels else "it has no choice of panels"
            )
            raise FileError(f"No panel of '{self.name}' has {listed(texts)} in its title; {there}.")
        return found


def _sketch(
    name: str,
    title: str,
    caption: str,
    draw_panels: Callable[[Sequence[str]], Figure],
    panels: Sequence[str] = (),
    shown: Sequence[str] | None = None,
) -> Sketch:
    shown = panels if shown is None else shown
    if len(shown) < len(panels):
        caption += f" Shown are {len(shown)} of {len(panels)} panels."
    return Sketch(
        name, title, caption, lambda titles, *files: save(draw_panels(titles), *files), panels, shown
    )


@dataclass
class _Drawing:
    """The figures that the results give."""

    experiment: Experiment
    summaries: list[CellSummary]

    def __post_init__(self) -> None:
        self.styles = Styles(self.experiment.variants)
        self.along: dict[str, list[Series]] = {
            name: series_along(self.summaries, axis) for name, axis in AXES.items()
        }

    def sketches(self) -> Iterator[Sketch]:
        """Yield the figures in the order of the page; the last ones take some time to prepare."""
        yield from self._scaling()
        yield from self._bound()
        yield from self._errors()
        yield from self._spread()
        yield from self._progress()
        yield from self._problems()

    def _scaling(self) -> Iterator[Sketch]:
        titles = {
            "gap": "Duels against the gap",
            "positions": "Duels against the number of positions",
            "width": "Duels against the width of the graph",
            "delta": "Duels against delta",
        }
        for axis, title in titles.items():
            series = self.along[axis]
            if series:
                caption = "Means, on log axes."
                if not all(one.scattered for one in series):
                    caption += " The shade is where 90% of the runs are."
                draw_panels = partial(scaling.against, axis, series, self.styles)
                yield _sketch(f"duels-against-{axis}", title, caption, draw_panels, *_panels(series))
        series = self.along["delta"]
        if series:
            caption = "Theory wants straight lines: a fixed number of duels for each nat of certainty."
            draw_panels = partial(scaling.against_certainty, series, self.styles)
            title = "Duels against certainty"
            yield _sketch("duels-against-certainty", title, caption, draw_panels, *_panels(series))

    def _bound(self) -> Iterator[Sketch]:
        series = {one.variant.label: one for one in self.along["bound"] if one.power()}
        if series:
            caption = (
                "Every cell is a point. A slope of 1 means that the duels grow as the theorem says, across "
                "problems and deltas; how far they stay below it is the theorem's constant."
            )
            labels = list(series)

            def draw_panels(titles: Sequence[str]) -> Figure:
                return scaling.against_bound([series[title] for title in titles], self.styles)

            title = "Duels against the paper's bound"
            yield _sketch("duels-against-bound", title, caption, draw_panels, labels, labels[:MOST_PANELS])

    def _errors(self) -> Iterator[Sketch]:
        rates = error_rates(self.summaries)
        if rates:
            caption = (
                "Over all problems, with exact 95% intervals. Below the dashed lines is as promised; where "
                "none is in sight, the runs are too few to tell."
            )
            yield _sketch(
                "error-rate",
                "Error rate against delta",
                caption,
                lambda _: spread.errors_against_delta(rates, self.styles),
            )

    def _spread(self) -> Iterator[Sketch]:
        titles = spread.box_panels(self.summaries)
        caption = "Boxes hold half of the runs, whiskers 90%; the line is the median."
        boxes = partial(spread.duels_by_algorithm, self.summaries, self.styles)
        yield _sketch("duels-by-algorithm", "Duels by algorithm", caption, boxes, titles, spread_out(titles))
        note = "Measured time, of the machine that made the runs: the one figure that is not reproducible."
        yield _sketch(
            "time-per-duel",
            "Time per duel",
            note,
            lambda _: spread.time_per_duel(self.summaries, self.styles),
        )

    def _progress(self) -> Iterator[Sketch]:
        traces = progress.traces(self.summaries)
        if traces:
            cell = traces[0].cell
            caption = (
                f"The first run of each on {cell.instance.label}, delta {cell.delta:g}. Borda algorithms "
                "decide all edges at once, at the end."
            )
            yield _sketch(
                "single-run",
                "A single run over time",
                caption,
                lambda _: progress.over_time(traces, self.styles),
            )

    def _problems(self) -> Iterator[Sketch]:
        for number, instance in enumerate(spread_out(self.experiment.instances, MOST_PROBLEMS), start=1):
            yield self._preferences(f"preferences-{number}", instance)
            yield self._winners(f"winners-{number}", instance)

    def _preferences(self, name: str, instance: Instance) -> Sketch:
        title, caption = f"Preferences of {instance.label}", "How often the row beats the column."
        return _sketch(name, title, caption, lambda _: problems.preference_matrix(instance.preferences))

    def _winners(self, name: str, instance: Instance) -> Sketch:
        preferences = instance.preferences
        chosen: dict[str, Matching] = {}
        finders: dict[str, Callable[[], Matching | None]] = {
            "Borda winner": preferences.borda_winner,
            "Condorcet winner": preferences.condorcet_winner,
        }
        for label, find in finders.items():
            with suppress(DuelmatchError):
                if (winner := find()) is not None:
                    chosen[label] = winner
        caption = "The best on average (Borda)"
        caption += (
            ", and the one that beats every other (Condorcet)."
            if "Condorcet winner" in chosen
            else "; no matching beats every other, so there is no Condorcet winner."
        )

        def save_to(_: Sequence[str], *files: Path) -> None:
            for file in files:
                draw(preferences.problem, chosen, path=file)

        return Sketch(name, f"Winners of {instance.label}", caption, save_to)


def _panels(series: list[Series]) -> tuple[list[str], list[str]]:
    """Return the titles of all panels, and of those in a report."""
    return list(dict.fromkeys(one.panel for one in series)), scaling.chosen_panels(series)
