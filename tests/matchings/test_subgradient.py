"""What the proofs about Algorithms 6 and 7 rest on, checked on the lists of all matchings of small graphs."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

import brute
from cases import each
from duelmatch.graph import Graph
from duelmatch.matchings import subgradient
from duelmatch.matchings.subgradient import _projected

SEEDS = [seed for seed in brute.SEEDS if 3 <= len(brute.matchings(brute.problem(seed).graph)) <= 150][:25]


def vertices(graph: Graph) -> np.ndarray:
    """Return chi_M of every maximum matching, one a row."""
    rows = brute.matchings(graph)
    indicators = np.zeros((len(rows), graph.edges))
    indicators[np.arange(len(rows))[:, None], rows] = 1.0
    return indicators


def mixtures(points: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.dirichlet(np.full(len(points), 0.5), size=size) @ points


def secured(
    x: np.ndarray, matrix: np.ndarray, points: np.ndarray, positions: int
) -> tuple[float, np.ndarray]:
    """Return g(x), the least over all y, and the subgradient Q y / l of the y that attains it."""
    values = x @ matrix @ points.T / positions
    return float(values.min()), matrix @ points[values.argmin()] / positions


@each("seed", SEEDS)
def test_what_a_mixture_secures_is_concave_and_each_answer_gives_a_subgradient(seed: int) -> None:
    """Definitions 6 and 7: g(ax + bx') >= a g(x) + b g(x'), and g(x') <= g(x) + s (x' - x)."""
    graph, matrix = brute.problem(seed).graph, brute.preference_matrix(seed)
    points, rng = vertices(graph), np.random.default_rng(seed)
    for one, other in zip(mixtures(points, rng, 10), mixtures(points, rng, 10), strict=True):
        (here, slope), (there, _) = (secured(x, matrix, points, graph.positions) for x in (one, other))
        middle, _ = secured(0.3 * one + 0.7 * other, matrix, points, graph.positions)
        assert middle >= 0.3 * here + 0.7 * there - 1e-12
        assert there <= here + slope @ (other - one) + 1e-12


@each("seed", SEEDS)
def test_what_a_mixture_secures_is_lipschitz_with_the_root_of_m_over_l(seed: int) -> None:
    """Definition 8 and Lemma 7, whose K is no bound: see the next test."""
    graph, matrix = brute.problem(seed).graph, brute.preference_matrix(seed)
    points, rng = vertices(graph), np.random.default_rng(seed)
    most = sqrt(graph.edges) / graph.positions
    for one, other in zip(mixtures(points, rng, 10), mixtures(points, rng, 10), strict=True):
        (here, slope), (there, _) = (secured(x, matrix, points, graph.positions) for x in (one, other))
        assert np.linalg.norm(slope) <= most + 1e-12
        assert abs(here - there) <= most * np.linalg.norm(one - other) + 1e-12


def test_the_printed_lipschitz_constant_fails_where_there_is_a_single_pair() -> None:
    matrix, points = np.array([[0.5, 1.0], [0.0, 0.5]]), np.eye(2)
    slopes = [np.linalg.norm(matrix @ y) for y in points]
    assert max(slopes) == pytest.approx(1.118, abs=1e-3)


@each("seed", SEEDS)
def test_no_two_points_are_farther_apart_than_the_root_of_2_l(seed: int) -> None:
    """Lemma 6, with sqrt(2 l) for 2 l: disjoint matchings attain it."""
    graph = brute.problem(seed).graph
    points = vertices(graph)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert distance.max() <= sqrt(2 * graph.positions) + 1e-12
    disjoint = points @ points.T == 0
    np.testing.assert_allclose(distance[disjoint], sqrt(2 * graph.positions))


@each("seed", SEEDS)
def test_a_projection_is_off_by_no_more_than_its_gap_allows(seed: int) -> None:
    """Proposition 1, in the form that replaces Lemma 8: |x' - x|^2 <= |z - x|^2 - |z - x'|^2 + 2 G."""
    graph = brute.problem(seed).graph
    points, rng = vertices(graph), np.random.default_rng(seed)
    everything = np.ones(graph.edges, dtype=np.bool_)
    for accuracy in (0.3, 1e-3):
        point = points[0] + rng.normal(0, 0.6, graph.edges)
        found = _projected(graph, point, points[0], everything, accuracy)
        assert found.sum() == pytest.approx(graph.positions)
        for x in mixtures(points, rng, 20):
            lost = ((point - x) ** 2).sum() - ((point - found) ** 2).sum() + 2 * accuracy
            assert ((found - x) ** 2).sum() <= lost + 1e-9


@each("steps", [2, 5, 20, 80])
def test_frank_wolfe_steps_come_as_close_as_proposition_2_says(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """f(x_t) - f* <= 2 D^2 / (t + 1), f = |z - x|^2 / 2, D^2 = 2 l; the best step is as good as theirs."""
    monkeypatch.setattr(subgradient, "MOST_PROJECTION_STEPS", 20_000)
    graph = brute.problem(SEEDS[0]).graph
    points, rng = vertices(graph), np.random.default_rng(7)
    everything = np.ones(graph.edges, dtype=np.bool_)
    for _ in range(5):
        point = points[0] + rng.normal(0, 1, graph.edges)
        best = ((point - _projected(graph, point, points[0], everything, 1e-7)) ** 2).sum() / 2
        monkeypatch.setattr(subgradient, "MOST_PROJECTION_STEPS", steps - 1)
        reached = ((point - _projected(graph, point, points[0], everything, 0.0)) ** 2).sum() / 2
        monkeypatch.setattr(subgradient, "MOST_PROJECTION_STEPS", 20_000)
        assert reached - best <= 4 * graph.positions / (steps + 1)
