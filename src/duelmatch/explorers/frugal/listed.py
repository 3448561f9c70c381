"""The possible winners one by one, with the wealth against each: while they are few enough.

Against the hypothesis "B is the winner" a gambler bets on every duel: it multiplies the wealth by
1 + lambda (Y(B) + slack), whose mean is at most 1 if D(champion, B) <= -slack. Five gamblers start with fixed
shares of the wealth: one bets as if the present estimate of D were true, four as if D were 0.05, 0.1, 0.2
or 0.4. The best lambda for a gap D is D / v(B). One that learns is best in the long run, and the others
save it the price of learning at first.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.frugal.seats import pairs_within, settle_seats
from duelmatch.explorers.frugal.stakes import (
    NO_RUIN,
    OPTIMISM,
    Play,
    Prospects,
    Stakes,
    allocation,
    over,
    stake,
)
from duelmatch.graph import Graph, Indices, Mask, Vector

FIXED_GAPS = np.array([0.05, 0.1, 0.2, 0.4])
LOG_SHARES = np.log(np.array([0.5, 0.125, 0.125, 0.125, 0.125]))
CAUTION = 0.5
"""How many squared standard errors weigh against the estimate in the learning gambler's bet."""


class ListedRivals:
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
        self._within = None if graph.places == graph.positions else pairs_within(graph, rows)

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
        gaps, noise = self._over(prospects.gaps), self._over(prospects.noise, prospects.noise_of_both)
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
        gaps, noise = self._over(prospects.gaps), self._over(prospects.noise, prospects.noise_of_both)
        spread = self._over(play.spread, play.spread_of_both)
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
            self._within = None if self._within is None else self._within[kept]
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
        gaps, spread = self._over(prospects.gaps), self._over(play.spread, play.spread_of_both)
        rivals, ledger = self.possible & (spread > 1e-12), self._base
        if proving and self._proof is not None:
            ledger = self._proof
            rivals = (self.possible | (not self._forget)) & (spread > 1e-12)
        if not rivals.any():
            return 0.0
        squares = (np.maximum(gaps, 0.0) + slack) ** 2 + OPTIMISM * self._over(
            prospects.noise, prospects.noise_of_both
        )
        lacking = np.where(ledger.peak < threshold, threshold - ledger.wealth, 0.0)
        return float(np.max((lacking * 2 * spread)[rivals] / squares[rivals]))

    def _over(self, per_edge: Vector, of_both: Vector | None = None) -> Vector:
        """Sum over the edges of each rival, and over the pairs that it uses both edges of."""
        sums: Vector = over(self.rows, per_edge)
        if of_both is None or self._within is None:
            return sums
        return np.asarray(np.maximum(sums + of_both[self._within].sum(axis=1), 0.0))

    def _others(self, champion: Indices) -> Mask:
        others: Mask = (self.rows != champion).any(axis=1)
        return others


class Ledger:
    """The wealth of the gamblers against every listed rival, in logarithms."""

    def __init__(self, log_wealth: Vector) -> None:
        self._logs = np.repeat(log_wealth[:, None], len(LOG_SHARES), axis=1)
        self.peak = log_wealth.copy()
        """The highest wealth that there has been against each rival."""

    def keep(self, kept: Mask) -> None:
        """Forget the other rivals."""
        self._logs, self.peak = self._logs[kept], self.peak[kept]

    @property
    def wealth(self) -> Vector:
        """The logarithm of the present wealth against each rival."""
        total: Vector = np.logaddexp.reduce(self._logs + LOG_SHARES, axis=1)
        return total

    def settle(self, play: Play, rivals: Indices, bets: NDArray[np.float64], slack: float = 0.0) -> None:
        """Settle the bets of a round."""
        table, pairs = play.stakes.pairs, play.pairs
        if play.stakes.both is not None:
            settle_seats(
                rivals, table.graph.edges, self._logs, bets, LOG_SHARES, table.first[pairs],
                table.second[pairs], *play.values(), play.answers.wins, play.losses, play.answers.ties,
                slack, self.peak,
            )  # fmt: skip
            return
        begin = np.searchsorted(table.position[pairs], np.arange(table.graph.positions + 1))
        neither, first, second = play.values()
        _settle(
            rivals, self._logs, bets, begin, table.first[pairs], table.second[pairs],
            neither, first, second, play.answers.wins, play.losses, play.answers.ties, slack, self.peak,
        )  # fmt: skip

    def copy(self) -> Ledger:
        """Return a ledger that goes on from the same wealth."""
        return deepcopy(self)


@njit(cache=True)  # type: ignore[untyped-decorator]
def bets(
    gaps: Vector, noise: Vector, spread: Vector, worst: float, slack: float = 0.0
) -> NDArray[np.float64]:
    """Return lambda per rival and gambler.

    ``gaps`` and ``noise`` are the estimates of D(B) and their variances, ``spread`` is v(B), and ``worst``
    bounds |Y| for every rival, so that no bet can lose everything.
    """
    wanted = np.zeros((len(gaps), 1 + len(FIXED_GAPS)))
    for rival in range(len(gaps)):
        if spread[rival] > 0:
            gain = max(gaps[rival] + slack, 0.0)
            square = gain * gain
            learned = gain * square / max(square + CAUTION * noise[rival], 1e-300)
            wanted[rival, 0] = min(learned / spread[rival], NO_RUIN / worst)
            for gambler in range(len(FIXED_GAPS)):
                wanted[rival, gambler + 1] = min(FIXED_GAPS[gambler] / spread[rival], NO_RUIN / worst)
    return wanted


@njit(cache=True)  # type: ignore[untyped-decorator]
def _settle(
    rivals: Indices,
    logs: NDArray[np.float64],
    bets: NDArray[np.float64],
    begin: Indices,
    pair_first: Indices,
    pair_second: Indices,
    neither: Vector,
    first: Vector,
    second: Vector,
    wins: NDArray[np.int64],
    losses: NDArray[np.int64],
    ties: NDArray[np.int64],
    slack: float,
    peak: Vector,
) -> None:
    """Add log(1 + lambda (Y + slack)) of every duel, for every rival and gambler, and note new peaks."""
    count, positions = rivals.shape
    for rival in range(count):
        for position in range(positions):
            edge = rivals[rival, position]
            for pair in range(begin[position], begin[position + 1]):
                value = stake(pair, edge, pair_first, pair_second, neither, first, second)
                if value == 0.0 and slack == 0.0:
                    continue
                for gambler in range(bets.shape[1]):
                    bet = bets[rival, gambler]
                    logs[rival, gambler] += wins[pair] * np.log1p(bet * (slack + value))
                    logs[rival, gambler] += losses[pair] * np.log1p(bet * (slack - value))
                    if slack != 0.0:
                        logs[rival, gambler] += ties[pair] * np.log1p(bet * slack)
        highest = -np.inf
        for gambler in range(bets.shape[1]):
            highest = max(highest, logs[rival, gambler] + LOG_SHARES[gambler])
        total = 0.0
        for gambler in range(bets.shape[1]):
            total += np.exp(logs[rival, gambler] + LOG_SHARES[gambler] - highest)
        peak[rival] = max(peak[rival], highest + np.log(total))
