"""``duelmatch estimate``: answers from a file, or from standard input, into preferences."""

from __future__ import annotations

from typing import Any

import pytest

import duelmatch as dm
from terminal import read, run

ANSWERS = "position,winner,loser,weight\ns,a,b,3\n"


def test_answers_become_a_problem_with_preferences(write: Any) -> None:
    said = read("estimate", write(ANSWERS, "answers.csv"), "--out", "team.yaml")
    assert said == {"file": "answers.csv", "out": "team.yaml", "candidates": 2, "positions": 1, "pairs": 1}
    assert dm.load_preferences("team.yaml").probability("s", "a", "b") == pytest.approx(3.5 / 4)
    page = run("estimate", "answers.csv", "--out", "team.yaml").stdout
    assert page.startswith("team.yaml: 2 candidates for 1 position, 1 pair.")


def test_answers_are_read_from_standard_input() -> None:
    run("estimate", "-", "--out", "team.yaml", stdin=ANSWERS, code=0)
    assert dm.load_preferences("team.yaml").probability("s", "a", "b") == pytest.approx(3.5 / 4)


def test_a_preflib_file_has_its_own_problem(write: Any) -> None:
    path = write(
        "# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n3: 1,2\n", "x.soc"
    )
    run("estimate", path, "--out", "team.yaml", code=0)
    assert dm.load_preferences("team.yaml").probability("winner", "a", "b") == 1
    assert "no --problem" in run("estimate", path, "--out", "t.yaml", "--problem", "p.yaml", code=2).stderr
