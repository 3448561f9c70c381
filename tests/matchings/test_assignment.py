"""Best matchings, alternatives, and the edges that matter, against the list of all matchings."""

from __future__ import annotations

import numpy as np
import pytest

import brute
import duelmatch as dm
from cases import each
from duelmatch.errors import ProblemError
from duelmatch.matchings.decisions import (
    allowed_edges,
    best_matching,
    decisions_of,
    usable_edges,
)

every_seed = each("seed", brute.SEEDS)

TEAM = dm.Problem.from_edges([("ann", "chair"), ("bob", "chair"), ("bob", "editor"), ("cyd", "editor")])
EVEN = dict.fromkeys(TEAM.edges, 1.0)


def weights_of(seed: int) -> np.ndarray:
    """Weights with many ties, some negative, on even seeds; without ties on odd ones."""
    edges = brute.problem(seed).graph.edges
    rng = np.random.default_rng([seed, 1])
    return rng.integers(-2, 3, edges) / 4 if seed % 2 == 0 else rng.normal(size=edges)


def some_edges(seed: int, salt: int, most: int) -> tuple[int, ...]:
    rng = np.random.default_rng([seed, salt])
    edges = brute.problem(seed).graph.edges
    return tuple(rng.permutation(edges)[: rng.integers(0, most + 1)].tolist())


def is_matching(problem: dm.Problem, matching: dm.Matching) -> bool:
    edges = {(candidate, position) for position, candidate in matching.items()}
    return set(matching) == set(problem.positions) and edges <= set(problem.edges)


def test_the_random_problems_cover_the_shapes_that_matter() -> None:
    graphs = [brute.problem(seed).graph for seed in brute.SEEDS]
    counts = [len(brute.matchings(graph)) for graph in graphs]
    assert len(graphs) >= 200
    assert {graph.positions for graph in graphs} == set(range(1, 8))
    assert sum(graph.candidates > graph.positions for graph in graphs) > 50
    assert sum((brute.marginals(graph) == 0).any() for graph in graphs) > 20
    assert sum((graph.degrees == 1).any() for graph in graphs) > 20
    assert sum(len(np.unique(graph.edge_candidate)) < graph.candidates for graph in graphs) > 20
    assert max(counts) == 5040
    assert counts.count(1) > 10


@each("restricted", [False, True])
@every_seed
def test_the_best_matching_is_the_heaviest_with_the_required_and_without_the_forbidden_edges(
    seed: int, restricted: bool
) -> None:
    problem, weights = brute.problem(seed), weights_of(seed)
    required = some_edges(seed, 2, 2) if restricted else ()
    forbidden = some_edges(seed, 3, 4) if restricted else ()
    best = dm.matchings.best(
        problem,
        dict(zip(problem.edges, weights.tolist(), strict=True)),
        required=[problem.edges[e] for e in required],
        forbidden=[problem.edges[e] for e in forbidden],
    )
    chosen = brute.those_with(problem.graph, required, forbidden)
    if not chosen.any():
        assert best is None
        return
    assert best is not None
    assert is_matching(problem, best)
    edges = problem.edge_numbers(best)
    assert set(required) <= set(edges)
    assert not set(forbidden) & set(edges)
    assert weights[edges].sum() == pytest.approx(brute.largest(problem.graph, weights, chosen), abs=1e-12)


@every_seed
def test_the_best_other_matching_is_the_heaviest_of_the_others(seed: int) -> None:
    problem, weights = brute.problem(seed), weights_of(seed)
    everyone = brute.matchings(problem.graph)
    given = everyone[np.random.default_rng([seed, 4]).integers(len(everyone))]
    other = dm.matchings.best_other(
        problem, dict(zip(problem.edges, weights.tolist(), strict=True)), problem.matching(given)
    )
    others = (everyone != given).any(axis=1)
    if not others.any():
        assert other is None
        return
    assert other is not None
    assert other != problem.matching(given)
    expected = brute.largest(problem.graph, weights, others)
    assert weights[problem.edge_numbers(other)].sum() == pytest.approx(expected, abs=1e-12)


@every_seed
def test_alternatives_tell_the_best_weight_with_and_without_every_edge(seed: int) -> None:
    graph, weights = brute.problem(seed).graph, weights_of(seed)
    found = decisions_of(graph).alternatives(weights)
    contains = brute.indicators(graph) == 1
    with_edge = [brute.largest(graph, weights, contains[:, e]) for e in range(graph.edges)]
    without_edge = [brute.largest(graph, weights, ~contains[:, e]) for e in range(graph.edges)]
    np.testing.assert_allclose(found.with_edge, with_edge, atol=1e-12)
    np.testing.assert_allclose(found.without_edge, without_edge, atol=1e-12)
    assert weights[found.matching].sum() == pytest.approx(max(with_edge), abs=1e-12)


@every_seed
def test_usable_and_certain_edges_are_those_in_some_and_in_every_matching(seed: int) -> None:
    problem = brute.problem(seed)
    contains = brute.indicators(problem.graph) == 1
    assert usable_edges(problem.graph).tolist() == contains.any(axis=0).tolist()
    assert decisions_of(problem.graph).certain.tolist() == contains.all(axis=0).tolist()
    named = {problem.edges[e] for e in np.flatnonzero(contains.any(axis=0))}
    assert dm.matchings.edges_in_some(problem) == named
    named = {problem.edges[e] for e in np.flatnonzero(contains.all(axis=0))}
    assert dm.matchings.edges_in_every(problem) == named


@each("seed", range(20))
def test_alternatives_agree_with_an_assignment_problem_per_edge_on_a_larger_graph(seed: int) -> None:
    graph = dm.instances.random_problem(25, 20, density=0.3, seed=seed).graph
    weights = np.random.default_rng(seed).normal(size=graph.edges)
    found = decisions_of(graph).alternatives(weights)
    for edge in range(0, graph.edges, 7):
        for expected, sets in (
            (found.with_edge[edge], {"required": [edge]}),
            (found.without_edge[edge], {"forbidden": [edge]}),
        ):
            matching = best_matching(graph, weights, allowed_edges(graph, **sets))
            weight = -np.inf if matching is None else weights[matching].sum()
            assert weight == pytest.approx(expected, abs=1e-10)


def test_contradictory_requirements_leave_no_matching() -> None:
    ann, bob, editor = ("ann", "chair"), ("bob", "chair"), ("bob", "editor")
    assert dm.matchings.best(TEAM, EVEN, required=[ann, bob]) is None
    assert dm.matchings.best(TEAM, EVEN, required=[bob, editor]) is None
    assert dm.matchings.best(TEAM, EVEN, required=[ann], forbidden=[ann]) is None
    assert dm.matchings.best(TEAM, EVEN, forbidden=[ann, bob]) is None
    assert dm.matchings.best(TEAM, EVEN, required=[bob], forbidden=[("cyd", "editor")]) is None


def test_requirements_are_met_even_at_any_price() -> None:
    weights = EVEN | {("bob", "chair"): -1e9}
    best = dm.matchings.best(TEAM, weights, required=[("bob", "chair")])
    assert best == {"chair": "bob", "editor": "cyd"}


def test_requirements_may_come_from_a_generator_and_repeat() -> None:
    required = (edge for edge in [("ann", "chair"), ("ann", "chair")])
    assert dm.matchings.best(TEAM, EVEN | {("bob", "editor"): 2.0}, required=required) == {
        "chair": "ann",
        "editor": "bob",
    }


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            {},
            r"The weight of 'ann at chair', 'bob at chair', 'bob at editor' and 'cyd at editor' is missing\.",
        ),
        (EVEN | {("dan", "chair"): 1.0}, r"There is no candidate 'dan'\."),
        (EVEN | {("ann", "editor"): 1.0}, r"'ann' is not a candidate for position 'editor'\."),
    ],
)
def test_weights_of_other_edges_than_those_of_the_problem_are_refused(weights: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        dm.matchings.best(TEAM, weights)
    with pytest.raises(ProblemError, match=message):
        dm.matchings.best_other(TEAM, weights, {"chair": "ann", "editor": "bob"})


@each("weight", [float("nan"), float("inf"), None, "heavy", [1.0, 2.0]])
def test_a_weight_that_is_not_a_finite_number_is_refused(weight: object) -> None:
    weights: dict = EVEN | {("ann", "chair"): weight}
    with pytest.raises(ProblemError, match="Every weight must be a finite number"):
        dm.matchings.best(TEAM, weights)
    with pytest.raises(ProblemError, match="Every weight must be a finite number"):
        dm.matchings.best_other(TEAM, weights, {"chair": "ann", "editor": "bob"})


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("dan", "chair")], "There is no candidate 'dan'"),
        ([("ann", "cook")], "There is no position 'cook'"),
        ([("ann", "editor")], "'ann' is not a candidate for position 'editor'"),
        (("ann", "chair"), r"An edge is a pair \(candidate, position\), not 'ann'"),
        ([("ann", "chair", 1)], r"An edge is a pair \(candidate, position\), not \('ann', 'chair', 1\)"),
    ],
)
def test_unknown_required_and_forbidden_edges_are_refused_by_name(edges: object, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        dm.matchings.best(TEAM, EVEN, required=edges)
    with pytest.raises(ProblemError, match=message):
        dm.matchings.best(TEAM, EVEN, forbidden=edges)


def test_the_best_other_matching_of_something_else_is_refused() -> None:
    with pytest.raises(ProblemError, match="leaves 'editor' empty"):
        dm.matchings.best_other(TEAM, EVEN, {"chair": "ann"})
