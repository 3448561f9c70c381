"""Each rival has an opponent of its own: where a winner has nobody to lose to, any clear defeat rules it out.

Under "B is the winner" D(C, B) <= 0 for every decision C, not only for the champion. So the bets against B
may be on any C that was chosen before the duels: on the one that takes fewest, v(B) / D(C, B)^2 being least.
Where tastes are transitive that is mostly the champion, and nothing is gained; where they are not, a rival
that is hardly worse than the champion often loses to somebody else by far. C is a decision as a whole: an
opponent put together edge by edge need not be one, and the winner may well lose to it.

The opponents come from a small pool: the champion, and decisions that were the best response to a
rival. Condorcet only, with one seat at every position: a duel of C(j) and B(j) then tells about B what C does
there, and all that is needed of a rival is l pairs, each with a sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.frugal.allocation import EXPLORED, LEAST_SHARE, OPTIMISM, STEPS
from duelmatch.explorers.frugal.stakes import Drawn, Pairs
from duelmatch.graph import Indices, Mask, Matrix, Vector

POOL = 12
"""How many decisions there are to choose opponents from."""

DOUBT = 6.0
"""How many squared standard errors weigh against a defeat by somebody else than the champion.

The largest of a dozen estimates is mostly too large: without doubt, chance would decide who is asked about.
"""

LOYALTY = 1.25
"""How many times better than the champion another opponent must be."""

AGAIN = 6
"""Opponents are compared every AGAIN rounds, and whenever the champion changes or a rival is ruled out."""

FLOOR = 0.5
"""A pair is taken to be asked at least this part of an even share of the duels: if it serves, it will be."""


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Who is champion, and what is believed of p - 1/2 for every pair, with which variance."""

    champion: Indices
    advantage: Vector
    variance: Vector


@dataclass(frozen=True, slots=True)
class Matches:
    """Every rival against its opponent: the pairs in which they differ, and what is believed of D."""

    pair: Indices
    """A row per rival, a column per position; -1 where both have the same edge."""
    stake: Matrix
    """c_pair(B): above 0 where the opponent's edge is the first of the pair."""
    gaps: Vector
    noise: Vector

    def kept(self, kept: Mask) -> Matches:
        """Return those of some rivals."""
        return Matches(self.pair[kept], self.stake[kept], self.gaps[kept], self.noise[kept])

    def looks(self, omega: Vector) -> tuple[Matrix, Vector, Vector]:
        """Return Y if the first edge of each pair wins, v, and the largest |Y|, per rival.

        All are 0 if a pair is never drawn: Y would not have mean D, so nothing can be bet.
        """
        looks, spread, worst = np.zeros(self.pair.shape), np.zeros(len(self.pair)), np.zeros(len(self.pair))
        _look(self.pair, self.stake, omega, looks, spread, worst)
        return looks, spread, worst


class Opponents:
    """The opponents that the bets against each rival are on."""

    def __init__(self, pairs: Pairs) -> None:
        self._decisions = pairs.decisions
        self._usable = self._decisions.usable
        self._pairs = pairs
        self._pool = np.zeros((0, pairs.graph.positions), dtype=np.intp)
        self._use = np.zeros(0)
        self._round = self._turn = 0
        self._champion = np.zeros(0, dtype=np.intp)
        self._chosen: tuple[Indices, Matrix] | None = None

    def choose(self, rows: Indices, shares: Vector, beliefs: Beliefs, omega: Vector, fixed: bool) -> Matches:
        """Choose an opponent for every rival, given their shares in the design, and what it was so far.

        ``fixed``: the design stays as it is, so who has a pair that is not drawn is not in question.
        """
        champion, self._champion = self._champion, beliefs.champion
        self._round += 1
        if (
            self._chosen is None
            or len(self._chosen[0]) != len(rows)
            or self._round % AGAIN == 0
            or not np.array_equal(champion, beliefs.champion)
        ):
            self._chosen = self._compare(rows, shares, beliefs, omega, fixed)
        pair, stake = self._chosen
        gaps, noise = np.zeros(len(rows)), np.zeros(len(rows))
        _believe(pair, stake, beliefs.advantage, beliefs.variance, gaps, noise)
        return Matches(pair, stake, gaps, noise)

    def _compare(
        self, rows: Indices, shares: Vector, beliefs: Beliefs, omega: Vector, fixed: bool
    ) -> tuple[Indices, Matrix]:
        self._widen(rows, shares, beliefs)
        if len(omega) == 0:
            omega = np.ones(self._pairs.count)
        elif not fixed:
            omega = np.maximum(omega, FLOOR * float(np.square(omega).sum()))
        chosen = np.zeros(len(rows), dtype=np.intp)
        pair, stake = np.full(rows.shape, -1), np.zeros(rows.shape)
        _choose(
            rows, self._pool, self._pairs.before, self._pairs.scale, beliefs.advantage, beliefs.variance,
            omega, chosen, pair, stake,
        )  # fmt: skip
        self._use = 0.9 * self._use + np.bincount(chosen, shares, len(self._pool))
        return pair, stake

    def design(self, matches: Matches, wanted: Mask, shares: Vector, used: Mask, told: Mask) -> Vector:
        """Return the share of the duels for each pair, and move the rivals' ``shares`` towards the best ones.

        Some are spread evenly: half of these over the pairs ``told`` by the champion, half over all pairs
        with a ``used`` edge, so that better opponents are found.
        """
        rivals = wanted & (matches.noise > 1e-12)
        if not rivals.any():
            rivals = matches.noise > 1e-12
        squares = np.square(matches.gaps) + OPTIMISM * matches.noise
        own = np.maximum(shares[rivals], LEAST_SHARE / rivals.sum())
        own /= own.sum()
        omega = np.zeros(self._pairs.count)
        _balance(matches.pair[rivals], matches.stake[rivals], squares[rivals], own, STEPS // 3, omega)
        shares[rivals] = own
        first, second = self._pairs.first, self._pairs.second
        known = (used[first] & self._usable[second]) | (used[second] & self._usable[first])
        even = 0.5 * told / max(told.sum(), 1) + 0.5 * known / max(known.sum(), 1)
        omega = (1 - EXPLORED) * omega + EXPLORED * even
        return np.asarray(omega / omega.sum())

    def counts(self, drawn: Drawn) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how often the first edge of every pair won in a round, and lost."""
        pairs = self._pairs.before[drawn.first_edge] + drawn.second_edge
        wins, losses = np.zeros((2, self._pairs.count), dtype=np.int64)
        wins[pairs], losses[pairs] = drawn.wins, drawn.losses
        return wins, losses

    def _widen(self, rows: Indices, shares: Vector, beliefs: Beliefs) -> None:
        """Let the champion, and what does best against one of the rivals, into the pool."""
        self._admit(beliefs.champion, True)
        self._turn += 1
        hardest = int(np.argmax(shares)) if self._turn % 2 else (self._turn // 2 * 7919) % len(rows)
        against = self._pairs.against(rows[hardest], beliefs.advantage)
        response = self._decisions.best(against, self._usable, exact=False)
        if response is not None:
            self._admit(response, False)

    def _admit(self, decision: Indices, first: bool) -> None:
        """Make room for a decision, at the first place for the champion."""
        same = (self._pool == decision).all(axis=1)
        if same.any():
            place = int(np.argmax(same))
        elif len(self._pool) < POOL:
            place = len(self._pool)
            self._pool = np.concatenate([self._pool, decision[None]])
            self._use = np.append(self._use, 0.0)
        else:
            place = 1 + int(np.argmin(self._use[1:]))
            self._pool[place], self._use[place] = decision, 0.0
        if first and place:
            self._pool[[0, place]], self._use[[0, place]] = self._pool[[place, 0]], self._use[[place, 0]]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _choose(
    rows: Indices,
    pool: Indices,
    before: Indices,
    scale: Vector,
    advantage: Vector,
    variance: Vector,
    omega: Vector,
    chosen: Indices,
    pair: Indices,
    stake: Matrix,
) -> None:
    """Fill in the opponent of each rival: who rules it out soonest, the champion if nobody beats it."""
    for rival in range(len(rows)):
        best = 0.0
        for number in range(len(pool)):
            gap, uncertain, spread = 0.0, 0.0, 0.0
            for position in range(rows.shape[1]):
                own, other = rows[rival, position], pool[number, position]
                if own != other:
                    which = before[min(own, other)] + max(own, other)
                    if omega[which] <= 0.0:
                        spread = np.inf
                        break
                    c = scale[which]
                    gap += c * (advantage[which] if other < own else -advantage[which])
                    uncertain += c * c * variance[which]
                    spread += c * c / omega[which]
            if gap > 0.0:
                square = gap * gap
                if number == 0:
                    score = LOYALTY * square / spread
                else:
                    score = square * square / ((square + DOUBT * uncertain) * spread)
                if score > best:
                    best, chosen[rival] = score, number
        for position in range(rows.shape[1]):
            own, other = rows[rival, position], pool[chosen[rival], position]
            if own != other:
                which = before[min(own, other)] + max(own, other)
                pair[rival, position] = which
                stake[rival, position] = scale[which] if other < own else -scale[which]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _believe(
    pair: Indices, stake: Matrix, advantage: Vector, variance: Vector, gaps: Vector, noise: Vector
) -> None:
    """Fill in what is believed of D, and the variance of that."""
    for rival in range(len(pair)):
        for position in range(pair.shape[1]):
            which, c = pair[rival, position], stake[rival, position]
            if which >= 0:
                gaps[rival] += c * advantage[which]
                noise[rival] += c * c * variance[which]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _look(pair: Indices, stake: Matrix, omega: Vector, looks: Matrix, spread: Vector, worst: Vector) -> None:
    """Fill in Y, v and the largest |Y|, but for rivals with a pair that is never drawn."""
    for rival in range(len(pair)):
        drawn = True
        for position in range(pair.shape[1]):
            drawn = drawn and (pair[rival, position] < 0 or omega[pair[rival, position]] > 0.0)
        if not drawn:
            continue
        for position in range(pair.shape[1]):
            which = pair[rival, position]
            if which >= 0:
                look = stake[rival, position] / (2 * omega[which])
                looks[rival, position] = look
                spread[rival] += omega[which] * look * look
                worst[rival] = max(worst[rival], abs(look))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _balance(
    pair: Indices, stake: Matrix, squared_gaps: Vector, shares: Vector, steps: int, omega: Vector
) -> None:
    """Improve the shares of rivals in place and fill in omega, as the design does for one champion."""
    count, positions = pair.shape
    inverse = np.zeros(len(omega))
    for step in range(steps + 1):
        omega[:] = 0.0
        for rival in range(count):
            share = shares[rival] / squared_gaps[rival]
            for position in range(positions):
                which, c = pair[rival, position], stake[rival, position]
                if which >= 0:
                    omega[which] += share * c * c
        total = 0.0
        for which in range(len(omega)):
            omega[which] = np.sqrt(omega[which])
            total += omega[which]
        for which in range(len(omega)):
            omega[which] /= total
            inverse[which] = 1.0 / omega[which] if omega[which] > 0.0 else 0.0
        if step == steps:
            return
        total = 0.0
        for rival in range(count):
            needed = 0.0
            for position in range(positions):
                which, c = pair[rival, position], stake[rival, position]
                if which >= 0:
                    needed += c * c * inverse[which]
            shares[rival] *= needed / squared_gaps[rival]
            total += shares[rival]
        for rival in range(count):
            shares[rival] /= total


@njit(cache=True)  # type: ignore[untyped-decorator]
def settle_matches(
    logs: Matrix,
    bets: Matrix,
    pair: Indices,
    looks: Matrix,
    wins: NDArray[np.int64],
    losses: NDArray[np.int64],
) -> None:
    """Add log(1 + lambda Y) of every duel, for every rival and gambler."""
    for rival in range(len(pair)):
        for position in range(pair.shape[1]):
            which = pair[rival, position]
            if which < 0 or wins[which] + losses[which] == 0:
                continue
            value = looks[rival, position]
            for gambler in range(bets.shape[1]):
                bet = bets[rival, gambler]
                logs[rival, gambler] += wins[which] * np.log1p(bet * value)
                logs[rival, gambler] += losses[which] * np.log1p(-bet * value)
