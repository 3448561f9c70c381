"""Decisions beyond one-to-one, against a list of all of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import choices
from brute import game_value
from cases import each
from duelmatch import matchings
from duelmatch.errors import TooLargeError
from duelmatch.matchings.counters import Counters
from duelmatch.matchings.decisions import allowed_edges, decisions_of
from duelmatch.matchings.flows import Flows
from duelmatch.matchings.general_game import DoubleOracle, LinearGame
from duelmatch.matchings.ruled import Ruled
from duelmatch.problem import Problem


def as_program(graph):
    """Return the decisions as if they were too many to list."""
    ruled = Ruled(graph)
    ruled.rows = None
    return ruled


@each("seed", choices.SEEDS)
def test_the_decisions_listed_are_those_of_the_definition(seed):
    problem = choices.problem(seed)
    listed = decisions_of(problem.graph).listed(None, 10_000)
    assert sorted(map(tuple, listed.tolist())) == sorted(map(tuple, choices.rows(problem).tolist()))


@each("seed", choices.SEEDS)
def test_the_oracle_finds_a_best_decision(seed):
    problem = choices.problem(seed)
    graph, rows = problem.graph, choices.rows(problem)
    rng = np.random.default_rng(seed)
    classes = [decisions_of(graph)]
    if graph.rules and seed % 3 == 0:
        classes.append(as_program(graph))
    if not graph.rules:
        classes.append(Flows(graph))
    for decisions in classes:
        for trial in range(4):
            weights = rng.integers(-3, 4, graph.edges).astype(float) if trial % 2 else rng.random(graph.edges)
            allowed = rng.random(graph.edges) < 0.9 if trial else np.ones(graph.edges, dtype=bool)
            required = rng.integers(0, graph.edges, int(rng.integers(0, 3))).tolist() if trial > 1 else []
            possible = allowed[rows].all(axis=1)
            for edge in required:
                possible &= (rows == edge).any(axis=1)
            found = decisions.best(weights, allowed, required)
            if not possible.any():
                assert found is None
                continue
            assert possible[(rows == found).all(axis=1)].all()
            assert (rows == found).all(axis=1).sum() == 1
            assert weights[found].sum() == pytest.approx(weights[rows[possible]].sum(axis=1).max(), abs=1e-9)


@each("seed", choices.SEEDS)
def test_alternatives_usable_and_certain_edges(seed):
    problem = choices.problem(seed)
    graph, rows, chi = problem.graph, choices.rows(problem), choices.indicators(problem) == 1
    weights = np.random.default_rng(seed).random(graph.edges)
    totals = weights[rows].sum(axis=1)
    decisions = decisions_of(graph)
    options = decisions.alternatives(weights)
    best = [totals[chi[:, edge]].max(initial=-np.inf) for edge in range(graph.edges)]
    without = [totals[~chi[:, edge]].max(initial=-np.inf) for edge in range(graph.edges)]
    assert options.with_edge == pytest.approx(best)
    assert options.without_edge == pytest.approx(without)
    assert np.array_equal(decisions.usable, chi.any(axis=0))
    assert np.array_equal(decisions.certain, chi.all(axis=0))
    other = decisions.best_other(weights, options.matching)
    others = totals[(rows != options.matching).any(axis=1)]
    assert (other is None) == (len(others) == 0)
    if other is not None:
        assert weights[other].sum() == pytest.approx(others.max())


@each("seed", lambda: [seed for seed in choices.SEEDS if choices.problem(seed).rules][::4])
def test_the_relaxation_bounds_the_weight_of_decisions_through_an_edge(seed):
    problem = choices.problem(seed)
    graph, rows = problem.graph, choices.rows(problem)
    rng = np.random.default_rng(seed)
    weights, allowed = rng.random(graph.edges), rng.random(graph.edges) < 0.9
    totals = np.where(allowed, weights, -np.inf)[rows].sum(axis=1)
    bound = as_program(graph).most_through(weights, allowed)
    exact = decisions_of(graph).most_through(weights, allowed)
    for edge in range(graph.edges):
        true = totals[(rows == edge).any(axis=1)].max(initial=-np.inf)
        assert exact[edge] == pytest.approx(true)
        assert bound[edge] >= true - 1e-9


@each("seed", lambda: [seed for seed in choices.SEEDS if choices.problem(seed).rules])
def test_whatever_the_multipliers_of_the_rules_are_the_charges_bound_every_decision(seed):
    problem = choices.problem(seed)
    graph, rng = problem.graph, np.random.default_rng([seed, 5])
    ruled = as_program(graph)
    for _ in range(5):
        multipliers = rng.integers(-3, 4, len(ruled._rule_rows.low))
        constant, charge = ruled.charged(multipliers)
        assert (charge[choices.rows(problem)].sum(axis=1) <= constant).all()


@each("seed", lambda: [seed for seed in choices.SEEDS if not choices.problem(seed).seats])
def test_the_decisions_of_the_allowed_edges_are_those_with_the_required_and_without_the_forbidden(seed):
    problem = choices.problem(seed)
    rows, rng = choices.rows(problem), np.random.default_rng([seed, 6])
    for _ in range(4):
        required = rng.choice(rng.choice(rows), int(rng.integers(0, 3)))
        forbidden = rng.choice(problem.graph.edges, int(rng.integers(0, 3)))
        wanted = np.array([{*required} <= {*row} and not {*forbidden} & {*row} for row in rows])
        assert np.array_equal(allowed_edges(problem.graph, required, forbidden)[rows].all(axis=1), wanted)


@each("seed", choices.SEEDS)
def test_counts_and_marginals(seed):
    problem = choices.problem(seed)
    assert matchings.count(problem) == len(choices.decisions(problem))
    shares = list(matchings.marginals(problem).values())
    assert shares == pytest.approx(choices.indicators(problem).mean(axis=0), abs=1e-12)


@each("seed", choices.SEEDS[:16])
def test_samples_are_uniform(seed):
    """A chi-square statistic beyond 1.5e-8 of its distribution: all 16 fail by chance below 1e-6."""
    from scipy.stats import chi2

    problem = choices.problem(seed)
    number = len(choices.decisions(problem))
    drawn = Counter(matchings.sample(problem, 40 * number, seed=seed))
    counts = np.array([drawn[problem.matching(row)] for row in choices.rows(problem).tolist()])
    assert counts.sum() == 40 * number
    if number > 1:
        assert ((counts - 40) ** 2 / 40).sum() < chi2.isf(1.5e-8, number - 1)


@each("seed", choices.SEEDS[::3])
def test_the_value_of_the_game(seed):
    problem = choices.problem(seed)
    chi, rng = choices.indicators(problem), np.random.default_rng(seed)
    Q = rng.random((len(problem.edges), len(problem.edges)))
    half = np.array([problem.weight.get(s, 1.0) ** 0.5 / problem.seats.get(s, 1) for _, s in problem.edges])
    scaled = Q * np.outer(half, half) / sum(problem.weight.get(s, 1.0) for s in problem.positions)
    assert matchings.game_value(problem, Q) == pytest.approx(game_value(chi, chi, scaled, 1), abs=1e-8)
    edge = int(rng.integers(len(problem.edges)))
    other = int(rng.integers(len(problem.edges)))
    named = problem.edges[edge], problem.edges[other]
    with_edge, without = chi[chi[:, edge] == 1], chi[chi[:, other] == 0]
    value = matchings.game_value(problem, Q, required_x=[named[0]], forbidden_y=[named[1]])
    assert value == pytest.approx(game_value(with_edge, without, scaled, 1), abs=1e-8)
    value = matchings.game_value(problem, Q, forbidden_x=[named[1]], required_y=[named[0]])
    assert value == pytest.approx(game_value(without, with_edge, scaled, 1), abs=1e-8)


@each("seed", lambda: [seed for seed in choices.SEEDS if not choices.problem(seed).rules][:60])
def test_the_program_and_the_double_oracle_agree(seed):
    decisions = Flows(choices.problem(seed).graph)
    matrix = np.random.default_rng(seed).random((decisions.graph.edges, decisions.graph.edges))
    one, two = LinearGame(decisions, matrix).solve(), DoubleOracle(decisions, matrix).solve()
    assert one.value == pytest.approx(two.value, abs=1e-7)
    assert one.gap < 1e-7
    assert two.gap < 1e-7


def test_what_takes_too_many_states_is_refused_with_the_limit():
    names = [f"c{i}" for i in range(12)]
    problem = Problem.complete(names, list("stuv"), seats=dict.fromkeys("stuv", 2))
    with pytest.raises(TooLargeError, match="more than 20 states"):
        Counters(problem.graph, states=20)
    with pytest.raises(TooLargeError, match="states, which is the limit"):
        matchings.count(problem, memory=1000)
