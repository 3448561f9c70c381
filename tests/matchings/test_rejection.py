"""The rejection sampler: its law is computed exactly, by following every decision, and is uniform.

Statistical tests have fixed seeds; a right sampler fails one of them with a chance below 1e-6, all together.
"""

from __future__ import annotations

import sys
from math import exp, factorial, lgamma, log

import numpy as np
import pytest
from scipy.stats import chi2

import brute
import duelmatch as dm
from brute import band, graph_of
from cases import each
from duelmatch.errors import NoMatchingError, ProblemError, TooLargeError
from duelmatch.graph import Graph
from duelmatch.matchings import rejection
from duelmatch.matchings.counting import blocks
from duelmatch.matchings.rejection import RejectionSampler, bound_table, decide
from duelmatch.matchings.sampling import ExactSampler


def triangle(n: int) -> Graph:
    """One matching, and a bound that grows exponentially."""
    return graph_of(["0" * j + "1" * (n - j) for j in range(n)])


def choices(
    graph: Graph, position_left: np.ndarray, candidate_left: np.ndarray
) -> list[tuple[int, int, float]]:
    """Return (position or l, candidate, probability) of every choice at the next decision."""
    positions, candidates = graph.edge_at.shape
    share = np.full((positions + 1, candidates), np.nan)
    table = bound_table(candidates)
    line = decide(graph.edge_at >= 0, position_left, candidate_left, *table, share)
    if line < positions:
        cells = [(line, i) for i in np.flatnonzero(candidate_left).tolist()]
    else:
        cells = [(j, line - positions) for j in [*np.flatnonzero(position_left).tolist(), positions]]
    return [(j, i, float(share[j, i])) for j, i in cells]


def law(graph: Graph) -> dict[tuple[int, ...], float]:
    """Return the probability with which one trial ends in each matching: the sum over all its decisions."""
    found: dict[tuple[int, ...], float] = {}

    def follow(
        position_left: np.ndarray, candidate_left: np.ndarray, chosen: list[int], chance: float
    ) -> None:
        if not position_left.any():
            found[tuple(chosen)] = found.get(tuple(chosen), 0.0) + chance
            return
        options = choices(graph, position_left, candidate_left)
        assert sum(share for _, _, share in options) <= 1 + 1e-12, "nesting"
        for position, candidate, share in options:
            if share > 0:
                positions, candidates, now = position_left.copy(), candidate_left.copy(), list(chosen)
                candidates[candidate] = False
                if position < graph.positions:
                    positions[position] = False
                    now[position] = int(graph.edge_at[position, candidate])
                follow(positions, candidates, now, chance * share)

    everyone = np.ones(graph.positions, np.bool_), np.ones(graph.candidates, np.bool_)
    follow(*everyone, [-1] * graph.positions, 1.0)
    return found


def log_bound(graph: Graph) -> float:
    """Return ln U: a draw takes U over the number of matchings trials on average.

    For one block; U of a graph is the product over its blocks, each of which is drawn by itself.
    """
    bound, _ = bound_table(graph.candidates)
    spare = graph.candidates - graph.positions
    fitting = np.bincount(graph.edge_candidate, minlength=graph.candidates)
    by_position = np.log(bound[graph.degrees]).sum() + spare * log(bound[graph.candidates])
    by_candidate = np.log(bound[fitting + spare]).sum()
    return float(min(by_position, by_candidate)) - lgamma(spare + 1)


@each("seed", [seed for seed in brute.SEEDS if 1 < len(brute.matchings(brute.problem(seed).graph)) <= 150])
def test_a_trial_ends_in_every_matching_with_the_same_probability_one_over_the_bound(seed: int) -> None:
    for block in blocks(brute.problem(seed).graph):
        chances = law(block.graph)
        assert sorted(chances) == sorted(map(tuple, brute.matchings(block.graph).tolist()))
        np.testing.assert_allclose(list(chances.values()), exp(-log_bound(block.graph)), rtol=1e-12)


def test_the_law_notices_a_decision_that_is_a_little_off(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(["11100", "01100", "10111", "11010"])
    table = bound_table(5)
    slightly_off = table[0] * [1, 1, 1, 1.001, 1, 1], table[1]
    monkeypatch.setattr(sys.modules[__name__], "bound_table", lambda _: slightly_off)
    chances = np.array(list(law(graph).values()))
    assert chances.max() / chances.min() > 1 + 1e-6


@each(("rows", "columns"), [(2, 2), (3, 3), (2, 4), (3, 4), (4, 4)])
def test_some_vertex_nests_on_every_small_graph_and_the_bound_is_one(rows: int, columns: int) -> None:
    """All 0/1 matrices up to 4 x 4 (one in eleven of the last), whose rows and columns have an entry."""
    step = 1 if rows * columns < 16 else 11
    for number in range(1, 1 << (rows * columns), step):
        present = (number >> np.arange(rows * columns)) & 1 == 1
        position, candidate = np.nonzero(present.reshape(rows, columns))
        graph = Graph.from_edges(columns, rows, candidate, position)
        if graph.some_matching() is None or len(set(candidate.tolist())) < columns:
            continue
        options = choices(graph, np.ones(rows, np.bool_), np.ones(columns, np.bool_))
        assert sum(share for _, _, share in options) <= 1 + 1e-12
        assert len(brute.matchings(graph)) <= exp(log_bound(graph)) * (1 + 1e-12)


def test_the_bound_grows_by_the_exponential_and_stays_above_bregmans() -> None:
    bound, shrink = bound_table(60)
    assert (bound[0], bound[1], shrink[0], shrink[1]) == (0, 1, 0, 0)
    np.testing.assert_allclose(bound[2:], bound[1:-1] * np.exp(1 / (np.e * bound[1:-1])), rtol=1e-14)
    np.testing.assert_allclose(shrink[2:], bound[1:-1] / bound[2:], rtol=1e-15)
    bregman = np.array([factorial(r) ** (1 / r) for r in range(1, 61)])
    assert (bound[1:] >= bregman * (1 - 1e-14)).all()
    assert (bound[30] / bregman[29]) ** 30 == pytest.approx(1.31, abs=0.005)


@each("seed", brute.SEEDS)
def test_draws_are_uniform_over_all_matchings(seed: int) -> None:
    graph = brute.problem(seed).graph
    everyone = brute.matchings(graph)
    if not 1 < len(everyone) <= 400:
        return
    sampler = RejectionSampler(graph, seed)
    drawn = sampler.draw(20 * max(20, len(everyone)))
    number = {row.tobytes(): k for k, row in enumerate(everyone)}
    counts = np.bincount(
        [number[row.astype(everyone.dtype).tobytes()] for row in drawn], minlength=len(everyone)
    )
    expected = len(drawn) / len(everyone)
    assert chi2.sf(((counts - expected) ** 2 / expected).sum(), len(everyone) - 1) > 1e-10


def test_a_draw_does_not_depend_on_the_one_before() -> None:
    graph = graph_of(["11010", "01100", "00111"])
    everyone = brute.matchings(graph)
    number = {tuple(row): k for k, row in enumerate(everyone.tolist())}
    drawn = [number[tuple(row)] for row in RejectionSampler(graph, 5).draw(40_000).tolist()]
    pairs = np.array(drawn[::2]) * len(everyone) + np.array(drawn[1::2])
    expected = len(pairs) / len(everyone) ** 2
    counts = np.bincount(pairs, minlength=len(everyone) ** 2)
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-8, len(everyone) ** 2 - 1)


@each(
    ("graph", "draws"),
    [
        (dm.instances.random_problem(12, 12, density=0.5, seed=3).graph, 4000),
        (dm.instances.random_problem(18, 18, density=0.3, seed=3).graph, 2000),
        (dm.instances.random_problem(20, 20, density=0.6, seed=3).graph, 2000),
        (graph_of(band(30, reach=2)), 2000),
    ],
)
def test_two_rungs_agree_in_their_edge_marginals(graph: Graph, draws: int) -> None:
    """Position by position, the edges used by either sampler: chi-square of two samples, up to 30 x 30."""
    counts = [
        np.bincount(sampler.draw(draws).ravel(), minlength=graph.edges)
        for sampler in (ExactSampler(graph, 1), RejectionSampler(graph, 1))
    ]
    for position in range(graph.positions):
        one, other = (count[graph.at(position)].astype(float) for count in counts)
        used = one + other > 0
        statistic = ((one - other)[used] ** 2 / (one + other)[used]).sum()
        assert statistic < chi2.isf(1e-9, max(1, used.sum() - 1))


def test_the_number_of_trials_is_the_bound_over_the_number_of_matchings() -> None:
    graph = dm.instances.random_problem(9, 8, density=0.6, seed=2).graph
    (block,) = blocks(graph)
    expected = exp(log_bound(block.graph)) / len(brute.matchings(block.graph))
    sampler = RejectionSampler(graph, 0)
    sampler.draw(20_000)
    spread = (expected * (expected - 1) / 20_000) ** 0.5
    assert abs(sampler.trials / 20_000 - expected) < 6 * spread


def test_the_same_seed_gives_the_same_draws_however_they_are_asked_for() -> None:
    graph = brute.problem(3).graph
    drawn = RejectionSampler(graph, 6).draw(40)
    again = RejectionSampler(graph, 6)
    blocks_of_graph = len(blocks(graph))
    if blocks_of_graph == 1:
        np.testing.assert_array_equal(drawn, np.concatenate([again.draw(15), again.draw(25)]))
    np.testing.assert_array_equal(drawn, RejectionSampler(graph, 6).draw(40))


@each("rows", [["1"], ["01"], ["100", "110", "111"], ["0100", "1110", "1100"]])
def test_a_graph_with_one_matching_gives_it_always(rows: list[str]) -> None:
    graph = graph_of(rows)
    only = graph.some_matching()
    assert only is not None
    np.testing.assert_array_equal(RejectionSampler(graph, 0).draw(20), np.tile(only, (20, 1)))


def test_a_draw_that_would_take_too_many_trials_is_refused_with_their_number() -> None:
    # Where a band above the triangle leaves few matchings, the bound does not see it.
    graph = graph_of(["1" * min(40, j + 2) + "0" * (40 - min(40, j + 2)) for j in range(40)])
    with pytest.raises(
        TooLargeError, match=r"more than 12,500 trials a draw: 100,000 found \d\. Use .*'chain'"
    ):
        RejectionSampler(graph, 0)


def test_the_triangle_is_easy_since_its_forced_edges_are_blocks_of_their_own() -> None:
    sampler = RejectionSampler(triangle(30), 0)
    assert sampler.draw(3).shape == (3, 30)
    assert sampler.trials == 3 * 30


def test_no_draws_are_an_empty_table_and_a_negative_number_is_refused() -> None:
    sampler = RejectionSampler(graph_of(["110", "011"]), 0)
    assert sampler.draw(0).shape == (0, 2)
    with pytest.raises(ProblemError, match="cannot be negative: -1"):
        sampler.draw(-1)


def test_a_graph_without_a_matching_is_refused() -> None:
    with pytest.raises(NoMatchingError, match="No matching fills every position"):
        RejectionSampler(graph_of(["100", "100", "011"]), 0)


def test_the_pilot_takes_nothing_from_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(["110", "011", "101"])
    drawn = RejectionSampler(graph, 2).draw(10)
    monkeypatch.setattr(rejection, "PILOT_MATCHINGS", 500)
    np.testing.assert_array_equal(RejectionSampler(graph, 2).draw(10), drawn)
