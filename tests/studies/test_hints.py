"""Hints on voters: who is odd is named, who is not is not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median

import numpy as np
import pytest

from duelmatch.studies.hints import Hints, _agreeing, _median_without, at_least, hints

NAMES = "abcdef"


@dataclass
class Given:
    voter: str
    candidates: tuple[str, ...]
    answer: tuple[tuple[str, ...], ...] | None
    at: float = 10.0
    asked_at: float = 0.0
    position: str = "p"


def panel(rng: np.random.Generator, voters: int = 12, each: int = 15) -> list[Given]:
    """Return answers of voters who mostly like the letters in their order, shown in random order."""
    given = []
    for voter in range(voters):
        for _ in range(each):
            two = rng.choice(list(NAMES), 2, replace=False).tolist()
            better = min(two) if rng.random() < 0.85 else max(two)
            worse = two[0] if better == two[1] else two[1]
            given.append(Given(f"v{voter}", tuple(two), ((better,), (worse,)), at=rng.uniform(5, 20)))
    return given


def test_nobody_is_odd_who_votes_like_the_others() -> None:
    """Two tests for each of 12 voters in 20 panels, at one in a thousand each: 0.5 are named on average."""
    named = [voter for seed in range(20) for voter in hints(panel(np.random.default_rng(seed)))]
    assert len(named) <= 6  # P(more) < 1e-6 for a Poisson variable of mean 0.5


def test_whoever_is_quick_or_takes_one_side_or_is_against_all_is_named() -> None:
    rng = np.random.default_rng(1)
    given = panel(rng)
    for one in given:
        if one.voter == "v0":
            one.at = 0.9
        if one.voter == "v1":
            one.answer = ((one.candidates[1],), (one.candidates[0],))
        if one.voter == "v2":
            one.answer = ((max(one.candidates),), (min(one.candidates),))
    found = hints(given)
    quick, side, agrees = found["v0"].quick, found["v1"].side, found["v2"].agrees
    assert quick is not None
    assert quick[0] == pytest.approx(0.9)
    assert (quick[1] or 0) > 5
    assert side == ("second", 15, 15)
    assert agrees is not None
    assert agrees[0] < agrees[1] / 4
    assert found["v0"].side is None


def test_few_answers_rankings_and_ties_say_nothing() -> None:
    few = [Given("v", ("a", "b"), (("a",), ("b",)), at=0.5) for _ in range(4)]
    ties = [Given("t", ("a", "b"), (("a", "b"),), at=9.0) for _ in range(40)]
    ranked = [Given("r", ("a", "b", "c"), (("a",), ("b",), ("c",)), at=0.1) for _ in range(40)]
    assert hints([*few, *ties, *ranked]) == {}
    assert hints([*few, few[0]]) == {"v": Hints(quick=(0.5, None))}


@pytest.mark.parametrize("side", [0, 1])
def test_one_side_is_odd_where_either_would_come_up_so_often_once_in_a_thousand_times(side: int) -> None:
    same = [Given("v", ("a", "b"), (("ab"[side],), ("ba"[side],))) for _ in range(11)]
    assert hints(same[:10]) == {}, "ten heads or ten tails: once in 512 times"
    assert hints(same) == {"v": Hints(side=(("first", "second")[side], 11, 11))}


def test_nobody_is_among_the_others_with_whom_they_agree() -> None:
    said = Counter({("p", "a", "b"): 2, ("p", "b", "a"): 2, ("p", "c", "d"): 3, ("p", "e", "f"): 4})
    assert _agreeing([("p", "a", "b")], said) == (0, 1)  # one with them, two against them
    assert _agreeing([("p", "c", "d")], said) == (0, 0)  # only two others
    assert _agreeing([("p", "e", "f"), None], said) == (1, 1)


def test_a_tail_is_summed() -> None:
    assert at_least(0, 7, 0.3) == pytest.approx(1.0)
    assert at_least(2, 2, 0.3) == pytest.approx(0.09)


def test_the_median_of_the_others_is_that_of_a_list_without_one():
    rng = np.random.default_rng(5)
    for size in range(2, 12):
        times = rng.integers(0, 6, size).astype(float).tolist()
        for place, one in enumerate(times):
            others = times[:place] + times[place + 1 :]
            assert _median_without(sorted(times), one) == median(others)
