"""Whom the frugal search backs, against the winners found by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import brute
from duelmatch.explorers.frugal.design import borda_champion, condorcet_champion
from duelmatch.explorers.frugal.stakes import Pairs
from explorers.frugal.watching import ALONE, PROBLEMS, gaps


class Possible:
    """Some of the matchings may be the winner."""

    def __init__(self, rows):
        self.rows = rows

    def is_possible(self, matching):
        return bool((self.rows == matching).all(axis=1).any())

    def somebody(self):
        return self.rows[0]


def everything(graph):
    return np.ones(graph.edges, dtype=bool)


def estimates(graph, rng):
    """Some with a winner, many without one, some with ties."""
    pairs = len(brute.pairs(graph))
    return rng.choice(
        [rng.uniform(-0.5, 0.5, pairs), rng.integers(-2, 3, pairs) / 4, rng.normal(0, 0.01, pairs)]
    )


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_a_condorcet_champion_has_no_master_or_beats_a_possible_winner(problem):
    graph = problem.graph
    rng = np.random.default_rng(1)
    everyone = brute.matchings(graph)
    unbeaten = cycles = 0
    for _ in range(150):
        advantage = estimates(graph, rng)
        possible = everyone[rng.permutation(len(everyone))[: rng.integers(1, len(everyone) + 1)]]
        last = everyone[rng.integers(len(everyone))] if rng.random() < 0.7 else None
        pairs = Pairs(graph)
        pairs.duels += rng.integers(0, 100, pairs.count)
        champion = condorcet_champion(pairs, advantage, last, everything(graph), Possible(possible))
        lead = gaps(graph, "condorcet", champion, advantage + 0.5)
        if lead.min() >= -1e-9:
            unbeaten += 1
        else:
            cycles += 1
            among = [(row == possible).all(axis=1).any() for row in everyone]
            assert lead[among].max() > 1e-9
    assert min(unbeaten, cycles) > 5


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_winner_of_the_estimates_stays_champion(problem):
    graph = problem.graph
    rng = np.random.default_rng(2)
    everyone = brute.matchings(graph)
    found = 0
    for _ in range(150):
        advantage = estimates(graph, rng)
        for row in everyone:
            others = (everyone != row).any(axis=1)
            if gaps(graph, "condorcet", row, advantage + 0.5)[others].min() <= 1e-9:
                continue
            found += 1
            champion = condorcet_champion(Pairs(graph), advantage, row, everything(graph), Possible(everyone))
            np.testing.assert_array_equal(champion, row)
    assert found > 5


def test_a_winner_of_the_estimates_is_found_from_anywhere_at_one_position():
    graph = ALONE.graph
    rng = np.random.default_rng(3)
    for _ in range(100):
        strength = rng.normal(size=graph.edges)
        advantage = np.array([np.tanh(strength[a] - strength[b]) / 2 for a, b in brute.pairs(graph)])
        for last in (None, *brute.matchings(graph)):
            champion = condorcet_champion(
                Pairs(graph), advantage, last, everything(graph), Possible(brute.matchings(graph))
            )
            assert champion.tolist() == [int(strength.argmax())]


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_borda_champion_has_the_largest_reward_of_the_matchings_allowed(problem):
    graph = problem.graph
    rng = np.random.default_rng(4)
    everyone = brute.matchings(graph)
    for _ in range(50):
        advantage = estimates(graph, rng)
        allowed = np.isin(np.arange(graph.edges), everyone[rng.random(len(everyone)) < 0.5])
        rows = everyone[allowed[everyone].all(axis=1)]
        if not len(rows):
            continue
        champion = borda_champion(Pairs(graph), advantage, brute.marginals(graph), allowed)
        assert allowed[champion].all()
        lead = gaps(graph, "borda", champion, advantage + 0.5)
        assert lead[allowed[everyone].all(axis=1)].min() >= -1e-9
