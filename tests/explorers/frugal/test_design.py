"""Where a winner is taken for granted, each rival has an opponent of its own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import brute
import duelmatch as dm
from duelmatch.explorers.frugal.design import Beliefs, Opponents
from duelmatch.explorers.frugal.listed import Ledger
from duelmatch.explorers.frugal.stakes import Pairs
from explorers.frugal.test_soundness import check_bets
from explorers.frugal.watching import PROBLEMS, SQUARE, coefficients


def test_an_opponent_is_a_decision_and_what_it_is_staked_on_is_the_defeat():
    """The pairs and signs are the coefficients of D(C, B) for some matching C."""
    for number, problem in enumerate(PROBLEMS.values()):
        graph, rng = problem.graph, np.random.default_rng(number)
        rows, pairs = brute.matchings(graph), Pairs(problem.graph)
        opponents = Opponents(pairs)
        advantage, variance = rng.uniform(-0.4, 0.4, pairs.count), np.full(pairs.count, 1e-9)
        omega, shares = np.full(pairs.count, 1 / pairs.count), np.full(len(rows), 1 / len(rows))
        for champion in rows[:3]:
            for _ in range(4 * len(rows)):  # until the pool has met them all
                matches = opponents.choose(rows, shares, Beliefs(champion, advantage, variance), omega, True)
            for place in range(len(rows)):
                found = np.zeros(pairs.count)
                differ = matches.pair[place] >= 0
                found[matches.pair[place][differ]] = matches.stake[place][differ]
                every = np.stack([coefficients(graph, "condorcet", tuple(c))[place] for c in rows.tolist()])
                assert (np.abs(every - found).max(axis=1) < 1e-12).any(), "some matching is behind it"
                assert matches.gaps[place] == pytest.approx(found @ advantage)
                own = coefficients(graph, "condorcet", tuple(champion.tolist()))[place]
                champions = max(own @ advantage, 0.0) ** 2 / max((own != 0).sum(), 1)
                assert matches.gaps[place] ** 2 >= 0.999 * champions * differ.sum(), (
                    "no worse than the champion"
                )


@pytest.mark.parametrize(("variance", "another"), [(1e-4, True), (0.02, False)])
def test_another_than_the_champion_is_backed_only_if_it_is_not_chance(variance, another):
    """Of many estimates the largest is mostly too large: it has to be clear."""
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
    pairs, rows = Pairs(problem.graph), brute.matchings(problem.graph)
    ann, bob, cyd = (problem.edge_number(name, "chair") for name in ("ann", "bob", "cyd"))
    advantage = np.zeros(pairs.count)
    advantage[pairs.graph.pair_table.number(np.array([ann]), np.array([cyd]))] = 0.1
    advantage[pairs.graph.pair_table.number(np.array([bob]), np.array([cyd]))] = 0.2
    opponents, shares = Opponents(pairs), np.array([0.0, 0.0, 1.0])
    omega, beliefs = np.full(3, 1 / 3), Beliefs(np.array([ann]), advantage, np.full(3, variance))
    for _ in range(12):  # until bob is in the pool
        matches = opponents.choose(rows, shares, beliefs, omega, True)
    assert matches.gaps[2] == pytest.approx(0.2 if another else 0.1)


def test_the_wealth_is_the_product_of_the_bets_on_the_opponents():
    graph, rng = SQUARE.graph, np.random.default_rng(3)
    rows, pairs = brute.matchings(graph), Pairs(graph)
    omega, shares = rng.dirichlet(np.ones(pairs.count)), np.full(len(rows), 1 / len(rows))
    beliefs = Beliefs(rows[2], rng.uniform(-0.4, 0.4, pairs.count), np.full(pairs.count, 1e-3))
    matches = Opponents(pairs).choose(rows, shares, beliefs, omega, True)
    looks, spread, worst = matches.looks(omega)
    bets = rng.uniform(0, 0.9, (len(rows), 5)) / np.maximum(worst, 1e-9)[:, None]
    wins, losses = rng.integers(0, 4, (2, pairs.count))
    before = rng.normal(size=len(rows))
    ledger = Ledger(before)
    ledger.settle_matches(bets, matches.pair, looks, wins, losses)
    for place in range(len(rows)):
        c = np.zeros(pairs.count)
        differ = matches.pair[place] >= 0
        c[matches.pair[place][differ]] = matches.stake[place][differ]
        y = c / (2 * omega)
        assert spread[place] == pytest.approx(omega @ y**2)
        assert worst[place] == pytest.approx(np.abs(y).max())
        factors = np.prod(
            (1 + bets[place][:, None] * y) ** wins * (1 - bets[place][:, None] * y) ** losses, axis=1
        )
        assert ledger.wealth[place] == pytest.approx(before[place] + np.log(factors.mean()))
    np.testing.assert_allclose(ledger.peak, np.maximum(before, ledger.wealth))


def test_an_opponent_put_together_edge_by_edge_would_be_noticed(monkeypatch):
    """The winner may lose to what is no decision, so a bet on that is favourable."""
    right = Opponents._widen

    def careless(self, rows, shares, beliefs):
        right(self, rows, shares, beliefs)
        against = self._pairs.against(rows[0], beliefs.advantage)
        starts = self._pairs.graph.start
        best = [low + int(np.argmax(against[low:high])) for low, high in pairwise(starts.tolist())]
        self._pool[-1] = best

    monkeypatch.setattr(Opponents, "_widen", careless)
    with pytest.raises(AssertionError):
        check_bets(monkeypatch, SQUARE, "condorcet", {"batch": 20}, seed=0)


def test_a_clear_defeat_by_anybody_rules_a_rival_out():
    """The winner hardly beats a rival, which somebody else beats by far: they need not be compared."""
    problem = dm.Problem.complete(["best", "close", "strong"], ["s"])
    wins = {("s", "best", "close"): 0.51, ("s", "best", "strong"): 0.8, ("s", "strong", "close"): 0.9}
    preferences = dm.Preferences(problem, wins)
    limit = dm.theory.lower_bound(preferences, "condorcet", 0.05)
    duels = [dm.simulate(preferences, "condorcet", seed=s, assume_winner=True).duels for s in range(8)]
    assert np.median(duels) < 0.05 * limit
