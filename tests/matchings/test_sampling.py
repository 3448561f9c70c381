"""The exact samplers are uniform over the list of all matchings; the ladder takes what fits."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

import brute
import duelmatch as dm
from cases import each
from duelmatch.errors import ProblemError, TooLargeError
from duelmatch.graph import Graph
from duelmatch.matchings import rejection
from duelmatch.matchings.chain import Chain
from duelmatch.matchings.counting import blocks, plan_within
from duelmatch.matchings.elimination import plan
from duelmatch.matchings.rejection import RejectionSampler
from duelmatch.matchings.sampling import CHUNK, ExactSampler, _Layers, sampler

TEAM = dm.Problem.from_edges([("ann", "chair"), ("bob", "chair"), ("bob", "editor"), ("cyd", "editor")])

LEAST_P_VALUE = 1e-10
"""With at least 20 draws expected per matching, the chi-square tail is right within a small factor, so 300
draws fail under a new seed with probability of about 3e-8."""


def p_value(graph: Graph, drawn: np.ndarray) -> float:
    """Pearson's chi-square test of the draws against the uniform distribution over all matchings."""
    everyone = brute.matchings(graph)
    number = {row.tobytes(): k for k, row in enumerate(everyone)}
    counts = np.zeros(len(everyone))
    for row, times in Counter(map(bytes, np.ascontiguousarray(drawn, dtype=everyone.dtype))).items():
        counts[number[row]] += times
    expected = len(drawn) / len(everyone)
    assert expected >= 20 or len(everyone) == 1
    statistic = ((counts - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, len(everyone) - 1)) if len(everyone) > 1 else 1.0


@each("seed", brute.SEEDS)
def test_exact_samples_are_uniform_over_all_matchings(seed: int) -> None:
    graph = brute.problem(seed).graph
    size = 20 * max(20, len(brute.matchings(graph)))
    drawn = ExactSampler(graph, seed=seed).draw(size)
    assert p_value(graph, drawn) > LEAST_P_VALUE


def test_the_chi_square_test_notices_a_slight_preference() -> None:
    graph = brute.problem(0).graph
    drawn = ExactSampler(graph, seed=1).draw(20 * 5040)
    twice = drawn[:, 0] == 0
    biased = np.concatenate([drawn, drawn[twice][: twice.sum() // 2]])
    assert p_value(graph, biased) < LEAST_P_VALUE


@each("stride", [2, 3, 50])
@each("seed", range(3, 220, 15))
def test_samples_from_fewer_kept_layers_are_uniform_too(seed: int, stride: int) -> None:
    for block in blocks(brute.problem(seed).graph):
        size = 20 * max(20, len(brute.matchings(block.graph)))
        layers = _Layers(block.graph, plan(block.graph), stride)
        drawn = layers.draw(size, np.random.default_rng([seed, stride]))
        assert p_value(block.graph, drawn) > LEAST_P_VALUE


def test_a_tight_memory_limit_changes_the_layers_kept_and_not_one_sample() -> None:
    distance = np.abs(np.subtract.outer(np.arange(40), np.arange(40)))
    position, candidate = np.nonzero(distance <= 3)
    graph = Graph(40, 40, candidate, position)
    full = 8 * sum((1 << step.open_after) for step in plan(graph).steps)
    tight = 6 * 8 * (1 << plan(graph).widest) + full - 1
    assert plan_within(graph, tight)[1] > 1
    generous = ExactSampler(graph, seed=5).draw(50)
    np.testing.assert_array_equal(ExactSampler(graph, seed=5, memory=tight).draw(50), generous)


@each("seed", range(0, 220, 11))
def test_every_sample_is_a_maximum_matching_of_the_problem(seed: int) -> None:
    problem = brute.problem(seed)
    listed = {problem.matching(row) for row in brute.matchings(problem.graph)}
    assert set(dm.matchings.sample(problem, 50, seed=seed)) <= listed


def test_larger_graphs_are_sampled_with_their_exact_marginals() -> None:
    # 90 edges within 6.5 standard deviations each: fails under a new seed with probability below 1e-8.
    problem = dm.instances.random_problem(18, 14, density=0.4, seed=2)
    size = 20_000
    shares = np.array(list(dm.matchings.marginals(problem).values()))
    drawn = ExactSampler(problem.graph, seed=3).draw(size)
    counts = np.bincount(drawn.ravel(), minlength=problem.graph.edges)
    deviation = np.sqrt(size * shares * (1 - shares))
    assert (np.abs(counts - size * shares) <= 6.5 * deviation + 1e-9).all()
    assert all(len(set(problem.graph.edge_candidate[row])) == 14 for row in drawn[:500])
    assert (problem.graph.edge_position[drawn] == np.arange(14)).all()


def test_more_samples_than_a_chunk_are_drawn_in_one_call() -> None:
    graph = brute.problem(1).graph
    drawn = ExactSampler(graph, seed=1).draw(2 * CHUNK + 7)
    assert drawn.shape == (2 * CHUNK + 7, graph.positions)
    assert p_value(graph, drawn) > LEAST_P_VALUE
    assert p_value(graph, drawn[-CHUNK:]) > LEAST_P_VALUE


def test_the_same_seed_draws_the_same_matchings_and_another_seed_others() -> None:
    problem = brute.problem(0)
    first, second = (dm.matchings.sample(problem, 20, seed=9) for _ in range(2))
    assert first == second
    assert dm.matchings.sample(problem, 20, seed=10) != first


def test_a_sampler_goes_on_where_it_stopped() -> None:
    graph = brute.problem(0).graph
    drawing = ExactSampler(graph, seed=4)
    assert not np.array_equal(drawing.draw(20), drawing.draw(20))


def test_samples_say_how_they_were_drawn() -> None:
    samples = dm.matchings.sample(TEAM, 3)
    assert isinstance(samples, dm.matchings.Samples)
    assert (samples.method, samples.eta, len(samples)) == ("exact", 0.0, 3)


def test_no_samples_are_an_empty_list() -> None:
    assert dm.matchings.sample(TEAM, 0) == []
    assert dm.matchings.sample(TEAM, 0).method == "exact"


def test_auto_falls_back_to_rejection_when_memory_is_short_and_says_so() -> None:
    problem = dm.instances.random_problem(6, 5, density=0.7, seed=4)
    samples = dm.matchings.sample(problem, 5, memory=10, eta=0.05)
    assert (samples.method, samples.eta) == ("rejection", 0.0)
    listed = {problem.matching(row) for row in brute.matchings(problem.graph)}
    assert set(samples) <= listed


def test_auto_falls_back_to_the_chain_where_a_draw_takes_too_many_trials_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rejection, "PILOT_TRIALS", 0)
    problem = dm.instances.random_problem(6, 5, density=0.7, seed=4)
    samples = dm.matchings.sample(problem, 5, memory=10, eta=0.05)
    assert (samples.method, samples.eta) == ("chain", 0.05)
    listed = {problem.matching(row) for row in brute.matchings(problem.graph)}
    assert set(samples) <= listed


@pytest.mark.parametrize("method", ["rejection", "chain"])
def test_what_auto_falls_back_to_draws_by_the_seed(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = dm.instances.random_problem(6, 5, density=0.7, seed=4)
    first, second = (dm.matchings.sample(problem, 10, seed=seed, method=method) for seed in (1, 2))
    assert first != second
    if method == "chain":
        monkeypatch.setattr(rejection, "PILOT_TRIALS", 0)
    assert dm.matchings.sample(problem, 10, seed=1, memory=10) == first
    assert dm.matchings.sample(problem, 10, seed=2, memory=10) == second


def test_auto_is_exact_whenever_it_fits() -> None:
    graph = brute.problem(0).graph
    assert isinstance(sampler(graph), ExactSampler)
    assert isinstance(sampler(graph, method="rejection"), RejectionSampler)
    assert isinstance(sampler(graph, method="chain", eta=0.1), Chain)


def test_the_exact_method_never_falls_back() -> None:
    problem = dm.instances.random_problem(6, 5, density=0.7, seed=4)
    with pytest.raises(TooLargeError, match="Exact counting on a block of 5 positions and 6 candidates"):
        dm.matchings.sample(problem, 5, method="exact", memory=10)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ProblemError, match="must be 'auto', 'exact', 'rejection' or 'chain', not 'guess'"):
        dm.matchings.sample(TEAM, 1, method="guess")  # type: ignore[arg-type]


@each("size", [-1, 2.5, "two", None])
def test_a_size_that_is_not_a_number_of_samples_is_refused(size: object) -> None:
    with pytest.raises(ProblemError, match=r"The number of samples must be a whole number, 0 or more, not"):
        dm.matchings.sample(TEAM, size)  # type: ignore[arg-type]


@each("seed", [-1, 0.5, "lucky"])
def test_a_seed_that_is_not_a_whole_number_is_refused(seed: object) -> None:
    with pytest.raises(ProblemError, match=r"The seed must be a whole number, 0 or more, not"):
        dm.matchings.sample(TEAM, 1, seed=seed)  # type: ignore[arg-type]


def test_an_exact_sampler_cannot_draw_a_negative_number() -> None:
    with pytest.raises(ProblemError, match="cannot be negative: -1"):
        ExactSampler(TEAM.graph).draw(-1)


@each("eta", [0.0, 1.0, -0.5, float("nan")])
def test_the_chain_needs_an_eta_between_0_and_1(eta: float) -> None:
    with pytest.raises(ProblemError, match="eta"):
        dm.matchings.sample(TEAM, 1, method="chain", eta=eta)
