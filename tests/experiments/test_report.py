"""A report: every figure, honest tables, and a page that a browser shows without a complaint."""

from __future__ import annotations

import csv
import re
import shutil
import struct
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import duelmatch as dm
from duelmatch import experiments
from duelmatch.experiments.evaluation import _NOT_DONE, _of_cell, cell_summaries, error_rates
from duelmatch.experiments.folder import Folder
from duelmatch.experiments.slopes import fit
from experiments.small import small_file

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FIGURES = {
    "duels-against-bound",
    "duels-against-certainty",
    "duels-against-delta",
    "duels-against-gap",
    "duels-by-algorithm",
    "error-rate",
    "preferences-1",
    "preferences-2",
    "single-run",
    "time-per-duel",
    "winners-1",
    "winners-2",
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small experiment with its report, under a title that HTML would take amiss."""
    folder = tmp_path_factory.mktemp("report")
    file = small_file(folder, repetitions=5, title='"Ann & Bob <script>alert(1)</script>"')
    experiments.run(file, folder / "out", jobs=1)
    experiments.report(folder / "out")
    return folder / "out"


def test_every_figure_is_there_as_svg_and_png(done: Path) -> None:
    figures = done / "report" / "figures"
    assert {path.name for path in figures.iterdir()} == {
        f"{name}{suffix}" for name in FIGURES for suffix in (".svg", ".png")
    }
    for path in figures.glob("*.png"):
        width, height = struct.unpack(">II", path.read_bytes()[16:24])
        assert width > 400, path
        assert height > 200, path
    for path in figures.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "<dc:date>" not in text
        assert "mathdefault" not in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL), path


def test_the_axes_are_labelled(done: Path) -> None:
    """Text is drawn as shapes, with the words in comments; the axis of delta runs backwards."""
    labels = {"duels-against-delta": ("0.05", "0.1", "delta"), "duels-against-gap": ("0.7", "0.4", "duels")}
    for figure, words in labels.items():
        text = (done / "report" / "figures" / f"{figure}.svg").read_text(encoding="utf-8")
        for word in words:
            assert f"<!-- {word} -->" in text, (figure, word)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_table_of_cells_says_what_the_results_say(done: Path) -> None:
    table = rows_of(done / "report" / "cells.csv")
    experiment = Folder(done).experiment()
    results = experiments.results(done).to_pylist()
    assert len(table) == len(experiment.cells)
    for row, cell in zip(table, experiment.cells, strict=True):
        duels = [result["duels"] for result in results if result["cell"] == cell.key]
        assert float(row["duels, mean"]) == pytest.approx(sum(duels) / 5, abs=0.06)
        assert row["runs"] == "5"
        if cell.variant.algorithm == "car-cond":
            limit = dm.theory.lower_bound(cell.instance.preferences, "condorcet", cell.delta)
            bound = dm.theory.car_cond_bound(cell.instance.preferences, cell.delta)
            assert row["information limit"] == f"{limit:.0f}"
            assert row["paper's bound"] == f"{bound:.0f}"


def test_wrong_answers_are_counted_against_what_was_promised(tmp_path: Path) -> None:
    """Without a Condorcet winner, car-verify is right to say so, and car-cond promised nothing."""
    experiment = experiments.from_dict(
        {
            "problems": [{"generator": "cyclic", "candidates": 3, "positions": 1, "strength": 0.4}],
            "algorithms": [{"name": "car-cond"}, {"name": "car-verify"}],
            "repetitions": 4,
            "max_duels": 3_000,
        }
    )
    experiments.run(experiment, tmp_path / "out", jobs=1)
    cond, verify = cell_summaries(Folder(tmp_path / "out"), experiment)
    assert (cond.judged, cond.wrong) == (0, 0)
    assert verify.wrong == 0
    assert verify.judged + verify.unfinished == 4
    assert [rate.variant.algorithm for rate in error_rates([cond, verify])] in ([], ["car-verify"])


def test_an_unfinished_experiment_says_so(tmp_path: Path) -> None:
    file = small_file(tmp_path, repetitions=2, algorithms=1, deltas="[0.2]", gap="[0.3]")
    experiments.run(file, tmp_path / "half", jobs=1)
    last = sorted((tmp_path / "half" / "runs").glob("part-*"))[-1]
    last.unlink()
    page = experiments.report(tmp_path / "half", tmp_path / "elsewhere")
    assert page == tmp_path / "elsewhere" / "report.html"
    assert "Not finished: " in page.read_text(encoding="utf-8")


def test_without_results_there_is_no_report(tmp_path: Path) -> None:
    Folder.create(tmp_path / "out", experiments.load(small_file(tmp_path)))
    with pytest.raises(dm.FileError, match="There are no results yet"):
        experiments.report(tmp_path / "out")
    with pytest.raises(dm.FileError, match="There is no experiment here"):
        experiments.report(tmp_path)


class Page(HTMLParser):
    """What a page refers to, its headings and its tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.sources += [value for key in ("src", "href") if (value := given.get(key))]
        if value := given.get("id"):
            self.ids.append(value)


def test_the_page_needs_nothing_but_itself(done: Path) -> None:
    page = Page((done / "report" / "report.html").read_text(encoding="utf-8"))
    assert all(source.startswith(("data:", "#")) for source in page.sources)
    assert {source[1:] for source in page.sources if source.startswith("#")} <= set(page.ids)
    assert "script" not in page.tags
    assert set(FIGURES) <= set(page.ids)
    assert page.tags.count("img") == len(FIGURES)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here: the report was not opened in a browser")
def test_a_browser_shows_the_report_without_errors(done: Path, tmp_path: Path) -> None:
    """A probe page frames the report, and says in its title how many pictures are broken or too wide."""
    report = (done / "report" / "report.html").read_text(encoding="utf-8")
    probe = """<script>
    addEventListener("error", event => { document.title = "ERROR " + event.message; });
    addEventListener("load", () => {
      const images = [...document.images];
      const broken = images.filter(image => !image.complete || image.naturalWidth === 0).length;
      const wide = images.filter(image => image.getBoundingClientRect().right > innerWidth).length;
      const over = document.documentElement.scrollWidth > innerWidth ? 1 : 0;
      document.title = `${images.length} pictures, ${broken} broken, ${wide} too wide, ${over} overflow`;
    });</script></body>"""
    page = tmp_path / "probe.html"
    page.write_text(report.replace("</body>", probe), encoding="utf-8")
    for width in (1200, 400):
        shown = subprocess.run(
            [
                str(BROWSER),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                f"--user-data-dir={tmp_path / 'profile'}",
                "--enable-logging=stderr",
                f"--window-size={width},900",
                "--virtual-time-budget=5000",
                "--dump-dom",
                page.as_uri(),
            ],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        assert f"<title>{len(FIGURES)} pictures, 0 broken, 0 too wide, 0 overflow</title>" in shown.stdout
        assert "CONSOLE" not in shown.stderr


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".svg", b"<?xml"), (".pdf", b"%PDF"), (".pgf", b"% A picture"), (".png", b"\x89PNG")],
)
def test_one_figure_by_itself_in_the_format_of_its_ending(
    done: Path, tmp_path: Path, suffix: str, start: bytes
) -> None:
    path = tmp_path / f"delta{suffix}"
    assert experiments.figure(done, "duels-against-delta", path) == path
    assert path.read_bytes().startswith(start)
    if suffix == ".svg":
        report = done / "report" / "figures" / "duels-against-delta.svg"
        assert path.read_bytes() == report.read_bytes(), "as in the report"


def test_panels_can_be_chosen(done: Path, tmp_path: Path) -> None:
    def titles(*panels: str) -> list[str]:
        path = experiments.figure(done, "duels-against-delta", tmp_path / "a.pgf", panels)
        return re.findall(r"(\w+: even \(gap [\d.]+\))", path.read_text(encoding="utf-8"))

    everything = ["Borda: even (gap 0.3)", "Borda: even (gap 0.45)"]
    everything += [title.replace("Borda", "Condorcet") for title in everything]
    assert sorted(titles()) == everything
    assert titles("borda: even (gap 0.3)") == everything[:1]
    assert sorted(titles("BORDA", "gap 0.3")) == everything[:3]
    with pytest.raises(dm.FileError, match="delta' has 'nobody' in its title; they are 'Borda: even"):
        titles("nobody")
    with pytest.raises(dm.FileError, match="'error-rate' has 'x' in its title; it has no choice of panels"):
        experiments.figure(done, "error-rate", tmp_path / "a.svg", ["x"])
    with pytest.raises(dm.FileError, match="There is no figure 'x' of these results; the figures are 'duels"):
        experiments.figure(done, "x", tmp_path / "a.svg")
    with pytest.raises(dm.FileError, match="must end in"):
        experiments.figure(done, "error-rate", tmp_path / "a.jpg")
    with pytest.raises(dm.FileError, match="PGF cannot hold this figure, since there is an image in it"):
        experiments.figure(done, "preferences-1", tmp_path / "b.pgf")


def test_there_is_no_slope_of_three_points() -> None:
    assert fit([0, 1, 2], [1, 3, 5]) is None
    assert fit([0, 1, 2, 2], [1, 3, 5, 5]) is None, "nor of three different ones"
    assert fit([0, 1, 2, 3], [1, 3, 5, 7]) is not None


def test_the_legend_has_a_fitted_line_only_where_one_is_drawn(done: Path, tmp_path: Path) -> None:
    """Three levels of certainty have no slope, and before had the line in the legend."""
    figure, fitted = "duels-against-certainty", "<!-- fitted straight line -->"
    assert fitted not in (done / "report" / "figures" / f"{figure}.svg").read_text(encoding="utf-8")
    experiment = experiments.from_dict(
        {
            "problems": [{"generator": "equal_gaps", "positions": 2, "gap": 0.5}],
            "algorithms": [{"name": "car-cond"}],
            "deltas": [0.2, 0.1, 0.05, 0.01],
            "repetitions": 2,
        }
    )
    experiments.run(experiment, tmp_path / "out", jobs=1)
    drawn = experiments.figure(tmp_path / "out", figure, tmp_path / "a.svg")
    assert fitted in drawn.read_text(encoding="utf-8")


def test_a_slope_has_an_interval() -> None:
    slope = fit([1.0, 2.0, 3.0, 4.0], [2.1, 3.9, 6.2, 7.8])
    assert slope is not None
    assert slope.low < 1.94 < slope.high
    assert slope.value == pytest.approx(1.94)


def test_the_interval_is_that_of_student_with_two_degrees_of_freedom_less_than_points() -> None:
    """The residuals are 0.2, -0.1, -0.4 and 0.3, so the standard error is the root of 0.15 / 5."""
    slope = fit([0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 5.0, 8.0])
    assert slope is not None
    radius = 4.302653 * (0.15 / 5) ** 0.5
    assert (slope.low, slope.value, slope.high) == pytest.approx((2.3 - radius, 2.3, 2.3 + radius))


def test_answers_that_were_promised_with_a_larger_delta_are_refuted_and_not_wrong() -> None:
    cell = experiments.single_cell(dm.instances.paper_example(), "car-verify", 0.05, seed=1)
    own = np.full(6, _NOT_DONE)
    own["status"] = ["certified", "no_winner", "certified", "budget_spent", "failed", ""]
    own["right"] = [0, 0, 1, 0, np.nan, np.nan]
    own["allowed"] = [0.05, 0.06, 0.05, 0.05, 0.05, 0]
    found = _of_cell(cell, own)
    assert (found.judged, found.wrong, found.refuted) == (3, 1, 1)
    assert (found.unfinished, found.failed, found.runs) == (1, 1, 5)
    assert fit([1.0, 1.0, 2.0], [1.0, 2.0, 3.0]) is None
