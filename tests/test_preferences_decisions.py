"""Known preferences under capacities, seats, weights and rules, against a list of all decisions."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

import choices
import duelmatch as dm
from brute import TIE, information_limit
from cases import each
from duelmatch import theory
from duelmatch.matchings.reference import reference_of


def known(seed: int) -> dm.Preferences:
    return dm.Preferences.from_matrix(choices.problem(seed), choices.preference_matrix(seed))


def named(seed: int, number: int) -> dm.Matching:
    problem = choices.problem(seed)
    return problem.matching(choices.rows(problem)[number].tolist())


def winner_of(seed: int) -> int | None:
    """Return the number of the decision that beats every other."""
    scores = choices.scores(seed) - 0.5
    np.fill_diagonal(scores, inf)
    winners = np.flatnonzero((scores > TIE).all(axis=1))
    return int(winners[0]) if len(winners) else None


@each("seed", choices.SEEDS)
def test_scores_between_decisions(seed):
    preferences, scores = known(seed), choices.scores(seed)
    rng = np.random.default_rng(seed)
    for one, other in rng.integers(0, len(scores), (5, 2)).tolist():
        score = preferences.score(named(seed, one), named(seed, other))
        assert score == pytest.approx(scores[one, other], abs=1e-12)
        assert score + preferences.score(named(seed, other), named(seed, one)) == pytest.approx(1)
        borda = preferences.borda_score(named(seed, one))
        assert borda == pytest.approx(scores[one].mean(), abs=1e-11)


@each("seed", choices.SEEDS)
def test_the_borda_winner_and_its_margin(seed):
    preferences, borda = known(seed), choices.scores(seed).mean(axis=1)
    winner = preferences.borda_winner()
    assert preferences.borda_score(winner) == pytest.approx(borda.max(), abs=1e-11)
    runner_up = np.sort(borda)[-2] if len(borda) > 1 else -inf
    assert preferences.borda_margin() == pytest.approx(borda.max() - runner_up, abs=1e-11)


@each("seed", choices.SEEDS)
def test_the_condorcet_winner(seed):
    winner = winner_of(seed)
    assert known(seed).condorcet_winner() == (None if winner is None else named(seed, winner))


def test_many_of_these_problems_have_a_condorcet_winner_and_many_have_none():
    winners = [winner_of(seed) for seed in choices.SEEDS]
    assert 0.25 < np.mean([winner is None for winner in winners]) < 0.75


@each("seed", choices.SEEDS)
def test_the_least_beaten_decision(seed):
    matching, defeat = known(seed).least_beaten()
    defeats = 0.5 - choices.scores(seed).min(axis=1)
    assert defeat == pytest.approx(max(0.0, defeats.min()), abs=1e-9)
    numbers = choices.problem(seed).edge_numbers(matching)
    own = (choices.rows(choices.problem(seed)) == numbers).all(axis=1)
    assert defeats[own] == pytest.approx([defeats.min()], abs=1e-9)


@each("seed", choices.SEEDS)
def test_the_gaps_of_both_criteria(seed):
    preferences, scores = known(seed), choices.scores(seed)
    problem = choices.problem(seed)
    chi = choices.indicators(problem) == 1
    total = sum(problem.weight.get(position, 1.0) for position in problem.positions)
    borda = scores.mean(axis=1) * total
    best = problem.edge_numbers(preferences.borda_winner())
    found = list(theory.borda_gaps(preferences).values())
    assert found == pytest.approx(gaps(chi, borda, best), abs=1e-10)
    winner = winner_of(seed)
    if winner is not None:
        against = scores[:, winner]
        expected = gaps(chi, against, np.flatnonzero(chi[winner]))
        assert list(theory.condorcet_gaps(preferences).values()) == pytest.approx(expected, abs=1e-10)


def gaps(chi: np.ndarray, totals: np.ndarray, winner: np.ndarray) -> list[float]:
    """Return what is lost by deciding an edge the other way."""
    found = []
    for edge in range(chi.shape[1]):
        wrong = ~chi[:, edge] if edge in winner else chi[:, edge]
        found.append(totals.max() - totals[wrong].max(initial=-inf))
    return found


@each("seed", choices.SEEDS[::30])
def test_the_information_limit(seed):
    preferences = known(seed)
    for criterion in ("borda", "condorcet"):
        winner = winner_of(seed) if criterion == "condorcet" else borda_number(seed)
        if winner is None or len(choices.decisions(choices.problem(seed))) > 120:
            continue
        limit = theory.information_limit(preferences, criterion)
        costs = rival_costs(seed, criterion, winner)
        if not len(costs):
            assert limit.lower == 0
        elif not np.isfinite(costs).all():
            assert limit.lower == inf
        else:
            assert limit.lower <= information_limit(costs) * (1 + 1e-6)
            assert limit.upper <= limit.lower * (1 + 1e-5)
            omega = np.array([limit.allocation.get((s, a, b), 0.0) for (s, a, b), _ in preferences.items()])
            assert len(omega) == costs.shape[1]
            with np.errstate(divide="ignore", invalid="ignore"):
                needed = np.where(costs > 0, costs / omega, 0.0).sum(axis=1)
            assert needed.max() == pytest.approx(limit.upper, rel=1e-6)


def borda_number(seed: int) -> int:
    return int(choices.scores(seed).mean(axis=1).argmax())


def rival_costs(seed: int, criterion: str, winner: int) -> np.ndarray:
    """Return c^2 / (2 D^2) for every rival and pair."""
    costs = choices.coefficients(seed, criterion, winner)
    base = choices.leads(choices.scores(seed), criterion, winner) * len(choices.problem(seed).positions)
    if not costs.shape[1]:
        return np.zeros((0, 0))
    costs[np.abs(costs) < 1e-12] = 0.0
    rivals = np.arange(len(costs)) != winner
    with np.errstate(divide="ignore", invalid="ignore"):
        deficits = np.where(np.abs(base) < 1e-11, 0.0, base)
        found = costs[rivals] ** 2 / (2 * deficits[rivals, None] ** 2)
    return np.where(np.isnan(found), 0.0, found)


@each("seed", choices.SEEDS[::4])
def test_borda_against_a_random_candidate_of_each_position(seed):
    preferences, problem = known(seed), choices.problem(seed)
    total = sum(problem.weight.get(place, 1.0) for place in problem.positions)
    matrix, expected = choices.preference_matrix(seed), []
    for decision in choices.decisions(problem):
        score = 0.0
        for candidate, place in decision:
            own = problem.edge_number(candidate, place)
            met = [problem.edge_number(*edge) for edge in problem.edges if edge[1] == place]
            share = problem.weight.get(place, 1.0) / problem.seats.get(place, 1)
            score += share * float(np.mean([matrix[own, other] for other in met]))
        expected.append(score / total)
    winner = preferences.borda_winner("candidates")
    assert preferences.borda_score(winner, "candidates") == pytest.approx(max(expected))


@each("seed", choices.SEEDS[::20])
def test_references_add_up_to_one_at_every_position_of_any_class(seed):
    graph = choices.problem(seed).graph
    exact = reference_of(graph, "decisions").shares
    sampled = reference_of(graph, "sampled", seed).shares
    for shares in (
        exact,
        sampled,
        reference_of(graph, "candidates").shares,
        reference_of(graph, exact).shares,
    ):
        assert np.add.reduceat(shares, graph.start[:-1]) == pytest.approx(1.0)
    # 10,000 draws: 6 standard deviations of a share are 0.03
    assert np.abs(sampled - exact).max() < 0.03


def test_a_search_by_another_reference_finds_its_winner():
    preferences = dm.instances.planted(6, 2, gap=0.3, noise=0.4, seed=3, seats=2, capacity=2, rules=2)
    for reference in ("candidates", "sampled"):
        result = dm.simulate(preferences, "borda", seed=1, reference=reference)
        assert (result.status, result.reference) == ("certified", reference)
    result = dm.simulate(preferences, "borda", seed=1, delta=1e-6, reference="candidates")
    assert result.matching == preferences.borda_winner("candidates")


def test_what_is_proven_for_matchings_only_is_refused_elsewhere():
    problem = dm.Problem.complete(["a", "b", "c"], ["s", "t"], capacity={"a": 2})
    preferences = dm.instances.uniform(3, 2, seed=1)
    preferences = dm.Preferences.from_matrix(problem, preferences.matrix)
    for bound in (theory.width, theory.width_bound):
        with pytest.raises(dm.ProblemError, match="one-to-one matchings only"):
            bound(problem)
    for bound in (theory.car_cond_bound, theory.car_verify_bound, theory.clucb_borda_exact_bound):
        with pytest.raises(dm.ProblemError, match="proven for one-to-one matchings"):
            bound(preferences, 0.05)
    assert theory.paper_lower_bound(preferences, "borda", 0.05).duels is None
