"""Nothing that was acknowledged is lost, and nothing is counted twice, whatever happens to the processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import duelmatch as dm
from duelmatch.errors import ConflictError, ProblemError, StoreError, StudyError, UnreachableError
from duelmatch.studies import Entry, Feed, Question, Settings, Store, Study, database
from duelmatch.studies.kinds.stacks import Stacks
from duelmatch.studies.links import insert_links
from duelmatch.studies.log import Transaction
from duelmatch.studies.state import State
from studies.playing import Stall, check_every_question, check_log, question_for, vote

NewStudy = Callable[..., Study]
PROBLEM = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor", "cook"])


def check_one_answer_at_a_time(log: list[Entry]) -> None:
    """Between two answers to a question, the first one was undone."""
    answered: set[int | None] = set()
    for entry in log:
        if entry.kind == "answered":
            assert entry.data["question"] not in answered
            answered.add(entry.data["question"])
        if entry.kind == "undone":
            answered.remove(entry.data["question"])


def check_each_was_tried(log: list[Entry], tried: list[list[str]]) -> None:
    """No answer is there oftener than its voter gave it, whether or not it was acknowledged."""
    said = Counter(line for lines in tried for line in lines)
    answered = [entry for entry in log if entry.kind == "answered"]
    winners = [
        group[0] if len(group) == 1 else None for entry in answered for group in entry.data["answer"][:1]
    ]
    kept = Counter(
        f"{entry.voter} {entry.data['question']} {winner}"
        for entry, winner in zip(answered, winners, strict=True)
    )
    assert kept <= said, kept - said


@pytest.mark.parametrize(
    ("algorithm", "processes", "kills"),
    [("car-cond", 1, 3), ("panel", 2, 3), ("condorcet", 4, 4)],
)
def test_what_was_acknowledged_is_in_the_log_once_after_many_kills(
    url: str, new_study: NewStudy, tmp_path: Path, algorithm: str, processes: int, kills: int
) -> None:
    size = range(40 if algorithm == "panel" else 8)
    study = new_study(PROBLEM, algorithm, [f"V{number}" for number in size], delta=1e-9, lease=1.0)
    script = Path(__file__).with_name("crashing.py")
    arguments = [url, study.id, kills, processes, tmp_path]
    subprocess.run([sys.executable, script, *map(str, arguments)], check=True, timeout=600)
    assert [path.read_text() for path in tmp_path.glob("*.error")] == []
    log = study.entries()
    owner = {entry.data["question"]: entry.voter for entry in log if entry.kind == "asked"}
    acknowledged = set()
    for file in tmp_path.glob("*.txt"):
        for line in file.read_text().splitlines():
            voter, question, number, digest = line.split()
            entry = log[int(number) - 1]
            assert (entry.kind, entry.data["question"], entry.hash) == ("answered", int(question), digest)
            assert owner[int(question)] == voter
            acknowledged.add(int(number))
    assert len(acknowledged) >= 25
    check_each_was_tried(log, [path.read_text().splitlines() for path in tmp_path.glob("*.tried")])
    check_one_answer_at_a_time(log)
    check_log(study)
    check_every_question(log)


def run_all(*works: Callable[[], object]) -> list[threading.Thread]:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    return threads


@pytest.mark.parametrize("algorithm", ["car-cond", "condorcet", "panel"])
def test_many_threads_vote_at_once(new_study: NewStudy, other_store: Store, algorithm: str) -> None:
    study = new_study(PROBLEM, algorithm, [str(number) for number in range(16)], delta=0.01)
    studies = [study, other_store.study(study.id)]
    errors: list[BaseException] = []
    told = []

    def votes(number: int, voter: str) -> None:
        try:
            for turn in range(8):
                here = studies[(number + turn) % 2]
                question = here.ask(voter)
                if isinstance(question, Question):
                    told.append(here.tell(voter, question.number, min(question.candidates)).entry)
        except BaseException as error:
            errors.append(error)

    voters = study.voters()
    for thread in run_all(*(lambda n=n, v=v.id: votes(n, v) for n, v in enumerate(voters))):  # type: ignore[misc]
        thread.join()
    assert errors == []
    assert study.status().counted == len(set(told)) == len(told) >= 60
    check_log(study)
    check_every_question(study.entries())


def test_a_double_click_is_one_vote_even_at_the_same_moment(new_study: NewStudy, other_store: Store) -> None:
    study = new_study(PROBLEM)
    studies = [study, other_store.study(study.id)]
    voter = study.add_voter()
    question = question_for(study, voter)
    receipts, refused = [], []
    start = threading.Barrier(8)

    def click(number: int) -> None:
        start.wait()
        winner = question.candidates[number % 2]
        try:
            receipts.append(studies[number % 2].tell(voter, question.number, winner))
        except ConflictError:
            refused.append(number)

    for thread in run_all(*(lambda n=n: click(n) for n in range(8))):  # type: ignore[misc]
        thread.join()
    assert (len(receipts), len(refused)) == (4, 4), "those who said the same"
    assert len({(receipt.winner, receipt.hash) for receipt in receipts}) == 1
    assert sum(not receipt.repeated for receipt in receipts) == 1
    assert study.status().counted == 1


@pytest.mark.parametrize("error", [ZeroDivisionError, StudyError])
def test_a_failing_writer_takes_nobody_with_it(study: Study, store: Store, error: type[Exception]) -> None:
    """Others in the same transaction are written without the one that failed half-way."""
    voter = study.add_voter()
    stall = Stall()

    def broken(feed: Feed) -> None:
        feed.enter([("f" * 16, 1, ())])
        raise error

    first = store.writer.submit(study.id, stall)
    stall.wait()
    asked = study.submit(lambda feed: feed.ask(voter))
    failed = study.submit(broken)
    added = study.submit(lambda feed: feed.enter([("a" * 16, 1, ())]))
    stall.end()
    first.result(60)
    assert isinstance(asked.result(60), Question)
    assert added.result(60) is None
    assert isinstance(failed.exception(60), error)
    assert [entry.voter for entry in study.entries() if entry.kind == "joined"] == [voter, "a" * 16]
    check_log(study)


@pytest.mark.parametrize("error", [ZeroDivisionError, StudyError])
def test_a_failing_writer_leaves_other_studies_in_memory(
    store: Store, new_study: NewStudy, error: type[Exception]
) -> None:
    """They need not be read anew, which takes seconds where there are many votes."""
    before, broken, behind = studies = [new_study() for _ in range(3)]
    voters = [study.add_voter() for study in studies]
    states = [store.states._remembered(study.id) for study in studies]
    stall = Stall()

    def work(feed: Feed) -> None:
        insert_links(feed.held.connection, broken.id, "organiser", [None], 0.0)
        feed.enter([("f" * 16, 1, ())])
        raise error

    firsts = [store.writer.submit(study.id, stall) for study in studies]
    stall.wait()
    asked = before.submit(lambda feed: feed.ask(voters[0]))
    added = broken.submit(lambda feed: feed.enter([("a" * 16, 1, ())]))
    failed = broken.submit(work)
    last = behind.submit(lambda feed: feed.ask(voters[2]))
    stall.end()
    for first in firsts:
        first.result(60)
    assert isinstance(asked.result(60), Question)
    assert isinstance(last.result(60), Question)
    assert added.result(60) is None
    assert isinstance(failed.exception(60), error)
    assert broken.links() == []
    assert [entry.voter for entry in broken.entries() if entry.kind == "joined"] == [voters[1], "a" * 16]
    kept = [state is store.states._remembered(study.id) for state, study in zip(states, studies, strict=True)]
    assert kept == [True, False, True]
    for study in studies:
        check_log(study)


def test_a_late_candidate_with_a_title_that_is_taken_is_refused_before_anything_is_written(
    store: Store, study: Study
) -> None:
    study.add_voter()
    state = store.states._remembered(study.id)
    with pytest.raises(ProblemError, match="Voters would read 'ann'"):
        study.add("late", ["chair"], {"title": "ann"})
    study.edit({"bob": {"title": "Zed"}})
    for about in ({}, {"text": "Has come late."}, {"title": "Z\u200bed"}):
        with pytest.raises(ProblemError, match="Voters would read 'Zed' for two candidates"):
            study.add("Zed" if "title" not in about else "late", ["chair"], about)
    assert store.states._remembered(study.id) is state
    assert study.problem.candidates == ("ann", "bob", "cyd", "dan")
    study.add("Zed", ["chair"], {"title": "Zed the younger"})


def test_who_does_not_wait_any_more_takes_nobody_with_them(
    study: Study, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    voter = study.add_voter()
    stall = Stall()

    first = store.writer.submit(study.id, stall)
    stall.wait()
    gone = study.submit(lambda feed: feed.enter([("a" * 16, 1, ())]))
    asked = study.submit(lambda feed: feed.ask(voter))
    assert gone.cancel()
    stall.end()
    first.result(60)
    assert isinstance(asked.result(60), Question)
    assert isinstance(study.ask(voter), Question), "the next transaction is done as well"
    assert "could be told" in caplog.text
    assert study.entries()[-1].kind == "asked"


def test_nobody_sees_what_may_not_come_true(study: Study, store: Store) -> None:
    """A status waits for the transaction that is changing the study, and then tells what came of it."""
    voter = study.add_voter()
    question = question_for(study, voter)
    stall = Stall()

    def tell_and_fail(feed: Feed) -> None:
        feed.tell(voter, question.number, question.candidates[0])
        stall()
        raise ZeroDivisionError

    failed = study.submit(tell_and_fail)
    stall.wait()
    seen: list[int] = []
    (looking,) = run_all(lambda: seen.append(study.status().answers))
    looking.join(0.2)
    assert seen == []
    stall.end()
    looking.join()
    assert seen == [0]
    assert isinstance(failed.exception(60), ZeroDivisionError)


def test_what_a_failed_commit_had_changed_is_forgotten(
    study: Study, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    voter = study.add_voter()
    question = question_for(study, voter)
    real = Transaction.finish

    def failing(transaction: Transaction) -> Any:
        real(transaction)
        raise UnreachableError("The disk is full.")

    monkeypatch.setattr(Transaction, "finish", failing)
    with pytest.raises(UnreachableError):
        study.tell(voter, question.number, question.candidates[0])
    monkeypatch.undo()
    assert study.status().answers == 0
    assert study.tell(voter, question.number, question.candidates[1]).winner == question.candidates[1]
    check_log(study)


def test_all_are_told_at_once_that_the_database_is_locked(
    study: Study, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits in the same transaction does not wait once more by itself."""
    attempts = []
    real = store.database.writing

    @contextmanager
    def locked() -> Iterator[object]:
        attempts.append(1)
        if len(attempts) == 1:
            stall()
            with real() as connection:
                yield connection
        else:
            raise UnreachableError("The database is locked.")

    stall = Stall()
    monkeypatch.setattr(store.database, "writing", locked)
    first = store.writer.submit(study.id, lambda writing: "written")
    stall.wait()
    others = [store.writer.submit(study.id, lambda writing: "never") for _ in range(5)]
    stall.end()
    assert first.result(60) == "written"
    for other in others:
        with pytest.raises(UnreachableError):
            other.result(60)
    assert len(attempts) == 2


def test_whoever_holds_a_study_is_not_waited_for_forever(
    new_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 1.0)
    monkeypatch.setattr(database, "LOCK_SECONDS", 1.0)
    monkeypatch.setattr(database, "IDLE_SECONDS", 60.0)
    url = new_url()
    with Store(url) as store, Store(url) as other:
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        voters = [study.add_voter() for _ in range(5)]
        hold = Stall()
        holding = other.study(study.id).submit(hold)
        hold.wait()
        waiting = [study.submit(lambda feed, v=voter: feed.ask(v)) for voter in voters]  # type: ignore[misc]
        for each in waiting:
            with pytest.raises(UnreachableError):
                each.result(60)
        hold.end()
        holding.result(60)
        assert isinstance(study.ask(voters[0]), Question)


def test_interrupted_work_leaves_the_others_to_go_on(study: Study, store: Store) -> None:
    def interrupted(feed: Feed) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.submit(interrupted).result()
    assert study.add_voter()


def test_what_is_open_is_recalled_before_somebody_asks(study: Study, other_store: Store) -> None:
    voter = study.add_voter()
    vote(study, voter)
    other_store.recall()
    assert other_store.known(study.id) is not None
    assert other_store.states.known(study.id)
    assert other_store.study(study.id).status() == study.status()


def slow_to_begin(monkeypatch: pytest.MonkeyPatch) -> Stall:
    """Let a run in rounds begin anew only when it may."""
    stall, original = Stall(), Stacks.__init__

    def begin(self: Stacks, *arguments: Any) -> None:
        stall()
        original(self, *arguments)

    monkeypatch.setattr(Stacks, "__init__", begin)
    return stall


def test_whoever_asks_while_a_withdrawn_candidate_is_taken_out_waits(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No question comes from the run that is being replaced."""
    voters = [study.add_voter() for _ in range(2)]
    vote(study, voters[0])
    study.drop("ann")
    building = slow_to_begin(monkeypatch)
    asked = study.submit(lambda feed: feed.ask(voters[1]))
    building.wait()
    study.add_voter()  # others go on meanwhile
    building.end()
    question = asked.result(60)
    assert isinstance(question, Question)
    assert "ann" not in question.candidates


def test_an_interrupted_computation_is_done_again(
    study: Study, other_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    voter = study.add_voter()
    for _ in range(6):
        vote(study, voter)
    with study._states.reading(study.id) as state:
        kind: Any = state.kind

    def interrupted(*answers: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kind._stacks, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kind.think()
    assert study.status() == other_store.study(study.id).status()
    check_log(study)


def test_readers_do_not_wait_for_writers_nor_writers_for_readers(study: Study, other_store: Store) -> None:
    """While one process writes, another reads; while that reads, the first goes on writing."""
    voter = study.add_voter()
    vote(study, voter)
    other = other_store.study(study.id)
    writing = study.submit(lambda feed: (feed.enter([("b" * 16, 1, ())]), other.status().counted))
    assert writing.result(60)[1] == 1
    with other_store.database.reading() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM entries").scalar_one()
        vote(study, voter)
    assert other.status().counted == 2


def test_what_is_refused_leaves_the_state_in_memory(new_study: NewStudy) -> None:
    """Reading a long log anew for every refusal would let one voter hold up all others."""
    study = new_study(PROBLEM, "condorcet", parameters={"ballot_size": 1})
    voter = study.add_voter()
    vote(study, voter)
    with study._states.reading(study.id) as state:
        pass
    for refused in (
        lambda: study.undo(voter),
        lambda: study.tell(voter, 1, "zoe") if study.status().answers == 0 else study.drop("zoe"),
        lambda: study.skip(voter, 1),
        lambda: study.conflict(voter, ["nobody"]),
        lambda: study.correct(99, None),
    ):
        with pytest.raises(dm.DuelmatchError):
            refused()
    with study._states.reading(study.id) as again:
        assert again is state


def test_many_who_wait_for_a_long_computation_share_it(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    voters = [study.add_voter() for _ in range(30)]
    vote(study, voters[0])
    study.drop("ann")
    building = slow_to_begin(monkeypatch)
    threads = threading.active_count()
    asked = [study.submit(lambda feed, v=voter: feed.ask(v)) for voter in voters]  # type: ignore[misc]
    building.wait()
    study.add_voter()  # by now all of them have been told to come again
    assert threading.active_count() < threads + 15
    building.end()
    assert all(isinstance(each.result(60), Question) for each in asked)


def test_an_answer_is_kept_where_the_next_question_takes_long(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever also wants the next question is told of the answer at once; the question is for later."""
    voter = study.add_voter()
    question = question_for(study, voter)
    gone = next(name for name in PROBLEM.candidates if name not in question.candidates)
    study.drop(gone)
    monkeypatch.setattr("duelmatch.studies.kinds.rounds.RoundsKind.think", lambda self, patient=True: None)
    told = study.submit(lambda feed: feed.tell_and_ask(voter, question.number, question.candidates[0]))
    receipt, following = told.result(60)
    assert following is None
    assert (receipt.repeated, receipt.entry) == (False, study.end())
    monkeypatch.undo()
    assert question_for(study, voter).number > question.number


def test_a_gap_in_the_log_is_noticed(study: Study) -> None:
    study.add_voter()
    study.add_voter()
    entries = study.entries()
    with pytest.raises(StoreError, match="Entry 2 of the log is missing"):
        State(entries[0]).note(entries[2:])


def test_more_studies_than_fit_into_memory(new_study: NewStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duelmatch.studies.states.MOST_STATES", 1)
    studies = [new_study() for _ in range(3)]
    voters = [study.add_voter() for study in studies]
    for _ in range(3):
        futures = [s.submit(lambda feed, v=v: feed.ask(v)) for s, v in zip(studies, voters, strict=True)]  # type: ignore[misc]
        for study, voter, asked in zip(studies, voters, futures, strict=True):
            question = asked.result(60)
            assert isinstance(question, Question)
            study.tell(voter, question.number, None)
    for study in studies:
        assert study.status().counted == 3
        check_log(study)
