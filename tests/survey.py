"""A survey: every pair is asked about a fixed number of times, and then there is an answer or none."""

from math import log, sqrt

import numpy as np

import duelmatch as dm
from duelmatch.explorers.engine import Outcome, Round, Snapshot
from duelmatch.explorers.tally import Tally
from duelmatch.matchings.decisions import decisions_of


class Survey:
    def __init__(self, graph, delta, seed, times):
        self.graph, self.delta, self.times = graph, delta, times
        self.tally, self.decisions = Tally(graph), decisions_of(graph)
        self.accepted, self.rejected = self.decisions.certain, ~self.decisions.usable

    def rounds(self):
        if self.accepted.sum() == self.graph.positions:
            return Outcome("certified", self.leader())
        first, second = self.graph.pairs_among(~(self.accepted | self.rejected))
        duels = Round(first, second, np.full(len(first), self.times))
        answers = yield duels
        self.tally.add(duels, answers)
        radius = sqrt(log(2 * len(first) / self.delta) / (2 * self.times))
        leader = self.leader()
        status = "certified" if self.best_score_against(leader, radius) < 1 / 2 else "budget_spent"
        return Outcome(status, leader)

    def leader(self):
        """Return the matching whose edges won the largest shares of their duels."""
        wins, duels = self.tally.wins.sum(axis=1), self.tally.counts.sum(axis=1)
        return self.decisions.one(wins / np.maximum(duels, 1))

    def best_score_against(self, leader, radius):
        """Return what the strongest rival scores against the leader, by the upper confidence bounds."""
        edges = np.arange(self.graph.edges)
        upper = self.tally.estimate[edges, leader[self.graph.edge_position]] + radius
        upper[leader] = 1 / 2
        return upper[self.decisions.best_other(upper, leader)].mean()

    def snapshot(self):
        return Snapshot(self.leader(), self.accepted, self.rejected)


SURVEY = dm.Algorithm(
    "survey",
    "condorcet",
    make=Survey,
    parameters=(dm.Parameter("times", int, 100, "How often each pair is asked about.", low=1, high=10**6),),
    guarantee="The Condorcet winner, or no answer; wrong with probability delta at most.",
    use="When all questions must be printed before the first is answered.",
)
