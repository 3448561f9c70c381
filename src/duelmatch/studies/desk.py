"""The desk: what is done for voters within a transaction that holds their study."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy as sa

from duelmatch.errors import ConflictError, NotAllowedError, NotThereError, StudyError, listed
from duelmatch.studies import queries, schema
from duelmatch.studies.entries import Entry
from duelmatch.studies.prepared import Prepared
from duelmatch.studies.values import Nothing, Question, Receipt
from duelmatch.studies.writing import Writing

if TYPE_CHECKING:
    from duelmatch.studies.study import Study


class Think:
    """Said when the explorer has to think before there is a question, and not just for a moment.

    That is not done in a transaction, where others would wait for it.
    """


class Desk:
    """A study while a transaction holds it."""

    def __init__(self, study: Study, writing: Writing) -> None:
        self.writing = writing
        self.head = writing.study(study.id)
        self._store = study.store
        self._id = study.id
        self._problem = study.problem
        self._settings = study.settings

    # For voters.

    def voter_with(self, token: str) -> int | None:
        """Return the voter whose link has this token; None if it is no such link of this study."""
        access = self._store.access_in(self.writing.connection, token)
        return access.voter if access is not None and access.study == self._id else None

    def ask(self, voter: int) -> Question | Nothing | Think:
        """Return the open question of a voter, or the next."""
        self.writing.settle(self._id, voter)
        row = self._one(queries.VOTER_WITH_OPEN, v=voter)
        self.check_voter(row, voter)
        match self.head.state:
            case "paused":
                return Nothing("paused")
            case "closed":
                return Nothing("closed")
        if row.number is not None:
            return self._renewed(row)
        if not self.head.swept:
            self.release(self.rows(queries.EXPIRED, t=self.head.now), "expired")
            self.head.swept = True
        return self._next(voter)

    def _next(self, voter: int) -> Question | Nothing | Think:
        board = self._store.board_in(self.writing, self._id)
        if board is None:
            return Think()
        if not board.ready and board.quick:
            board.think()
        with board.lock:
            if not board.ready:
                return Think()
            if board.done:
                return Nothing("done")
            most = self._settings.max_votes
            if most is not None and board.counted + len(board.leases) >= most:
                return Nothing("budget")
            pair = board.choose(voter)
            if pair is None:
                nothing_left = self._settings.once and board.asked_everything(voter)
                return Nothing("all yours" if nothing_left else "waiting")
        return self._hand_out(voter, *pair)

    def _hand_out(self, voter: int, one: int, other: int) -> Question:
        self.head.questions += 1
        number = self.head.questions
        left, right = (other, one) if flipped(self._settings.seed or 0, number) else (one, other)
        expires_at = self.head.now + self._settings.lease
        values = {"number": number, "left": left, "right": right, "state": "open", "expires_at": expires_at}
        self.writing.add_question(self.head, voter, values)
        self.writing.append(self.head, "asked", voter=voter, question=number, one=left, other=right)
        return self._question(number, voter, left, right, expires_at)

    def _renewed(self, row: Any) -> Question:
        """Return a question that is open, with the lease prolonged if half of it is over."""
        expires_at = row.expires_at
        if expires_at - self.head.now < self._settings.lease / 2:
            expires_at = self.head.now + self._settings.lease
            self.change(row.number, expires_at=expires_at)
        return self._question(row.number, row.voter, row.left, row.right, expires_at)

    def tell(self, voter: int, question: int, winner: str | None) -> Receipt:
        """Keep an answer, or return the one that there is; a coin decides where there is no winner."""
        self.writing.settle(self._id, voter)
        row = self._one(queries.WITH_VOTER, n=question)
        self._check_own(row, voter, question)
        if row.state == "answered":
            return receipt(self._problem, row, row.winner, bool(row.tie), repeated=True)
        if row.state == "skipped":
            raise ConflictError(f"Question {question} was skipped already; answer the next one.")
        self.check_voter(row, voter)
        tie = winner is None
        won = self.edge_of(row, winner or secrets.choice(sorted(self.candidates(row))))
        lost = row.left + row.right - won
        note = {"tie": True} if tie else {}
        if row.state == "released":
            note["late"] = True
        seq = self.writing.append(
            self.head, "answered", voter=voter, question=question, one=won, other=lost, note=note
        )
        self.writing.add_answer(self.head, voter, question, winner=won, tie=tie, answer=seq)
        return receipt(self._problem, row, won, tie, repeated=False)

    def give_back(self, voter: int, question: int, kind: Literal["skipped", "released"], reason: str) -> None:
        """Skip or release an open question of a voter; what is given back already stays so."""
        row = self.row(question)
        self._check_own(row, voter, question)
        if row.state == "answered":
            raise ConflictError(f"Question {question} is answered; undo the answer first.")
        if row.state == "open":
            note = {"reason": reason} if reason else None
            self.writing.append(self.head, kind, voter=voter, question=question, note=note)
            self.change(question, state=kind)

    def undo(self, voter: int, question: int | None) -> Question:
        """Take the last answer of a voter back and open its question again; only of this one, if said."""
        self.check_voter(self.voter_row(voter), voter)
        if self.head.state == "closed":
            raise ConflictError("The study is closed; answers cannot be taken back any more.")
        if question is not None:
            row = self.row(question)
            self._check_own(row, voter, question)
            if row.state == "open":
                return self._renewed(row)
        rows = self.rows(queries.LAST_OF_VOTER, v=voter)
        if not rows:
            raise ConflictError("There is no answer to take back.")
        (row,) = rows
        if question not in (None, row.number):
            raise ConflictError(f"Question {question} is not the one that you answered last.")
        if gone := self.candidates(row) & set(self.dropped()):
            raise ConflictError(f"{listed(gone)} withdrew, so that answer does not count any more.")
        self.release(self.rows(queries.OPEN_OF_VOTER, v=voter), "undo")
        self.writing.append(self.head, "undone", voter=voter, question=row.number)
        expires_at = self.head.now + self._settings.lease
        self.change(row.number, state="open", winner=None, tie=0, answer=None, expires_at=expires_at)
        return self._question(row.number, voter, row.left, row.right, expires_at)

    # For all.

    def release(self, rows: Iterable[Any], reason: str) -> None:
        """Release open questions."""
        for row in rows:
            note = {"reason": reason}
            self.writing.append(self.head, "released", voter=row.voter, question=row.number, note=note)
            self.change(row.number, state="released")

    def change(self, question: int, **values: Any) -> None:
        """Change the row of a question."""
        self.writing.flush()
        self.writing.connection.execute(queries.CHANGE.values(**values), {"s": self._id, "n": question})

    def rows(self, query: sa.Select[Any], **values: Any) -> Sequence[Any]:
        """Return what a query finds in this study, with all that this transaction has written."""
        self.writing.flush()
        return self.writing.connection.execute(query, {"s": self._id, **values}).all()

    def _one(self, query: Prepared, **values: Any) -> Any:
        return query.one(self.writing.connection, {"s": self._id, **values})

    def row(self, question: int) -> Any:
        """Return the row of a question."""
        rows = self.rows(queries.QUESTION, n=question)
        if not rows:
            raise NotThereError(f"There is no question {question} in this study.")
        return rows[0]

    def voter_row(self, voter: int) -> Any:
        """Return the row of a voter."""
        rows = self.rows(queries.VOTER, v=voter)
        if not rows:
            raise NotThereError(f"There is no voter {voter} in this study.")
        return rows[0]

    def voter_named(self, name: str) -> int | None:
        """Return the number of the voter of this name."""
        rows = self.rows(queries.VOTER_NAMED, name=name)
        return rows[0].number if rows else None

    def add_voter(self, name: str | None) -> int:
        """Add a voter and return the number."""
        if name is not None and self.voter_named(name):
            raise ConflictError(f"There is a voter called '{name}' already.")
        self.head.voters += 1
        row = {"study": self._id, "number": self.head.voters, "name": name}
        self.writing.connection.execute(sa.insert(schema.voters), row)
        self.writing.append(self.head, "joined", voter=self.head.voters)
        return self.head.voters

    def dropped(self) -> list[str]:
        """Return the candidates who withdrew."""
        entries = (Entry.of(row) for row in self.rows(queries.DROPPED))
        return [(entry.note or {})["candidate"] for entry in entries]

    def candidates(self, row: Any) -> set[str]:
        """Return the two candidates of a question."""
        return {self._problem.edges[edge][0] for edge in (row.left, row.right)}

    def edge_of(self, row: Any, winner: str) -> int:
        """Return the edge of a question that a winner's name means."""
        for edge in (row.left, row.right):
            if self._problem.edges[edge][0] == winner:
                return int(edge)
        left, right = (self._problem.edges[edge][0] for edge in (row.left, row.right))
        raise StudyError(f"Question {row.number} is about '{left}' and '{right}', not '{winner!s:.80}'.")

    @staticmethod
    def check_voter(row: Any, voter: int) -> None:
        """Refuse who is not there, or was taken out."""
        if row is None:
            raise NotThereError(f"There is no voter {voter} in this study.")
        if row.blocked:
            raise NotAllowedError("The organiser has taken this voter out of the study.")

    @staticmethod
    def _check_own(row: Any, voter: int, question: int) -> None:
        if row is None:
            raise NotThereError(f"There is no question {question} in this study.")
        if row.voter != voter:
            raise NotAllowedError(f"Question {question} was put to somebody else.")

    def _question(self, number: int, voter: int, left: int, right: int, expires_at: float) -> Question:
        edges = self._problem.edges
        return Question(number, voter, edges[left][1], edges[left][0], edges[right][0], expires_at)


def receipt(problem: Any, row: Any, winner: int, tie: bool, repeated: bool) -> Receipt:
    """Return what is said of an answer."""
    (name, position), (loser, _) = (problem.edges[edge] for edge in (winner, row.left + row.right - winner))
    return Receipt(row.number, position, name, loser, tie, repeated)


def flipped(seed: int, question: int) -> bool:
    """Whether the sides of a question are swapped: as good as a coin, and the same for the same question."""
    return bool(hashlib.sha256(f"{seed} {question}".encode()).digest()[0] % 2)
