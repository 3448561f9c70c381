"""CAR-Verify (Algorithm 4): guess the Condorcet winner with little confidence, then verify the guess.

Differences from the listing:

- The answers that CAR-Cond collected are kept, and t goes on counting from its last round: one anytime
  bound over all counts covers both phases.
- The error test runs over all matchings: the guess meets itself with exactly 1/2, so it asks for "> 1/2".
  The stopping test takes the best matching other than the guess, as printed. Both are decided with room for
  rounding.
- A refuted guess is reported as ``no_winner``. It is wrong to say so with probability delta_0 + delta at
  most: the guess itself may have been wrong.
- With ``schedule="sparse"`` the pairs in question are duelled a few percent more between two looks.
"""

from __future__ import annotations

import numpy as np

from duelmatch.explorers.car_cond import CarCond, Schedule
from duelmatch.explorers.engine import Outcome, Round, Rounds, Snapshot
from duelmatch.explorers.oracle import Method
from duelmatch.explorers.tally import weighed
from duelmatch.graph import Graph, Indices, Matrix, Vector
from duelmatch.matchings.decisions import decisions_of

GUESS_DELTA = 0.01
"""delta_0: the confidence of the guess."""

GROWTH = 0.04
"""How much more the pairs in question are duelled between two looks of the sparse schedule."""

ROUNDING = 1e-12


class CarVerify:
    """One run; no seed is used."""

    def __init__(
        self, graph: Graph, delta: float, seed: int = 0, schedule: Schedule = "sparse", oracle: Method = "lp"
    ) -> None:
        self._graph = graph
        self._delta = delta
        self._schedule = schedule
        self._guess_run = CarCond(graph, GUESS_DELTA, schedule=schedule, oracle=oracle)
        self._guess: Indices | None = None
        self._gap: float | None = None

    def rounds(self) -> Rounds:
        """Run the listing."""
        graph, tally = self._graph, self._guess_run.tally
        outcome = yield from self._guess_run.rounds()
        if self._guess_run.round_number == 0:
            return outcome
        if outcome.matching is None:
            return Outcome("no_winner", None, GUESS_DELTA)
        guess = self._guess = outcome.matching
        t = self._guess_run.round_number
        while True:
            t += 1
            lower, upper = tally.bounds(t, self._delta, graph.pairs)
            if _largest(graph, _against(graph, lower, guess)) > 0.5 + ROUNDING:
                return Outcome("no_winner", None, GUESS_DELTA + self._delta)
            against = _against(graph, upper, guess)
            rival = decisions_of(graph).best_other(against, guess)
            assert rival is not None, "decided without duels otherwise"
            self._gap = max(0.0, float(against[rival].mean()) - 0.5)
            if against[rival].mean() < 0.5 - ROUNDING:
                return Outcome("certified", guess)
            duels = self._wanted(rival, guess)
            tally.add(duels, (yield duels))
            t += duels.total - 1

    def _wanted(self, rival: Indices, guess: Indices) -> Round:
        """Return the duel of the least known pair in which the two differ, or a batch of such."""
        differ = rival != guess
        first, second = rival[differ], guess[differ]
        counts = self._guess_run.tally.counts[first, second]
        least = int(np.argmin(counts))
        if self._schedule == "every" or counts[least] == 0:
            return Round(first[[least]], second[[least]], np.ones(1, dtype=np.int64))
        level = int(np.ceil(counts[least] * (1 + GROWTH)))
        wanted = counts < level
        return Round(first[wanted], second[wanted], (level - counts)[wanted])

    def snapshot(self) -> Snapshot:
        """Report the guess, once there is one, and by how much a rival may still beat it."""
        if self._guess is None:
            return self._guess_run.snapshot()
        known = self._guess_run.snapshot()
        return Snapshot(self._guess, known.accepted, known.rejected, self._gap)


def _against(graph: Graph, matrix: Matrix, guess: Indices) -> Vector:
    """Return p(e, the guess at the position of e) for every edge."""
    against: Vector = weighed(graph, matrix[np.arange(graph.edges), guess[graph.edge_position]])
    return against


def _largest(graph: Graph, weights: Vector) -> float:
    return float(weights[decisions_of(graph).one(weights)].mean())
