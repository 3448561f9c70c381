"""The least beaten matching against enumeration, and the exact assignment solver against scipy's."""

from __future__ import annotations

import numpy as np
import pytest

import brute
import duelmatch as dm
from duelmatch.matchings import minimax
from duelmatch.matchings.decisions import best_matching
from duelmatch.matchings.integers import cheapest

SEEDS = [seed for seed in range(1, 90) if len(brute.matchings(brute.problem(seed).graph)) <= 400]


def smallest_worst_defeat(seed: int) -> float:
    graph, matrix = brute.problem(seed).graph, brute.preference_matrix(seed)
    chi = brute.indicators(graph)
    return float((chi @ matrix @ chi.T / graph.positions - 0.5).max(axis=0).min())


@pytest.mark.parametrize("method", ["listed", "program"])
def test_no_matching_is_less_beaten(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if method == "program":
        monkeypatch.setattr(minimax, "LISTED", 0)
    for seed in SEEDS:
        problem = brute.problem(seed)
        prefs = dm.Preferences.from_matrix(problem, brute.preference_matrix(seed))
        matching, loss = prefs.least_beaten()
        assert loss == pytest.approx(smallest_worst_defeat(seed), abs=1e-9), seed
        against = brute.scores_against(problem.graph, prefs.matrix, problem.edge_numbers(matching))
        assert max(against) - 0.5 == pytest.approx(loss, abs=1e-9), seed
        winner = brute.winner_of(seed)
        if winner is not None:
            assert matching == problem.matching(winner.tolist()), seed


@pytest.mark.parametrize("method", ["listed", "program"])
def test_a_matching_can_be_left_out(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if method == "program":
        monkeypatch.setattr(minimax, "LISTED", 0)
    for seed in SEEDS[:60]:
        graph, matrix = brute.problem(seed).graph, brute.preference_matrix(seed)
        rows = brute.matchings(graph)
        if len(rows) == 1:
            continue
        ahead = np.where(graph.comparable, np.round(40 * (matrix - 0.5)), 0).astype(np.int64)
        chi = brute.indicators(graph).astype(np.int64)
        defeats = -(chi @ ahead @ chi.T).min(axis=1)
        best = int(defeats.argmin())
        found = minimax.least_beaten(graph, ahead, rows[best])
        assert found is not None
        assert (found[0] != rows[best]).any()
        assert found[1] == np.delete(defeats, best).min()


def test_the_only_matching_leaves_none() -> None:
    graph = dm.Problem.complete(["ann"], ["chair"]).graph
    assert minimax.least_beaten(graph, np.zeros((1, 1), dtype=np.int64), np.array([0])) is None


def test_numbers_of_any_size_stay_exact() -> None:
    for seed in SEEDS[:40]:
        graph, matrix = brute.problem(seed).graph, brute.preference_matrix(seed)
        small = np.where(graph.comparable, np.round(40 * (matrix - 0.5)), 0).astype(np.int64)
        large = small.astype(object) * 10**30
        one, other = minimax.least_beaten(graph, small), minimax.least_beaten(graph, large)
        assert one is not None
        assert other is not None
        assert other[1] == int(one[1]) * 10**30


def test_whole_numbers_that_doubles_cannot_hold_are_refused_beyond_one_to_one() -> None:
    graph = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "jury"], seats={"jury": 2}).graph
    ahead = np.where(graph.comparable, np.sign(np.arange(6)[None, :] - np.arange(6)[:, None]), 0)
    found = minimax.least_beaten(graph, ahead * ((1 << 53) // 9))
    assert found is not None
    for kind in (np.int64, object):
        with pytest.raises(dm.TooLargeError, match="weighted too finely"):
            minimax.least_beaten(graph, ahead.astype(kind) * ((1 << 53) // 9 + 1))


def test_what_costs_too_much_is_refused_with_what_it_would_take(monkeypatch: pytest.MonkeyPatch) -> None:
    prefs = dm.instances.uniform(60, 20, seed=1)
    with pytest.raises(dm.TooLargeError, match="72,000 coefficients; the limit is 40,000"):
        prefs.least_beaten()
    monkeypatch.setattr(minimax, "WORK", 2000)
    with pytest.raises(dm.TooLargeError, match="branchings"):
        dm.instances.uniform(10, 10, seed=1).least_beaten()
    graph = dm.Problem.complete([f"c{i}" for i in range(10)], [f"s{j}" for j in range(10)]).graph
    fine = np.where(graph.comparable, 10**8, 0) * np.sign(
        np.arange(graph.edges)[:, None] - np.arange(graph.edges)
    )
    with pytest.raises(dm.TooLargeError, match="too fine"):
        minimax.least_beaten(graph, fine)


@pytest.mark.parametrize("kind", ["int64", "float64", "object"])
def test_the_cheapest_assignment_is_that_of_scipy(kind: str) -> None:
    for seed in SEEDS:
        graph = brute.problem(seed).graph
        rng = np.random.default_rng(seed)
        costs = rng.integers(-50, 50, graph.edges).astype(kind)
        allowed = rng.random(graph.edges) < 0.9
        theirs = best_matching(graph, -costs.astype(np.float64), allowed)
        ours = cheapest(graph, costs, allowed)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert costs[ours].sum() == costs[theirs].sum()
