"""The information limit where a winner is taken for granted, against its definition by worlds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import brute
import duelmatch as dm
from duelmatch.theory import any_opponent


def by_worlds(preferences: dm.Preferences, omega: np.ndarray) -> float:
    """Return 1 / the least divergence from a world in which another is the winner, by quadratic programs."""
    graph = preferences.problem.graph
    ends = np.array(brute.pairs(graph))
    truth = preferences.matrix[ends[:, 0], ends[:, 1]]
    everyone = brute.matchings(graph)
    winner = preferences.problem.edge_numbers(preferences.condorcet_winner())
    least = np.inf
    for rival in everyone:
        if (rival == winner).all():
            continue
        constraints = []
        for other in everyone:
            signs = np.zeros(len(ends))
            for own, another in zip(rival, other, strict=True):
                if own != another:
                    place = int(np.flatnonzero((ends == sorted((own, another))).all(axis=1))[0])
                    signs[place] += 1.0 if own < another else -1.0
            constraints.append(signs)
        matrix = np.array(constraints)
        found = minimize(
            lambda p: 2 * omega @ (p - truth) ** 2,
            np.full(len(ends), 0.5),
            jac=lambda p: 4 * omega * (p - truth),
            constraints=LinearConstraint(matrix, 0.5 * matrix.sum(axis=1), np.inf),
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        least = min(least, found.fun)
    return 1 / least


def test_the_limit_is_what_its_allocation_needs_in_the_nearest_world_and_no_other_needs_less():
    sizes = [(4, 1, 0), (3, 2, 100), (3, 3, 200), (4, 1, 300), (3, 2, 400), (3, 1, 15), (3, 1, 59), (3, 3, 4)]
    drawn, seen = [], []
    for candidates, positions, begin in sizes:
        kind = partial(dm.instances.uniform, candidates, positions, low=0.1, high=0.9)
        several = (kind(seed=seed) for seed in range(begin, begin + 100))
        drawn.append(next(each for each in several if each.condorcet_winner() is not None))
    for seed, preferences in enumerate([*drawn, dm.instances.planted(3, 1, gap=0.2, seed=4)]):
        found = dm.theory.information_limit(preferences, "condorcet", assume_winner=True)
        pairs = preferences.problem.graph.pair_table
        edges = preferences.problem.edges
        omega = np.array(
            [
                found.allocation.get((edges[a][1], edges[a][0], edges[b][0]), 0.0)
                for a, b in zip(pairs.first, pairs.second, strict=True)
            ]
        )
        assert by_worlds(preferences, omega) == pytest.approx(found.upper, rel=1e-4)
        assert found.lower <= found.upper <= found.lower * (1 + any_opponent.ACCURACY)
        for push in np.random.default_rng(seed).dirichlet(np.ones(len(omega)), 10):
            assert by_worlds(preferences, 0.95 * omega + 0.05 * push) >= found.lower * (1 - 1e-6)
        seen.append(found.lower / dm.theory.information_limit(preferences, "condorcet").lower)
    assert min(seen) < 0.8, "some gain by it"
    assert max(seen) <= 1 + 1e-9, "nobody loses"


def test_strengths_leave_nothing_to_gain():
    preferences = dm.instances.bradley_terry(4, 3, seed=1)
    known, unknown = (
        dm.theory.lower_bound(preferences, "condorcet", 0.05, assume_winner=assume)
        for assume in (True, False)
    )
    assert known == pytest.approx(unknown, rel=0.01)


def test_it_is_never_above_the_limit_without_a_winner_for_granted():
    for seed in range(12):
        for preferences in (
            dm.instances.bradley_terry(3, 1, spread=1.0, seed=seed),
            dm.instances.planted(3, 1, gap=0.2, seed=seed),
        ):
            unknown = dm.theory.information_limit(preferences, "condorcet")
            known = dm.theory.information_limit(preferences, "condorcet", assume_winner=True)
            assert known.lower <= unknown.lower
            assert known.upper <= unknown.upper


def test_what_it_is_not_for_is_refused(monkeypatch):
    preferences = dm.instances.bradley_terry(4, 3, seed=1)
    with pytest.raises(dm.ProblemError, match="assume_winner is for the criterion 'condorcet'"):
        dm.theory.lower_bound(preferences, "borda", 0.05, assume_winner=True)
    problem = dm.Problem.complete(["a", "b", "c"], ["s"], seats={"s": 2})
    wins = {("s", "a", "b"): 0.8, ("s", "a", "c"): 0.9, ("s", "b", "c"): 0.7}
    with pytest.raises(dm.ProblemError, match="one seat"):
        dm.theory.information_limit(dm.Preferences(problem, wins), "condorcet", assume_winner=True)
    monkeypatch.setattr(any_opponent, "MOST_DECISIONS", 10)
    with pytest.raises(dm.TooLargeError, match="at most 10 decisions"):
        dm.theory.lower_bound(preferences, "condorcet", 0.05, assume_winner=True)
