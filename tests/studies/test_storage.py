"""What a study promises, of every kind, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
import sqlalchemy as sa

import duelmatch as dm
from duelmatch.errors import ConflictError, DuelError, NotAllowedError, NotThereError, StoreError, StudyError
from duelmatch.explorers.catalogue import Assumption
from duelmatch.studies import Access, AnswersLeft, Feed, NewVoter, Nothing, Question, Settings, Store, Study
from duelmatch.studies.state import State
from studies.playing import check_every_question, check_fresh, check_log, question_for, replayed, vote

NewStudy = Callable[..., Study]
KINDS = {"panel": "panel", "crowd": "condorcet", "rounds": "car-cond"}
STRANGERS = [0, 7, "1", "f" * 16, True, None, 1.0]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def study(kind: str, new_study: NewStudy) -> Study:
    """A study of every kind, with five voters."""
    return new_study(algorithm=KINDS[kind], voters=list("ABCDE"))


@pytest.fixture
def voters(study: Study) -> list[str]:
    return [voter.id for voter in study.voters()]


@pytest.fixture
def rounds(new_study: NewStudy) -> Study:
    return new_study()


def done_as(study: Study, token: str, work: Callable[[Feed, Access], Any]) -> Any:
    """Do some work by a link, and wait for it."""
    outcome: Future[Any] = Future()
    study.submit_as(token, work, outcome.set_result, outcome.set_exception)
    return outcome.result(60)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed(url: str, clock: Clock, kind: str) -> Any:
    """A study of every kind whose time is the test's."""
    with Store(url, clock) as store:
        problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
        settings = Settings(KINDS[kind], seed=0, lease=10, ahead=0, parameters={})
        yield store.create(problem, settings, "x", ["A", "B", "C"])


class TestAsking:
    def test_a_question_is_about_candidates_of_a_position(self, study: Study, voters: list[str]) -> None:
        question = question_for(study, voters[0])
        assert question.number == 1
        for candidate in question.candidates:
            assert (candidate, question.position) in study.problem.edges

    def test_asking_again_gives_the_same_question(
        self, study: Study, voters: list[str], other_store: Store
    ) -> None:
        question = study.ask(voters[0])
        entries = study.end()
        assert study.ask(voters[0]) == question
        assert other_store.study(study.id).ask(voters[0]) == question
        assert study.end() == entries

    def test_voters_have_questions_of_their_own(self, study: Study, voters: list[str]) -> None:
        asked = [question_for(study, voter) for voter in voters]
        assert [question.number for question in asked] == [1, 2, 3, 4, 5]
        assert [question.voter for question in asked] == voters
        check_every_question(study.entries())

    def test_both_sides_come_up_on_the_left(self, new_study: NewStudy, kind: str) -> None:
        problem = dm.Problem.complete(["ann", "bob"], ["chair"])
        study = new_study(problem, algorithm=KINDS[kind], voters=[str(number) for number in range(30)])
        left = [question_for(study, voter.id).candidates[0] for voter in study.voters()]
        assert 5 < left.count("ann") < 25

    def test_it_ends_when_the_outcome_is_known(self, new_study: NewStudy, kind: str) -> None:
        study = new_study(algorithm=KINDS[kind], voters=list("ABCDE"), delta=0.9 if kind == "rounds" else 0.2)
        voters = [voter.id for voter in study.voters()]
        voter = voters[0]
        for turn in range(3000):
            question = study.ask(voter)
            if question == Nothing("done"):
                break
            if isinstance(question, Question):
                study.tell(question.voter, question.number, min(question.candidates))
            elif kind == "crowd":  # that was a whole ballot
                voter = study.add_voter()
            if kind != "crowd":
                voter = voters[turn % 5]
        status = study.status()
        assert status.done
        assert status.answers_left(None) == AnswersLeft(0, 0, 0, None)
        assert status.result.matching == {"chair": "ann", "editor": "bob"}
        check_log(study)

    def test_a_budget_is_kept(self, new_study: NewStudy, kind: str) -> None:
        study = new_study(algorithm=KINDS[kind], voters=["A", "B"], max_answers=3)
        voter, other = (each.id for each in study.voters())
        vote(study, voter)
        vote(study, voter)
        question = question_for(study, voter)
        assert study.ask(other) == Nothing("budget")
        study.release(voter, question.number)
        assert isinstance(study.ask(other), Question)
        vote(study, other)
        assert study.status().done
        assert study.status().result.status == "budget_spent"

    def test_a_voter_of_a_crowd_sees_how_far_the_ballot_is(self, new_study: NewStudy) -> None:
        study = new_study(algorithm="borda", parameters={"ballot_size": 4})
        voter = study.add_voter()
        steps = []
        while isinstance(question := study.ask(voter), Question):
            steps.append((question.place, question.of))
            study.tell(voter, question.number, None)
        assert question == Nothing("all yours")
        assert [place for place, _ in steps] == list(range(1, len(steps) + 1))
        assert {of for _, of in steps} == {len(steps)}

    def test_a_judge_is_asked_every_pair_once(self, new_study: NewStudy) -> None:
        study = new_study(algorithm="panel", voters=["A", "B"], parameters={"consistent": False})
        asked: dict[str, list[Any]] = {}
        reasons = set()
        for _ in range(20):
            for voter in study.voters():
                question = study.ask(voter.id)
                if isinstance(question, Question):
                    pair = (question.position, frozenset(question.candidates))
                    assert pair not in asked.setdefault(voter.id, [])
                    asked[voter.id].append(pair)
                    study.tell(voter.id, question.number, question.candidates[0])
                else:
                    reasons.add(question.reason)
        assert "done" in reasons
        assert study.status().done

    def test_the_seed_is_drawn(self, store: Store, really_drawn_seeds: None) -> None:
        problem = dm.Problem.complete(["ann", "bob"], ["chair"])
        seeds = {store.create(problem, Settings("condorcet"), "x").settings.seed for _ in range(3)}
        assert len(seeds) == 3  # the same ones come up once in a billion times
        assert None not in seeds
        assert store.create(problem, Settings("condorcet", seed=5), "x").settings.seed == 5

    @pytest.mark.parametrize("number", STRANGERS)
    def test_strangers_are_refused(self, study: Study, voters: list[str], number: Any) -> None:
        for call in (study.ask, study.undo, study.strike, study.reinstate, study.leave, study.come_back):
            with pytest.raises(NotThereError, match="no voter"):
                call(number)
        for act in (study.skip, study.release, lambda v, n: study.tell(v, n, "ann")):
            with pytest.raises(NotThereError, match="no question"):
                act(voters[0], number)
        with pytest.raises(NotThereError, match="no question"):
            study.correct(number, None)


class TestRounds:
    def test_a_voter_is_asked_something_new_while_there_is(self, rounds: Study) -> None:
        other, voter = rounds.add_voter(), rounds.add_voter()
        question_for(rounds, other)
        asked = [vote(rounds, voter) for _ in range(6)]
        assert len({(q.position, frozenset(q.candidates)) for q in asked}) == 6

    def test_nobody_waits_for_somebody_who_went_away(self, new_study: NewStudy) -> None:
        study = new_study(ahead=1)
        gone = question_for(study, study.add_voter())
        voter = study.add_voter()
        for _ in range(5):
            vote(study, voter)
        instead = question_for(study, voter)
        assert (instead.position, set(instead.candidates)) == (gone.position, set(gone.candidates))
        assert study.ask(study.add_voter()) == Nothing("waiting"), "one is asked ahead, no more"
        study.tell(voter, instead.number, instead.candidates[0])
        assert study.status().result.duels == 6
        study.tell(gone.voter, gone.number, gone.candidates[0])
        assert study.status().unused == 1
        check_every_question(study.entries())
        check_log(study)

    def test_who_has_skipped_what_is_needed_is_not_told_to_wait_for_it(self, new_study: NewStudy) -> None:
        study = new_study(dm.Problem.complete(["ann", "bob"], ["chair"]), ahead=0)
        voter = study.add_voter()
        study.skip(voter, question_for(study, voter).number)
        assert study.ask(voter) == Nothing("all yours")
        other = study.add_voter()
        assert study.ask(voter) == Nothing("waiting")
        study.skip(other, question_for(study, other).number)
        assert study.ask(voter) == study.ask(other) == Nothing("all yours")

    def test_it_says_what_it_assumes(self, rounds: Study) -> None:
        status = rounds.status()
        assert status.assuming[0] == Assumption.INDEPENDENT_ANSWERS
        assert "independent" in status.assuming[0].sentence

    def test_undo_of_an_answer_that_was_used_begins_anew(self, rounds: Study) -> None:
        voter = rounds.add_voter()
        for _ in range(6):
            vote(rounds, voter)
        assert rounds.status().result.duels == 6
        rounds.undo(voter)
        assert rounds.status().result.duels == 0
        assert rounds.status().unused == 5
        check_log(rounds)

    @pytest.mark.parametrize("algorithm", dm.algorithms())
    def test_every_algorithm_serves(self, new_study: NewStudy, algorithm: str) -> None:
        voters = ["A", "B", "C"]
        study = new_study(algorithm=algorithm, delta=0.3, voters=voters)
        ids = [voter.id for voter in study.voters()]
        for turn in range(60):
            if isinstance(question := study.ask(ids[turn % 3]), Question):
                study.tell(question.voter, question.number, min(question.candidates))
        assert study.status().result.duels > 0
        check_every_question(study.entries())
        check_log(study)


class TestLeases:
    def test_what_nobody_answers_is_released_by_whoever_comes(self, timed: Study, clock: Clock) -> None:
        gone, other, _ = (voter.id for voter in timed.voters())
        question = question_for(timed, gone)
        assert question.expires_at is not None
        clock.now = question.expires_at - 1
        question_for(timed, other)
        assert timed.status().open_questions == 2
        clock.now = question.expires_at
        timed.ask(other)
        ended = [entry for entry in timed.entries() if entry.kind in ("released", "expired", "finished")]
        assert len(ended) == 1
        assert timed.status().open_questions == 1
        check_log(timed)

    def test_a_late_answer_is_kept(self, timed: Study, clock: Clock) -> None:
        late, other, _ = (voter.id for voter in timed.voters())
        question = question_for(timed, late)
        clock.now += 1000
        question_for(timed, other)
        receipt = timed.tell(late, question.number, question.candidates[0])
        assert not receipt.repeated
        assert timed.status().answers == 1
        assert timed.status().counted == 1
        check_log(timed)

    def test_a_judge_who_comes_back_finds_the_same_question(self, new_study: NewStudy) -> None:
        study = new_study(algorithm="panel", voters=["A"], lease=1.0)
        (voter,) = study.voters()
        question = question_for(study, voter.id)
        study._database._own_clock = lambda: (question.expires_at or 0) + 5
        try:
            assert question_for(study, voter.id).number == question.number
        finally:
            study._database._own_clock = None

    def test_a_ballot_that_is_over_goes_to_somebody_else(self, url: str, clock: Clock) -> None:
        with Store(url, clock) as store:
            problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "cook"])
            study = store.create(problem, Settings("condorcet", seed=1, lease=5), "x")
            slow, heir = study.add_voter(), study.add_voter()
            first = vote(study, slow)
            assert first.of is not None
            assert first.of > 1
            second = question_for(study, slow)
            clock.now += 5 * 10
            passed = question_for(study, heir)
            assert {entry.kind for entry in study.entries()} >= {"expired", "passed"}
            assert (passed.position, passed.candidates) == (second.position, second.candidates)
            assert study.ask(slow) == Nothing("late")
            check_log(study)

    def test_the_clock_is_the_databases(self, rounds: Study) -> None:
        question = question_for(rounds, rounds.add_voter())
        asked = rounds.entries()[-1]
        assert question.expires_at == pytest.approx(asked.at + rounds.settings.lease, abs=1e-3)


class TestTelling:
    def test_an_answer_is_kept_once(self, study: Study, voters: list[str], other_store: Store) -> None:
        question = question_for(study, voters[0])
        one, other = question.candidates
        first = study.tell(voters[0], question.number, one)
        assert (first.answer, first.winner, first.repeated) == (((one,), (other,)), one, False)
        again = other_store.study(study.id).tell(voters[0], question.number, [one, other])
        assert again.repeated
        assert (again.answer, again.entry, again.hash) == (first.answer, first.entry, first.hash)
        for another in (other, None):
            with pytest.raises(ConflictError, match="answered already, and differently"):
                study.tell(voters[0], question.number, another)
        with pytest.raises(DuelError, match="nobody"):
            study.tell(voters[0], question.number, "nobody")
        assert [entry.kind for entry in study.entries()].count("answered") == 1

    def test_a_receipt_has_the_hash_of_its_entry(self, study: Study, voters: list[str]) -> None:
        for voter in voters:
            question = question_for(study, voter)
            receipt = study.tell(voter, question.number, question.candidates[0])
            (entry,) = study.entries(after=receipt.entry - 1, limit=1)
            assert (entry.seq, entry.hash, entry.kind) == (receipt.entry, receipt.hash, "answered")
            assert entry.voter == voter

    def test_no_difference_is_an_answer(self, study: Study, voters: list[str]) -> None:
        question = question_for(study, voters[0])
        receipt = study.tell(voters[0], question.number, None)
        assert receipt.answer == (tuple(sorted(question.candidates)),)
        assert receipt.winner is None
        assert study.status().counted == 1
        check_log(study)

    def test_no_difference_is_refused_where_there_is_none(self, new_study: NewStudy) -> None:
        study = new_study(ties=False)
        voter = study.add_voter()
        question = question_for(study, voter)
        with pytest.raises(NotAllowedError, match="no ties"):
            study.tell(voter, question.number, None)

    @pytest.mark.parametrize("algorithm", ["panel", "borda"])
    def test_rankings_with_ties_are_taken(self, new_study: NewStudy, algorithm: str) -> None:
        problem = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair"])
        parameters: dict[str, Any] = {"question_size": 4}
        if algorithm == "panel":
            parameters["criterion"] = "borda"
        study = new_study(problem, algorithm=algorithm, voters=["A", "B"], parameters=parameters)
        for voter in study.voters():
            question = question_for(study, voter.id)
            assert len(question.candidates) > 2
            best, *others = sorted(question.candidates)
            receipt = study.tell(voter.id, question.number, [best, tuple(others)])
            assert receipt.answer == ((best,), tuple(others))
        check_log(study)

    def test_an_answer_must_be_about_the_question(self, study: Study, voters: list[str]) -> None:
        question = question_for(study, voters[0])
        for wrong in ("zoe", [question.candidates[0]], 7):
            with pytest.raises(dm.DuelError):
                study.tell(voters[0], question.number, wrong)  # type: ignore[arg-type]
        assert study.status().answers == 0

    def test_nobody_answers_for_somebody_else(self, study: Study, voters: list[str]) -> None:
        question = question_for(study, voters[0])
        with pytest.raises(NotAllowedError, match="somebody else"):
            study.tell(voters[1], question.number, question.candidates[0])


class TestSecondThoughts:
    def test_skipping_brings_another_question(self, study: Study, voters: list[str]) -> None:
        question = question_for(study, voters[0])
        study.skip(voters[0], question.number, "I know neither")
        study.skip(voters[0], question.number)
        other = question_for(study, voters[0])
        assert (other.position, set(other.candidates)) != (question.position, set(question.candidates))
        skipped = [entry.data for entry in study.entries() if entry.kind == "skipped"]
        assert skipped == [{"question": 1, "reason": "I know neither"}]
        with pytest.raises(ConflictError, match="skipped already"):
            study.tell(voters[0], question.number, question.candidates[0])
        check_log(study)

    def test_skipping_is_refused_where_it_is_not_wanted(self, new_study: NewStudy) -> None:
        study = new_study(skips=False)
        voter = study.add_voter()
        question = question_for(study, voter)
        with pytest.raises(NotAllowedError, match="no skipping"):
            study.skip(voter, question.number)

    def test_undo_asks_the_same_question_again(self, study: Study, voters: list[str]) -> None:
        question = vote(study, voters[0])
        following = question_for(study, voters[0])
        again = study.undo(voters[0])
        assert (again.number, again.candidates) == (question.number, question.candidates)
        assert study.status().counted == 0
        assert question_for(study, voters[0]).number == question.number
        study.tell(voters[0], question.number, question.candidates[1])
        assert study.status().counted == 1
        assert following.number != question.number
        check_log(study)

    def test_undo_goes_back_one_answer_at_a_time(self, study: Study, voters: list[str]) -> None:
        asked = [vote(study, voters[0]).number for _ in range(2)]
        assert [study.undo(voters[0]).number for _ in range(2)] == asked[::-1]
        with pytest.raises(ConflictError, match="no answer"):
            study.undo(voters[0])
        check_log(study)

    def test_an_undo_that_names_its_question_is_done_once(self, study: Study, voters: list[str]) -> None:
        first, second = vote(study, voters[0]), vote(study, voters[0])
        with pytest.raises(ConflictError, match="not the one that you answered last"):
            study.undo(voters[0], first.number)
        opened = study.undo(voters[0], second.number)
        assert study.undo(voters[0], second.number) == opened
        assert study.answers_by(voters[0]) == 1
        with pytest.raises(NotAllowedError):
            study.undo(voters[1], second.number)

    def test_undo_in_a_crowd_ends_with_the_ballot(self, new_study: NewStudy) -> None:
        study = new_study(algorithm="condorcet", parameters={"ballot_size": 2})
        voter = study.add_voter()
        while isinstance(question := study.ask(voter), Question):
            study.tell(voter, question.number, min(question.candidates))
        with pytest.raises(ConflictError, match="its ballot has been counted"):
            study.undo(voter)
        check_log(study)

    def test_an_answer_is_corrected(self, study: Study, voters: list[str]) -> None:
        question = question_for(study, voters[0])
        one, other = question.candidates
        study.tell(voters[0], question.number, one)
        study.correct(question.number, other, clerical=True)
        receipt = study.answer_of(question.number)
        assert receipt is not None
        assert receipt.winner == other
        assert study.status().counted == 1
        study.correct(question.number, None)
        assert (study.status().counted, study.status().struck) == (0, 1)
        study.correct(question.number, one)
        assert study.status().counted == 1
        check_log(study)
        with pytest.raises(ConflictError, match="no answer to correct"):
            study.correct(question_for(study, voters[0]).number, None)

    def test_a_struck_answer_stays_struck_whatever_its_voter_does(
        self, study: Study, voters: list[str]
    ) -> None:
        question = vote(study, voters[0])
        study.correct(question.number, None)
        with pytest.raises(ConflictError, match="struck that answer"):
            study.undo(voters[0])
        assert study.tell(voters[0], question.number, min(question.candidates)).repeated
        study.strike(voters[0])
        study.reinstate(voters[0])
        assert (study.status().counted, study.status().struck) == (0, 1)
        (given,) = study.answers()
        assert (given.struck, given.counts) == (True, False)
        check_log(study)

    def test_striking_a_voter_leaves_all_other_answers_in_use(self, study: Study, voters: list[str]) -> None:
        for _ in range(2):
            for voter in voters:
                vote(study, voter)
        question_for(study, voters[1])
        used = study.status().result.duels
        study.strike(voters[1])
        study.strike(voters[1])
        status = study.status()
        assert (status.counted, status.struck, status.open_questions) == (8, 2, 0)
        if study.settings.kind == "panel":
            assert status.result.duels == used - 2
        with pytest.raises(NotAllowedError, match="taken this voter out"):
            study.ask(voters[1])
        check_log(study)
        study.reinstate(voters[1])
        assert study.status().counted == 10
        check_log(study)

    def test_a_candidate_withdraws(self, study: Study, voters: list[str]) -> None:
        for voter in voters:
            vote(study, voter)
        asked = [question_for(study, voter) for voter in voters]
        study.drop("cyd")
        study.drop("cyd")
        assert study.status().dropped == ("cyd",)
        for question in asked:
            again = study.ask(question.voter)
            if isinstance(again, Question):
                assert "cyd" not in again.candidates
        for voter in voters:
            question = study.ask(voter)
            if isinstance(question, Question):
                assert "cyd" not in question.candidates
                study.tell(voter, question.number, question.candidates[0])
        check_log(study)

    def test_nobody_withdraws_who_is_needed(self, new_study: NewStudy, kind: str) -> None:
        problem = dm.Problem.complete(["ann", "bob"], ["chair", "editor"])
        study = new_study(problem, algorithm=KINDS[kind], voters=["A"])
        with pytest.raises(dm.ProblemError):
            study.drop("ann")
        with pytest.raises(dm.ProblemError, match="no candidate 'zoe'"):
            study.drop("zoe")
        assert study.end() == 1

    def test_a_late_candidate_is_asked_about(self, study: Study, voters: list[str]) -> None:
        for voter in voters:
            vote(study, voter)
        study.add("eve", ["editor"], {"title": "Eve, from abroad"})
        assert study.problem.candidates[-1] == "eve"
        assert study.problem.candidate_details["eve"].title == "Eve, from abroad"
        with pytest.raises(dm.ProblemError, match="already"):
            study.add("eve", ["chair"])
        assert study.status().counted == 5
        seen = set()
        for turn in range(60):
            voter = study.add_voter() if study.settings.kind == "crowd" else voters[turn % 5]
            question = study.ask(voter)
            if isinstance(question, Question):
                seen |= set(question.candidates)
                study.tell(voter, question.number, question.candidates[0])
        assert "eve" in seen
        check_log(study)
        check_every_question(study.entries())


class TestPanels:
    def test_named_voters_are_a_panel_and_others_a_crowd(self, store: Store) -> None:
        problem = dm.Problem.complete(["ann", "bob"], ["chair"])
        assert store.create(problem, name="x", voters=["A"]).settings.algorithm == "panel"
        assert store.create(problem, name="x").settings.algorithm == "condorcet"
        with pytest.raises(StudyError, match="needs its voters"):
            store.create(problem, Settings("panel"), "x")
        with pytest.raises(StudyError, match="Two voters are called 'A'"):
            store.create(problem, name="x", voters=["A", "A"])

    def test_weights_and_conflicts(self, store: Store) -> None:
        problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
        study = store.create(problem, name="x", voters=[NewVoter("A", 2), NewVoter("B", 1, ["ann"])])
        late = study.add_voter("C", weight=3, conflicts=["cyd"])
        heavy, other, _ = (voter.id for voter in study.voters())
        assert [(v.name, v.weight, v.conflicts) for v in study.voters()] == [
            ("A", 2, ()),
            ("B", 1, ("ann",)),
            ("C", 3, ("cyd",)),
        ]
        study.conflict(heavy, ["bob"])
        study.conflict(heavy, ["bob"])
        excluded = {heavy: "bob", other: "ann", late: "cyd"}
        for voter, name in excluded.items():
            while isinstance(question := study.ask(voter), Question):
                assert name not in question.candidates
                study.tell(voter, question.number, min(question.candidates))
        assert study.status().done
        check_log(study)
        with pytest.raises(StudyError, match="A weight is"):
            study.add_voter("D", weight=0)

    def test_a_judge_leaves_and_comes_back(self, new_study: NewStudy) -> None:
        study = new_study(algorithm="panel", voters=["A", "B"])
        one, other = (voter.id for voter in study.voters())
        vote(study, one)
        question_for(study, one)
        study.leave(one, "dropped")
        assert study.ask(one) == Nothing("left")
        assert [voter.left for voter in study.voters()] == [True, False]
        assert study.status().open_questions == 0
        for _ in range(6):
            if isinstance(study.ask(other), Question):
                vote(study, other)
        assert study.status().done, "nobody waits for who has left"
        study.come_back(one)
        assert not study.voters()[0].left
        check_log(study)

    def test_others_know_no_weights_and_conflicts(self, new_study: NewStudy) -> None:
        for algorithm in ("condorcet", "car-cond"):
            study = new_study(algorithm=algorithm)
            voter = study.add_voter()
            with pytest.raises(NotAllowedError, match="panels only"):
                study.add_voter(weight=2)
            with pytest.raises(NotAllowedError, match="panels only"):
                study.add_voter(conflicts=["ann"])
        with pytest.raises(NotAllowedError, match="panels only"):
            study.conflict(voter, ["ann"])  # a round cannot go without an answer; a ballot can


class TestPhases:
    def test_a_paused_study_takes_answers_and_asks_nothing(self, study: Study, voters: list[str]) -> None:
        question = question_for(study, voters[0])
        study.pause()
        study.pause()
        assert study.ask(voters[1]) == Nothing("paused")
        study.tell(voters[0], question.number, question.candidates[0])
        study.resume()
        assert study.status().counted == 1
        assert isinstance(study.ask(voters[1]), Question)

    def test_what_comes_after_closing_counts_when_it_is_opened_again(
        self, study: Study, voters: list[str]
    ) -> None:
        vote(study, voters[0])
        asked = [question_for(study, voter) for voter in voters[:2]]
        study.close()
        closed = study.status()
        for question in asked:
            study.tell(question.voter, question.number, question.candidates[0])
        assert study.ask(voters[0]) == Nothing("closed")
        status = study.status()
        assert (status.phase, status.answers, status.counted) == ("closed", 3, 1)
        assert status.result == closed.result
        assert status.verdict is not None
        assert status.verdict["status"] == "budget_spent"
        check_log(study)
        with pytest.raises(ConflictError, match="closed"):
            study.pause()
        with pytest.raises(ConflictError, match="closed"):
            study.undo(voters[0])
        study.reopen()
        assert study.status().counted == 3
        assert study.status().verdict is None
        check_log(study)
        vote(study, voters[2])
        check_log(study)

    def test_a_status_that_is_read_while_a_study_is_renamed_does_not_keep_its_old_name(
        self, study: Study, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study.status()
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(study._states, "prepare", lambda _: (meanwhile.undo(), study.rename("Renamed")))
            study.status()
        assert study.status().name == "Renamed"

    def test_a_study_is_renamed_and_its_candidates_get_titles(self, study: Study, other_store: Store) -> None:
        link = study.new_link("organiser")[:16]
        study.rename(" Another  name ", by=link)
        study.edit(
            {"ann": {"title": "Ann", "text": "Line one\nLine two"}},
            {"chair": {"link": "https://example.org"}},
        )
        study.edit({"ann": {"text": None}})
        assert study.name == other_store.study(study.id).name == "Another name"
        details = other_store.study(study.id).problem.candidate_details["ann"]
        assert (details.title, details.text) == ("Ann", None)
        assert [entry.by for entry in study.entries() if entry.kind == "renamed"] == [link]
        with pytest.raises(dm.ProblemError, match="no candidate 'zoe'"):
            study.edit({"zoe": {"title": "x"}})
        with pytest.raises(dm.ProblemError, match="Details are"):
            study.edit({"ann": {"colour": "red"}})  # type: ignore[dict-item]
        with pytest.raises(StudyError, match="The title may have 200 characters at most"):
            study.edit({"ann": {"title": "x" * 201}})
        with pytest.raises(dm.ProblemError, match="Voters would read 'bob' for two candidates"):
            study.edit({"ann": {"title": "bob"}}, name="A third name")
        with pytest.raises(StudyError, match="The name of a study"):
            study.edit({"ann": {"title": "Anna"}}, name="\u200b")
        assert (study.name, study.problem.candidate_details["ann"].title) == ("Another name", "Ann")
        with pytest.raises(StudyError, match="at least one question"):
            other_store.create(study.problem, Settings("panel", questions_each=0), "x", ["Eve"])
        check_log(study)


class TestVotersAndLinks:
    def test_voters_have_random_ids_and_may_be_named(self, new_study: NewStudy) -> None:
        study = new_study()
        ids = [study.add_voter(), study.add_voter("Ann"), study.voter_named("Bob")]
        assert len({*ids}) == 3
        assert all(len(voter) == 16 and int(voter, 16) >= 0 for voter in ids)
        assert study.voter_named("Ann") == ids[1]
        with pytest.raises(ConflictError, match="called 'Ann' already"):
            study.add_voter("Ann")
        vote(study, ids[1])
        assert [(v.id, v.name, v.answers) for v in study.voters()] == [
            (ids[0], None, 0),
            (ids[1], "Ann", 1),
            (ids[2], "Bob", 0),
        ]

    def test_names_are_beside_the_log_and_can_be_deleted(self, study: Study, voters: list[str]) -> None:
        before = study.entries()
        study.rename_voter(voters[0], "Rumpelstiltskin")
        assert study.voters()[0].name == "Rumpelstiltskin"
        with pytest.raises(ConflictError, match="already"):
            study.rename_voter(voters[1], "Rumpelstiltskin")
        study.forget_voter_name(voters[0])
        assert study.voters()[0].name is None
        assert study.entries() == before
        assert study.check() == len(before)

    @pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\0b", "a\nb", "\ud800", 7])
    def test_odd_names_are_refused(self, rounds: Study, name: Any) -> None:
        with pytest.raises(StudyError):
            rounds.add_voter(name)

    def test_a_link_opens_its_study_and_no_other(self, rounds: Study, store: Store) -> None:
        voter = rounds.add_voter()
        tokens = {rounds.new_link("organiser"): ("organiser", None), rounds.new_link("open"): ("open", None)}
        tokens[rounds.new_link("voter", voter)] = ("voter", voter)
        joined, token = rounds.join()
        tokens[token] = ("voter", joined)
        for token, (role, who) in tokens.items():
            access = store.access(token)
            assert access is not None
            assert (access.study, access.role, access.voter) == (rounds.id, role, who)
        assert len({token[16:] for token in tokens}) == 4
        assert all(len(token) == 59 for token in tokens), "96 bits to find it by, 256 that are secret"

    def test_the_log_names_the_acting_link(self, study: Study, voters: list[str]) -> None:
        link = study.new_link("organiser")[:16]
        study.strike(voters[0], by=link)
        token = study.new_link("voter", voters[1])
        asked = done_as(study, token, lambda feed, access: feed.ask(access.voter or ""))
        assert isinstance(asked, Question)
        assert [e.by for e in study.entries() if e.kind == "struck"] == [link]
        assert [e.by for e in study.entries() if e.kind == "asked"] == [token[:16]]
        with pytest.raises(NotThereError, match="no link"):
            study.strike(voters[2], by='"')
        with pytest.raises(NotAllowedError, match="does not open"):
            done_as(study, "A" * 59, lambda feed, access: None)
        study.check()

    def test_a_revoked_link_opens_nothing(self, rounds: Study, store: Store, new_study: NewStudy) -> None:
        token = rounds.new_link("organiser")
        access = store.access(token)
        assert access is not None
        with pytest.raises(NotThereError, match="no link"):
            new_study().revoke(access.link)
        with pytest.raises(ConflictError, match="last link"):
            rounds.revoke(access.link, keep_one=True)
        assert rounds.works(access.link)
        rounds.revoke(access.link)
        assert not rounds.works(access.link)
        assert store.access(token) is None
        assert [link.revoked for link in rounds.links()] == [True]

    def test_what_is_not_a_link_opens_nothing(self, rounds: Study, store: Store) -> None:
        token = rounds.new_link("organiser")
        wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
        for attempt in ("", "x", wrong, token[:16], "A" * 59, token + "A", "é" * 59, token.swapcase(), None):
            assert store.access(attempt) is None  # type: ignore[arg-type]

    def test_the_secret_is_not_stored(self, rounds: Study, store: Store) -> None:
        token = rounds.new_link("organiser")
        with store.database.reading() as connection:
            rows = connection.execute(sa.text("SELECT * FROM links")).all()
        assert rows
        assert token[16:] not in repr(rows)
        assert token[16:].encode() not in b"".join(bytes(row.hash) for row in rows)

    def test_a_link_is_of_a_known_kind(self, rounds: Study) -> None:
        for role, voter in (("voter", None), ("organiser", "f" * 16), ("king", None)):
            with pytest.raises(StudyError, match="A link is for"):
                rounds.new_link(role, voter)  # type: ignore[arg-type]


class TestTheLog:
    def test_the_database_refuses_to_change_it(self, rounds: Study, store: Store) -> None:
        for change in ("UPDATE entries SET kind = 'answered'", "DELETE FROM entries"):
            with pytest.raises(StoreError, match="never changed"), store.database.writing() as connection:
                connection.execute(sa.text(change))
        assert [entry.kind for entry in rounds.entries()] == ["created"]

    def test_it_can_be_read_in_parts(self, study: Study, voters: list[str]) -> None:
        for voter in voters:
            vote(study, voter)
        whole = study.entries()
        assert study.entries(after=3, limit=2) == whole[3:5]
        assert whole[0].data["settings"]["algorithm"] == study.settings.algorithm
        assert whole[0].data["format"] == 2

    def test_another_process_sees_the_same(
        self, study: Study, voters: list[str], other_store: Store, url: str
    ) -> None:
        other = other_store.study(study.id)
        for turn in range(20):
            here = (study, other)[turn % 2]
            question = here.ask(voters[turn % 3])
            if isinstance(question, Question):
                here.tell(question.voter, question.number, min(question.candidates))
            assert study.status() == other.status()
        check_every_question(study.entries())
        check_log(study)
        check_log(other)
        check_fresh(study, url)

    def test_studies_are_listed(self, store: Store, rounds: Study) -> None:
        assert rounds.id in [listed.id for listed in store.studies()]
        assert len(rounds.id) == 16
        for odd in ("nonsense", "", "\0", "a" * 99, "0" * 16, None):
            with pytest.raises(NotThereError, match="no study"):
                store.study(odd)  # type: ignore[arg-type]
        for odd in ("", "\0", "é" * 16, "A" * 16, None):
            with pytest.raises(NotThereError, match="no link"):
                rounds.revoke(odd)  # type: ignore[arg-type]

    def test_answers_are_listed_the_latest_first(self, study: Study, voters: list[str]) -> None:
        ann, bob = voters[:2]
        asked = [vote(study, voter) for voter in (ann, bob, ann, bob, ann)]
        study.undo(ann)
        study.correct(asked[0].number, None)
        turned = max(asked[1].candidates)
        study.correct(asked[1].number, turned)
        answers = study.answers()
        assert [each.question for each in answers] == [question.number for question in reversed(asked[:4])]
        assert [each.voter for each in study.answers(voter=bob)] == [bob, bob]
        assert study.answers(before=answers[1].entry, limit=1) == answers[2:3]
        assert study.answers(before=answers[1].entry, voter=bob) == [answers[2]]
        assert [(each.struck, each.counts) for each in answers] == [(False, True)] * 3 + [(True, False)]
        assert answers[2].answer[0] == (turned,)
        assert answers[0].at >= answers[3].at > 0
        study.strike(bob)
        assert [each.counts for each in study.answers()] == [False, True, False, False]

    def test_it_replays_to_the_same(self, study: Study, voters: list[str]) -> None:
        for voter in voters * 2:
            vote(study, voter)
        assert replayed(study.entries()).counted == 10
        check_log(study)


class TestSettings:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"lease": 0},
            {"lease": float("nan")},
            {"ahead": -1},
            {"max_answers": -1},
            {"questions_each": True},
            {"ties": 1},
            {"skips": None},
        ],
    )
    def test_odd_settings_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(StudyError):
            Settings("car-cond", **wrong)

    def test_the_algorithm_must_be_known(self, store: Store) -> None:
        before = len(store.studies())
        for settings in (
            {"algorithm": "magic"},
            {"algorithm": "car-cond", "parameters": {"power": 9}},
            {"algorithm": "car-cond", "parameters": {"max_duels": 9}},
            {"algorithm": "car-cond", "delta": 2},
            {"algorithm": "condorcet", "delta": 2},
            {"algorithm": "condorcet", "parameters": {"ballot_size": 0}},
            {"algorithm": "condorcet", "parameters": {"batch": 5}},
            {"algorithm": "panel", "parameters": {"criterion": "cake"}},
        ):
            with pytest.raises(dm.ProblemError):
                store.create(dm.Problem.complete(["a", "b"], ["p"]), Settings.from_dict(settings), "x", ["V"])
        assert len(store.studies()) == before

    def test_all_parameters_are_written_down(self, store: Store) -> None:
        problem = dm.Problem.complete(["a", "b"], ["p"])
        study = store.create(problem, Settings("condorcet", parameters={"ballot_size": 3}), "x")
        written = study.entries()[0].data["settings"]["parameters"]
        assert written["ballot_size"] == 3
        assert set(written) >= {"assume_winner", "silence", "heirs", "counting", "question_size"}

    def test_earlier_logs_are_read_where_the_size_of_a_ballot_was_called_size(self, store: Store) -> None:
        problem = dm.Problem.complete(["a", "b"], ["p"])
        study = store.create(problem, Settings("borda", parameters={"ballot_size": 3}), "x")
        created = study.entries()[0]
        settings = created.data["settings"]
        parameters = {
            "size" if name == "ballot_size" else name: v for name, v in settings["parameters"].items()
        }
        earlier = {**created.data, "settings": settings | {"parameters": parameters}}
        assert State(created._replace(data=earlier)).settings == study.settings

    def test_when_a_panel_is_done_is_a_setting(self, store: Store) -> None:
        problem = dm.Problem.complete(["a", "b"], ["p"])
        for until, done in (("unbeaten", True), ("decided", False)):
            study = store.create(problem, Settings(parameters={"until": until}), "x", ["V", "W"])
            first, second = (voter.id for voter in study.voters())
            study.tell(first, question_for(study, first).number, "a")
            assert (study.status().result.status, study.status().done) == ("unbeaten", done)
            if not done:
                study.tell(second, question_for(study, second).number, "b")
                assert (study.status().result.status, study.status().done) == ("unbeaten", True)
        with pytest.raises(dm.ProblemError, match="until must be unbeaten or decided, not 'ever'"):
            Settings("panel", parameters={"until": "ever"})

    def test_a_problem_that_nobody_can_work_through_is_refused(self, store: Store) -> None:
        problem = dm.Problem.complete([f"c{number}" for number in range(700)], ["chair"])
        with pytest.raises(StudyError, match="244,650 different duels"):
            store.create(problem, Settings("car-cond"), "x")


class TestDatabases:
    @pytest.mark.parametrize(
        ("address", "sentence"),
        [
            ("nonsense", "not the address"),
            ("mysql://x/y", "sqlite or postgresql"),
            ("sqlite://", "outlives"),
            ("sqlite:////nowhere/at/all.db", "cannot be used"),
            ("postgresql://localhost:1/none", "cannot be used"),
        ],
    )
    def test_odd_addresses_are_refused_in_a_sentence(self, address: str, sentence: str) -> None:
        with pytest.raises(StoreError, match=sentence):
            Store(address)

    def test_a_password_is_not_shown(self) -> None:
        with pytest.raises(StoreError) as refusal:
            Store("postgresql://me:hunter2@localhost:1/none")
        assert "hunter2" not in str(refusal.value)

    def test_the_tables_are_those_of_the_schema(self, store: Store) -> None:
        from alembic.autogenerate import compare_metadata
        from alembic.runtime.migration import MigrationContext

        from duelmatch.studies.schema import metadata

        with store.database.reading() as connection:
            assert compare_metadata(MigrationContext.configure(connection), metadata) == []

    def test_a_database_of_somebody_else_is_left_alone(self, new_url: Callable[[], str]) -> None:
        from duelmatch.studies.database import Database

        address = new_url()
        database = Database(address)
        with database.writing() as connection:
            connection.execute(sa.text("CREATE TABLE cakes (name TEXT)"))
        with pytest.raises(StoreError, match="has a table 'cakes'"):
            Store(address)
        database.close()

    def test_a_newer_database_is_refused(self, new_url: Callable[[], str]) -> None:
        address = new_url()
        with Store(address) as store, store.database.writing() as connection:
            connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
        with pytest.raises(StoreError, match="newer version"):
            Store(address)
