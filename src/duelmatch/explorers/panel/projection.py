"""The record of a panel in numbers: who judges what, what was said, and who must not be asked what now.

It is a function of the record. Single questions and answers are worked in as they come; whenever who judges
what may have changed (a voter struck, a candidate dropped, an answer struck), or many answers have come at
once, everything is computed anew: a hundred thousand answers take less than a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from duelmatch.explorers.panel.closure import UNKNOWN, Opinions
from duelmatch.explorers.panel.criteria import BordaMethod, CondorcetMethod
from duelmatch.explorers.panel.entries import Change, Groups
from duelmatch.explorers.panel.listed import LISTED, ListedMethod, ListedPlan
from duelmatch.explorers.panel.model import Model
from duelmatch.explorers.panel.plan import QuestionPlan
from duelmatch.explorers.panel.proceedings import Proceedings
from duelmatch.explorers.panel.seated import SeatedMethod
from duelmatch.explorers.panel.state import PanelState
from duelmatch.explorers.questions import Question
from duelmatch.graph import Indices, Mask, Vector
from duelmatch.matchings.assignment import decisions_of
from duelmatch.panel import judged_pairs, those_there, voter_weights
from duelmatch.preferences import Criterion

Plan = QuestionPlan | ListedPlan

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

    def just_seen(self, judge: int) -> Mask:
        """Mark the edges of the candidates whom a judge was asked about last."""
        last = self._proceedings.seats[self.voters[judge]].last
        return np.array([candidate in last for candidate, _ in self.problem.edges], dtype=np.bool_)

    def pairs_of(self, question: Question) -> Indices:
        """Return the pairs that a question is about, of the candidates that are there."""
        edges = [self._edge.get((name, question.position)) for name in question.candidates]
        known = sorted(edge for edge in edges if edge is not None)
        number_of = self.problem.graph.pair_table.number_of
        return np.array([number_of(low, high) for low, high in combinations(known, 2)], dtype=np.intp)

    def _block(self, question: Question, sign: int, is_open: bool) -> None:
        assert question.voter is not None, "every question of a panel is a voter's"
        judge, pairs = self.number[question.voter], self.pairs_of(question)
        self.blocked[judge, pairs] += sign
        if is_open:
            self.pending[pairs] += sign * self.state.weight[judge]

    def _counts(self, question: Question) -> bool:
        """Whether an answer to a question counts."""
        assert question.voter is not None, "every question of a panel is a voter's"
        known = sum((name, question.position) in self._edge for name in question.candidates)
        return known >= 2 and not self._proceedings.seats[question.voter].struck

    def _tell(self, question: Question) -> None:
        """Record what a voter says at a position, all of it: an answer may have been taken back."""
        assert question.voter is not None, "every question of a panel is a voter's"
        judge, position = self.number[question.voter], self._position[question.position]
        told = self._proceedings.told.get((question.voter, question.position), {})
        asked = self.pairs_of(question)
        values = np.full(self.state.pairs, UNKNOWN, dtype=np.int8)
        last = next(reversed(told), None)
        answers = [told[last]] if last == question.id else list(told.values())
        better, worse, ties = _told_edges(self._edge, question.position, answers)
        if better:
            pairs, said = self._as_opinions(better, worse, ties)
            values[pairs] = said
        self.state.tell(judge, position, asked, values[asked])

    def _all_said(self, judged: Mask) -> Opinions:
        """Return what every judge has said; a struck answer takes the judge out of its pairs."""
        said = np.full(judged.shape, UNKNOWN, dtype=np.int8)
        judges: list[int] = []
        better: list[int] = []
        worse: list[int] = []
        ties: list[bool] = []
        for (voter, position), told in self._proceedings.told.items():
            high, low, level = _told_edges(self._edge, position, told.values())
            judges += [self.number[voter]] * len(high)
            better += high
            worse += low
            ties += level
        if better:
            pairs, values = self._as_opinions(better, worse, ties)
            said[judges, pairs] = values  # of several on a pair, the last
        for entry in self._proceedings.entries.values():
            if entry.status == "answered":
                self.duels += entry.answer is not None and self._counts(entry.question)
                if entry.answer is None:
                    assert entry.question.voter is not None, "every question of a panel is a voter's"
                    judge, pairs = self.number[entry.question.voter], self.pairs_of(entry.question)
                    judged[judge, pairs] &= said[judge, pairs] != UNKNOWN
        return said

    def _as_opinions(self, better: list[int], worse: list[int], ties: list[bool]) -> tuple[Indices, Opinions]:
        high, low = np.array(better, dtype=np.intp), np.array(worse, dtype=np.intp)
        values = np.where(high < low, 1, -1).astype(np.int8)
        values[np.array(ties, dtype=np.bool_)] = 0
        return self.problem.graph.pair_table.number(high, low), values


def _method(state: PanelState, model: Model, criterion: Criterion) -> Any:
    """Return the method for a criterion: by a linear oracle, or for several seats by a short list."""
    if state.graph.places > state.graph.positions:
        rows = decisions_of(state.graph).listed(None, LISTED)
        if rows is None:
            return SeatedMethod(state, model, criterion)
        return ListedMethod(state, model, criterion, rows)
    return (CondorcetMethod if criterion == "condorcet" else BordaMethod)(state, model)


def _told_edges(
    edge: dict[tuple[str, str], int], position: str, answers: Iterable[Groups | None]
) -> tuple[list[int], list[int], list[bool]]:
    """Return the better and the worse edge of every pair in some answers, and whether they are level."""
    better: list[int] = []
    worse: list[int] = []
    ties: list[bool] = []
    for answer in answers:
        placed = [
            (edge[name, position], place)
            for place, group in enumerate(answer or ())
            for name in group
            if (name, position) in edge
        ]
        for number, (high, place) in enumerate(placed):
            for low, below in placed[number + 1 :]:
                better.append(high)
                worse.append(low)
                ties.append(place == below)
    return better, worse, ties
