"""What the events of a study add up to: ballots and answers, who is busy with what, and who counts.

:meth:`CrowdState.note` is the only code that changes any of it. It decides nothing and draws nothing, so the
same events give the same state on any machine. What follows from a state is computed on demand
(:mod:`duelmatch.explorers.ballots.conclusions`), so a long log is read quickly.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappush
from itertools import combinations
from typing import Any

import numpy as np

from duelmatch.errors import DuelError, DuelmatchError, TooLargeError
from duelmatch.explorers.ballots.bets import Contest
from duelmatch.explorers.ballots.packed import Packed, Window
from duelmatch.explorers.ballots.records import (
    EVERYBODY,
    KINDS,
    MISSING,
    Answers,
    Ballot,
    Count,
    Design,
    Event,
    Renumbering,
)
from duelmatch.explorers.frugal.stakes import Pairs
from duelmatch.explorers.questions import Question, groups_of, order_of
from duelmatch.graph import Vector
from duelmatch.matchings import Edge
from duelmatch.matchings.reference import ReferenceName, reference_of
from duelmatch.models.strengths import StrengthModel
from duelmatch.preferences import Criterion
from duelmatch.problem import Problem

Groups = list[list[str]]
"""An answer: candidates in groups, best first."""

ADJUSTMENTS = 8
"""Steps towards the likeliest settings of the model, for every estimate from the same ones on."""

UNPACKED = 100
"""The latest settled ballots stay unpacked, this many of them; as many more are packed at once."""


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


@dataclass(slots=True)
class Said:
    """What all answers say that count for the standings, late and corrected ones included, by pair."""

    asked: Vector
    credit: Vector
    """What the first edge of a pair has: 1 for each time that it was better, 1/2 for each tie."""
    ties: int = 0


class Participations(UserDict[str, Participation]):
    """Every voter's one part in a ballot; of parts in packed ballots only whether something was left.

    What is packed is found by name, and left out of :meth:`values`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._packed: dict[str, int] = {}
        """The ballot, or if the voter had left something on it, -1 minus that."""

    def __len__(self) -> int:
        return len(self.data) + len(self._packed)

    def __contains__(self, voter: object) -> bool:
        return voter in self.data or voter in self._packed

    def __missing__(self, voter: str) -> Participation:
        ballot = self._packed[voter]
        return Participation(voter, max(ballot, -1 - ballot), 0, [0] if ballot < 0 else [], over=True)

    def pack(self, voter: str) -> Participation:
        """Forget all but that it is over, and return the rest for the last time."""
        part = self.data.pop(voter)
        self._packed[voter] = -1 - part.ballot if part.left else part.ballot
        return part


class CrowdState:
    """What is known of a study, and nothing that is not in its events.

    Ballots that are settled are packed after a while (:mod:`duelmatch.explorers.ballots.packed`), with the
    answers on them, so what is kept as objects is what is open, late or corrected, however long the log is.
    """

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
        self._packed = Packed()
        self.ballots = Window[Ballot](self._packed.ballot)
        self.returned = Window[Answers](self._packed.answers)
        self.settled = 0
        """How many ballots are finished before the first that is not, in the order of opening."""
        self.parts = Participations()
        self.holders = Window[Participation]()
        """Whose part in each ballot was the last to begin; of those not packed."""
        self.has_heirs = False
        """Whether a ballot was ever passed on."""
        self.deadlines: list[tuple[float, int]] = []
        """A heap of when parts in ballots end, and of which ballots."""
        self.waiting: list[int] = []
        """Ballots that wait for an heir, the first first."""
        self.open: dict[int, tuple[Question, Participation, int]] = {}
        """Questions handed out and not answered, with their place on the ballot."""
        self.told: dict[int, Told] = {}
        """The questions that were answered, but for those that are packed: see :meth:`told_as`."""
        self.last_question = 0
        self.counts: list[Count] = [EVERYBODY]
        """All ways of counting there have been, the present one last."""
        self.dropped: tuple[str, ...] = ()
        self.late_candidates: tuple[str, ...] = ()
        self.changes = 0
        """How often it has changed who counts, or who stands."""
        self.earlier: dict[int, Earlier] = {}
        """Answers of before the first ballot, by question: for the estimates, never for a proof."""
        self.next_contest: Contest | None = None
        """Who can win after the next event, if that was worked out before."""
        self.contest = self._contest(problem, ())
        self._edge_number = _numbered(problem)
        self._tally: Pairs | None = Pairs(problem.graph)
        self._said: Said | None = None

    @property
    def count(self) -> Count:
        """Who and what counts now."""
        return self.counts[-1]

    @property
    def tally(self) -> Pairs:
        """How often each pair was asked and its first edge won, in the answers on ballots that count."""
        if self._tally is None:
            self._tally, count = Pairs(self.problem.graph), self.count
            self._tally.duels[:], self._tally.wins[:], _ = self._packed.sums(
                self._tally.count, count.struck, True, count.corrected
            )
            for number in range(len(self._packed), len(self.ballots)):
                ballot = self.ballots[number]
                values = count.values(ballot, self.returned[number])
                if values is not None:
                    given = ~np.isnan(values)
                    np.add.at(self._tally.duels, ballot.pairs[given], 1.0)
                    np.add.at(self._tally.wins, ballot.pairs[given], values[given])
            for earlier in self.earlier.values():
                if earlier.groups is not None and earlier.voter not in self.count.struck:
                    self._add_earlier(self._tally, earlier.position, order_of(earlier.groups))
        return self._tally

    def advantages(self) -> tuple[Vector, Vector]:
        """Estimate p - 1/2 for every pair by the model: its mean, and a cautious value for bets."""
        model = StrengthModel(self.problem.graph, self.tally.wins, self.tally.duels)
        for _ in range(ADJUSTMENTS):
            model.adjust()
        mean, cautious = model.estimates()
        return mean - 0.5, cautious - 0.5

    @property
    def said(self) -> Said:
        """What all answers say that count for the standings."""
        if self._said is None:
            corrected: dict[int, dict[int, float]] = {}
            others = []
            for told in self.told.values():
                number = told.part.ballot
                if told.late or number >= len(self._packed):
                    others.append(told)
                    continue
                ballot = self.ballots[number]
                instead = dict.fromkeys(ballot.pairs_of(told.place), MISSING)
                instead |= self.values(ballot, told.place, told.groups or [])
                corrected.setdefault(number, {}).update(instead)
            struck, pairs = self.count.struck, self.problem.graph.pairs
            self._said = Said(*self._packed.sums(pairs, struck, False, corrected))
            for told in others:
                self._say(told, 1)
            earlier = Pairs(self.problem.graph)
            for each in self.earlier.values():
                if each.groups is not None and each.voter not in struck:
                    self._said.ties += self._add_earlier(earlier, each.position, order_of(each.groups))
            self._said.asked += earlier.duels
            self._said.credit += earlier.wins
        return self._said

    @property
    def counted(self) -> int:
        """How many answers count for the standings, of those since the first ballot."""
        struck = self.count.struck
        others = sum(told.groups is not None and told.part.voter not in struck for told in self.told.values())
        return self._packed.told_without(struck) + others

    def _say(self, told: Told, sign: int) -> None:
        """Count an answer for the standings, or no longer."""
        said = self._said
        if said is None or told.groups is None or told.part.voter in self.count.struck:
            return
        ballot = self.ballots[told.part.ballot]
        for index, value in self.values(ballot, told.place, told.groups).items():
            said.asked[ballot.pairs[index]] += sign
            said.credit[ballot.pairs[index]] += sign * value
            said.ties += sign * (value == 0.5)

    def told_as(self, question: int) -> Told | None:
        """Return a question that was answered, and what was said."""
        if (found := self.told.get(question)) is not None:
            return found
        if (where := self._packed.where_told(question)) is None:
            return None
        number, place = where
        voter, role, scores = self._packed.order(number, place)
        edges = self.problem.edges
        groups = groups_of({edges[edge][0]: -score for edge, score in scores.items()})
        names = tuple([edges[edge][0] for edge in scores])
        asked = Question(edges[next(iter(scores))][1], names, question, voter)
        return Told(asked, Participation(voter, number, role, [], over=True), place, groups, False)

    def all_told(self) -> Iterator[Told]:
        """Yield every question that was answered, and what was said."""
        for question in self._packed.told():
            if (found := self.told_as(question)) is not None:
                yield found
        yield from self.told.values()

    def _add_earlier(self, tally: Pairs, position: str, order: Mapping[str, int]) -> int:
        """Count an answer of before the first ballot, and return how many ties are in it."""
        numbers = {self.problem.edge_number(name, position): place for name, place in order.items()}
        for one, other in combinations(sorted(numbers), 2):
            pair = self.problem.graph.pair_table.number_of(one, other)
            tally.duels[pair] += 1.0
            tally.wins[pair] += (1 + (numbers[one] < numbers[other]) - (numbers[one] > numbers[other])) / 2
        return sum(one == other for one, other in combinations(order.values(), 2))

    def note_earlier(self, question: int, voter: str, position: str, groups: Groups | None) -> None:
        """Take over a question of before the first ballot, and its answer, if there is one that counts."""
        self.earlier[question] = Earlier(voter, position, groups)
        self.last_question = max(self.last_question, question)
        self._tally = self._said = None

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
        places, staying = [], self.contest.staying
        for place, edges in enumerate(ballot.questions):
            pairs = zip(ballot.pairs_of(place), combinations(sorted(edges), 2), strict=True)
            if any(missing[index] and staying[one] and staying[other] for index, (one, other) in pairs):
                places.append(place)
        return places

    def note(self, event: Event) -> None:
        """Take over an event.

        :raises DuelError: if it is none of a crowd's, or does not fit what was noted before.
        :raises TooLargeError: if what follows from it is out of reach; nothing has changed then.
        """
        noted = _NOTED.get(event.get("kind", ""))
        if noted is None:
            raise DuelError(f"{event.get('kind')!r:.80} is not an event of a crowd.")
        try:
            noted(self, event)
        except TooLargeError:
            raise
        except (DuelmatchError, KeyError, IndexError, ValueError, TypeError, AttributeError) as error:
            raise DuelError(
                f"The event '{event['kind']}' does not fit what came before ({error!s:.80}): "
                f"{dict(event)!r:.200}"
            ) from error

    # Ballots

    def _designed(self, event: Event) -> None:
        design = Design.read(event, self.problem)
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
        self.has_heirs = True
        part = Participation(voter, number, len(heirs), self.unanswered(number), event["deadline"])
        self.holders[number] = self._begin_part(part)

    def _begin_part(self, part: Participation) -> Participation:
        if part.voter in self.parts:
            raise DuelError(f"'{part.voter:.80}' has a ballot already")
        self.parts[part.voter] = part
        if part.deadline is not None:
            heappush(self.deadlines, (part.deadline, part.ballot))
            if len(self.deadlines) > 2 * (len(self.ballots) + 1 - self.settled) + UNPACKED:
                self.deadlines = [due for due in self.deadlines if due[1] >= self.settled]
                heapify(self.deadlines)
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
        if self.settled - len(self._packed) >= 2 * UNPACKED:
            self._pack(self.settled - len(self._packed) - UNPACKED)

    def _pack(self, count: int) -> None:
        """Pack the first ballots that are not, and the answers on them, but not late or corrected ones."""
        self.holders.shift(count)
        taken = zip(self.ballots.shift(count), self.returned.shift(count), strict=True)
        for ballot, answers in taken:
            places = {}
            for voter in (ballot.voter, *answers.heirs):
                for place, question in self.parts.pack(voter).handed.items():
                    told = self.told.get(question.id)
                    if told is not None and not (told.late or told.corrected):
                        places[question.id] = place
                        del self.told[question.id]
            self._packed.append(ballot, answers, places)

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
        self.told[question.id] = told = Told(question, part, place, groups, part.over)
        self.answers += 1
        self._say(told, 1)
        if not part.over:
            part.left.remove(place)
            ballot = self.ballots[part.ballot]
            for index, value in self.values(ballot, place, groups).items():
                self._write(part, ballot, index, value)

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
        self._say(told, -1)
        self.answers -= 1
        self.open[told.question.id] = told.question, part, place
        if not told.late:
            ballot = self.ballots[part.ballot]
            for index in self.values(ballot, place, told.groups or []):
                self._write(part, ballot, index, MISSING)
            part.left = sorted([*part.left, place])
            part.over = self.returned[part.ballot].closed = False

    def values(self, ballot: Ballot, place: int, groups: Groups) -> dict[int, float]:
        """Return what an answer says of a ballot's pairs: 1, 1/2 or 0 by where they stand on it.

        A pair with somebody who was not in the question any more is left out.
        """
        order, edges = order_of(groups), self.problem.edges
        pairs, values = combinations(sorted(ballot.questions[place]), 2), {}
        for index, (low, high) in zip(ballot.pairs_of(place), pairs, strict=True):
            one, other = order.get(edges[low][0]), order.get(edges[high][0])
            if one is not None and other is not None:
                values[index] = 1.0 if one < other else 0.0 if one > other else 0.5
        return values

    def _write(self, part: Participation, ballot: Ballot, index: int, value: float) -> None:
        """Put down the value of a pair, or take it back if it is MISSING now."""
        answers, pair = self.returned[part.ballot], ballot.pairs[index]
        before = answers.value[index]
        answers.value[index] = value
        answers.by[index] = -1 if value is MISSING else part.role
        struck = self.count.struck
        if self._tally is None or part.voter in struck or ballot.voter in struck:
            return  # both who gave the answer and who opened the ballot must count
        taken_back = value is MISSING
        self._tally.duels[pair] += -1.0 if taken_back else 1.0
        self._tally.wins[pair] += -before if taken_back else value

    # Who counts, and who stands

    def _corrected(self, event: Event) -> None:
        number, groups = event["question"], event["answer"]
        told = self.told_as(number)
        if told is None:
            raise KeyError(number)
        self._packed.forget_told(number)
        self._say(told, -1)
        told.corrected, told.groups = True, groups
        self._say(told, 1)
        self.told[number] = told
        if told.late or not (event["clerical"] or groups is None):
            return
        ballot = self.ballots[told.part.ballot]
        if groups is None:
            values = dict.fromkeys(ballot.pairs_of(told.place), MISSING)
        else:
            values = self.values(ballot, told.place, groups)
        corrected = self.count.corrected
        values = {**corrected.get(ballot.number, {}), **values}
        self._change_count(corrected={**corrected, ballot.number: values})

    def _struck(self, event: Event) -> None:
        self._said = None
        self._change_count(struck=self.count.struck | {event["voter"]})

    def _reinstated(self, event: Event) -> None:
        self._said = None
        self._change_count(struck=self.count.struck - {event["voter"]})

    def _change_count(self, **changes: Any) -> None:
        count = replace(self.count, **changes)
        known = next((each for each in self.counts if each == count), count)
        self.counts = [each for each in self.counts if each is not known] + [known]
        self._tally = None
        self.changes += 1

    def _dropped(self, event: Event) -> None:
        dropped = (*self.dropped, event["candidate"])
        self.contest = self._contest(self.problem, dropped)  # or it is refused, and nothing has changed
        self.dropped = dropped
        self.changes += 1
        for part in self.parts.values():
            if not part.over and part.left:
                left = set(self.unanswered(part.ballot))
                part.left = [place for place in part.left if place in left]

    def _added(self, event: Event) -> None:
        problem = self.problem.with_candidate(event["candidate"], event["positions"])
        contest = self._contest(problem, self.dropped)  # or it is refused, and nothing has changed
        renumbered = Renumbering(self.problem, problem)
        self.designs = [renumbered.design(design) for design in self.designs]
        self.latest = {design.basis: design for design in self.designs}
        self.ballots.change(renumbered.ballot)
        self._packed.renumber(renumbered.edge, renumbered.pair)
        self.problem, self._edge_number = problem, _numbered(problem)
        self.late_candidates = (*self.late_candidates, event["candidate"])
        self.contest = contest
        self._tally = self._said = None
        self.changes += 1

    def _contest(self, problem: Problem, dropped: Collection[str]) -> Contest:
        """Return who can win, of candidates who have not been dropped.

        :raises TooLargeError: if it is out of reach against whom they would be counted.
        """
        ahead, self.next_contest = self.next_contest, None
        if ahead is not None:
            return ahead
        staying = np.array([name not in dropped for name, _ in problem.edges])
        reference = self.reference
        shares = reference if isinstance(reference, str) else problem.edge_vector(reference)
        return Contest(problem.graph, self.criterion, staying, shares, self._reference_seed)


_NOTED: dict[str, Callable[[CrowdState, Any], None]] = {
    kind: getattr(CrowdState, f"_{kind}") for kind in KINDS
}


def _numbered(problem: Problem) -> dict[Edge, int]:
    return {edge: number for number, edge in enumerate(problem.edges)}


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise DuelError(f"{wanted} was to be expected, not {found}")
