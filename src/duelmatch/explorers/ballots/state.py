"""What the events of a study add up to: ballots and answers, who is busy with what, and who counts.

:meth:`CrowdState.note` is the only code that changes any of it. It decides nothing and draws nothing, so the
same events give the same state, on whichever machine. What follows from a state is worked out when somebody
wants to know it (:mod:`duelmatch.explorers.ballots.conclusions`), so a long log is read quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from heapq import heappush
from itertools import combinations
from typing import Any

import numpy as np

from duelmatch.errors import DuelError, DuelmatchError
from duelmatch.explorers.ballots.bets import Contest
from duelmatch.explorers.ballots.events import KINDS, Event, order_of, read_design
from duelmatch.explorers.ballots.latecomers import Renumbering, larger_problem
from duelmatch.explorers.ballots.records import EVERYBODY, MISSING, Answers, Ballot, Count, Design
from duelmatch.explorers.frugal.stakes import Pairs
from duelmatch.explorers.questions import Question
from duelmatch.matchings import Edge
from duelmatch.matchings.reference import ReferenceName, reference_of
from duelmatch.preferences import Criterion
from duelmatch.problem import Problem

Groups = list[list[str]]
"""An answer: candidates in groups, best first."""


@dataclass(slots=True, eq=False)
class Participation:
    """One voter's part in one ballot: the questions left, by their place on it. ``role`` 0 opened it."""

    voter: str
    ballot: int
    role: int
    left: list[int]
    deadline: float | None = None
    """When it ends; fixed when it begins."""
    handed: dict[int, Question] = field(default_factory=dict)
    over: bool = False
    """Whether it has ended: what comes now is too late, and is for the standings only."""


@dataclass(slots=True, eq=False)
class Told:
    """A question that was answered."""

    question: Question
    part: Participation
    place: int
    groups: Groups | None
    """What counts for the standings: the answer, or what it was corrected to; None if it was struck."""
    late: bool
    corrected: bool = False


@dataclass(slots=True, eq=False)
class Earlier:
    """A question of before the first ballot, and its answer, if it counts."""

    voter: str
    position: str
    groups: Groups | None = None


class CrowdState:
    """What is known of a study, and nothing that is not in its events."""

    def __init__(
        self,
        problem: Problem,
        criterion: Criterion,
        reference: ReferenceName | Mapping[Edge, float] = "decisions",
        seed: int = 0,
    ) -> None:
        self.problem = problem
        self.criterion = criterion
        self.reference = reference
        """Against whom Borda counts. Shares given by edge are of those who were candidates at the start."""
        self._reference_seed = seed
        if not isinstance(reference, str):
            reference_of(problem.graph, problem.edge_vector(reference))  # or it is refused
        self.answers = 0
        """How many questions have been answered, late answers included."""
        self.designs: list[Design] = []
        self.latest: dict[str, Design] = {}
        """The last design made on each basis."""
        self.ballots: list[Ballot] = []
        self.returned: list[Answers] = []
        self.settled = 0
        """How many ballots are finished before the first that is not, in the order of opening."""
        self.parts: dict[str, Participation] = {}
        """Every voter has one, and only one."""
        self.holders: list[Participation] = []
        """Whose part in each ballot was the last to begin."""
        self.deadlines: list[tuple[float, int]] = []
        """A heap of when parts in ballots end, and of which ballots."""
        self.waiting: list[int] = []
        """Ballots that wait for an heir, the first first."""
        self.open: dict[int, tuple[Question, Participation, int]] = {}
        """Questions handed out and not answered, with their place on the ballot."""
        self.told: dict[int, Told] = {}
        self.last_question = 0
        self.counts: list[Count] = [EVERYBODY]
        """All ways of counting there have been, the present one last."""
        self.dropped: tuple[str, ...] = ()
        self.late_candidates: tuple[str, ...] = ()
        self.changes = 0
        """How often it has changed who counts, or who stands."""
        self.earlier: dict[int, Earlier] = {}
        """Answers of before the first ballot, by question: for the estimates, never for a proof."""
        self.contest = self._contest()
        self._edge_number = _numbered(problem)
        self._tally: Pairs | None = Pairs(problem.graph)

    @property
    def count(self) -> Count:
        """Who and what counts now."""
        return self.counts[-1]

    @property
    def tally(self) -> Pairs:
        """How often each pair was asked and its first edge won, in the answers on ballots that count."""
        if self._tally is None:
            self._tally = Pairs(self.problem.graph)
            for ballot, answers in zip(self.ballots, self.returned, strict=True):
                values = self.count.values(ballot, answers)
                if values is not None:
                    given = ~np.isnan(values)
                    np.add.at(self._tally.duels, ballot.pairs[given], 1.0)
                    np.add.at(self._tally.wins, ballot.pairs[given], values[given])
            for earlier in self.earlier.values():
                if earlier.groups is not None and earlier.voter not in self.count.struck:
                    self._add_earlier(self._tally, earlier.position, order_of(earlier.groups))
        return self._tally

    def _add_earlier(self, tally: Pairs, position: str, order: Mapping[str, int]) -> None:
        numbers = {self.problem.edge_number(name, position): place for name, place in order.items()}
        table = self.problem.graph.pair_table
        for one, other in combinations(sorted(numbers), 2):
            pair = int(table.number(np.array([one]), np.array([other]))[0])
            tally.duels[pair] += 1.0
            tally.wins[pair] += (1 + (numbers[one] < numbers[other]) - (numbers[one] > numbers[other])) / 2

    def note_earlier(self, question: int, voter: str, position: str, groups: Groups | None) -> None:
        """Take over a question of before the first ballot, and its answer, if there is one that counts."""
        self.earlier[question] = Earlier(voter, position, groups)
        self.last_question = max(self.last_question, question)
        self._tally = None

    def waiting_for(self) -> tuple[tuple[str, int], ...]:
        """Return whose ballot is not finished, and how many answers on later ballots count only then."""
        found, behind = [], 0
        for number in range(len(self.ballots) - 1, self.settled - 1, -1):
            if behind and not self.returned[number].closed:
                found.append((self.holders[number].voter, behind))
            ballot, missing = self.ballots[number], self.returned[number].missing
            behind += sum(not missing[ballot.pairs_of(n)].any() for n in range(len(ballot.questions)))
        return tuple(found[::-1])

    def unanswered(self, number: int) -> list[int]:
        """Return the places of the questions without an answer, about candidates who have not left."""
        ballot, missing = self.ballots[number], self.returned[number].missing
        places, staying, begin = [], self.contest.staying, 0
        for place, edges in enumerate(ballot.questions):
            pairs = len(edges) * (len(edges) - 1) // 2
            if missing[begin : begin + pairs].any() and staying[list(edges)].sum() > 1:
                places.append(place)
            begin += pairs
        return places

    def note(self, event: Event) -> None:
        """Take over an event.

        :raises DuelError: if it is none of a crowd's, or does not fit what was noted before.
        """
        noted = _NOTED.get(event.get("kind", ""))
        if noted is None:
            raise DuelError(f"{event.get('kind')!r:.80} is not an event of a crowd.")
        try:
            noted(self, event)
        except (DuelmatchError, KeyError, IndexError, ValueError, TypeError, AttributeError) as error:
            raise DuelError(
                f"The event '{event['kind']}' does not fit what came before ({error!s:.80}): "
                f"{dict(event)!r:.200}"
            ) from error

    # Ballots

    def _designed(self, event: Event) -> None:
        design = read_design(event, self.problem)
        _expect(design.number, len(self.designs))
        self.designs.append(design)
        self.latest[design.basis] = design

    def _opened(self, event: Event) -> None:
        number, voter, edge_number = event["ballot"], event["voter"], self._edge_number
        _expect(number, len(self.ballots))
        questions = []
        for question in event["questions"]:
            position = question["position"]
            questions.append(tuple([edge_number[name, position] for name in question["candidates"]]))
        self.designs[event["design"]]
        table = self.problem.graph.pair_table
        ballot = Ballot.of(number, event["design"], voter, questions, table, event["deadline"])
        self.ballots.append(ballot)
        self.returned.append(Answers.awaited(ballot))
        part = Participation(voter, number, 0, list(range(len(questions))), ballot.deadline)
        self.holders.append(self._begin_part(part))

    def _passed(self, event: Event) -> None:
        number, voter = event["ballot"], event["voter"]
        self.waiting.remove(number)
        heirs = self.returned[number].heirs
        heirs.append(voter)
        part = Participation(voter, number, len(heirs), self.unanswered(number), event["deadline"])
        self.holders[number] = self._begin_part(part)

    def _begin_part(self, part: Participation) -> Participation:
        if part.voter in self.parts:
            raise DuelError(f"'{part.voter:.80}' has a ballot already")
        self.parts[part.voter] = part
        if part.deadline is not None:
            heappush(self.deadlines, (part.deadline, part.ballot))
        return part

    def _expired(self, event: Event) -> None:
        self.holders[event["ballot"]].over = True
        self.waiting.append(event["ballot"])

    def _finished(self, event: Event) -> None:
        number = event["ballot"]
        self.holders[number].over = True
        self.returned[number].closed = True
        if number in self.waiting:
            self.waiting.remove(number)
        while self.settled < len(self.returned) and self.returned[self.settled].closed:
            self.settled += 1

    # Questions

    def _asked(self, event: Event) -> None:
        number, place = event["question"], event["place"]
        part = self.parts[event["voter"]]
        question = Question(event["position"], tuple(event["candidates"]), number, part.voter)
        _expect(part.ballot, event["ballot"])
        self.last_question = max(self.last_question, number)
        part.handed[place] = question
        self.open[number] = question, part, place

    def _answered(self, event: Event) -> None:
        question, part, place = self.open.pop(event["question"])
        groups = event["answer"]
        self.told[question.id] = Told(question, part, place, groups, part.over)
        self.answers += 1
        if not part.over:
            part.left.remove(place)
            for index, value in self.values(part.ballot, place, groups).items():
                self._write(part, index, value)

    def _skipped(self, event: Event) -> None:
        _, part, place = self.open.pop(event["question"])
        if place in part.left:
            part.left.remove(place)

    def _released(self, event: Event) -> None:
        _, part, place = self.open.pop(event["question"])
        part.handed.pop(place)

    def _undone(self, event: Event) -> None:
        told = self.told.pop(event["question"])
        part, place = told.part, told.place
        self.answers -= 1
        self.open[told.question.id] = told.question, part, place
        if not told.late:
            for index in self.values(part.ballot, place, told.groups or []):
                self._write(part, index, MISSING)
            part.left = sorted([*part.left, place])
            part.over = self.returned[part.ballot].closed = False

    def values(self, number: int, place: int, groups: Groups) -> dict[int, float]:
        """Return what an answer says of a ballot's pairs: 1, 1/2 or 0 by where they stand on it.

        A pair with somebody who was not in the question any more is left out.
        """
        ballot, order, edges = self.ballots[number], order_of(groups), self.problem.edges
        pairs, values = combinations(sorted(ballot.questions[place]), 2), {}
        for index, (low, high) in zip(ballot.pairs_of(place), pairs, strict=True):
            one, other = order.get(edges[low][0]), order.get(edges[high][0])
            if one is not None and other is not None:
                values[index] = 1.0 if one < other else 0.0 if one > other else 0.5
        return values

    def _write(self, part: Participation, index: int, value: float) -> None:
        """Put down the value of a pair, or take it back if it is MISSING now."""
        answers, pair = self.returned[part.ballot], self.ballots[part.ballot].pairs[index]
        before = answers.value[index]
        answers.value[index] = value
        answers.by[index] = -1 if value is MISSING else part.role
        struck = self.count.struck
        if self._tally is None or (struck and not struck.isdisjoint(self._speakers(part))):
            return
        taken_back = value is MISSING
        self._tally.duels[pair] += -1.0 if taken_back else 1.0
        self._tally.wins[pair] += -before if taken_back else value

    def _speakers(self, part: Participation) -> tuple[str, str]:
        """Return those who must count for an answer to count: who gave it, and who opened the ballot."""
        return part.voter, self.ballots[part.ballot].voter

    # Who counts, and who stands

    def _corrected(self, event: Event) -> None:
        told, groups = self.told[event["question"]], event["answer"]
        told.corrected, told.groups = True, groups
        if told.late or not (event["clerical"] or groups is None):
            return
        number = told.part.ballot
        if groups is None:
            values = dict.fromkeys(self.ballots[number].pairs_of(told.place), MISSING)
        else:
            values = self.values(number, told.place, groups)
        self._change_count(self.count.with_corrected(number, values))

    def _struck(self, event: Event) -> None:
        self._change_count(self.count.with_struck(event["voter"]))

    def _reinstated(self, event: Event) -> None:
        self._change_count(self.count.with_reinstated(event["voter"]))

    def _change_count(self, count: Count) -> None:
        known = next((each for each in self.counts if each == count), count)
        self.counts = [each for each in self.counts if each is not known] + [known]
        self._tally = None
        self.changes += 1

    def _dropped(self, event: Event) -> None:
        self.dropped = (*self.dropped, event["candidate"])
        self.contest = self._contest()
        self.changes += 1
        for part in self.parts.values():
            if not part.over and part.left:
                left = set(self.unanswered(part.ballot))
                part.left = [place for place in part.left if place in left]

    def _added(self, event: Event) -> None:
        problem = larger_problem(self.problem, event["candidate"], event["positions"])
        renumbered = Renumbering(self.problem, problem)
        self.designs = [renumbered.design(design) for design in self.designs]
        self.latest = {design.basis: design for design in self.designs}
        self.ballots = [renumbered.ballot(ballot) for ballot in self.ballots]
        self.problem, self._edge_number = problem, _numbered(problem)
        self.late_candidates = (*self.late_candidates, event["candidate"])
        self.contest = self._contest()
        self._tally = None
        self.changes += 1

    def _contest(self) -> Contest:
        staying = np.array([name not in self.dropped for name, _ in self.problem.edges])
        reference = self.reference
        shares = reference if isinstance(reference, str) else self.problem.edge_vector(reference)
        return Contest(self.problem.graph, self.criterion, staying, shares, self._reference_seed)


_NOTED: dict[str, Callable[[CrowdState, Any], None]] = {
    kind: getattr(CrowdState, f"_{kind}") for kind in KINDS
}


def _numbered(problem: Problem) -> dict[Edge, int]:
    return {edge: number for number, edge in enumerate(problem.edges)}


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise DuelError(f"{wanted} was to be expected, not {found}")
