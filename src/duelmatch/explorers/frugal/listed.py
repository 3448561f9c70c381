"""The possible winners one by one, with a bet of their own each: while they are few enough."""

from __future__ import annotations

import numpy as np

from duelmatch.explorers.frugal.design import OPTIMISM, allocation
from duelmatch.explorers.frugal.ledger import Ledger, bets
from duelmatch.explorers.frugal.stakes import Play, Prospects, Stakes, over
from duelmatch.graph import Graph, Indices, Mask, Vector


class Listed:
    """The rivals, the wealth against each being the winner, and against each beating the champion.

    With ``forget`` a matching that is not the winner is of no further interest. Without, the champion must be
    shown to beat it too.
    """

    def __init__(self, graph: Graph, rows: Indices, base: Ledger, proof: Ledger | None, forget: bool) -> None:
        self._graph = graph
        self._forget = forget
        self.rows = rows
        self.possible: Mask = np.ones(len(rows), dtype=np.bool_)
        self._shares = np.full(len(rows), 1.0 / len(rows))
        self._base, self._proof = base, proof

    @property
    def _used(self) -> Mask:
        """Mark the edges of the rivals listed."""
        used = np.zeros(self._graph.edges, dtype=np.bool_)
        used[self.rows.ravel()] = True
        return used

    def start_proof(self) -> None:
        """Begin to bet for a new champion, from the wealth so far if only the winner is to be feared."""
        self._proof = self._base.copy() if self._forget else Ledger(np.zeros(len(self.rows)))

    def plan(self, stakes: Stakes, prospects: Prospects, slack: float, unproven: float | None) -> Vector:
        """Return the share of the duels for each pair; with ``unproven``, for rivals below that wealth."""
        gaps, noise = self._over(prospects.gaps), self._over(prospects.noise)
        wanted = self.possible
        if unproven is not None and self._proof is not None:
            wanted = (self.possible | (not self._forget)) & (self._proof.peak < unproven)
        rivals = wanted & (noise > 1e-12)
        if not rivals.any():
            rivals = noise > 1e-12
        squares = (np.abs(gaps) + slack) ** 2 + OPTIMISM * noise
        shares = self._shares[rivals]
        omega = allocation(stakes, self.rows[rivals], squares[rivals], shares, self._used)
        self._shares[rivals] = shares
        return omega

    def settle(self, play: Play, prospects: Prospects, slack: float, proving: bool) -> None:
        """Settle the bets of a round."""
        gaps, noise = self._over(prospects.gaps), self._over(prospects.noise)
        spread = self._over(play.spread)
        base = bets(gaps, noise, spread, play.worst)
        self._base.settle(play, self.rows, base)
        if self._proof is not None and proving:
            self._proof.settle(play, self.rows, bets(gaps, noise, spread, play.worst, slack), slack)
        elif self._proof is not None and self._forget:
            self._proof.settle(play, self.rows, base)

    def reject(self, threshold: float) -> bool:
        """Reject every matching against which the wealth has ever reached the threshold.

        Say whether any was rejected.
        """
        before = self.left
        self.possible &= self._base.peak < threshold
        rejected = self.left < before
        if self._forget and rejected:
            kept = self.possible
            self.rows, self._shares, self.possible = self.rows[kept], self._shares[kept], kept[kept]
            for ledger in (self._base, self._proof):
                if ledger is not None:
                    ledger.keep(kept)
        return rejected

    def proven(self, champion: Indices, threshold: float) -> bool:
        """Whether every rival in question is shown not to beat the champion."""
        if self._proof is None:
            return False
        rivals = self._others(champion) & (self.possible | (not self._forget))
        return bool((self._proof.peak[rivals] >= threshold).all())

    def edges(self) -> Mask:
        """Mark the edges of the possible winners."""
        used = np.zeros(self._graph.edges, dtype=np.bool_)
        used[self.rows[self.possible].ravel()] = True
        return used

    def is_possible(self, matching: Indices) -> bool:
        """Whether a matching may be the winner."""
        return bool((self.possible & ~self._others(matching)).any())

    def somebody(self) -> Indices:
        """Return a possible winner."""
        row: Indices = self.rows[int(np.argmax(self.possible))]
        return row

    @property
    def left(self) -> int:
        """How many possible winners there are."""
        return int(self.possible.sum())

    def poorest(self, champion: Indices) -> float:
        """Return the least peak of the wealth against a rival of the champion.

        That is the wealth against possible winners if there is a winner for sure, else that of the proof.
        """
        others = self._others(champion)
        if self._forget:
            return float(self._base.peak[self.possible & others].min(initial=np.inf))
        return 0.0 if self._proof is None else float(self._proof.peak[others].min(initial=np.inf))

    def duels_left(
        self, play: Play, prospects: Prospects, threshold: float, slack: float, proving: bool
    ) -> float:
        """Return how many duels the slowest rival still needs, if the estimates are right."""
        gaps, spread = self._over(prospects.gaps), self._over(play.spread)
        rivals, ledger = self.possible & (spread > 1e-12), self._base
        if proving and self._proof is not None:
            ledger = self._proof
            rivals = (self.possible | (not self._forget)) & (spread > 1e-12)
        if not rivals.any():
            return 0.0
        squares = (np.maximum(gaps, 0.0) + slack) ** 2 + OPTIMISM * self._over(prospects.noise)
        lacking = np.where(ledger.peak < threshold, threshold - ledger.wealth, 0.0)
        return float(np.max((lacking * 2 * spread)[rivals] / squares[rivals]))

    def _over(self, per_edge: Vector) -> Vector:
        sums: Vector = over(self.rows, per_edge)
        return sums

    def _others(self, champion: Indices) -> Mask:
        others: Mask = (self.rows != champion).any(axis=1)
        return others
