"""What a study says: questions, receipts, voters, answers, where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.result import Progress, Result, ResultStatus
from duelmatch.problem import Matching
from duelmatch.studies.estimates import Estimates

LARGEST = 1 << 53

HOUR = 3600
"""In seconds."""

Phase = Literal["open", "paused", "closed"]

Ranking = tuple[tuple[str, ...], ...]
"""An answer: groups of candidates, best first; those within a group are equal."""

Reason = Literal["done", "waiting", "all yours", "late", "left", "budget", "paused", "closed"]
"""Why there is no question for a voter:

done       the outcome is certain, or proven, so that nobody is asked anything more
waiting    others are to answer first, and can
all yours  this voter was asked everything that there is to ask of them; the outcome need not be certain
late       the time for this voter's ballot is over; the rest of it went to others
left       the voter has left the panel
budget     the answers that were planned are there
paused, closed   by the organiser
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question put to a voter: which of the ``candidates``, in the order shown, is better at a position.

    The lease ends at a time by the database's clock, if ever; after that somebody else may be asked, but an
    answer is still kept. ``place`` is the place on the voter's ballot, from 1, ``of`` how many it has, where
    that is known.
    """

    number: int
    voter: str
    position: str
    candidates: tuple[str, ...]
    expires_at: float | None
    place: int | None = None
    of: int | None = None


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is no question for a voter now; ``published``: but there is a result to be seen."""

    reason: Reason
    published: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """An answer that is kept, in entry number ``entry`` of the log, whose hash anybody can look up later.

    ``repeated``: the same answer was there already.
    """

    question: int
    position: str
    answer: Ranking
    entry: int
    hash: str
    repeated: bool

    @property
    def winner(self) -> str | None:
        """The one candidate ahead of all others; None if there is no difference among the best."""
        return self.answer[0][0] if len(self.answer[0]) == 1 else None


@dataclass(frozen=True, slots=True)
class Voter:
    """Somebody who may vote; the name is what the organiser calls them, and not in the log.

    ``struck``: no answer of theirs counts. ``left``: they are asked nothing more, but their answers count;
    ``open_dropped``: and what they have not said is not counted. Of their ``answers``, ``counted`` count.
    """

    id: str
    name: str | None
    weight: int
    conflicts: tuple[str, ...]
    struck: bool
    left: bool
    open_dropped: bool
    answers: int
    counted: int


Trouble = Literal["absent", "link", "other"]
"""What can be wrong with a candidate: not there, a link or picture that does not work, or something else."""


Said = tuple[str, Trouble, str]
"""A candidate, what is wrong, and a text."""


@dataclass(frozen=True, slots=True)
class Report:
    """A voter's word that something is wrong with a candidate; ``entry`` is its place in the log."""

    entry: int
    at: float
    voter: str
    candidate: str
    problem: Trouble
    text: str
    resolved: bool = False

    @property
    def said(self) -> Said:
        """What was reported, whoever did."""
        return self.candidate, self.problem, self.text


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer as the organiser sees it; ``entry`` is its place in the log, ``at`` its time.

    ``struck``: the organiser struck this one answer. ``counts`` is false for other reasons, too: its voter
    was struck, it came after closing, or it is about candidates who withdrew, or whom this judge of a panel
    does not judge.
    """

    entry: int
    at: float
    voter: str
    question: int
    position: str
    candidates: tuple[str, ...]
    answer: Ranking
    struck: bool
    counts: bool


@dataclass(frozen=True, slots=True)
class AnswersLeft:
    """How many more answers it takes, from `low` to `high` in 8 of 10 cases.

    Null where that is more than `beyond`, as far as could be simulated.
    """

    low: int | None
    middle: int | None
    high: int | None
    beyond: int | None


@dataclass(frozen=True, slots=True)
class Status:
    """Where a study stands, all of it at one moment: after entry ``entries`` of its log, with its hash.

    ``answers`` were given, of which ``counted`` count; ``struck`` of them do not because the organiser struck
    them or their voters. ``result`` is what the study says now, or, once it is closed, what it said then (the
    ``verdict`` recorded in the log). Algorithms that work in rounds still need ``missing`` answers before
    they can say more, and have ``unused`` ones. ``assuming`` lists what the result takes for granted.
    ``published``: whether voters are shown the result once the study is closed. ``voters_gone``: so many
    have left, and their missing answers are not waited for. ``voters_struck`` do not count;
    ``voters_out`` have left a panel without an answer that counts, and nothing of theirs is open any more;
    ``voters_counted`` have given an answer that counts.
    """

    id: str
    name: str
    algorithm: str
    phase: Phase
    done: bool
    entries: int
    hash: str
    voters: int
    questions: int
    open_questions: int
    answers: int
    counted: int
    struck: int
    missing: int
    unused: int
    dropped: tuple[str, ...]
    max_answers: int | None
    result: Result
    progress: Progress
    assuming: tuple[Assumption, ...]
    verdict: Mapping[str, Any] | None
    published: bool = False
    voters_gone: int = 0
    voters_struck: int = 0
    voters_out: int = 0
    voters_counted: int = 0

    @property
    def voters_there(self) -> int:
        """How many voters count, or may: judges who left and have said nothing are none of them."""
        return self.voters - self.voters_struck - self.voters_out

    @property
    def certain(self) -> bool:
        """Whether the result is certain, or proven; a study can be done without, when nobody can be asked."""
        return self.result.status != "budget_spent"

    @property
    def outcome(self) -> ResultStatus | Literal["undecided"]:
        """The status of the result; "undecided" while nothing is certain and voting goes on."""
        goes_on = self.phase != "closed" and not self.done
        return "undecided" if goes_on and not self.certain else self.result.status

    @property
    def shortfall(self) -> float | None:
        """By how much the leader is worse than the best, at most, per position; None if nothing is known."""
        if self.result.shortfall is not None or self.verdict is not None:
            return self.result.shortfall
        return self.progress.shortfall

    @property
    def held_up(self) -> int:
        """How many answers of a crowd count only once a ballot that was opened before is in."""
        waiting = self.progress.waiting_for
        return waiting[0][1] if waiting and self.algorithm != "panel" else 0

    def answers_left(self, estimates: Estimates | None) -> AnswersLeft | None:
        """About how many more answers are needed, by estimates of some moment; None if that is not known."""
        if self.done:
            return AnswersLeft(0, 0, 0, None)
        planned = LARGEST if self.max_answers is None else max(0, self.max_answers - self.counted)
        found = None if estimates is None else estimates.forecast
        if estimates is None or found is None:
            return None if planned == LARGEST else AnswersLeft(None, None, planned, None)
        since = self.counted - estimates.answers
        low, middle, high = (
            None if number is None else min(planned, max(1, number - since))
            for number in (found.low, found.middle, found.high)
        )
        beyond = None if found.simulated is None else max(1, found.simulated - since)
        if planned < LARGEST and high is None:
            return AnswersLeft(low, middle, planned, None)
        return AnswersLeft(low, middle, high, beyond)


@dataclass(frozen=True, slots=True)
class Point:
    """Where the study stood after a number of answers.

    ``sure`` is one minus the p-value of the leader, of a crowd; ``shortfall`` by how much the leader can be
    worse than the best, at most and for certain, of a panel; ``decided`` the share of the edges that are
    accepted or rejected, for algorithms that decide edges. None where the study has no such thing.
    """

    answers: int
    sure: float | None = None
    decided: float | None = None
    shortfall: float | None = None


@dataclass(frozen=True, slots=True)
class History:
    """How a study has developed: where it stood, and how many answers came in each hour (counted from 1970).

    Nothing of it is stored: whenever the log is gone through, the study is looked at now and then on its way.
    So it is the same on every server.
    """

    points: list[Point]
    hours: dict[int, int]


@dataclass(frozen=True, slots=True)
class Listed:
    """A study in the list of all."""

    id: str
    name: str
    phase: Phase
    created_at: float


def verdict_of(result: Result, assuming: Iterable[Assumption]) -> dict[str, Any]:
    """Return the result of a study, and what it takes for granted, as they are written into the log."""
    values = {field.name: getattr(result, field.name) for field in fields(result)}
    matching = None if result.matching is None else result.matching.as_json()
    return values | {"matching": matching, "assuming": [str(each) for each in assuming]}


def result_of(verdict: Mapping[str, Any]) -> Result:
    """Return the result that was written into the log."""
    matching = None if verdict["matching"] is None else Matching(verdict["matching"])
    assuming = tuple(each for each in Assumption if each in verdict["assuming"])
    return Result(**{**verdict, "matching": matching, "assuming": assuming})
