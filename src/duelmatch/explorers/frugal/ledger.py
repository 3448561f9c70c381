"""The wealth against each rival, where the rivals can be listed.

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

from duelmatch.explorers.frugal.stakes import Play
from duelmatch.graph import Indices, Mask, Vector

FIXED_GAPS = np.array([0.05, 0.1, 0.2, 0.4])
LOG_SHARES = np.log(np.array([0.5, 0.125, 0.125, 0.125, 0.125]))
CAUTION = 0.5
"""How many squared standard errors weigh against the estimate in the learning gambler's bet."""
NO_RUIN = 0.9
"""The largest part of the wealth that a single duel may lose."""


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
        begin = np.searchsorted(table.position[pairs], np.arange(table.graph.positions + 1))
        neither, first, second = play.values()
        _settle(
            rivals, self._logs, bets, begin, table.first[pairs], table.second[pairs],
            neither, first, second, play.wins, play.duels - play.wins, slack, self.peak,
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
    slack: float,
    peak: Vector,
) -> None:
    """Add log(1 + lambda (Y + slack)) of every duel, for every rival and gambler, and note new peaks."""
    count, positions = rivals.shape
    for rival in range(count):
        for position in range(positions):
            edge = rivals[rival, position]
            for pair in range(begin[position], begin[position + 1]):
                value = neither[pair]
                if pair_first[pair] == edge:
                    value = first[pair]
                elif pair_second[pair] == edge:
                    value = second[pair]
                if value == 0.0 and slack == 0.0:
                    continue
                for gambler in range(bets.shape[1]):
                    bet = bets[rival, gambler]
                    logs[rival, gambler] += wins[pair] * np.log1p(bet * (slack + value))
                    logs[rival, gambler] += losses[pair] * np.log1p(bet * (slack - value))
        highest = -np.inf
        for gambler in range(bets.shape[1]):
            highest = max(highest, logs[rival, gambler] + LOG_SHARES[gambler])
        total = 0.0
        for gambler in range(bets.shape[1]):
            total += np.exp(logs[rival, gambler] + LOG_SHARES[gambler] - highest)
        peak[rival] = max(peak[rival], highest + np.log(total))
