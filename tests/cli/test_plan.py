"""``duelmatch plan``: how many duels to expect."""

from __future__ import annotations

from typing import Any

import duelmatch as dm
from cases import each
from duelmatch.explorers.planning import plan
from problems import CYCLE, NO_PREFERENCES, TIE
from terminal import flat, read, run


def test_says_what_the_library_says() -> None:
    prefs = dm.instances.example("lineup")
    said = read("plan", "example:lineup", "--delta", "0.01", "--epsilon", "0.1")
    for criterion in ("borda", "condorcet"):
        bounds = plan(prefs, criterion, 0.01, parameters={"epsilon": 0.1}).bounds  # type: ignore[arg-type]
        assert bounds is not None
        for name in ("information_limit", "hardness", "smallest_gap"):
            assert said[criterion][name] == getattr(bounds, name), name
        upper = {one.algorithm: one.duels for one in bounds.upper_bounds}
        assert said[criterion]["upper_bounds"] == upper
    assert "clucb-borda-pac, at most (within 0.1 of the best)" in (
        run("plan", "example:lineup", "--epsilon", "0.1").stdout
    )


def test_without_preferences_it_says_what_can_be_said(write: Any) -> None:
    path = write(NO_PREFERENCES)
    said = read("plan", path)
    assert said["duels"] == 6
    assert said["borda"] is said["condorcet"] is None
    assert "--gap 0.1" in run("plan", path).stdout


def test_an_assumed_gap_is_called_an_assumption(write: Any) -> None:
    path = write(NO_PREFERENCES)
    said = read("plan", path, "--gap", "0.1")
    assert said["assumed_gap"] == 0.1
    assert 0 < said["condorcet"]["information_limit"] < said["condorcet"]["upper_bounds"]["car-cond"]
    page = flat(run("plan", path, "--gap", "0.1").stdout)
    assert "This is an assumption: one matching's candidates win all their duels with" in page


def test_wrong_preferences_are_not_taken_for_none(write: Any) -> None:
    run("plan", write(NO_PREFERENCES + "preferences:\n  s: [[a, b, 2]]\n"), code=3)


def test_the_papers_lower_bound_is_shown_where_it_holds(write: Any) -> None:
    path = write("candidates: [a, b]\npositions: [s]\npreferences:\n  s: [[a, b, 0.51]]\n")
    assert read("plan", path)["borda"]["paper_lower_bound"]["duels"] > 0
    assert "The paper's lower bound (Theorem 6) " in run("plan", path).stdout


def test_no_condorcet_winner_is_exit_code_1_when_that_was_the_question(write: Any) -> None:
    path = write(CYCLE)
    run("plan", path, "--criterion", "condorcet", code=1)
    assert "There is none" in run("plan", path, code=0).stdout
    assert read("plan", path)["condorcet"] == {"exists": False}


def test_a_tie_takes_for_ever(write: Any) -> None:
    path = write(TIE)
    assert read("plan", path)["borda"]["information_limit"] is None
    assert "no end" in run("plan", path).stdout


def test_quick_leaves_out_the_information_limit() -> None:
    said = read("plan", "example:lineup", "--quick")
    assert said["borda"]["information_limit"] is said["condorcet"]["information_limit"] is None
    assert "Information limit:" not in run("plan", "example:lineup", "--quick").stdout


@each("option", ["--delta=0", "--delta=1e-300", "--delta=nan", "--epsilon=0", "--epsilon=inf", "--gap=0.6"])
def test_numbers_out_of_range_are_wrong_usage(option: str) -> None:
    run("plan", "example:lineup", option, code=2)


def test_what_judges_bring_in_their_time() -> None:
    said = read("plan", "example:lineup", "--judges", "5", "--minutes", "5")
    assert (said["questions_each"], said["seconds_each"], said["judges"]) == (10, 30.0, 5)
    assert said["fewest"] <= said["low"] <= said["high"] <= said["most"]
    assert 0 <= said["certain"] <= 1
    slower = flat(
        run("plan", "example:lineup", "--judges", "5", "--minutes", "5", "--seconds-each", "60").stdout
    )
    assert "5 people have time for 5 questions each, at 60 seconds a question." in slower
    assert "not a promise" in slower
    assert (
        "Give either --judges"
        in run("plan", "example:lineup", "--judges", "5", "--voters", "5", code=2).stderr
    )
    assert "whose minutes" in run("plan", "example:lineup", "--minutes", "5", code=2).stderr


def test_what_would_make_no_difference_to_people_is_refused() -> None:
    for option in (["--gap", "0.1"], ["--epsilon", "0.1"], ["--quick"]):
        for people in ("--judges", "--voters"):
            refused = run("plan", "example:lineup", people, "5", *option, code=2).stderr
            assert f"{option[0]} has no meaning with {people}." in refused
    assert (
        "--delta has no meaning"
        in run("plan", "example:lineup", "--judges", "5", "--delta", "0.1", code=2).stderr
    )
