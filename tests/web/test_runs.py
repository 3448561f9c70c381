"""Runs in rounds in a worker process: the same as here, whatever becomes of the worker, and ended in time."""

from __future__ import annotations

from pathlib import Path

import httpx2
import numpy as np
import pytest

import duelmatch as dm
from conftest import PROBLEM
from duelmatch.studies import Settings, Store, begin_run
from duelmatch.web import Config, runs
from duelmatch.web.runs import RemoteRun
from web.running import served

LARGER = dm.Problem.complete([f"c{number}" for number in range(71)], [f"p{number}" for number in range(70)])
"""Its first round takes a tenth of a second."""


@pytest.mark.parametrize("algorithm", ["car-cond", "clucb-borda-exact", "car-parallel"])
def test_a_run_elsewhere_is_the_same_run(algorithm: str) -> None:
    settings = Settings(algorithm, delta=0.3).settled(named_voters=False)
    here, there = begin_run(PROBLEM, settings), RemoteRun(PROBLEM, settings)
    chance = np.random.default_rng(1)
    for number in range(150):
        wanted, same = here.wanted(), there.wanted()
        assert [*wanted.first, *wanted.second, *wanted.count] == [*same.first, *same.second, *same.count]
        assert wanted.turns().tolist() == same.turns().tolist()
        if here.done:
            break
        wins = chance.binomial(wanted.count, 0.8)
        ties = np.zeros_like(wins)
        if number in (3, 120):
            there._key += "'"  # as if the worker had been killed, or had too many others to keep it
        here.tell_wins(wins, ties)
        there.tell_wins(wins, ties)
    assert (there.done, there.duels) == (here.done, here.duels)
    assert (there.result, there.progress) == (here.result, here.progress)
    assert here.duels > 100


def test_a_round_that_takes_too_long_is_ended_and_only_its_study_suffers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(f"sqlite:///{tmp_path}/x.db") as store, served(store, Config(rates=None)) as address:
        slow = store.create(LARGER, Settings("car-cond", ahead=0), "slow")
        quick = store.create(PROBLEM, Settings("condorcet"), "quick")

        def ask(study: str, token: str) -> httpx2.Response:
            headers = {"Authorization": f"Bearer {token}"}
            path = f"{address}/api/v1/studies/{study}/question"
            for _ in range(20):  # a worker that was killed is started anew, which takes a while
                response = httpx2.post(path, headers=headers, trust_env=False, timeout=300)
                if response.status_code != 503:
                    break
            return response

        voter = slow.add_voter()
        token = slow.new_link("voter", voter)
        assert ask(slow.id, token).status_code == 200
        monkeypatch.setattr(runs, "LONGEST_ROUND", 0.001)
        slow.drop("c0")  # so that the run begins anew, perhaps before anybody asks
        for _ in range(2):  # the second time it is not tried again
            refused = ask(slow.id, token)
            assert (refused.status_code, "0.001 seconds" in refused.json()["detail"]) == (422, True)
            other = quick.new_link("voter", quick.add_voter())
            assert ask(quick.id, other).status_code == 200
            monkeypatch.undo()
        slow.add_voter()
        assert ask(slow.id, token).status_code == 200
