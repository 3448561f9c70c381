"""The width of a graph, against every two matchings and against known graphs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import brute
import duelmatch as dm
from cases import each
from duelmatch.errors import TooLargeError
from duelmatch.theory.width import best_width_bound


def problem_of(table: list[list[int]]) -> dm.Problem:
    """A problem from a positions x candidates table of 0 and 1."""
    present = np.array(table, dtype=bool)
    positions, candidates = present.shape
    edges = [(f"c{i}", f"s{j}") for j, i in np.argwhere(present)]
    return dm.Problem.from_edges(
        edges, [f"c{i}" for i in range(candidates)], [f"s{j}" for j in range(positions)]
    )


STAR = problem_of(
    [
        [1, 0, 0, 0, 0, 0, 1],
        [1, 1, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 1],
        [0, 0, 1, 1, 0, 0, 0],
        [0, 0, 0, 0, 1, 0, 1],
        [0, 0, 0, 0, 1, 1, 0],
    ]
)


@each("seed", brute.SEEDS)
def test_the_width_is_the_largest_component_of_any_two_matchings(seed: int) -> None:
    problem = brute.problem(seed)
    expected = brute.width(problem.graph)
    assert dm.theory.width(problem) == expected
    assert expected <= dm.theory.width_bound(problem) <= 2 * len(problem.positions)
    assert best_width_bound(problem) == expected


def tree(seed: int) -> dm.Problem:
    """One block with a candidate to spare, often with short exchanges only."""
    rng = np.random.default_rng(seed)
    table = np.zeros((6, 7), dtype=int)
    for position in range(6):
        table[position, position + 1] = 1
        table[position, rng.integers(0, position + 1)] = 1
    if seed % 2:
        table[rng.integers(6), rng.integers(7)] = 1
    return problem_of(table.tolist())


@each("seed", range(60))
def test_graphs_with_short_exchanges_only_are_searched_to_the_end(seed: int) -> None:
    assert dm.theory.width(tree(seed)) == brute.width(tree(seed).graph)


def test_most_of_these_trees_have_a_width_below_the_bound() -> None:
    assert sum(brute.width(tree(seed).graph) < dm.theory.width_bound(tree(seed)) for seed in range(60)) > 30


def ears(seed: int) -> dm.Problem:
    """Three ways around from a candidate to a position, and a random edge or two.

    Some alternating cycles, and many paths, leave positions outside that nobody is left to fill.
    """
    table = np.zeros((7, 7), dtype=int)
    table[0, 0] = 1
    for near in (1, 3, 5):
        far = near + 1
        table[near, [0, near]] = table[far, [near, far]] = table[0, far] = 1
    rng = np.random.default_rng(seed)
    for _ in range(seed % 3):
        table[rng.integers(7), rng.integers(7)] = 1
    return problem_of(table.tolist())


@each("seed", range(60))
def test_exchanges_that_leave_a_position_empty_do_not_count(seed: int) -> None:
    assert dm.theory.width(ears(seed)) == brute.width(ears(seed).graph)


def test_the_example_of_the_appendix_has_width_4() -> None:
    table = [[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1]]
    assert dm.theory.width(problem_of(table)) == 4
    assert dm.theory.width_bound(problem_of(table)) == 4


def test_a_star_of_two_step_paths_has_a_width_far_below_its_bound() -> None:
    # three arms meet in one candidate: an exchange runs along two of them at most
    assert dm.theory.width_bound(STAR) == 12
    assert dm.theory.width(STAR) == brute.width(STAR.graph) == 8


@each(("positions", "candidates"), [(1, 1), (1, 2), (2, 2), (4, 4), (4, 9), (60, 70)])
def test_complete_graphs_exchange_everything(positions: int, candidates: int) -> None:
    problem = dm.instances.random_problem(candidates, positions)
    expected = 0 if candidates == 1 else 2 * positions
    assert dm.theory.width(problem) == dm.theory.width_bound(problem) == expected


def test_a_single_matching_has_width_0() -> None:
    problem = problem_of([[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    assert dm.theory.width(problem) == dm.theory.width_bound(problem) == 0


def test_blocks_do_not_add_up() -> None:
    table = np.kron(np.eye(3, dtype=int), np.ones((2, 2), dtype=int))
    assert dm.theory.width(problem_of(table.tolist())) == 4


def test_a_long_search_is_refused_with_a_way_out_and_replaced_by_the_bound() -> None:
    problem = dm.instances.random_problem(40, 40, density=0.06, seed=3)
    message = r"needs a longer search than the limit allows; use width_bound, or raise most_states\."
    with pytest.raises(TooLargeError, match=message):
        dm.theory.width(problem, most_states=1)
    assert dm.theory.width_bound(problem) >= 4


def test_hardness_uses_the_bound_where_the_width_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    assert best_width_bound(STAR) == 8

    def refuse(problem: dm.Problem) -> int:
        raise TooLargeError("too long")

    monkeypatch.setattr(sys.modules[best_width_bound.__module__], "width", refuse)
    assert best_width_bound(STAR) == 12
