"""Ballots on problems with capacities, seats, weights and rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import choices
import duelmatch as dm
from cases import each
from duelmatch.explorers.ballots.bets import Bets, Contest
from duelmatch.explorers.ballots.evidence import told_by
from duelmatch.explorers.ballots.records import Design
from duelmatch.explorers.frugal.stakes import over

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


def with_seats() -> list[int]:
    problems = {seed: choices.problem(seed) for seed in choices.SEEDS}
    return [seed for seed, problem in problems.items() if problem.seats and problem.graph.pairs][::3]


@each("seed", with_seats)
@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_a_ballot_says_of_every_rival_what_the_definition_says(criterion: str, seed: int) -> None:
    """Y(B) is the sum of c / pi (X - 1/2), with c by the definition of f; no |Y| is above what bets allow."""
    problem = choices.problem(seed)
    rows, rng = choices.rows(problem), np.random.default_rng([seed, 5])
    if len(rows) < 2:
        return
    graph, contest = problem.graph, Contest(problem.graph, criterion)
    pairs, champion = contest.pairs, rows[int(rng.integers(len(rows)))]
    chances = rng.uniform(0.2, 1.0, graph.pairs)
    size = int(rng.integers(1, graph.pairs + 1))
    design = Design(0, champion, chances, size, np.full(graph.pairs, 0.1), np.full(graph.pairs, 0.1))
    bets = Bets.of(design, contest, rows, 0.0)
    own, uses = graph.uses(champion), graph.uses(rows)
    q = uses.mean(axis=0)
    scale = graph.edge_scale[pairs.first] * graph.positions / graph.total_weight
    x, y = pairs.first, pairs.second
    if criterion == "condorcet":
        c = scale * (own[x] & uses[:, y]) - scale * (own[y] & uses[:, x])
    else:
        c = scale * ((own[x] * 1.0 - uses[:, x]) * q[y] - (own[y] * 1.0 - uses[:, y]) * q[x])
    asked = rng.permutation(graph.pairs)[:size]
    values = rng.choice([0.0, 0.5, 1.0], size)
    told = over(rows, told_by(bets.odds, asked, values))
    np.testing.assert_allclose(told, (c / chances)[:, asked] @ (values - 0.5), atol=1e-12)
    missing = over(rows, told_by(bets.odds, asked, np.full(size, np.nan)))
    assert (missing <= -np.abs(c / chances)[:, asked].sum(axis=1) / 2 + 1e-12).all()
    assert (1 + bets.base * missing[:, None] >= 0.1 - 1e-12).all()
    np.testing.assert_allclose(bets.spread, (c**2 / chances / 4).sum(axis=1), atol=1e-12)


@each(
    "conditions",
    [{"seats": 2}, {"seats": 2, "capacity": 2, "weight": 2.0}, {"seats": 3}, {"seats": 2, "rules": 2}],
)
@pytest.mark.parametrize(("criterion", "question_size"), [("condorcet", 2), ("borda", 2), ("condorcet", 3)])
def test_a_crowd_fills_several_seats(criterion: str, question_size: int, conditions: dict[str, Any]) -> None:
    preferences = dm.instances.planted(
        6, 2 if conditions["seats"] < 3 else 1, gap=0.4, noise=0.1, seed=2, **conditions
    )
    winner = preferences.condorcet_winner() if criterion == "condorcet" else preferences.borda_winner()
    run = dm.explorer(
        criterion, preferences.problem, delta=1e-3, seed=1, ballot_size=5, question_size=question_size
    )
    rng = np.random.default_rng(3)
    for number in range(6_000):
        for question in run.ask(5, voter=f"v{number}"):
            strength = {
                name: rng.gumbel()
                + 4
                * np.mean(
                    [
                        preferences.probability(question.position, name, other)
                        for other in question.candidates
                        if other != name
                    ]
                )
                for name in question.candidates
            }
            run.tell(question, sorted(question.candidates, key=lambda name: -strength[name]))
        if run.done:
            break
    assert (run.result.status, run.result.matching) == ("certified", winner)


def test_more_seats_than_can_be_listed_are_refused() -> None:
    names = [f"c{number}" for number in range(18)]
    problem = dm.Problem.complete(names, ["jury"], seats={"jury": 6})
    with pytest.raises(dm.TooLargeError, match="ballots decide between 10,000 decisions at most"):
        dm.explorer("borda", problem).ask(1, voter="eve")
    smaller = dm.Problem.complete(names[:14], ["jury"], seats={"jury": 6})
    run = dm.explorer("condorcet", smaller, seed=1)
    run.ask(1, voter="eve")
    run.ballots.add("late", ["jury"])
    run.ballots.add("later", ["jury"])
    with pytest.raises(dm.TooLargeError):
        run.ballots.add("last", ["jury"])  # of 17 candidates there are 12,376 juries
    assert len(run.problem.candidates) == 16
