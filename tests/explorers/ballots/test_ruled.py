"""Ballots on problems with capacities, weights and rules."""

from __future__ import annotations

import numpy as np
import pytest

import duelmatch as dm
from cases import each

CONDITIONS = {
    "capacity": {"capacity": 2},
    "weight": {"weight": 3.0},
    "rules": {"rules": 2},
    "all three": {"capacity": 2, "weight": 2.0, "rules": 2},
}


@each("kind", list(CONDITIONS))
@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_a_crowd_of_voters_finds_the_winner(criterion: str, kind: str) -> None:
    preferences = dm.instances.planted(5, 3, gap=0.35, noise=0.1, seed=2, **CONDITIONS[kind])
    winner = preferences.condorcet_winner() if criterion == "condorcet" else preferences.borda_winner()
    run = dm.explorer(criterion, preferences.problem, delta=1e-4, seed=1, ballot_size=5)
    rng = np.random.default_rng(3)
    for number in range(3_000):
        for question in run.ask(5, voter=f"v{number}"):
            one, other = question.candidates
            better = rng.random() < preferences.probability(question.position, one, other)
            run.tell(question, one if better else other)
        if run.done:
            break
    assert (run.result.status, run.result.matching) == ("certified", winner)


def test_whoever_is_needed_by_a_rule_cannot_leave() -> None:
    problem = dm.Problem.complete(
        ["ann", "bob", "cyd"], ["chair", "editor"], rules=[dm.Rule(of=["ann"], at_least=1)]
    )
    run = dm.explorer("condorcet", problem, seed=0)
    run.ask(1, voter="eve")
    with pytest.raises(dm.ProblemError, match="Without 'ann' no line-up"):
        run.ballots.drop("ann")
    run.ballots.drop("bob")
    run.ballots.add("dee", ["chair"])
    assert run.problem.rules == problem.rules


def test_several_seats_are_refused() -> None:
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["jury"], seats={"jury": 2})
    with pytest.raises(dm.ProblemError, match="Ballots cannot work on positions of several seats yet"):
        dm.explorer("borda", problem).ask(1, voter="eve")
