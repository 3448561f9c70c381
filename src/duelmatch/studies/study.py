"""A study: questions for voters, their answers, and what organisers do about both.

All of it is short transactions at the end of the log. Callers that must not block use :meth:`Study.submit`.
What there is to see is in :class:`StudyView`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Literal, TypeVar, get_args

from duelmatch.errors import ConflictError, NotAllowedError, NotThereError, StudyError, TooManyChangesError
from duelmatch.explorers.questions import Answer
from duelmatch.problem import Details
from duelmatch.studies.database import Database
from duelmatch.studies.feed import NEW_LINK, Feed
from duelmatch.studies.kinds import Later
from duelmatch.studies.links import (
    Access,
    Role,
    expiry_of,
    id_of,
    insert_links,
    is_id,
    lasting_organisers,
    outlasts,
    revoke_of,
    revoke_one,
)
from duelmatch.studies.log import Transaction, Writer
from duelmatch.studies.pictures import claim
from duelmatch.studies.settings import Settings
from duelmatch.studies.states import States
from duelmatch.studies.texts import checked_details, plain
from duelmatch.studies.values import Nothing, Question, Receipt, Trouble
from duelmatch.studies.view import StudyView
from duelmatch.studies.voters import (
    NewVoter,
    checked_voters,
    insert_voters,
    new_voter_id,
    set_name,
    taken_name,
    voter_called,
)

Returned = TypeVar("Returned")

MOST_TRIES = 3
"""How often a change is computed again because others were faster."""

LONGEST_REASON = 500

OVERTAKEN = "Somebody else is changing this study at the same time. Try again."
CROWDED = "Other changes of this study are being worked out. Wait a moment, then try again."

OUTLASTED = (
    "The link that you use stops working by itself, and cannot end one that works longer. Ask an organiser "
    "whose link lasts."
)

NO_STRANGERS = (
    "A panel decides by the people named: with an open link, whoever opens it becomes a judge, and what they "
    "have not said holds up the result. Make a link for each judge, or say that strangers are to be judges."
)


class Study(StudyView):
    """One study of a store. Safe to use from several threads, and processes.

    Whatever an organiser does takes ``by``, the id of the link that acts, which the log then names.
    """

    def __init__(
        self, database: Database, writer: Writer, states: States, study: str, settings: Settings
    ) -> None:
        super().__init__(database, states, study, settings)
        self._writer = writer

    # Transactions.

    def submit(self, work: Callable[[Feed], Returned], by: str | None = None) -> Future[Returned]:
        """Do some work on the feed in a transaction, and do not wait for it.

        The future is done when all of it is on disk. ``study.submit(lambda feed: feed.ask(voter))`` is what
        a server with many voters uses; :meth:`ask` and the others wait.
        """
        if by is not None and not is_id(by):
            raise NotThereError(f"There is no link {by!r:.40} in this study.")
        outcome: Future[Returned] = Future()
        self._begin(lambda transaction, feed: work(feed), by, None, outcome.set_result, outcome.set_exception)
        return outcome

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

    def _begin(
        self,
        work: Callable[[Transaction, Feed], Returned],
        by: str | None,
        token: str | None,
        succeed: Callable[[Returned], object],
        fail: Callable[[BaseException], object],
    ) -> None:
        """Do some work in a transaction; if that has to wait for a computation, again after it.

        Without a token somebody waits for it in a thread, so it is refused if too many do.
        """
        worked_out, waits = 0, False

        def turn(transaction: Transaction) -> Returned | Later:
            held = transaction.hold(self.id)
            state = self._states.within(held, transaction.locks)
            if state is None:
                return Later()
            try:
                return work(transaction, Feed(state, held, by))
            except Later as later:
                return later

        def attempt(prepared: Future[None] | None = None) -> None:
            if prepared is not None and (error := prepared.exception()) is not None:
                give_up(error)
            else:
                self._writer.do(self.id, turn, finish, give_up, token)

        def end(tell: Callable[[], object]) -> None:
            nonlocal waits
            if waits:
                waits = False
                self._states.end_change(self.id)
            tell()

        def give_up(error: BaseException) -> None:
            end(partial(fail, error))

        def finish(returned: Returned | Later) -> None:
            nonlocal worked_out, waits
            if not isinstance(returned, Later):
                end(partial(succeed, returned))
                return
            if returned.event is not None:
                worked_out += 1
                if worked_out > MOST_TRIES:
                    give_up(ConflictError(OVERTAKEN))
                    return
                if token is None and not waits:
                    waits = self._states.begin_change(self.id)
                    if not waits:
                        give_up(TooManyChangesError(CROWDED))
                        return
            self._states.preparing(self.id, returned.event).add_done_callback(attempt)

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
        self, name: str | None = None, weight: int = 1, conflicts: Collection[str] = (), by: str | None = None
    ) -> str:
        """Add a voter, and return the id."""
        return self.add_voters([NewVoter(name, weight, conflicts)], by)[0]

    def add_voters(self, voters: Iterable[NewVoter], by: str | None = None) -> list[str]:
        """Add voters, all of them or none, and return their ids."""
        new = list(voters)

        def work(feed: Feed) -> list[str]:
            problem = feed.state.problem
            feed.check_room(len(new), sum(voter.excluded(problem) for voter in new))
            checked = checked_voters(new, problem)
            self._check_name_is_free(feed, [voter.name for voter in checked])
            return self._enter(feed, checked)

        return self._do(work, by)

    def voter_named(self, name: str, by: str | None = None) -> str:
        """Return the id of the voter of this name, who is added if need be."""

        def work(feed: Feed) -> str:
            new = NewVoter(name).checked(feed.state.problem)
            if (known := voter_called(feed.held.connection, self.id, new.name)) is not None:
                return known
            self._check_name_is_free(feed, [new.name])
            return self._enter(feed, [new])[0]

        return self._do(work, by)

    def _check_name_is_free(
        self, feed: Feed, names: Collection[str | None], but_of: str | None = None
    ) -> None:
        """Refuse names that nobody could tell from that of a voter there is, other than one."""
        if (taken := taken_name(feed.held.connection, self.id, names, but_of)) is not None:
            raise ConflictError(f"There is a voter called '{taken}' already.")

    def _enter(self, feed: Feed, new: Sequence[NewVoter]) -> list[str]:
        ids = [new_voter_id() for _ in new]
        people = list(zip(ids, new, strict=True))
        feed.enter([(voter, each.weight, tuple(each.conflicts)) for voter, each in people])
        insert_voters(feed.held.connection, self.id, people)
        return ids

    def rename_voter(self, voter: str, name: str, by: str | None = None) -> None:
        """Call a voter by another name. Names are not in the log, so nothing is left of the old one."""
        checked_name = plain(name, "The name of a voter")

        def work(feed: Feed) -> None:
            self._check_name_is_free(feed, [checked_name], but_of=voter)
            self._set_name(feed, voter, checked_name)

        self._do(work, by)

    def forget_voter_name(self, voter: str, by: str | None = None) -> None:
        """Delete the name of a voter, whose answers stay."""
        self._do(lambda feed: self._set_name(feed, voter, None), by)
        self._database.purge()

    def _set_name(self, feed: Feed, voter: str, name: str | None) -> None:
        feed.state.member(voter)
        set_name(feed.held.connection, self.id, voter, name)
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

    def conflict(
        self, voter: str, candidates: Collection[str], by: str | None = None, own: bool = False
    ) -> None:
        """Let a member of a panel not judge some candidates any more; answers about them do not count.

        ``own``: the voter has said so, which organisers cannot for those who have begun to vote secretly.
        """
        self._do(lambda feed: feed.conflict(voter, tuple(candidates), own), by)

    def clear_conflict(self, voter: str, candidates: Collection[str], by: str | None = None) -> None:
        """Let a voter judge candidates again about whom there was a conflict of interest.

        On a panel, what they said about them counts again. In a crowd, questions that were passed on stay so.
        """
        self._do(lambda feed: feed.clear_conflict(voter, tuple(candidates)), by)

    # Organisers: answers and candidates.

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

        def work(feed: Feed) -> None:
            claim(feed.held.connection, self.id, [about.get("picture")], feed.held.now)
            feed.add(name, places, about)

        self._do(work, by)

    def edit(
        self,
        candidates: Mapping[str, Details | Mapping[str, str | None]] | None = None,
        positions: Mapping[str, Details | Mapping[str, str | None]] | None = None,
        by: str | None = None,
        name: str | None = None,
    ) -> None:
        """Change the name, and titles, texts, pictures and links of candidates and positions.

        None removes one. Nothing is changed if a part of it is refused.
        """
        checked_name = None if name is None else plain(name, "The name of a study")
        changed = {
            kind: {name: checked_details(about) for name, about in (given or {}).items()}
            for kind, given in (("candidates", candidates), ("positions", positions))
        }
        pictures = [about.get("picture") for kind in changed.values() for about in kind.values()]

        def work(feed: Feed) -> None:
            if candidates or positions:
                claim(feed.held.connection, self.id, pictures, feed.held.now)
                feed.edit(changed)
            if checked_name is not None:
                feed.rename(checked_name)

        self._do(work, by)

    # Organisers: the study.

    def rename(self, name: str, by: str | None = None) -> None:
        """Give the study another name."""
        self.edit(name=name, by=by)

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

    def note_webhook(self, is_set: bool, by: str | None = None) -> None:
        """Note that a link has set a webhook, or removed it; the address is not logged."""
        self._do(lambda feed: feed.leave_trail("webhook", {"set": is_set}), by)

    # Links.

    def new_link(
        self,
        role: Role,
        voter: str | None = None,
        judges: bool = False,
        seconds: float | None = None,
        by: str | None = None,
    ) -> str:
        """Return the token of a new link, shown now and never again; it may end after some ``seconds``.

        It ends with the link that makes it at the latest: what was lent is not to become lasting.

        A panel decides by the people named, so an open link is refused there unless ``judges`` says that
        whoever opens it is to be one of them: what they have not said is open, and may hold up the result.
        """
        if role not in ("organiser", "voter", "open") or (role == "voter") != (voter is not None):
            raise StudyError("A link is for an organiser, for a voter by id, or open.")
        if role == "open" and self.settings.kind == "panel" and not judges:
            raise NotAllowedError(NO_STRANGERS)

        def work(feed: Feed) -> str:
            if voter is not None:
                self._check_may_have_link(feed, voter)
            end = self._end_of_new_link(feed, seconds)
            (token,) = insert_links(feed.held.connection, self.id, role, [voter], feed.held.now, end)
            feed.leave_trail("linked", {"link": id_of(token), "role": role, "until": end}, voter)
            return token

        return self._do(work, by)

    def replace_links(
        self, voters: Sequence[str], seconds: float | None = None, by: str | None = None
    ) -> list[str]:
        """Return the token of a new link for each of these voters; all their earlier ones stop working.

        :raises NotAllowedError: if the link that acts ends before one of those.
        """

        def work(feed: Feed) -> list[str]:
            for voter in voters:
                self._check_may_have_link(feed, voter)
            self._check_may_end(feed, voters=voters)
            now = feed.held.now
            end = self._end_of_new_link(feed, seconds)
            old = revoke_of(feed.held.connection, self.id, voters, now)
            each = list(dict.fromkeys(voters))
            made = insert_links(feed.held.connection, self.id, "voter", each, now, end)
            tokens = dict(zip(each, made, strict=True))
            for voter, token in tokens.items():
                for link in old.get(voter, ()):
                    feed.leave_trail("revoked", {"link": link})
                feed.leave_trail("linked", {"link": id_of(token), "role": "voter", "until": end}, voter)
            return [tokens[voter] for voter in voters]

        return self._do(work, by)

    @staticmethod
    def _end_of_new_link(feed: Feed, seconds: float | None) -> float | None:
        """Return when a new link ends: never later than the link that makes it."""
        ends = [
            expiry_of(feed.held.connection, feed.by),
            None if seconds is None else feed.held.now + seconds,
        ]
        return min((end for end in ends if end is not None), default=None)

    def _check_may_end(self, feed: Feed, links: Sequence[str] = (), voters: Sequence[str] = ()) -> None:
        """Refuse to let a link that ends take away one that lasts longer, such as the owner's."""
        end = expiry_of(feed.held.connection, feed.by)
        if end is not None and outlasts(feed.held.connection, self.id, end, links, voters):
            raise NotAllowedError(OUTLASTED)

    @staticmethod
    def _check_may_have_link(feed: Feed, voter: str) -> None:
        feed.not_struck(voter)
        feed.keep_secret(voter, NEW_LINK)

    def join(self, by: str | None = None) -> tuple[str, str]:
        """Take in a new, nameless voter, as by an open link; return the id and the token of their link.

        Their link ends with the open one at the latest.
        """

        def work(feed: Feed) -> tuple[str, str]:
            (voter,) = self._enter(feed, [NewVoter()])
            end = self._end_of_new_link(feed, None)
            (token,) = insert_links(feed.held.connection, self.id, "voter", [voter], feed.held.now, end)
            return voter, token

        return self._do(work, by)

    def revoke(self, link: str, keep_one: bool = False, by: str | None = None) -> None:
        """Make a link useless from now on, unless it is the organiser's last and one is to be kept.

        Organisers' links that expire do not count as kept.

        :raises NotAllowedError: if the link that acts ends before this one.
        """
        if not is_id(link):
            raise NotThereError(f"There is no link {link!r:.40} in this study.")

        def work(feed: Feed) -> None:
            self._check_may_end(feed, links=[link])
            if keep_one and lasting_organisers(feed.held.connection, self.id) == [link]:
                raise ConflictError("This is the organiser's last link; make another one first.")
            if not revoke_one(feed.held.connection, self.id, link):
                raise NotThereError(f"There is no link '{link:.40}' in this study.")
            feed.leave_trail("revoked", {"link": link})

        self._do(work, by)
