"""The board: what the log of a study comes to, kept in memory and brought up to date entry by entry.

Every process has its own board of a study, and all boards of the same log are alike. What an entry changes is
noted at once, which is quick; what the explorer makes of it can take a moment, is called thinking, and is
done by :meth:`Board.think` while others go on reading and voting.
"""

from __future__ import annotations

import json
import math
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import thread_time
from typing import Literal

from duelmatch.errors import StoreError
from duelmatch.explorers.result import Progress, Result
from duelmatch.files.problems import read_problem, tree_of
from duelmatch.problem import Problem
from duelmatch.studies.course import Course, Pair, pair_of
from duelmatch.studies.entries import Line
from duelmatch.studies.history import HOUR, History
from duelmatch.studies.settings import Settings

State = Literal["open", "paused", "closed"]

A_MOMENT = 0.01
"""Seconds of a processor: about what a commit takes, and less than it takes to come again."""


@dataclass(slots=True)
class Answer:
    """What a voter said: an edge won against another. A struck one does not count, whoever gave it."""

    voter: int
    winner: int
    loser: int
    tie: bool = False
    struck: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a study stands after entry ``seq`` of its log, all of it at one moment.

    ``missing`` answers are needed before the explorer thinks again; ``unused`` ones are there and wait for
    that.
    """

    seq: int
    state: State
    voters: int
    questions: int
    open_questions: int
    answers: int
    counted: int
    dropped: tuple[str, ...]
    done: bool
    missing: int
    unused: int
    result: Result
    progress: Progress


@dataclass
class Board:
    """What a study's log says, up to and with entry ``seq``."""

    problem: Problem
    settings: Settings
    seq: int = 1
    state: State = "open"
    voters: int = 0
    questions: int = 0
    dropped: list[str] = field(default_factory=list)
    answers: dict[int, Answer] = field(default_factory=dict)
    """By question, in the order in which they were given."""
    leases: dict[int, tuple[int, Pair]] = field(default_factory=dict)
    """The open questions: whose, and about what."""
    voided: set[int] = field(default_factory=set)
    """The voters whose answers do not count."""
    held: set[int] = field(default_factory=set)
    """The questions answered since the study was closed; they count if it is opened again."""
    asked: dict[int, Counter[Pair]] = field(default_factory=dict)
    """How often each voter was asked what."""
    skipped: dict[int, set[Pair]] = field(default_factory=dict)
    """What each voter has passed on, and is not asked again."""
    hours: Counter[int] = field(default_factory=Counter)
    """How many answers came in each hour."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held for moments only, never while the explorer is thinking."""

    def __post_init__(self) -> None:
        self._thinking = threading.Lock()
        self._stale = False
        self._took = math.inf
        self._course = Course(self.problem, (), self.settings)
        self._standing: tuple[int, Result, Progress] | None = None

    @classmethod
    def of(cls, created: Line) -> Board:
        """Begin with the first entry of a log."""
        problem, settings = read_created(created.note or "")
        return cls(problem, settings)

    # Noting what happened.

    def absorb(self, rows: Iterable[Line]) -> None:
        """Note the entries that follow; those that are known already are passed over."""
        with self.lock:
            for row in rows:
                if row.seq <= self.seq:
                    continue
                if row.seq != self.seq + 1:
                    raise StoreError(f"Entry {self.seq + 1} of the log is missing, entry {row.seq} is there.")
                self._note(row)
                self.seq = row.seq

    def _note(self, row: Line) -> None:
        match row.kind:
            case "joined":
                self.voters += 1
            case "asked":
                self.questions += 1
                pair = pair_of(_int(row.one), _int(row.other))
                self._lease(_int(row.question), _int(row.voter), pair)
                self.asked.setdefault(_int(row.voter), Counter())[pair] += 1
            case "answered":
                self._free(_int(row.question))
                tie = row.note is not None and "tie" in json.loads(row.note)
                answer = Answer(_int(row.voter), _int(row.one), _int(row.other), tie)
                self.answers[_int(row.question)] = answer
                self.hours[int(row.at // HOUR)] += 1
                if self.state == "closed":
                    self.held.add(_int(row.question))
                elif row.voter not in self.voided:
                    self._course.push(_int(row.question), answer.winner, answer.loser)
            case "skipped":
                if lease := self.leases.get(_int(row.question)):
                    self.skipped.setdefault(lease[0], set()).add(lease[1])
                self._free(_int(row.question))
            case "released":
                self._free(_int(row.question))
            case "undone":
                question = _int(row.question)
                answer = self.answers.pop(question)
                self._take_back(question, answer)
                self.held.discard(question)
                self._lease(question, answer.voter, pair_of(answer.winner, answer.loser))
            case "corrected":
                self._correct(_int(row.question), row.one, row.other)
            case "invalidated":
                self.voided.add(_int(row.voter))
                self._stale = True
            case "reinstated":
                self.voided.discard(_int(row.voter))
                self._stale = True
            case "dropped":
                self.dropped.append(json.loads(row.note or "")["candidate"])
                self._stale = True
            case "paused" | "closed":
                self.state = "paused" if row.kind == "paused" else "closed"
            case "resumed" | "reopened":
                self.state = "open"
                self._stale = self._stale or bool(self.held)
                self.held.clear()

    def _lease(self, question: int, voter: int, pair: Pair) -> None:
        self.leases[question] = (voter, pair)
        self._course.lease(pair, 1)

    def _free(self, question: int) -> None:
        if question in self.leases:
            self._course.lease(self.leases.pop(question)[1], -1)

    def _correct(self, question: int, winner: int | None, loser: int | None) -> None:
        answer = self.answers[question]
        struck = winner is None or loser is None
        if not struck:
            self._stale = True
        elif not answer.struck:
            self._take_back(question, answer)
        answer.struck = struck
        if winner is not None and loser is not None:
            answer.winner, answer.loser, answer.tie = winner, loser, False

    def _take_back(self, question: int, answer: Answer) -> None:
        if self._counts(question, answer):
            pair = pair_of(answer.winner, answer.loser)
            self._stale = not self._course.remove(question, pair) or self._stale

    def _counts(self, question: int, answer: Answer) -> bool:
        return not answer.struck and answer.voter not in self.voided and question not in self.held

    # Thinking.

    @property
    def ready(self) -> bool:
        """Whether nothing is to be thought about before the next question."""
        return not (self._stale or self._course.ready)

    @property
    def quick(self) -> bool:
        """Whether thinking will be over in a moment, as far as one can tell."""
        return not self._stale and self._took < A_MOMENT

    def think(self) -> None:
        """Let the explorer catch up with the answers."""
        if self.ready:  # whoever has nothing to think about does not wait for those who look
            return
        with self._thinking:
            while self._stale or self._course.ready:
                try:
                    self._rebuild() if self._stale else self._advance()
                except BaseException:
                    self._stale = True  # it may have been interrupted anywhere
                    raise

    def _advance(self) -> None:
        begin = thread_time()
        with self.lock:
            course = self._course
            wins = course.take()
        course.run.tell_wins(wins)
        course.trace.follow(course.run)
        with self.lock:
            course.install()
        self._took = thread_time() - begin

    def _rebuild(self) -> None:
        """Begin anew with the answers that count now, in the order in which they were given."""
        dropped = tuple(self.dropped)
        course = Course(self.problem, dropped, self.settings)
        with self.lock:
            for _, pair in self.leases.values():
                course.lease(pair, 1)
            for question, answer in self.answers.items():
                if self._counts(question, answer):
                    course.push(question, answer.winner, answer.loser)
            self._course = course
            self._standing = None
            self._stale = len(self.dropped) > len(dropped)  # by then, another one may have withdrawn

    # What it comes to.

    @property
    def done(self) -> bool:
        """Whether the explorer is sure."""
        return self._course.over

    @property
    def counted(self) -> int:
        """How many answers count."""
        return self._course.answers

    @property
    def unseen(self) -> int:
        """How many answers the explorer has not used yet; after a start, all that there are."""
        return self._course.answers - self._course.run.duels

    def counts(self, question: int) -> bool:
        """Whether the answer to a question counts."""
        answer = self.answers[question]
        kept = self._course.concerns(pair_of(answer.winner, answer.loser))
        return kept and self._counts(question, answer)

    def choose(self, voter: int) -> Pair | None:
        """Return what to ask a voter next; None if there is nothing now. Think first."""
        return self._course.choose(self.asked.get(voter, {}), self.skipped.get(voter, ()))

    def asked_everything(self, voter: int) -> bool:
        """Whether a voter was asked every question that there is."""
        asked = self.asked.get(voter, ())
        return sum(map(self._course.concerns, asked)) == self._course.problem.graph.pairs

    def standing(self) -> Standing:
        """Say where the study stands."""
        while True:
            self.think()
            with self._thinking:
                course = self._course
                if self._standing is None or self._standing[0] != course.run.duels:
                    self._standing = (course.run.duels, course.run.result, course.run.progress)
                with self.lock:
                    if self.ready:
                        return self._stand(*self._standing)

    def _stand(self, used: int, result: Result, progress: Progress) -> Standing:
        return Standing(
            seq=self.seq,
            state=self.state,
            voters=self.voters,
            questions=self.questions,
            open_questions=len(self.leases),
            answers=len(self.answers),
            counted=self.counted,
            dropped=tuple(self.dropped),
            done=self.done,
            missing=self._course.missing,
            unused=self.unseen,
            result=result,
            progress=progress,
        )

    def history(self) -> History:
        """Say how it came there."""
        progress = self.standing().progress
        with self.lock:
            return History(self._course.trace.until(progress), dict(self.hours))


def created_note(problem: Problem, settings: Settings) -> str:
    """Return the note of a study's first entry."""
    return json.dumps({"problem": tree_of(problem), "settings": settings.as_dict()}, separators=(",", ":"))


def read_created(note: str) -> tuple[Problem, Settings]:
    """Read the note of a study's first entry."""
    content = json.loads(note)
    problem = read_problem(json.dumps(content["problem"]), ".json")
    return problem, Settings.from_dict(content["settings"])


def _int(value: int | None) -> int:
    if value is None:
        raise StoreError("An entry of the log lacks a number; the database is damaged.")
    return value
