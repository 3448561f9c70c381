"""Stakes and wealth under capacities, seats, weights and rules, against all decisions one by one."""

from __future__ import annotations

import numpy as np
import pytest

import choices
from cases import each
from duelmatch.explorers.engine import RoundAnswers
from duelmatch.explorers.frugal.design import allocation
from duelmatch.explorers.frugal.listed import FIXED_GAPS, LOG_SHARES, Ledger, ListedRivals, bets
from duelmatch.explorers.frugal.search import FrugalSearch
from duelmatch.explorers.frugal.stakes import NO_RUIN, Pairs, Play, Prospects, Stakes, pairs_within
from duelmatch.explorers.frugal.tables import SCALES, Tables
from duelmatch.matchings.decisions import decisions_of

CRITERIA = ("condorcet", "borda")


def few_decisions():
    return [seed for seed in choices.SEEDS[:90] if 1 < len(choices.decisions(choices.problem(seed))) <= 60]


def stakes_for(problem, criterion, champion):
    pairs = Pairs(problem.graph)
    if criterion == "condorcet":
        return Stakes.condorcet(pairs, champion)
    return Stakes.borda(pairs, champion, decisions_of(problem.graph).marginals())


def cases():
    for seed in few_decisions():
        if choices.problem(seed).graph.pairs == 0:
            continue
        for criterion in CRITERIA:
            for champion in range(0, len(choices.rows(choices.problem(seed))), 11):
                yield seed, criterion, champion


@each(("seed", "criterion", "champion"), cases())
def test_stakes_are_the_coefficients_of_the_gap_in_all_four_cases(seed, criterion, champion):
    problem = choices.problem(seed)
    rows, chi = choices.rows(problem), choices.indicators(problem)
    right = choices.coefficients(seed, criterion, champion)
    stakes = stakes_for(problem, criterion, rows[champion])
    first, second = chi[:, stakes.pairs.first], chi[:, stakes.pairs.second]
    value = stakes.neither + first * (stakes.first - stakes.neither)
    value = value + second * (stakes.second - stakes.neither)
    np.testing.assert_allclose(value, right, atol=1e-12)
    if stakes.both is not None:
        both = (first == 1) & (second == 1)
        np.testing.assert_allclose(np.broadcast_to(stakes.both, right.shape)[both], right[both], atol=1e-12)

    per_pair = np.random.default_rng(seed).random(stakes.pairs.count)
    np.testing.assert_allclose(stakes.sums(per_pair)[rows].sum(axis=1), right @ per_pair, atol=1e-11)
    squares = stakes.sums(per_pair, squared=True)[rows].sum(axis=1)
    extra = stakes.squares_of_both(per_pair)
    if extra is not None:
        assert (extra <= 1e-15).all()
        squares = squares + extra[pairs_within(problem.graph, rows)].sum(axis=1)
    np.testing.assert_allclose(squares, right**2 @ per_pair, atol=1e-11)
    told = stakes.told(decisions_of(problem.graph).usable)
    assert told[(np.abs(right) > 1e-12).any(axis=0)].all()


@each(("seed", "criterion", "champion"), list(cases())[::3])
def test_the_wealth_is_the_product_of_the_bets_and_the_tables_never_claim_more(seed, criterion, champion):
    problem = choices.problem(seed)
    graph, rows = problem.graph, choices.rows(problem)
    right = choices.coefficients(seed, criterion, champion)
    rivals = rows[(np.abs(right) > 1e-12).any(axis=1)]
    if not len(rivals):
        return
    c = right[(np.abs(right) > 1e-12).any(axis=1)]
    rng = np.random.default_rng(seed)
    stakes = stakes_for(problem, criterion, rows[champion])
    shares = np.full(len(rivals), 1 / len(rivals))
    usable = decisions_of(graph).usable
    omega = allocation(stakes, rivals, rng.uniform(0.001, 0.3, len(rivals)), shares, usable)
    assert omega.sum() == pytest.approx(1)
    drawn = rng.multinomial(25, omega)
    pairs = np.flatnonzero(drawn)
    wins = rng.binomial(drawn[pairs], 0.6)
    ties = rng.binomial(drawn[pairs] - wins, 0.3)
    answers = RoundAnswers(wins, ties)
    play = Play(stakes, omega)
    Y = c[:, pairs] / (2 * omega[pairs])
    assert np.abs(Y).max() <= play.worst.max() * (1 + 1e-12)
    slack = 0.02 if seed % 2 else 0.0
    spread = (c[:, omega > 0] ** 2 / (4 * omega[omega > 0])).sum(axis=1)
    worst = np.full(len(rivals), play.worst.max())
    gaps, noise = rng.uniform(0, 0.3, len(rivals)), np.full(len(rivals), 0.01)
    bet = bets(gaps, noise, spread, worst, slack, FIXED_GAPS)
    ledger = Ledger(np.zeros(len(rivals)))
    prospects = Prospects(np.zeros(graph.edges), np.ones(graph.edges))
    played = play.played(rivals[0], prospects, pairs, drawn[pairs], answers, 0.1)
    losses = played.drawn.losses
    ledger.settle(played, rivals, bet, slack)
    expected = np.zeros(bet.shape)
    for column in range(len(pairs)):
        for count, value in (
            (wins[column], Y[:, column]),
            (losses[column], -Y[:, column]),
            (ties[column], 0 * Y[:, column]),
        ):
            expected += count * np.log1p(bet * (slack + value[:, None]))
    right_wealth = np.logaddexp.reduce(expected + LOG_SHARES, axis=1)
    np.testing.assert_allclose(ledger.wealth, right_wealth, atol=1e-10)
    np.testing.assert_allclose(ledger.peak, np.maximum(right_wealth, 0.0), atol=1e-10)

    tables = Tables.empty(graph)
    tables.settle(played, graph, slack)
    exact = np.zeros((len(SCALES), len(rivals)))
    for number, scale in enumerate(np.minimum(SCALES * 0.1, NO_RUIN / play.worst.max())):
        for column in range(len(pairs)):
            up, down = np.log1p(scale * (slack + Y[:, column])), np.log1p(scale * (slack - Y[:, column]))
            exact[number] += wins[column] * up + losses[column] * down
            exact[number] += ties[column] * np.log1p(scale * slack)
    mean = np.logaddexp.reduce(exact, axis=0) - np.log(len(SCALES))
    claimed = tables.wealth(rivals)
    assert (claimed <= mean + 1e-10).all()
    if graph.places == graph.positions:
        np.testing.assert_allclose(claimed, mean, atol=1e-10)
    least = tables.poorest(graph, usable)
    for edge in range(graph.edges):
        through = (rivals == edge).any(axis=1)
        if through.any() and not (rows[champion] == edge).any():
            assert least[edge] <= mean[through].min() + 1e-9


def test_shared_edges_are_those_of_every_possible_winner():
    shared_and_not_alone = 0
    for seed in few_decisions():
        problem, rows = choices.problem(seed), choices.rows(choices.problem(seed))
        rivals = ListedRivals(problem.graph, rows, True, [])
        rivals.possible = np.random.default_rng(seed).random(len(rows)) < 0.1
        shared = choices.indicators(problem)[rivals.possible].all(axis=0) & rivals.possible.any()
        assert np.array_equal(rivals.shared(), shared), seed
        shared_and_not_alone += (shared & ~problem.graph.without_choice(rivals.edges())).any()
    assert shared_and_not_alone > 3


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_run_that_must_begin_with_tables_ends_with_the_winner(criterion, monkeypatch):
    """With seats the tables are weak, so they only have to bring the decisions down to a list."""
    from duelmatch.explorers.frugal import search

    monkeypatch.setattr(search, "MOST_LISTED", 12)
    seed = next(seed for seed in few_decisions()[20:] if clear(seed, criterion))
    problem, matrix = choices.problem(seed), choices.preference_matrix(seed)
    table = problem.graph.pair_table
    run = FrugalSearch(problem.graph, criterion, 0.05, 1)
    assert not isinstance(run._rivals, ListedRivals)
    rounds, rng = run.rounds(), np.random.default_rng(5)
    asked = next(rounds)
    try:
        while True:
            wins = rng.binomial(asked.count, matrix[asked.first, asked.second])
            asked = rounds.send(RoundAnswers(wins, np.zeros_like(wins)))
            assert run._duels < 400_000
    except StopIteration as stop:
        outcome = stop.value
    scores = choices.scores(seed)
    best = scores.mean(axis=1).argmax() if criterion == "borda" else scores.min(axis=1).argmax()
    assert np.array_equal(outcome.matching, choices.rows(problem)[best])
    assert table.count == problem.graph.pairs


def clear(seed, criterion):
    """Whether a problem has seats, more than 12 decisions, and a winner by far."""
    scores = choices.scores(seed)
    if not choices.problem(seed).seats or len(scores) <= 12:
        return False
    if criterion == "borda":
        ordered = np.sort(scores.mean(axis=1))
        return ordered[-1] - ordered[-2] > 0.02
    others = scores + np.eye(len(scores))
    return others.min(axis=1).max() > 0.53
