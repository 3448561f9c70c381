"""What follows from a log: the mean of Y, the bounds on it, missing answers, and who counts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from benchmarks.error_rates import simulated_crowds as crowds

import brute
import duelmatch as dm
from duelmatch.explorers.ballots.bets import Bets, Contest
from duelmatch.explorers.ballots.drawing import draw_ballot
from duelmatch.explorers.ballots.evidence import evidence
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.ballots.records import Answers, Ballot, Count
from explorers.frugal.watching import gaps

WIDE = dm.Problem.complete(["a", "b", "c", "d"], ["s", "t"])
SPARSE = dm.Problem.from_edges(
    [("a", "s"), ("b", "s"), ("c", "s"), ("b", "t"), ("c", "t"), ("d", "t"), ("d", "u"), ("e", "u")]
)
LAWS = {
    "pairs": {"ballot_size": 4},
    "rankings": {"ballot_size": 6, "question_size": 3},
    "single": {"ballot_size": 1},
}
BOTH = ("condorcet", "borda")


def played(problem, criterion, seed, voters=40, between=None, change=lambda crowd: crowd, **settings):
    """A study with some answers in, of consistent voters."""
    strengths = np.random.default_rng(seed).normal(0, 0.3, problem.graph.edges)
    crowd = change(crowds.consistent(problem, strengths, tie_below=0.2))
    run = BallotExplorer(problem, criterion, 1e-6, seed, **({"assume_winner": True} | settings))
    crowds.hold(run, crowd, np.random.default_rng([seed, 1]), voters, together=5, at_once=2, between=between)
    return run


def what_is_said(design, contest, ballot, values, rows):
    """Y of every row, by the definition."""
    stakes, pairs = contest.stakes(design.champion), contest.pairs
    said = np.zeros(len(rows))
    for number, row in enumerate(rows):
        for pair, value in zip(ballot.pairs, values, strict=True):
            edge = row[pairs.position[pair]]
            c = stakes.neither[pair]
            c = stakes.first[pair] if pairs.first[pair] == edge else c
            c = stakes.second[pair] if pairs.second[pair] == edge else c
            if c:
                said[number] += c / design.chances[pair] * (value - 0.5)
    return said


@pytest.mark.parametrize("criterion", BOTH)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("problem", [WIDE, SPARSE], ids=["wide", "sparse"])
def test_the_mean_of_what_a_ballot_says_is_the_gap_and_no_ballot_says_more_than_the_bets_allow(
    problem, criterion, law
):
    """One voter's opinions, many ballots: the mean over ballots is D of these opinions, to 6 standard
    errors."""
    run = played(problem, criterion, 3, voters=12, **law)
    contest, rows = Contest(problem.graph, criterion), brute.matchings(problem.graph)
    design = run.state.designs[-1]
    rng = np.random.default_rng(5)
    opinion = rng.integers(0, 3, problem.graph.pairs) / 2
    bets = Bets.of(design, contest, rows, 0.0)
    drawn = []
    for number in range(3000):
        ballot = draw_ballot(design, contest, number, "v", rng)
        drawn.append(what_is_said(design, contest, ballot, opinion[ballot.pairs], rows))
    mean, error = np.mean(drawn, axis=0), np.std(drawn, axis=0) / np.sqrt(len(drawn))
    told = bets.base[:, 1] > 0
    assert told.any()
    expected = gaps(problem.graph, criterion, design.champion, opinion)
    assert (np.abs(mean - expected)[told] <= 6 * error[told] + 1e-9).all()
    assert (1 + bets.base.max(axis=1) * np.min(drawn, axis=0) >= 0.1 - 1e-9).all()


STRIKES = {10: "v3", 20: "v11", 25: "v8"}


def shy(crowd):
    return crowds.silent(crowd, lambda values: np.full(len(values), 0.7), patience=5)


@pytest.mark.parametrize("criterion", BOTH)
def test_a_live_study_comes_to_exactly_what_follows_from_its_log(criterion):
    for seed in range(6):
        run = played(
            WIDE, criterion, seed, voters=60, change=shy, epsilon=0.05 if seed % 2 else None, ballot_size=5,
            between=lambda run, came: run.strike(STRIKES[came]) if came in STRIKES else None,
        )  # fmt: skip
        assert len(run.conclusions.evidence) == 4
        for found in run.conclusions.evidence:
            again = evidence(
                run.state.contest,
                run.state.designs,
                run.state.ballots,
                run.state.returned,
                found.count,
                slack=run.conclusions.slack,
                forget=run.conclusions.forget,
            )
            assert again.settled == found.settled > 10
            np.testing.assert_array_equal(again.wealth, found.wealth)
            np.testing.assert_array_equal(again.base.peak, found.base.peak)
            np.testing.assert_array_equal(again.proof.peak, found.proof.peak)


@pytest.mark.parametrize("criterion", BOTH)
def test_the_factor_is_1_plus_the_bet_times_what_was_said(criterion):
    run = played(WIDE, criterion, 1, voters=15)
    contest, rows = run.state.contest, run.conclusions.rows
    logs = np.zeros((len(rows), 5))
    for ballot, answers in zip(
        run.state.ballots[: run.conclusions.evidence[0].settled], run.state.returned, strict=False
    ):
        design = run.state.designs[ballot.design]
        said = what_is_said(design, contest, ballot, answers.value, rows)
        logs += np.log1p(Bets.of(design, contest, rows, 0.0).base * said[:, None])
    wealth = np.log(np.exp(logs) @ [0.5, 0.125, 0.125, 0.125, 0.125])
    np.testing.assert_allclose(run.conclusions.evidence[0].wealth, wealth, atol=1e-12)


@pytest.mark.parametrize("criterion", BOTH)
def test_a_missing_answer_counts_against_the_champion_whatever_it_would_have_been(criterion):
    run = played(WIDE, criterion, 2, voters=20)
    settled = run.conclusions.evidence[0].settled
    ballots, complete = run.state.ballots[:settled], run.state.returned[:settled]
    rng = np.random.default_rng(0)
    holes = [dataclasses.replace(answers, value=answers.value.copy()) for answers in complete]
    for answers in holes:
        answers.value[rng.random(len(answers.value)) < 0.3] = np.nan
    least = evidence(run.state.contest, run.state.designs, ballots, holes)
    for _ in range(5):
        filled = []
        for answers in holes:
            value = np.where(
                np.isnan(answers.value), rng.integers(0, 3, len(answers.value)) / 2, answers.value
            )
            filled.append(dataclasses.replace(answers, value=value))
        some = evidence(run.state.contest, run.state.designs, ballots, filled)
        assert (some.wealth >= least.wealth - 1e-12).all()
    as_half = [dataclasses.replace(answers, value=np.nan_to_num(answers.value, nan=0.5)) for answers in holes]
    assert (evidence(run.state.contest, run.state.designs, ballots, as_half).wealth > least.wealth).any()


def test_struck_voters_are_factors_of_1_and_come_back_exactly():
    run = played(WIDE, "condorcet", 4, voters=30)
    before = run.conclusions.evidence[-1].wealth
    run.strike("v3")
    without = run.conclusions.evidence[-1].wealth
    ballots = [ballot for ballot in run.state.ballots if ballot.voter != "v3"]
    kept = [run.state.returned[ballot.number] for ballot in ballots]
    renumbered = [dataclasses.replace(ballot, number=number) for number, ballot in enumerate(ballots)]
    np.testing.assert_array_equal(
        evidence(run.state.contest, run.state.designs, renumbered, kept).wealth, without
    )
    run.reinstate("v3")
    np.testing.assert_array_equal(run.conclusions.evidence[-1].wealth, before)
    assert len(run.conclusions.evidence) == 2


def test_the_answers_of_a_struck_heir_are_missing():
    ballot = played(WIDE, "condorcet", 5, voters=3).state.ballots[0]
    size = len(ballot.pairs)
    answers = Answers(np.ones(size), np.zeros(size, dtype=int), ["heir"])
    answers.by[0] = 1
    values = Count(frozenset({"heir"})).values(ballot, answers)
    assert np.isnan(values[0])
    assert not np.isnan(values[1:]).any()
    assert Count(frozenset({ballot.voter})).values(ballot, answers) is None


def test_rejected_is_only_what_every_count_rejects():
    run = played(WIDE, "condorcet", 6, voters=80)
    run.conclusions.threshold = np.log(4)
    for voter in ("v1", "v2", "v5"):
        run.strike(voter)
    peaks = np.min([found.base.peak for found in run.conclusions.evidence], axis=0)
    assert 0 < (peaks < np.log(4)).sum() < len(peaks)
    np.testing.assert_array_equal(
        np.unique(run.conclusions.possible, axis=0),
        np.unique(run.conclusions.rows[peaks < np.log(4)], axis=0),
    )


@pytest.mark.parametrize("criterion", BOTH)
def test_when_a_candidate_leaves_only_bets_on_champions_who_are_left_stay(criterion):
    run = played(WIDE, criterion, 7, voters=40)
    run.drop("b")
    staying = [WIDE.edge_number(name, position) for name, position in WIDE.edges if name != "b"]
    assert set(run.conclusions.rows.ravel().tolist()) == set(staying)
    designs = {ballot.design for ballot in run.state.ballots}
    for number in designs:
        design = run.state.designs[number]
        bets = Bets.of(design, run.state.contest, run.conclusions.rows, 0.0).base
        if not set(design.champion.tolist()) <= set(staying):
            assert (bets == 0).all()
        elif criterion == "condorcet":
            whole = Contest(WIDE.graph, "condorcet")
            np.testing.assert_array_equal(bets, Bets.of(design, whole, run.conclusions.rows, 0.0).base)
    for question in run.ask(5, voter="new"):
        assert "b" not in question.candidates


def test_after_a_late_candidate_what_is_known_of_others_stays_for_condorcet_and_is_void_for_borda():
    for criterion in BOTH:
        run = played(WIDE, criterion, 8, voters=40)
        before = {
            tuple(run.problem.matching(row).items()): wealth
            for row, wealth in zip(
                run.conclusions.rows.tolist(), run.conclusions.evidence[-1].wealth, strict=True
            )
        }
        run.add("late", ["s"])
        for row, wealth in zip(
            run.conclusions.rows.tolist(), run.conclusions.evidence[-1].wealth, strict=True
        ):
            named = run.problem.matching(row)
            if "late" in named.values():
                assert wealth == pytest.approx(0.0, abs=1e-12)
            elif (
                criterion == "borda"
            ):  # only where line-ups agree at s do old ballots have all the chances needed
                changed = any(
                    run.problem.matching(run.state.designs[b.design].champion.tolist())["s"] == named["s"]
                    for b in run.state.ballots
                )
                assert abs(wealth) < 1e-12 or changed
            else:
                assert wealth == pytest.approx(before[tuple(named.items())], abs=1e-12)


def test_a_correction_makes_no_answer_where_none_counts():
    """Of an heir who is struck, or of nobody: what is missing stays missing."""
    table = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"]).graph.pair_table
    ballot = Ballot.of(0, 0, "eve", [(0, 1), (1, 2), (0, 2)], table)
    answers = Answers(np.array([1.0, 1.0, np.nan]), np.array([0, 1, -1]), ["ned"], True)
    count = Count(corrected={0: {0: 0.0, 1: 0.5, 2: 1.0}})
    np.testing.assert_array_equal(count.values(ballot, answers), [0.0, 0.5, np.nan])
    without_ned = Count(frozenset({"ned"}), count.corrected)
    np.testing.assert_array_equal(without_ned.values(ballot, answers), [0.0, np.nan, np.nan])
