"""How a run may go on: simulated voters answer what it asks, in a world that agrees with the answers so far.

A world is a table of pair probabilities, drawn from the posterior of the model
(:mod:`duelmatch.models.standings`). A continuation is a copy of the run that goes on in one world, round by
round, so that several of them can be stopped at the same moment.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod

import numpy as np

from duelmatch.errors import ProblemError
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.catalogue import described
from duelmatch.explorers.explorer import Explorer
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.explorers.panel.closure import UNKNOWN
from duelmatch.explorers.panel.rankers import drawn_times
from duelmatch.explorers.questions import Answer, Question
from duelmatch.graph import Graph, Mask, Matrix, Vector
from duelmatch.matchings.assignment import decisions_of
from duelmatch.models.general_lineups import finder_of
from duelmatch.models.standings import STIFFNESS, drawn_tables
from duelmatch.models.strengths import PairLayout
from duelmatch.problem import Matching

Run = PanelExplorer | BallotExplorer | Explorer

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
            _Rounds(_begun_anew(run), table, each)
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


def _begun_anew(run: Explorer) -> Explorer:
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
    pairs, lay = graph.pair_table, PairLayout.of(graph)
    likely = np.clip(table, 1 - SUREST, SUREST)
    odds = np.log(likely / (1 - likely))
    total = np.bincount(pairs.first, odds, graph.edges) - np.bincount(pairs.second, odds, graph.edges)
    degree = np.diff(lay.start)[graph.edge_position]
    strengths: Vector = total / degree
    return strengths


class _Panel(Continuation):
    """A panel whose judges rank, in the order that their answers so far allow."""

    _run: PanelExplorer

    def __init__(
        self, run: PanelExplorer, table: Vector, ties: float, patience: int | None, rng: np.random.Generator
    ) -> None:
        self._run, self._rng, self.answers = run, rng, 0
        self._left = dict.fromkeys(run.voters, WHOLE_BALLOT if patience is None else patience)
        state, pairs = run.state, run.problem.graph.pair_table
        self._times = drawn_times(
            run.problem.graph, strengths_of(run.problem.graph, table), state.opinion, rng
        )
        earlier = self._times[:, pairs.first] < self._times[:, pairs.second]
        opinion = np.where(earlier, 1, -1)
        opinion[rng.random(opinion.shape) < ties] = 0
        self._opinion: Matrix = np.where(state.opinion == UNKNOWN, opinion, state.opinion)
        weight = state.counted * state.weight[:, None]
        total = weight.sum(axis=0)
        behind = (weight * self._opinion).sum(axis=0) / np.maximum(total, 1)
        self.table: Vector = 0.5 + behind / 2
        self._voter = {voter: row for row, voter in enumerate(run.voters)}
        self._edge = {edge: number for number, edge in enumerate(run.problem.edges)}

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
        self._run.tell(question, self._answer(question))
        self._left[question.voter or ""] -= 1
        self.answers += 1

    def _answer(self, question: Question) -> Answer:
        row = self._voter[question.voter or ""]
        edges = [self._edge[name, question.position] for name in question.candidates]
        if len(edges) > 2:
            return sorted(
                question.candidates, key=lambda name: self._times[row, self._edge[name, question.position]]
            )
        low, high = min(edges), max(edges)
        pair = self._run.problem.graph.pair_table.number_of(low, high)
        opinion = self._opinion[row, pair]
        if opinion == 0:
            return None
        return question.candidates[edges.index(low if opinion > 0 else high)]


class _Crowd(Continuation):
    """A crowd of voters who come one after the other, and answer every question as if it were the first."""

    _run: BallotExplorer

    def __init__(
        self, run: BallotExplorer, table: Vector, ties: float, patience: int | None, rng: np.random.Generator
    ) -> None:
        self._run, self.table, self._ties, self._rng, self.answers = run, table, ties, rng, 0
        self._patience = WHOLE_BALLOT if patience is None else patience
        self._rate = np.exp(strengths_of(run.problem.graph, table))
        self._edge = {edge: number for number, edge in enumerate(run.problem.edges)}
        self._came = 0

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
            self._run.tell(question, self._answer(question))
        self.answers += len(questions)
        self._run.expire(voter)
        return bool(questions)

    def _answer(self, question: Question) -> Answer:
        edges = [self._edge[name, question.position] for name in question.candidates]
        if len(edges) > 2:
            times = self._rng.exponential(1 / self._rate[edges])
            return [question.candidates[place] for place in np.argsort(times).tolist()]
        if self._rng.random() < self._ties:
            return None
        low, high = min(edges), max(edges)
        pair = self._run.problem.graph.pair_table.number_of(low, high)
        return question.candidates[edges.index(low if self._rng.random() < self.table[pair] else high)]


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
        """Answer a round."""
        wanted = self._run.wanted()
        chance = self.table[self._run.problem.graph.pair_table.number(wanted.first, wanted.second)]
        chance = np.where(wanted.first < wanted.second, chance, 1 - chance)
        self._run.tell_wins(self._rng.binomial(wanted.count, chance))
        self.answers = self._run.duels
        return True
