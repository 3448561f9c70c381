"""``duelmatch check``: what a problem is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import duelmatch as dm
from problems import HALF_CERTAIN
from terminal import flat, read, run


def test_counts_what_is_there() -> None:
    about = read("check", "example:lineup")
    assert (about["candidates"], about["positions"], about["edges"]) == (5, 3, 10)
    assert (about["duels"], about["matchings"]) == (12, 19)
    assert about["never"] == about["certain"] == []


def test_names_the_edges_that_are_decided(write: Any) -> None:
    path = write(HALF_CERTAIN)
    about = read("check", path)
    assert about["certain"] == [["a", "s"]]
    assert about["never"] == [["a", "t"]]
    page = run("check", path).stdout
    assert "Certain, in every maximum matching: a at s." in page
    assert "Can never matter, in no maximum matching: a at t." in page


def test_a_preflib_file_is_a_problem_of_one_position(tmp_path: Path) -> None:
    path = tmp_path / "pets.soc"
    path.write_text("# NUMBER ALTERNATIVES: 3\n6: 1,2,3\n3: 3,1,2\n", encoding="utf-8")
    about = read("check", str(path))
    assert (about["candidates"], about["positions"], about["duels"]) == (3, 1, 3)
    assert read("winners", str(path))["condorcet"]["matching"] == {"winner": "1"}


def test_shares_add_up_to_one() -> None:
    for entry in read("check", "example:prizes")["per_position"]:
        assert sum(entry["candidates"].values()) == pytest.approx(1)


def test_says_so_when_there_are_too_many_to_count() -> None:
    dm.save_problem(dm.instances.random_problem(45, 45, density=0.6), "large.yaml")
    page = run("check", "large.yaml", code=0).stdout
    assert "too many to count exactly; at most 10^" in page
    assert "GiB" in flat(page)
    about = read("check", "large.yaml")
    assert about["matchings"] is None
    assert "GiB" in about["too_large"]


def test_reads_a_table_of_preferences(write: Any) -> None:
    path = write("position,first,second,probability\ns,a,b,0.6\n", "wins.csv")
    assert read("check", path)["candidates"] == 2


def test_checks_the_preferences_too(write: Any) -> None:
    path = write("edges: {chair: [ann, bob]}\npreferences: {chair: [[ann, bob, 1.5]]}\n")
    assert "between 0 and 1" in run("check", path, code=3).stderr


def test_a_folder_is_not_a_file() -> None:
    assert run("check", ".", code=3).stderr == "Error: .: This is a directory, not a file.\n"
