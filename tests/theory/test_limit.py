"""The information limit against a direct convex solve, and the hardest rival against all rivals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

import brute
import duelmatch as dm
from brute import preferences
from cases import each
from duelmatch.errors import DuelmatchError, ProblemError
from duelmatch.graph import Graph
from duelmatch.theory import limit
from duelmatch.theory.divergence import coefficients
from duelmatch.theory.limit import (
    balanced_allocation,
    binary_divergence,
    hardest_rival,
)

LARGEST_DIRECT_SOLVE = 400
"""Rivals times pairs up to which SLSQP is quick."""


def borda_winner(prefs: dm.Preferences) -> np.ndarray | None:
    """The Borda winner if it is alone."""
    graph = prefs.problem.graph
    scores = brute.borda_scores(graph, prefs.matrix)
    if len(scores) == 1 or np.sort(scores)[-2] > scores.max() - 1e-9:
        return None
    return brute.matchings(graph)[scores.argmax()]


def check_limit(prefs: dm.Preferences, criterion: str, winner: np.ndarray) -> None:
    """Compare with SLSQP over all rivals, and try the allocation on all rivals."""
    graph = prefs.problem.graph
    found = dm.theory.information_limit(prefs, criterion)  # type: ignore[arg-type]
    costs = brute.rival_costs(graph, prefs.matrix, criterion, winner)
    edges = prefs.problem.edges
    names = [(edges[a][1], edges[a][0], edges[b][0]) for a, b in brute.pairs(graph)]
    assert set(found.allocation) <= set(names)
    omega = np.array([found.allocation.get(name, 0.0) for name in names])
    assert omega.sum() == pytest.approx(1.0)
    used = costs.any(axis=0)
    attained = (costs[:, used] / omega[used]).sum(axis=1).max()
    assert attained <= found.upper * (1 + 1e-6)
    assert found.lower <= found.upper <= found.lower * (1 + 2e-6)
    if costs.size <= LARGEST_DIRECT_SOLVE:
        direct = brute.information_limit(costs)
        assert found.lower <= direct * (1 + 1e-9)
        assert direct <= found.upper * (1 + 1e-5)


# The limit


@each("seed", brute.SMALL_SEEDS)
def test_the_condorcet_limit_is_the_minimum_over_allocations_of_the_hardest_rival(seed: int) -> None:
    prefs, winner = preferences(seed), brute.winner_of(seed)
    if winner is None:
        with pytest.raises(ProblemError, match="have no Condorcet winner"):
            dm.theory.information_limit(prefs, "condorcet")
    elif len(brute.matchings(prefs.problem.graph)) == 1:
        assert dm.theory.information_limit(prefs, "condorcet") == dm.theory.InformationLimit(0.0, 0.0, {})
    else:
        check_limit(prefs, "condorcet", winner)


@each("seed", brute.SMALL_SEEDS)
def test_the_borda_limit_is_the_minimum_over_allocations_of_the_hardest_rival(seed: int) -> None:
    prefs, winner = preferences(seed), borda_winner(preferences(seed))
    if len(brute.matchings(prefs.problem.graph)) == 1:
        assert dm.theory.information_limit(prefs, "borda") == dm.theory.InformationLimit(0.0, 0.0, {})
    elif winner is None:
        infinite = float("inf")
        assert dm.theory.information_limit(prefs, "borda") == dm.theory.InformationLimit(
            infinite, infinite, {}
        )
        assert dm.theory.lower_bound(prefs, "borda", 0.05) == infinite
    else:
        check_limit(prefs, "borda", winner)


def test_the_small_problems_have_limits_of_every_kind() -> None:
    condorcet = [brute.winner_of(seed) is not None for seed in brute.SMALL_SEEDS]
    borda = [borda_winner(preferences(seed)) is not None for seed in brute.SMALL_SEEDS]
    assert 15 < sum(condorcet) < 55
    assert 15 < sum(borda) < 55


def test_two_candidates_need_one_over_two_gaps_squared() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    for win in (0.6, 0.9):
        prefs = dm.Preferences(problem, {("chair", "ann", "bob"): win})
        expected = 1 / (2 * (win - 0.5) ** 2)
        for criterion in ("borda", "condorcet"):
            found = dm.theory.information_limit(prefs, criterion)  # type: ignore[arg-type]
            assert found.lower == pytest.approx(expected, rel=1e-6)
            assert found.allocation == {("chair", "ann", "bob"): pytest.approx(1.0)}


def test_one_position_needs_the_sum_over_the_rivals() -> None:
    problem = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair"])
    gaps = {"bob": 0.1, "cyd": 0.2, "dan": 0.4}
    win = {("chair", "ann", name): 0.5 + gap for name, gap in gaps.items()}
    win |= {("chair", "bob", "cyd"): 0.5, ("chair", "bob", "dan"): 0.5, ("chair", "cyd", "dan"): 0.5}
    found = dm.theory.information_limit(dm.Preferences(problem, win), "condorcet")
    shares = {name: 1 / (2 * gap**2) for name, gap in gaps.items()}
    total = sum(shares.values())
    assert found.lower == pytest.approx(total, rel=1e-5)
    for name, share in shares.items():
        assert found.allocation["chair", "ann", name] == pytest.approx(share / total, rel=1e-3)


@each("criterion", ["borda", "condorcet"])
@each("seed", range(3))
def test_the_limit_of_a_larger_instance_closes_its_own_gap(criterion: str, seed: int) -> None:
    prefs = dm.instances.planted(6, 5, gap=0.1, density=0.8, noise=0.05, seed=seed)
    found = dm.theory.information_limit(prefs, criterion)  # type: ignore[arg-type]
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 2e-6)
    assert sum(found.allocation.values()) == pytest.approx(1.0)


def test_edges_in_no_matching_are_not_asked_about() -> None:
    problem = dm.Problem.from_edges(
        [("ann", "chair"), ("ann", "editor"), ("bob", "editor"), ("cyd", "editor")]
    )
    win = {("editor", "ann", "bob"): 0.5, ("editor", "ann", "cyd"): 0.5, ("editor", "bob", "cyd"): 0.7}
    for criterion in ("borda", "condorcet"):
        found = dm.theory.information_limit(dm.Preferences(problem, win), criterion)  # type: ignore[arg-type]
        assert list(found.allocation) == [("editor", "bob", "cyd")]
        assert found.lower == pytest.approx(1 / (2 * 0.2**2), rel=1e-6)


def test_the_limit_gives_up_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "MOST_ROUNDS", 0)
    with pytest.raises(DuelmatchError, match="did not settle in 0 rounds"):
        dm.theory.information_limit(dm.instances.paper_example(), "borda")


def test_an_unknown_criterion_is_refused() -> None:
    with pytest.raises(ProblemError, match="must be 'borda' or 'condorcet', not 'copeland'"):
        dm.theory.information_limit(dm.instances.paper_example(), "copeland")  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match="must be 'borda' or 'condorcet', not 'copeland'"):
        dm.theory.lower_bound(dm.instances.paper_example(), "copeland", 0.05)  # type: ignore[arg-type]


# In duels


@each("delta", [1e-9, 0.01, 0.05, 0.3, 0.49])
def test_the_price_of_certainty_is_a_divergence(delta: float) -> None:
    expected = delta * np.log(delta / (1 - delta)) + (1 - delta) * np.log((1 - delta) / delta)
    assert binary_divergence(delta) == pytest.approx(expected)
    found = dm.theory.information_limit(dm.instances.paper_example(), "condorcet")
    assert found.duels(delta) == pytest.approx(found.lower * expected)
    bound = dm.theory.lower_bound(dm.instances.paper_example(), "condorcet", delta)
    assert bound == pytest.approx(found.lower * expected)


@each("delta", [0.5, 0.7, 0.99])
def test_a_coin_flip_needs_no_duels(delta: float) -> None:
    assert binary_divergence(delta) == 0.0
    assert dm.theory.lower_bound(dm.instances.paper_example(), "borda", delta) == 0.0


@each("delta", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_a_delta_out_of_range_is_refused(delta: float) -> None:
    with pytest.raises(ProblemError, match="delta must lie between 0 and 1"):
        dm.theory.lower_bound(dm.instances.paper_example(), "borda", delta)


# Its parts


@each("seed", brute.SMALL_SEEDS)
def test_coefficients_are_the_derivatives_of_the_advantage_up_to_sign(seed: int) -> None:
    graph, matrix = brute.problem(seed).graph, np.array(brute.preference_matrix(seed))
    everyone = brute.matchings(graph)
    champion = everyone[np.random.default_rng([seed, 31]).integers(len(everyone))]
    table = graph.pair_table
    assert list(zip(table.first.tolist(), table.second.tolist(), strict=True)) == brute.pairs(graph)
    for criterion, found in (
        ("condorcet", coefficients(graph, "condorcet", champion)),
        ("borda", coefficients(graph, "borda", champion)),
    ):
        base = brute.advantage(graph, matrix, criterion, champion)
        by_matching = (csr_array(brute.indicators(graph)) @ found).toarray()
        for column, (a, b) in enumerate(brute.pairs(graph)):
            moved = matrix.copy()
            moved[a, b] += 1.0
            moved[b, a] -= 1.0
            change = brute.advantage(graph, moved, criterion, champion) - base
            np.testing.assert_allclose(np.abs(by_matching[:, column]), np.abs(change), atol=1e-10)


@each("seed", range(30))
def test_the_allocation_balances_a_given_set_of_rivals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.random((rng.integers(1, 6), rng.integers(1, 7))) * (rng.random() < 0.5 or 10)
    costs[rng.random(costs.shape) < 0.3] = 0.0
    costs[:, 0] += 0.1
    lower, omega = balanced_allocation(costs)
    assert omega.sum() == pytest.approx(1.0)
    assert (omega[~costs.any(axis=0)] == 0).all()
    used = costs.any(axis=0)
    attained = (costs[:, used] / omega[used]).sum(axis=1).max()
    assert lower <= attained * (1 + 1e-12)
    assert attained <= lower * (1 + 1e-6)


def ratios(graph: Graph, champion: np.ndarray, spread: np.ndarray, deficits: np.ndarray) -> np.ndarray:
    everyone = brute.matchings(graph)
    others = everyone[(everyone != champion).any(axis=1)]
    return spread[others].sum(axis=1) / (2 * deficits[others].sum(axis=1) ** 2)


def rival_case(seed: int) -> tuple[Graph, np.ndarray, np.ndarray, np.ndarray]:
    """Spreads and deficits of very different sizes, 0 on the champion's edges."""
    graph = brute.problem(seed).graph
    rng = np.random.default_rng([seed, 32])
    everyone = brute.matchings(graph)
    champion = everyone[rng.integers(len(everyone))]
    spread = rng.choice([0.01, 1.0, 100.0]) * rng.pareto(1.0, graph.edges)
    deficits = rng.choice([0.1, 0.5, 1.0, 1.3, 2.0, 4.0], graph.edges) * (0.9 + 0.2 * rng.random(graph.edges))
    spread[champion] = deficits[champion] = 0.0
    return graph, champion, spread, deficits


@each("seed", brute.SEEDS)
def test_the_hardest_rival_is_the_hardest_of_all(seed: int) -> None:
    graph, champion, spread, deficits = rival_case(seed)
    expected = ratios(graph, champion, spread, deficits).max(initial=0.0)
    found, matching = hardest_rival(graph, champion, spread, deficits)
    assert found == pytest.approx(expected, rel=1e-8)
    if expected == 0.0:
        assert matching is None
        return
    assert matching is not None
    assert (matching != champion).any()
    assert spread[matching].sum() / (2 * deficits[matching].sum() ** 2) == pytest.approx(found, rel=1e-12)


@each("seed", range(0, 220, 4))
def test_a_record_that_stands_is_confirmed_and_one_that_falls_is_beaten(seed: int) -> None:
    graph, champion, spread, deficits = rival_case(seed)
    expected = ratios(graph, champion, spread, deficits).max(initial=0.0)
    assert hardest_rival(graph, champion, spread, deficits, at_least=expected * 1.001 + 1e-9) == (
        expected * 1.001 + 1e-9,
        None,
    )
    if expected > 0:
        found, matching = hardest_rival(graph, champion, spread, deficits, at_least=expected * 0.999)
        assert found == pytest.approx(expected, rel=1e-8)
        assert matching is not None


@each("seed", range(0, 220, 4))
def test_deficits_that_are_negative_on_single_edges_are_no_obstacle(seed: int) -> None:
    graph, champion, spread, deficits = rival_case(seed)
    shift = np.random.default_rng([seed, 33]).normal(scale=0.3, size=graph.candidates)
    own = graph.edge_candidate[champion][graph.edge_position]
    shifted = deficits + shift[graph.edge_candidate] - shift[own]
    everyone = brute.matchings(graph)
    others = everyone[(everyone != champion).any(axis=1)]
    if not len(others) or shifted[others].sum(axis=1).min() <= 0.01:
        return
    expected = ratios(graph, champion, spread, shifted).max()
    assert hardest_rival(graph, champion, spread, shifted)[0] == pytest.approx(expected, rel=1e-8)


def test_some_of_these_cases_need_the_matchings_to_be_split(monkeypatch: pytest.MonkeyPatch) -> None:
    splits = 0
    explore = limit._Record.explore

    def counted(self: limit._Record, allowed: np.ndarray) -> tuple[int | None, float]:
        nonlocal splits
        split, bound = explore(self, allowed)
        splits += split is not None
        return split, bound

    monkeypatch.setattr(limit._Record, "explore", counted)
    for seed in brute.SEEDS:
        hardest_rival(*rival_case(seed))
    assert splits >= 5


def test_a_rival_between_the_two_that_tangents_offer_is_found_by_splitting() -> None:
    """Three rivals: a close one and a far one on the hull, and the hardest between them, below the hull."""
    problem = dm.Problem.complete(["a", "b", "c", "d"], ["chair"])
    champion = np.array([0])
    deficits = np.array([0.0, 1.0, 2.0, 3.0])
    spread = np.array([0.0, 1.0, 4.2, 9.0])
    found, matching = hardest_rival(problem.graph, champion, spread, deficits)
    assert found == pytest.approx(4.2 / 8)
    assert matching is not None
    assert matching.tolist() == [2]


@each(
    "compute",
    [
        lambda problem: dm.theory.lower_bound(problem, "condorcet", delta=0.05),
        lambda problem: dm.theory.information_limit(problem, "borda"),
        lambda problem: dm.theory.paper_lower_bound(problem, "borda", 0.05),
        lambda problem: dm.theory.car_cond_bound(problem, 0.05),
        lambda problem: dm.theory.car_parallel_bound(problem, 0.05),
        lambda problem: dm.theory.clucb_borda_pac_bound(problem, 0.05, 0.1),
        dm.theory.borda_gaps,
        dm.theory.condorcet_gaps,
        dm.theory.verification_gaps,
        dm.theory.verification_hardness,
        dm.theory.borda_hardness,
        dm.theory.condorcet_winner,
        dm.theory.borda_winner,
    ],
)
def test_a_problem_alone_is_refused(compute: Callable[[dm.Problem], object]) -> None:
    with pytest.raises(ProblemError, match=r"needs Preferences, .*, not "):
        compute(brute.problem(1))
