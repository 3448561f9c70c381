"""The best decision of a table beyond one-to-one, against a list of all decisions."""

from __future__ import annotations

import numpy as np
import pytest

import choices
from cases import each
from duelmatch.models.general_lineups import DecisionFinder, finder_of
from duelmatch.models.lineups import LineupFinder

SOME = choices.SEEDS[:64]


def case(seed):
    problem = choices.problem(seed)
    pairs = problem.graph.pair_table
    table = choices.preference_matrix(seed)[pairs.first, pairs.second][None]
    return problem, table, choices.rows(problem), choices.scores(seed)


def place(rows, decision):
    return int(np.flatnonzero((rows == decision).all(axis=1))[0])


@each("seed", SOME)
def test_borda_is_the_highest_mean_score_and_shortfalls_are_below_it(seed):
    problem, table, rows, scores = case(seed)
    borda = scores.mean(axis=1)
    finder = DecisionFinder(problem.graph, choices.indicators(problem).mean(axis=0))
    best, defeats = finder.best(table, rows[0])
    assert borda[place(rows, best[0])] == pytest.approx(borda.max())
    assert defeats.tolist() == [0.0]
    assert finder.shortfalls(table, best, rows[-1])[0] == pytest.approx(borda.max() - borda[-1], abs=1e-12)


@each("seed", SOME)
def test_condorcet_ends_unbeaten_or_says_by_how_much_it_is_beaten(seed):
    problem, table, rows, scores = case(seed)
    finder = DecisionFinder(problem.graph)
    best, defeats = finder.best(table, rows[0])
    worst = np.maximum(0.5 - scores.min(axis=1), 0.0)
    found = worst[place(rows, best[0])]
    assert defeats[0] / problem.graph.total_weight == pytest.approx(found, abs=1e-12)
    assert finder.shortfalls(table, best, rows[-1])[0] == pytest.approx(worst[-1], abs=1e-12)


@each("seed", SOME[::4])
def test_only_usable_and_allowed_edges_are_used(seed):
    problem, table, rows, _ = case(seed)
    usable = np.zeros(problem.graph.edges, dtype=bool)
    usable[rows[-1]] = usable[rows[0]] = True
    for marginals in (None, choices.indicators(problem).mean(axis=0)):
        assert usable[DecisionFinder(problem.graph, marginals, usable).best(table, rows[0])[0]].all()
        assert usable[DecisionFinder(problem.graph, marginals).best(table, rows[0], usable)[0]].all()


def test_matchings_keep_their_own():
    kinds = {seed: type(finder_of(choices.problem(seed).graph)) for seed in SOME}
    for seed, kind in kinds.items():
        graph = choices.problem(seed).graph
        assert kind is (LineupFinder if graph.one_to_one and graph.even else DecisionFinder)
