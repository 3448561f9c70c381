"""What a server says, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from duelmatch.errors import ServerError, StudyError
from duelmatch.explorers.questions import Answer, Question
from duelmatch.matchings import Edge
from duelmatch.problem import Matching

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Invited:
    """A voter, and the token of their link, which is shown once."""

    voter: str
    token: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class NoQuestion:
    """Why there is nothing to ask a voter now: the ``reason`` is one of those of the HTTP API."""

    reason: str


@dataclass(frozen=True, slots=True)
class AnswerReceipt:
    """An answer that is on disk: ``entry`` of the log, whose ``hash`` `duelmatch verify --receipt` finds.

    ``answer`` has groups of candidates, best first; ``repeated``: the same answer was there already. In a
    secret study a repeated receipt has neither ``position`` nor ``answer``: whoever has the link could ask.
    """

    number: int
    position: str | None
    answer: tuple[tuple[str, ...], ...] | None
    winner: str | None
    entry: int
    hash: str
    repeated: bool


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """How far a study has come; ``answers_left`` is an estimate, None if it is not known."""

    name: str
    phase: str
    done: bool
    entries: int
    answers: int
    voters: int
    open_questions: int
    answers_left: int | None
    held_up: int


@dataclass(frozen=True, slots=True)
class StudyStandings:
    """Who is probably in the best line-up, by the first ``answers``: an estimate, without a guarantee."""

    answers: int
    entry: int
    leader: Matching
    leader_probability: float
    probability: Mapping[Edge, float]
    expected_shortfall: float


@dataclass(frozen=True, slots=True)
class StudyResult:
    """Who should fill what, and how sure that is.

    ``status`` is that of a :class:`duelmatch.Result`, or "undecided" while voting goes on. While it is
    "undecided" or "budget_spent", ``matching`` is no winner: of a panel, it is the line-up with the smallest
    certain ``shortfall`` that was found, of a crowd the one that is first in the test. Who probably leads is
    ``standings.leader``, which may be another. ``waiting_for``
    has the voters who hold it up, by their ids, and with how much, unless the study is secret.
    """

    status: str
    matching: Matching | None
    error_allowed: float
    shortfall: float | None
    standings: StudyStandings | None
    assuming: tuple[str, ...]
    accepted: tuple[Edge, ...]
    rejected: tuple[Edge, ...]
    undecided: tuple[Edge, ...]
    dropped: tuple[str, ...]
    waiting_for: Mapping[str, int | None]
    entries: int
    hash: str


@dataclass(frozen=True, slots=True)
class StudyVoter:
    """A voter as the organiser sees them."""

    id: str
    name: str | None
    weight: int
    conflicts: tuple[str, ...]
    struck: bool
    left: bool
    begun: bool
    answers: int | None
    hints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StudyAnswer:
    """An answer as the organiser sees it."""

    entry: int
    at: float
    voter: str
    question: int
    position: str
    answer: tuple[tuple[str, ...], ...]
    struck: bool
    counts: bool


def made(kind: type[Made], data: Mapping[str, Any], **other: Any) -> Made:
    """Return a value of what the server sent; it may send more than is known here."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    try:
        return kind(**{name: _frozen(data[name]) for name in names if name not in other}, **other)
    except (KeyError, TypeError) as error:
        raise ServerError(f"The server says what is not understood: {kind.__name__} lacks {error}.") from None


def _frozen(value: Any) -> Any:
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


def number_of(question: object) -> int:
    """Return the number of a question that was asked.

    :raises StudyError: if it is none.
    """
    if isinstance(question, NoQuestion):
        raise StudyError(f"There is no question to answer now: {question.reason}.")
    if not isinstance(question, Question):
        raise StudyError(f"What is answered is the question that ask() returned, not {question!r:.80}.")
    return question.id


def said(answer: Answer) -> Any:
    """Return an answer as JSON has it.

    :raises StudyError: if it is none.
    """
    if answer is None or isinstance(answer, str):
        return answer
    groups: list[str | list[str]] = []
    for group in answer if isinstance(answer, Sequence) else [answer]:
        names = [group] if isinstance(group, str) else group
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise StudyError(f"An answer is a name, None, or a ranking of names, not {answer!r:.80}.")
        groups.append(group if isinstance(group, str) else list(group))
    return groups


def question(data: Mapping[str, Any]) -> Question | NoQuestion:
    """Return a question, or why there is none."""
    if data.get("number") is None:
        return NoQuestion(data["reason"])
    return Question(data["position"], tuple(data["candidates"]), data["number"])


def result(data: Mapping[str, Any]) -> StudyResult:
    """Return a result with its standings."""
    matching = None if data["matching"] is None else Matching(data["matching"])
    found, standings = data["standings"], None
    if found is not None:
        probability = {
            (candidate, position): share
            for position, shares in found["probability"].items()
            for candidate, share in shares.items()
        }
        standings = made(StudyStandings, found, leader=Matching(found["leader"]), probability=probability)
    return made(StudyResult, data, matching=matching, standings=standings)
