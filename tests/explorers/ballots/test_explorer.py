"""The public surface: who is asked what, what may be said, and what is reported."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import duelmatch as dm
from duelmatch.errors import DuelError, ProblemError
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.catalogue import Assumption

PROBLEM = dm.Problem.complete(["a", "b", "c", "d"], ["s", "t"])
TRIO = dm.Problem.complete(["a", "b", "c"], ["s"])


def finish(run, decide=min, voters=5000):
    for number in range(voters):
        if run.done:
            break
        for question in run.ask(100, voter=f"w{number}"):
            run.tell(question, decide(question.candidates))
    return run.result


def test_a_voter_who_comes_back_goes_on_with_the_same_ballot():
    run = BallotExplorer(PROBLEM, seed=1, ballot_size=5)
    first = run.ask(2, voter="eve")
    assert len(first) == 2
    assert run.ask(2, voter="eve") == first
    for question in run.ask(100, voter="ned"):
        run.tell(question, question.first)
    rest = run.ask(100, voter="eve")
    assert rest[:2] == first
    assert len(rest) == 5
    assert len({(q.position, frozenset(q.candidates)) for q in rest}) == 5
    for question in rest:
        run.tell(question, None)
    assert run.ask(1, voter="eve") == []
    assert run.progress.duels == 10


def test_without_a_voter_every_question_is_a_new_voters():
    run = BallotExplorer(PROBLEM, seed=1)
    asked = run.ask(3)
    assert len({question.voter for question in asked}) == 3
    assert [len(ballot.pairs) for ballot in run.state.ballots] == [1, 1, 1]


def test_what_somebody_leaves_out_passes_to_one_fresh_voter_who_gets_nothing_else():
    run = BallotExplorer(PROBLEM, seed=1, ballot_size=4)
    eve = run.ask(4, voter="eve")
    run.tell(eve[0], eve[0].first)
    run.skip(eve[1])
    run.expire(voter="eve")
    ned = run.ask(10, voter="ned")
    assert {(q.position, frozenset(q.candidates)) for q in ned} == {
        (q.position, frozenset(q.candidates)) for q in eve[1:]
    }
    run.tell(eve[2], eve[2].first)  # late: for the standings only
    assert sum(told.late for told in run.state.told.values()) == 1
    assert np.isnan(run.state.returned[0].value).sum() == 3
    for question in ned:
        run.tell(question, None)
    assert run.state.returned[0].closed
    assert run.state.returned[0].heirs == ["ned"]
    assert run.ask(1, voter="ned") == []
    assert Assumption.SILENCE_BLIND in run.conclusions.assumptions


def test_nobody_waits_for_what_nobody_answers():
    run = BallotExplorer(PROBLEM, seed=1, ballot_size=2, heirs=2)
    for voter in ("v1", "v2", "v3"):
        for question in run.ask(5, voter=voter):
            run.skip(question)
    assert run.state.returned[0].closed
    assert run.conclusions.evidence[0].settled == 1
    strict = BallotExplorer(PROBLEM, seed=1, ballot_size=2, silence="any")
    for question in strict.ask(5, voter="v1"):
        strict.skip(question)
    assert strict.conclusions.evidence[0].settled == 1


def test_leases_end_at_the_deadline():
    run = BallotExplorer(PROBLEM, seed=1, ballot_size=2, ballot_lease=10)
    run.ask(1, voter="eve", now=0)
    run.expire(now=9)
    assert run.state.waiting == []
    run.expire(now=10)
    assert run.state.waiting == [0]


def test_what_is_not_an_answer_is_refused_and_changes_nothing():
    run = BallotExplorer(PROBLEM, seed=1)
    (question,) = run.ask(1, voter="eve")
    for answer in ("nobody", ["a"], [question.first], [question.first, question.first], 3):
        with pytest.raises(DuelError):
            run.tell(question, answer)
    run.tell(question, winner=question.second)
    with pytest.raises(DuelError):
        run.tell(question, question.second)


def test_rankings_with_ties():
    run = BallotExplorer(TRIO, "borda", seed=1, question_size=3, ballot_size=3)
    (question,) = run.ask(5, voter="eve")
    assert set(question.candidates) == {"a", "b", "c"}
    run.tell(question, ["b", ("a", "c")])
    ballot, answers = run.state.ballots[0], run.state.returned[0]
    table = TRIO.graph.pair_table
    said = {
        (int(table.first[p]), int(table.second[p])): x
        for p, x in zip(ballot.pairs, answers.value, strict=True)
    }
    assert said == {(0, 1): 0.0, (0, 2): 0.5, (1, 2): 1.0}


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
@pytest.mark.parametrize("question_size", [2, 3])
def test_statuses(criterion, question_size):
    def decide(names):
        return min(names) if len(names) == 2 else sorted(names)

    plain = finish(BallotExplorer(TRIO, criterion, 1e-6, 1, question_size=question_size), decide)
    assert (plain.status, dict(plain.matching)) == ("certified", {"s": "a"})
    near = finish(BallotExplorer(TRIO, criterion, 1e-6, 1, question_size=question_size, epsilon=0.4), decide)
    assert near.status in ("within_epsilon", "certified")
    assert dict(near.matching) == {"s": "a"}


def test_a_cycle_has_no_winner_and_a_winner_can_be_proven_without_assuming_one():
    def cycle(names):
        return {"ab": "a", "bc": "b", "ac": "c"}["".join(sorted(names))]

    run = BallotExplorer(TRIO, "condorcet", 1e-6, 1, assume_winner=False)
    assert finish(run, cycle).status == "no_winner"
    run = BallotExplorer(TRIO, "condorcet", 1e-6, 1, assume_winner=False)
    assert finish(run).status == "certified"
    assert run.result.assuming == (Assumption.INDEPENDENT_VOTERS,)


def test_a_struck_voter_costs_no_other_vote_and_may_undo_a_verdict():
    run = BallotExplorer(TRIO, "condorcet", 0.05, 1, ballot_size=2)
    result = finish(run)
    assert result.status == "certified"
    last = run.state.ballots[-1].voter
    run.strike(last)
    assert run.result.status == "budget_spent"
    assert not run.done
    assert run.ask(1, voter=last) == []
    assert Assumption.ONE_COUNT_BLIND in run.conclusions.assumptions
    finish(run, voters=10_000)
    assert run.result.status == "certified"
    run.reinstate(last)
    assert run.result.status == "certified"


def test_voters_correct_their_own_answers_until_the_ballot_is_settled():
    run = BallotExplorer(TRIO, "condorcet", 0.05, 1, ballot_size=2)
    run.ask(1, voter="slow")
    first, second = run.ask(2, voter="eve")
    run.tell(first, first.first)
    run.undo(first)
    assert run.state.tally.duels.sum() == 0
    run.tell(first, first.second)
    run.tell(second, second.first)
    assert run.state.returned[1].closed
    run.undo(first)
    assert not run.state.returned[1].closed
    assert run.ask(9, voter="eve") == [first]
    run.tell(first, None)
    assert run.state.returned[1].value.tolist().count(0.5) == 1
    run.expire("slow")
    run.close()
    assert run.conclusions.evidence[-1].settled == 2
    with pytest.raises(DuelError, match="counted"):
        run.undo(first)
    with pytest.raises(DuelError, match="not been answered"):
        run.undo(run.ask(1, voter="new")[0])


def test_the_organisers_corrections_are_for_the_standings_unless_they_are_clerical():
    run = BallotExplorer(TRIO, "condorcet", 0.05, 1, ballot_size=2)
    first, second = run.ask(2, voter="eve")
    run.tell(first, first.first)
    run.tell(second, second.first)
    before = run.conclusions.present.wealth.copy()
    run.correct(second, second.second)
    np.testing.assert_array_equal(run.conclusions.present.wealth, before)
    assert dict(run.given())[second] == [[second.second], [second.first]]
    run.correct(second, second.second, clerical=True)
    assert len(run.conclusions.evidence) == 2
    assert not np.array_equal(run.conclusions.present.wealth, before)
    corrected = run.conclusions.present.wealth.copy()
    run.strike_answer(first)
    assert len(run.conclusions.evidence) == 3
    assert (run.conclusions.present.wealth <= corrected).all()
    assert first not in dict(run.given())
    assert run.state.tally.duels.sum() == 1
    assert Assumption.ONE_COUNT_BLIND in run.conclusions.assumptions


def test_somebody_leaves_and_somebody_comes():
    run = BallotExplorer(TRIO, "condorcet", 1e-6, 1)
    assert dict(finish(run).matching) == {"s": "a"}
    run.drop("a")
    assert dict(finish(run, voters=10_000).matching) == {"s": "b"}
    run.add("A", ["s"])
    assert run.result.status != "certified"
    with pytest.raises(ProblemError):
        run.add("A", ["s"])
    run.drop("b")
    run.drop("c")
    with pytest.raises(ProblemError):
        run.drop("A")


def test_the_open_ballot_of_a_struck_voter_holds_up_nobody_and_passes_to_nobody():
    run = BallotExplorer(PROBLEM, seed=1, ballot_size=4)
    eve = run.ask(4, voter="eve")
    run.tell(eve[0], eve[0].first)
    run.strike("eve")
    assert [found.settled for found in run.conclusions.evidence] == [1, 1]
    assert run.state.returned[0].heirs == []
    assert len(run.ask(9, voter="ned")) == 4
    assert len(run.state.ballots) == 2


def test_the_only_line_up_is_certified_at_once():
    problem = dm.Problem.from_edges([("a", "s"), ("b", "t")])
    for assume_winner in (True, False):
        run = BallotExplorer(problem, seed=1, assume_winner=assume_winner)
        assert run.done
        assert run.result.status == "certified"
    with pytest.raises(ProblemError):
        BallotExplorer(problem, delta=1.5)


def test_a_proof_that_is_over_does_not_begin_again_with_ballots_of_two_kinds():
    """Named voters and others take turns, so two designs are in use at the same time."""
    run = BallotExplorer(PROBLEM, "condorcet", 0.05, 3, ballot_size=4, max_answers=600)
    rng = np.random.default_rng(1)
    number = 0
    while not run.done:
        number += 1
        for question in run.ask(4, voter=f"v{number}") + run.ask(1):
            run.tell(question, min(question.candidates) if rng.random() < 0.55 else max(question.candidates))
    proofs = [run.state.designs[ballot.design].proof for ballot in run.state.ballots]
    assert max(proofs) > 1
    assert proofs == sorted(proofs)


def test_what_is_proven_of_a_line_up_that_has_left_is_not_a_result():
    run = BallotExplorer(TRIO, "borda", 0.2, 1, epsilon=0.3)
    while run.conclusions.present.proof_for is None:
        finish(run, voters=1 + len(run.state.parts))
    leader = run.problem.matching(run.conclusions.present.proof_for.tolist())["s"]
    run.drop(leader)
    for found in run.conclusions.evidence:
        found.proof.peak[:] = 1e9
    run.conclusions._review()
    assert run.result.matching is None or leader not in run.result.matching.values()


def test_late_candidates_are_among_what_is_taken_for_granted():
    run = BallotExplorer(TRIO, seed=1)
    run.add("d", ["s"])
    assert Assumption.ADMISSIONS_BLIND in run.conclusions.assumptions


def test_walking_changes_the_order_on_a_ballot_and_nothing_else() -> None:
    problem = dm.Problem.complete([f"c{i}" for i in range(6)], ["x", "y", "z"])
    usual = BallotExplorer(problem, "condorcet", seed=3, ballot_size=8)
    walking = BallotExplorer(problem, "condorcet", seed=3, ballot_size=8, walking=True)
    kept: dict[bool, list[bool]] = {False: [], True: []}
    for voter in "abcdefgh":
        asked = [run.ask(8, voter=voter) for run in (usual, walking)]
        sets = [{(one.position, frozenset(one.candidates)) for one in questions} for questions in asked]
        assert sets[0] == sets[1]
        for is_walking, questions in enumerate(asked):
            for before, after in pairwise(questions):
                kept[bool(is_walking)].append(not set(before.candidates).isdisjoint(after.candidates))
    assert sum(kept[True]) > 1.2 * sum(kept[False])
    assert all(kept[True])


def test_a_ranking_without_somebody_who_left_is_answered_once():
    """It was passed on again and again, as nothing was said of the pairs with whoever had left."""
    run = BallotExplorer(PROBLEM, "borda", seed=0, ballot_size=3, question_size=3, ballot_lease=10.0)
    (asked,) = run.ask(1, voter="eve", now=0.0)
    run.drop(asked.candidates[2])
    run.release(asked)
    (again,) = run.ask(1, voter="eve", now=1.0)
    assert again.candidates == asked.candidates[:2]
    run.tell(again, again.first, now=2.0)
    assert run.state.returned[0].closed
    assert run.ask(1, voter="ned", now=3.0)[0].voter == "ned"
    assert len(run.state.ballots) == 2
