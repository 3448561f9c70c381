"""Preferences estimated from pairwise answers that somebody has collected.

Two estimates. ``bradley-terry`` gives each candidate of a position a strength s and takes P(a beats b) =
1 / (1 + exp(s_b - s_a)); the strengths are the most likely ones. It speaks about pairs that never met, and is
wrong where tastes go in circles. ``frequencies`` takes each pair by itself: its share of wins.

Either adds ``smoothing`` imagined answers to every pair, half for each side. So pairs that never met are even
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

from duelmatch.answers import Answer, Given, answer_from
from duelmatch.errors import ProblemError, brief
from duelmatch.files.answers import ANSWERS_BYTES, read_rankings
from duelmatch.files.documents import AnyPath, naming, read_text
from duelmatch.files.problems import load_problem
from duelmatch.preferences import Preferences
from duelmatch.problem import Problem

Method = Literal["bradley-terry", "frequencies"]

TOLERANCE = 1e-9
"""On the gradient of the likelihood per answer: the probabilities are right to about that."""


def estimate_preferences(
    answers: AnyPath | Iterable[Given],
    problem: Problem | AnyPath | None = None,
    method: Method = "bradley-terry",
    smoothing: float = 1.0,
) -> Preferences:
    """Estimate preferences from answers, those of a CSV or given as :class:`duelmatch.Answer`.

    A CSV has the columns ``position,winner,loser`` or ``position,ranking``, and perhaps ``voter``, ``tie``
    and ``weight``. A tie is half a win for each, and a ranking says something of every two who are in it.
    Without a problem, its candidates and positions are those that the answers name.

    :raises FileError: if the file cannot be read or understood.
    :raises ProblemError: if the answers do not fit the problem, or a parameter is out of range.
    """
    if method not in get_args(Method):
        raise ProblemError(
            f"The method must be {' or '.join(map(repr, get_args(Method)))}, not {method!r:.80}."
        )
    if isinstance(smoothing, bool) or not isinstance(smoothing, (int, float)) or not 0 < smoothing < math.inf:
        raise ProblemError(f"The smoothing must be above 0 and finite, not {smoothing!r:.80}.")
    if isinstance(answers, Problem) or not isinstance(answers, (str, os.PathLike, Iterable)):
        raise ProblemError(
            f"The answers come first, as a file or a list, and then the problem, not {brief(answers)}."
        )
    known = problem if problem is None or isinstance(problem, Problem) else load_problem(problem)
    if isinstance(answers, (str, os.PathLike)):
        with naming(answers) as file:
            rows = read_rankings(read_text(file, ANSWERS_BYTES), known)
            return _estimated([row.answer for row in rows], known, method, float(smoothing))
    return _estimated(list(map(answer_from, answers)), known, method, float(smoothing))


def _estimated(
    answers: list[Answer], problem: Problem | None, method: Method, smoothing: float
) -> Preferences:
    if not answers:
        raise ProblemError("There are no answers to estimate from.")
    if problem is None:
        edges = ((name, answer.position) for answer in answers for name in answer.candidates)
        problem = Problem.from_edges(dict.fromkeys(edges))
    wins = _wins(answers, problem)
    graph = problem.graph
    matrix = np.zeros_like(wins)
    for position in range(graph.positions):
        own = graph.at(position)
        block = wins[own, own] + smoothing / 2
        matrix[own, own] = _bradley_terry(block) if method == "bradley-terry" else block / (block + block.T)
    return Preferences.from_matrix(problem, matrix)


def _wins(answers: list[Answer], problem: Problem) -> NDArray[np.float64]:
    """Return how much of the weight each edge won against each other; of a tie each has half."""
    wins = np.zeros((problem.graph.edges,) * 2)
    for place, answer in enumerate(answers, start=1):
        try:
            for better, worse, tie in answer.pairs():
                edges = [problem.edge_number(name, answer.position) for name in (better, worse)]
                share = 0.5 if tie else 1.0
                wins[edges[0], edges[1]] += share * answer.weight
                wins[edges[1], edges[0]] += (1.0 - share) * answer.weight
        except ProblemError as error:
            raise ProblemError(f"answer {place}: {error}") from None
    return wins


def _bradley_terry(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities under the strengths that make the answers most likely."""
    wins = wins - np.diag(np.diag(wins))  # nobody has met themselves
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
