"""The model of a position: its fit, and how far it believes itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import duelmatch as dm
from brute import random_answers
from duelmatch.models.strengths import SPREADS, TRUSTS, PairLayout, StrengthModel, fit_strengths


def probabilities(preferences):
    table = preferences.problem.graph.pair_table
    return preferences.matrix[table.first, table.second]


def circle(share):
    """Five candidates, each of whom beats the next two with the same probability: no strengths at all."""
    return dm.instances.cyclic(5, 2, strength=share - 0.5)


def test_the_fit_is_the_optimum_of_the_penalised_likelihood():
    preferences = dm.instances.bradley_terry(5, 2, spread=1.0, seed=3)
    graph = preferences.problem.graph
    wins, duels = random_answers(preferences, 200)
    layout = PairLayout.of(graph)
    strength, factor = np.zeros(graph.edges), np.zeros(int(layout.square[-1]))
    fit_strengths(layout, wins, duels, 0.7, 1e9, strength, factor)
    table = graph.pair_table

    def loss(s):
        chance = expit(s[table.first] - s[table.second])
        likelihood = wins * np.log(chance) + (duels - wins) * np.log1p(-chance)
        return (s**2).sum() / (2 * 0.7**2) - likelihood.sum()

    best = minimize(loss, np.zeros(graph.edges), method="BFGS", options={"gtol": 1e-8})
    assert strength == pytest.approx(best.x, abs=1e-5)


def test_the_factor_is_that_of_the_curvature():
    preferences = dm.instances.bradley_terry(4, 1, seed=1)
    graph = preferences.problem.graph
    wins, duels = random_answers(preferences, 60)
    layout = PairLayout.of(graph)
    strength, factor = np.zeros(4), np.zeros(16)
    fit_strengths(layout, wins, duels, 1.0, 1e9, strength, factor)
    lower = np.tril(factor.reshape(4, 4))
    curvature = np.eye(4)
    for one, other, n in zip(layout.one, layout.other, duels, strict=True):
        pi = expit(strength[one] - strength[other])
        direction = np.zeros(4)
        direction[[one, other]] = 1.0, -1.0
        curvature += n * pi * (1 - pi) * np.outer(direction, direction)
    assert lower @ lower.T == pytest.approx(curvature, rel=1e-3)


def test_without_answers_nobody_is_ahead():
    graph = dm.instances.random_problem(4, 2).graph
    mean, cautious = StrengthModel(graph, np.zeros(graph.pairs), np.zeros(graph.pairs)).estimates()
    assert mean == pytest.approx(np.full(graph.pairs, 0.5))
    assert cautious == pytest.approx(np.full(graph.pairs, 0.5))


def test_a_pair_that_never_met_is_estimated_from_the_others():
    problem = dm.Problem.complete(["a", "b", "c"], ["s"])
    wins, duels = np.array([30.0, 0.0, 30.0]), np.array([40.0, 0.0, 40.0])  # a over b, (a, c), b over c
    model = StrengthModel(problem.graph, wins, duels)
    model.settle()
    mean, _ = model.estimates()
    assert mean[1] > mean[0] > 0.6


def test_strengths_are_trusted_where_they_explain_the_answers_and_not_in_a_circle():
    explained = dm.instances.bradley_terry(5, 2, spread=1.0, seed=1)
    trust = {}
    for name, preferences in (("strengths", explained), ("circle", circle(0.8))):
        wins, duels = random_answers(preferences, 6_000)
        model = StrengthModel(preferences.problem.graph, wins, duels)
        model.settle()
        trust[name] = model.trust
    assert trust["strengths"] >= 128
    assert trust["circle"] <= 8


@pytest.mark.parametrize(
    "preferences", [circle(0.8), dm.instances.uniform(5, 2, seed=4)], ids=["circle", "random"]
)
def test_many_answers_speak_for_themselves(preferences):
    wins, duels = random_answers(preferences, 40_000)
    model = StrengthModel(preferences.problem.graph, wins, duels)
    model.settle()
    mean, cautious = model.estimates()
    assert np.abs(mean - probabilities(preferences)).max() < 0.05
    assert np.abs(cautious - probabilities(preferences)).max() < 0.05


def test_the_model_beats_the_shares_of_single_pairs_when_answers_are_few():
    errors = {"model": 0.0, "shares": 0.0}
    for seed in range(10):
        preferences = dm.instances.bradley_terry(8, 3, spread=0.8, seed=seed)
        wins, duels = random_answers(preferences, 200, seed)
        model = StrengthModel(preferences.problem.graph, wins, duels)
        model.settle()
        truth = probabilities(preferences)
        errors["model"] += ((model.estimates()[0] - truth) ** 2).mean()
        errors["shares"] += (((wins + 1) / (duels + 2) - truth) ** 2).mean()
    assert errors["model"] < 0.6 * errors["shares"]


def test_draws_have_the_moments_of_the_posterior():
    preferences = dm.instances.bradley_terry(5, 2, spread=0.8, seed=2)
    wins, duels = random_answers(preferences, 1_000)
    model = StrengthModel(preferences.problem.graph, wins, duels)
    model.settle()
    draws = model.draws(np.random.default_rng(0), 4_000)
    mean, _ = model.estimates()
    assert np.abs(draws.mean(axis=0) - mean).max() < 0.01
    assert ((draws >= 0) & (draws <= 1)).all()


def test_adjusting_step_by_step_finds_as_likely_a_setting_as_trying_all():
    preferences = dm.instances.bradley_terry(6, 3, spread=1.5, seed=5)
    wins, duels = random_answers(preferences, 2_000)
    walking = StrengthModel(preferences.problem.graph, wins, duels)
    for _ in range(60):
        walking.adjust()
    thorough = StrengthModel(preferences.problem.graph, wins, duels)
    likely = thorough.settle()
    assert likely.shape == (len(SPREADS), len(TRUSTS))
    assert likely.sum() == pytest.approx(1.0)
    assert walking.setting == thorough.setting


def test_a_fit_follows_counts_that_change_in_place():
    graph = dm.Problem.complete(["a", "b"], ["s"]).graph
    wins, duels = np.zeros(1), np.zeros(1)
    model = StrengthModel(graph, wins, duels)
    wins += 9
    duels += 10
    model.fit()
    assert model.estimates()[0][0] > 0.6
