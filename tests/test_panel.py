"""A Panel: what its voters say, as rankings or answers, and the shares that follow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import duelmatch as dm

TEAM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
RANKINGS = {
    ("eve", "chair"): ["ann", ("bob", "cyd")],
    ("eve", "editor"): ["cyd", "bob", "ann"],
    ("ned", "chair"): ["bob", "ann", "cyd"],
    ("ned", "editor"): [("ann", "bob", "cyd")],
}
ANSWERS = [
    ("eve", "chair", "ann", "bob"),
    ("eve", "chair", "ann", "cyd"),
    ("eve", "chair", ("cyd", "bob")),
    ("eve", "editor", "cyd", "bob"),
    ("eve", "editor", "cyd", "ann"),
    ("eve", "editor", "bob", "ann"),
]


def test_rankings_give_shares() -> None:
    prefs = dm.Panel(TEAM, RANKINGS).preferences()
    assert prefs.probability("chair", "ann", "bob") == 0.5
    assert prefs.probability("chair", "ann", "cyd") == 1.0
    assert prefs.probability("chair", "cyd", "bob") == 0.25
    assert prefs.probability("editor", "cyd", "ann") == 0.75


def test_answers_give_the_same_opinions_as_the_ranking_they_come_from() -> None:
    one = dm.Panel(TEAM, {key: ranking for key, ranking in RANKINGS.items() if key[0] == "eve"})
    other = dm.Panel(TEAM, answers=ANSWERS)
    assert np.array_equal(one.opinions, other.opinions)
    assert other.opinion("eve", "chair", "cyd", "ann") == -1
    assert other.opinion("eve", "chair", "cyd", "bob") == 0


def test_weights_count() -> None:
    panel = dm.Panel(TEAM, RANKINGS, voter_weight={"eve": 2, "ned": Fraction(1, 2)})
    assert panel.preferences().probability("chair", "ann", "bob") == pytest.approx(0.8)


def test_a_float_weight_is_the_decimal_it_is_written_as() -> None:
    assert dm.Panel(TEAM, RANKINGS, voter_weight={"eve": 0.1}).weights.tolist() == [1, 10]


def test_who_has_a_conflict_is_not_counted_and_a_pair_nobody_judges_is_even() -> None:
    rankings = {key: [name for name in ("ann", "bob", "cyd") if name != "ann"] for key in RANKINGS}
    rankings["ned", "chair"] = ["bob", "ann", "cyd"]
    conflicts = {"eve": ["ann"], "ned": [("ann", "editor")]}
    panel = dm.Panel(TEAM, rankings, conflicts=conflicts)
    assert panel.opinion("eve", "chair", "ann", "bob") is None
    assert panel.preferences().probability("chair", "ann", "bob") == 0.0
    assert panel.preferences().probability("editor", "ann", "bob") == 0.5


def test_a_single_pair_can_be_out() -> None:
    panel = dm.Panel(TEAM, answers=ANSWERS[1:], conflicts={"eve": [("chair", "bob", "ann")]})
    assert panel.opinion("eve", "chair", "ann", "bob") is None
    assert panel.opinion("eve", "chair", "ann", "cyd") == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "rankings or of answers"),
        ({"rankings": RANKINGS, "answers": ANSWERS}, "rankings or of answers"),
        ({"rankings": {}}, "at least one voter"),
        ({"rankings": [("eve", "chair")]}, "mapping from"),
        ({"rankings": {"eve": ["ann"]}}, "belongs to"),
        ({"rankings": {("", "chair"): ["ann"]}}, "must be text"),
        (
            {"rankings": RANKINGS | {("eve", "chair"): ["ann", "bob"]}},
            "'eve' says nothing of 'ann against cyd",
        ),
        (
            {"rankings": RANKINGS | {("eve", "chair"): ["ann", "bob", "cyd", "dan"]}},
            "names 'dan', who is not",
        ),
        ({"rankings": RANKINGS | {("eve", "chair"): ["ann", "ann", "bob"]}}, "names 'ann' twice"),
        ({"rankings": RANKINGS | {("eve", "chair"): "ann"}}, "list of candidates, best first"),
        ({"rankings": RANKINGS | {("eve", "chair"): ["ann", 3]}}, "where a candidate belongs"),
        ({"rankings": RANKINGS | {("eve", "pope"): ["ann"]}}, "no position 'pope'"),
        ({"answers": ANSWERS[1:]}, "Add it, or list it in conflicts"),
        ({"answers": [*ANSWERS, ("eve", "chair", "bob", "ann")]}, "twice"),
        ({"answers": [("eve", "chair", "ann", "ann")]}, "with itself"),
        ({"answers": [("eve", "chair", "ann")]}, "Answer 1 is not"),
        ({"answers": ANSWERS, "conflicts": {"eve": ["ann"]}}, "which conflicts says is not judged"),
        ({"answers": ANSWERS, "conflicts": {"ned": ["ann"]}}, "conflicts names 'ned'"),
        ({"answers": ANSWERS, "conflicts": {"eve": "ann"}}, "must be a list"),
        ({"answers": ANSWERS, "conflicts": {"eve": [3]}}, "A conflict is a candidate"),
        ({"answers": ANSWERS, "conflicts": ["eve"]}, "conflicts maps"),
        ({"answers": ANSWERS, "voter_weight": {"ned": 2}}, "voter_weight names 'ned'"),
        ({"answers": ANSWERS, "voter_weight": {"eve": 0}}, "above 0"),
        ({"answers": ANSWERS, "voter_weight": {"eve": True}}, "above 0"),
        ({"answers": ANSWERS, "voter_weight": {"eve": float("nan")}}, "above 0"),
        ({"answers": ANSWERS, "voter_weight": {"eve": 1e300}}, "too fine or too large"),
        ({"answers": ANSWERS, "voter_weight": 2}, "voter_weight maps"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(dm.ProblemError, match=sentence):
        dm.Panel(TEAM, **arguments)  # type: ignore[arg-type]


def test_a_panel_needs_a_problem() -> None:
    with pytest.raises(dm.ProblemError, match="needs a Problem"):
        dm.Panel("team", RANKINGS)  # type: ignore[arg-type]


def test_there_is_no_opinion_of_a_stranger() -> None:
    with pytest.raises(dm.ProblemError, match="no voter 'zoe'"):
        dm.Panel(TEAM, RANKINGS).opinion("zoe", "chair", "ann", "bob")
