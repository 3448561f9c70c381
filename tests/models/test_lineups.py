"""The best decision of a table of probabilities; beyond one-to-one, against a list of all."""

from __future__ import annotations

import numpy as np
import pytest

import brute
import choices
import duelmatch as dm
from cases import each
from duelmatch.matchings.counting import edge_marginals
from duelmatch.models.lineups import DecisionFinder, LineupFinder, finder_of, least_expected

INSTANCES = {
    "strengths": dm.instances.bradley_terry(5, 3, spread=1.0, seed=1),
    "sparse": dm.instances.uniform(6, 4, density=0.5, seed=2),
    "random": dm.instances.uniform(4, 3, seed=3),
    "circle": dm.instances.cyclic(4, 3, strength=0.2),
}
each_instance = pytest.mark.parametrize("name", INSTANCES)


def table(preferences):
    pairs = preferences.problem.graph.pair_table
    return preferences.matrix[pairs.first, pairs.second][None]


def anyone(preferences):
    return preferences.problem.graph.some_matching()


@each_instance
def test_borda_is_the_exact_winner(name):
    preferences = INSTANCES[name]
    finder = LineupFinder(preferences.problem.graph, edge_marginals(preferences.problem.graph))
    best, _ = finder.best(table(preferences), anyone(preferences))
    found = preferences.problem.matching(best[0].tolist())
    assert preferences.borda_score(found) == pytest.approx(
        preferences.borda_score(preferences.borda_winner())
    )


@each_instance
def test_condorcet_is_the_winner_if_there_is_one_and_its_defeat_is_right(name):
    preferences = INSTANCES[name]
    finder = LineupFinder(preferences.problem.graph)
    best, defeats = finder.best(table(preferences), anyone(preferences))
    found = preferences.problem.matching(best[0].tolist())
    _, least = preferences.least_beaten()
    worst = max(
        0.5 - preferences.score(found, preferences.problem.matching(row.tolist()))
        for row in brute.matchings(preferences.problem.graph)
    )
    positions = len(preferences.problem.positions)
    assert defeats[0] / positions == pytest.approx(worst)
    assert worst >= least - 1e-12
    if preferences.condorcet_winner() is not None:
        assert found == preferences.condorcet_winner()


@each_instance
def test_shortfalls_are_those_of_the_scores(name):
    preferences = INSTANCES[name]
    graph, problem = preferences.problem.graph, preferences.problem
    matching = brute.matchings(graph)[0]
    borda = LineupFinder(graph, edge_marginals(graph))
    best, _ = borda.best(table(preferences), anyone(preferences))
    behind = preferences.borda_score(preferences.borda_winner()) - preferences.borda_score(
        problem.matching(matching.tolist())
    )
    assert borda.shortfalls(table(preferences), best, matching)[0] == pytest.approx(behind)
    condorcet = LineupFinder(graph)
    worst = max(
        0.5 - preferences.score(problem.matching(matching.tolist()), problem.matching(row.tolist()))
        for row in brute.matchings(graph)
    )
    assert condorcet.shortfalls(table(preferences), best, matching)[0] == pytest.approx(worst)


def test_only_allowed_edges_are_used():
    preferences = INSTANCES["strengths"]
    graph = preferences.problem.graph
    finder = LineupFinder(graph)
    best, _ = finder.best(table(preferences), anyone(preferences))
    allowed = np.ones(graph.edges, dtype=np.bool_)
    allowed[best[0][0]] = False
    start = graph.some_matching(allowed)
    other, _ = finder.best(table(preferences), start, allowed)
    assert allowed[other[0]].all()


def test_the_leader_is_the_least_beaten_on_average():
    """Three tables with a winner each; c is never beaten by much, a and b are."""
    problem = dm.Problem.complete(["a", "b", "c"], ["s"])
    tables = np.array([[0.9, 0.52, 0.1], [0.1, 0.1, 0.52], [0.5, 0.45, 0.45]])  # (a, b), (a, c), (b, c)
    finder = LineupFinder(problem.graph)
    best, _ = finder.best(tables, np.array([0]))
    assert best.ravel().tolist() == [0, 1, 2]
    leader, shortfall = least_expected(finder, tables, best, np.array([0]))
    expected = [finder.shortfalls(tables, best, np.array([edge])).mean() for edge in range(3)]
    assert leader.tolist() == [2]
    assert shortfall == pytest.approx(min(expected))


def test_in_circles_the_least_beaten_is_mostly_found():
    exact = 0
    for seed in range(40):
        preferences = dm.instances.uniform(5, 3, seed=seed)
        _, defeats = LineupFinder(preferences.problem.graph).best(table(preferences), anyone(preferences))
        _, least = preferences.least_beaten()
        assert defeats[0] / 3 >= least - 1e-12, f"seed {seed}"
        exact += defeats[0] / 3 <= max(least, 0.0) + 1e-9
    assert exact >= 30  # walks along best responses alone find it in about half


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
