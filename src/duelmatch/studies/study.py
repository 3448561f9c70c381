"""A study: questions for voters, their answers, and what organisers do about both.

All of it is short transactions at the end of the log. Whoever must not wait uses :meth:`Study.submit`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from itertools import dropwhile, islice
from typing import Any, Literal, TypeVar, get_args

import sqlalchemy as sa

from duelmatch.errors import ConflictError, NotAllowedError, NotThereError, StudyError
from duelmatch.explorers.questions import Answer
from duelmatch.explorers.result import Result
from duelmatch.problem import Details, Problem
from duelmatch.studies import schema
from duelmatch.studies.candidates import checked_details
from duelmatch.studies.database import Database
from duelmatch.studies.entries import Entry, checked
from duelmatch.studies.estimates import MOST_ANSWERS, SIMULATING, Estimates, Moment
from duelmatch.studies.feed import Feed
from duelmatch.studies.hints import LATEST, Hints, hints
from duelmatch.studies.history import History
from duelmatch.studies.kinds import Later
from duelmatch.studies.links import Access, Link, Role, id_of, is_id, new_token, works_at
from duelmatch.studies.log import LAST, Transaction, Writer, end_of, read_entries
from duelmatch.studies.pictures import claim
from duelmatch.studies.previews import Action, Preview, preview
from duelmatch.studies.settings import Settings
from duelmatch.studies.state import Member, State
from duelmatch.studies.states import States
from duelmatch.studies.texts import look_alike, plain
from duelmatch.studies.values import GivenAnswer, Nothing, Question, Receipt, Report, Status, Trouble, Voter
from duelmatch.studies.verdicts import assumptions_of, result_of

Returned = TypeVar("Returned")

MOST_TRIES = 3
"""How often a change is worked out that others have overtaken."""

LONGEST_REASON = 500
LARGEST_WEIGHT = 1_000

NO_STRANGERS = (
    "A panel decides by the people named: with an open link, whoever opens it becomes a judge, and what they "
    "have not said holds up the result. Make a link for each judge, or say that strangers are to be judges."
)


def new_voter_id() -> str:
    """Return an id that says nothing about the voter: 16 hexadecimal digits."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class NewVoter:
    """A voter to be: a name that stays out of the log, a weight, and candidates the voter does not judge.

    Whoever has a part of the candidates ``only`` does not judge the others of this moment.
    """

    name: str | None = None
    weight: int = 1
    conflicts: Collection[str] = ()
    only: Collection[str] | None = None

    def checked(self, problem: Problem) -> NewVoter:
        """Return the same with plain text, if it is about this problem."""
        name = None if self.name is None else plain(self.name, "The name of a voter")
        if type(self.weight) is not int or not 1 <= self.weight <= LARGEST_WEIGHT:
            raise StudyError(
                f"A weight is a whole number from 1 to {LARGEST_WEIGHT}, not {self.weight!r:.40}."
            )
        conflicts = list(self.conflicts)
        for candidate in (*conflicts, *(self.only or ())):
            problem.candidate_number(candidate)
        if self.only is not None:
            conflicts += [name for name in problem.candidates if name not in (*self.only, *conflicts)]
        return NewVoter(name, self.weight, tuple(conflicts))

    def as_dict(self, voter: str) -> dict[str, Any]:
        """Return what the log has of a voter."""
        return {"id": voter, "weight": self.weight, "conflicts": list(self.conflicts)}


class Study:
    """One study of a store. Safe to use from several threads, and processes.

    Whatever an organiser does takes ``by``, the id of the link that acts, which the log then names.
    """

    def __init__(
        self, database: Database, writer: Writer, states: States, study: str, settings: Settings
    ) -> None:
        self.id = study
        self.settings = settings
        self._database = database
        self._writer = writer
        self._states = states

    # Transactions.

    def submit(self, work: Callable[[Feed], Returned], by: str | None = None) -> Future[Returned]:
        """Do some work on the feed in a transaction, and do not wait for it.

        The future is done when all of it is on disk. ``study.submit(lambda feed: feed.ask(voter))`` is what
        a server with many voters uses; :meth:`ask` and the others wait.
        """
        return self._submit(lambda transaction, feed: work(feed), by)

    def submit_as(
        self,
        token: str,
        work: Callable[[Feed, Access], Returned],
        succeed: Callable[[Returned], object],
        fail: Callable[[BaseException], object],
    ) -> None:
        """Do some work for whoever has a link's token, which is looked up in the same transaction.

        When all of it is on disk, ``succeed`` is called with what it returned, or else ``fail``: with a
        NotAllowedError if the token does not open this study. Both are called in another thread.
        """

        def checked_work(transaction: Transaction, feed: Feed) -> Returned:
            access = transaction.access(token)
            if access is None or access.study != self.id:
                raise NotAllowedError("This link does not open this study.")
            feed.by = access.link
            return work(feed, access)

        self._begin(checked_work, None, token, succeed, fail)

    def _submit(self, work: Callable[[Transaction, Feed], Returned], by: str | None) -> Future[Returned]:
        if by is not None and not is_id(by):
            raise NotThereError(f"There is no link {by!r:.40} in this study.")
        outcome: Future[Returned] = Future()
        self._begin(work, by, None, outcome.set_result, outcome.set_exception)
        return outcome

    def _begin(
        self,
        work: Callable[[Transaction, Feed], Returned],
        by: str | None,
        token: str | None,
        succeed: Callable[[Returned], object],
        fail: Callable[[BaseException], object],
    ) -> None:
        """Do some work in a transaction; if that has to wait for a computation, again after it."""
        worked_out = 0

        def turn(transaction: Transaction) -> Returned | Later:
            held = transaction.hold(self.id)
            state = self._states.within(transaction, held)
            if state is None:
                return Later()
            try:
                return work(transaction, Feed(state, held, by))
            except Later as later:
                return later

        def attempt() -> None:
            self._writer.do(self.id, turn, finish, fail, token)

        def try_again(prepared: Future[None]) -> None:
            if (error := prepared.exception()) is not None:
                fail(error)
            else:
                attempt()

        def finish(returned: Returned | Later) -> None:
            nonlocal worked_out
            if not isinstance(returned, Later):
                succeed(returned)
                return
            worked_out += returned.event is not None
            if worked_out > MOST_TRIES:
                fail(ConflictError("Somebody else is changing this study at the same time. Try again."))
            else:
                self._states.preparing(self.id, returned.event).add_done_callback(try_again)

        attempt()

    def _do(self, work: Callable[[Feed], Returned], by: str | None = None) -> Returned:
        return self.submit(work, by).result()

    # Voters.

    def ask(self, voter: str, by: str | None = None) -> Question | Nothing:
        """Return the voter's open question, or else the next; or say why there is none."""
        return self._do(lambda feed: feed.ask(voter), by)

    def tell(self, voter: str, question: int, answer: Answer, by: str | None = None) -> Receipt:
        """Keep a voter's answer: the better candidate, None for no difference, or a ranking with ties.

        An answer is kept whenever it comes, and once: the same one again returns what was kept.

        :raises ConflictError: if another answer was kept before.
        """
        return self._do(lambda feed: feed.tell(voter, question, answer), by)

    def skip(self, voter: str, question: int, reason: str = "", by: str | None = None) -> None:
        """Pass on a question, for a reason that should not be the answer one would give."""
        reason = plain(reason, "The reason", LONGEST_REASON, empty=True)
        self._do(lambda feed: feed.skip(voter, question, reason), by)

    def release(self, voter: str, question: int, by: str | None = None) -> None:
        """Give back a question that will not be answered now; the voter may be asked it again."""
        self._do(lambda feed: feed.release(voter, question), by)

    def undo(self, voter: str, question: int | None = None, by: str | None = None) -> Question:
        """Take the voter's last answer back, and return its question, which is open again.

        Say which question that is about, and nothing happens the second time. In a crowd, an answer can be
        taken back only until the voter's ballot is settled.

        :raises ConflictError: if there is no such answer, or it cannot be taken back any more.
        """
        return self._do(lambda feed: feed.undo(voter, question), by)

    def report(
        self, voter: str, candidate: str, problem: Trouble, text: str = "", by: str | None = None
    ) -> None:
        """Tell the organiser that something is wrong with a candidate: absent, or a link that is broken."""
        if problem not in get_args(Trouble):
            raise StudyError(f"A problem is {', '.join(get_args(Trouble))}, not {problem!r:.40}.")
        text = plain(text, "The report", LONGEST_REASON, empty=True)
        self._do(lambda feed: feed.report(voter, candidate, problem, text), by)

    # Organisers: voters.

    def add_voter(
        self,
        name: str | None = None,
        weight: int = 1,
        conflicts: Collection[str] = (),
        by: str | None = None,
    ) -> str:
        """Add a voter, and return the id."""
        return self.add_voters([NewVoter(name, weight, conflicts)], by)[0]

    def add_voters(self, voters: Iterable[NewVoter], by: str | None = None) -> list[str]:
        """Add voters, all of them or none, and return their ids."""
        new = list(voters)

        def work(transaction: Transaction, feed: Feed) -> list[str]:
            checked = [voter.checked(feed.state.problem) for voter in new]
            if twice := look_alike(voter.name for voter in checked if voter.name is not None):
                raise StudyError(f"Two voters are called '{twice:.80}'.")
            names, columns = [voter.name for voter in checked if voter.name is not None], schema.voters.c
            query = sa.select(columns.name).where(columns.study == self.id, columns.name.in_(names))
            if taken := transaction.connection.execute(query.limit(1)).scalar_one_or_none():
                raise ConflictError(f"There is a voter called '{taken}' already.")
            return self._enter(transaction, feed, checked)

        return self._submit(work, by).result()

    def voter_named(self, name: str, by: str | None = None) -> str:
        """Return the id of the voter of this name, who is added if need be."""

        def work(transaction: Transaction, feed: Feed) -> str:
            new = NewVoter(name).checked(feed.state.problem)
            known = self._voter_called(transaction, new.name or "")
            return known or self._enter(transaction, feed, [new])[0]

        return self._submit(work, by).result()

    def _enter(self, transaction: Transaction, feed: Feed, new: Sequence[NewVoter]) -> list[str]:
        ids = [new_voter_id() for _ in new]
        people = list(zip(ids, new, strict=True))
        feed.enter_all([(voter, each.weight, tuple(each.conflicts)) for voter, each in people])
        rows = [{"study": self.id, "id": voter, "name": each.name} for voter, each in people]
        if rows:
            transaction.connection.execute(sa.insert(schema.voters), rows)
        return ids

    def _voter_called(self, transaction: Transaction, name: str) -> str | None:
        columns = schema.voters.c
        query = sa.select(columns.id).where(columns.study == self.id, columns.name == name)
        return transaction.connection.execute(query).scalar_one_or_none()

    def rename_voter(self, voter: str, name: str, by: str | None = None) -> None:
        """Call a voter by another name. Names are not in the log, so nothing is left of the old one."""
        checked_name = plain(name, "The name of a voter")

        def work(transaction: Transaction, feed: Feed) -> None:
            if self._voter_called(transaction, checked_name) not in (None, voter):
                raise ConflictError(f"There is a voter called '{checked_name}' already.")
            self._set_name(transaction, feed, voter, checked_name)

        self._submit(work, by).result()

    def forget_voter_name(self, voter: str, by: str | None = None) -> None:
        """Delete the name of a voter, whose answers stay."""
        self._submit(lambda transaction, feed: self._set_name(transaction, feed, voter, None), by).result()
        self._database.purge()

    def _set_name(self, transaction: Transaction, feed: Feed, voter: str, name: str | None) -> None:
        feed.state.member(voter)
        columns = schema.voters.c
        change = sa.update(schema.voters).where(columns.study == self.id, columns.id == voter)
        transaction.connection.execute(change.values(name=name))
        feed.leave_trail("named", {"forgotten": name is None}, voter)

    def strike(self, voter: str, by: str | None = None) -> None:
        """Let no answer of a voter count, given or to come; all others stay in use."""
        self._do(lambda feed: feed.strike(voter), by)

    def reinstate(self, voter: str, by: str | None = None) -> None:
        """Take back that a voter was struck; answers that were struck themselves stay so."""
        self._do(lambda feed: feed.reinstate(voter), by)

    def leave(
        self, voter: str, open_answers: Literal["open", "dropped"] = "open", by: str | None = None
    ) -> None:
        """Ask a voter nothing more. What the voter has not said stays open, or is not counted at all."""
        self._do(lambda feed: feed.leave(voter, open_answers), by)

    def come_back(self, voter: str, by: str | None = None) -> None:
        """Ask a voter again who had left."""
        self._do(lambda feed: feed.come_back(voter), by)

    def conflict(self, voter: str, candidates: Collection[str], by: str | None = None) -> None:
        """Let a member of a panel not judge some candidates any more; answers about them do not count."""
        self._do(lambda feed: feed.conflict(voter, tuple(candidates)), by)

    def clear_conflict(self, voter: str, candidates: Collection[str], by: str | None = None) -> None:
        """Let a voter judge candidates again about whom there was a conflict of interest.

        On a panel, what they said about them counts again. In a crowd, questions that were passed on stay so.
        """
        self._do(lambda feed: feed.clear_conflict(voter, tuple(candidates)), by)

    # Organisers: answers and candidates.

    def reports(self) -> list[Report]:
        """Return what voters have reported and nobody has resolved, the latest first."""
        with self._states.reading(self.id) as state:
            return [report for report in reversed(state.reports.values()) if not report.resolved]

    def resolve(self, report: int, by: str | None = None) -> None:
        """Note that what was reported, in an entry of the log, is no longer wrong."""
        self._do(lambda feed: feed.resolve(report), by)

    def correct(self, question: int, answer: Answer, clerical: bool = False, by: str | None = None) -> None:
        """Change an answer; None strikes it, which stays so whatever becomes of its voter.

        A tie is given as a ranking: ``[("ann", "bob")]``. ``clerical``: the answer was written down wrongly,
        and is corrected without regard to results; in a crowd only such a correction reaches the proof once
        the ballot is settled.
        """
        self._do(lambda feed: feed.correct(question, answer, clerical), by)

    def drop(self, candidate: str, by: str | None = None) -> None:
        """Take a candidate who withdrew out of the study; answers about the others still count.

        :raises ProblemError: if the others cannot fill every position.
        """
        self._do(lambda feed: feed.drop(candidate), by)

    def add(
        self,
        candidate: str,
        positions: Iterable[str],
        details: Details | Mapping[str, str] | None = None,
        by: str | None = None,
    ) -> None:
        """Take in a late candidate for some positions."""
        name, places = plain(candidate, "The name of a candidate"), tuple(positions)
        about = checked_details(details or {})

        def work(transaction: Transaction, feed: Feed) -> None:
            claim(transaction.connection, self.id, [about.get("picture")], transaction.now)
            feed.add(name, places, about)

        self._submit(work, by).result()

    def edit(
        self,
        candidates: Mapping[str, Details | Mapping[str, str | None]] | None = None,
        positions: Mapping[str, Details | Mapping[str, str | None]] | None = None,
        by: str | None = None,
    ) -> None:
        """Change the title, text, picture or link of candidates and positions; None removes one."""
        changed = {
            kind: {name: checked_details(about) for name, about in (given or {}).items()}
            for kind, given in (("candidates", candidates), ("positions", positions))
        }
        pictures = [about.get("picture") for kind in changed.values() for about in kind.values()]

        def work(transaction: Transaction, feed: Feed) -> None:
            claim(transaction.connection, self.id, pictures, transaction.now)
            feed.edit(changed)

        self._submit(work, by).result()

    # Organisers: the study.

    def rename(self, name: str, by: str | None = None) -> None:
        """Give the study another name."""
        checked_name = plain(name, "The name of a study")
        self._do(lambda feed: feed.rename(checked_name), by)

    def pause(self, by: str | None = None) -> None:
        """Ask nothing for the time being; answers to what is open are taken."""
        self._do(lambda feed: feed.move("paused"), by)

    def resume(self, by: str | None = None) -> None:
        """Go on asking after a pause."""
        self._do(lambda feed: feed.move("resumed"), by)

    def close(self, by: str | None = None) -> None:
        """End the study, and record its verdict. Answers that come later count if it is opened again."""
        self._do(lambda feed: feed.move("closed"), by)

    def reopen(self, by: str | None = None) -> None:
        """Open a closed study again."""
        self._do(lambda feed: feed.move("reopened"), by)

    def publish(self, shown: bool = True, by: str | None = None) -> None:
        """Show the result to voters while the study is closed, or no longer."""
        self._do(lambda feed: feed.publish(shown), by)

    # Links.

    def new_link(
        self,
        role: Role,
        voter: str | None = None,
        judges: bool = False,
        seconds: float | None = None,
        by: str | None = None,
    ) -> str:
        """Return the token of a new link, shown now and never again; it may end after so many seconds.

        A panel decides by the people named, so an open link is refused there unless ``judges`` says that
        whoever opens it is to be one of them: what they have not said is open, and may hold up the result.
        """
        if role not in ("organiser", "voter", "open") or (role == "voter") != (voter is not None):
            raise StudyError("A link is for an organiser, for a voter by id, or open.")
        if role == "open" and self.settings.kind == "panel" and not judges:
            raise NotAllowedError(NO_STRANGERS)

        def work(transaction: Transaction, feed: Feed) -> str:
            if voter is not None and feed.state.member(voter).struck:
                raise NotAllowedError("The organiser has taken this voter out of the study.")
            end = None if seconds is None else feed.held.now + seconds
            token = self._insert_link(transaction, role, voter, feed.held.now, end)
            feed.leave_trail("linked", {"link": id_of(token), "role": role, "until": end}, voter)
            return token

        return self._submit(work, by).result()

    def replace_links(
        self, voters: Sequence[str], seconds: float | None = None, by: str | None = None
    ) -> list[str]:
        """Return the token of a new link for each of these voters; all their earlier ones stop working."""

        def work(transaction: Transaction, feed: Feed) -> list[str]:
            for voter in voters:
                if feed.state.member(voter).struck:
                    raise NotAllowedError("The organiser has taken this voter out of the study.")
            columns, now = schema.links.c, feed.held.now
            end = None if seconds is None else now + seconds
            theirs = sa.and_(columns.study == self.id, columns.voter.in_(voters), works_at(now))
            old: dict[str, list[str]] = {}
            for link, voter in transaction.connection.execute(
                sa.select(columns.id, columns.voter).where(theirs).order_by(columns.created_at, columns.id)
            ):
                old.setdefault(voter, []).append(link)
            transaction.connection.execute(sa.update(schema.links).where(theirs).values(revoked_at=now))
            each = list(dict.fromkeys(voters))
            tokens = dict(zip(each, self._insert_links(transaction, "voter", each, now, end), strict=True))
            for voter, token in tokens.items():
                for link in old.get(voter, ()):
                    feed.leave_trail("revoked", {"link": link})
                feed.leave_trail("linked", {"link": id_of(token), "role": "voter", "until": end}, voter)
            return [tokens[voter] for voter in voters]

        return self._submit(work, by).result()

    def join(self, by: str | None = None) -> tuple[str, str]:
        """Take in a new, nameless voter, as by an open link; return the id and the token of their link."""

        def work(transaction: Transaction, feed: Feed) -> tuple[str, str]:
            voter = new_voter_id()
            feed.enter(voter, 1, ())
            transaction.connection.execute(sa.insert(schema.voters), {"study": self.id, "id": voter})
            return voter, self._insert_link(transaction, "voter", voter, feed.held.now)

        return self._submit(work, by).result()

    def _insert_link(
        self, transaction: Transaction, role: Role, voter: str | None, now: float, end: float | None = None
    ) -> str:
        return self._insert_links(transaction, role, [voter], now, end)[0]

    def _insert_links(
        self,
        transaction: Transaction,
        role: Role,
        voters: Sequence[str | None],
        now: float,
        end: float | None = None,
    ) -> list[str]:
        made = [(voter, *new_token()) for voter in voters]
        rows = [
            {"id": link, "study": self.id, "role": role, "voter": voter, "hash": hashed, "created_at": now}
            for voter, _, link, hashed in made
        ]
        if rows:
            transaction.connection.execute(
                sa.insert(schema.links), [{**row, "revoked_at": end} for row in rows]
            )
        return [token for _, token, _, _ in made]

    def revoke(self, link: str, keep_one: bool = False, by: str | None = None) -> None:
        """Make a link useless from now on, unless it is the organiser's last and one is to be kept.

        Organisers' links that expire do not count as kept.
        """
        if not is_id(link):
            raise NotThereError(f"There is no link {link!r:.40} in this study.")

        def work(transaction: Transaction, feed: Feed) -> None:
            own = schema.links.c.study == self.id
            columns = schema.links.c
            organisers = sa.select(columns.id).where(
                own, columns.role == "organiser", columns.revoked_at.is_(None)
            )
            if keep_one and [row.id for row in transaction.connection.execute(organisers)] == [link]:
                raise ConflictError("This is the organiser's last link; make another one first.")
            change = sa.update(schema.links).where(own, columns.id == link)
            now = feed.held.now
            change = change.values(revoked_at=sa.case((works_at(now), now), else_=columns.revoked_at))
            if transaction.connection.execute(change).rowcount == 0:
                raise NotThereError(f"There is no link '{link:.40}' in this study.")
            feed.leave_trail("revoked", {"link": link})

        self._submit(work, by).result()

    def links(
        self, after: str | None = None, limit: int | None = None, voters: Collection[str] | None = None
    ) -> list[Link]:
        """Return the links in the order in which they were made, without their secrets.

        All, or so many that follow one; with ``voters``, only theirs and those of no voter.
        """
        columns = schema.links.c
        query = (
            sa.select(schema.links).where(columns.study == self.id).order_by(columns.created_at, columns.id)
        )
        if voters is not None:
            query = query.where(sa.or_(columns.voter.is_(None), columns.voter.in_(voters)))
        if after is not None:
            made = sa.select(columns.created_at).where(columns.id == after, columns.study == self.id)
            query = query.where(
                sa.tuple_(columns.created_at, columns.id) > sa.tuple_(made.scalar_subquery(), after)
            )
        if limit is not None:
            query = query.limit(limit)
        with self._database.reading() as connection:
            now = self._database.now(connection)
            return [
                Link(
                    row.id,
                    row.role,
                    row.voter,
                    row.created_at,
                    revoked=row.revoked_at is not None and row.revoked_at <= now,
                    expires_at=row.revoked_at
                    if row.revoked_at is not None and row.revoked_at > now
                    else None,
                )
                for row in connection.execute(query)
            ]

    def works(self, link: str) -> bool:
        """Whether a link of this study, by its id, has not been revoked."""
        columns = schema.links.c
        query = sa.select(columns.id).where(columns.id == link, columns.study == self.id)
        with self._database.reading() as connection:
            now = self._database.now(connection)
            return connection.execute(query.where(works_at(now))).one_or_none() is not None

    # What there is to see.

    @property
    def name(self) -> str:
        """The name of the study."""
        query = sa.select(schema.studies.c.name).where(schema.studies.c.id == self.id)
        with self._database.reading() as connection:
            return str(connection.execute(query).scalar_one())

    @property
    def problem(self) -> Problem:
        """The problem with its late candidates and present details; some candidates may have withdrawn."""
        with self._states.reading(self.id) as state:
            return state.problem

    def end(self) -> int:
        """Return the number of the last entry; a quick way to see whether anything has happened."""
        with self._database.reading() as connection:
            return end_of(connection, self.id)

    def entries(self, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return the entries of the log that follow one, up to so many."""
        last = LAST if limit is None else min(LAST, after + limit)
        with self._database.reading() as connection:
            return list(read_entries(connection, self.id, after, last))

    def check(self) -> int:
        """Go through the whole log, and return how many entries it has.

        :raises StoreError: naming the first entry that was changed, removed or put elsewhere.
        """
        with self._database.reading() as connection:
            return sum(1 for _ in checked(read_entries(connection, self.id)))

    def status(self) -> Status:
        """Say where the study stands; all of it at one moment."""
        name = self.name
        while True:
            self._states.prepare(self.id)
            with self._states.reading(self.id) as state:
                if not state.kind.ready:
                    continue
                if state.status is None or state.status[0] != state.seq:
                    state.status = state.seq, _status(self.id, name, state)
                return state.status[1]

    def moment(self) -> Moment:
        """Return what estimates are computed from, as the study is now."""
        with self._states.reading(self.id) as state:
            few = state.counted <= MOST_ANSWERS and not state.kind.done
            return Moment(
                state.changed_at,
                state.counted,
                state.kind.standings_later() if state.counted else None,
                state.kind.run_to_go_on() if few else None,
            )

    def preview(self, action: Action, what: str | int) -> Callable[[], Preview]:
        """Return what says what a change would do, which takes a while; another process can be given it.

        ``what`` is the voter who would be struck, reinstated or leave, the candidate who would be dropped, or
        the question whose answer would be struck.

        :raises NotAllowedError: for studies by algorithms that work in rounds, which cannot be copied.
        """
        with self._states.reading(self.id) as state:
            if action == "strike_answer":
                state.asked(what)
            elif action != "drop":
                state.member(what)
            run = state.kind.run_to_go_on()
        if run is None:
            raise NotAllowedError("What this would change cannot be said beforehand with this algorithm.")
        return partial(preview, run, action, what)

    def estimates(self, seconds: float | None = SIMULATING) -> Estimates:
        """Estimate who is probably in the best line-up, and what is still to come; it takes a while.

        The forecast may take so many seconds of a processor. What was computed is kept until something
        happens that may change it.
        """
        with self._states.reading(self.id) as state:
            if state.estimates is not None and state.estimates.entry == state.changed_at:
                return state.estimates
        found = self.moment().estimated(seconds)
        self.keep_estimates(found)
        return found

    def keep_estimates(self, found: Estimates) -> None:
        """Keep estimates that were computed elsewhere."""
        with self._states.reading(self.id) as state:
            state.estimates = found

    def latest_estimates(self) -> tuple[Estimates | None, bool]:
        """Return the estimates that were computed last, if any, and whether they are of this moment."""
        with self._states.reading(self.id) as state:
            found = state.estimates
            return found, found is not None and found.entry == state.changed_at

    def voters(
        self,
        after: str | None = None,
        limit: int | None = None,
        skip: int = 0,
        ids: Collection[str] | None = None,
    ) -> list[Voter]:
        """Return the voters in the order in which they joined.

        All of them, or so many that follow one, or the first ones, or those with these ``ids``.
        """
        columns = schema.voters.c
        query = sa.select(columns.id, columns.name).where(columns.study == self.id)
        with self._states.reading(self.id) as state:
            members: Iterator[Member] = iter(state.members.values())
            if after is not None:
                state.member(after)
                members, skip = dropwhile(lambda member: member.id != after, members), 1
            if ids is not None:
                members, limit = iter([state.member(voter) for voter in ids]), len(ids)
            page = list(islice(members, skip, None if limit is None else skip + limit))
            if limit is not None:
                query = query.where(columns.id.in_([member.id for member in page]))
            with self._database.reading() as connection:
                names: dict[str, str | None] = {row.id: row.name for row in connection.execute(query)}
            counted = state.counted_by_voter()
            return [
                Voter(
                    member.id,
                    names.get(member.id),
                    member.weight,
                    member.conflicts,
                    member.struck,
                    member.left,
                    member.open_dropped,
                    member.answered,
                    counted[member.number],
                )
                for member in page
            ]

    def name_of(self, voter: str) -> str | None:
        """Return what the organiser calls a voter; None for a voter without a name."""
        columns = schema.voters.c
        query = sa.select(columns.name).where(columns.study == self.id, columns.id == voter)
        with self._database.reading() as connection:
            name: str | None = connection.execute(query).scalar_one_or_none()
        return name

    def hints(self) -> dict[str, Hints]:
        """Return what is odd about how voters vote, by id, of those about whom something is."""
        with self._states.reading(self.id) as state:
            return hints(islice(state.questions.latest(), LATEST))

    def answers(
        self, before: int = LAST, voter: str | None = None, limit: int | None = 50
    ) -> list[GivenAnswer]:
        """Return the latest answers, of all voters or of one, that came before an entry of the log."""
        with self._states.reading(self.id) as state:
            found = islice(state.answers_before(before, voter), limit)
            return [state.given_answer(asked) for asked in found]

    def answers_after(self, entry: int, limit: int) -> list[GivenAnswer]:
        """Return so many answers that came after an entry of the log, the earliest first."""
        with self._states.reading(self.id) as state:
            return [state.given_answer(asked) for asked in islice(state.questions.given_after(entry), limit)]

    def answer_of(self, question: int, voter: str | None = None) -> Receipt | None:
        """Return the answer to a question, if there is one, and it is this voter's."""
        with self._states.reading(self.id) as state:
            asked = state.asked(question)
            if asked.state != "answered" or voter not in (None, asked.voter):
                return None
            (entry,) = self.entries(asked.entry - 1, 1)
            return state.receipt(asked, entry.hash, repeated=True)

    def answers_by(self, voter: str) -> int:
        """Return how many answers a voter has given and not taken back."""
        with self._states.reading(self.id) as state:
            return state.member(voter).answered

    def last_answered(self, voter: str) -> int | None:
        """Return the question that a voter answered last, and has not taken back."""
        with self._states.reading(self.id) as state:
            return state.member(voter).last or None

    def open_question(self, voter: str) -> Question | None:
        """Return the question that a voter has open, if the study is; nothing is asked for that."""
        with self._states.reading(self.id) as state:
            member = state.member(voter)
            if member.open is None or state.phase != "open" or member.struck or member.left:
                return None
            return state.question(state.questions[member.open])

    def questions_left(self, voter: str) -> int | None:
        """Return about how many more questions a judge of a panel will be asked; None if that is unknown.

        What is needed is shared out evenly among the judges who are there.
        """
        status, each = self.status(), self.settings.questions_each
        needed = status.progress.duels_left
        if self.settings.kind != "panel" or needed is None:
            return None
        if status.done:
            return 0
        with self._states.reading(self.id) as state:
            judges = sum(not (member.struck or member.left) for member in state.members.values())
            left = max(1, -(-needed // max(1, judges)))  # the open question is not among those needed
            return left if each is None else min(left, max(0, each - state.member(voter).answered))

    def history(self) -> History:
        """Say how the study came to where it stands."""
        self._states.prepare(self.id)
        with self._states.reading(self.id) as state:
            return History(state.kind.points, dict(state.hours))


def _named(result: Result, counted: int) -> Result:
    """Return a result; one that is not certain names no line-up while no answer counts.

    A run has to begin with some line-up, which nobody has voted for.
    """
    begun = counted or result.status != "budget_spent"
    return result if begun else replace(result, matching=None)


def _status(study: str, name: str, state: State) -> Status:
    kind, most, verdict = state.kind, state.settings.max_answers, state.verdict
    spent = most is not None and state.counted >= most
    assert state.settings.algorithm is not None, "settled when the study was created"
    return Status(
        id=study,
        name=name,
        algorithm=state.settings.algorithm,
        phase=state.phase,
        done=kind.done or spent,
        entries=state.seq,
        hash=state.hash,
        voters=len(state.members),
        questions=len(state.questions),
        open_questions=state.open,
        answers=state.answers,
        counted=state.counted,
        struck=state.struck,
        missing=kind.missing,
        unused=kind.unused,
        dropped=tuple(state.dropped),
        max_answers=most,
        result=_named(kind.result if verdict is None else result_of(verdict), state.counted),
        progress=kind.progress,
        assuming=kind.assuming if verdict is None else assumptions_of(verdict),
        verdict=verdict,
        published=state.published,
        voters_gone=sum(member.left and not member.struck for member in state.members.values()),
        voters_struck=sum(member.struck for member in state.members.values()),
        voters_counted=state.voters_counted,
    )
