"""The record of a panel in numbers: who judges what, what was said, and who must not be asked what now.

It is a function of the record. Single questions and answers are worked in as they come; whenever who judges
what may have changed (a voter struck, a candidate dropped, an answer struck), or many answers have come at
once, everything is computed anew: a hundred thousand answers take less than a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from duelmatch.explorers.panel.choice import Asking, Choice
from duelmatch.explorers.panel.criteria import BordaMethod, CondorcetMethod, any_pair
from duelmatch.explorers.panel.model import Model
from duelmatch.explorers.panel.plan import QuestionPlan
from duelmatch.explorers.panel.proceedings import Change, Groups, Proceedings, voter_of
from duelmatch.explorers.panel.seats import LISTED, ListedMethod, ListedPlan, SeatedMethod
from duelmatch.explorers.panel.state import UNKNOWN, Opinions, PanelState
from duelmatch.explorers.questions import Question
from duelmatch.graph import Indices, Mask, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.panel import judged_pairs, those_there, voter_weights
from duelmatch.preferences import Criterion

Plan = QuestionPlan | ListedPlan
Way = Callable[[int, Mask], Choice | None]
"""Given a judge and the pairs that the judge can be asked about: what to ask, if anything of this kind."""

MANY = 500
"""From so many changes on it is quicker to compute everything anew."""


class Projection:
    """The state of a panel, with the model and the method that look at it."""

    def __init__(
        self, proceedings: Proceedings, criterion: Criterion, consistent: bool, questions_each: int | None
    ) -> None:
        self._proceedings, self._questions_each = proceedings, questions_each
        problem, seats = proceedings.problem, proceedings.seats
        self.problem = problem
        self.voters = tuple(seats)
        self.number = {voter: row for row, voter in enumerate(self.voters)}
        self._edge = {edge: number for number, edge in enumerate(problem.edges)}
        self._position = {position: number for number, position in enumerate(problem.positions)}
        conflicts = {voter: seat.conflicts for voter, seat in seats.items() if seat.conflicts}
        judged = judged_pairs(problem, self.voters, those_there(problem, conflicts))
        judged[[seat.struck for seat in seats.values()]] = False
        weights = voter_weights(self.voters, {voter: seat.weight for voter, seat in seats.items()})
        silent = np.array([seat.left == "dropped" for seat in seats.values()], dtype=np.bool_)
        self.duels = 0
        """How many answers count."""
        said = self._all_said(judged)
        self.state = PanelState(problem.graph, judged, weights, consistent, said, silent)
        self.model = Model(self.state)
        self.method = _method(self.state, self.model, criterion)
        self.blocked = np.zeros(judged.shape, dtype=np.int16)
        """How many questions that are open or were skipped keep a judge from being asked about a pair."""
        self.pending: Vector = np.zeros(self.state.pairs)
        """The weight of the judges who have a question about a pair open."""
        for entry in proceedings.entries.values():
            if entry.status in ("open", "skipped"):
                self._block(entry.question, 1, entry.status == "open")

    def work_in(self, changes: Iterable[Change]) -> None:
        """Follow changes of single questions."""
        for change in changes:
            question, before, now = change.entry.question, change.before, change.after
            if before != now:
                if before in ("open", "skipped"):
                    self._block(question, -1, before == "open")
                if now in ("open", "skipped"):
                    self._block(question, 1, now == "open")
            if "answered" in (before, now):
                self._tell(question)
                self.duels += self._counts(question) * ((now == "answered") - (before == "answered"))

    def askable(self, judge: int) -> Mask:
        """Mark the pairs that a judge can be asked about now."""
        state, seat = self.state, self._proceedings.seats[self.voters[judge]]
        spent = self._questions_each is not None and self.busy(judge) >= self._questions_each
        if spent or seat.left is not None or seat.struck:
            return np.zeros(state.pairs, dtype=np.bool_)
        askable: Mask = (state.opinion[judge] == UNKNOWN) & state.judged[judge] & (self.blocked[judge] == 0)
        return askable

    @property
    def is_anyone_askable(self) -> bool:
        """Whether there is a judge who can be asked anything."""
        return any(self.askable(judge).any() for judge in range(len(self.voters)))

    def busy(self, judge: int) -> int:
        """Return how many questions a judge has answered or has open."""
        seat = self._proceedings.seats[self.voters[judge]]
        return seat.answered + seat.open

    def _just_seen(self, judge: int) -> Mask:
        """Mark the edges of the candidates whom a judge was asked about last."""
        last = self._proceedings.seats[self.voters[judge]].last
        return np.array([candidate in last for candidate, _ in self.problem.edges], dtype=np.bool_)

    def next_question(
        self, plan: Plan, judges: list[int] | None, size: int, anything_open: bool, walking: bool
    ) -> tuple[int, Choice] | None:
        """Return which judge to ask what: one of these, or the one who has answered least.

        The most useful kind that any judge can be asked. None if they cannot help now: the questions that
        count are others' to answer.
        """
        everyone = range(len(self.voters))
        asked = sorted(everyone, key=self.busy) if judges is None else judges
        for way in self._ways(plan, size, anything_open, walking):
            for judge in asked:
                if choice := self._of_kind(way, judge):
                    return judge, choice
            if any(self._of_kind(way, judge) for judge in everyone if judge not in asked):
                return None
        return None

    def _of_kind(self, way: Way, judge: int) -> Choice | None:
        askable = self.askable(judge)
        return way(judge, askable) if askable.any() else None

    def _ways(self, plan: Plan, size: int, anything_open: bool, walking: bool) -> Iterator[Way]:
        """Yield the kinds of questions, the most useful first."""
        method = self.method

        def useful(by: Plan) -> Way:
            def choose(judge: int, askable: Mask) -> Choice | None:
                seen = self._just_seen(judge) if walking else np.zeros(self.state.graph.edges, dtype=np.bool_)
                who = Asking(judge, askable, self.blocked[judge] > 0, size, seen)
                choice: Choice | None = method.choose(by, who)
                return choice

            return choose

        yield useful(plan)
        if anything_open:  # as if nobody answered what is handed out
            yield useful(method.plan(plan.champion, np.zeros(self.state.pairs)))
        yield lambda judge, askable: method.refute(plan, askable)
        yield lambda judge, askable: any_pair(self.state, askable)

    def pairs_of(self, question: Question) -> Indices:
        """Return the pairs that a question is about, of the candidates that are there."""
        edges = [self._edge.get((name, question.position)) for name in question.candidates]
        known = sorted(edge for edge in edges if edge is not None)
        number_of = self.problem.graph.pair_table.number_of
        return np.array([number_of(low, high) for low, high in combinations(known, 2)], dtype=np.intp)

    def _block(self, question: Question, sign: int, is_open: bool) -> None:
        judge, pairs = self.number[voter_of(question)], self.pairs_of(question)
        self.blocked[judge, pairs] += sign
        if is_open:
            self.pending[pairs] += sign * self.state.weight[judge]

    def _counts(self, question: Question) -> bool:
        """Whether an answer to a question counts."""
        known = sum((name, question.position) in self._edge for name in question.candidates)
        return known >= 2 and not self._proceedings.seats[voter_of(question)].struck

    def _tell(self, question: Question) -> None:
        """Record what a voter says at a position, all of it: an answer may have been taken back."""
        voter, position = voter_of(question), question.position
        told = self._proceedings.told.get((voter, position), {})
        asked, values = self.pairs_of(question), np.full(self.state.pairs, UNKNOWN, dtype=np.int8)
        last = next(reversed(told), None)
        pairs, said = self._opinions(
            self._compared(position, [told[last]] if last == question.id else told.values())
        )
        values[pairs] = said
        self.state.tell(self.number[voter], self._position[position], asked, values[asked])

    def _all_said(self, judged: Mask) -> Opinions:
        """Return what every judge has said; a struck answer takes the judge out of its pairs."""
        said = np.full(judged.shape, UNKNOWN, dtype=np.int8)
        judges: list[int] = []
        compared: list[tuple[int, int, bool]] = []
        for (voter, position), told in self._proceedings.told.items():
            compared += self._compared(position, told.values())
            judges += [self.number[voter]] * (len(compared) - len(judges))
        pairs, values = self._opinions(compared)
        said[judges, pairs] = values  # of several on a pair, the last
        for entry in self._proceedings.entries.values():
            if entry.status == "answered":
                self.duels += entry.answer is not None and self._counts(entry.question)
                if entry.answer is None:
                    judge, pairs = self.number[voter_of(entry.question)], self.pairs_of(entry.question)
                    judged[judge, pairs] &= said[judge, pairs] != UNKNOWN
        return said

    def _compared(self, position: str, answers: Iterable[Groups | None]) -> list[tuple[int, int, bool]]:
        """Return the better and the worse edge of every pair in some answers, and whether they differ."""
        compared = []
        for answer in answers:
            placed = [
                (self._edge[name, position], place)
                for place, group in enumerate(answer or ())
                for name in group
                if (name, position) in self._edge
            ]
            compared += [
                (high, low, place < below) for (high, place), (low, below) in combinations(placed, 2)
            ]
        return compared

    def _opinions(self, compared: list[tuple[int, int, bool]]) -> tuple[Indices, Opinions]:
        """Return the pairs of edges that are compared, and the opinions on them."""
        high, low, differ = np.array(compared, dtype=np.intp).reshape(-1, 3).T
        opinions = (np.where(high < low, 1, -1) * differ).astype(np.int8)
        return self.problem.graph.pair_table.number(high, low), opinions


def _method(state: PanelState, model: Model, criterion: Criterion) -> Any:
    """Return the method for a criterion: by a linear oracle, or for several seats by a short list."""
    if state.graph.places > state.graph.positions:
        rows = decisions_of(state.graph).listed(None, LISTED)
        if rows is None:
            return SeatedMethod(state, model, criterion)
        return ListedMethod(state, model, criterion, rows)
    return (CondorcetMethod if criterion == "condorcet" else BordaMethod)(state, model)
