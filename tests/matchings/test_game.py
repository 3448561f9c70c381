"""The matching game: the LP against a game over all matchings, the subgradient method against the LP."""

from __future__ import annotations

import numpy as np
import pytest

import brute
import duelmatch as dm
from cases import each
from duelmatch.errors import DuelmatchError, ProblemError
from duelmatch.graph import Graph
from duelmatch.matchings import subgradient
from duelmatch.matchings.decisions import allowed_edges
from duelmatch.matchings.game import NO_GAME, Game, Solution
from duelmatch.matchings.subgradient import solve_by_subgradients

every_seed = each("seed", brute.SEEDS)

TEAM = dm.Problem.from_edges([("ann", "chair"), ("bob", "chair"), ("bob", "editor"), ("cyd", "editor")])

FREE: tuple[tuple[int, ...], ...] = ((), (), (), ())
"""No required and no forbidden edges on either side."""


def payoffs(seed: int) -> np.ndarray:
    """A matrix that is dense between different positions too; on a coarse grid for even seeds."""
    size = (brute.problem(seed).graph.edges,) * 2
    rng = np.random.default_rng([seed, 11])
    return rng.integers(0, 5, size) / 4 if seed % 2 == 0 else rng.random(size)


def sides(seed: int) -> tuple[tuple[int, ...], ...]:
    """Random required and forbidden edges of x and of y; some of them contradict each other."""
    edges = brute.problem(seed).graph.edges
    rng = np.random.default_rng([seed, 12])
    return tuple(tuple(rng.permutation(edges)[: rng.integers(0, most + 1)].tolist()) for most in (1, 3, 1, 3))


def reference(graph: Graph, Q: np.ndarray, sets: tuple[tuple[int, ...], ...] = FREE) -> float:
    chi = brute.indicators(graph)
    x_side, y_side = chi[brute.those_with(graph, *sets[:2])], chi[brute.those_with(graph, *sets[2:])]
    return brute.game_value(x_side, y_side, Q, graph.positions)


def in_polytope(graph: Graph, point: np.ndarray, allowed: np.ndarray) -> bool:
    """Birkhoff: non-negative, one per position, at most one per candidate, nothing on edges ruled out."""
    at_position = np.bincount(graph.edge_position, point)
    of_candidate = np.bincount(graph.edge_candidate, point)
    return bool(
        point.min() >= -1e-9
        and np.abs(at_position - 1).max() < 1e-9
        and of_candidate.max() < 1 + 1e-9
        and np.abs(point[~allowed]).max(initial=0.0) < 1e-9
    )


@each("restricted", [False, True])
@every_seed
def test_the_value_is_that_of_the_matrix_game_over_all_matchings_each_side_may_choose(
    seed: int, restricted: bool
) -> None:
    problem, Q, sets = brute.problem(seed), payoffs(seed), sides(seed) if restricted else FREE
    named = [[problem.edges[e] for e in edges] for edges in sets]
    expected = reference(problem.graph, Q, sets)
    found = dm.matchings.game_value(problem, Q, *named)
    assert found == pytest.approx(expected, abs=1e-9)
    assert (found == float("-inf")) == (expected == float("-inf"))


def test_the_random_restrictions_leave_games_and_leave_none() -> None:
    played = 0
    for seed in brute.SEEDS:
        graph, sets = brute.problem(seed).graph, sides(seed)
        played += brute.those_with(graph, *sets[:2]).any() and brute.those_with(graph, *sets[2:]).any()
    assert 30 < played < len(brute.SEEDS) - 30


@every_seed
def test_both_strategies_lie_in_their_polytopes_and_prove_the_value(seed: int) -> None:
    graph, Q, sets = brute.problem(seed).graph, payoffs(seed), sides(seed)
    solution = Game(graph, Q).solve(*sets)
    if solution.value == -np.inf:
        assert solution == NO_GAME
        return
    assert solution.x is not None
    assert solution.y is not None
    assert in_polytope(graph, solution.x, allowed_edges(graph, *sets[:2]))
    assert in_polytope(graph, solution.y, allowed_edges(graph, *sets[2:]))
    chi = brute.indicators(graph)
    secured = (chi[brute.those_with(graph, *sets[2:])] @ (solution.x @ Q)).min() / graph.positions
    conceded = (chi[brute.those_with(graph, *sets[:2])] @ (Q @ solution.y)).max() / graph.positions
    assert solution.value == pytest.approx(secured, abs=1e-9)
    assert solution.value + solution.gap == pytest.approx(conceded, abs=1e-9)
    assert 0 <= solution.gap < 1e-9


@each("seed", range(0, 220, 9))
def test_a_warm_start_gives_the_value_of_a_fresh_one(seed: int) -> None:
    graph, Q = brute.problem(seed).graph, payoffs(seed)
    rng = np.random.default_rng([seed, 13])
    game = Game(graph, Q)
    for step in range(12):
        sets = tuple(
            tuple(rng.permutation(graph.edges)[: rng.integers(0, most + 1)].tolist()) for most in (1, 2, 1, 2)
        )
        if step % 4 == 3:
            Q = np.clip(Q + rng.normal(scale=0.05, size=Q.shape), 0, 1)
            game.replace_matrix(Q)
        warm, fresh = game.solve(*sets), Game(graph, Q).solve(*sets)
        assert warm.value == pytest.approx(fresh.value, abs=1e-9)
    assert game.solve().value == pytest.approx(reference(graph, Q), abs=1e-9)


def test_restrictions_of_one_call_are_forgotten_in_the_next() -> None:
    graph, Q = brute.problem(0).graph, payoffs(0)
    game = Game(graph, Q)
    free = game.solve().value
    assert game.solve(required_x=[0], forbidden_y=[5]).value != pytest.approx(free, abs=1e-6)
    assert game.solve(required_x=[0, 1]) == NO_GAME
    assert game.solve().value == pytest.approx(free, abs=1e-9)


def test_the_matrix_can_be_replaced_before_any_solution_and_by_one_of_another_pattern() -> None:
    graph = brute.problem(0).graph
    sparse = brute.preference_matrix(0)
    game = Game(graph, np.zeros((graph.edges, graph.edges)))
    game.replace_matrix(payoffs(0))
    assert game.solve().value == pytest.approx(reference(graph, payoffs(0)), abs=1e-9)
    game.replace_matrix(sparse)
    assert game.solve().value == pytest.approx(0.5, abs=1e-9)
    game.replace_matrix(1 - payoffs(0))
    assert game.solve().value == pytest.approx(reference(graph, 1 - payoffs(0)), abs=1e-9)


@each("scale", [1e-6, 1e-3, 1e3, 1e6])
@each("seed", [3, 8, 38])
def test_the_value_scales_with_the_payoffs(seed: int, scale: float) -> None:
    graph, Q = brute.problem(seed).graph, payoffs(seed)
    found = Game(graph, scale * Q).solve().value
    assert found == pytest.approx(scale * reference(graph, Q), abs=1e-9 * max(1.0, scale))


@each("seed", range(0, 220, 10))
def test_negative_and_shifted_payoffs_shift_the_value(seed: int) -> None:
    graph, Q = brute.problem(seed).graph, payoffs(seed)
    expected = reference(graph, Q) - 3.0 * graph.positions
    assert Game(graph, Q - 3.0).solve().value == pytest.approx(expected, abs=1e-9)


@each("seed", range(0, 220, 4))
def test_preferences_make_an_even_game(seed: int) -> None:
    value = dm.matchings.game_value(brute.problem(seed), brute.preference_matrix(seed))
    assert value == pytest.approx(0.5, abs=1e-9)


@each(
    "sets",
    [
        {"required_x": [("ann", "chair"), ("bob", "chair")]},
        {"forbidden_x": [("ann", "chair"), ("bob", "chair")]},
        {"required_y": [("bob", "chair"), ("bob", "editor")]},
        {"required_y": [("bob", "chair")], "forbidden_y": [("cyd", "editor")]},
    ],
)
@each("method", ["lp", "subgradient"])
def test_a_game_without_matchings_on_one_side_is_worth_minus_infinity(method: str, sets: dict) -> None:
    Q = np.full((4, 4), 0.5)
    assert dm.matchings.game_value(TEAM, Q, method=method, epsilon=0.1, **sets) == float("-inf")
    solution = dm.matchings.solve_game(TEAM, Q, method=method, epsilon=0.1, **sets)
    assert solution == Solution(float("-inf"), 0.0, None, None)


@each("seed", range(1, 220, 10))
def test_the_subgradient_method_is_as_close_to_the_lp_as_it_proves(seed: int) -> None:
    graph, Q, sets = brute.problem(seed).graph, payoffs(seed), sides(seed)
    exact = Game(graph, Q).solve(*sets)
    x_allowed, y_allowed = allowed_edges(graph, *sets[:2]), allowed_edges(graph, *sets[2:])
    found = solve_by_subgradients(graph, Q, x_allowed, y_allowed, 0.1)
    if exact.value == -np.inf:
        assert found == NO_GAME
        return
    assert 0 <= found.gap <= 0.1
    assert found.value <= exact.value + 1e-9
    assert exact.value <= found.value + found.gap + 1e-9
    assert found.x is not None
    assert found.y is not None
    assert in_polytope(graph, found.x, x_allowed)
    assert in_polytope(graph, found.y, y_allowed)


def test_the_subgradient_method_is_reached_by_name() -> None:
    prefs = dm.instances.paper_example()
    solution = dm.matchings.solve_game(prefs.problem, prefs.matrix, method="subgradient", epsilon=0.02)
    assert 0 <= solution.gap <= 0.02
    assert 0.48 <= solution.value <= 0.5 + 1e-9


def test_the_subgradient_method_reports_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subgradient, "MOST_STEPS", 20)
    monkeypatch.setattr(subgradient, "MOST_PROJECTION_STEPS", 20)
    with pytest.raises(DuelmatchError, match=r"After 20 subgradient steps .* within 0\.\d+ only, not 1e-09"):
        dm.matchings.game_value(brute.problem(38), payoffs(38), method="subgradient")


def test_a_game_of_zeros_is_worth_nothing_by_either_method() -> None:
    zeros = np.zeros((4, 4))
    assert dm.matchings.game_value(TEAM, zeros) == 0.0
    assert dm.matchings.game_value(TEAM, zeros, method="subgradient") == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, "epsilon must be above 0, not 0"),
        ({"epsilon": float("nan")}, "epsilon must be above 0, not nan"),
        ({"method": "guess"}, "must be 'lp' or 'subgradient', not 'guess'"),
        ({"required_x": [("dan", "chair")]}, "There is no candidate 'dan'"),
        ({"forbidden_y": [("ann", "editor")]}, "'ann' is not a candidate for position"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        dm.matchings.game_value(TEAM, np.zeros((4, 4)), **options)


@each(("Q", "shape"), [(np.zeros((3, 3)), "3 x 3"), (np.zeros(4), "4"), (0.5, "a number")])
def test_payoffs_of_another_shape_are_refused(Q: object, shape: str) -> None:
    with pytest.raises(ProblemError, match=f"Q must be 4 x 4, a row and a column per edge, not {shape}"):
        dm.matchings.game_value(TEAM, Q)


@each("Q", [np.full((4, 4), np.nan), np.full((4, 4), np.inf), [[1, 2], [3]], "Q"])
def test_payoffs_that_are_not_finite_numbers_are_refused(Q: object) -> None:
    with pytest.raises(ProblemError, match="Every entry of Q must be a finite number"):
        dm.matchings.game_value(TEAM, Q)


@each("seed", range(3))
def test_larger_games_prove_their_own_value(seed: int) -> None:
    graph = dm.instances.random_problem(15, 12, density=0.6, seed=seed).graph
    Q = np.random.default_rng(seed).random((graph.edges, graph.edges))
    solution = Game(graph, Q).solve(required_x=[0], forbidden_y=[3])
    assert solution.gap < 1e-9
    assert solution.x is not None
    assert in_polytope(graph, solution.x, allowed_edges(graph, required=[0]))
