"""Nothing that was acknowledged is lost, and nothing is counted twice, whatever happens to the processes."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import duelmatch as dm
from duelmatch.errors import StoreError, UnreachableError
from duelmatch.studies import Entry, Question, Settings, Store, Study, database
from duelmatch.studies.course import Course
from duelmatch.studies.writing import Writing
from studies.playing import check_every_question, check_log, vote

NewStudy = Callable[..., Study]
PROBLEM = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor", "cook"])


def last_answers(log: list[Entry]) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return all answers, by voter and question; there are several where one was undone."""
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for entry in log:
        if entry.kind == "answered":
            assert None not in (entry.voter, entry.question, entry.one, entry.other)
            found.setdefault((entry.voter, entry.question), []).append((entry.one, entry.other))  # type: ignore
    return found


def check_one_answer_at_a_time(log: list[Entry]) -> None:
    """Between two answers to a question, the first one was undone."""
    answered: set[int | None] = set()
    for entry in log:
        if entry.kind == "answered":
            assert entry.question not in answered
            answered.add(entry.question)
        if entry.kind == "undone":
            answered.remove(entry.question)


@pytest.mark.parametrize(("processes", "kills"), [(2, 15), (4, 8)])
def test_what_was_acknowledged_is_in_the_log_once_after_many_kills(
    url: str, new_study: NewStudy, tmp_path: Path, processes: int, kills: int
) -> None:
    study = new_study(PROBLEM, delta=0.01, lease=1.0)
    voters = [study.add_voter() for _ in range(8)]
    script = Path(__file__).with_name("crashing.py")
    arguments = [url, study.id, len(voters), kills, processes, tmp_path]
    subprocess.run([sys.executable, script, *map(str, arguments)], check=True, timeout=300)
    assert [path.read_text() for path in tmp_path.glob("*.error")] == []
    log = study.log()
    answers = last_answers(log)
    owner = {entry.question: entry.voter for entry in log if entry.kind == "asked"}
    acknowledged = 0
    for file in tmp_path.glob("*.txt"):
        for line in file.read_text().splitlines():
            voter, question, winner, loser = line.split()
            acknowledged += 1
            assert owner[int(question)] == int(voter)
            named = [
                tuple(study.problem.edges[edge][0] for edge in pair)
                for pair in answers[int(voter), int(question)]
            ]
            assert (winner, loser) in named
    assert acknowledged >= 100
    check_one_answer_at_a_time(log)
    check_log(study)
    check_every_question(log)


def test_many_threads_vote_at_once(new_study: NewStudy, other_store: Store) -> None:
    study = new_study(PROBLEM, delta=0.01)
    studies = [study, other_store.study(study.id)]
    voters = [study.add_voter() for _ in range(16)]
    errors: list[BaseException] = []

    def votes(voter: int) -> None:
        try:
            for turn in range(12):
                vote(studies[(voter + turn) % 2], voter)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=votes, args=(voter,)) for voter in voters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert study.status().counted == 16 * 12
    check_log(study)
    check_every_question(study.log())


def test_a_double_click_is_one_vote_even_at_the_same_moment(new_study: NewStudy, other_store: Store) -> None:
    study = new_study(PROBLEM)
    studies = [study, other_store.study(study.id)]
    voter = study.add_voter()
    question = study.ask(voter)
    receipts = []
    start = threading.Barrier(8)

    def click(number: int) -> None:
        start.wait()
        receipts.append(studies[number % 2].tell(voter, question.number, None))  # type: ignore[union-attr]

    threads = [threading.Thread(target=click, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receipts) == 8
    assert len({receipt.winner for receipt in receipts}) == 1
    assert sum(not receipt.repeated for receipt in receipts) == 1
    assert study.status().counted == 1


def test_a_failing_writer_takes_nobody_with_it(study: Study, store: Store) -> None:
    """Others in the same transaction are written without the one that failed."""
    voter = study.add_voter()
    release, entered = threading.Event(), threading.Event()

    def slow(writing: Writing) -> None:
        entered.set()
        release.wait()

    def broken(writing: Writing) -> None:
        head = writing.study(study.id)
        writing.append(head, "joined", voter=99)
        raise ZeroDivisionError

    outcomes: dict[str, object] = {}

    def run(name: str, work: Callable[[], object]) -> threading.Thread:
        def body() -> None:
            try:
                outcomes[name] = work()
            except Exception as error:
                outcomes[name] = error

        thread = threading.Thread(target=body)
        thread.start()
        return thread

    threads = [run("slow", lambda: store.writer.submit(study.id, slow).result())]
    entered.wait()
    threads.append(run("ask", lambda: study.ask(voter)))
    threads.append(run("broken", lambda: store.writer.submit(study.id, broken).result()))
    threads.append(run("add", lambda: study.add_voter("Ann")))
    release.set()
    for thread in threads:
        thread.join()
    assert isinstance(outcomes["broken"], ZeroDivisionError)
    assert outcomes["add"] == 2
    assert [entry.voter for entry in study.log() if entry.kind == "joined"] == [1, 2]
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
            entered.set()
            assert release.wait(60)
            with real() as connection:
                yield connection
        else:
            raise UnreachableError("The database is locked.")

    release, entered = threading.Event(), threading.Event()
    monkeypatch.setattr(store.database, "writing", locked)
    first = store.writer.submit(study.id, lambda writing: "written")
    assert entered.wait(60)
    others = [store.writer.submit(study.id, lambda writing: "never") for _ in range(5)]
    release.set()
    assert first.result(60) == "written"
    for other in others:
        with pytest.raises(UnreachableError):
            other.result(60)
    assert len(attempts) == 2


def test_whoever_holds_a_study_is_not_waited_for_forever(
    new_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 1.0)
    url = new_url()
    with Store(url) as store, Store(url) as other:
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        voters = [study.add_voter() for _ in range(5)]
        with other.database.writing() as connection:
            Writing(other.database, connection).study(study.id)
            begin = time.monotonic()
            waiting = [study.submit(lambda desk, v=voter: desk.ask(v)) for voter in voters]
            for each in waiting:
                with pytest.raises(UnreachableError):
                    each.result(60)
            assert time.monotonic() - begin < 30, "they do not wait one after another"
        assert isinstance(study.ask(voters[0]), Question)


def test_interrupted_work_leaves_the_others_to_go_on(study: Study, store: Store) -> None:
    def interrupted(writing: Writing) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.writer.submit(study.id, interrupted).result()
    assert study.add_voter() == 1


def test_what_is_open_is_recalled_before_somebody_asks(study: Study, other_store: Store) -> None:
    voter = study.add_voter()
    vote(study, voter)
    other_store.recall()
    assert other_store.known(study.id) is not None
    assert other_store._remembered(study.id) is not None
    assert other_store.study(study.id).status() == study.status()


@pytest.mark.usefixtures("thoughtless")
def test_whoever_asks_while_a_withdrawn_candidate_is_taken_out_waits(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No question comes from the course that is being replaced."""
    voters = [study.add_voter() for _ in range(2)]
    vote(study, voters[0])
    building, go_on = threading.Event(), threading.Event()
    original = Course.__init__

    def slow(self: Course, *arguments: object) -> None:
        building.set()
        assert go_on.wait(60)
        original(self, *arguments)  # type: ignore[arg-type]

    study.drop("ann")
    monkeypatch.setattr(Course, "__init__", slow)
    board = study.store.board_now(study.id)
    thinking = threading.Thread(target=board.think)
    thinking.start()
    assert building.wait(60)
    assert not board.ready
    go_on.set()
    thinking.join()
    question = study.ask(voters[1])
    assert isinstance(question, Question)
    assert "ann" not in (question.left, question.right)


@pytest.mark.usefixtures("thoughtless")
def test_an_interrupted_thought_is_thought_again(
    study: Study, other_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    voter = study.add_voter()
    for _ in range(6):
        vote(study, voter)
    board = study.store.board_now(study.id)
    monkeypatch.setattr(board._course.run, "tell_wins", lambda wins: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        board.think()
    assert study.status() == other_store.study(study.id).status()
    check_log(study)


def test_readers_do_not_wait_for_writers_nor_writers_for_readers(study: Study, other_store: Store) -> None:
    """While one process writes, another reads; while that reads, the first goes on writing."""
    voter = study.add_voter()
    vote(study, voter)
    other = other_store.study(study.id)
    with study.store.database.writing() as connection:
        Writing(study.store.database, connection).study(study.id)
        assert other.status().counted == 1
    with other_store.database.reading() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM entries").scalar_one()
        vote(study, voter)
    assert other.status().counted == 2


def test_a_gap_in_the_log_is_noticed(study: Study) -> None:
    study.add_voter()
    study.add_voter()
    board = study.board()
    from duelmatch.studies.board import Board
    from studies.playing import lines

    fresh = Board(board.problem, board.settings)
    with pytest.raises(StoreError, match="Entry 2 of the log is missing"):
        fresh.absorb(lines(study.log())[2:])
