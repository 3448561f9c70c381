"""Against whom Borda counts: shares by name and as given, and what a sample of matchings is worth."""

from __future__ import annotations

import numpy as np
import pytest

import brute
import duelmatch as dm
from cases import each
from duelmatch.errors import ProblemError, TooLargeError
from duelmatch.matchings import reference as module
from duelmatch.matchings.counting import edge_marginals
from duelmatch.matchings.reference import reference_of

PAPER = dm.instances.paper_example()
GRAPH = PAPER.problem.graph
DENSE = dm.instances.random_problem(30, 30, density=0.7, seed=1)


def test_decisions_are_the_shares_of_all_matchings() -> None:
    found = reference_of(GRAPH, "decisions")
    assert (found.name, found.method, found.eta) == ("decisions", None, 0.0)
    np.testing.assert_allclose(found.shares, [0.4, 0.4, 0.2, 0.4, 0.6])


def test_candidates_are_equally_likely_at_each_position() -> None:
    np.testing.assert_allclose(reference_of(GRAPH, "candidates").shares, [1 / 3, 1 / 3, 1 / 3, 1 / 2, 1 / 2])


def test_given_shares_are_taken_if_they_add_up() -> None:
    shares = np.array([0.5, 0.25, 0.25, 0.0, 1.0])
    found = reference_of(GRAPH, shares)
    assert found.name == "given"
    np.testing.assert_allclose(found.shares, shares)


@each(
    ("shares", "message"),
    [
        ([0.5, 0.25, 0.25, 0.0, 0.9], "at number 2 they add up to 0.9"),
        ([0.5, 0.6, -0.1, 0.0, 1.0], "a share from 0 to 1 for every edge"),
        ([0.5, float("nan"), 0.5, 0.0, 1.0], "a share from 0 to 1 for every edge"),
        ([1.0, 0.0], "a share from 0 to 1 for every edge"),
    ],
)
def test_shares_that_are_none_are_refused(shares: list[float], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        reference_of(GRAPH, np.array(shares))


def test_an_unknown_reference_is_refused() -> None:
    with pytest.raises(ProblemError, match="one of decisions, candidates, sampled, not 'friends'"):
        reference_of(GRAPH, "friends")  # type: ignore[arg-type]


def test_where_counting_is_out_of_reach_the_refusal_says_what_to_ask_for() -> None:
    with pytest.raises(
        TooLargeError, match=r"reference='candidates', .* reference='sampled', .*10,000 matchings"
    ):
        reference_of(DENSE.graph, "decisions")


def test_a_sample_is_drawn_by_the_first_sampler_that_is_feasible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAMPLED", 700)
    exact, rejection = reference_of(GRAPH, "sampled", 4), reference_of(DENSE.graph, "sampled", 4)
    assert (exact.method, exact.eta) == ("exact", 0.0)
    assert (rejection.method, rejection.eta) == ("rejection", 0.0)
    for graph, found in ((GRAPH, exact), (DENSE.graph, rejection)):
        np.testing.assert_allclose(np.add.reduceat(found.shares, graph.start[:-1]), 1.0)
        np.testing.assert_allclose(found.shares * 700, np.round(found.shares * 700))
    assert (exact.shares == reference_of(GRAPH, "sampled", 4).shares).all()
    assert (exact.shares != reference_of(GRAPH, "sampled", 5).shares).any()


@each("seed", range(40))
def test_rewards_against_a_sample_are_as_close_as_promised(seed: int) -> None:
    """Hoeffding's radius at 1e-9, over all edges, is exceeded on one of 40 graphs with probability 4e-8."""
    prefs = brute.preferences(seed)
    graph = prefs.problem.graph
    shares = reference_of(graph, "sampled", seed).shares
    error = np.abs(prefs.matrix @ shares - prefs.matrix @ edge_marginals(graph))
    assert error.max() <= np.sqrt(np.log(2 * graph.edges / 1e-9) / (2 * module.SAMPLED))
