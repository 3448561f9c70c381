"""A study: questions for voters, their answers, and what organisers do about both.

All of it is short transactions at the end of the log. Only :meth:`Study.ask` and :meth:`Study.status` need
the explorer; an answer is written without it, and thought about when somebody next asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from duelmatch.errors import ConflictError, NotAllowedError, NotThereError, StudyError
from duelmatch.problem import Problem
from duelmatch.studies import queries, schema
from duelmatch.studies.board import Board
from duelmatch.studies.course import without
from duelmatch.studies.desk import Desk, Think, receipt
from duelmatch.studies.entries import Entry, Kind
from duelmatch.studies.history import History
from duelmatch.studies.keys import Key, Role, is_id, new_token
from duelmatch.studies.settings import Settings
from duelmatch.studies.texts import counting, plain
from duelmatch.studies.values import Nothing, Question, Receipt, Status, Vote, Voter

if TYPE_CHECKING:
    from duelmatch.studies.store import Store

Returned = TypeVar("Returned")

LONGEST_REASON = 500


class Study:
    """One study of a store. Safe to use from several threads, and processes."""

    def __init__(self, store: Store, study: str, name: str, problem: Problem, settings: Settings) -> None:
        self.store = store
        self.id = study
        self.name = name
        self.problem = problem
        """As it was at the beginning; candidates may have been dropped since."""
        self.settings = settings

    def _write(self, work: Callable[[Desk], Returned]) -> Returned:
        return self.submit(work).result()

    def submit(self, work: Callable[[Desk], Returned]) -> Future[Returned]:
        """Let some work be done at the desk, and do not wait for it."""
        return self.store.writer.submit(self.id, lambda writing: work(Desk(self, writing)))

    # Voters.

    def ask(self, voter: int) -> Question | Nothing:
        """Return the voter's question: the one that is open, or else the next."""
        counting(voter, "voter")
        while True:
            self.store.board(self.id).think()
            asked = self._write(lambda desk: desk.ask(voter))
            if not isinstance(asked, Think):
                return asked

    def tell(self, voter: int, question: int, winner: str | None) -> Receipt:
        """Keep a voter's answer: the better candidate, or None for a tie, which a coin decides.

        An answer is kept whenever it comes, and once: if there is one already, that is returned.
        """
        if winner is None and not self.settings.ties:
            raise NotAllowedError("This study has no ties: choose one of the two.")
        counting(question, "question")
        return self._write(lambda desk: desk.tell(voter, question, winner))

    def skip(self, voter: int, question: int, reason: str = "") -> None:
        """Pass on a question, for a reason that should not be the answer one would give."""
        if not self.settings.skips:
            raise NotAllowedError("This study has no skipping: choose one of the two.")
        reason = plain(reason, "The reason", LONGEST_REASON, empty=True)
        counting(question, "question")
        self._write(lambda desk: desk.give_back(voter, question, "skipped", reason))

    def release(self, voter: int, question: int) -> None:
        """Give back a question that will not be answered; the voter may be asked it again."""
        counting(question, "question")
        self._write(lambda desk: desk.give_back(voter, question, "released", "released"))

    def undo(self, voter: int, question: int | None = None) -> Question:
        """Take the voter's last answer back, and return its question, which is open again.

        Say which question that is about, and nothing happens the second time.
        """
        counting(voter, "voter")
        if question is not None:
            counting(question, "question")
        return self._write(lambda desk: desk.undo(voter, question))

    # Organisers.

    def add_voter(self, name: str | None = None) -> int:
        """Add a voter and return the number."""
        checked = None if name is None else plain(name, "The name of a voter")
        return self._write(lambda desk: desk.add_voter(checked))

    def voter_named(self, name: str) -> int:
        """Return the number of the voter of this name, who is added if need be."""
        checked = plain(name, "The name of a voter")
        return self._write(lambda desk: desk.voter_named(checked) or desk.add_voter(checked))

    def correct(self, question: int, winner: str | None) -> None:
        """Change an answer, or with None strike it out."""
        counting(question, "question")

        def work(desk: Desk) -> None:
            row = desk.row(question)
            if row.state != "answered":
                raise ConflictError(f"Question {question} has no answer to correct.")
            if winner is None:
                desk.writing.append(desk.head, "corrected", question=question)
                return
            won = desk.edge_of(row, winner)
            lost = row.left + row.right - won
            desk.writing.append(desk.head, "corrected", question=question, one=won, other=lost)
            desk.change(question, winner=won, tie=0)

        self._write(work)

    def invalidate(self, voter: int) -> None:
        """Let no answer of a voter count, given or to come, and ask them nothing more."""
        counting(voter, "voter")
        self._write(lambda desk: self._block(desk, voter, True))

    def reinstate(self, voter: int) -> None:
        """Take back that a voter was invalidated."""
        counting(voter, "voter")
        self._write(lambda desk: self._block(desk, voter, False))

    def _block(self, desk: Desk, voter: int, blocked: bool) -> None:
        if bool(desk.voter_row(voter).blocked) == blocked:
            return
        if blocked:
            desk.release(desk.rows(queries.OPEN_OF_VOTER, v=voter), "released")
        desk.writing.append(desk.head, "invalidated" if blocked else "reinstated", voter=voter)
        desk.writing.connection.execute(queries.BLOCK, {"s": self.id, "v": voter, "new": int(blocked)})

    def drop(self, candidate: str) -> None:
        """Take a candidate who withdrew out of the study; answers about the others still count.

        :raises NoMatchingError: if the others cannot fill every position.
        """
        self.problem.candidate_number(candidate)

        def work(desk: Desk) -> None:
            dropped = desk.dropped()
            if candidate in dropped:
                return
            without(self.problem, [*dropped, candidate])
            rows = [row for row in desk.rows(queries.ALL_OPEN) if candidate in desk.candidates(row)]
            desk.release(rows, "dropped")
            desk.writing.append(desk.head, "dropped", note={"candidate": candidate})

        self._write(work)

    def pause(self) -> None:
        """Ask nothing for the time being; answers to what is open are taken."""
        self._move("paused", "paused", {"open"})

    def resume(self) -> None:
        """Go on asking after a pause."""
        self._move("resumed", "open", {"paused"})

    def close(self) -> None:
        """End the study. Answers that come later are kept, and count if it is opened again."""
        self._move("closed", "closed", {"open", "paused"})

    def reopen(self) -> None:
        """Open a closed study again."""
        self._move("reopened", "open", {"closed"})

    def _move(self, kind: Kind, state: str, before: set[str]) -> None:
        def work(desk: Desk) -> None:
            if desk.head.state == state:
                return
            if desk.head.state not in before:
                raise ConflictError(f"The study is {desk.head.state}, so it cannot be {kind}.")
            desk.writing.append(desk.head, kind)
            desk.head.state = state

        self._write(work)

    # Links.

    def new_key(self, role: Role, voter: int | None = None) -> str:
        """Return the token of a new link. It is shown now and never again."""
        if role not in ("organiser", "voter", "open") or (role == "voter") != (voter is not None):
            raise StudyError("A link is for an organiser, for a voter by number, or open.")
        if voter is not None:
            counting(voter, "voter")

        def work(desk: Desk) -> str:
            if voter is not None:
                desk.check_voter(desk.voter_row(voter), voter)
            token, key, hashed = new_token()
            row = {"id": key, "study": self.id, "role": role, "voter": voter, "hash": hashed}
            desk.writing.connection.execute(sa.insert(schema.secrets), row | {"created_at": desk.head.now})
            return token

        return self._write(work)

    def revoke(self, key: str, keep_one: bool = False) -> None:
        """Make a link useless from now on, unless it is the organiser's last and one is to be kept."""
        if not is_id(key):
            raise NotThereError(f"There is no link {key!r:.40} in this study.")

        def work(desk: Desk) -> None:
            if keep_one and [row.id for row in desk.rows(queries.ORGANISERS)] == [key]:
                raise ConflictError("This is the organiser's last link; make another one first.")
            values = {"s": self.id, "key": key, "now": desk.head.now}
            if desk.writing.connection.execute(queries.REVOKE, values).rowcount == 0:
                raise NotThereError(f"There is no link '{key:.40}' in this study.")

        self._write(work)

    def keys(self) -> list[Key]:
        """Return the links, without their secrets."""
        with self.store.database.reading() as connection:
            return [
                Key(row.id, row.role, row.voter, row.created_at, row.revoked_at is not None)
                for row in connection.execute(queries.KEYS, {"s": self.id})
            ]

    def works(self, key: str) -> bool:
        """Whether a link of this study, by its id, has not been revoked."""
        with self.store.database.reading() as connection:
            return bool(connection.execute(queries.WORKS, {"s": self.id, "key": key}).scalar_one())

    # What there is to see.

    def log(self, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return the entries of the log that follow one, up to so many."""
        values = {"s": self.id, "a": after, "b": queries.LAST}
        with self.store.database.reading() as connection:
            return [Entry.of(row) for row in connection.execute(queries.AFTER.limit(limit), values)]

    def head(self) -> int:
        """Return the number of the last entry; a quick way to see whether anything has happened."""
        with self.store.database.reading() as connection:
            return int(connection.execute(queries.HEAD, {"s": self.id}).scalar_one())

    def voters(self) -> list[Voter]:
        """Return the voters, and how many answers each has given."""
        board = self.store.board_now(self.id)
        with board.lock:
            answers = Counter(answer.voter for answer in board.answers.values())
        with self.store.database.reading() as connection:
            return [
                Voter(row.number, row.name, bool(row.blocked), answers[row.number])
                for row in connection.execute(queries.VOTERS, {"s": self.id})
            ]

    def answers_by(self, voter: int) -> int:
        """Return how many answers a voter has given and not taken back."""
        counting(voter, "voter")
        with self.store.database.reading() as connection:
            return int(connection.execute(queries.ANSWERS_BY, {"s": self.id, "v": voter}).scalar_one())

    def last_answered(self, voter: int) -> int | None:
        """Return the question that a voter answered last, and has not taken back."""
        counting(voter, "voter")
        with self.store.database.reading() as connection:
            row = connection.execute(queries.LAST_OF_VOTER, {"s": self.id, "v": voter}).one_or_none()
        return None if row is None else int(row.number)

    def answer_of(self, question: int) -> Receipt | None:
        """Return the answer to a question, if there is one."""
        counting(question, "question")
        with self.store.database.reading() as connection:
            row = connection.execute(queries.QUESTION, {"s": self.id, "n": question}).one_or_none()
        if row is None or row.state != "answered":
            return None
        return receipt(self.problem, row, row.winner, bool(row.tie), repeated=True)

    def votes(self, before: int = queries.LAST, voter: int | None = None, limit: int = 50) -> list[Vote]:
        """Return the latest answers, of all voters or of one, that came before an entry of the log."""
        values = {"s": self.id, "before": before, "limit": limit}
        query = queries.VOTES
        if voter is not None:
            counting(voter, "voter")
            query, values = queries.VOTES_BY, values | {"v": voter}
        with self.store.database.reading() as connection:
            rows = connection.execute(query, values).all()
        board = self.store.board_now(self.id)
        with board.lock:
            return [self._vote(row, board) for row in rows if row.number in board.answers]

    def _vote(self, row: sa.Row[Any], board: Board) -> Vote:
        said = receipt(self.problem, row, row.winner, bool(row.tie), repeated=True)
        return Vote(
            entry=row.answer,
            at=row.at,
            voter=row.voter,
            question=row.number,
            position=said.position,
            winner=said.winner,
            loser=said.loser,
            tie=said.tie,
            struck=board.answers[row.number].struck,
            counts=board.counts(row.number),
        )

    def board(self) -> Board:
        """Return what the log comes to, up to date and thought through; to read under its ``lock``."""
        board = self.store.board_now(self.id)
        board.think()
        return board

    def status(self) -> Status:
        """Say where the study stands."""
        board = self.store.board_now(self.id)
        standing = board.standing()
        told = {field.name: getattr(standing, field.name) for field in fields(standing)}
        entries = told.pop("seq")
        return Status(self.id, self.name, entries=entries, max_votes=self.settings.max_votes, **told)

    def unseen(self) -> int:
        """Return how many answers are still to be gone through before there is a status: quickly, if many."""
        return self.store.board_now(self.id).unseen

    def history(self) -> History:
        """Say how the study came to where it stands."""
        return self.store.board_now(self.id).history()
