"""Preferences estimated from pairwise results that somebody has collected.

Two estimates. ``bradley-terry`` gives each candidate of a position a strength s and takes P(a beats b) =
1 / (1 + exp(s_b - s_a)); the strengths are the most likely ones. It speaks about pairs that never met, and is
wrong where tastes go in circles. ``frequencies`` takes each pair by itself: its share of wins.

Either adds ``smoothing`` imagined results to every pair, half for each side. So pairs that never met are even
(frequencies), a candidate who never lost is not invincible, and the likeliest strengths exist and are unique.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from duelmatch.documents import Bare, number
from duelmatch.errors import FileError, ProblemError
from duelmatch.files import VOTES_BYTES, VOTES_HEADER, Vote, load_problem
from duelmatch.preferences import Preferences
from duelmatch.problem import Problem
from duelmatch.textfiles import naming, read_text, table

Method = Literal["bradley-terry", "frequencies"]

WEIGHTED_HEADER = (*VOTES_HEADER, "weight")
TOLERANCE = 1e-9
"""On the gradient of the likelihood per result: the probabilities are right to about that."""

AnyPath = str | os.PathLike[str]
Weighted = tuple[Vote, float]


def estimate_preferences(
    votes: AnyPath | Iterable[Vote],
    problem: Problem | AnyPath | None = None,
    method: Method = "bradley-terry",
    smoothing: float = 1.0,
) -> Preferences:
    """Estimate preferences from results: a CSV ``position,winner,loser[,weight]``, or votes.

    Without a problem, its candidates and positions are those that the results name.

    :raises FileError: if the file cannot be read or understood.
    :raises ProblemError: if the results do not fit the problem, or a parameter is out of range.
    """
    if method not in get_args(Method):
        raise ProblemError(
            f"The method must be {' or '.join(map(repr, get_args(Method)))}, not {method!r:.80}."
        )
    if isinstance(smoothing, bool) or not isinstance(smoothing, (int, float)) or not 0 < smoothing < math.inf:
        raise ProblemError(f"The smoothing must be above 0 and finite, not {smoothing!r:.80}.")
    known = problem if problem is None or isinstance(problem, Problem) else load_problem(problem)
    if isinstance(votes, (str, os.PathLike)):
        with naming(votes) as file:
            return _estimated(_read(read_text(file, VOTES_BYTES)), known, method, float(smoothing))
    return _estimated([(vote, 1.0) for vote in votes], known, method, float(smoothing))


def _read(text: str) -> list[Weighted]:
    weighted = "weight" in text.lstrip().partition("\n")[0].casefold()
    results = []
    for line, cells in table(text, WEIGHTED_HEADER if weighted else VOTES_HEADER):
        weight = 1.0
        if weighted:
            weight = number(Bare(cells.pop(), where=f"line {line}: "), "the weight")
            if not 0 < weight < math.inf:
                raise FileError(f"line {line}: the weight must be above 0, not {weight:g}.")
        results.append((Vote(*cells), weight))
    return results


def _estimated(
    results: list[Weighted], problem: Problem | None, method: Method, smoothing: float
) -> Preferences:
    if not results:
        raise ProblemError("There are no results to estimate from.")
    if problem is None:
        edges = dict.fromkeys(
            (name, vote.position) for vote, _ in results for name in (vote.winner, vote.loser)
        )
        problem = Problem.from_edges(edges)
    wins = _wins(results, problem)
    graph = problem.graph
    matrix = np.zeros_like(wins)
    for position in range(graph.positions):
        own = graph.at(position)
        block = wins[own, own] + smoothing / 2
        np.fill_diagonal(block, 0.0)
        matrix[own, own] = _bradley_terry(block) if method == "bradley-terry" else _frequencies(block)
    return Preferences.from_matrix(problem, matrix)


def _wins(results: list[Weighted], problem: Problem) -> NDArray[np.float64]:
    """Return how much of the weight each edge won against each other."""
    wins = np.zeros((problem.graph.edges,) * 2)
    for place, (vote, weight) in enumerate(results, start=1):
        try:
            if vote.winner == vote.loser:
                raise ProblemError(f"'{vote.winner}' cannot win against itself.")
            winner = problem.edge_number(vote.winner, vote.position)
            wins[winner, problem.edge_number(vote.loser, vote.position)] += weight
        except ProblemError as error:
            raise ProblemError(f"result {place}: {error}") from None
    return wins


def _frequencies(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    both = wins + wins.T
    np.fill_diagonal(both, 1.0)
    shares = wins / both
    np.fill_diagonal(shares, 0.5)
    return shares


def _bradley_terry(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities under the strengths that make the results most likely."""
    total = wins.sum() or 1.0

    def loss(strength: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        ahead = strength[:, None] - strength[None, :]
        surprise = wins * expit(-ahead) / total
        value = float((wins * np.logaddexp(0.0, -ahead)).sum() / total)
        return value, surprise.sum(axis=0) - surprise.sum(axis=1)

    start = np.zeros(len(wins))
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": TOLERANCE, "maxiter": 10_000})
    strength = found.x
    return np.asarray(expit(strength[:, None] - strength[None, :]), dtype=np.float64)
