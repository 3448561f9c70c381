"""Studies by algorithms that work in rounds: the paper's and those of other packages.

Events say who was asked what and who answered how; the run itself is replayed from the answers that count.
What one voter says again, or about several pairs, is taken for independent answers: such a study says so.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import Literal

import numpy as np

from duelmatch.errors import DuelmatchError, NotAllowedError, StoreError, TooLargeError
from duelmatch.explorers.catalogue import Assumption, described
from duelmatch.explorers.result import Progress, Result
from duelmatch.models.standings import Standings
from duelmatch.problem import Problem
from duelmatch.studies.kinds import FOR_PANELS, Begin, Event, Kind, shown
from duelmatch.studies.kinds.stacks import Pair, Stacks
from duelmatch.studies.settings import Settings
from duelmatch.studies.texts import with_candidate
from duelmatch.studies.values import Point, Ranking, Reason

A_MOMENT = 0.01
"""Seconds of a processor: about what a commit takes, and less than it takes to come again."""


@dataclass(slots=True)
class PairQuestion:
    """A question: whose, about what; and the answer: 1 if the lower of the pair is better, 0, or 1/2.

    None while there is no answer, or it is struck.
    """

    number: int
    voter: str
    pair: Pair
    value: float | None = None


class RoundsKind(Kind):
    """A run that is fed by voters."""

    def __init__(
        self, problem: Problem, settings: Settings, voters: Sequence[str], begin: Begin | None = None
    ) -> None:
        self.record = None
        self._begin = begin
        self._problem = problem
        self._settings = settings
        self._asked: dict[int, PairQuestion] = {}
        self._answered: dict[int, None] = {}
        """The questions with an answer, in the order in which these were given."""
        self._open: dict[int, PairQuestion] = {}
        self._voters = set(voters)
        self._struck: set[str] = set()
        self._left: set[str] = set()
        self._dropped: list[str] = []
        self._times: dict[str, Counter[Pair]] = {}
        self._skipped: dict[str, set[Pair]] = {}
        self._lock = threading.RLock()
        """Held for moments only, never while the algorithm computes."""
        self._thinking = threading.Lock()
        self._took = math.inf
        self._stale = False
        self._refusal: tuple[int, DuelmatchError] | None = None
        """After how many entries a computation was given up, and why: it would not end the next time."""
        self._noted = 0
        self._stacks = Stacks(problem, (), settings, begin)

    # Noting what happened.

    def note(self, event: Event) -> None:
        with self._lock:
            self._noted += 1
            self._note(event)

    def _note(self, event: Event) -> None:
        question = self._asked.get(event.get("question", 0))
        match event["kind"]:
            case "joined":
                self._voters.add(event["voter"])
            case "asked":
                self._note_asked(event)
            case "answered" if question is not None:
                self._free(question)
                question.value = value = self._value(question.pair, event["answer"])
                self._answered[question.number] = None
                if question.voter not in self._struck:
                    self._stacks.push(question.number, question.pair, value)
            case "skipped" if question is not None:
                self._skipped.setdefault(question.voter, set()).add(question.pair)
                self._free(question)
            case "released" if question is not None:
                self._free(question)
                if event.get("reason") == "undo":  # it was hardly seen, and comes again
                    self._times[question.voter][question.pair] -= 1
            case "undone" if question is not None:
                self._take_back(question)
                del self._answered[question.number]
                self._open[question.number] = question
                self._stacks.lease(question.pair, 1)
            case "corrected" if question is not None:
                self._take_back(question)
                if event["answer"] is not None:
                    question.value = self._value(question.pair, event["answer"])
                    self._stale = True
            case "struck" | "reinstated":
                (self._struck.add if event["kind"] == "struck" else self._struck.discard)(event["voter"])
                self._free_all(lambda asked: asked.voter == event["voter"])
                self._stale = True
            case "left" | "returned":
                (self._left.add if event["kind"] == "left" else self._left.discard)(event["voter"])
                self._free_all(lambda asked: asked.voter == event["voter"])
            case "dropped":
                self._dropped.append(event["candidate"])
                gone = self._problem.candidate_number(event["candidate"])
                self._free_all(lambda asked: gone in asked.pair[1:])
                self._stale = True
            case "added":
                self._problem = with_candidate(self._problem, event["candidate"], event["positions"])
                self._stale = True
            case kind:
                raise StoreError(f"An entry of kind '{kind!s:.40}' cannot be there in a study by rounds.")

    def _note_asked(self, event: Event) -> None:
        low, high = sorted(map(self._problem.candidate_number, event["candidates"]))
        pair = self._problem.position_number(event["position"]), low, high
        asked = PairQuestion(event["question"], event["voter"], pair)
        self._asked[asked.number] = self._open[asked.number] = asked
        self._times.setdefault(event["voter"], Counter())[pair] += 1
        self._stacks.lease(pair, 1)

    def _value(self, pair: Pair, answer: Sequence[Sequence[str]]) -> float:
        if len(answer) == 1:
            return 0.5
        return 1.0 if self._problem.candidate_number(answer[0][0]) == pair[1] else 0.0

    def _free(self, question: PairQuestion) -> None:
        if self._open.pop(question.number, None) is not None:
            self._stacks.lease(question.pair, -1)

    def _free_all(self, which: Callable[[PairQuestion], bool]) -> None:
        for question in [question for question in self._open.values() if which(question)]:
            self._free(question)

    def _take_back(self, question: PairQuestion) -> None:
        if question.value is not None and question.voter not in self._struck:
            self._stale = not self._stacks.remove(question.number, question.pair) or self._stale
        question.value = None

    # For voters.

    def ask(self, voter: str, now: float) -> Reason | None:
        with self._lock:
            if self.done:
                return "done"
            pair = self._stacks.choose(self._times.get(voter, {}), self._skipped.get(voter, ()))
            if pair is None:
                return "waiting" if self._others_can(voter) else "all yours"
            position, *both = pair
            number = len(self._asked) + 1
            names = [self._problem.candidates[each] for each in both]
            at, times = self._problem.positions[position], self._times.get(voter, Counter[Pair]())[pair]
            about = {
                "position": at,
                "candidates": shown(self._settings.seed or 0, voter, f"{at} {times}", names),
            }
            self._decide({"kind": "asked", "question": number, "voter": voter, **about, "until": None})
            return None

    def _others_can(self, voter: str) -> bool:
        """Whether others can answer something that the round lacks."""
        if any(question.voter != voter for question in self._open.values()):
            return True
        others, lacking = self._voters - self._struck - self._left - {voter}, set(self._stacks.lacking())
        return any(lacking - self._skipped.get(other, set()) for other in others)

    def tell(self, question: int, answer: Ranking, now: float) -> None:
        groups = [list(group) for group in answer]
        self._decide({"kind": "answered", "question": question, "answer": groups})

    def skip(self, question: int, reason: str | None) -> None:
        self._decide({"kind": "skipped", "question": question, "reason": reason})

    def release(self, question: int, reason: str) -> None:
        self._decide({"kind": "released", "question": question, "reason": reason})

    def undo(self, question: int, now: float) -> None:
        self._decide({"kind": "undone", "question": question})

    # For organisers.

    def correct(self, question: int, answer: Ranking | None, clerical: bool) -> None:
        groups = None if answer is None else [list(group) for group in answer]
        self._decide({"kind": "corrected", "question": question, "answer": groups, "clerical": clerical})

    def strike(self, voter: str) -> None:
        self._decide({"kind": "struck", "voter": voter})

    def reinstate(self, voter: str) -> None:
        self._decide({"kind": "reinstated", "voter": voter})

    def drop(self, candidate: str) -> None:
        self._problem.without([*self._dropped, candidate])
        self._decide({"kind": "dropped", "candidate": candidate})

    def add(self, candidate: str, positions: Sequence[str]) -> None:
        with_candidate(self._problem, candidate, positions)
        self._decide({"kind": "added", "candidate": candidate, "positions": list(positions)})

    def leave(self, voter: str, open_answers: Literal["open", "dropped"]) -> None:
        self._decide({"kind": "left", "voter": voter, "open_answers": open_answers})

    def come_back(self, voter: str) -> None:
        self._decide({"kind": "returned", "voter": voter})

    def conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Refused: there is no way for a round to go without an answer."""
        raise NotAllowedError(FOR_PANELS)

    def clear_conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Refused: there are no conflicts."""
        raise NotAllowedError(FOR_PANELS)

    # Thinking.

    @property
    def ready(self) -> bool:
        """Whether the present round still lacks answers, or nothing is to be asked any more."""
        return not (self._stale or self._stacks.complete)

    def think(self, patient: bool = True) -> None:
        """Let the algorithm catch up with the answers, while others go on voting."""
        elsewhere = self._begin is not None  # where others may be served first
        if self.ready or (not patient and (self._stale or elsewhere or self._took > A_MOMENT)):
            return
        with self._thinking:
            while not self.ready:
                if self._refusal is not None and self._refusal[0] == self._noted:
                    raise self._refusal[1]
                noted = self._noted
                try:
                    self._rebuild() if self._stale else self._advance()
                except BaseException as error:
                    self._stale = True  # it may have been interrupted anywhere
                    if isinstance(error, TooLargeError):
                        self._refusal = noted, error
                    raise

    def _advance(self) -> None:
        begin = thread_time()
        with self._lock:
            stacks = self._stacks
            answers = stacks.take()
        stacks.play(*answers)
        with self._lock:
            stacks.install()
        self._took = thread_time() - begin

    def _rebuild(self) -> None:
        """Start over with the answers that count now, in the order in which they were given."""
        problem, dropped = self._problem, tuple(self._dropped)
        stacks = Stacks(problem, dropped, self._settings, self._begin)
        with self._lock:
            if problem is not self._problem or len(dropped) < len(self._dropped):
                return  # meanwhile, others came or went
            for question in self._open.values():
                stacks.lease(question.pair, 1)
            for number in self._answered:
                question = self._asked[number]
                if question.value is not None and question.voter not in self._struck:
                    stacks.push(number, question.pair, question.value)
            self._stacks = stacks
            self._stale = False

    # What follows.

    @property
    def done(self) -> bool:
        return self._stacks.over

    @property
    def missing(self) -> int:
        return self._stacks.missing

    @property
    def unused(self) -> int:
        return self._stacks.answers - self._stacks.run.duels

    @property
    def result(self) -> Result:
        return self._stacks.run.result

    @property
    def progress(self) -> Progress:
        return self._stacks.run.progress

    @property
    def assuming(self) -> tuple[Assumption, ...]:
        """What the result takes for granted: above all, independent answers."""
        return (Assumption.INDEPENDENT_ANSWERS, *self._stacks.run.result.assuming)

    def standings_later(self) -> Callable[[], Standings]:
        """Return what computes the standings from all answers that count, used or not."""
        from duelmatch.models.standings import standings_from_counts

        with self._lock:
            problem, names = self._problem.without(self._dropped), self._problem.candidates
            table = problem.graph.pair_table
            wins, duels, ties = np.zeros(table.count), np.zeros(table.count), 0
            for number in self._answered:
                asked = self._asked[number]
                position, *both = asked.pair
                if asked.value is None or asked.voter in self._struck:
                    continue
                if any(names[each] in self._dropped for each in both):
                    continue
                place = self._problem.positions[position]
                low, high = (problem.edge_number(names[each], place) for each in both)
                pair = table.number_of(low, high)
                duels[pair] += 1
                wins[pair] += asked.value
                ties += asked.value == 0.5
        criterion = described(self._settings.algorithm).criterion
        return partial(standings_from_counts, problem, wins, duels, criterion, ties)

    @property
    def points(self) -> list[Point]:
        return self._stacks.trace.until(self._stacks.point())
