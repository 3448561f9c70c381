"""The log and its transactions: all that is ever written, in transactions that writers share.

A commit waits for the disk, which takes milliseconds. So what arrives during one does not get a transaction
each: the next transaction does the work of all of them, and each caller gets the outcome of its own.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from duelmatch.errors import DuelError, NotThereError, ProblemError, StudyError, UnreachableError
from duelmatch.studies import schema
from duelmatch.studies.database import CONNECTIONS, Database
from duelmatch.studies.entries import BEGINNING, Entry, sealed
from duelmatch.studies.links import Access, accesses_in

Returned = TypeVar("Returned")

MOST_IN_A_BATCH = 100
ROWS_AT_ONCE = 1_000
_log = logging.getLogger(__name__)

UNREACHABLE = "The database could not be reached for those before you either."

_COLUMNS = schema.studies.c
_HOLD = schema.Prepared(
    sa.select(_COLUMNS.id, _COLUMNS.name, _COLUMNS.phase, _COLUMNS.seq, _COLUMNS.hash)
    .where(_COLUMNS.id == sa.bindparam("id"))
    .with_for_update()
)
_END = sa.select(schema.studies.c.seq, schema.studies.c.hash).where(schema.studies.c.id == sa.bindparam("id"))
_AFTER = schema.Prepared(
    sa.select(*(column for column in schema.entries.c if column.name != "study"))
    .where(
        schema.entries.c.study == sa.bindparam("s"),
        schema.entries.c.seq > sa.bindparam("a"),
        schema.entries.c.seq <= sa.bindparam("b"),
    )
    .order_by(schema.entries.c.seq)
)
_APPEND = schema.Prepared(sa.insert(schema.entries))
_MOVE_END = schema.Prepared(
    sa.update(schema.studies)
    .where(schema.studies.c.id == sa.bindparam("study"))
    .values({name: sa.bindparam(f"new_{name}") for name in ("phase", "seq", "hash", "name")})
)


@dataclass(slots=True)
class Held:
    """A study that a transaction holds: the end of its log, where entries are added."""

    study: str
    name: str
    phase: str
    seq: int
    hash: str
    now: float
    """The time by the database's clock, the same for all of the transaction."""
    connection: Any = None
    """That of the transaction; None for a log that is only in memory."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """The entries that were added, as they are stored."""
    state: Any = None
    """What those who write know of the study, kept here until the end of the transaction."""

    def append(
        self, kind: str, data: Mapping[str, Any], voter: str | None = None, by: str | None = None
    ) -> Entry:
        """Add an entry at the end of the log."""
        entry, text = sealed(self.seq + 1, self.now, kind, data, self.hash, by, voter)
        self.rows.append({"study": self.study, **entry._asdict(), "data": text})
        self.seq, self.hash = entry.seq, entry.hash
        return entry

    def hash_of(self, seq: int) -> str:
        """Return the hash of an entry, which may be one of this transaction."""
        if self.seq - seq < len(self.rows):
            return str(self.rows[seq - self.seq - 1]["hash"])
        (entry,) = read_entries(self.connection, self.study, seq - 1, seq)
        return entry.hash


class _PartError(Exception):
    """A part of a transaction has failed, and is taken back; the rest of it goes on."""


class Transaction:
    """A transaction that adds to logs. ``locks`` are released when it is on disk, or has failed.

    ``tokens`` are those of the links for which it acts.
    """

    def __init__(
        self, database: Database, connection: Connection, locks: ExitStack, tokens: Sequence[str] = ()
    ) -> None:
        self.connection = connection
        self.locks = locks
        self._database = database
        self._held: dict[str, Held] = {}
        self._tokens = tokens
        self._accesses: dict[str, Access] | None = None

    @cached_property
    def now(self) -> float:
        """The time by the database's clock, the same for all of the transaction."""
        return self._database.now(self.connection)

    def access(self, token: str) -> Access | None:
        """Return what a token allows; None if it is not one, or was revoked."""
        if self._accesses is None:
            self._accesses = accesses_in(self.connection, self._tokens, self.now)
        return self._accesses.get(token)

    def hold(self, study: str) -> Held:
        """Lock a study against other writers until the end of the transaction."""
        if study not in self._held:
            if (row := _HOLD.one(self.connection, {"id": study})) is None:
                raise no_study(study)
            _, name, phase, seq, digest = row
            self._held[study] = Held(study, name, phase, seq, digest, self.now, self.connection)
        return self._held[study]

    def create(self, study: str, name: str, data: Mapping[str, Any]) -> None:
        """Begin the log of a new study."""
        row = {"id": study, "name": name, "phase": "open", "created_at": self.now}
        self.connection.execute(sa.insert(schema.studies), row | {"seq": 0, "hash": BEGINNING})
        self.hold(study).append("created", data)

    def written(self) -> int:
        """Return how many entries were added so far."""
        return sum(len(held.rows) for held in self._held.values())

    @contextmanager
    def part(self, study: str) -> Iterator[None]:
        """Do something for a study; if it fails, take it back, and nothing else.

        :raises _PartError: in place of what made it fail, unless nothing at all can be written.
        """
        self.connection.exec_driver_sql("SAVEPOINT part")
        try:
            yield
        except (UnreachableError, SQLAlchemyError):
            raise
        except Exception as error:
            self.connection.exec_driver_sql("ROLLBACK TO part")
            self._held.pop(study, None)
            self._accesses = None
            raise _PartError from error
        self.connection.exec_driver_sql("RELEASE part")

    def finish(self) -> None:
        """Hand everything to the database, which others see at the end of the transaction."""
        for held in [held for held in self._held.values() if held.rows]:
            _APPEND.run_for_each(self.connection, held.rows)
            end = {"new_phase": held.phase, "new_seq": held.seq, "new_hash": held.hash, "new_name": held.name}
            _MOVE_END.run(self.connection, {"study": held.study, **end}).close()


def read_entries(
    connection: Connection, study: str, after: int = 0, last: int = schema.LARGEST_NUMBER
) -> Iterator[Entry]:
    """Yield the entries of a study behind ``after``, up to ``last``."""
    for rows in _AFTER.many(connection, {"s": study, "a": after, "b": last}, ROWS_AT_ONCE):
        contents = json.loads(f"[{','.join([row[5] for row in rows])}]")  # far quicker than one by one
        for (seq, at, kind, by, voter, _, digest), data in zip(rows, contents, strict=True):
            yield Entry(seq, at, kind, by, voter, data, digest)


def end_of(connection: Connection, study: str) -> tuple[int, str]:
    """Return the number and the hash of the last entry of a study."""
    found = connection.execute(_END, {"id": study}).one_or_none()
    if found is None:
        raise no_study(study)
    return found.seq, found.hash


def first_entry(database: Database, study: str) -> Entry:
    """Return the entry that created a study."""
    with database.reading() as connection:
        created = next(read_entries(connection, study, last=1), None)
    if created is None:
        raise no_study(study)
    return created


def no_study(study: str) -> NotThereError:
    """Return the refusal of an id that no study has."""
    return NotThereError(f"There is no study '{study:.80}'.")


@dataclass(slots=True)
class _Ticket(Generic[Returned]):
    """A piece of work that waits for its transaction, for the link of a token, and whom to tell."""

    study: str
    work: Callable[[Transaction], Returned]
    token: str | None
    succeed: Callable[[Returned], object]
    fail: Callable[[BaseException], object]

    def run(self, transaction: Transaction) -> Callable[[], object]:
        """Do the work; return the call back for when it is on disk."""
        before = transaction.written()
        try:
            returned = self.work(transaction)
        except (StudyError, ProblemError, DuelError) as refusal:
            if transaction.written() > before:  # half of it is there, so none of it may stay
                raise
            return partial(self.fail, refusal)
        return partial(self.succeed, returned)


class Writer:
    """Does the writing of a process, in threads of its own; one at a time where only one can write.

    ``on_failure`` is called with the studies whose transaction failed, or may have, before anybody else can
    read them.
    """

    def __init__(self, database: Database, on_failure: Callable[[Iterable[str]], None]) -> None:
        self._database = database
        self._on_failure = on_failure
        self._threads = ThreadPoolExecutor(CONNECTIONS, "duelmatch-writer")
        self._waiting: dict[str, deque[_Ticket[Any]]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Finish what is queued."""
        self._threads.shutdown()

    def submit(self, study: str, work: Callable[[Transaction], Returned]) -> Future[Returned]:
        """Do some work on a study in a transaction; the future is done when it is on disk."""
        future: Future[Returned] = Future()
        self.do(study, work, future.set_result, future.set_exception)
        return future

    def check(self, seconds: float) -> None:
        """Write something that means nothing, the way that all else is written.

        :raises StoreError: if that cannot be done, or takes longer than ``seconds``.
        """
        try:
            self.submit("", lambda transaction: self._database.touch(transaction.connection)).result(seconds)
        except TimeoutError:
            raise UnreachableError(f"Nothing could be written for {seconds:g} seconds.") from None

    def do(
        self,
        study: str,
        work: Callable[[Transaction], Returned],
        succeed: Callable[[Returned], object],
        fail: Callable[[BaseException], object],
        token: str | None = None,
    ) -> None:
        """Do some work on a study in a transaction, perhaps a shared one; call back when it is on disk.

        Work is done again if that of others in the same transaction has failed. A ``token`` is one that it
        will look up.
        """
        ticket = _Ticket(study, work, token, succeed, fail)
        queue = "" if self._database.is_sqlite else study
        with self._lock:
            waiting = self._waiting.get(queue)
            if waiting is not None:
                waiting.append(ticket)
                return
            self._waiting[queue] = deque([ticket])
        try:
            self._threads.submit(self._work_off, queue)
        except RuntimeError:  # no more threads for now; a later caller may get one
            with self._lock:
                refused = self._waiting.pop(queue, ())
            for ticket in refused:
                ticket.fail(UnreachableError("No thread could be started to write with."))

    def _work_off(self, queue: str) -> None:
        """Work until the queue is empty."""
        while batch := self._batch(queue):
            if not self._do(batch):  # those that came meanwhile have waited as long, and would again
                self._refuse(queue)

    def _refuse(self, queue: str) -> None:
        """Refuse all who wait, since the database cannot be reached now."""
        with self._lock:
            waiting = self._waiting.get(queue, deque())
            refused = [waiting.popleft() for _ in range(len(waiting))]
        self._tell([partial(ticket.fail, UnreachableError(UNREACHABLE)) for ticket in refused])

    def _batch(self, queue: str) -> list[_Ticket[Any]]:
        with self._lock:
            waiting = self._waiting.get(queue, deque())
            if not waiting:
                self._waiting.pop(queue, None)
            return [waiting.popleft() for _ in range(min(len(waiting), MOST_IN_A_BATCH))]

    def _do(self, batch: list[_Ticket[Any]]) -> bool:
        """Do a batch of work, and call back; return whether the database could be reached."""
        reached = True
        again: list[_Ticket[Any]] = []
        try:
            outcomes, again = self._commit(batch)
        except BaseException as error:
            reached = not isinstance(error, UnreachableError)
            if len(batch) > 1 and reached:
                done = [self._do([ticket]) for ticket in batch]  # one failed; the others go on alone
                return all(done)
            outcomes = [partial(ticket.fail, error) for ticket in batch]
        self._tell(outcomes)
        return all([reached, *(self._do([ticket]) for ticket in again)])

    @staticmethod
    def _tell(outcomes: Iterable[Callable[[], object]]) -> None:
        for tell in outcomes:
            try:
                tell()
            except Exception:  # such as a cancelled future; the others are called all the same
                _log.exception("Nobody could be told what became of a transaction.")

    def _commit(self, batch: list[_Ticket[Any]]) -> tuple[list[Callable[[], object]], list[_Ticket[Any]]]:
        """Do a batch of work; return the calls back, and the tickets to try again one by one."""
        studies: dict[str, list[_Ticket[Any]]] = {}
        for ticket in batch:
            studies.setdefault(ticket.study, []).append(ticket)
        outcomes: list[Callable[[], object]] = []
        again: list[_Ticket[Any]] = []
        with ExitStack() as locks:
            try:
                with self._database.writing() as connection:
                    tokens = [ticket.token for ticket in batch if ticket.token is not None]
                    transaction = Transaction(self._database, connection, locks, tokens)
                    for study, tickets in studies.items():
                        try:
                            with transaction.part(study) if len(studies) > 1 else nullcontext():
                                outcomes += [ticket.run(transaction) for ticket in tickets]
                        except _PartError:
                            self._on_failure([study])
                            again += tickets
                    transaction.finish()
            except BaseException:
                self._on_failure(studies)
                raise
        return outcomes, again
