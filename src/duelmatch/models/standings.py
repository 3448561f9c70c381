"""Standings: from all answers so far, who is probably in the best line-up, and how good the leader is.

An estimate, not a proof: it believes the model of :mod:`duelmatch.models.strengths`, as far as the answers
let it. Pair probabilities are drawn from the posterior, settings included; each draw has its best
matching, and shares of draws are probabilities. Their calibration is measured (docs/standings.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from duelmatch.answers import answer_from
from duelmatch.errors import ProblemError, brief
from duelmatch.graph import Graph, Mask, Matrix, Vector
from duelmatch.matchings import Edge
from duelmatch.matchings.decisions import decisions_of
from duelmatch.phrases import spoken
from duelmatch.preferences import Criterion
from duelmatch.problem import Matching, Problem, check_problem

DRAWS = 400
"""A share of so many draws has a standard error of 2.5 points at most."""

MOST_NUMBERS = 8_000_000
"""Pairs times draws, at most: 64 MB. Very large problems have fewer draws, but FEWEST at least."""

FEWEST = 40
"""Also the number of draws where the best decision of each takes milliseconds, as it may under rules."""

STIFFNESS = 20.0
"""The share of ties begins as if so many answers had been none."""


@dataclass(frozen=True, slots=True)
class Standings:
    """Where things stand, by all answers so far: an estimate, which no guarantee comes with.

    ``leader`` is the matching that is expected to fall short least: in Borda score of the best one, or in
    its worst defeat head to head (Condorcet), per position; where positions have weights, per unit of weight.
    ``expected_shortfall`` is by how much.
    ``probability`` says of each (candidate, position) how probably it belongs to the best matching (the
    least beaten one, where there is no Condorcet winner), and ``leader_probability`` how probably all
    of the leader is the best matching. ``winner_probability`` is how probably there is a Condorcet winner;
    1 for Borda. At a position of several seats the probabilities add up to their number. ``answers`` counts
    the pairs answered.
    """

    criterion: Criterion
    answers: float
    leader: Matching
    probability: Mapping[Edge, float]
    expected_shortfall: float
    leader_probability: float
    winner_probability: float

    def __str__(self) -> str:
        chosen = "; ".join(f"{position}: {self.said_of(position)}" for position in self.leader)
        answers = f"{self.answers:,.0f} answer{'s' * (self.answers != 1)}"
        return (
            f"{chosen} (an estimate from {answers}: falls short of the best by "
            f"{self.expected_shortfall:.3f} per position)"
        )

    @property
    def by_position(self) -> dict[str, dict[str, float]]:
        """The probability of each candidate of each position, as JSON can hold it."""
        shares: dict[str, dict[str, float]] = {}
        for (candidate, position), share in self.probability.items():
            shares.setdefault(position, {})[candidate] = share
        return shares

    def said_of(self, position: str) -> str:
        """Return who leads at a position, in words, each with a probability."""
        chosen = self.leader[position]
        names = chosen if isinstance(chosen, tuple) else (chosen,)
        return spoken(tuple(f"{name} ({self.probability[name, position]:.0%})" for name in names))


def standings(
    problem: Problem,
    answers: Iterable[Any],
    criterion: Criterion = "borda",
    seed: int = 0,
    marginals: Vector | None = None,
    usable: Mask | None = None,
) -> Standings:
    """Estimate where things stand from any answers, however they were collected.

    An answer is a :class:`duelmatch.Answer`, or a tuple (position, winner, loser); a tie is (position, one,
    other, "="). The seed is that of the draws. In edge order, ``marginals`` says against whom Borda counts if
    not against all decisions (they add up to the seats of every position), and ``usable`` which edges still
    stand, if not all.

    :raises ProblemError: if an answer does not fit the problem, or there is no such criterion.
    :raises TooLargeError: if Borda counts against all decisions, and counting them is out of reach.
    """
    check_problem(problem, "An estimate of the standings")
    if not isinstance(answers, Iterable):
        raise ProblemError(f"The answers must be a list of them, not {brief(answers)}.")
    table = problem.graph.pair_table
    wins, duels, ties = np.zeros(table.count), np.zeros(table.count), 0.0
    for number, given in enumerate(answers, start=1):
        try:
            answer = answer_from(given)
            for names in answer.pairs():
                better, worse = (problem.edge_number(name, answer.position) for name in names[:2])
                pair = int(table.number(np.array([better]), np.array([worse]))[0])
                share = 0.5 if names[2] else float(better < worse)
                duels[pair] += answer.weight
                wins[pair] += answer.weight * share
                ties += answer.weight * names[2]
        except ProblemError as error:
            raise ProblemError(f"answer {number}: {error}") from None
    return standings_from_counts(problem, wins, duels, criterion, ties, None, marginals, seed, usable)


def standings_from_counts(
    problem: Problem,
    wins: Vector,
    duels: Vector,
    criterion: Criterion,
    ties: float = 0.0,
    awaited: Vector | None = None,
    marginals: Vector | None = None,
    seed: int = 0,
    usable: Mask | None = None,
) -> Standings:
    """Estimate where things stand from counts by pair (:attr:`duelmatch.graph.Graph.pair_table`).

    ``wins`` is what the first edge of a pair is credited with, half of each tie included; ``ties`` is how
    many of all answers were ties. ``awaited`` is for a panel: how many answers to each pair are still open.
    The best matching is then that of the final count, and only the open answers are uncertain.
    ``marginals`` is against whom Borda counts, if not against all matchings, and ``usable`` marks the edges
    that still stand, if not all do.
    """
    from duelmatch.models.lineups import finder_of, least_expected  # compiled

    if criterion not in get_args(Criterion):
        raise ProblemError(f"The criterion must be 'borda' or 'condorcet', not {criterion!r:.80}.")
    graph, decisions = problem.graph, decisions_of(problem.graph)
    if criterion == "borda" and marginals is None:
        marginals = decisions.marginals()
    finder = finder_of(graph, marginals if criterion == "borda" else None, usable)
    count = max(FEWEST, min(DRAWS, MOST_NUMBERS // max(1, len(wins))) if decisions.fast else FEWEST)
    tables = _tables(graph, wins, duels, ties, awaited, np.random.default_rng([seed, 11]), count)
    mean = tables.mean(axis=0)
    strong = decisions.one(graph.leads(mean - 0.5, np.ones(graph.edges)), usable)
    start = finder.best(mean[None], strong)[0][0]
    best, defeats = finder.best(tables, start)
    likely = start if finder.linear else np.stack([start, strong])
    leader, shortfall = least_expected(finder, tables, best, likely)
    share = np.bincount(best.ravel(), minlength=graph.edges) / len(best)
    return Standings(
        criterion,
        float(duels.sum()),
        problem.matching(leader.tolist()),
        dict(zip(problem.edges, share.tolist(), strict=True)),
        shortfall,
        float((best == leader).all(axis=1).mean()),
        float((defeats <= 1e-9).mean()),
    )


def _tables(
    graph: Graph,
    wins: Vector,
    duels: Vector,
    ties: float,
    awaited: Vector | None,
    rng: np.random.Generator,
    count: int,
) -> Matrix:
    """Draw the pair probabilities, or for a panel the shares in the final count, a row each."""
    tables = drawn_tables(graph, wins, duels, ties, count, rng)
    if awaited is None:
        return tables
    noise = rng.standard_normal(tables.shape) * np.sqrt(awaited * tables * (1 - tables) / _worth(duels, ties))
    to_come = np.clip(awaited * tables + noise, 0.0, awaited)
    total = duels + awaited
    final: Matrix = np.where(total > 0, (wins + to_come) / np.where(total > 0, total, 1.0), 0.5)
    return final


def drawn_tables(
    graph: Graph, wins: Vector, duels: Vector, ties: float, count: int, rng: np.random.Generator
) -> Matrix:
    """Draw pair probabilities from the posterior, over all settings of the model by their likelihood.

    A row each; those of one setting follow each other.
    """
    from duelmatch.models.strengths import StrengthModel

    worth = _worth(duels, ties)
    model = StrengthModel(graph, worth * wins, worth * duels)
    likely = model.settle()
    parts = []
    for setting, draws in zip(np.ndindex(likely.shape), _shared_out(count, likely), strict=True):
        if draws:
            model.use(setting)
            parts.append(model.draws(rng, draws))
    return np.concatenate(parts)


def _worth(duels: Vector, ties: float) -> float:
    """Return how many coins an answer is worth: a tie leaves less to chance, (1 - ties) / 4."""
    return float(1.0 / (1.0 - ties / (duels.sum() + STIFFNESS)))


def _shared_out(count: int, likely: Matrix) -> list[int]:
    """Share out draws between settings, by how likely they are."""
    steps = np.rint(np.cumsum(likely.ravel()) * count).astype(int)
    return np.diff(steps, prepend=0).tolist()  # type: ignore[no-any-return]
