"""Gaps and hardness, straight from their definitions over the list of all matchings."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
import pytest

import brute
import duelmatch as dm
from brute import preferences
from cases import each
from duelmatch.errors import ProblemError

every_seed = each("seed", brute.SEEDS)


def inverse_squares(gaps: np.ndarray) -> np.ndarray:
    return np.array([np.inf if gap < 1e-11 else gap**-2.0 for gap in gaps])


@every_seed
def test_borda_gaps_are_what_deciding_an_edge_the_other_way_costs(seed: int) -> None:
    prefs = preferences(seed)
    gaps = dm.theory.borda_gaps(prefs)
    assert list(gaps) == list(prefs.problem.edges)
    expected = brute.borda_gaps(prefs.problem.graph, prefs.matrix)
    np.testing.assert_allclose(list(gaps.values()), expected, atol=1e-12)


HIDDEN_TIES = (3335, 3539, 3916, 4120, 4388)
"""Seeds where the two sides of a tie are rounded differently."""


@each("seed", [*brute.SEEDS, *HIDDEN_TIES])
def test_a_tied_borda_winner_has_gaps_of_exactly_zero_and_infinite_hardness(seed: int) -> None:
    prefs = preferences(seed)
    expected = brute.borda_gaps(prefs.problem.graph, prefs.matrix)
    gaps = np.array(list(dm.theory.borda_gaps(prefs).values()))
    np.testing.assert_array_equal(gaps == 0, expected < 1e-11)
    assert (dm.theory.borda_hardness(prefs) == np.inf) == (expected.min() < 1e-11)


@every_seed
def test_borda_hardness_is_the_sum_of_inverse_squared_gaps(seed: int) -> None:
    prefs = preferences(seed)
    inverse = inverse_squares(brute.borda_gaps(prefs.problem.graph, prefs.matrix))
    assert dm.theory.borda_hardness(prefs) == pytest.approx(inverse.sum(), rel=1e-6)


@every_seed
def test_borda_hardness_with_an_epsilon_caps_every_term(seed: int) -> None:
    prefs, epsilon = preferences(seed), (0.01, 0.3, 1.0)[seed % 3]
    graph = prefs.problem.graph
    gaps = brute.borda_gaps(graph, prefs.matrix)
    expected = np.minimum(brute.width(graph) ** 2 * inverse_squares(gaps), epsilon**-2)
    expected[gaps == np.inf] = 0.0
    assert dm.theory.borda_hardness(prefs, epsilon) == pytest.approx(expected.sum(), rel=1e-6)


@every_seed
def test_condorcet_gaps_are_what_deciding_an_edge_the_other_way_costs(seed: int) -> None:
    prefs, winner = preferences(seed), brute.winner_of(seed)
    if winner is None:
        for compute in (
            dm.theory.condorcet_gaps,
            dm.theory.condorcet_pair_gaps,
            dm.theory.verification_gaps,
            dm.theory.verification_hardness,
        ):
            with pytest.raises(ProblemError, match="have no Condorcet winner"):
                compute(prefs)
        return
    gaps = dm.theory.condorcet_gaps(prefs)
    assert list(gaps) == list(prefs.problem.edges)
    expected = brute.condorcet_gaps(prefs.problem.graph, prefs.matrix, winner)
    np.testing.assert_allclose(list(gaps.values()), expected, atol=1e-12)


@each("seed", range(4, 220, 5))
def test_the_gap_of_a_pair_is_the_larger_of_its_two(seed: int) -> None:
    prefs, winner = preferences(seed), brute.winner_of(seed)
    assert winner is not None
    graph = prefs.problem.graph
    gaps = brute.condorcet_gaps(graph, prefs.matrix, winner)
    edges = prefs.problem.edges
    expected = {(edges[a][1], edges[a][0], edges[b][0]): max(gaps[a], gaps[b]) for a, b in brute.pairs(graph)}
    assert dm.theory.condorcet_pair_gaps(prefs) == pytest.approx(expected, abs=1e-12)


@every_seed
def test_verification_gaps_are_the_smallest_mean_margins(seed: int) -> None:
    prefs, winner = preferences(seed), brute.winner_of(seed)
    if winner is None:
        return
    expected = brute.verification_gaps(prefs.problem.graph, prefs.matrix, winner)
    named = {prefs.problem.edges[e]: gap for e, gap in expected.items()}
    assert dm.theory.verification_gaps(prefs) == pytest.approx(named, abs=1e-12)
    hardness = inverse_squares(np.array(list(expected.values()))).sum()
    assert dm.theory.verification_hardness(prefs) == pytest.approx(hardness, rel=1e-6)


@each("seed", range(4, 220, 5))
def test_verification_gaps_are_never_below_condorcet_gaps(seed: int) -> None:
    condorcet = dm.theory.condorcet_gaps(preferences(seed))
    for edge, gap in dm.theory.verification_gaps(preferences(seed)).items():
        assert gap >= condorcet[edge] - 1e-12


@each("seed", range(20))
def test_winners_by_lopsided_margins_have_the_right_verification_gaps(seed: int) -> None:
    """Margins that differ by position make the best mean lie on a matching that is not the closest."""
    problem = dm.instances.random_problem(5, 4, seed=seed)
    graph = problem.graph
    rng = np.random.default_rng(seed)
    win = np.full((graph.edges, graph.edges), 0.5)
    winner = brute.matchings(graph)[rng.integers(120)]
    for edge in range(graph.edges):
        own = winner[graph.edge_position[edge]]
        low, high = sorted((edge, own))
        win[low, high] = 0.5 + (1 if own == low else -1) * rng.choice([0.01, 0.05, 0.3, 0.5])
    matrix = brute.mirrored(graph, win)
    prefs = dm.Preferences.from_matrix(problem, matrix)
    expected = brute.verification_gaps(graph, matrix, winner)
    named = {problem.edges[e]: gap for e, gap in expected.items()}
    assert dm.theory.verification_gaps(prefs) == pytest.approx(named, abs=1e-12)


def test_an_edge_in_no_matching_or_in_all_has_an_infinite_gap() -> None:
    problem = dm.Problem.from_edges(
        [("ann", "chair"), ("ann", "editor"), ("bob", "editor"), ("cyd", "editor")]
    )
    win = {
        ("editor", "ann", "bob"): 0.5,
        ("editor", "ann", "cyd"): 0.5,
        ("editor", "bob", "cyd"): 0.7,
    }
    prefs = dm.Preferences(problem, win)
    infinite = {("ann", "chair"), ("ann", "editor")}
    for gaps in (dm.theory.borda_gaps(prefs), dm.theory.condorcet_gaps(prefs)):
        assert {edge for edge, gap in gaps.items() if gap == float("inf")} == infinite
    assert dm.theory.condorcet_gaps(prefs)["bob", "editor"] == pytest.approx(0.1)
    assert dm.theory.borda_hardness(prefs) == pytest.approx(2 / 0.2**2)


def test_nothing_to_decide_is_no_hardness_at_all() -> None:
    problem = dm.Problem.from_edges([("ann", "chair"), ("bob", "editor")])
    prefs = dm.Preferences(problem, {})
    assert dm.theory.borda_hardness(prefs) == 0.0
    assert dm.theory.borda_hardness(prefs, epsilon=0.1) == 0.0
    assert dm.theory.verification_hardness(prefs) == 0.0
    assert dm.theory.verification_gaps(prefs) == {}


@each("epsilon", [-0.1, float("nan")])
def test_a_negative_epsilon_is_refused(epsilon: float) -> None:
    with pytest.raises(ProblemError, match="epsilon must be at least 0"):
        dm.theory.borda_hardness(dm.instances.paper_example(), epsilon)


@each("positions", [2, 3, 5])
def test_equal_gaps_are_equal(positions: int) -> None:
    prefs = dm.instances.equal_gaps(positions, gap=0.1)
    computed: list[tuple[Callable[..., dict], float]] = [
        (dm.theory.borda_gaps, 0.2),
        (dm.theory.condorcet_gaps, 0.2 / positions),
        (dm.theory.verification_gaps, 0.1),
    ]
    for compute, expected in computed:
        assert set(np.round(list(compute(prefs).values()), 12)) == {round(expected, 12)}


# Winners


@each("seed", range(10))
def test_margins_and_rivals_agree_with_the_preferences(seed: int) -> None:
    prefs = dm.instances.planted(5, 4, density=0.8, seed=seed)
    borda = dm.theory.borda_winner(prefs)
    assert borda.matching == prefs.borda_winner()
    assert borda.score == prefs.borda_score(borda.matching)
    assert (borda.margin, borda.unique) == (prefs.borda_margin(), prefs.borda_margin() > 0)
    condorcet = dm.theory.condorcet_winner(prefs)
    assert condorcet is not None
    assert condorcet.matching == prefs.condorcet_winner()
    assert condorcet.margin == pytest.approx(
        prefs.condorcet_margin(prefs.problem.edge_numbers(condorcet.matching))
    )
    assert condorcet.closest_rival not in (None, condorcet.matching)


def test_without_another_matching_the_margin_is_infinite() -> None:
    prefs = dm.Preferences(dm.Problem.complete(["a"], ["s"]), {})
    assert dm.theory.borda_winner(prefs).margin == inf
    condorcet = dm.theory.condorcet_winner(prefs)
    assert condorcet is not None
    assert (condorcet.margin, condorcet.closest_rival) == (inf, None)


def test_a_cycle_has_no_condorcet_winner() -> None:
    assert dm.theory.condorcet_winner(dm.instances.cyclic(3, 1)) is None
