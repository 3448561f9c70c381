"""What a study promises, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

import duelmatch as dm
from duelmatch.errors import ConflictError, NotAllowedError, NotThereError, StoreError, StudyError
from duelmatch.studies import Nothing, Question, Settings, Store, Study
from duelmatch.studies.board import Board
from duelmatch.studies.schema import questions
from studies.playing import check_every_question, check_log, question_for, replayed, vote

NewStudy = Callable[..., Study]


def expire(study: Study, question: int) -> None:
    """Let the lease of a question be over by now."""
    with study.store.database.writing() as connection:
        connection.execute(
            sa.update(questions)
            .where(questions.c.study == study.id, questions.c.number == question)
            .values(expires_at=1.0)
        )


class TestAsking:
    def test_a_question_is_about_two_candidates_of_a_position(self, study: Study) -> None:
        question = question_for(study, study.add_voter())
        assert question.number == 1
        for candidate in (question.left, question.right):
            assert (candidate, question.position) in study.problem.edges

    def test_asking_again_gives_the_same_question(self, study: Study, other_store: Store) -> None:
        voter = study.add_voter()
        question = study.ask(voter)
        assert study.ask(voter) == question
        assert other_store.study(study.id).ask(voter) == question
        assert len(study.log()) == 3

    def test_voters_have_questions_of_their_own(self, study: Study) -> None:
        asked = [question_for(study, study.add_voter()) for _ in range(8)]
        assert sorted(question.number for question in asked) == list(range(1, 9))
        different = {(q.position, frozenset((q.left, q.right))) for q in asked[:6]}
        assert len(different) == 6, "the six pairs take turns"

    def test_both_sides_come_up_on_the_left(self, new_study: NewStudy) -> None:
        study = new_study(dm.Problem.complete(["ann", "bob"], ["chair"]))
        voter = study.add_voter()
        left = [vote(study, voter).left for _ in range(30)]
        assert 5 < left.count("ann") < 25

    def test_a_voter_is_asked_something_new_while_there_is(self, new_study: NewStudy) -> None:
        study = new_study(ahead=100)
        other, voter = study.add_voter(), study.add_voter()
        question_for(study, other)
        seen = [vote(study, voter) for _ in range(6)]
        assert len({(q.position, frozenset((q.left, q.right))) for q in seen}) == 6

    def test_nobody_is_asked_twice_where_that_is_wanted(self, new_study: NewStudy) -> None:
        study = new_study(once=True)
        voter = study.add_voter()
        seen = [vote(study, voter) for _ in range(6)]
        assert len({(q.position, frozenset((q.left, q.right))) for q in seen}) == 6
        assert study.ask(voter) == Nothing("all yours")
        assert isinstance(study.ask(study.add_voter()), Question)

    def test_whoever_was_not_asked_everything_may_come_back(self, new_study: NewStudy) -> None:
        """condorcet wants some questions now and others later."""
        problem = dm.Problem.complete([f"c{n}" for n in range(5)], ["chair", "editor", "cook"])
        study = new_study(problem, algorithm="condorcet", once=True, ahead=0, seed=1)
        voters = [study.add_voter() for _ in range(40)]
        told: dict[int, int] = {}
        for turn in range(600):
            voter = voters[turn % 40]
            question = study.ask(voter)
            if isinstance(question, Question):
                assert voter not in told, "who was told that this is all is not asked again"
                study.tell(voter, question.number, min(question.left, question.right))
            elif question.reason == "all yours":
                told[voter] = study.answers_by(voter)
            elif question.reason == "done":
                break
        assert set(told.values()) <= {30}

    def test_what_is_skipped_is_not_asked_again(self, new_study: NewStudy) -> None:
        study = new_study(ahead=0)
        voter, other = study.add_voter(), study.add_voter()
        first = question_for(study, voter)
        study.skip(voter, first.number, "I should not judge one of them.")
        seen = [vote(study, voter) for _ in range(5)]
        assert (first.position, {first.left, first.right}) not in [
            (q.position, {q.left, q.right}) for q in seen
        ]
        assert study.ask(voter) == Nothing("waiting")
        again = question_for(study, other)
        assert (again.position, {again.left, again.right}) == (first.position, {first.left, first.right})
        check_every_question(study.log())
        check_log(study)

    def test_an_undo_that_names_its_question_is_done_once(self, study: Study) -> None:
        voter = study.add_voter()
        first, second = vote(study, voter), vote(study, voter)
        with pytest.raises(ConflictError, match="not the one that you answered last"):
            study.undo(voter, first.number)
        opened = study.undo(voter, second.number)
        assert study.undo(voter, second.number) == opened
        assert study.answers_by(voter) == 1
        with pytest.raises(NotAllowedError):
            study.undo(study.add_voter(), second.number)

    def test_the_seed_is_drawn(self, store: Store, really_drawn_seeds: None) -> None:
        problem = dm.Problem.complete(["ann", "bob"], ["chair"])
        seeds = {store.create(problem, Settings("condorcet"), "x").settings.seed for _ in range(3)}
        assert len(seeds) == 3  # the same ones come up once in a billion times
        assert None not in seeds
        assert store.create(problem, Settings("condorcet", seed=5), "x").settings.seed == 5

    @pytest.mark.usefixtures("thoughtless")
    def test_a_status_is_of_one_moment(self, new_study: NewStudy, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever comes while it is worked out is in the next one."""
        study = new_study(dm.Problem.complete(["ann", "bob"], ["chair"]), algorithm="condorcet", delta=0.3)
        asked = [question_for(study, study.add_voter()) for _ in range(15)]
        real = Board.think

        def think(board: Board) -> None:
            real(board)
            for _ in range(len(asked)):
                question = asked.pop()
                study.tell(question.voter, question.number, "bob")
            study.store.board_now(study.id)

        monkeypatch.setattr(Board, "think", think)
        status = study.status()
        monkeypatch.undo()
        replayed_to = replayed(study.log()[: status.entries])
        assert not asked
        assert status.done == replayed_to.done
        assert status.counted == replayed_to.counted

    def test_nobody_waits_for_somebody_who_went_away(self, new_study: NewStudy) -> None:
        study = new_study(ahead=1)
        gone = question_for(study, study.add_voter())
        voter = study.add_voter()
        for _ in range(5):
            vote(study, voter)
        instead = question_for(study, voter)
        assert (instead.position, {instead.left, instead.right}) == (gone.position, {gone.left, gone.right})
        assert study.ask(study.add_voter()) == Nothing("waiting"), "one is asked ahead, no more"
        study.tell(voter, instead.number, instead.left)
        assert study.status().result.duels == 6
        study.tell(gone.voter, gone.number, gone.left)
        assert study.status().unused == 1
        check_every_question(study.log())
        check_log(study)

    def test_nobody_is_asked_ahead_where_that_is_not_wanted(self, new_study: NewStudy) -> None:
        study = new_study(ahead=0)
        question_for(study, study.add_voter())
        voter = study.add_voter()
        for _ in range(5):
            vote(study, voter)
        assert study.ask(voter) == Nothing("waiting")

    def test_a_budget_is_kept(self, new_study: NewStudy) -> None:
        study = new_study(max_votes=3)
        voter, other = study.add_voter(), study.add_voter()
        vote(study, voter)
        vote(study, voter)
        question = question_for(study, voter)
        assert study.ask(other) == Nothing("budget")
        study.release(voter, question.number)
        assert isinstance(study.ask(other), Question)

    def test_it_ends_when_the_explorer_is_sure(self, new_study: NewStudy) -> None:
        study = new_study(dm.Problem.complete(["ann", "bob"], ["chair"]), delta=0.2)
        voter = study.add_voter()
        while isinstance(question := study.ask(voter), Question):
            study.tell(voter, question.number, "bob")
        assert question == Nothing("done")
        status = study.status()
        assert status.done
        assert status.result.status == "certified"
        assert status.result.matching == {"chair": "bob"}
        check_log(study)

    @pytest.mark.parametrize("number", [0, 7, -1, 2**31, 2**70, "1", True, None, 1.0])
    def test_strangers_are_refused(self, study: Study, number: Any) -> None:
        for call in (study.ask, study.undo, study.invalidate, study.reinstate):
            with pytest.raises(NotThereError, match="no voter"):
                call(number)
        voter = study.add_voter()
        for act in (study.skip, study.release, lambda v, n: study.tell(v, n, "ann")):
            with pytest.raises(NotThereError, match="no question"):
                act(voter, number)
        with pytest.raises(NotThereError, match="no question"):
            study.correct(number, None)


class TestLeases:
    def test_a_question_that_nobody_answers_goes_to_somebody_else(self, new_study: NewStudy) -> None:
        study = new_study(dm.Problem.complete(["ann", "bob"], ["chair"]), ahead=0)
        gone, other = study.add_voter(), study.add_voter()
        rounds = study.status().missing
        for _ in range(rounds - 1):
            vote(study, other)
        question = question_for(study, gone)
        assert study.ask(other) == Nothing("waiting")
        expire(study, question.number)
        again = question_for(study, other)
        assert {again.left, again.right} == {question.left, question.right}
        assert again.number != question.number
        released = [entry for entry in study.log() if entry.kind == "released"]
        assert [(e.question, e.note) for e in released] == [(question.number, {"reason": "expired"})]

    def test_whoever_comes_back_in_time_finds_the_same_question(self, study: Study) -> None:
        voter = study.add_voter()
        question = question_for(study, voter)
        expire(study, question.number)
        again = question_for(study, voter)
        assert again.number == question.number
        assert again.expires_at > question.expires_at - 1

    def test_a_late_answer_counts(self, study: Study) -> None:
        late, other = study.add_voter(), study.add_voter()
        question = question_for(study, late)
        expire(study, question.number)
        question_for(study, other)
        receipt = study.tell(late, question.number, question.left)
        assert not receipt.repeated
        assert study.status().counted == 1
        assert study.log()[-1].note == {"late": True}
        check_log(study)

    def test_the_clock_is_the_databases(self, study: Study) -> None:
        question = question_for(study, study.add_voter())
        asked = study.log()[-1]
        assert question.expires_at == pytest.approx(asked.at + study.settings.lease, abs=1e-3)


class TestTelling:
    def test_an_answer_is_kept_once(self, study: Study, other_store: Store) -> None:
        voter = study.add_voter()
        question = question_for(study, voter)
        first = study.tell(voter, question.number, question.left)
        assert (first.winner, first.loser, first.tie) == (question.left, question.right, False)
        again = other_store.study(study.id).tell(voter, question.number, question.right)
        assert again.repeated
        assert again.winner == question.left
        assert [entry.kind for entry in study.log()].count("answered") == 1

    def test_a_tie_is_decided_by_a_coin_once_and_for_all(self, new_study: NewStudy) -> None:
        study = new_study(dm.Problem.complete(["ann", "bob"], ["chair"]))
        voter = study.add_voter()
        winners = []
        for _ in range(60):
            question = question_for(study, voter)
            receipt = study.tell(voter, question.number, None)
            assert receipt.tie
            assert study.tell(voter, question.number, None).winner == receipt.winner
            winners.append(receipt.winner)
        assert 5 < winners.count("ann") < 55, "happens by chance once in 10^11 runs"
        check_log(study)

    def test_a_tie_is_refused_where_there_is_none(self, new_study: NewStudy) -> None:
        study = new_study(ties=False)
        voter = study.add_voter()
        question = question_for(study, voter)
        with pytest.raises(NotAllowedError, match="no ties"):
            study.tell(voter, question.number, None)

    def test_a_winner_must_be_one_of_the_two(self, study: Study) -> None:
        voter = study.add_voter()
        question = question_for(study, voter)
        with pytest.raises(StudyError, match="not 'zoe'"):
            study.tell(voter, question.number, "zoe")
        assert study.status().counted == 0

    def test_nobody_answers_for_somebody_else(self, study: Study) -> None:
        question = question_for(study, study.add_voter())
        with pytest.raises(NotAllowedError, match="somebody else"):
            study.tell(study.add_voter(), question.number, question.left)

    def test_a_question_of_another_study_is_not_there(self, study: Study, new_study: NewStudy) -> None:
        other = new_study()
        voter = study.add_voter()
        question = question_for(study, voter)
        assert other.add_voter() == voter
        with pytest.raises(NotThereError, match="no question"):
            other.tell(voter, question.number, question.left)


class TestSecondThoughts:
    def test_skipping_brings_another_question(self, study: Study) -> None:
        voter = study.add_voter()
        question = question_for(study, voter)
        study.skip(voter, question.number, "I know neither")
        study.skip(voter, question.number)
        other = question_for(study, voter)
        assert (other.position, {other.left, other.right}) != (
            question.position,
            {question.left, question.right},
        )
        assert study.log()[3].note == {"reason": "I know neither"}
        with pytest.raises(ConflictError, match="skipped already"):
            study.tell(voter, question.number, question.left)

    def test_skipping_is_refused_where_it_is_not_wanted(self, new_study: NewStudy) -> None:
        study = new_study(skips=False)
        voter = study.add_voter()
        question = question_for(study, voter)
        with pytest.raises(NotAllowedError, match="no skipping"):
            study.skip(voter, question.number)

    def test_undo_asks_the_same_question_again(self, study: Study) -> None:
        voter = study.add_voter()
        question = vote(study, voter)
        following = question_for(study, voter)
        again = study.undo(voter)
        assert (again.number, again.left, again.right) == (question.number, question.left, question.right)
        assert study.status().counted == 0
        assert question_for(study, voter).number == question.number
        study.tell(voter, question.number, question.right)
        assert study.status().counted == 1
        assert following.number not in study.board().leases
        check_log(study)

    def test_undo_goes_back_one_answer_at_a_time(self, study: Study) -> None:
        voter = study.add_voter()
        asked = [vote(study, voter).number for _ in range(3)]
        assert [study.undo(voter).number for _ in range(3)] == asked[::-1]
        with pytest.raises(ConflictError, match="no answer"):
            study.undo(voter)
        check_log(study)

    def test_undo_of_an_answer_that_was_used_begins_anew(self, study: Study) -> None:
        voter = study.add_voter()
        for _ in range(6):
            vote(study, voter)
        assert study.status().result.duels == 6
        study.undo(voter)
        assert study.status().result.duels == 0
        assert study.status().unused == 5
        check_log(study)

    def test_an_answer_is_corrected(self, study: Study) -> None:
        voter = study.add_voter()
        question = question_for(study, voter)
        study.tell(voter, question.number, question.left)
        study.correct(question.number, question.right)
        receipt = study.answer_of(question.number)
        assert receipt is not None
        assert receipt.winner == question.right
        assert study.status().counted == 1
        study.correct(question.number, None)
        assert study.status().counted == 0
        study.correct(question.number, question.left)
        assert study.status().counted == 1
        check_log(study)
        with pytest.raises(ConflictError, match="no answer to correct"):
            study.correct(question_for(study, voter).number, None)

    def test_the_answers_of_a_voter_are_invalidated_and_reinstated(self, study: Study) -> None:
        honest, bot = study.add_voter(), study.add_voter()
        for _ in range(9):
            vote(study, honest)
            vote(study, bot)
        question_for(study, bot)
        study.invalidate(bot)
        study.invalidate(bot)
        assert study.status().counted == 9
        assert study.status().open_questions == 0
        with pytest.raises(NotAllowedError, match="taken this voter out"):
            study.ask(bot)
        check_log(study)
        study.reinstate(bot)
        assert study.status().counted == 18
        assert isinstance(study.ask(bot), Question)
        check_log(study)

    def test_a_candidate_withdraws(self, study: Study) -> None:
        voters = [study.add_voter() for _ in range(3)]
        for _ in range(10):
            for voter in voters:
                vote(study, voter)
        asked = [question_for(study, voter) for voter in voters]
        study.drop("cyd")
        study.drop("cyd")
        status = study.status()
        assert status.dropped == ("cyd",)
        assert set(status.progress.undecided) <= {
            ("ann", "chair"),
            ("bob", "chair"),
            ("bob", "editor"),
            ("dan", "editor"),
        }
        for question in asked:
            if "cyd" in (question.left, question.right):
                study.tell(question.voter, question.number, question.left)  # late, and kept
        for voter in voters * 5:
            question = vote(study, voter)
            assert "cyd" not in (question.left, question.right)
        check_log(study)

    def test_nobody_withdraws_who_is_needed(self, new_study: NewStudy) -> None:
        study = new_study(dm.Problem.complete(["ann", "bob"], ["chair", "editor"]))
        with pytest.raises(dm.NoMatchingError):
            study.drop("ann")
        with pytest.raises(dm.ProblemError, match="no candidate 'zoe'"):
            study.drop("zoe")
        assert len(study.log()) == 1

    def test_a_taken_back_answer_about_somebody_who_withdrew_stays_so(self, new_study: NewStudy) -> None:
        study = new_study(dm.Problem.complete(["ann", "bob", "cyd"], ["chair"]))
        voter = study.add_voter()
        question = vote(study, voter)
        study.drop(question.left)
        with pytest.raises(ConflictError, match="withdrew"):
            study.undo(voter)


class TestPhases:
    def test_a_paused_study_takes_answers_and_asks_nothing(self, study: Study) -> None:
        voter, other = study.add_voter(), study.add_voter()
        question = question_for(study, voter)
        study.pause()
        study.pause()
        assert study.ask(other) == Nothing("paused")
        study.tell(voter, question.number, question.left)
        study.resume()
        assert study.status().counted == 1
        assert isinstance(study.ask(other), Question)

    def test_what_comes_after_closing_counts_when_it_is_opened_again(self, study: Study) -> None:
        voter = study.add_voter()
        vote(study, voter)
        question = question_for(study, voter)
        study.close()
        study.tell(voter, question.number, question.left)
        assert study.ask(voter) == Nothing("closed")
        assert study.status().state == "closed"
        assert study.status().counted == 1
        check_log(study)
        with pytest.raises(ConflictError, match="closed"):
            study.pause()
        with pytest.raises(ConflictError, match="closed"):
            study.undo(voter)
        study.reopen()
        assert study.status().counted == 2
        check_log(study)


class TestVotersAndLinks:
    def test_voters_are_numbered_and_may_be_named(self, study: Study) -> None:
        assert [study.add_voter(), study.add_voter("Ann"), study.voter_named("Bob")] == [1, 2, 3]
        assert study.voter_named("Ann") == 2
        with pytest.raises(ConflictError, match="called 'Ann' already"):
            study.add_voter("Ann")
        vote(study, 2)
        assert [(v.number, v.name, v.answers) for v in study.voters()] == [
            (1, None, 0),
            (2, "Ann", 1),
            (3, "Bob", 0),
        ]

    @pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\0b", "a\nb", "\ud800", 7])
    def test_odd_names_are_refused(self, study: Study, name: Any) -> None:
        with pytest.raises(StudyError):
            study.add_voter(name)

    def test_a_link_opens_its_study_and_no_other(self, study: Study, store: Store) -> None:
        voter = study.add_voter()
        tokens = {study.new_key("organiser"): ("organiser", None), study.new_key("open"): ("open", None)}
        tokens[study.new_key("voter", voter)] = ("voter", voter)
        for token, (role, number) in tokens.items():
            access = store.access(token)
            assert access is not None
            assert (access.study, access.role, access.voter) == (study.id, role, number)
        assert len({token[16:] for token in tokens}) == 3
        assert all(len(token) == 59 for token in tokens), "96 bits to find it by, 256 that are secret"

    def test_a_revoked_link_opens_nothing(self, study: Study, store: Store, new_study: NewStudy) -> None:
        token = study.new_key("organiser")
        access = store.access(token)
        assert access is not None
        with pytest.raises(NotThereError, match="no link"):
            new_study().revoke(access.key)
        study.revoke(access.key)
        assert store.access(token) is None
        assert [key.revoked for key in study.keys()] == [True]

    def test_what_is_not_a_link_opens_nothing(self, study: Study, store: Store) -> None:
        token = study.new_key("organiser")
        wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
        for attempt in ("", "x", wrong, token[:16], "A" * 59, token + "A", "é" * 59, token.swapcase(), None):
            assert store.access(attempt) is None  # type: ignore[arg-type]

    def test_the_secret_is_not_stored(self, study: Study, store: Store) -> None:
        token = study.new_key("organiser")
        with store.database.reading() as connection:
            rows = connection.execute(sa.text("SELECT * FROM secrets")).all()
        assert rows
        assert token[16:] not in repr(rows)
        assert token[16:].encode() not in b"".join(bytes(row.hash) for row in rows)

    def test_a_link_is_of_a_known_kind(self, study: Study) -> None:
        for role, voter in (("voter", None), ("organiser", 1), ("king", None)):
            with pytest.raises(StudyError, match="A link is for"):
                study.new_key(role, voter)  # type: ignore[arg-type]


class TestTheLog:
    def test_the_database_refuses_to_change_it(self, study: Study, store: Store) -> None:
        for change in ("UPDATE entries SET kind = 'answered'", "DELETE FROM entries"):
            with pytest.raises(StoreError, match="never changed"), store.database.writing() as connection:
                connection.execute(sa.text(change))
        assert [entry.kind for entry in study.log()] == ["created"]

    def test_it_can_be_read_in_parts(self, study: Study) -> None:
        voter = study.add_voter()
        for _ in range(4):
            vote(study, voter)
        whole = study.log()
        assert study.log(after=3, limit=2) == whole[3:5]
        assert whole[0].note is not None
        assert whole[0].note["settings"]["algorithm"] == "car-cond"

    def test_another_process_sees_the_same(self, study: Study, other_store: Store) -> None:
        other = other_store.study(study.id)
        voters = [study.add_voter() for _ in range(3)]
        for turn in range(20):
            vote((study, other)[turn % 2], voters[turn % 3])
            assert study.status() == other.status()
        check_every_question(study.log())
        check_log(study)
        check_log(other)

    def test_studies_are_listed(self, store: Store, study: Study) -> None:
        assert study.id in [listed.id for listed in store.studies()]
        assert len(study.id) == 16
        for odd in ("nonsense", "", "\0", "a" * 99, "0" * 16, None):
            with pytest.raises(NotThereError, match="no study"):
                store.study(odd)  # type: ignore[arg-type]
        for odd in ("", "\0", "é" * 16, "A" * 16, None):
            with pytest.raises(NotThereError, match="no link"):
                study.revoke(odd)  # type: ignore[arg-type]


class TestSettings:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"lease": 0},
            {"lease": float("nan")},
            {"ahead": -1},
            {"max_votes": -1},
            {"ties": 1},
            {"once": None},
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
        ):
            with pytest.raises(dm.ProblemError):
                store.create(dm.Problem.complete(["a", "b"], ["p"]), Settings.from_dict(settings), "x")
        assert len(store.studies()) == before

    def test_a_problem_that_nobody_can_work_through_is_refused(self, store: Store) -> None:
        problem = dm.Problem.complete([f"c{number}" for number in range(700)], ["chair"])
        with pytest.raises(StudyError, match="244,650 different duels"):
            store.create(problem, Settings("car-cond"), "x")

    @pytest.mark.parametrize("algorithm", dm.algorithms("crowd"))
    def test_every_algorithm_serves(self, new_study: NewStudy, algorithm: str) -> None:
        study = new_study(algorithm=algorithm, delta=0.3)
        voters = [study.add_voter() for _ in range(3)]
        for turn in range(60):
            if not isinstance(question := study.ask(voters[turn % 3]), Question):
                break
            study.tell(question.voter, question.number, min(question.left, question.right))
        assert study.status().result.duels > 0
        check_every_question(study.log())
        check_log(study)


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


def test_votes_are_listed_the_latest_first(study: Study) -> None:
    ann, bob = study.add_voter(), study.add_voter()
    asked = [vote(study, voter) for voter in (ann, bob, ann, bob, ann)]
    study.undo(ann)
    study.correct(asked[0].number, None)
    turned = max(asked[1].left, asked[1].right)
    study.correct(asked[1].number, turned)
    votes = study.votes()
    assert [each.question for each in votes] == [question.number for question in reversed(asked[:4])]
    assert [each.voter for each in study.votes(voter=bob)] == [bob, bob]
    assert study.votes(before=votes[1].entry, limit=1) == votes[2:3]
    assert [(each.struck, each.counts) for each in votes] == [(False, True)] * 3 + [(True, False)]
    assert votes[2].winner == turned
    assert votes[0].at >= votes[3].at > 0
    study.invalidate(bob)
    assert [each.counts for each in study.votes()] == [False, True, False, False]
