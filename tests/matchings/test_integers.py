"""The cheapest decision in whole numbers, against a list of all of them."""

from copy import copy
from itertools import combinations

import numpy as np

import choices
from cases import each
from duelmatch.matchings import integers
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.integers import cheapest, cheapest_and_bound
from duelmatch.matchings.ruled import Ruled
from duelmatch.problem import Problem
from duelmatch.rules import Rule


def ruled():
    return [seed for seed in choices.SEEDS if choices.problem(seed).graph.rules]


def unlisted(problem):
    """Return the graph of a problem with rules whose decisions are taken to be too many to list."""
    graph = copy(problem.graph)  # other tests use the problem's own
    decisions = Ruled(graph)
    decisions.rows = None
    graph.__dict__["_decisions"] = decisions
    return graph


def check(graph, rows, costs, allowed):
    found = cheapest(graph, costs, allowed)
    possible = rows if allowed is None else rows[allowed[rows].all(axis=1)]
    if not len(possible):
        assert found is None
        return
    assert (possible == found).all(axis=1).any()
    assert costs[found].sum() == min(costs[row].sum() for row in possible)


@each("seed", choices.SEEDS[::2])
def test_it_costs_least(seed):
    problem = choices.problem(seed)
    rng = np.random.default_rng([seed, 1])
    costs = rng.integers(-4, 5, problem.graph.edges)
    for allowed in (None, rng.random(problem.graph.edges) < 0.9):
        check(problem.graph, choices.rows(problem), costs, allowed)


@each("seed", lambda: ruled()[::2])
def test_so_it_does_by_branch_and_bound(seed):
    problem = choices.problem(seed)
    graph, rng = unlisted(problem), np.random.default_rng([seed, 2])
    for largest in (2, 10**6, 10**15):
        costs = rng.integers(-largest, largest + 1, graph.edges)
        for allowed in (None, rng.random(graph.edges) < 0.9):
            check(graph, choices.rows(problem), costs, allowed)


@each("seed", choices.SEEDS[::40])
def test_numbers_beyond_64_bits_stay_exact(seed):
    problem = choices.problem(seed)
    graph = unlisted(problem) if problem.graph.rules else problem.graph
    rng = np.random.default_rng([seed, 3])
    small = rng.integers(-1, 2, graph.edges)
    costs = np.array([10**30 * int(large) for large in rng.integers(0, 2, graph.edges)], dtype=object) + small
    check(graph, choices.rows(problem), costs, None)


def test_where_rules_are_too_tangled_the_bound_is_sound(monkeypatch):
    names, places = [f"c{i}" for i in range(6)], ["s", "t", "u"]
    rules = [Rule(of=pair, at_most=1) for pair in combinations(names[:4], 2)]
    graph = unlisted(Problem.complete(names, places, rules=rules))
    costs = np.where(graph.edge_candidate < 4, -1, 0)
    assert cheapest_and_bound(graph, costs)[1] == -1
    assert not decisions_of(graph).fast
    monkeypatch.setattr(integers, "MOST_NODES", 1)
    found, at_least = cheapest_and_bound(graph, costs)
    assert graph.allows(found)
    assert at_least < -1 <= costs[found].sum()


@each("seed", lambda: ruled()[::8])
def test_it_may_be_cut_short_anywhere(monkeypatch, seed):
    problem = choices.problem(seed)
    graph, rows, rng = unlisted(problem), choices.rows(problem), np.random.default_rng([seed, 4])
    costs = rng.integers(-9, 10, graph.edges)
    for nodes in (0, 1, 2, 4):
        monkeypatch.setattr(integers, "MOST_NODES", nodes)
        found, at_least = cheapest_and_bound(graph, costs)
        assert at_least <= costs[rows].sum(axis=1).min() <= costs[found].sum()
        assert graph.allows(found)
