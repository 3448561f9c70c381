"""Generated instances are what their descriptions say, and the same whenever they are asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import brute
import duelmatch as dm
from cases import each
from duelmatch.errors import ProblemError


def comparable(prefs: dm.Preferences) -> np.ndarray:
    """The probabilities of the pairs, one direction each."""
    return np.array([probability for _, probability in prefs.items()])


# Problems


@each("seed", range(30))
def test_a_random_problem_has_the_shape_asked_for_and_a_matching(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positions = int(rng.integers(1, 8))
    candidates = int(rng.integers(positions, 10))
    problem = dm.instances.random_problem(candidates, positions, density=0.1, seed=seed)
    assert problem.candidates == tuple(f"c{i}" for i in range(1, candidates + 1))
    assert problem.positions == tuple(f"s{j}" for j in range(1, positions + 1))
    assert dm.matchings.count(problem) >= 1


def test_the_density_is_the_share_of_the_edges() -> None:
    # 10,000 edges, each present with probability 0.3 (60 present for certain): 6 standard deviations are
    # 0.0275, so this fails under a new seed with probability below 1e-8.
    problem = dm.instances.random_problem(200, 50, density=0.3, seed=4)
    expected = 0.3 + 0.7 * 50 / 10_000
    assert len(problem.edges) / 10_000 == pytest.approx(expected, abs=0.0275)


def test_density_1_is_complete_and_density_0_a_single_matching() -> None:
    assert len(dm.instances.random_problem(6, 4).edges) == 24
    assert len(dm.instances.random_problem(6, 4, density=0.0).edges) == 4


@each(
    ("arguments", "message"),
    [
        ({"candidates": 3, "positions": 4}, "not 3 candidates for 4"),
        ({"candidates": 3, "positions": 0}, "not 3 candidates for 0"),
        ({"candidates": 3, "positions": 2, "density": 1.5}, "density must lie between 0 and 1, not 1.5"),
        ({"candidates": 3, "positions": 2, "density": float("nan")}, "density must lie between 0 and 1"),
    ],
)
def test_impossible_problems_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        dm.instances.random_problem(**arguments)
    with pytest.raises(ProblemError, match=message):
        dm.instances.uniform(**arguments)


# Preferences


@each("generate", [dm.instances.uniform, dm.instances.bradley_terry, dm.instances.planted])
def test_the_same_seed_gives_the_same_instance_and_another_seed_another(
    generate: Callable[..., dm.Preferences],
) -> None:
    first = generate(6, 4, density=0.7, seed=3)
    assert generate(6, 4, density=0.7, seed=3) == first
    assert generate(6, 4, density=0.7, seed=4) != first
    assert first.problem == dm.instances.random_problem(6, 4, density=0.7, seed=3)


@each(
    ("generate", "expected"),
    [
        (dm.instances.uniform, [0.5228552200824905, 0.6203632347567889, 0.3945602781198323]),
        (dm.instances.bradley_terry, [0.6322188197374516, 0.6130670771899456, 0.479630174868217]),
        (dm.instances.planted, [0.6, 0.6, 0.3945602781198323]),
    ],
)
def test_a_seed_means_the_same_instance_in_every_release(
    generate: Callable[..., dm.Preferences], expected: list[float]
) -> None:
    assert comparable(generate(3, 1, seed=0)) == pytest.approx(expected, rel=1e-12)
    edges = generate(3, 2, density=0.5, seed=5).problem.edges
    assert edges == (("c2", "s1"), ("c1", "s2"), ("c2", "s2"), ("c3", "s2"))


def test_uniform_probabilities_stay_in_their_range_and_spread_over_it() -> None:
    # The smallest and largest of 18,000 draws miss the outer 1 % with probability 2 * 0.99^18000 < 1e-78.
    probabilities = comparable(dm.instances.uniform(61, 10, low=0.2, high=0.9, seed=2))
    assert probabilities.min() >= 0.2
    assert probabilities.max() <= 0.9
    assert probabilities.min() < 0.207
    assert probabilities.max() > 0.893


@each(("low", "high"), [(0.6, 0.4), (-0.1, 0.5), (0.5, 1.1), (float("nan"), 0.5)])
def test_a_range_that_is_none_is_refused(low: float, high: float) -> None:
    with pytest.raises(ProblemError, match="must satisfy 0 <= low <= high <= 1"):
        dm.instances.uniform(3, 2, low=low, high=high)


@each("seed", range(10))
def test_bradley_terry_odds_multiply_along_a_chain(seed: int) -> None:
    prefs = dm.instances.bradley_terry(5, 3, seed=seed)
    for position in prefs.problem.positions:

        def odds(first: str, second: str, position: str = position) -> float:
            probability = prefs.probability(position, first, second)
            return probability / (1 - probability)

        assert odds("c1", "c2") * odds("c2", "c3") == pytest.approx(odds("c1", "c3"))
        assert odds("c4", "c5") * odds("c5", "c1") == pytest.approx(odds("c4", "c1"))


def test_bradley_terry_without_spread_is_even_and_with_a_huge_spread_sure() -> None:
    assert set(comparable(dm.instances.bradley_terry(4, 3, spread=0.0))) == {0.5}
    sure = comparable(dm.instances.bradley_terry(4, 3, spread=1e6, seed=1))
    assert set(sure) <= {0.0, 1.0}


@each("spread", [-1.0, float("nan"), float("inf")])
def test_a_spread_that_is_none_is_refused(spread: float) -> None:
    with pytest.raises(ProblemError, match="spread must be"):
        dm.instances.bradley_terry(3, 2, spread=spread)


@each("seed", range(30))
def test_a_planted_winner_wins_by_the_gap_for_every_position_that_differs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positions = int(rng.integers(1, 6))
    candidates = int(rng.integers(positions, 7))
    gap = float(rng.choice([0.01, 0.1, 0.5]))
    prefs = dm.instances.planted(candidates, positions, gap=gap, density=0.6, noise=0.5, seed=seed)
    graph = prefs.problem.graph
    winner = brute.condorcet_winner(graph, prefs.matrix)
    assert winner is not None
    assert prefs.condorcet_winner() == prefs.problem.matching(winner)
    differs = (brute.matchings(graph) != winner).sum(axis=1)
    expected = 0.5 - gap * differs / positions
    np.testing.assert_allclose(brute.scores_against(graph, prefs.matrix, winner), expected, atol=1e-12)


@each("seed", range(6))
def test_a_winner_is_planted_under_capacities_seats_weights_and_rules(seed: int) -> None:
    prefs = dm.instances.planted(
        9, 2, gap=0.2, noise=0.5, seed=seed, capacity=1 + seed % 2, seats=1 + seed % 3, weight=2.5, rules=3
    )
    problem = prefs.problem
    assert len(problem.rules) == 3
    assert problem.weight == {"s1": 2.5}
    assert problem.seats == ({"s1": 1 + seed % 3, "s2": 1 + seed % 3} if seed % 3 else {})
    winner = prefs.condorcet_winner()
    assert winner is not None
    scores = [prefs.score(winner, other) for other in dm.matchings.sample(problem, 50, seed=0)]
    assert min([score for score in scores if score != 0.5], default=1.0) > 0.5
    with pytest.raises(ProblemError, match="ask for fewer"):
        dm.instances.planted(3, 3, rules=1, seed=seed)


def test_the_noise_around_a_planted_winner_stays_within_its_bound() -> None:
    prefs = dm.instances.planted(8, 5, gap=0.3, noise=0.05, seed=2)
    distances = np.abs(comparable(prefs) - 0.5)
    assert ((distances <= 0.05 + 1e-12) | np.isclose(distances, 0.3)).all()
    assert (distances < 0.05).any()


@each(
    ("arguments", "message"),
    [
        ({"gap": 0.0}, "The gap must lie above 0"),
        ({"gap": 0.6}, "The gap must lie above 0 and be at most 0.5, not 0.6"),
        ({"noise": -0.1}, "The noise must lie between 0 and 0.5"),
        ({"noise": float("nan")}, "The noise must lie between 0 and 0.5"),
    ],
)
def test_impossible_plantings_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        dm.instances.planted(3, 2, **arguments)


@each(("candidates", "positions"), [(3, 1), (3, 3), (4, 2), (5, 3), (6, 4), (7, 2)])
def test_cyclic_instances_have_no_condorcet_winner_and_all_matchings_tie_for_borda(
    candidates: int, positions: int
) -> None:
    prefs = dm.instances.cyclic(candidates, positions, strength=0.2)
    graph, names = prefs.problem.graph, prefs.problem.candidates
    assert prefs.condorcet_winner() is None
    assert brute.condorcet_winner(graph, prefs.matrix) is None
    assert prefs.borda_margin() == 0.0
    np.testing.assert_allclose(brute.borda_scores(graph, prefs.matrix), 0.5)
    for matching in brute.matchings(graph):
        moved = {
            prefs.problem.positions[j]: names[(graph.edge_candidate[edge] - 1) % candidates]
            for j, edge in enumerate(matching)
        }
        assert prefs.score(moved, prefs.problem.matching(matching)) == pytest.approx(0.7)


@each(
    ("arguments", "message"),
    [
        ({"candidates": 2, "positions": 1}, "A cycle needs at least 3 candidates, not 2"),
        ({"candidates": 3, "positions": 4}, "not 3 candidates for 4"),
        ({"candidates": 3, "positions": 2, "strength": 0.0}, "strength must lie above 0"),
        ({"candidates": 3, "positions": 2, "strength": 0.7}, "strength must lie above 0 and be at most 0.5"),
    ],
)
def test_impossible_cycles_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        dm.instances.cyclic(**arguments)


@each("positions", [2, 3, 4, 6])
def test_equal_gaps_are_those_promised(positions: int) -> None:
    prefs = dm.instances.equal_gaps(positions, gap=0.2)
    graph = prefs.problem.graph
    winner = brute.condorcet_winner(graph, prefs.matrix)
    assert winner is not None
    assert prefs.problem.matching(winner) == {f"s{j}": f"c{j}" for j in range(1, positions + 1)}
    np.testing.assert_allclose(brute.condorcet_gaps(graph, prefs.matrix, winner), 0.4 / positions)
    np.testing.assert_allclose(brute.borda_gaps(graph, prefs.matrix), 0.4)


@each(("positions", "gap"), [(1, 0.1), (3, 0.0), (3, 0.51)])
def test_impossible_equal_gaps_are_refused(positions: int, gap: float) -> None:
    with pytest.raises(ProblemError, match=r"Equal gaps need at least 2 positions|The gap must lie above 0"):
        dm.instances.equal_gaps(positions, gap)


@each("ring", [2, 3, 6])
def test_rings_differ_in_width_and_in_no_gap(ring: int) -> None:
    prefs = dm.instances.rings(6, ring, gap=0.4)
    graph = prefs.problem.graph
    winner = brute.condorcet_winner(graph, prefs.matrix)
    assert winner is not None
    assert prefs.problem.matching(winner) == {f"s{j}": f"c{j}" for j in range(1, 7)}
    assert dm.matchings.count(prefs.problem) == 2 ** (6 // ring)
    assert dm.theory.width(prefs.problem) == 2 * ring
    np.testing.assert_allclose(brute.borda_gaps(graph, prefs.matrix), 0.4)
    np.testing.assert_allclose(brute.condorcet_gaps(graph, prefs.matrix, winner), 0.4 / 6)
    assert dm.theory.borda_hardness(prefs) == pytest.approx(12 / 0.4**2)


@each(
    ("arguments", "message"),
    [
        ({"positions": 6, "ring": 4}, "not 4 of 6"),
        ({"positions": 6, "ring": 1}, "A ring has 2 positions or more"),
        ({"positions": 6, "ring": 2.0}, "ring must be a whole number, not 2.0"),
        ({"positions": 6, "ring": 3, "gap": 0.0}, "The gap must lie above 0"),
    ],
)
def test_impossible_rings_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        dm.instances.rings(**arguments)


@each(
    ("name", "arguments", "message"),
    [
        ("planted", {"candidates": "3", "positions": 2}, "candidates must be a whole number, not '3'"),
        ("planted", {"candidates": 3, "positions": 2, "gap": "wide"}, "gap must be a number, not 'wide'"),
        ("uniform", {"candidates": 3, "positions": 2.5}, "positions must be a whole number, not 2.5"),
        ("bradley_terry", {"candidates": 3, "positions": 2, "seed": None}, "seed must be a whole number"),
        ("cyclic", {"candidates": [3], "positions": 2}, "candidates must be a whole number"),
        ("equal_gaps", {"positions": True}, "positions must be a whole number, not True"),
        ("random_problem", {"candidates": 3, "positions": "2"}, "positions must be a whole number, not '2'"),
    ],
)
def test_what_is_no_number_is_refused(name: str, arguments: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        getattr(dm.instances, name)(**arguments)


def test_numbers_of_other_packages_are_numbers() -> None:
    made = dm.instances.planted(np.int64(3), np.int64(2), gap=np.float64(0.25))
    assert made.problem == dm.instances.planted(3, 2, gap=0.25).problem


# Examples


def test_every_bundled_example_loads_from_its_file() -> None:
    names = dm.instances.example_names()
    assert list(names) == sorted(names)
    assert len(names) >= 1
    for name in names:
        assert dm.instances.example_path(name).is_file()
        assert dm.matchings.count(dm.instances.example(name).problem) >= 2


def test_an_unknown_example_is_refused_with_the_list_of_the_known() -> None:
    with pytest.raises(ProblemError, match="There is no example 'atlantis'; the examples are "):
        dm.instances.example("atlantis")
