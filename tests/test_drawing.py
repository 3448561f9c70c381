"""Pictures: written where they should be, the same every time, and refused in one clear sentence."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cases import each
from duelmatch.drawing import COLOURS, draw
from duelmatch.errors import FileError, MissingExtraError, ProblemError
from duelmatch.instances import paper_example, random_problem
from duelmatch.problem import Problem

PAPER = paper_example()
WINNERS: dict[str, Mapping[str, str]] = {
    "Borda winner": PAPER.borda_winner(),
    "Condorcet winner": PAPER.condorcet_winner() or {},
}


@each(
    ("suffix", "start"),
    [
        (".png", b"\x89PNG"),
        (".svg", b"<?xml"),
        (".pdf", b"%PDF"),
        (".SVG", b"<?xml"),
        (".pgf", b"% A picture"),
    ],
)
def test_the_suffix_picks_the_format(tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"picture{suffix}"
    assert draw(PAPER.problem, WINNERS, path=path) == path
    assert path.read_bytes().startswith(start)


@each("suffix", [".png", ".svg", ".pdf", ".pgf"])
def test_the_same_problem_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    first = draw(PAPER.problem, WINNERS, path=tmp_path / f"a{suffix}", title="Twice").read_bytes()
    assert draw(PAPER.problem, WINNERS, path=tmp_path / f"b{suffix}", title="Twice").read_bytes() == first


def test_each_matching_has_its_colour(tmp_path: Path) -> None:
    svg = draw(PAPER.problem, WINNERS, path=tmp_path / "a.svg").read_text(encoding="utf-8").lower()
    assert COLOURS[0].lower() in svg
    assert COLOURS[1].lower() in svg
    assert COLOURS[2].lower() not in svg


@each("name", ["x" * 200, "a $b$ c", "$", r"\frac", "<&>", "漢字", "\u202ered", "\u3000"])
def test_any_name_can_be_drawn(tmp_path: Path, name: str) -> None:
    if not name.strip():
        name = f".{name}."
    problem = Problem.complete([name, "other"], [name])
    path = draw(problem, path=tmp_path / "a.svg", title=name)
    assert path.stat().st_size > 1000
    path.unlink()


@each(("candidates", "positions"), [(1, 1), (20, 20), (60, 3)])
def test_small_and_large_problems_can_be_drawn(tmp_path: Path, candidates: int, positions: int) -> None:
    problem = random_problem(candidates, positions, density=0.3)
    assert draw(problem, path=tmp_path / f"{candidates}.png").stat().st_size > 1000


def test_a_candidate_for_nothing_is_drawn_too(tmp_path: Path) -> None:
    problem = Problem.from_edges([("a", "s")], candidates=["a", "idle"])
    assert draw(problem, path=tmp_path / "a.svg").exists()


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"must end in \.png, \.svg, \.pdf or \.pgf\.$"):
        draw(PAPER.problem, path=tmp_path / "a.jpg")


def test_pgf_needs_no_latex_and_says_every_name_as_latex_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)  # nothing can be started
    problem = Problem.complete(["50% & more_", "{other} #2"], ["$10^6 \\ ~"])
    text = draw(problem, path=tmp_path / "a.pgf").read_text(encoding="utf-8")
    position = r"\$10\textasciicircum{}6 \textbackslash{} \textasciitilde{}"
    for name in (r"50\% \& more\_", r"\{other\} \#2", position):
        assert f"{name}}}}}%\n" in text, name
    assert text.count(r"\begin{pgfscope}") == text.count(r"\end{pgfscope}") > 5
    assert text.endswith("\\end{pgfpicture}%\n\\makeatother%\n\\endgroup%\n")
    left, _, width, height = map(float, re.findall(r"([-\d.]+)in", text.split("pgfusepath")[0]))
    assert left < 0, "names stand outside of the axes, and are in the picture"
    assert width > height > 1


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written: No such file or directory"):
        draw(PAPER.problem, path=tmp_path / "nowhere" / "a.png")


def test_a_matching_of_another_problem_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="leaves 's1' and 's2' empty"):
        draw(PAPER.problem, {"wrong": {"chair": "ann"}}, path=tmp_path / "a.png")


def test_too_many_matchings_are_refused(tmp_path: Path) -> None:
    many = {f"matching {i}": PAPER.borda_winner() for i in range(7)}
    with pytest.raises(ProblemError, match="At most 6 matchings"):
        draw(PAPER.problem, many, path=tmp_path / "a.png")


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'duelmatch\[plots\]'"):
        draw(PAPER.problem, path=tmp_path / "a.png")
