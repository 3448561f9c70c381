"""Rivals listed and rivals in tables, against all matchings one by one."""

from __future__ import annotations

import numpy as np
import pytest

import brute
from cases import each
from duelmatch.explorers.frugal.tables import SCALES, TabledRivals, Tables
from duelmatch.matchings.decisions import list_decisions, usable_edges

SEEDS = [1000, 1008, 1010, 1014, 1017, 1021, 1023, 1036, 1039, 1040, 1041, 1053, 1057]


def some_edges(graph, rng):
    """Mark most edges; the rest hold no matching at times."""
    return rng.random(graph.edges) < rng.choice([0.6, 0.8, 0.95, 1.0])


def mixture(tables, matching):
    """The logarithm of the mean of the wealths of the scales."""
    logs = [sum(tables.logs[scale, edge] for edge in matching) for scale in range(len(SCALES))]
    return float(np.logaddexp.reduce(logs) - np.log(len(SCALES)))


@each("seed", SEEDS)
def test_matchings_are_listed_completely_or_not_at_all(seed):
    graph = brute.problem(seed).graph
    rng = np.random.default_rng([seed, 1])
    for _ in range(5):
        allowed = some_edges(graph, rng)
        everyone = brute.matchings(graph)
        right = {tuple(row) for row in everyone[allowed[everyone].all(axis=1)].tolist()}
        rows = list_decisions(graph, allowed, 10_000)
        assert rows is not None
        assert len(rows) == len(right)
        assert {tuple(row) for row in rows.tolist()} == right
        if right:
            again = list_decisions(graph, allowed, len(right))
            assert again is None or len(again) == len(right)
            assert list_decisions(graph, allowed, len(right) - 1) is None


@each("seed", SEEDS)
@each("size", [1.0, 30.0, 2000.0])
def test_the_poorest_matching_through_an_edge_is_never_overrated(seed, size):
    graph = brute.problem(seed).graph
    everyone = brute.matchings(graph)
    rng = np.random.default_rng([seed, 2])
    tables = Tables(rng.normal(0, size, (len(SCALES), graph.edges)))
    wealth = np.array([mixture(tables, row) for row in everyone])
    np.testing.assert_allclose(tables.wealth(everyone), wealth, atol=1e-9 * size)
    for allowed in (np.ones(graph.edges, dtype=bool), some_edges(graph, rng)):
        kept = allowed[everyone].all(axis=1)
        bound = tables.poorest(graph, allowed)
        for edge in range(graph.edges):
            through = wealth[kept & (everyone == edge).any(axis=1)]
            if len(through):
                assert bound[edge] <= through.min() + 1e-6
                assert bound[edge] >= through.min() - 0.7 * size * graph.positions - np.log(len(SCALES))
            else:
                assert bound[edge] > 1e6, "no matching goes there"


def test_the_bound_is_sharp_where_one_scale_rules():
    graph = brute.problem(1023).graph
    rng = np.random.default_rng(3)
    logs = np.full((len(SCALES), graph.edges), -500.0)
    logs[2] = rng.normal(0, 3, graph.edges)
    everyone = brute.matchings(graph)
    tables = Tables(logs)
    for edge in np.flatnonzero(usable_edges(graph)):
        through = tables.wealth(everyone[(everyone == edge).any(axis=1)])
        assert tables.poorest(graph, usable_edges(graph))[edge] == pytest.approx(through.min())


@each("seed", [1000, 1008, 1023, 1039, 1041, 1053])
def test_an_edge_is_rejected_only_with_all_matchings_through_it(seed):
    graph = brute.problem(seed).graph
    everyone = brute.matchings(graph)
    rng = np.random.default_rng([seed, 4])
    usable = usable_edges(graph)
    for _ in range(30):
        rivals = TabledRivals(graph, usable, forget=True)
        rivals.base = Tables(rng.normal(2, 2, (len(SCALES), graph.edges)))
        poor = rivals.base.wealth(everyone) < 3.0
        rivals.reject(3.0)
        for row in everyone[poor]:
            assert rivals.is_possible(row)
            assert rivals.edges()[row].all()
        if rivals.left == 1:
            assert poor.sum() <= 1
        if rivals.left == 0:
            assert not poor.any()
