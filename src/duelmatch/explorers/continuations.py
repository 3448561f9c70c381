"""How a run may go on: simulated voters answer what it asks, in a world that agrees with the answers so far.

A world is a table of pair probabilities, drawn from the posterior of the model
(:mod:`duelmatch.models.standings`). A continuation is a copy of the run that goes on in one world, round by
round, so that several of them can be stopped at the same moment.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from typing import TypeVar

import numpy as np

from duelmatch.errors import ProblemError
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.catalogue import described
from duelmatch.explorers.explorer import Explorer
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.explorers.panel.model import drawn_times
from duelmatch.explorers.panel.state import UNKNOWN
from duelmatch.explorers.questions import Answer, Question
from duelmatch.graph import Graph, Indices, Mask, Matrix, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.models.lineups import finder_of
from duelmatch.models.standings import STIFFNESS, drawn_tables
from duelmatch.problem import Matching

Run = PanelExplorer | BallotExplorer | Explorer
ExplorerT = TypeVar("ExplorerT", bound=Explorer)

SUREST = 0.99
"""Strengths are read from probabilities no nearer to 1 than this."""

WHOLE_BALLOT = 1_000_000

ROUNDING = 1e-9


class Continuation(ABC):
    """A run that goes on in a world of its own.

    ``table`` has the pair probabilities, or for a panel the shares of the final count, that decide what is
    best; ``answers`` is how many were given since it went on.
    """

    _run: Run
    table: Vector
    answers: int

    @property
    def certain(self) -> bool:
        """Whether the result is certain, or proven."""
        return self._run.done and self._run.result.status != "budget_spent"

    @property
    def leader(self) -> Matching | None:
        """Who would be chosen now."""
        return self._run.result.matching

    @abstractmethod
    def step(self) -> bool:
        """Let voters answer, one round of it; return False if nobody can be asked anything more."""


def continuations(run: Run, count: int, patience: int | None, rng: np.random.Generator) -> list[Continuation]:
    """Return copies of a run, each in its own world; every voter answers ``patience`` questions at most."""
    wins, duels, ties = counted_answers(run)
    tables = drawn_tables(run.problem.graph, wins, duels, ties, count, rng)
    rng.shuffle(tables)
    share = float(ties / (duels.sum() + STIFFNESS))
    if isinstance(run, Explorer):
        return [
            _Rounds(begun_anew(run), table, each)
            for table, each in zip(tables, rng.spawn(count), strict=True)
        ]
    kept, kind = pickle.dumps(run), _Panel if isinstance(run, PanelExplorer) else _Crowd
    return [
        kind(pickle.loads(kept), table, share, patience, each)
        for table, each in zip(tables, rng.spawn(count), strict=True)
    ]


def counted_answers(run: Run) -> tuple[Vector, Vector, float]:
    """Return wins and duels by pair, and ties, of all answers that a run has."""
    return run.answer_counts.counted() if isinstance(run, Explorer) else run.counted_answers()


def begun_anew(run: ExplorerT) -> ExplorerT:
    """Return a copy of a run that has no answers; what an algorithm remembers of them cannot be copied."""
    if run.duels:
        raise ProblemError(f"How a run of {run.name} goes on can be simulated only before its first answer.")
    return type(run).begin(run.name, run.problem, run.delta, run.seed, run.max_duels, **run.parameters)


def shortfall_of(run: Run, table: Vector, leader: Matching) -> tuple[float, bool]:
    """Return by how much a line-up falls short in a world, per position, and whether it is the best there.

    :raises TooLargeError: if Borda counts against all decisions, and counting them is out of reach.
    """
    matching = run.problem.edge_numbers(leader)
    finder = finder_of(run.problem.graph, *_reference(run))
    best, _ = finder.best(table[None], matching)
    short, least = (float(finder.shortfalls(table[None], best, each)[0]) for each in (matching, best[0]))
    return short, short <= least + ROUNDING


def _reference(run: Run) -> tuple[Vector | None, Mask | None]:
    """Return against whom Borda counts, None for Condorcet, and the edges that can be chosen."""
    if isinstance(run, BallotExplorer):
        contest = run.state.contest
        return (contest.marginals if contest.criterion == "borda" else None), contest.usable
    criterion = described(run.name).criterion if isinstance(run, Explorer) else run.criterion
    borda = criterion == "borda"
    return (decisions_of(run.problem.graph).marginals() if borda else None), None


def strengths_of(graph: Graph, table: Vector) -> Vector:
    """Return the strengths that come nearest to a table: by edge, the mean of the log odds of its pairs."""
    likely = np.clip(table, 1 - SUREST, SUREST)
    odds = np.log(likely / (1 - likely))
    total: Vector = graph.leads(odds, np.ones(graph.edges))
    return total / graph.degrees[graph.edge_position]


class _Voting(Continuation):
    """A run whose voters answer one question after the other."""

    _run: PanelExplorer | BallotExplorer

    def __init__(self, table: Vector, patience: int | None, rng: np.random.Generator) -> None:
        self.table, self._rng, self.answers = table, rng, 0
        self._patience = WHOLE_BALLOT if patience is None else patience

    @abstractmethod
    def _times(self, voter: str, edges: list[int]) -> Vector:
        """Return by what a voter ranks more than two candidates, the least first."""

    @abstractmethod
    def _sign(self, voter: str, pair: int) -> float:
        """Return whom of a pair a voter prefers: above 0 its first edge, below 0 the second, 0 neither."""

    def _tell(self, question: Question) -> None:
        voter, problem, names = question.voter or "", self._run.problem, question.candidates
        edges = [problem.edge_number(name, question.position) for name in names]
        answer: Answer = None
        if len(edges) > 2:
            answer = [names[place] for place in np.argsort(self._times(voter, edges), kind="stable").tolist()]
        elif sign := self._sign(voter, problem.graph.pair_table.number_of(min(edges), max(edges))):
            answer = names[edges.index(min(edges) if sign > 0 else max(edges))]
        self._run.tell(question, answer)
        self.answers += 1


class _Panel(_Voting):
    """A panel whose judges rank, in the order that their answers so far allow."""

    _run: PanelExplorer

    def __init__(
        self, run: PanelExplorer, table: Vector, ties: float, patience: int | None, rng: np.random.Generator
    ) -> None:
        super().__init__(table, patience, rng)
        self._run = run
        self._left = dict.fromkeys(run.voters, self._patience)
        state, pairs = run.state, run.problem.graph.pair_table
        strengths = strengths_of(run.problem.graph, table)
        self._ranks = drawn_times(run.problem.graph, strengths, state.opinion, rng)
        earlier = self._ranks[:, pairs.first] < self._ranks[:, pairs.second]
        opinion = np.where(earlier, 1, -1)
        opinion[rng.random(opinion.shape) < ties] = 0
        self._opinion: Matrix = np.where(state.opinion == UNKNOWN, opinion, state.opinion)
        weight = state.counted * state.weight[:, None]
        total = weight.sum(axis=0)
        behind = (weight * self._opinion).sum(axis=0) / np.maximum(total, 1)
        self.table = 0.5 + behind / 2
        self._row = {voter: row for row, voter in enumerate(run.voters)}

    def step(self) -> bool:
        """Let every judge answer one question, in an order that is drawn."""
        before = self.answers
        for question in self._run.open_duels:
            self._tell(question)
        for voter in self._rng.permutation(len(self._run.voters)).tolist():
            name = self._run.voters[voter]
            if self._left[name]:
                for question in self._run.ask(1, voter=name):
                    self._tell(question)
            if self._run.done:
                break
        return self.answers > before

    def _tell(self, question: Question) -> None:
        super()._tell(question)
        self._left[question.voter or ""] -= 1

    def _times(self, voter: str, edges: list[int]) -> Vector:
        times: Vector = self._ranks[self._row[voter], edges]
        return times

    def _sign(self, voter: str, pair: int) -> float:
        return float(self._opinion[self._row[voter], pair])


class _Crowd(_Voting):
    """A crowd of voters who come one after the other, and answer every question as if it were the first."""

    _run: BallotExplorer

    def __init__(
        self, run: BallotExplorer, table: Vector, ties: float, patience: int | None, rng: np.random.Generator
    ) -> None:
        super().__init__(table, patience, rng)
        self._run = run
        self._ties, self._came = ties, 0
        self._rate = np.exp(strengths_of(run.problem.graph, table))

    def step(self) -> bool:
        """Let those who have begun finish, and another voter come."""
        if self._came == 0:
            begun = [part.voter for part in self._run.state.parts.values() if not part.over]
            for voter in begun:
                self._vote(voter)
        self._came += 1
        return self._vote(f"simulated {self._came}")

    def _vote(self, voter: str) -> bool:
        questions = self._run.ask(self._patience, voter=voter)
        for question in questions:
            self._tell(question)
        self._run.expire(voter)
        return bool(questions)

    def _times(self, voter: str, edges: list[int]) -> Vector:
        return self._rng.exponential(1 / self._rate[edges])

    def _sign(self, voter: str, pair: int) -> float:
        if self._rng.random() < self._ties:
            return 0.0
        return 1.0 if self._rng.random() < self.table[pair] else -1.0


class _Rounds(Continuation):
    """A run of single duels, each answered by somebody else."""

    _run: Explorer

    def __init__(self, run: Explorer, table: Vector, rng: np.random.Generator) -> None:
        self._run, self.table, self._rng, self.answers = run, table, rng, 0

    @property
    def leader(self) -> Matching | None:
        """Who would be chosen now."""
        return self._run.progress.leader

    def step(self) -> bool:
        """Answer a round, or what a budget leaves of it."""
        self._run.answer_round(self._chance, self._rng)
        before, self.answers = self.answers, self._run.duels
        return self.answers > before

    def _chance(self, first: Indices, second: Indices) -> Vector:
        chance = self.table[self._run.problem.graph.pair_table.number(first, second)]
        return np.asarray(np.where(first < second, chance, 1 - chance))
