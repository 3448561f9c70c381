"""A late candidate: the same designs and ballots, under the numbers of a larger problem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from duelmatch.explorers.ballots.records import Ballot, Design
from duelmatch.problem import Problem


class Renumbering:
    """The new numbers of the edges and pairs of a problem."""

    def __init__(self, problem: Problem, larger: Problem) -> None:
        table = problem.graph.pair_table
        self._pairs = larger.graph.pairs
        self.edge = np.array([larger.edge_number(name, position) for name, position in problem.edges])
        self.pair = larger.graph.pair_table.number(self.edge[table.first], self.edge[table.second])

    def design(self, design: Design) -> Design:
        """Return a design under the new numbers; new pairs had no chance."""
        chances, advantage = np.zeros(self._pairs), np.zeros(self._pairs)
        variance = np.full(self._pairs, 0.125)
        chances[self.pair], advantage[self.pair] = design.chances, design.advantage
        variance[self.pair] = design.variance
        return replace(
            design,
            champion=self.edge[design.champion],
            chances=chances,
            advantage=advantage,
            variance=variance,
            proof_for=None if design.proof_for is None else self.edge[design.proof_for],
        )

    def ballot(self, ballot: Ballot) -> Ballot:
        """Return a ballot under the new numbers."""
        questions = tuple(tuple(self.edge[list(question)].tolist()) for question in ballot.questions)
        return replace(ballot, pairs=self.pair[ballot.pairs], questions=questions)
