"""Counts and marginals against the list of all matchings, closed forms, and tight memory."""

from __future__ import annotations

from itertools import permutations
from math import comb, factorial, log, perm

import numpy as np
import pytest

import brute
import duelmatch as dm
from brute import band, graph_of
from cases import each
from duelmatch.errors import TooLargeError
from duelmatch.graph import Graph
from duelmatch.matchings import elimination
from duelmatch.matchings.counting import blocks, count_matchings, edge_marginals, log_count_bound, plan_within
from duelmatch.matchings.elimination import plan

every_seed = each("seed", brute.SEEDS)


def marginals_with_stride(graph: Graph, stride: int) -> np.ndarray:
    """Edge marginals from layers of which only every ``stride``-th is kept."""
    marginals = np.empty(graph.edges)
    finish = np.ones(1)
    for step, layer in plan(graph).layers_backwards(stride):
        counts = np.zeros(graph.edges)
        before = step.backward(layer, finish, counts)
        for edge in step.edges:
            marginals[edge] = counts[edge] / (layer @ before)
        finish = before / before.max()
    return marginals


def circulant(size: int, *shifts: int) -> np.ndarray:
    ahead = (np.arange(size)[None, :] - np.arange(size)[:, None]) % size
    return np.isin(ahead, shifts)


def fibonacci(number: int) -> int:
    before, current = 0, 1
    for _ in range(number):
        before, current = current, before + current
    return before


def avoiding(positions: int, candidates: int, missing: int) -> int:
    """Inclusion and exclusion: the first ``missing`` positions each refuse a candidate of their own."""
    return sum((-1) ** k * comb(missing, k) * perm(candidates - k, positions - k) for k in range(missing + 1))


def permanent(table: np.ndarray) -> int:
    """Ryser's formula, in integers."""
    size = len(table)
    total = 0
    for chosen in range(1, 1 << size):
        columns = [column for column in range(size) if chosen >> column & 1]
        product = 1
        for row in table[:, columns].sum(axis=1).tolist():
            product *= row
        total += (-1) ** (size - len(columns)) * product
    return total


@every_seed
def test_the_count_is_the_number_of_matchings_listed(seed: int) -> None:
    problem = brute.problem(seed)
    count = dm.matchings.count(problem)
    assert isinstance(count, int)
    assert count == len(brute.matchings(problem.graph))


@every_seed
def test_marginals_are_the_shares_of_the_matchings_listed(seed: int) -> None:
    problem = brute.problem(seed)
    found = dm.matchings.marginals(problem)
    assert list(found) == list(problem.edges)
    np.testing.assert_allclose(list(found.values()), brute.marginals(problem.graph), rtol=1e-13, atol=0)


@every_seed
def test_every_block_has_one_matching_per_choice_and_they_multiply(seed: int) -> None:
    graph = brute.problem(seed).graph
    product = 1
    seen: list[int] = []
    for block in blocks(graph):
        product *= len(brute.matchings(block.graph))
        seen += block.edges.tolist()
    assert product == len(brute.matchings(graph))
    assert sorted(seen) == np.flatnonzero(brute.marginals(graph)).tolist()


@each("stride", [1, 2, 3, 5, 100])
@each("seed", range(0, 220, 5))
def test_keeping_fewer_layers_gives_the_same_marginals(seed: int, stride: int) -> None:
    for block in blocks(brute.problem(seed).graph):
        found = marginals_with_stride(block.graph, stride)
        np.testing.assert_allclose(found, brute.marginals(block.graph), rtol=1e-13, atol=0)


def test_a_memory_limit_between_all_and_none_keeps_some_layers_and_changes_nothing() -> None:
    graph = graph_of(band(40, 3))
    generous, stride = plan_within(graph, 1 << 30)
    assert stride == 1
    layer_bytes = [8 << step.open_after for step in generous.steps]
    tight = 6 * max(layer_bytes) + sum(layer_bytes) - 1
    assert plan_within(graph, tight)[1] > 1
    np.testing.assert_allclose(edge_marginals(graph, tight), edge_marginals(graph), rtol=1e-13)
    assert count_matchings(graph, tight) == count_matchings(graph)


def test_too_little_memory_is_refused_with_an_estimate_and_a_way_out() -> None:
    problem = dm.instances.random_problem(30, 24, density=0.5, seed=1)
    message = (
        r"^Exact counting on a block of 24 positions and 30 candidates would take about \d+\.\d GiB of "
        r"memory \(2\^2\d states\) and \d\.\de\+\d\d operations; the limit is 1\.0 MiB\. "
        r"Raise the limit, or draw matchings by the methods 'rejection' or 'chain', which need no exact "
        r"count\.$"
    )
    for compute in (dm.matchings.count, dm.matchings.marginals):
        with pytest.raises(TooLargeError, match=message):
            compute(problem, memory=1 << 20)


def test_a_limit_of_a_few_bytes_is_printed_as_such() -> None:
    problem = dm.instances.random_problem(7, 6, density=0.6, seed=1)
    with pytest.raises(TooLargeError, match=r"the limit is 100 bytes\."):
        dm.matchings.count(problem, memory=100)


def test_a_graph_far_beyond_any_memory_is_refused_at_once() -> None:
    problem = dm.instances.random_problem(80, 70, density=0.5, seed=1)
    with pytest.raises(TooLargeError, match=r"2\^\d\d states"):
        dm.matchings.count(problem)


def test_a_complete_graph_needs_no_memory_however_large() -> None:
    problem = dm.instances.random_problem(120, 100)
    assert dm.matchings.count(problem, memory=0) == factorial(120) // factorial(20)
    assert set(dm.matchings.marginals(problem, memory=0).values()) == {1 / 120}


def test_independent_complete_blocks_need_no_memory() -> None:
    present = np.kron(np.eye(10, dtype=int), np.ones((3, 4), dtype=int)).astype(bool)
    assert count_matchings(graph_of(present), memory=0) == 24**10


@each(
    ("positions", "candidates", "missing"),
    [
        *((size, size, size) for size in (2, 5, 9, 14, 17)),
        (6, 6, 4),
        (9, 9, 5),
        (16, 16, 11),
        (12, 60, 12),
    ],
)
def test_complete_graphs_without_a_matching_or_part_of_it_count_by_inclusion_and_exclusion(
    positions: int, candidates: int, missing: int
) -> None:
    present = np.ones((positions, candidates), dtype=bool)
    present[np.arange(missing), np.arange(missing)] = False
    assert count_matchings(graph_of(present)) == avoiding(positions, candidates, missing)


@each("size", [1, 2, 10, 300])
def test_tridiagonal_graphs_count_fibonacci_numbers(size: int) -> None:
    assert count_matchings(graph_of(band(size, 1))) == fibonacci(size + 1)


@each("size", [3, 4, 11, 200])
def test_rings_of_three_shifts_count_lucas_numbers_and_two(size: int) -> None:
    lucas = fibonacci(size - 1) + fibonacci(size + 1)
    assert count_matchings(graph_of(circulant(size, 0, 1, size - 1))) == lucas + 2


def test_a_simple_cycle_has_two_matchings() -> None:
    assert count_matchings(graph_of(circulant(150, 0, 1))) == 2
    np.testing.assert_array_equal(edge_marginals(graph_of(circulant(150, 0, 1))), 0.5)


def random_square(seed: int) -> np.ndarray:
    present = np.random.default_rng(seed).random((12, 12)) < 0.45
    np.fill_diagonal(present, True)
    return present


TWELVE = {f"band of reach {reach}": band(12, reach) for reach in (2, 3)} | {
    f"random, seed {seed}": random_square(seed) for seed in range(8)
}


@each("name", TWELVE)
def test_graphs_of_12_positions_count_their_permanent(name: str) -> None:
    assert count_matchings(graph_of(TWELVE[name])) == permanent(TWELVE[name].astype(int))


def test_marginals_stay_exact_when_the_count_is_beyond_the_range_of_doubles() -> None:
    size = 1500
    assert fibonacci(size + 1) > 10**308
    graph = graph_of(band(size, 1))
    marginals = edge_marginals(graph)
    for row in (0, 1, 700, 1499):
        kept = fibonacci(row + 1) * fibonacci(size - row)
        edge = graph.edge_at[row, row]
        assert marginals[edge] == pytest.approx(kept / fibonacci(size + 1), rel=1e-12)
    np.testing.assert_allclose(np.add.reduceat(marginals, graph.start[:-1]), 1.0, rtol=1e-12)


def lopsided_ring(cells: int) -> np.ndarray:
    """Position i takes candidate i, or i + 1, all around; cells favour one twofold, then the other."""
    size = 4 * cells + 1
    present = np.eye(size, dtype=bool) | np.roll(np.eye(size, dtype=bool), 1, axis=1)
    for cell in range(0, 2 * cells, 2):
        present[cell + 1, cell] = True
    for cell in range(2 * cells, 4 * cells, 2):
        present[cell, cell + 2] = True
    return present


def test_two_halves_that_favour_opposite_choices_cancel_out() -> None:
    graph = graph_of(lopsided_ring(300))
    assert count_matchings(graph_of(lopsided_ring(20))) == 2**21
    np.testing.assert_allclose(edge_marginals(graph)[[-2, -1]], 0.5, rtol=1e-12)


def test_counts_too_far_apart_for_doubles_are_refused_rather_than_guessed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(elimination, "STARTS", 1)  # any plan will do, and this graph is long
    with pytest.raises(TooLargeError, match="doubles cannot hold both"):
        edge_marginals(graph_of(lopsided_ring(1160)))


@each("seed", range(5))
def test_marginals_of_a_larger_graph_agree_with_counts_of_its_parts(seed: int) -> None:
    present = np.random.default_rng(seed).random((11, 13)) < 0.5
    present[np.arange(11), np.arange(11)] = True
    graph = graph_of(present)
    total = count_matchings(graph)
    marginals = edge_marginals(graph)
    for edge in range(0, graph.edges, 5):
        position, candidate = graph.edge_position[edge], graph.edge_candidate[edge]
        rest = np.delete(np.delete(present, position, axis=0), candidate, axis=1)
        rest_graph = graph_of(rest)
        has_matching = rest_graph.some_matching() is not None
        through = count_matchings(rest_graph) if has_matching else 0
        assert marginals[edge] == pytest.approx(through / total, rel=1e-12)


def test_marginals_add_up_to_one_at_every_position_and_to_at_most_one_for_every_candidate() -> None:
    graph = dm.instances.random_problem(22, 16, density=0.4, seed=3).graph
    marginals = edge_marginals(graph)
    np.testing.assert_allclose(np.add.reduceat(marginals, graph.start[:-1]), 1.0, rtol=1e-12)
    by_candidate = np.bincount(graph.edge_candidate, marginals)
    assert by_candidate.max() <= 1 + 1e-12


def test_a_position_with_one_candidate_shuts_that_candidate_out_elsewhere() -> None:
    problem = dm.Problem.from_edges([("ann", "chair"), ("ann", "editor"), ("bob", "editor")])
    assert dm.matchings.count(problem) == 1
    assert dm.matchings.marginals(problem) == {
        ("ann", "chair"): 1.0,
        ("ann", "editor"): 0.0,
        ("bob", "editor"): 1.0,
    }


def test_ryser_and_enumeration_agree_so_the_references_can_be_trusted() -> None:
    present = np.random.default_rng(5).random((6, 6)) < 0.6
    listed = sum(all(present[range(6), order]) for order in permutations(range(6)))
    assert permanent(present.astype(int)) == listed
    assert [avoiding(size, size, size) for size in range(2, 7)] == [1, 2, 9, 44, 265]
    assert avoiding(12, 60, 12) > 2**64


# What is said of a problem


@each("seed", range(20))
def test_says_what_the_single_functions_say(seed: int) -> None:
    problem = dm.instances.random_problem(5 + seed % 3, 5, density=0.6, seed=seed)
    about = dm.matchings.describe(problem)
    assert about.matchings == dm.matchings.count(problem)
    assert dict(about.share) == pytest.approx(dm.matchings.marginals(problem))
    assert set(about.certain) == dm.matchings.edges_in_every(problem)
    assert set(problem.edges) - set(about.never) == dm.matchings.edges_in_some(problem)


@each("seed", range(20))
def test_the_bound_on_the_number_of_matchings_holds(seed: int) -> None:
    problem = dm.instances.random_problem(5 + seed % 3, 5, density=0.6, seed=seed)
    assert log_count_bound(problem.graph) >= log(dm.matchings.count(problem)) - 1e-9
