"""Tables never claim more than the factors themselves, and a live study comes to what its log says."""

from __future__ import annotations

import numpy as np
import pytest

import brute
from duelmatch.explorers.ballots import conclusions
from duelmatch.explorers.ballots.evidence import settle_finished
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.ballots.records import EVERYBODY
from duelmatch.explorers.ballots.tables import SCALES, TabledEvidence
from duelmatch.explorers.frugal.tables import Tables
from explorers.ballots.test_evidence import WIDE, played, what_is_said

BOTH = ("condorcet", "borda")


@pytest.mark.parametrize("criterion", BOTH)
@pytest.mark.parametrize("bet", [0.01, 0.1, 10.0])
def test_the_tables_claim_at_most_the_factor_of_a_ballot_of_several_positions(criterion, bet):
    run = played(WIDE, criterion, 1, voters=25)
    rows = brute.matchings(WIDE.graph)
    for design in run.state.designs:
        object.__setattr__(design, "bet", bet)
    for number, slack in ((0, 0.0), (3, 0.0), (5, 0.0)):
        ballot, answers = run.state.ballots[number], run.state.returned[number]
        assert len(set(run.state.contest.pairs.position[ballot.pairs].tolist())) == 2
        found = TabledEvidence(run.state.contest, 9.0, 1, EVERYBODY, slack)
        found.settled = ballot.number
        found.settle(run.state.designs[ballot.design], ballot, answers)
        said = what_is_said(run.state.designs[ballot.design], run.state.contest, ballot, answers.value, rows)
        bets = found._bets_of(run.state.designs[ballot.design])[1]
        exact = np.log1p(bets[:, None] * said)
        claimed = found.base.logs[:, rows].sum(axis=2)
        assert claimed.shape == (len(SCALES), len(rows))
        assert (claimed <= exact + 1e-12).all()
        assert (np.abs(claimed) > 1e-9).any()


@pytest.mark.parametrize("criterion", BOTH)
@pytest.mark.parametrize("most_listed", [1, 4])
def test_with_tables_too_a_live_study_comes_to_what_follows_from_its_log(monkeypatch, criterion, most_listed):
    monkeypatch.setattr(conclusions, "MOST_LISTED", most_listed)
    run = played(
        WIDE, criterion, 3, voters=150, between=lambda run, came: run.strike("v7") if came == 40 else None
    )
    run.conclusions.threshold = np.log(20)
    run._conclusions._contest = None  # begin anew
    for voter in ("w1", "w2"):
        for question in run.ask(9, voter=voter):
            run.tell(question, question.first)
    for found in run.conclusions.evidence:
        again = TabledEvidence(
            run.state.contest,
            run.conclusions.threshold,
            most_listed,
            found.count,
            0.0,
            run.conclusions.forget,
        )
        settle_finished(again, run.state.designs, run.state.ballots, run.state.returned)
        np.testing.assert_array_equal(again.base.logs, found.base.logs)
        np.testing.assert_array_equal(again.alive, found.alive)
        assert (again.listed is None) == (found.listed is None)
        if found.listed is not None:
            np.testing.assert_array_equal(again.listed.base.peak, found.listed.base.peak)


@pytest.mark.parametrize("criterion", BOTH)
def test_ballots_keep_to_one_position_and_a_clear_winner_is_certified(monkeypatch, criterion):
    monkeypatch.setattr(conclusions, "MOST_LISTED", 1)
    run = BallotExplorer(WIDE, criterion, 1e-6, 1, max_answers=5000)
    voters = 0
    while not run.done:
        voters += 1
        questions = run.ask(10, voter=str(voters))
        assert len({question.position for question in questions}) == 1
        for question in questions:
            better = "a" if question.position == "s" else "b"
            run.tell(question, better if better in question.candidates else min(question.candidates))
    assert (run.result.status, dict(run.result.matching)) == ("certified", {"s": "a", "t": "b"})


def test_looking_at_the_last_doubt_first_proves_nothing_sooner_or_later(monkeypatch):
    monkeypatch.setattr(conclusions, "MOST_LISTED", 1)
    proven, poorest = TabledEvidence.proven, Tables.poorest
    looks, solved = [], []

    def checked(self, threshold, proof_threshold):
        found = proven(self, threshold, proof_threshold)
        if self.proof_for is not None:
            feared = self.contest.usable.copy()
            feared[self.proof_for] = True
            others = self.contest.usable.copy()
            others[self.proof_for] = False
            least = poorest(self.proof, self.contest.graph, feared)[others]
            assert found == (least >= proof_threshold).all()
            looks.append(found)
        return found

    def counted(self, graph, allowed):
        solved.append(self)
        return poorest(self, graph, allowed)

    monkeypatch.setattr(TabledEvidence, "proven", checked)
    monkeypatch.setattr(Tables, "poorest", counted)
    run = BallotExplorer(WIDE, "condorcet", 0.2, 1, max_answers=20_000)
    rng = np.random.default_rng(0)
    voters = 0
    while not run.done:
        voters += 1
        for question in run.ask(10, voter=str(voters)):
            better = "a" if question.position == "s" else "b"
            liked, other = sorted(question.candidates, key=lambda name: (name != better, name))
            run.tell(question, other if rng.random() < 0.1 else liked)
    assert run.result.status == "certified"
    assert looks[-1]
    of_proof = sum(tables is run.conclusions.present.proof for tables in solved)
    assert 1 <= of_proof < len(looks) / 4
