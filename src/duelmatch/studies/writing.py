"""Writing to studies: numbered entries at the end of the log, in transactions that writers share.

A commit waits for the disk, which takes milliseconds. So those who come while one is going on do not queue
for one each: the next transaction does the work of all of them, and each is told what became of its own.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from duelmatch.errors import DuelmatchError, NotThereError, ProblemError, StudyError, UnreachableError
from duelmatch.studies import schema
from duelmatch.studies.database import Database
from duelmatch.studies.entries import Kind, Line
from duelmatch.studies.settings import Settings

Returned = TypeVar("Returned")

MOST_IN_A_BATCH = 100

_SELECT = sa.select(schema.studies).where(schema.studies.c.id == sa.bindparam("id")).with_for_update()
_UPDATE = (
    sa.update(schema.studies)
    .where(schema.studies.c.id == sa.bindparam("study"))
    .values({name: sa.bindparam(f"new_{name}") for name in ("state", "head", "questions", "voters")})
)
_ENTRIES = sa.insert(schema.entries)
_QUESTIONS = sa.insert(schema.questions)
_ANSWERS = (
    sa.update(schema.questions)
    .where(
        schema.questions.c.study == sa.bindparam("of_study"),
        schema.questions.c.number == sa.bindparam("of_number"),
    )
    .values({name: sa.bindparam(f"new_{name}") for name in ("state", "winner", "tie", "answer")})
)


@dataclass
class Head:
    """A study's row while a transaction holds it: the numbers given last, and the time."""

    id: str
    state: str
    settings: Settings
    head: int
    questions: int
    voters: int
    now: float
    begin: int
    """The number of the last entry before this transaction."""
    lines: list[Line] = field(default_factory=list)
    """What this transaction has added."""
    swept: bool = False
    """Whether it has looked for leases that are over."""


class Writing:
    """A transaction that adds to the logs of studies.

    New questions and answers go to the database in bulk. Whoever reads those of a voter, or all, says so
    first with :meth:`settle` or :meth:`flush`.
    """

    def __init__(self, database: Database, connection: Connection) -> None:
        self.connection = connection
        self._database = database
        self._heads: dict[str, Head] = {}
        self._entries: list[dict[str, Any]] = []
        self._questions: list[dict[str, Any]] = []
        self._answers: list[dict[str, Any]] = []
        self._touched: set[tuple[str, int]] = set()

    def study(self, study: str) -> Head:
        """Lock a study until the end of the transaction, and return its row."""
        if study not in self._heads:
            row = self.connection.execute(_SELECT, {"id": study}).one_or_none()
            if row is None:
                raise NotThereError(f"There is no study '{study:.80}'.")
            settings = Settings.from_dict(json.loads(row.settings))
            now = self._database.now(self.connection)
            numbers = (row.head, row.questions, row.voters)
            self._heads[study] = Head(row.id, row.state, settings, *numbers, now, begin=row.head)
        return self._heads[study]

    def append(
        self,
        head: Head,
        kind: Kind,
        *,
        voter: int | None = None,
        question: int | None = None,
        one: int | None = None,
        other: int | None = None,
        note: Mapping[str, Any] | None = None,
    ) -> int:
        """Add an entry to a study's log and return its number."""
        head.head += 1
        text = json.dumps(note, separators=(",", ":")) if note else None
        line = Line(head.head, kind, head.now, voter, question, one, other, text)
        head.lines.append(line)
        self._entries.append({"study": head.id, **line._asdict()})
        return head.head

    def add_question(self, head: Head, voter: int, row: Mapping[str, Any]) -> None:
        """Add a question for a voter."""
        self._questions.append({"study": head.id, "voter": voter, **row})
        self._touched.add((head.id, voter))

    def add_answer(
        self, head: Head, voter: int, question: int, *, winner: int, tie: bool, answer: int
    ) -> None:
        """Note with a question that its voter has answered it."""
        values = {"of_study": head.id, "of_number": question, "new_state": "answered"}
        self._answers.append(values | {"new_winner": winner, "new_tie": int(tie), "new_answer": answer})
        self._touched.add((head.id, voter))

    def settle(self, study: str, voter: int) -> None:
        """Make sure that the database has all there is of a voter."""
        if (study, voter) in self._touched:
            self.flush()

    def flush(self) -> None:
        """Hand everything to the database, which others see at the end of the transaction."""
        for statement, rows in (
            (_ENTRIES, self._entries),
            (_QUESTIONS, self._questions),
            (_ANSWERS, self._answers),
        ):
            if rows:
                self.connection.execute(statement, rows)
                rows.clear()
        self._touched.clear()

    def finish(self) -> list[Head]:
        """Hand everything over, with the numbers given last; return the studies that were held."""
        self.flush()
        for head in self._heads.values():
            if head.lines:
                values = {
                    f"new_{name}": getattr(head, name) for name in ("state", "head", "questions", "voters")
                }
                self.connection.execute(_UPDATE, {"study": head.id, **values})
        return list(self._heads.values())


class _Ticket(Generic[Returned]):
    """A piece of work that waits for its transaction."""

    def __init__(self, study: str, work: Callable[[Writing], Returned]) -> None:
        self.study = study
        self.work = work
        self.future: Future[Returned] = Future()

    def run(self, writing: Writing) -> Callable[[], None]:
        """Do the work; return how to say so, once it is on disk."""
        try:
            returned = self.work(writing)
        except (StudyError, ProblemError) as refusal:
            return partial(self.future.set_exception, refusal)
        return partial(self.future.set_result, returned)


class Writer:
    """Does the writing of a process, in threads of its own; one at a time where only one can write.

    ``on_success`` is told what was added to which studies, ``on_failure`` of which studies a transaction came
    to nothing, or perhaps did.
    """

    def __init__(
        self,
        database: Database,
        on_success: Callable[[list[Head]], None],
        on_failure: Callable[[set[str]], None],
        threads: int = 10,
    ) -> None:
        self._database = database
        self._on_success = on_success
        self._on_failure = on_failure
        self._threads = ThreadPoolExecutor(threads, "duelmatch-writer")
        self._waiting: dict[str, deque[_Ticket[Any]]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Finish what is to be done."""
        self._threads.shutdown()

    def submit(self, study: str, work: Callable[[Writing], Returned]) -> Future[Returned]:
        """Do some work on a study in a transaction, perhaps with that of others; wait for it to be on disk.

        Work that refuses must not have written anything. Work is done again if that of others in the same
        transaction has failed.
        """
        ticket = _Ticket(study, work)
        queue = "" if self._database.is_sqlite else study
        with self._lock:
            waiting = self._waiting.get(queue)
            if waiting is not None:
                waiting.append(ticket)
                return ticket.future
            self._waiting[queue] = deque([ticket])
        self._threads.submit(self._work_off, queue)
        return ticket.future

    def _work_off(self, queue: str) -> None:
        """Work until nobody waits any more."""
        while batch := self._batch(queue):
            self._do(batch)

    def _batch(self, queue: str) -> list[_Ticket[Any]]:
        with self._lock:
            waiting = self._waiting[queue]
            if not waiting:
                del self._waiting[queue]
            return [waiting.popleft() for _ in range(min(len(waiting), MOST_IN_A_BATCH))]

    def _do(self, batch: list[_Ticket[Any]]) -> None:
        try:
            heads = self._commit(batch)
        except BaseException as error:
            self._on_failure({ticket.study for ticket in batch})
            if len(batch) > 1 and not isinstance(error, UnreachableError):
                for ticket in batch:  # one of them is to blame; the others should not suffer
                    self._do([ticket])
                return
            for ticket in batch:
                ticket.future.set_exception(error)
            return
        with suppress(DuelmatchError):  # whoever asks next is told
            self._on_success(heads)

    def _commit(self, batch: list[_Ticket[Any]]) -> list[Head]:
        with self._database.writing() as connection:
            writing = Writing(self._database, connection)
            outcomes = [ticket.run(writing) for ticket in batch]
            heads = writing.finish()
        for tell in outcomes:
            tell()
        return heads
