"""Runs of condorcet and borda: the first question says whether they are of unsigned duels or of voters."""

from __future__ import annotations

import numpy as np
import pytest

import duelmatch as dm
from duelmatch.errors import DuelError, ProblemError
from duelmatch.explorers.explorer import Explorer
from duelmatch.explorers.frugal.search import FrugalSearch

BOTH = ("condorcet", "borda")
PROBLEM = dm.Problem.complete(["a", "b", "c", "d"], ["s", "t"])
LINEUP = dm.instances.example("lineup")


@pytest.mark.parametrize("algorithm", BOTH)
def test_unsigned_duels_are_those_of_the_frugal_search(algorithm):
    run = dm.explorer(algorithm, PROBLEM, seed=5, batch=3)
    plain = Explorer(PROBLEM, FrugalSearch(PROBLEM.graph, algorithm, 0.05, 5, batch=3), algorithm, 0.05)
    for _ in range(40):
        asked = run.ask(2)
        assert asked == plain.ask(2)
        for duel in asked:
            run.tell(duel, duel.first)
            plain.tell(duel, duel.first)
    assert run.progress == plain.progress


@pytest.mark.parametrize("algorithm", BOTH)
def test_voters_have_ballots_and_unnamed_ones_a_ballot_of_one(algorithm):
    run = dm.explorer(algorithm, PROBLEM, seed=1, ballot_size=4)
    asked = run.ask(10, voter="eve")
    assert len(asked) == 4
    assert {question.voter for question in asked} == {"eve"}
    (single,) = run.ask(1)
    assert len(run.ballots.state.ballots[1].pairs) == 1
    run.tell(single, None)
    run.tell(asked[0], asked[0].second)
    run.tell(asked[1], winner=asked[1].second)
    run.skip(asked[2])
    run.undo(asked[0])
    run.release(asked[3])
    assert [q.id for q in run.open_duels] == [asked[0].id]
    assert run.duels == run.progress.duels == run.result.duels == 2
    for use in (run.wanted, lambda: run.replay([]), lambda: run.tell_wins(np.zeros(0, dtype=np.int64))):
        with pytest.raises(DuelError, match="run of voters"):
            use()


def test_a_voter_comes_too_late_to_a_run_of_unsigned_duels():
    run = dm.explorer("borda", PROBLEM, seed=1)
    run.ask(1)
    with pytest.raises(DuelError, match="began with questions to nobody in particular"):
        run.ask(1, voter="eve")
    with pytest.raises(DuelError, match="begin another one"):
        run.ballots.strike("eve")
    assert not run.of_voters


@pytest.mark.parametrize("algorithm", BOTH)
def test_larger_questions_are_ranked_from_the_start(algorithm):
    run = dm.explorer(algorithm, PROBLEM, seed=1, question_size=4)
    (question,) = run.ask(1)
    assert sorted(question.candidates) == ["a", "b", "c", "d"]
    run.tell(question, ["a", ("c", "b"), "d"])
    result = dm.simulate(LINEUP, algorithm, seed=2, question_size=3)
    winner = LINEUP.borda_winner() if algorithm == "borda" else LINEUP.condorcet_winner()
    assert (result.status, result.matching) == ("certified", winner)
    assert result == dm.simulate(LINEUP, algorithm, seed=2, question_size=3)


def test_a_budget_is_never_exceeded():
    assert dm.simulate(LINEUP, "borda", seed=2, question_size=3, max_duels=7).duels == 7
    run = dm.explorer("borda", PROBLEM, seed=1, max_duels=5)
    assert len(run.ask(9, voter="eve")) == 5
    assert run.ask(9, voter="ned") == run.ask(2) == []
    assert len(run.ask(9, voter="eve")) == 5


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"ballot_size": 0}, "ballot_size must be a whole number from 1 to 1,000, not 0"),
        ({"question_size": 1}, "question_size must be a whole number from 2 to 10"),
        ({"silence": "loud"}, "silence must be 'blind' or 'any'"),
        ({"counting": "first"}, "counting must be 'least' or 'last'"),
        ({"heirs": -1}, "heirs must be"),
        ({"ballot_lease": -1.0}, "ballot_lease must be a number from 0"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters, said):
    with pytest.raises(ProblemError, match=said):
        dm.explorer("borda", PROBLEM, **parameters)


@pytest.mark.parametrize("of_voters", [False, True])
def test_where_there_is_no_winner_the_least_beaten_is_estimated(of_voters):
    problem = dm.Problem.complete(["a", "b", "c"], ["s"])
    circle = dm.Preferences(problem, {("s", "a", "b"): 0.95, ("s", "b", "c"): 0.95, ("s", "c", "a"): 0.7})
    run = dm.explorer("condorcet", problem, 0.01, seed=3)
    rng = np.random.default_rng(4)
    number = 0
    while not run.done:
        number += 1
        for question in run.ask(3, voter=f"v{number}") if of_voters else run.ask(1):
            won = rng.random() < circle.probability("s", question.first, question.second)
            run.tell(question, question.first if won else question.second)
    assert run.result.status == "no_winner"
    assert run.result.matching == circle.least_beaten()[0]
    assert "least beaten, as far as can be estimated: s: " in str(run.result)


class TestUnfinishedBallots:
    """A ballot counts only when all before it are in: whose is missing is told, and can be handed in."""

    @pytest.fixture
    def run(self):
        run = dm.explorer("condorcet", PROBLEM, seed=1, ballot_size=3)
        run.ask(1, voter="eve")
        for voter in ("ned", "zoe"):
            for question in run.ask(3, voter=voter):
                run.tell(question, question.first)
        return run

    def test_who_holds_up_how_much_is_told(self, run):
        assert run.progress.waiting_for == (("eve", 6),)
        assert run.ballots.state.settled == 0

    def test_whoever_leaves_passes_the_rest_to_the_next(self, run):
        run.leave("eve")
        assert run.progress.waiting_for == (("eve", 6),)
        for question in run.ask(3, voter="amy"):
            run.tell(question, question.first)
        assert run.progress.waiting_for == ()
        assert run.ballots.state.settled == 3
        with pytest.raises(DuelError, match="'bob' has no ballot"):
            run.leave("bob")

    def test_all_can_be_handed_in_as_they_are(self, run):
        run.close()
        assert run.progress.waiting_for == ()
        assert run.ballots.state.settled == 3


@pytest.mark.parametrize("voter", [3, "", " ", ["eve"]])
@pytest.mark.parametrize("algorithm", BOTH)
def test_a_voter_has_a_name(algorithm, voter):
    run = dm.explorer(algorithm, PROBLEM, seed=1)
    with pytest.raises(DuelError, match="The name of a voter must be text"):
        run.ask(1, voter=voter)


@pytest.mark.parametrize("algorithm", ["car-cond", "clucb-borda-pac"])
def test_the_algorithms_of_the_paper_know_no_voters(algorithm):
    run = dm.explorer(algorithm, PROBLEM, seed=1)
    with pytest.raises(DuelError, match="knows no voters"):
        run.ask(1, voter="eve")
    assert len(run.ask(1)) == 1


def test_a_panel_has_no_delta():
    with pytest.raises(ProblemError, match="panel has no delta"):
        dm.explorer("panel", PROBLEM, delta=0.01, voters=["eve"])
