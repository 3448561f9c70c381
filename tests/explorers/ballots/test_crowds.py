"""With crowds of every kind the winner is ruled out delta often at most; with ways that are wrong it is not.

delta is 0.1. Of 32 runs 14 or more are wrong with probability 8.2e-7 if each is with probability 0.1 at most;
the wrong ways are wrong in half of the runs or more: of 60 runs fewer than 12
would be with probability 3.8e-7.
``benchmarks/ballots.py`` measures every setting by itself.
"""

from __future__ import annotations

import pytest
from benchmarks.error_rates import crowds

MOST = 14
WRONG_RUNS, ENOUGH = 60, 12


def test_the_winner_is_seldom_ruled_out_in_all_settings_together():
    runs = [(name, criterion) for name in crowds.SOUND for criterion in ("condorcet", "borda")]
    wrong = [run for seed, run in enumerate(runs) if crowds.SOUND[run[0]](run[1], seed)]
    assert len(runs) == 32
    assert len(wrong) < MOST, wrong


@pytest.mark.parametrize("name", crowds.WRONG)
def test_ways_that_are_wrong_are_seen_to_be(name):
    wrong = 0
    for seed in range(WRONG_RUNS):
        wrong += bool(crowds.WRONG[name]("condorcet", seed))
        if wrong == ENOUGH:
            return
    assert wrong >= ENOUGH
