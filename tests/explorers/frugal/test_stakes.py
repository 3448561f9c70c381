"""What one duel tells: the coefficients of D, and the two moments of Y, by enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import brute
from duelmatch.explorers.engine import RoundAnswers
from duelmatch.explorers.frugal.design import allocation
from duelmatch.explorers.frugal.listed import FIXED_GAPS, FIXED_PARTS, NO_RUIN, Ledger, ListedRivals, bets
from duelmatch.explorers.frugal.stakes import Pairs, Play, Prospects, Stakes
from duelmatch.explorers.frugal.tables import SCALES, Tables
from duelmatch.matchings.decisions import usable_edges
from explorers.frugal.watching import PROBLEMS, all_decided, coefficients

CRITERIA = ("condorcet", "borda")
GRAPHS = {name: problem.graph for name, problem in PROBLEMS.items()}
GRAPHS |= {f"random {seed}": brute.problem(seed).graph for seed in (1008, 1021, 1023, 1041)}

everywhere = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
both = pytest.mark.parametrize("criterion", CRITERIA)


def stakes_for(graph, criterion, champion):
    pairs = Pairs(graph)
    if criterion == "condorcet":
        return Stakes.condorcet(pairs, champion)
    return Stakes.borda(pairs, champion, brute.marginals(graph))


def by_matching(stakes, matching):
    """Return c_pair(B) for all pairs, as the code has it."""
    first, second = np.isin(stakes.pairs.first, matching), np.isin(stakes.pairs.second, matching)
    return np.where(first, stakes.first, np.where(second, stakes.second, stakes.neither))


def some_champions(graph):
    everyone = brute.matchings(graph)
    return everyone[:: max(1, len(everyone) // 4)]


def designed(stakes, rng):
    """Return omega as the design makes it, for random gaps."""
    graph = stakes.pairs.graph
    everyone = brute.matchings(graph)
    used = stakes.sums(np.ones(stakes.pairs.count), squared=True)
    rivals = everyone[used[everyone].sum(axis=1) > 0]
    shares = np.full(len(rivals), 1 / len(rivals))
    return allocation(stakes, rivals, rng.uniform(0.001, 0.3, len(rivals)), shares, usable_edges(graph))


def some_play(graph, criterion, champion, rng):
    stakes = stakes_for(graph, criterion, champion)
    omega = designed(stakes, rng)
    drawn = rng.multinomial(30, omega)
    pairs = np.flatnonzero(drawn)
    wins = rng.binomial(drawn[pairs], 0.6)
    return Play(stakes, omega), pairs, drawn[pairs], all_decided(wins)


@everywhere
@both
def test_stakes_are_the_coefficients_of_the_gap(graph, criterion):
    for champion in some_champions(graph):
        right = coefficients(graph, criterion, tuple(champion.tolist()))
        stakes = stakes_for(graph, criterion, champion)
        ends = list(zip(stakes.pairs.first.tolist(), stakes.pairs.second.tolist(), strict=True))
        assert ends == brute.pairs(graph)
        for number, rival in enumerate(brute.matchings(graph)):
            np.testing.assert_allclose(by_matching(stakes, rival), right[number], atol=1e-12)


@everywhere
@both
def test_sums_over_edges_are_sums_over_pairs(graph, criterion):
    rng = np.random.default_rng(4)
    for champion in some_champions(graph):
        stakes = stakes_for(graph, criterion, champion)
        weights = rng.normal(size=stakes.pairs.count)
        for rival in brute.matchings(graph):
            c = by_matching(stakes, rival)
            assert stakes.sums(weights)[rival].sum() == pytest.approx(c @ weights)
            assert stakes.sums(weights, squared=True)[rival].sum() == pytest.approx(c**2 @ weights)
        largest = np.max([np.abs(by_matching(stakes, rival)) for rival in brute.matchings(graph)], axis=0)
        omega = np.full(len(largest), 1 / len(largest))
        assert stakes.worst(omega).max() >= (largest / (2 * omega)).max() - 1e-12


@everywhere
@both
def test_a_pair_is_told_about_exactly_if_some_matching_depends_on_it(graph, criterion):
    rng = np.random.default_rng(5)
    everyone = brute.matchings(graph)
    for champion in some_champions(graph):
        right = np.abs(coefficients(graph, criterion, tuple(champion.tolist()))) > 1e-12
        for _ in range(4):
            kept = everyone[rng.random(len(everyone)) < 0.4]
            used = np.isin(np.arange(graph.edges), np.append(kept.ravel(), champion))
            of_used = used[everyone].all(axis=1)
            told = stakes_for(graph, criterion, champion).told(used)
            assert (told >= right[of_used].any(axis=0)).all()
        every_edge = usable_edges(graph)
        told = stakes_for(graph, criterion, champion).told(every_edge)
        np.testing.assert_array_equal(told, right.any(axis=0))


@everywhere
@both
def test_y_has_mean_d_and_second_moment_v_under_the_design(graph, criterion):
    rng = np.random.default_rng(6)
    for champion in some_champions(graph):
        play, *_ = some_play(graph, criterion, champion, rng)
        right = coefficients(graph, criterion, tuple(champion.tolist()))
        for chances in (rng.random(play.stakes.pairs.count), rng.integers(0, 2, play.stakes.pairs.count)):
            for number, rival in enumerate(brute.matchings(graph)):
                mean = square = 0.0
                for pair in np.flatnonzero(play.omega):
                    for won, chance in ((1, chances[pair]), (0, 1 - chances[pair])):
                        y = right[number, pair] / play.omega[pair] * (won - 0.5)
                        assert abs(y) <= play.worst[rival].max() * (1 + 1e-12)
                        mean += play.omega[pair] * chance * y
                        square += play.omega[pair] * chance * y**2
                assert mean == pytest.approx(right[number] @ (chances - 0.5), abs=1e-12)
                assert square == pytest.approx(play.spread[rival].sum(), abs=1e-12)


@everywhere
@both
def test_what_is_expected_changes_neither_the_mean_of_y_nor_that_no_duel_ruins(graph, criterion):
    """Each answer of each pair is played as a round of one duel, and the wealth compared with Y by hand."""
    rng = np.random.default_rng(8)
    everyone = brute.matchings(graph)
    champion = everyone[len(everyone) // 2]
    right = coefficients(graph, criterion, tuple(champion.tolist()))
    stakes = stakes_for(graph, criterion, champion)
    stakes = replace(stakes, expected=rng.uniform(-0.5, 0.5, stakes.pairs.count))
    omega = designed(stakes, rng)
    play = Play(stakes, omega)
    chances, tie = rng.dirichlet([1, 1, 1], stakes.pairs.count), np.array([1.0, 0.0, 0.5])
    rivals = ListedRivals(graph, everyone, True, [])
    prospects = Prospects(rng.normal(size=graph.edges), np.full(graph.edges, 0.01))
    mean = np.zeros(len(everyone))
    for pair in np.flatnonzero(omega):
        for answer in range(3):
            counts = RoundAnswers(np.array([int(answer == 0)]), np.array([int(answer == 2)]))
            played = play.played(champion, prospects, np.array([pair]), np.array([1]), counts)
            y = right @ stakes.expected
            y += right[:, pair] / omega[pair] * (tie[answer] - 0.5 - stakes.expected[pair])
            mean += omega[pair] * chances[pair, answer] * y
            for slack in (0.0, 0.07):
                wanted = rivals._bets(played, slack)
                factors = 1 + wanted * (y[:, None] + slack)
                assert factors.min() >= 1 - NO_RUIN - 1e-9
                ledger = Ledger(np.zeros(len(everyone)))
                ledger.settle(played, everyone, wanted, slack)
                np.testing.assert_allclose(ledger.wealth, np.log(factors.mean(axis=1)), atol=1e-9)
    np.testing.assert_allclose(mean, right @ (chances @ tie - 0.5), atol=1e-9)


@everywhere
@both
@pytest.mark.parametrize("slack", [0.0, 0.07])
def test_both_ledgers_multiply_the_wealth_by_one_plus_lambda_y(graph, criterion, slack):
    rng = np.random.default_rng(7)
    everyone = brute.matchings(graph)
    champion = everyone[len(everyone) // 2]
    play, *outcome = some_play(graph, criterion, champion, rng)
    right = coefficients(graph, criterion, tuple(champion.tolist()))

    def log_factor(number, bet):
        total = 0.0
        pairs, duelled, answers = outcome
        for pair, duels, wins in zip(pairs, duelled, answers.wins, strict=True):
            y = right[number, pair] / (2 * play.omega[pair])
            total += wins * np.log(1 + bet * (y + slack)) + (duels - wins) * np.log(1 + bet * (slack - y))
        return total

    own = rng.uniform(0, NO_RUIN / play.worst.max(), (len(everyone), 5))
    before = rng.normal(size=len(everyone))
    ledger = Ledger(before)
    prospects = Prospects(np.zeros(graph.edges), np.ones(graph.edges))
    played = play.played(champion, prospects, *outcome, 0.4 / play.worst.max())
    ledger.settle(played, everyone, own, slack)
    shares = np.full(5, 0.2)
    for number in range(len(everyone)):
        factors = np.exp([log_factor(number, bet) for bet in own[number]])
        assert ledger.wealth[number] == pytest.approx(before[number] + np.log(factors @ shares))
    np.testing.assert_allclose(ledger.peak, np.maximum(before, ledger.wealth), rtol=1e-12)

    tables = Tables.empty(graph)
    tables.settle(played, graph, slack)
    for number in range(len(everyone)):
        common = np.minimum(SCALES * 0.4, NO_RUIN) / play.worst.max()
        factors = np.exp([log_factor(number, bet) for bet in common])
        assert tables.wealth(everyone[[number]])[0] == pytest.approx(np.log(factors.mean()))


def test_bets_are_never_negative_nor_ruinous():
    rng = np.random.default_rng(8)
    for slack, fixed in ((0.0, FIXED_GAPS), (0.3, 0.3 * FIXED_PARTS)):
        gaps, noise = rng.normal(0, 1, 200), rng.uniform(0, 1, 200) ** 4
        spread = np.where(rng.random(200) < 0.1, 0.0, rng.uniform(0, 50, 200) ** 2)
        for worst in (0.5, 3.0, 1e6):
            placed = bets(gaps, noise, spread, np.full(200, worst), slack, fixed)
            assert placed.shape == (200, 5)
            assert (placed >= 0).all()
            assert (placed * worst <= NO_RUIN + 1e-12).all()
            assert (placed[spread == 0] == 0).all()


def test_a_tie_is_half_a_win_in_the_estimates():
    pairs = Pairs(GRAPHS["wide"])
    pairs.add(np.array([0, 2]), np.array([3, 4]), RoundAnswers(np.array([1, 0]), np.array([2, 1])))
    assert pairs.wins[:3].tolist() == [2.0, 0.0, 0.5]
    assert pairs.duels[:3].tolist() == [3.0, 0.0, 4.0]
