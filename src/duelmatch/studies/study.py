"""A study: questions for voters, their answers, and what organisers do about both.

All of it is short transactions at the end of the log. Only :meth:`Study.ask` and :meth:`Study.status` need the
explorer; an answer is written without it, and thought about when somebody next asks.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import sqlalchemy as sa

from duelmatch.errors import ConflictError, NotAllowedError, NotThereError, StudyError, listed
from duelmatch.explorers import Progress, Result
from duelmatch.problem import Problem
from duelmatch.studies import schema
from duelmatch.studies.board import Board
from duelmatch.studies.course import without
from duelmatch.studies.entries import Entry, Kind
from duelmatch.studies.keys import Key, Role, new_token
from duelmatch.studies.settings import Settings
from duelmatch.studies.texts import plain
from duelmatch.studies.writing import Head, Writing

if TYPE_CHECKING:
    from duelmatch.studies.store import Store

Returned = TypeVar("Returned")

Reason = Literal["done", "waiting", "all yours", "budget", "paused", "closed"]
"""Why there is no question: the explorer is sure; it waits for the answers of others; this voter was asked
everything; the votes that were planned are there; the organiser has paused or closed the study."""

LONGEST_REASON = 500

_questions = schema.questions.c
_OPEN = _questions.state == sa.literal_column("'open'")  # written out, so that the index applies
_OF_STUDY = _questions.study == sa.bindparam("s")
_QUESTION = sa.select(schema.questions).where(_OF_STUDY, _questions.number == sa.bindparam("n"))
_OPEN_OF_VOTER = sa.select(schema.questions).where(_OF_STUDY, _questions.voter == sa.bindparam("v"), _OPEN)
_EXPIRED = sa.select(schema.questions).where(_OF_STUDY, _OPEN, _questions.expires_at <= sa.bindparam("t"))
_ALL_OPEN = sa.select(schema.questions).where(_OF_STUDY, _OPEN)
_LAST_OF_VOTER = (
    sa.select(schema.questions)
    .where(_OF_STUDY, _questions.voter == sa.bindparam("v"), _questions.answer.is_not(None))
    .order_by(_questions.answer.desc())
    .limit(1)
)
_CHANGE = sa.update(schema.questions).where(_OF_STUDY, _questions.number == sa.bindparam("n"))
_VOTER = sa.select(schema.voters).where(
    schema.voters.c.study == sa.bindparam("s"), schema.voters.c.number == sa.bindparam("v")
)
_WITH_VOTER = (
    sa.select(schema.questions, schema.voters.c.blocked)
    .join(schema.voters)
    .where(_OF_STUDY, _questions.number == sa.bindparam("n"))
)
_VOTER_WITH_OPEN = (
    sa.select(schema.questions, schema.voters.c.blocked)
    .select_from(schema.voters)
    .outerjoin(
        schema.questions,
        sa.and_(_questions.study == schema.voters.c.study, _questions.voter == schema.voters.c.number, _OPEN),
    )
    .where(schema.voters.c.study == sa.bindparam("s"), schema.voters.c.number == sa.bindparam("v"))
)

LAST = 2**31 - 1
"""No entry has a higher number."""

AFTER = (
    sa.select(schema.entries)
    .where(
        schema.entries.c.study == sa.bindparam("s"),
        schema.entries.c.seq > sa.bindparam("a"),
        schema.entries.c.seq <= sa.bindparam("b"),
    )
    .order_by(schema.entries.c.seq)
)
"""The entries of study s behind a, up to b."""


@dataclass(frozen=True, slots=True)
class Question:
    """A duel put to a voter, as it is shown: two candidates for a position. The lease ends at a time by the
    database's clock; after that, somebody else may be asked, but an answer still counts.
    """

    number: int
    voter: int
    position: str
    left: str
    right: str
    expires_at: float


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is no question for a voter now."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Receipt:
    """An answer that is kept. ``repeated``: it was there already, and this is what it was."""

    question: int
    position: str
    winner: str
    loser: str
    tie: bool
    repeated: bool


@dataclass(frozen=True, slots=True)
class Voter:
    """Somebody who may vote; the name is what the organiser calls them."""

    number: int
    name: str | None
    blocked: bool
    answers: int
    valid: bool


@dataclass(frozen=True, slots=True)
class Status:
    """Where a study stands.

    ``answers`` were given, of which ``counted`` count: not those taken back, struck out, of invalidated voters,
    given after closing, or about candidates who withdrew. The explorer still needs ``missing`` answers before
    it can say more than ``result`` and ``progress``, and has ``unused`` ones.
    """

    id: str
    name: str
    state: str
    done: bool
    entries: int
    voters: int
    questions: int
    open_questions: int
    answers: int
    counted: int
    missing: int
    unused: int
    dropped: tuple[str, ...]
    result: Result
    progress: Progress


class _Think:
    """Said by work that cannot go on before the explorer has thought."""


_THINK = _Think()


class Study:
    """One study of a store. Safe to use from several threads, and processes."""

    def __init__(self, store: Store, study: str, name: str, problem: Problem, settings: Settings) -> None:
        self.id = study
        self.name = name
        self.problem = problem
        """As it was at the beginning; candidates may have been dropped since."""
        self.settings = settings
        self._store = store

    # Voters.

    def ask(self, voter: int) -> Question | Nothing:
        """Return the voter's question: the one that is open, or else the next."""
        while True:
            self._store.board(self.id).think()
            asked = self._write(lambda writing: self._ask(writing, voter))
            if not isinstance(asked, _Think):
                return asked

    def _ask(self, writing: Writing, voter: int) -> Question | Nothing | _Think:
        head = writing.study(self.id)
        writing.settle(self.id, voter)
        row = writing.connection.execute(_VOTER_WITH_OPEN, {"s": self.id, "v": voter}).one_or_none()
        self._check_voter(row, voter)
        if head.state == "paused":
            return Nothing("paused")
        if head.state == "closed":
            return Nothing("closed")
        if row.number is not None:
            return self._renewed(writing, head, row)
        if not head.swept:
            self._release(writing, head, self._rows(writing, _EXPIRED, t=head.now), "expired")
            head.swept = True
        board = self._store.board_in(writing, self.id)
        if board is None:
            return _THINK
        with board.lock:
            if not board.ready:
                return _THINK
            if board.done:
                return Nothing("done")
            most = self.settings.max_votes
            if most is not None and board.counted + len(board.leases) >= most:
                return Nothing("budget")
            pair = board.choose(voter)
            if pair is None:
                return Nothing("all yours" if self.settings.once and board.asked.get(voter) else "waiting")
        return self._hand_out(writing, head, voter, *pair)

    def _hand_out(self, writing: Writing, head: Head, voter: int, one: int, other: int) -> Question:
        head.questions += 1
        number = head.questions
        left, right = (other, one) if flipped(self.settings.seed, number) else (one, other)
        expires_at = head.now + self.settings.lease
        values = {"number": number, "left": left, "right": right, "state": "open", "expires_at": expires_at}
        writing.add_question(head, voter, values)
        writing.append(head, "asked", voter=voter, question=number, one=left, other=right)
        return self._question(number, voter, left, right, expires_at)

    def _renewed(self, writing: Writing, head: Head, row: Any) -> Question:
        """Return a question that is open, with the lease prolonged if half of it is over."""
        expires_at = row.expires_at
        if expires_at - head.now < self.settings.lease / 2:
            expires_at = head.now + self.settings.lease
            self._change(writing, row.number, expires_at=expires_at)
        return self._question(row.number, row.voter, row.left, row.right, expires_at)

    def tell(self, voter: int, question: int, winner: str | None) -> Receipt:
        """Keep a voter's answer: the better candidate, or None for a tie, which a coin decides.

        An answer is kept whenever it comes, and once: if there is one already, that is returned.
        """
        if winner is None and not self.settings.ties:
            raise NotAllowedError("This study has no ties: choose one of the two.")
        return self._write(lambda writing: self._tell(writing, voter, question, winner))

    def _tell(self, writing: Writing, voter: int, question: int, winner: str | None) -> Receipt:
        head = writing.study(self.id)
        writing.settle(self.id, voter)
        row = writing.connection.execute(_WITH_VOTER, {"s": self.id, "n": question}).one_or_none()
        self._check_own(row, voter, question)
        if row.state == "answered":
            return self._receipt(row, row.winner, bool(row.tie), repeated=True)
        if row.state == "skipped":
            raise ConflictError(f"Question {question} was skipped already; answer the next one.")
        self._check_voter(row, voter)
        tie = winner is None
        edges = (row.left, row.right)
        won = edges[secrets.randbelow(2)] if winner is None else self._edge_of(row, winner)
        note = {"tie": True} if tie else {}
        if row.state == "released":
            note["late"] = True
        seq = writing.append(
            head, "answered", voter=voter, question=question, one=won, other=sum(edges) - won, note=note
        )
        writing.add_answer(head, voter, question, winner=won, tie=tie, answer=seq)
        return self._receipt(row, won, tie, repeated=False)

    def skip(self, voter: int, question: int, reason: str = "") -> None:
        """Pass on a question, for a reason that should not be the answer one would give."""
        if not self.settings.skips:
            raise NotAllowedError("This study has no skipping: choose one of the two.")
        reason = plain(reason, "The reason", LONGEST_REASON, empty=True)
        self._write(lambda writing: self._give_back(writing, voter, question, "skipped", reason))

    def release(self, voter: int, question: int) -> None:
        """Give back a question that will not be answered; the voter may be asked it again."""
        self._write(lambda writing: self._give_back(writing, voter, question, "released", "released"))

    def _give_back(
        self, writing: Writing, voter: int, question: int, kind: Literal["skipped", "released"], reason: str
    ) -> None:
        head = writing.study(self.id)
        row = self._own(writing, voter, question)
        if row.state == "answered":
            raise ConflictError(f"Question {question} is answered; undo the answer first.")
        if row.state == "open":
            note = {"reason": reason} if reason else None
            writing.append(head, kind, voter=voter, question=question, note=note)
            self._change(writing, question, state=kind)

    def undo(self, voter: int) -> Question:
        """Take the voter's last answer back, and return its question, which is open again."""
        return self._write(lambda writing: self._undo(writing, voter))

    def _undo(self, writing: Writing, voter: int) -> Question:
        head = writing.study(self.id)
        self._check_voter(self._voter_row(writing, voter), voter)
        if head.state == "closed":
            raise ConflictError("The study is closed; answers cannot be taken back any more.")
        rows = self._rows(writing, _LAST_OF_VOTER, v=voter)
        if not rows:
            raise ConflictError("There is no answer to take back.")
        (row,) = rows
        if gone := self._candidates(row) & set(self._dropped(writing)):
            raise ConflictError(f"{listed(gone)} withdrew, so that answer does not count any more.")
        self._release(writing, head, self._rows(writing, _OPEN_OF_VOTER, v=voter), "undo")
        writing.append(head, "undone", voter=voter, question=row.number)
        expires_at = head.now + self.settings.lease
        self._change(
            writing, row.number, state="open", winner=None, tie=0, answer=None, expires_at=expires_at
        )
        return self._question(row.number, voter, row.left, row.right, expires_at)

    # Organisers.

    def add_voter(self, name: str | None = None) -> int:
        """Add a voter and return the number."""
        if name is not None:
            name = plain(name, "The name of a voter")
        return self._write(lambda writing: self._add_voter(writing, name))

    def voter_named(self, name: str) -> int:
        """Return the number of the voter of this name, who is added if need be."""
        name = plain(name, "The name of a voter")
        return self._write(lambda writing: self._named(writing, name) or self._add_voter(writing, name))

    def _add_voter(self, writing: Writing, name: str | None) -> int:
        head = writing.study(self.id)
        if name is not None and self._named(writing, name):
            raise ConflictError(f"There is a voter called '{name}' already.")
        head.voters += 1
        row = {"study": self.id, "number": head.voters, "name": name}
        writing.connection.execute(sa.insert(schema.voters), row)
        writing.append(head, "joined", voter=head.voters)
        return head.voters

    def _named(self, writing: Writing, name: str) -> int | None:
        writing.study(self.id)
        voters = schema.voters.c
        return writing.connection.execute(
            sa.select(voters.number).where(voters.study == self.id, voters.name == name)
        ).scalar_one_or_none()

    def correct(self, question: int, winner: str | None) -> None:
        """Change an answer, or with None strike it out."""

        def work(writing: Writing) -> None:
            head = writing.study(self.id)
            row = self._row(writing, question)
            if row.state != "answered":
                raise ConflictError(f"Question {question} has no answer to correct.")
            if winner is None:
                writing.append(head, "corrected", question=question)
                return
            won = self._edge_of(row, winner)
            lost = row.left + row.right - won
            writing.append(head, "corrected", question=question, one=won, other=lost)
            self._change(writing, question, winner=won, tie=0)

        self._write(work)

    def invalidate(self, voter: int) -> None:
        """Let no answer of a voter count, neither those given nor those to come, and ask them nothing more."""
        self._write(lambda writing: self._block(writing, voter, True))

    def reinstate(self, voter: int) -> None:
        """Take back that a voter was invalidated."""
        self._write(lambda writing: self._block(writing, voter, False))

    def _block(self, writing: Writing, voter: int, blocked: bool) -> None:
        head = writing.study(self.id)
        row = self._voter_row(writing, voter)
        if row is None:
            raise NotThereError(f"There is no voter {voter} in this study.")
        if bool(row.blocked) == blocked:
            return
        if blocked:
            self._release(writing, head, self._rows(writing, _OPEN_OF_VOTER, v=voter), "released")
        writing.append(head, "invalidated" if blocked else "reinstated", voter=voter)
        voters = schema.voters
        writing.connection.execute(
            sa.update(voters)
            .where(voters.c.study == self.id, voters.c.number == voter)
            .values(blocked=int(blocked))
        )

    def drop(self, candidate: str) -> None:
        """Take a candidate who withdrew out of the study; answers about the others still count.

        :raises NoMatchingError: if the others cannot fill every position.
        """
        self.problem.candidate_number(candidate)

        def work(writing: Writing) -> None:
            head = writing.study(self.id)
            dropped = self._dropped(writing)
            if candidate in dropped:
                return
            without(self.problem, [*dropped, candidate])
            rows = [row for row in self._rows(writing, _ALL_OPEN) if candidate in self._candidates(row)]
            self._release(writing, head, rows, "dropped")
            writing.append(head, "dropped", note={"candidate": candidate})

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
        def work(writing: Writing) -> None:
            head = writing.study(self.id)
            if head.state == state:
                return
            if head.state not in before:
                raise ConflictError(f"The study is {head.state}, so it cannot be {kind}.")
            writing.append(head, kind)
            head.state = state

        self._write(work)

    # Links.

    def new_key(self, role: Role, voter: int | None = None) -> str:
        """Return the token of a new link. It is shown now and never again."""
        if role not in ("organiser", "voter", "open") or (role == "voter") != (voter is not None):
            raise StudyError("A link is for an organiser, for a voter by number, or open.")

        def work(writing: Writing) -> str:
            head = writing.study(self.id)
            if voter is not None:
                self._check_voter(self._voter_row(writing, voter), voter)
            token, key, hashed = new_token()
            row = {"id": key, "study": self.id, "role": role, "voter": voter, "hash": hashed}
            writing.connection.execute(sa.insert(schema.secrets), row | {"created_at": head.now})
            return token

        return self._write(work)

    def revoke(self, key: str) -> None:
        """Make a link useless from now on."""

        def work(writing: Writing) -> None:
            head = writing.study(self.id)
            secret = schema.secrets.c
            found = writing.connection.execute(
                sa.update(schema.secrets)
                .where(secret.study == self.id, secret.id == key)
                .values(revoked_at=sa.func.coalesce(secret.revoked_at, head.now))
            )
            if found.rowcount == 0:
                raise NotThereError(f"There is no link '{key:.40}' in this study.")

        self._write(work)

    def keys(self) -> list[Key]:
        """Return the links, without their secrets."""
        secret = schema.secrets.c
        query = (
            sa.select(schema.secrets).where(secret.study == self.id).order_by(secret.created_at, secret.id)
        )
        with self._store.database.reading() as connection:
            return [
                Key(row.id, row.role, row.voter, row.created_at, row.revoked_at is not None)
                for row in connection.execute(query)
            ]

    # What there is to see.

    def log(self, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return the entries of the log that follow one, up to so many."""
        with self._store.database.reading() as connection:
            rows = connection.execute(AFTER.limit(limit), {"s": self.id, "a": after, "b": LAST})
            return [Entry.of(row) for row in rows]

    def voters(self) -> list[Voter]:
        """Return the voters, and how many answers each has given."""
        board = self._store.board_now(self.id)
        with board.lock:
            answers: dict[int, int] = {}
            for answer in board.answers.values():
                answers[answer.voter] = answers.get(answer.voter, 0) + 1
            voided = set(board.voided)
        query = (
            sa.select(schema.voters).where(schema.voters.c.study == self.id).order_by(schema.voters.c.number)
        )
        with self._store.database.reading() as connection:
            return [
                Voter(
                    row.number,
                    row.name,
                    bool(row.blocked),
                    answers.get(row.number, 0),
                    row.number not in voided,
                )
                for row in connection.execute(query)
            ]

    def status(self) -> Status:
        """Say where the study stands."""
        board = self._store.board_now(self.id)
        standing = board.standing()
        with self._store.database.reading() as connection:
            row = connection.execute(sa.select(schema.studies).where(schema.studies.c.id == self.id)).one()
        with board.lock:
            return Status(
                self.id,
                self.name,
                board.state,
                standing.done,
                board.seq,
                row.voters,
                row.questions,
                len(board.leases),
                len(board.answers),
                board.counted,
                standing.missing,
                standing.unused,
                tuple(board.dropped),
                standing.result,
                standing.progress,
            )

    def board(self) -> Board:
        """Return what the log comes to, up to date and thought through; for reading only, under its ``lock``."""
        board = self._store.board_now(self.id)
        board.think()
        return board

    def answer_of(self, question: int) -> Receipt | None:
        """Return the answer to a question, if there is one."""
        with self._store.database.reading() as connection:
            row = connection.execute(_QUESTION, {"s": self.id, "n": question}).one_or_none()
        if row is None or row.state != "answered":
            return None
        return self._receipt(row, row.winner, bool(row.tie), repeated=True)

    # Helpers.

    def _write(self, work: Any) -> Any:
        return self._store.writer.write(self.id, work)

    def _rows(self, writing: Writing, query: sa.Select[Any], **values: Any) -> Sequence[Any]:
        writing.flush()
        return writing.connection.execute(query, {"s": self.id, **values}).all()

    def _change(self, writing: Writing, question: int, **values: Any) -> None:
        writing.flush()
        writing.connection.execute(_CHANGE.values(**values), {"s": self.id, "n": question})

    def _release(self, writing: Writing, head: Head, rows: Iterable[Any], reason: str) -> None:
        for row in rows:
            note = {"reason": reason}
            writing.append(head, "released", voter=row.voter, question=row.number, note=note)
            self._change(writing, row.number, state="released")

    def _row(self, writing: Writing, question: int) -> Any:
        rows = self._rows(writing, _QUESTION, n=question)
        if not rows:
            raise NotThereError(f"There is no question {question} in this study.")
        return rows[0]

    def _own(self, writing: Writing, voter: int, question: int) -> Any:
        row = self._row(writing, question)
        self._check_own(row, voter, question)
        return row

    @staticmethod
    def _check_own(row: Any, voter: int, question: int) -> None:
        if row is None:
            raise NotThereError(f"There is no question {question} in this study.")
        if row.voter != voter:
            raise NotAllowedError(f"Question {question} was put to somebody else.")

    def _voter_row(self, writing: Writing, voter: int) -> Any:
        rows = self._rows(writing, _VOTER, v=voter)
        return rows[0] if rows else None

    @staticmethod
    def _check_voter(row: Any, voter: int) -> None:
        if row is None:
            raise NotThereError(f"There is no voter {voter} in this study.")
        if row.blocked:
            raise NotAllowedError("The organiser has taken this voter out of the study.")

    def _dropped(self, writing: Writing) -> list[str]:
        writing.flush()
        entry = schema.entries.c
        query = sa.select(schema.entries).where(entry.study == self.id, entry.kind == "dropped")
        return [
            (Entry.of(row).note or {})["candidate"]
            for row in writing.connection.execute(query.order_by(entry.seq))
        ]

    def _edge_of(self, row: Any, winner: str) -> int:
        for edge in (row.left, row.right):
            if self.problem.edges[edge][0] == winner:
                return int(edge)
        left, right = (self.problem.edges[edge][0] for edge in (row.left, row.right))
        raise StudyError(f"Question {row.number} is about '{left}' and '{right}', not '{winner!s:.80}'.")

    def _candidates(self, row: Any) -> set[str]:
        return {self.problem.edges[edge][0] for edge in (row.left, row.right)}

    def _question(self, number: int, voter: int, left: int, right: int, expires_at: float) -> Question:
        edges = self.problem.edges
        return Question(number, voter, edges[left][1], edges[left][0], edges[right][0], expires_at)

    def _receipt(self, row: Any, winner: int, tie: bool, repeated: bool) -> Receipt:
        (name, position), (loser, _) = (
            self.problem.edges[e] for e in (winner, row.left + row.right - winner)
        )
        return Receipt(row.number, position, name, loser, tie, repeated)


def flipped(seed: int, question: int) -> bool:
    """Whether the sides of a question are swapped: as good as a coin, and always the same for the same one."""
    return bool(hashlib.sha256(f"{seed} {question}".encode()).digest()[0] % 2)
