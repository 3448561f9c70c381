"""A store: the studies in one database, and what this process remembers of them."""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType

import sqlalchemy as sa

from duelmatch.errors import NotThereError, StoreError, StudyError
from duelmatch.problem import Problem
from duelmatch.studies import schema
from duelmatch.studies.board import Board, created_note, read_created
from duelmatch.studies.course import Course
from duelmatch.studies.database import Database
from duelmatch.studies.entries import Line
from duelmatch.studies.keys import Access, id_of, opens
from duelmatch.studies.queries import AFTER, LAST, SECRET
from duelmatch.studies.settings import Settings
from duelmatch.studies.study import Study
from duelmatch.studies.texts import plain
from duelmatch.studies.writing import Head, Writer, Writing

MOST_STUDIES = 2_000
"""What is known of so many, their problem and settings, is kept in memory."""

MOST_BOARDS = 200
"""How many studies a process keeps in memory."""


MOST_RECALLED = 20
"""How many open studies a process reads before somebody asks."""

MOST_PAIRS = 200_000
"""Different duels: what can be looked through for every question."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A study in the list of all."""

    id: str
    name: str
    state: str
    created_at: float


class Store:
    """The studies in a database, which is made ready if it is empty."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        try:
            self.database.prepare()
        except BaseException:
            self.database.close()
            raise
        self.writer = Writer(self.database, self.follow, self.forget)
        self._studies: dict[str, Study] = {}
        self._boards: OrderedDict[str, Board] = OrderedDict()
        self._loading: dict[str, threading.Lock] = {}
        self._thinking: dict[str, Future[None]] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database. There is nothing to save: all is saved."""
        self.writer.close()
        self.database.close()

    def create(self, problem: Problem, settings: Settings, name: str) -> Study:
        """Begin a study.

        :raises ProblemError: if there is no such algorithm, or it has no such parameters.
        """
        problem.require_one_to_one("A study")
        name = plain(name, "The name of a study")
        settings = settings.settled()
        note = created_note(problem, settings)
        if read_created(note) != (problem, settings):
            raise StudyError(
                "A problem must be the same when it is read back; this one has odd names or settings."
            )
        if problem.graph.pairs > MOST_PAIRS:
            raise StudyError(
                f"The problem is too large for a study: it has {problem.graph.pairs:,} different duels, "
                f"where {MOST_PAIRS:,} are allowed."
            )
        Course(problem, (), settings)
        study = secrets.token_hex(8)
        with self.database.writing() as connection:
            now = self.database.now(connection)
            row = {"id": study, "name": name, "state": "open", "created_at": now, "head": 1}
            encoded = json.dumps(settings.as_dict(), separators=(",", ":"))
            connection.execute(
                sa.insert(schema.studies), row | {"settings": encoded, "questions": 0, "voters": 0}
            )
            connection.execute(
                sa.insert(schema.entries),
                {"study": study, "seq": 1, "kind": "created", "at": now, "note": note},
            )
        return self.study(study)

    def studies(self) -> list[Listed]:
        """Return the studies, oldest first."""
        columns = schema.studies.c
        query = sa.select(columns.id, columns.name, columns.state, columns.created_at)
        with self.database.reading() as connection:
            rows = connection.execute(query.order_by(columns.created_at, columns.id))
            return [Listed(*row) for row in rows]

    def study(self, study: str) -> Study:
        """Return a study by its id."""
        if not isinstance(study, str) or not re.fullmatch("[0-9a-f]{1,40}", study):
            raise NotThereError(f"There is no study {study!r:.80}.")
        if (known := self._studies.get(study)) is not None:
            return known
        query = sa.select(schema.studies.c.name, schema.entries.c.note).join(schema.entries)
        query = query.where(schema.studies.c.id == study, schema.entries.c.seq == 1)
        with self.database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None or row.note is None:
            raise NotThereError(f"There is no study '{study:.80}'.")
        found = Study(self, study, row.name, *read_created(row.note))
        with self._lock:
            if len(self._studies) >= MOST_STUDIES:
                self._studies.clear()
            return self._studies.setdefault(study, found)

    def access(self, token: str) -> Access | None:
        """Return what a link's token allows; None if it is not one, or was revoked."""
        with self.database.reading() as connection:
            return self.access_in(connection, token)

    @staticmethod
    def access_in(connection: sa.Connection, token: str) -> Access | None:
        """Return what a link's token allows, as a transaction sees it."""
        key = id_of(token)
        if key is None:
            return None
        row = SECRET.one(connection, {"key": key})
        stored = None if row is None or row.revoked_at is not None else row.hash
        if not opens(token, stored) or row is None:
            return None
        return Access(row.id, row.study, row.role, row.voter)

    # What is remembered.

    def known(self, study: str) -> Study | None:
        """Return a study by its id, if this process has had to do with it."""
        return self._studies.get(study)

    def think(self, study: str) -> Future[None]:
        """Let the explorer of a study catch up with the answers, in another thread."""
        with self._lock:
            if (thinking := self._thinking.get(study)) is not None:
                return thinking
            thinking = self._thinking[study] = Future()
        threading.Thread(target=self._think, args=(study,), daemon=True).start()
        return thinking

    def _think(self, study: str) -> None:
        with self._lock:  # whoever comes from now on may have brought what this will not see
            thinking = self._thinking.pop(study)
        try:
            self.board(study).think()
        except BaseException as error:
            thinking.set_exception(error)
        else:
            thinking.set_result(None)

    def recall(self) -> None:
        """Read the newest of the open studies, so that the next who votes there need not wait for it."""
        still_open = [listed for listed in self.studies() if listed.state == "open"]
        for each in still_open[: -MOST_RECALLED - 1 : -1]:
            self.study(each.id)
            self.board(each.id).think()

    def board(self, study: str) -> Board:
        """Return the board of a study, which is read from the log if it is not remembered."""
        board = self._remembered(study)
        if board is not None:
            return board
        with self._loading.setdefault(study, threading.Lock()):
            board = self._remembered(study) or self._load(study)
        self._loading.pop(study, None)
        return board

    def board_now(self, study: str) -> Board:
        """Return the board of a study with all that is in the log by now."""
        board = self.board(study)
        with self.database.reading() as connection:
            board.absorb(self._after(connection, study, board.seq))
        return board

    def board_in(self, writing: Writing, study: str) -> Board | None:
        """Return the board of a study as a transaction sees it; None if it is not at hand."""
        board = self._remembered(study)
        if board is None:
            return None
        head = writing.study(study)
        if board.seq > head.head:
            self.forget([study])
            return None
        if board.seq < head.begin:
            board.absorb(self._after(writing.connection, study, board.seq, head.begin))
        board.absorb(head.lines[max(board.seq - head.begin, 0) :])
        return board

    def follow(self, heads: Iterable[Head]) -> None:
        """Note what was written, and begin to think about it before somebody asks."""
        for head in heads:
            board = self._remembered(head.id)
            if board is not None and head.begin <= board.seq <= head.head:
                board.absorb(head.lines)
                if not board.ready:
                    self.think(head.id)

    def forget(self, studies: Iterable[str]) -> None:
        """Forget what is remembered of some studies, since it may not have come true."""
        with self._lock:
            for study in studies:
                self._boards.pop(study, None)

    def _remembered(self, study: str) -> Board | None:
        with self._lock:
            if study in self._boards:
                self._boards.move_to_end(study)
            return self._boards.get(study)

    def _load(self, study: str) -> Board:
        with self.database.reading() as connection:
            rows = iter(self._after(connection, study, 0))
            created = next(rows, None)
            if created is None:
                raise NotThereError(f"There is no study '{study:.80}'.")
            if created.seq != 1 or created.kind != "created":
                raise StoreError(f"The log of study '{study:.80}' has no beginning; the database is damaged.")
            board = Board.of(created)
            board.absorb(rows)
        with self._lock:
            self._boards[study] = board
            while len(self._boards) > MOST_BOARDS:
                self._boards.popitem(last=False)
        return board

    @staticmethod
    def _after(connection: sa.Connection, study: str, seq: int, last: int = LAST) -> Iterable[Line]:
        rows = connection.execute(AFTER, {"s": study, "a": seq, "b": last})
        return (Line(*row[1:]) for row in rows)
