"""What is kept of a voter, of a question, and of the design: the pieces of a panel's record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from duelmatch.explorers.questions import Question
from duelmatch.panel import Conflict

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
