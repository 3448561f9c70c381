"""With crowds of every kind the winner is ruled out delta often at most; with ways that are wrong it is not.

delta is 0.1. Of 24 runs 12 or more are wrong with probability 8.5e-7 if each is with probability 0.1 at most,
and of 10 runs 8 or more with 3.7e-7: so often do tests of the first kind fail by chance. The wrong ways are
wrong in half of the runs or more: of 60 runs fewer than 12 would be with probability 3.8e-7.
"""

from __future__ import annotations

import pytest

from benchmarks.error_rates import crowds

RUNS, MOST = 24, 12
WRONG_RUNS, ENOUGH = 60, 12
FEW = ("40 strikes, blind", "40 strikes, chosen after looking")


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
@pytest.mark.parametrize("name", [name for name in crowds.SOUND if name not in FEW])
def test_the_winner_is_seldom_ruled_out(name, criterion):
    wrong = sum(bool(crowds.SOUND[name](criterion, seed)) for seed in range(RUNS))
    assert wrong < MOST


@pytest.mark.parametrize("name", FEW)
def test_strikes_do_not_help_against_the_winner(name):
    assert sum(bool(crowds.SOUND[name]("condorcet", seed)) for seed in range(10)) < 8


@pytest.mark.parametrize("name", crowds.WRONG)
def test_ways_that_are_wrong_are_seen_to_be(name):
    wrong = 0
    for seed in range(WRONG_RUNS):
        wrong += bool(crowds.WRONG[name]("condorcet", seed))
        if wrong == ENOUGH:
            return
    assert wrong >= ENOUGH


@pytest.mark.parametrize("play", [crowds.silence_as_half, crowds.settled_as_completed])
def test_the_same_crowds_are_no_trouble_to_the_right_way(play):
    assert sum(bool(play("condorcet", seed, wrong=False)) for seed in range(RUNS)) < MOST
