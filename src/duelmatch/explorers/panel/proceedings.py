"""What has happened to a panel: the record that everything else is computed from.

An event is a plain mapping that JSON can hold, with a ``kind`` and with names, never numbers of edges.
:meth:`Proceedings.note` takes one over. It decides nothing and draws nothing, so the same events give the
same record, wherever they come from:

    asked       {question, voter, position, candidates, until}      in the order shown; until when, or None
    answered    {question, answer}               groups of candidates, best first: [["ann"], ["bob", "cyd"]]
    skipped     {question, reason}               not answered, and not asked again
    released    {question, reason}               taken back; it may be asked again
    undone      {question}                       the voter takes an answer back, or a skip: it is open again
    corrected   {question, answer, clerical}     by the organiser; None strikes this one answer
    struck      {voter}                          reinstated {voter}
    left        {voter, open_answers}            "open" or "dropped"; returned {voter}
    entered     {voter, weight, conflicts}
    conflict    {voter, candidates}              cleared {voter, candidates}
    dropped     {candidate}                      added {candidate, positions}
    backed      {champion, rival, status, gave_up}  whom the design backs, against whom; what is certain

Nothing is forgotten: an answer that does not count now (its voter is struck, its candidate dropped) is still
there, and counts again when the voter is reinstated or the candidate is added again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from duelmatch.errors import DuelError, ProblemError
from duelmatch.explorers.questions import Question
from duelmatch.panel import Conflict
from duelmatch.problem import Problem

Event = Mapping[str, Any]
Groups = Sequence[Sequence[str]]
"""An answer: groups of candidates, best first; there is no difference within a group."""

OpenAnswers = Literal["open", "dropped"]
QuestionStatus = Literal["open", "answered", "skipped", "released"]


@dataclass(slots=True)
class Seat:
    """A voter: what the vote weighs, what the voter does not judge, and whether it counts now."""

    weight: object = 1
    conflicts: tuple[Conflict, ...] = ()
    struck: bool = False
    left: OpenAnswers | None = None
    answered: int = 0
    open: int = 0
    last: tuple[str, ...] = ()
    """The candidates whom the voter was asked about last."""


@dataclass(slots=True)
class Entry:
    """A question, and what became of it."""

    question: Question
    until: float | None = None
    status: QuestionStatus = "open"
    reason: str | None = None
    answer: Groups | None = None
    """None if there is none, or if it was struck."""

    @property
    def place(self) -> tuple[str, str]:
        """Whose it is, and where: the voter and the position."""
        return voter_of(self.question), self.question.position


@dataclass(frozen=True, slots=True)
class Change:
    """That the status of an entry, or its answer, is not what it was."""

    entry: Entry
    before: QuestionStatus
    after: QuestionStatus


@dataclass(frozen=True, slots=True)
class Backing:
    """Whom the design backs, which line-up may turn out less beaten, and what was certain then.

    ``gave_up``: after so many answers the least beaten line-up was looked for in vain.
    """

    champion: Mapping[str, str] | None = None
    rival: Mapping[str, str] | None = None
    status: str | None = None
    gave_up: int | None = None


def voter_of(question: Question) -> str:
    """Return whom a question was put to."""
    assert question.voter is not None, "every question of a panel is a voter's"
    return question.voter


class Proceedings:
    """The voters, the problem and the questions, as the events have left them."""

    def __init__(self, problem: Problem, seats: dict[str, Seat]) -> None:
        self.problem = problem
        self.seats = seats
        self.entries: dict[int, Entry] = {}
        self.open: dict[int, Question] = {}
        self.told: dict[tuple[str, str], dict[int, Groups | None]] = {}
        """(voter, position) to the answers there, in the order in which they were given."""
        self.last_question = 0
        self.backing = Backing()
        self.is_settled = False
        """Whether the design has looked at everything that was answered."""
        self._changes: list[Change] | None = None
        self._with_struck: set[tuple[str, str]] = set()
        """(voter, position) where an answer is struck, or was."""

    def note(self, event: Event) -> None:
        """Take over an event.

        :raises DuelError: if it cannot have happened here; nothing is changed then.
        """
        kind = event.get("kind") if isinstance(event, Mapping) else None
        take = _KINDS.get(kind) if isinstance(kind, str) else None
        if take is None:
            raise DuelError(f"An event of kind {kind!r:.50} is not one of a panel.")
        try:
            take(self, event)
        except (KeyError, TypeError) as error:
            raise DuelError(
                f"An event of kind '{kind}' lacks something, or has it wrong: {error}."
            ) from error
        if kind in _OF_THE_PANEL:
            self._changes, self.is_settled = None, False

    def take_changes(self) -> list[Change] | None:
        """Return the entries that have changed since the last time; None if anything may have."""
        changes, self._changes = self._changes, []
        return changes

    @property
    def has_changed(self) -> bool:
        """Whether anything has happened since the changes were taken."""
        return self._changes is None or bool(self._changes)

    def entry(self, number: object) -> Entry:
        """Return what became of a question."""
        found = self.entries.get(number) if isinstance(number, int) else None
        if found is None:
            raise DuelError(f"Question {number!r:.50} was never asked by this run.")
        return found

    def seat(self, voter: object) -> Seat:
        """Return a voter's."""
        found = self.seats.get(voter) if isinstance(voter, str) else None
        if found is None:
            raise DuelError(f"There is no voter '{voter!s:.80}' on this panel.")
        return found

    def open_of(self, voter: str) -> list[Question]:
        """Return the questions that a voter has open."""
        return [question for question in self.open.values() if question.voter == voter]

    # Questions and answers

    def _asked(self, event: Event) -> None:
        question = Question(
            event["position"], tuple(event["candidates"]), int(event["question"]), event["voter"]
        )
        seat = self.seat(question.voter)
        if question.id in self.entries:
            raise DuelError(f"Question {question.id} was asked before.")
        entry = Entry(question, event.get("until"))
        self.entries[question.id] = entry
        self.open[question.id] = question
        self.last_question = max(self.last_question, question.id)
        seat.open += 1
        seat.last = question.candidates
        self._changed(entry, "released")

    def _answered(self, event: Event) -> None:
        entry = self.entry(event["question"])
        if entry.status not in ("open", "released"):
            raise DuelError(f"Question {event['question']} has been answered or skipped already.")
        self._move(entry, "answered", answer=event["answer"])
        self.is_settled = False

    def _skipped(self, event: Event) -> None:
        self._move(self._open_entry(event), "skipped", event.get("reason"))

    def _released(self, event: Event) -> None:
        self._move(self._open_entry(event), "released", event.get("reason"))

    def _undone(self, event: Event) -> None:
        entry = self.entry(event["question"])
        if entry.status not in ("answered", "skipped"):
            raise DuelError(f"Question {event['question']} is not answered, so nothing can be taken back.")
        self._move(entry, "open")
        self.is_settled = False

    def _corrected(self, event: Event) -> None:
        entry = self.entry(event["question"])
        if entry.status != "answered":
            raise DuelError(f"Question {event['question']} is not answered, so nothing can be corrected.")
        was, entry.answer = entry.answer, event["answer"]
        self.told[entry.place][entry.question.id] = entry.answer
        if was is None or entry.answer is None:
            self._with_struck.add(entry.place)
        self._changed(entry, "answered")
        self.is_settled = False

    def _open_entry(self, event: Event) -> Entry:
        entry = self.entry(event["question"])
        if entry.status != "open":
            raise DuelError(f"Question {event['question']} has been answered, skipped or released already.")
        return entry

    def _move(
        self, entry: Entry, status: QuestionStatus, reason: str | None = None, answer: Groups | None = None
    ) -> None:
        question, before, place = entry.question, entry.status, entry.place
        seat = self.seats[place[0]]
        if before == "open":
            del self.open[question.id]
            seat.open -= 1
        if before == "answered":
            seat.answered -= 1
            del self.told[place][question.id]
        entry.status, entry.reason, entry.answer = status, reason, answer
        if status == "open":
            self.open[question.id] = question
            seat.open += 1
        if status == "answered":
            seat.answered += 1
            self.told.setdefault(place, {})[question.id] = answer
        self._changed(entry, before)

    def _changed(self, entry: Entry, before: QuestionStatus) -> None:
        if "answered" in (before, entry.status) and entry.place in self._with_struck:
            self._changes = None  # what the voter judges may have changed
        if self._changes is not None:
            self._changes.append(Change(entry, before, entry.status))

    # The panel

    def _struck(self, event: Event) -> None:
        self.seat(event["voter"]).struck = True
        self._take_back(event["voter"], "released")

    def _reinstated(self, event: Event) -> None:
        self.seat(event["voter"]).struck = False

    def _left(self, event: Event) -> None:
        way = event["open_answers"]
        if way not in ("open", "dropped"):
            raise DuelError(f"open_answers must be 'open' or 'dropped', not {way!r:.80}.")
        self.seat(event["voter"]).left = way
        self._take_back(event["voter"], "left")

    def _returned(self, event: Event) -> None:
        self.seat(event["voter"]).left = None

    def _entered(self, event: Event) -> None:
        voter = event["voter"]
        if not isinstance(voter, str) or voter in self.seats:
            raise DuelError(f"The voter '{voter!s:.80}' is on this panel already.")
        self.seats[voter] = Seat(event.get("weight", 1), as_conflicts(event.get("conflicts") or ()))

    def _conflict(self, event: Event) -> None:
        seat = self.seat(event["voter"])
        new = as_conflicts(event["candidates"])
        seat.conflicts += tuple(conflict for conflict in new if conflict not in seat.conflicts)

    def _cleared(self, event: Event) -> None:
        seat, gone = self.seat(event["voter"]), as_conflicts(event["candidates"])
        seat.conflicts = tuple(conflict for conflict in seat.conflicts if conflict not in gone)

    def _take_back(self, voter: str, reason: str) -> None:
        for question in self.open_of(voter):
            self._move(self.entries[question.id], "released", reason)

    def _dropped(self, event: Event) -> None:
        candidate = event["candidate"]
        self.problem = self.problem.without([candidate])
        for question in list(self.open.values()):
            if candidate in question.candidates:
                self._move(self.entries[question.id], "released", "dropped")

    def _added(self, event: Event) -> None:
        self.problem = with_candidate(self.problem, event["candidate"], event["positions"])

    def _backed(self, event: Event) -> None:
        champion, rival = (_seated(event.get(name)) for name in ("champion", "rival"))
        self.backing = Backing(champion, rival, event.get("status"), event.get("gave_up"))
        self.is_settled = True


_OF_A_QUESTION = ("asked", "answered", "skipped", "released", "undone", "corrected")
_OF_THE_PANEL = (
    "struck", "reinstated", "left", "returned", "entered", "conflict", "cleared", "dropped", "added",
)  # fmt: skip
"""After these anything may be different."""

_KINDS: dict[str, Callable[[Proceedings, Event], None]] = {
    kind: getattr(Proceedings, f"_{kind}") for kind in (*_OF_A_QUESTION, *_OF_THE_PANEL, "backed")
}


def _seated(lineup: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a line-up as it is in Python: JSON has lists for tuples."""
    if lineup is None:
        return None
    return {
        position: tuple(names) if isinstance(names, list) else names for position, names in lineup.items()
    }


def as_conflicts(conflicts: Collection[object]) -> tuple[Conflict, ...]:
    """Return conflicts as they are given in Python: JSON has lists for tuples."""
    return tuple(tuple(one) if isinstance(one, list) else one for one in conflicts)  # type: ignore[misc]


def with_candidate(problem: Problem, candidate: str, positions: Collection[str]) -> Problem:
    """Return the problem with one more candidate, if there are positions to be one for."""
    if isinstance(positions, str) or not positions:
        raise ProblemError(f"'{candidate!s:.80}' needs a list of positions to be a candidate for.")
    return problem.with_candidate(candidate, positions)
