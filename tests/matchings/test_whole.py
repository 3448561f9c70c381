"""The cheapest decision in whole numbers, against a list of all of them."""

from copy import copy
from itertools import combinations

import numpy as np
import pytest

import choices
from cases import each
from duelmatch.errors import TooLargeError
from duelmatch.matchings import whole
from duelmatch.matchings.assignment import decisions_of
from duelmatch.matchings.integers import cheapest
from duelmatch.matchings.ruled import Ruled
from duelmatch.problem import Problem
from duelmatch.rules import Rule

RULED = [seed for seed in choices.SEEDS if choices.problem(seed).graph.rules]


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


@each("seed", RULED[::2])
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


def test_it_gives_up_where_rules_are_too_tangled(monkeypatch):
    names, places = [f"c{i}" for i in range(6)], ["s", "t", "u"]
    rules = [Rule(of=pair, at_most=1) for pair in combinations(names[:4], 2)]
    graph = unlisted(Problem.complete(names, places, rules=rules))
    costs = np.where(graph.edge_candidate < 4, -1, 0)
    assert costs[cheapest(graph, costs)].sum() == -1
    assert not decisions_of(graph).fast
    monkeypatch.setattr(whole, "MOST_NODES", 1)
    with pytest.raises(TooLargeError, match=r"within 1 branchings\. Use fewer rules"):
        cheapest(graph, costs)
