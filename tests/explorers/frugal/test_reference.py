"""The algorithm borda against another reference: who wins then, and what the result says of it."""

from __future__ import annotations

import numpy as np
import pytest

import duelmatch as dm
from cases import each
from duelmatch.errors import ProblemError, TooLargeError
from duelmatch.experiments.cell import Known
from duelmatch.explorers.frugal import search
from duelmatch.matchings import reference, sampling
from duelmatch.theory import borda_winner

RARELY = 1e-9

CLEAR = dm.Preferences(
    dm.Problem.from_edges(
        [("ann", "chair"), ("bob", "chair"), ("cyd", "chair"), ("cyd", "editor"), ("dan", "editor")]
    ),
    {
        ("chair", "ann", "bob"): 0.2,
        ("chair", "ann", "cyd"): 1.0,
        ("chair", "bob", "cyd"): 0.6,
        ("editor", "cyd", "dan"): 0.1,
    },
)
"""Against all matchings bob is the better chair, and against cyd alone ann is."""

AGAINST_CYD = {("cyd", "chair"): 1.0, ("cyd", "editor"): 0.5, ("dan", "editor"): 0.5}


def test_another_reference_has_another_winner_and_the_result_names_it() -> None:
    usual = dm.simulate(CLEAR, "borda", RARELY, seed=1)
    given = dm.simulate(CLEAR, "borda", RARELY, seed=1, reference=AGAINST_CYD)
    assert (usual.status, given.status) == ("certified", "certified")
    assert (usual.matching, usual.reference) == (CLEAR.borda_winner(), "decisions")
    assert usual.matching["chair"] == "bob"
    assert (given.matching["chair"], given.reference) == ("ann", "given")
    assert "Borda against the reference given" in str(given)
    assert "against" not in str(usual)


@each("seed", range(6))
def test_against_random_candidates_the_winner_is_that_of_known_preferences(seed: int) -> None:
    prefs = dm.instances.planted(5, 3, gap=0.4, noise=0.3, density=0.7, seed=seed)
    result = dm.simulate(prefs, "borda", RARELY, seed=seed, reference="candidates")
    assert result.reference == "candidates"
    assert result.matching == prefs.borda_winner("candidates")
    assert Known(prefs, "borda", "candidates").right(result) is True
    rewards = prefs.matrix @ (1 / prefs.problem.graph.degrees[prefs.problem.graph.edge_position])
    chosen = prefs.problem.edge_numbers(result.matching)
    assert prefs.borda_score(result.matching, "candidates") == pytest.approx(rewards[chosen].mean())


def test_a_sample_of_a_small_problem_leads_to_the_winner_of_all_matchings() -> None:
    result = dm.simulate(CLEAR, "borda", RARELY, seed=2, reference="sampled")
    assert (result.status, result.reference, result.assuming) == ("certified", "sampled", ())
    assert result.matching == CLEAR.borda_winner()
    assert Known(CLEAR, "borda", "sampled").right(result) is None


def test_a_sample_by_the_chain_says_that_it_must_have_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "uniform_sampler", lambda *_: None)
    monkeypatch.setattr(reference, "SAMPLED", 300)
    for parameters in ({}, {"epsilon": 0.2}):
        result = dm.simulate(CLEAR, "borda", RARELY, seed=2, reference="sampled", **parameters)
        assert result.assuming == (dm.Assumption.MIXED_SAMPLER,)


def test_a_problem_that_is_too_large_is_refused_by_default_and_taken_with_another_reference() -> None:
    large = dm.instances.random_problem(30, 30, density=0.7, seed=1)
    with pytest.raises(TooLargeError, match="Ask for reference='candidates'"):
        dm.explorer("borda", large)
    run = dm.explorer("borda", large, seed=3, reference="candidates")
    (duel,) = run.ask(1)
    run.tell(duel, duel.first)
    assert run.result.reference == "candidates"


@each(
    ("given", "message"),
    [
        ({("ann", "chair"): 1.0}, "add up to 1 at every position; at number 2 they add up to 0"),
        ({("ann", "moon"): 1.0}, "moon"),
        ({"ann": 1.0}, r"reference: an edge is a pair \(candidate, position\), not 'ann'"),
        ({("ann", "chair"): "all"}, r"reference of \('ann', 'chair'\) must be a number, not 'all'"),
        ("friends", "'decisions' or 'candidates' or 'sampled', or a number for each edge, not 'friends'"),
        (7, "'sampled', or a number for each edge, not 7"),
    ],
)
def test_a_reference_that_is_none_is_refused(given: object, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        dm.explorer("borda", CLEAR.problem, reference=given)


def test_only_borda_has_a_reference() -> None:
    with pytest.raises(ProblemError, match="condorcet has no parameter 'reference'"):
        dm.explorer("condorcet", CLEAR.problem, reference="candidates")
    assert dm.explorer("condorcet", CLEAR.problem).result.reference is None


def test_the_sample_and_the_draws_of_a_run_use_different_random_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reference, "SAMPLED", 5)
    made = search.borda(CLEAR.problem.graph, 0.1, seed=7, reference="sampled")
    alike = np.random.default_rng(reference._apart(7)).random(4) == made._rng.random(4)
    assert not alike.any()


def test_a_sample_is_that_of_the_seed_for_duels_and_for_voters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "SAMPLED", 50)
    samples = [reference.reference_of(CLEAR.problem.graph, "sampled", seed).shares for seed in (7, 8)]
    assert (samples[0] != samples[1]).any()
    for seed, shares in zip((7, 8), samples, strict=True):
        run = dm.explorer("borda", CLEAR.problem, seed=seed, reference="sampled")
        assert (run._engine._search._reference.shares == shares).all()  # type: ignore[attr-defined]
        assert (run.ballots.state.contest.reference.shares == shares).all()


def test_known_preferences_know_two_references() -> None:
    with pytest.raises(ProblemError, match="'decisions' or 'candidates', not 'sampled'"):
        CLEAR.borda_winner("sampled")  # type: ignore[arg-type]
    assert borda_winner(CLEAR).matching == CLEAR.borda_winner("decisions")
