"""Steered by a model, certified without it; and what a budget is spent on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import duelmatch as dm
from duelmatch.explorers.frugal.finding import contested, worthwhile
from duelmatch.explorers.frugal.stakes import Pairs
from duelmatch.matchings.counting import edge_marginals
from duelmatch.models.lineups import LineupFinder
from duelmatch.models.strengths import StrengthModel

DELTA, RUNS = 0.3, 30
MOST_WRONG = int(binom.isf(1e-7, RUNS, DELTA))
"""More wrong answers than this have a probability of 1e-7, if one is wrong with probability DELTA."""


def misleading():
    """At one position the Condorcet winner beats everybody narrowly, and somebody else all others by far."""
    names = ["a", "b", "c", "d", "e"]
    wins = {("s", "a", other): 0.58 for other in names[1:]}
    wins |= {("s", "b", other): 0.95 for other in names[2:]}
    wins |= {("s", "c", "d"): 0.9, ("s", "d", "e"): 0.9, ("s", "c", "e"): 0.1}
    return dm.Preferences(dm.Problem.complete(names, ["s"]), wins)


WORLDS = {"misleading": misleading(), "random": dm.instances.uniform(3, 2, low=0.1, high=0.9, seed=11)}


@pytest.mark.parametrize("algorithm", ["condorcet", "borda"])
@pytest.mark.parametrize("budget", [None, 1_500], ids=["no budget", "budget"])
@pytest.mark.parametrize("name", WORLDS)
def test_a_model_that_is_wrong_does_not_make_certificates_wrong(algorithm, budget, name):
    preferences = WORLDS[name]
    winner = preferences.condorcet_winner() if algorithm == "condorcet" else preferences.borda_winner()
    assert winner is not None
    assumed = {"assume_winner": True} if algorithm == "condorcet" else {}
    certified = wrong = 0
    for seed in range(RUNS):
        if certified > RUNS / 2 and wrong + RUNS - seed <= MOST_WRONG:  # whatever happens in the others
            return
        result = dm.simulate(preferences, algorithm, DELTA, seed, budget, **assumed)
        certified += result.status == "certified"
        wrong += result.status == "certified" and result.matching != winner
    assert certified > RUNS / 2
    assert wrong <= MOST_WRONG


def test_answers_that_contradict_the_model_on_purpose_certify_no_wrong_winner():
    """The answers follow a coin, whatever was asked: with equals, nothing may be certified too often."""
    problem = dm.Problem.complete(["a", "b", "c"], ["s"])
    even = dm.Preferences(problem, {("s", "a", "b"): 0.5, ("s", "a", "c"): 0.5, ("s", "b", "c"): 0.5})
    for seed in range(5):
        result = dm.simulate(even, "condorcet", 1e-6, seed, 2_000, assume_winner=False)
        assert result.status == "budget_spent"


def test_a_circle_is_found_to_have_no_winner_though_strengths_cannot_express_it():
    circle = dm.instances.cyclic(3, 2, strength=0.4)
    for budget in (30_000, 300_000):
        result = dm.simulate(circle, "condorcet", 1e-3, 1, budget, assume_winner=False)
        assert result.status == "no_winner"


@pytest.mark.parametrize("algorithm", ["condorcet", "borda"])
def test_a_small_budget_buys_a_better_leader_than_random_pairs(algorithm):
    """Ten instances: the sum of the shortfalls is below that of the model with random pairs."""
    steered = randomly = 0.0
    for seed in range(10):
        preferences = dm.instances.bradley_terry(8, 3, spread=0.8, seed=seed)
        result = dm.simulate(preferences, algorithm, seed=seed, max_duels=150)
        table = preferences.problem.graph.pair_table
        rng = np.random.default_rng(seed)
        duels = rng.multinomial(150, np.full(table.count, 1 / table.count))
        wins = rng.binomial(duels, preferences.matrix[table.first, table.second])
        answers = [
            (preferences.problem.edges[one][1], *names)
            for one, other, won, all_ in zip(table.first, table.second, wins, duels, strict=True)
            for names in [(preferences.problem.edges[one][0], preferences.problem.edges[other][0])] * int(won)
            + [(preferences.problem.edges[other][0], preferences.problem.edges[one][0])] * int(all_ - won)
        ]
        other = dm.standings(preferences.problem, answers, algorithm).leader
        steered += shortfall(preferences, result.matching, algorithm)
        randomly += shortfall(preferences, other, algorithm)
    assert steered < 0.8 * randomly


def shortfall(preferences, matching, criterion):
    if criterion == "borda":
        return preferences.borda_score(preferences.borda_winner()) - preferences.borda_score(matching)
    return max(0.0, -preferences.condorcet_margin(preferences.problem.edge_numbers(matching)))


def test_a_budget_in_reach_of_a_proof_is_spent_on_it():
    preferences = dm.instances.planted(4, 3, gap=0.4, seed=3)
    free = [dm.simulate(preferences, "condorcet", seed=seed).duels for seed in range(5)]
    within = [dm.simulate(preferences, "condorcet", seed=seed, max_duels=5 * max(free)) for seed in range(5)]
    assert [result.status for result in within] == 5 * ["certified"]
    assert np.mean([result.duels for result in within]) < 3 * np.mean(free)


def state(problem, wins, duels):
    pairs = Pairs(problem.graph)
    pairs.wins += wins
    pairs.duels += duels
    model = StrengthModel(problem.graph, pairs.wins, pairs.duels)
    return pairs, model


def test_the_duel_asked_is_one_that_can_change_the_leader():
    """c has lost to both by far; a and b are close."""
    problem = dm.Problem.complete(["a", "b", "c"], ["s"])
    pairs, model = state(problem, [11.0, 57.0, 57.0], [20.0, 60.0, 60.0])  # (a, b), (a, c), (b, c)
    everyone = np.ones(3, dtype=np.bool_)
    estimates, _ = model.estimates()
    for marginals in (None, edge_marginals(problem.graph)):
        shares = worthwhile(pairs, model, estimates, np.array([0]), everyone, everyone, marginals)
        assert shares is not None
        assert shares.tolist() == [1.0, 0.0, 0.0]


def test_duels_that_are_worth_the_same_share_the_round():
    problem = dm.Problem.complete(["a", "b", "c"], ["s"])
    pairs, model = state(problem, np.zeros(3), np.zeros(3))
    everyone = np.ones(3, dtype=np.bool_)
    shares = worthwhile(pairs, model, model.estimates()[0], np.array([0]), everyone, everyone, None)
    assert shares is not None
    assert shares[:2].tolist() == [0.5, 0.5]  # with the leader; b against c can tell less


def test_nothing_is_worth_asking_once_all_is_known():
    problem = dm.Problem.complete(["a", "b"], ["s"])
    pairs, model = state(problem, [90_000.0], [100_000.0])
    everyone = np.ones(2, dtype=np.bool_)
    assert worthwhile(pairs, model, model.estimates()[0], np.array([0]), everyone, everyone, None) is None


def test_matchings_in_doubt_are_duelled_where_they_differ():
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
    _, model = state(problem, np.array([50.0, 90.0, 90.0]), np.full(3, 100.0))
    finder, rng = LineupFinder(problem.graph), np.random.default_rng(1)
    shares = contested(finder, model, np.array([0]), np.ones(3, dtype=np.bool_), rng, duels=40)
    assert shares is not None
    assert shares.tolist() == [1.0, 0.0, 0.0]  # ann or bob: cyd is best in no draw


def test_nothing_is_contested_once_all_draws_agree():
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
    _, model = state(problem, np.full(3, 9_000.0), np.full(3, 10_000.0))
    finder, rng = LineupFinder(problem.graph), np.random.default_rng(1)
    assert contested(finder, model, np.array([0]), np.ones(3, dtype=np.bool_), rng, duels=5) is None


def test_useless_edges_are_not_asked_about():
    """At s only a can be chosen, since t needs b: the pair of s decides nothing."""
    problem = dm.Problem.from_edges([("a", "s"), ("b", "s"), ("b", "t"), ("c", "u"), ("d", "u")])
    run = dm.explorer("condorcet", problem, seed=0, max_duels=20)
    while not run.done:
        (duel,) = run.ask()
        assert duel.position == "u"
        run.tell(duel, None)


def test_a_budget_is_part_of_what_a_run_depends_on():
    preferences = dm.instances.bradley_terry(5, 3, seed=1)
    once, again = (dm.simulate(preferences, "borda", seed=1, max_duels=200) for _ in range(2))
    assert once == again
