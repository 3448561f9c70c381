"""``duelmatch winners``: the best matchings when the preferences are known."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

import duelmatch as dm
from duelmatch.errors import TooLargeError
from problems import CYCLE, NO_PREFERENCES, ONLY_ONE, TIE
from terminal import read, run


def test_are_those_of_the_library() -> None:
    for name in dm.instances.example_names():
        prefs = dm.instances.example(name)
        found = read("winners", f"example:{name}")
        for entry in found.values():  # JSON has lists where several share a position
            if isinstance(entry, dict):
                entry |= {key: dm.Matching(value) for key, value in entry.items() if isinstance(value, dict)}
        assert found["borda"] == asdict(dm.theory.borda_winner(prefs)) | {"unique": True, "too_large": None}
        winner = dm.theory.condorcet_winner(prefs)
        assert winner is not None
        assert found["condorcet"] == asdict(winner) | {"exists": True}


def test_mark_where_they_differ() -> None:
    page = run("winners", "example:prizes").stdout
    assert "piano *" in page
    assert "robot *" in page
    assert "lamp *" not in page


def test_no_condorcet_winner_is_exit_code_1_when_that_was_the_question(write: Any) -> None:
    path = write(CYCLE)
    assert "there is no winner" in run("winners", path, "--criterion", "condorcet", code=1).stdout
    assert "there is no winner" in run("winners", path, code=0).stdout


def test_a_criterion_that_was_not_asked_for_is_left_out() -> None:
    found = read("winners", "example:lineup", "--criterion", "borda")
    assert found["condorcet"] is None
    assert "Condorcet" not in run("winners", "example:lineup", "--criterion", "borda").stdout


def test_a_tie_is_said(write: Any) -> None:
    path = write(TIE)
    assert read("winners", path)["borda"]["unique"] is False
    assert "not alone" in run("winners", path).stdout


def test_a_single_matching_has_no_margin(write: Any) -> None:
    path = write(ONLY_ONE)
    found = read("winners", path)
    assert found["borda"]["margin"] is None
    assert found["borda"]["unique"] is True
    assert found["condorcet"]["margin"] is None
    assert "the only maximum matching" in run("winners", path).stdout


def test_a_borda_score_out_of_reach_is_exit_code_4(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise TooLargeError("Too large.")

    monkeypatch.setattr("duelmatch.matchings.counting.edge_marginals", refuse)
    page = run("winners", "example:lineup", code=4).stdout
    assert "Borda: not known. Too large." in page
    assert "Condorcet: beats every other" in page


def test_without_preferences_is_exit_code_3(write: Any) -> None:
    assert "no preferences" in run("winners", write(NO_PREFERENCES), code=3).stderr
