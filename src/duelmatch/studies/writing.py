"""Writing to studies: numbered entries at the end of the log, in transactions that writers share.

A commit waits for the disk, which takes milliseconds. So those who come while one is going on do not queue
for one each: the next of them does the work of all in one transaction, and each is told what became of its
own.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from duelmatch.errors import NotThereError, ProblemError, StudyError
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

    def finish(self) -> None:
        """Hand everything over, with the numbers given last."""
        self.flush()
        for head in self._heads.values():
            if head.lines:
                values = {
                    f"new_{name}": getattr(head, name) for name in ("state", "head", "questions", "voters")
                }
                self.connection.execute(_UPDATE, {"study": head.id, **values})


class _Ticket(Generic[Returned]):
    """A piece of work that waits for its transaction, and for its turn to lead one."""

    def __init__(self, work: Callable[[Writing], Returned]) -> None:
        self.work = work
        self.woken = threading.Event()
        self.done = False
        self._returned: Returned | None = None
        self._error: BaseException | None = None

    def run(self, writing: Writing) -> Callable[[], None]:
        """Do the work; return how to say so, once it is on disk."""
        try:
            returned = self.work(writing)
        except (StudyError, ProblemError) as refusal:
            return partial(self.fail, refusal)
        return partial(self._succeed, returned)

    def _succeed(self, returned: Returned) -> None:
        self._returned = returned
        self._end()

    def fail(self, error: BaseException) -> None:
        self._error = error
        self._end()

    def _end(self) -> None:
        self.done = True
        self.woken.set()

    def outcome(self) -> Returned:
        if self._error is not None:
            raise self._error
        return self._returned  # type: ignore[return-value]


class _Queue:
    """Those who want to write where only one can at a time. The first of them leads and works for all."""

    def __init__(self) -> None:
        self._waiting: deque[_Ticket[Any]] = deque()
        self._led = False
        self._lock = threading.Lock()

    def join(self, ticket: _Ticket[Any]) -> None:
        """Wait until it is one's turn to lead, or somebody has done the work."""
        with self._lock:
            self._waiting.append(ticket)
            if not self._led:
                self._led = True
                return
        try:
            ticket.woken.wait()
        except BaseException:
            self._leave(ticket)
            raise

    def _leave(self, ticket: _Ticket[Any]) -> None:
        with self._lock:
            leads = ticket.woken.is_set() and not ticket.done
            if ticket in self._waiting:
                self._waiting.remove(ticket)
        if leads:
            self.pass_on([])

    def batch(self) -> list[_Ticket[Any]]:
        """Take those who come first, the leader among them."""
        with self._lock:
            return [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_IN_A_BATCH))]

    def pass_on(self, undone: list[_Ticket[Any]]) -> None:
        """Stop leading: put back what was not done, and let the next one lead."""
        with self._lock:
            self._waiting.extendleft(reversed(undone))
            self._led = bool(self._waiting)
            if self._led:
                self._waiting[0].woken.set()


class Writer:
    """Does the writing of a process. ``on_failure`` is called when a transaction came to nothing."""

    def __init__(self, database: Database, on_failure: Callable[[], None]) -> None:
        self._database = database
        self._on_failure = on_failure
        self._queues: dict[str, _Queue] = {}

    def write(self, study: str, work: Callable[[Writing], Returned]) -> Returned:
        """Do some work on a study in a transaction, perhaps with that of others; return when it is on disk.

        Work that refuses must not have written anything. Work may be done twice, if it is not known whether
        a transaction was committed: it must find out that it was.
        """
        queue = self._queues.setdefault("" if self._database.is_sqlite else study, _Queue())
        ticket = _Ticket(work)
        queue.join(ticket)
        if not ticket.done:
            self._lead(queue, ticket)
        return ticket.outcome()

    def _lead(self, queue: _Queue, own: _Ticket[Any]) -> None:
        batch = queue.batch()
        try:
            self._do(batch)
        finally:  # after Ctrl-C, the others still want their work done
            queue.pass_on([ticket for ticket in batch if not ticket.done and ticket is not own])

    def _do(self, batch: list[_Ticket[Any]]) -> None:
        try:
            self._commit(batch)
        except Exception as error:
            self._on_failure()
            if len(batch) == 1:
                batch[0].fail(error)
                return
            for ticket in batch:  # one of them is to blame; the others should not suffer
                self._do([ticket])
        except BaseException:
            self._on_failure()
            raise

    def _commit(self, batch: list[_Ticket[Any]]) -> None:
        with self._database.writing() as connection:
            writing = Writing(self._database, connection)
            outcomes = [ticket.run(writing) for ticket in batch]
            writing.finish()
        for tell in outcomes:
            tell()
