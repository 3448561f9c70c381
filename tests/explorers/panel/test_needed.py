"""The answers that are said to settle a panel do settle it, if there are any to be said."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import duelmatch as dm

CONDITIONS = {
    "one-to-one": {},
    "capacity": {"capacity": {"a": 2}},
    "weight": {"weight": {"s": 3}},
    "rules": {"rules": [dm.Rule(of=["a", "b"], at_most=1)]},
    "seats": {"seats": {"s": 2}},
}


@pytest.mark.parametrize("conditions", CONDITIONS.values(), ids=CONDITIONS)
def test_what_is_needed_can_be_said_and_settles_it(conditions):
    problem, listed = dm.Problem.complete(list("abcd"), ["s", "t"], **conditions), 0
    for seed in range(30):
        rng, voters = np.random.default_rng([seed, 7]), ["x", "y", "z"][: 1 + seed % 3]
        said = [
            dm.Answer(position, [pair[turn], pair[1 - turn]], voter)
            for position in problem.positions
            for pair in combinations("abcd", 2)
            for voter in voters
            if rng.random() < 0.6
            for turn in [int(rng.integers(2))]
        ]
        decision = dm.decide(problem, said, consistent=False, voters=voters)
        for one in decision.needed:
            assert one.answers <= len(one.voters), seed
        said += [
            dm.Answer(one.position, [one.first, one.second], voter)
            for one in decision.needed
            for voter in one.voters[: one.answers]
        ]
        if decision.needed:
            listed += 1
            then = dm.decide(problem, said, consistent=False, voters=voters, chosen=decision.result.matching)
            assert then.result.status in ("decided", "unbeaten", "tied"), seed
    assert (listed > 3) == ("seats" not in conditions)


def test_a_weight_that_is_given_takes_the_place_of_that_of_the_answers():
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    said = [dm.Answer("chair", ["ann", "bob"], "eve"), dm.Answer("chair", ["bob", "ann"], "ned", weight=2)]
    assert dm.decide(problem, said).result.matching == {"chair": "bob"}
    heavier = dm.decide(problem, said, voter_weight={"eve": 3})
    assert (heavier.result.status, heavier.result.matching) == ("decided", {"chair": "ann"})
    assert dm.decide(problem, said, voter_weight={"ned": 1}).result.status == "unbeaten"
