"""Against whom Borda counts in runs of voters: the reference that was asked for, whoever comes or leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import duelmatch as dm
from cases import each
from duelmatch.errors import ProblemError
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.matchings import reference, sampling

RARELY = 1e-6

CLEAR = dm.Preferences(
    dm.Problem.from_edges(
        [("ann", "chair"), ("bob", "chair"), ("cyd", "chair"), ("bob", "editor"), ("dan", "secretary")]
    ),
    {("chair", "ann", "bob"): 0.95, ("chair", "ann", "cyd"): 0.3, ("chair", "bob", "cyd"): 0.5},
)
"""Bob is the only editor, so the chair is between ann and cyd, who is ahead of her, but not against bob."""

AGAINST_BOB = {("bob", "chair"): 1.0, ("bob", "editor"): 1.0, ("dan", "secretary"): 1.0}


def answered(run: Any, preferences: dm.Preferences, seed: int, voters: int = 3000) -> dm.Result:
    """Let voters come who answer all of their ballots, each pair by the preferences or by a ranking."""
    rng = np.random.default_rng([seed, 9])
    for number in range(voters):
        if run.done:
            break
        for question in run.ask(100, voter=f"v{number}"):
            wins = dict.fromkeys(question.candidates, 0)
            for one in question.candidates:
                for other in question.candidates:
                    if one < other:
                        likely = preferences.probability(question.position, one, other)
                        wins[one if rng.random() < likely else other] += 1
            run.tell(question, sorted(question.candidates, key=lambda name: -wins[name]))
    return run.result


@each(
    ("asked", "chair", "said"),
    [
        ({}, "cyd", "decisions"),
        ({"reference": "sampled"}, "cyd", "sampled"),
        ({"reference": AGAINST_BOB}, "ann", "given"),
    ],
)
def test_voters_lead_to_the_winner_against_the_reference(asked: Any, chair: str, said: str) -> None:
    run = dm.explorer("borda", CLEAR.problem, RARELY, seed=4, ballot_size=2, **asked)
    result = answered(run, CLEAR, 4)
    assert (result.status, result.matching["chair"], result.reference) == ("certified", chair, said)


@each("size", [2, 3])
def test_a_candidate_who_can_win_nothing_there_is_still_compared_with(size: int) -> None:
    """Bob's shares count at the chair, so pairs and rankings with him must have a chance."""
    run = BallotExplorer(CLEAR.problem, "borda", RARELY, 5, reference=AGAINST_BOB, question_size=size)
    run.ask(3, voter="eve")
    design = run.state.designs[0]
    pairs, bob = run.state.contest.pairs, CLEAR.problem.edge_number("bob", "chair")
    with_bob = (pairs.first == bob) | (pairs.second == bob)
    assert (design.chances[with_bob] > 0).all()
    assert answered(run, CLEAR, 5).matching["chair"] == "ann"


@each("seed", range(4))
def test_against_random_candidates_the_winner_is_that_of_known_preferences(seed: int) -> None:
    prefs = dm.instances.planted(4, 2, gap=0.4, noise=0.2, density=0.8, seed=seed)
    run = dm.explorer("borda", prefs.problem, RARELY, seed=seed, reference="candidates", ballot_size=4)
    result = answered(run, prefs, seed)
    assert (result.status, result.reference) == ("certified", "candidates")
    assert result.matching == prefs.borda_winner("candidates")


def shares(run: BallotExplorer) -> dict[tuple[str, str], float]:
    return dict(zip(run.problem.edges, run.state.contest.marginals.tolist(), strict=True))


def test_random_candidates_are_those_who_are_there() -> None:
    run = BallotExplorer(dm.Problem.complete(list("abcd"), list("s")), "borda", reference="candidates")
    run.add("e", ["s"])
    assert set(shares(run).values()) == {0.2}
    run.drop("a")
    assert shares(run) == {("a", "s"): 0.0} | {(name, "s"): 0.25 for name in "bcde"}


def test_given_shares_stay_when_somebody_comes_and_are_scaled_when_somebody_leaves() -> None:
    given = {("a", "s"): 0.5, ("b", "s"): 0.3, ("c", "s"): 0.2}
    run = BallotExplorer(dm.Problem.complete(list("abc"), list("s")), "borda", reference=given)
    run.add("d", ["s"])
    assert shares(run) == pytest.approx(given | {("d", "s"): 0.0})
    run.drop("a")
    assert shares(run) == pytest.approx({("a", "s"): 0, ("b", "s"): 0.6, ("c", "s"): 0.4, ("d", "s"): 0})
    run.drop("b")
    with pytest.raises(ProblemError, match="Without 'c' the reference has nobody left"):
        run.drop("c")


def test_what_was_said_counts_on_against_given_shares_when_a_candidate_comes() -> None:
    """Against all line-ups the newcomer is compared with as well, and old ballots say nothing of that."""
    evidence = {}
    for asked in ("decisions", {(name, "s"): 1 / 3 for name in "abc"}):
        run = BallotExplorer(
            dm.Problem.complete(list("abc"), list("s")), "borda", seed=2, ballot_size=2, reference=asked
        )
        for number in range(15):
            for question in run.ask(9, voter=f"v{number}"):
                run.tell(question, min(question.candidates))
        run.add("d", ["s"])
        evidence[run.result.reference] = run.conclusions.present.base.peak.max()
    assert evidence["given"] > 1
    assert evidence["decisions"] == 0


def test_a_sample_by_the_chain_says_that_it_must_have_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "uniform_sampler", lambda *_: None)
    monkeypatch.setattr(reference, "SAMPLED", 300)
    run = BallotExplorer(dm.Problem.complete(list("abc"), list("st")), "borda", reference="sampled")
    assert dm.Assumption.MIXED_SAMPLER in run.conclusions.assumptions


def test_shares_that_are_none_are_refused() -> None:
    with pytest.raises(ProblemError, match="must add up to 1 at every position"):
        BallotExplorer(CLEAR.problem, "borda", reference={("bob", "chair"): 0.5})
