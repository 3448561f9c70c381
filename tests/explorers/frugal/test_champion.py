"""What the frugal search asks: the allocation of the limit, and champions found by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import brute
from cases import each
from duelmatch.explorers.frugal.design import allocation
from duelmatch.explorers.frugal.search import borda_champion, condorcet_champion
from duelmatch.explorers.frugal.stakes import Pairs
from duelmatch.matchings.decisions import usable_edges
from duelmatch.theory.limit import balanced_allocation
from explorers.frugal.test_stakes import stakes_for
from explorers.frugal.watching import ALONE, PROBLEMS, coefficients, gaps

MANY = 60
ALLOCATION = "duelmatch.explorers.frugal.design"


def needed(graph, criterion, seed, explored, calls, monkeypatch):
    """Return the duels of the hardest rival under the design, over those under the best allocation."""
    monkeypatch.setattr(f"{ALLOCATION}.EXPLORED", explored)
    rng = np.random.default_rng(seed)
    everyone = brute.matchings(graph)
    champion = everyone[rng.integers(len(everyone))]
    rivals = everyone[(everyone != champion).any(axis=1)]
    squares = rng.uniform(0.02, 0.4, len(rivals)) ** 2
    costs = coefficients(graph, criterion, tuple(champion.tolist())) ** 2
    costs = costs[(everyone != champion).any(axis=1)] / (2 * squares[:, None])
    least, _ = balanced_allocation(costs)
    stakes = stakes_for(graph, criterion, champion)
    shares = np.full(len(rivals), 1 / len(rivals))
    for _ in range(calls):
        omega = allocation(stakes, rivals, squares, shares, usable_edges(graph))
    assert omega.sum() == pytest.approx(1.0)
    assert (omega[costs.any(axis=0)] > 0).all(), "Y would not have mean D"
    told = costs > 0
    return float(np.where(told, costs / np.where(omega > 0, omega, 1.0), 0.0).sum(axis=1).max() / least)


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_design_comes_close_to_the_best_allocation(monkeypatch, problem, criterion):
    for seed in range(5):
        alone = needed(problem.graph, criterion, seed, 1e-9, MANY, monkeypatch)
        assert 1 - 1e-6 <= alone < 1.03
        with_exploration = needed(problem.graph, criterion, seed, 0.1, MANY, monkeypatch)
        assert 1 - 1e-6 <= with_exploration < 1.03 / 0.9


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_a_single_step_is_far_from_it(monkeypatch, criterion):
    """So the test above can fail."""
    monkeypatch.setattr(f"{ALLOCATION}.STEPS", 0)
    far = [needed(PROBLEMS["wide"].graph, criterion, seed, 1e-9, 1, monkeypatch) for seed in range(5)]
    assert max(far) > 1.1


# Whom it backs, against the winners found by enumeration


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


@each("problem", PROBLEMS.values())
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


@each("problem", PROBLEMS.values())
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


@each("problem", PROBLEMS.values())
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
