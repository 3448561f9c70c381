"""The answers so far, pair by pair, and what they say about the preference matrix."""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from duelmatch.explorers.engine import Round, RoundAnswers
from duelmatch.graph import Graph, Matrix


def weighed(graph: Graph, values: Matrix) -> Matrix:
    """Return payoffs per edge or per two edges times the weight of their position, which is 1 on average."""
    if graph.even:
        return values
    weight = graph.weight * (graph.positions / graph.total_weight)
    return values * weight[graph.edge_position]


class Tally:
    """How often each edge beat each other edge of its position; a tie counts half for either."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.wins = np.zeros((graph.edges, graph.edges))
        self._comparable = graph.comparable

    def add(self, asked: Round, answers: RoundAnswers) -> None:
        """Count the answers of a round."""
        np.add.at(self.wins, (asked.first, asked.second), answers.score)
        np.add.at(self.wins, (asked.second, asked.first), asked.count - answers.score)

    @property
    def counts(self) -> NDArray[np.int64]:
        """T(e, e'): how many duels each pair has had."""
        return (self.wins + self.wins.T).astype(np.int64)

    @property
    def estimate(self) -> Matrix:
        """The empirical matrix: 1/2 where nothing is known, 0 between positions."""
        counts = self.counts
        known = np.divide(self.wins, counts, out=np.full(counts.shape, 0.5), where=counts > 0)
        return np.where(self._comparable, known, 0.0)

    def bounds(self, round_number: int, delta: float, events: int) -> tuple[Matrix, Matrix]:
        """Return the lower and upper confidence matrices (Eq. 8, radius of Eq. 7): 1/2 on the diagonal."""
        radius = paper_radius(self.counts, round_number, delta, events)
        estimate = self.estimate
        lower = np.maximum(0.0, estimate - radius)
        upper = np.minimum(1.0, estimate + radius)
        for matrix in (lower, upper):
            matrix[~self._comparable] = 0.0
            np.fill_diagonal(matrix, 0.5)
        return lower, upper


def paper_radius(
    counts: NDArray[np.int64], round_number: int, delta: float, events: int
) -> NDArray[np.float64]:
    """Return c_t = sqrt(ln(4 K t^3 / delta) / (2 T)) for means of T answers, and 1 where T = 0.

    If T <= t for all means and there are at most ``events`` (K in the paper) of them, all stay within
    their radius of their expectation, in all rounds t at once, with probability 1 - delta: by Hoeffding's
    inequality a mean of T answers is off by more with probability 2 delta / (4 K t^3), and summing over
    T <= t, K means and t gives delta pi^2 / 12 < delta.
    """
    scale = paper_scale(round_number, delta, events)
    return np.where(counts > 0, np.sqrt(scale / np.maximum(counts, 1)), 1.0)


def paper_scale(round_number: int, delta: float, events: int) -> float:
    """Return ln(4 K t^3 / delta) / 2: the square of a radius times its number of answers."""
    return log(4 * events * round_number**3 / delta) / 2
