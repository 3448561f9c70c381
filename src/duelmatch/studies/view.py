"""What there is to read of a study. Nothing here writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from itertools import dropwhile, islice

import sqlalchemy as sa

from duelmatch.errors import NotAllowedError
from duelmatch.problem import Problem
from duelmatch.studies import schema
from duelmatch.studies.database import Database
from duelmatch.studies.entries import Entry, checked
from duelmatch.studies.estimates import MOST_ANSWERS, SIMULATING, Action, Estimates, Moment, Preview, preview
from duelmatch.studies.hints import LATEST, Hints, hints
from duelmatch.studies.links import Link, expiry_of, links_in, outlasts
from duelmatch.studies.log import end_of, read_entries
from duelmatch.studies.settings import Settings
from duelmatch.studies.state import Member, State
from duelmatch.studies.states import States
from duelmatch.studies.values import (
    GivenAnswer,
    History,
    Question,
    Receipt,
    Report,
    Status,
    Voter,
    result_of,
)
from duelmatch.studies.voters import names_in


class StudyView:
    """What there is to read of a study, as it is at the time of the call."""

    def __init__(self, database: Database, states: States, study: str, settings: Settings) -> None:
        self.id = study
        self.settings = settings
        self._database = database
        self._states = states

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
            return end_of(connection, self.id)[0]

    def entries(self, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return the entries of the log after an entry, at most ``limit``."""
        last = schema.LARGEST_NUMBER if limit is None else min(schema.LARGEST_NUMBER, after + limit)
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
        while True:
            self._states.prepare(self.id)
            with self._states.reading(self.id) as state:
                if not state.kind.ready:
                    continue
                if state.status is None or state.status[0] != state.seq:
                    state.status = state.seq, status_of(self.id, self.name, state)
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
        """Return a function that says what a change would do; it takes a while, so run it in another process.

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

        The forecast may take ``seconds`` of a processor. What was computed is kept until something
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

        All of them, or at most ``limit`` from the first on or after one, or those with these ``ids``.
        """
        with self._states.reading(self.id) as state:
            members: Iterator[Member] = iter(state.members.values())
            if after is not None:
                state.member(after)
                members, skip = dropwhile(lambda member: member.id != after, members), 1
            if ids is not None:
                members, limit = iter([state.member(voter) for voter in ids]), len(ids)
            page = list(islice(members, skip, None if limit is None else skip + limit))
            with self._database.reading() as connection:
                asked = None if limit is None else [member.id for member in page]
                names = names_in(connection, self.id, asked)
            counted = state.counted_by_voter()
            return [voter_of(member, names.get(member.id), counted[member.number]) for member in page]

    def name_of(self, voter: str) -> str | None:
        """Return what the organiser calls a voter; None for a voter without a name."""
        return self.names_of([voter]).get(voter)

    def names_of(self, voters: Collection[str]) -> dict[str, str | None]:
        """Return what the organiser calls some voters, by id."""
        with self._database.reading() as connection:
            return names_in(connection, self.id, voters)

    def hints(self) -> dict[str, Hints]:
        """Return what is odd about how voters vote, by id, of those about whom something is."""
        with self._states.reading(self.id) as state:
            return hints(islice(state.questions.latest(), LATEST))

    def answers(
        self, before: int = schema.LARGEST_NUMBER, voter: str | None = None, limit: int | None = 50
    ) -> list[GivenAnswer]:
        """Return the latest answers, of all voters or of one, that came before an entry of the log."""
        with self._states.reading(self.id) as state:
            questions = state.questions
            if voter is None:
                found = questions.given_before(before)
            else:
                found = questions.given_by(state.member(voter).last, before)
            return [state.given_answer(asked) for asked in islice(found, limit)]

    def answers_after(self, entry: int, limit: int) -> list[GivenAnswer]:
        """Return the answers that came after an entry of the log, at most ``limit``, the earliest first."""
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

    def reports(self, before: int = schema.LARGEST_NUMBER, limit: int | None = None) -> list[Report]:
        """Return what voters have reported and nobody has resolved, the latest first.

        All, or at most ``limit`` that came before an entry of the log.
        """
        with self._states.reading(self.id) as state:
            latest = reversed(state.reports.values())
            found = (report for report in latest if not report.resolved and report.entry < before)
            return list(islice(found, limit))

    def count_reports(self) -> int:
        """Return how many reports there are that nobody has resolved."""
        with self._states.reading(self.id) as state:
            return sum(len(said) for said in state.open_reports.values())

    def links(
        self, after: str | None = None, limit: int | None = None, voters: Collection[str] | None = None
    ) -> list[Link]:
        """Return the links in the order in which they were made, without their secrets.

        All, or at most ``limit`` after one; with ``voters``, only theirs and those of no voter.
        """
        with self._database.reading() as connection:
            return links_in(connection, self.id, self._database.now(connection), after, limit, voters)

    def expiry_of(self, link: str) -> float | None:
        """Return when a link stops working by itself; None for one that does not."""
        with self._database.reading() as connection:
            return expiry_of(connection, link)

    def works(self, link: str) -> bool:
        """Whether a link of this study, by its id, has not been revoked."""
        with self._database.reading() as connection:
            return outlasts(connection, self.id, self._database.now(connection), [link])


def voter_of(member: Member, name: str | None, counted: int) -> Voter:
    """Return a voter as the organiser sees them."""
    gone = member.struck, member.left, member.open_dropped
    return Voter(member.id, name, member.weight, member.conflicts, *gone, member.answered, counted)


def status_of(study: str, name: str, state: State) -> Status:
    """Say where a study stands."""
    kind, most, verdict = state.kind, state.settings.max_answers, state.verdict
    result = kind.result if verdict is None else result_of(verdict)
    if result.status == "budget_spent" and not state.counted:
        result = replace(result, matching=None)  # the one that a run begins with, and nobody has voted for
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
        result=result,
        progress=kind.progress,
        assuming=kind.assuming if verdict is None else result.assuming,
        verdict=verdict,
        published=state.published,
        voters_gone=sum(member.left and not member.struck for member in state.members.values()),
        voters_struck=sum(member.struck for member in state.members.values()),
        voters_out=state.voters_out if state.settings.kind == "panel" else 0,
        voters_counted=state.voters_counted,
    )
