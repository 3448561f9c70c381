"""The answers so far, pair by pair, and what they say about the preference matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duelmatch.explorers.engine import Round, RoundAnswers
from duelmatch.graph import Graph
from duelmatch.theory.confidence import paper_radius

Matrix = NDArray[np.float64]


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
