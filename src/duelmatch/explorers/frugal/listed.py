"""The rivals of a champion, and the wealth against each of them: one by one, while they are few enough.

Against the hypothesis "B is the winner" a gambler bets on every duel: it multiplies the wealth by
1 + lambda (Y(B) + slack), whose mean is at most 1 if D(champion, B) <= -slack. Five gamblers start with equal
shares of the wealth: one bets as if the present estimate of D were true, four as if D were 0.025, 0.06, 0.14
or 0.33. The best lambda for a gap D is D / v(B). The one that learns is best in the long run; the
others do better until it has. Condorcet: each rival has an opponent of its own
(:mod:`duelmatch.explorers.frugal.design`).

**Proofs.**
Being the last one left proves nothing of a champion that only has to be close, or where there may be no
winner at all. For that there is a second wealth against each rival B, from bets on D(A, B) > -slack that are
made while A is the champion: it multiplies by 1 + lambda (Y(B) + slack), whose mean is at most 1 if A loses
to B by slack or more. Which A is proven is chosen by the data, so the first champion for whom a proof is
begun has FIRST of the chance of being wrong, and the i-th one part in i (i - 1) of the rest. Its evidence is
kept when another takes over, and goes on when it is champion again.

**The bound.** For a grid of slacks, let U be the least such that all slacks of the grid from U on are
rejected: the wealth against every rival has reached the threshold. Then A falls short by U at most. If it
falls short by more than U, then U is one of the slacks that are really exceeded, and so is s, the largest of
these in the grid; s is rejected too, as U <= s. That is one event, for one slack and the rival that A loses
to most, however many slacks are tried: no union over the grid, nor over rivals.

All rounds are kept, and a wealth is worked out when it is asked for. The bets of a round are a function of
what was known before it, so it makes no difference when they are worked out.

Proofs go the same way where the rivals are too many to list (:mod:`duelmatch.explorers.frugal.tables`): what
both have in common is :class:`Rivals`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from math import log
from types import MappingProxyType
from typing import Generic, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.frugal.design import (
    OPTIMISM,
    Beliefs,
    Matches,
    Opponents,
    allocation,
    levelled,
    settle_matches,
    squared_margins,
)
from duelmatch.explorers.frugal.stakes import (
    NO_RUIN,
    Drawn,
    Pairs,
    Play,
    Played,
    Prospects,
    Stakes,
    highest,
    over,
    pairs_within,
)
from duelmatch.graph import Graph, Indices, Mask, Vector

FIXED_GAPS = np.array([0.025, 0.06, 0.14, 0.33])
FIXED_PARTS = np.array([0.25, 0.5, 1.0, 2.0])
"""The same in parts of the slack, where there is one: D + slack is what is bet on."""
LOG_SHARES = np.log(np.full(1 + len(FIXED_GAPS), 1 / (1 + len(FIXED_GAPS))))
CAUTION = 0.5
"""How many squared standard errors weigh against the estimate in the learning gambler's bet."""

FIRST = 0.6
"""The first champion's part of the chance of being wrong; the i-th has one in i (i - 1) of the rest."""

GRID = tuple((0.5 * 0.8 ** np.arange(20)).round(4).tolist())
"""Shortfalls per position that are tried, the largest first: from 0.5 down to 0.007."""

WealthT = TypeVar("WealthT")


@dataclass(frozen=True, slots=True)
class Proof:
    """The ``number``-th proof, for a champion."""

    number: int
    champion: Indices

    @property
    def price(self) -> float:
        """What the threshold rises by, as this is one proof of many."""
        return price(self.number)


def price(number: int) -> float:
    """Return what the threshold of a proof rises by: their parts of delta add up to the whole."""
    return -log(FIRST if number == 1 else (1 - FIRST) / (number * (number - 1)))


class Rivals(ABC, Generic[WealthT]):
    """The rivals known, a row each, and the wealth of every proof at every slack that was asked for.

    With ``forget`` there is a winner for sure, and a matching that is not the winner is of no further
    interest: then a proof goes on from the common wealth, and bets without slack for other champions count
    too. Without, the champion must be shown to beat every other.
    """

    def __init__(self, graph: Graph, rows: Indices, forget: bool, history: list[Played]) -> None:
        self.rows = rows
        self.tangent = 0.0
        """The bet that suits the hardest rival, where all rivals share their bets."""
        self._graph, self._forget, self._history = graph, forget, history
        self._shares = np.full(len(rows), 1.0 / max(len(rows), 1))
        self._starts: dict[int, tuple[WealthT, int]] = {}
        """By number of a proof, the wealth that it started from, and after how many rounds."""
        self._proven: dict[tuple[int, float], tuple[WealthT, int]] = {}
        """By number of a proof and slack, the wealth so far, and after how many rounds."""

    @abstractmethod
    def _begun(self) -> WealthT:
        """Return the wealth that a proof starts from now."""

    @abstractmethod
    def _settle_proof(self, wealth: WealthT, played: Played, slack: float) -> None:
        """Add a round to the wealth of a proof."""

    def begin(self, proof: Proof) -> None:
        """Begin a proof."""
        self._starts[proof.number] = self._begun(), len(self._history)

    def proven(self, proof: Proof, slack: float) -> WealthT:
        """Return the wealth of a proof after the last round."""
        wealth, settled = self._proven.get((proof.number, slack)) or deepcopy(self._starts[proof.number])
        for played in self._history[settled:]:
            own = np.array_equal(played.champion, proof.champion)
            if own or self._forget:
                self._settle_proof(wealth, played, slack if own else 0.0)
        self._proven[proof.number, slack] = wealth, len(self._history)
        return wealth

    @property
    @abstractmethod
    def _contenders(self) -> Mask:
        """Mark the rivals known that may be the winner."""

    def clearness(self, prospects: Prospects) -> float:
        """Return by how many standard errors the champion is ahead of every possible winner known."""
        gaps, noise = self._expected(prospects)
        rivals = self._contenders & (noise > 1e-12)
        return float((gaps[rivals] / np.sqrt(noise[rivals])).min(initial=np.inf))

    def shortness(self, prospects: Prospects) -> float:
        """Return by how much the champion may fall short of a rival known, within two standard errors."""
        gaps, noise = self._expected(prospects)
        return float((2 * np.sqrt(noise) - gaps).max(initial=0.0))

    def _expected(self, prospects: Prospects) -> tuple[Vector, Vector]:
        """Return the estimate of D for each rival, and its variance."""
        return self._over(prospects.gaps), self._over(prospects.noise, prospects.noise_of_both)

    def _allocated(self, stakes: Stakes, rivals: Mask, squares: Vector, used: Mask) -> Vector:
        """Return the best allocation for some of the rivals, and move their shares towards it."""
        shares = self._shares[rivals]
        omega = allocation(stakes, self.rows[rivals], squares[rivals], shares, used)
        self._shares[rivals] = shares
        return omega

    def _over(self, per_edge: Vector, of_both: Vector | None = None) -> Vector:
        """Sum over the edges of each rival, and over the pairs that it uses both edges of."""
        sums: Vector = over(self.rows, per_edge)
        if of_both is None:
            return sums
        return np.asarray(np.maximum(sums + of_both[self._pairs_within()].sum(axis=1), 0.0))

    def _pairs_within(self) -> Indices:
        """Return the pairs that each rival uses both edges of."""
        return pairs_within(self._graph, self.rows)


def most_duels(
    lacking: Vector, gaps: Vector, noise: Vector, spread: Vector, slack: float, rivals: Mask
) -> float:
    """Return how many duels the slowest of the rivals marked still needs, if the estimates are right.

    ``lacking`` is the wealth that each of them lacks, in logarithms.
    """
    squares = (np.maximum(gaps, 0.0) + slack) ** 2 + OPTIMISM * noise
    return float(np.max((lacking * 2 * spread)[rivals] / squares[rivals]))


class ListedRivals(Rivals["Ledger"]):
    """The rivals, the wealth against each being the winner, and against each beating the champion."""

    def __init__(
        self,
        graph: Graph,
        rows: Indices,
        forget: bool,
        history: list[Played],
        wealth: Vector | None = None,
        proofs: Mapping[tuple[int, float], Vector] = MappingProxyType({}),
        pairs: Pairs | None = None,
    ) -> None:
        """List them, with the wealth so far against them and in the proofs, if there is any.

        Where ``pairs`` are given, each rival has an opponent of its own.
        """
        super().__init__(graph, rows, forget, history)
        self._opponents = None if pairs is None else Opponents(pairs)
        self.possible: Mask = np.ones(len(rows), dtype=np.bool_)
        self._base = Ledger(np.zeros(len(rows)) if wealth is None else wealth)
        for key, log_wealth in proofs.items():
            self._proven[key] = Ledger(log_wealth), len(history)
        self._within: Indices | None = None
        self._matches: Matches | None = None
        self._omega = np.zeros(0)

    def _begun(self) -> Ledger:
        return Ledger(self._base.wealth if self._forget else np.zeros(len(self.rows)))

    @property
    def _contenders(self) -> Mask:
        return self.possible

    def _pairs_within(self) -> Indices:
        if self._within is None:
            self._within = super()._pairs_within()
        return self._within

    @property
    def _used(self) -> Mask:
        """Mark the edges of the rivals listed."""
        used = np.zeros(self._graph.edges, dtype=np.bool_)
        used[self.rows.ravel()] = True
        return used

    def plan(
        self,
        stakes: Stakes,
        prospects: Prospects,
        proof: Proof | None,
        slack: float,
        threshold: float,
        beliefs: Beliefs,
    ) -> Vector:
        """Return the share of the duels for each pair; in a proof, for rivals below the threshold."""
        if self._opponents is None:
            return self._plan(stakes, prospects, proof, slack, threshold)
        fixed = proof is not None or slack > 0
        if fixed:
            self._omega = self._plan(stakes, prospects, proof, slack, threshold)
        self._matches = self._opponents.choose(self.rows, self._shares, beliefs, self._omega, fixed)
        if not fixed:
            told = stakes.told(self._used)
            self._omega = self._opponents.design(self._matches, self.possible, self._shares, self._used, told)
        return self._omega

    def _plan(
        self, stakes: Stakes, prospects: Prospects, proof: Proof | None, slack: float, threshold: float
    ) -> Vector:
        gaps, noise = self._expected(prospects)
        wanted = self.possible
        if proof is not None:
            wanted = (self.possible | (not self._forget)) & (self.proven(proof, slack).peak < threshold)
        rivals = wanted & (noise > 1e-12)
        if not rivals.any():
            rivals = noise > 1e-12
        squares = squared_margins(gaps, slack) + OPTIMISM * noise
        omega = self._allocated(stakes, rivals, squares, self._used)
        if slack > 0 and not stakes.pairs.several:
            return levelled(omega, stakes, self.rows[rivals], np.sqrt(squares[rivals]))
        return omega

    def settle(self, played: Played) -> None:
        """Settle the bets of a round against each rival being the winner."""
        if self._opponents is None or self._matches is None:
            self._base.settle(played, self.rows, self._bets(played, 0.0))
            return
        matches = self._matches
        looks, spread, worst = matches.looks(self._omega)
        wanted = bets(matches.gaps, matches.noise, spread, worst, 0.0, FIXED_GAPS)
        wins, losses = self._opponents.counts(played.drawn)
        self._base.settle_matches(wanted, matches.pair, looks, wins, losses)

    def _settle_proof(self, ledger: Ledger, played: Played, slack: float) -> None:
        ledger.settle(played, self.rows, self._bets(played, slack), slack)

    def _bets(self, played: Played, slack: float) -> NDArray[np.float64]:
        gaps, noise = self._expected(played.prospects)
        spread = self._over(played.spread, played.spread_of_both)
        worst = highest(self.rows, played.worst)
        foreseen = over(self.rows, played.foreseen)
        spread, worst = spread + foreseen**2, worst - np.minimum(foreseen + slack, 0.0)
        fixed = FIXED_GAPS if slack == 0.0 else FIXED_PARTS * slack
        wanted: NDArray[np.float64] = bets(gaps, noise, spread, worst, slack, fixed)
        return wanted

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
            self._matches = None if self._matches is None else self._matches.kept(kept)
            proven = (ledger for ledger, _ in (*self._starts.values(), *self._proven.values()))
            for ledger in (self._base, *proven):
                ledger.keep(kept)
        return rejected

    def edges(self) -> Mask:
        """Mark the edges of the possible winners."""
        used = np.zeros(self._graph.edges, dtype=np.bool_)
        used[self.rows[self.possible].ravel()] = True
        return used

    def shared(self) -> Mask:
        """Mark the edges that all possible winners use."""
        users = np.bincount(self.rows[self.possible].ravel(), minlength=self._graph.edges)
        return np.asarray((users > 0) & (users == self.left))

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
        """Return the least peak of the wealth against a possible winner other than the champion."""
        return float(self._base.peak[self.possible & self._others(champion)].min(initial=np.inf))

    def poorest_of(self, proof: Proof, slack: float) -> float:
        """Return the least peak of a proof's wealth against a rival in question."""
        rivals = self._others(proof.champion) & (self.possible | (not self._forget))
        return float(self.proven(proof, slack).peak[rivals].min(initial=np.inf))

    def duels_left(
        self, play: Play, prospects: Prospects, proof: Proof | None, slack: float, threshold: float
    ) -> float:
        """Return how many duels the slowest rival still needs, if the estimates are right."""
        gaps, noise = self._expected(prospects)
        spread = self._over(play.spread, play.spread_of_both)
        if proof is None and slack == 0 and self._matches is not None:
            _, spread, _ = self._matches.looks(self._omega)
            gaps, noise = self._matches.gaps, self._matches.noise
        rivals, ledger = self.possible & (spread > 1e-12), self._base
        if proof is not None:
            ledger = self.proven(proof, slack)
            rivals = (self.possible | (not self._forget)) & (spread > 1e-12)
        if not rivals.any():
            return 0.0
        lacking = np.where(ledger.peak < threshold, threshold - ledger.wealth, 0.0)
        return most_duels(lacking, gaps, noise, spread, slack, rivals)

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

    def settle_matches(
        self,
        bets: NDArray[np.float64],
        pair: Indices,
        looks: NDArray[np.float64],
        wins: NDArray[np.int64],
        losses: NDArray[np.int64],
    ) -> None:
        """Settle the bets of a round on an opponent for each rival."""
        settle_matches(self._logs, bets, pair, looks, wins, losses)
        _note_peaks(self._logs, self.peak)

    def settle(self, played: Played, rivals: Indices, bets: NDArray[np.float64], slack: float = 0.0) -> None:
        """Settle the bets of a round."""
        always, used = slack + over(rivals, played.foreseen), np.zeros(len(played.foreseen), dtype=np.bool_)
        _settle(rivals, used, played.several, self._logs, bets, played.drawn, always, played.expected)
        _note_peaks(self._logs, self.peak)


@njit(cache=True)  # type: ignore[untyped-decorator]
def bets(
    gaps: Vector, noise: Vector, spread: Vector, worst: Vector, slack: float, fixed: Vector
) -> NDArray[np.float64]:
    """Return lambda per rival and gambler: the one who learns, and those who take the gap to be ``fixed``.

    ``gaps`` and ``noise`` are the estimates of D(B) and their variances, ``spread`` is v(B), and ``worst``
    bounds |Y|, so that no bet can lose everything; where it is infinite, nothing is bet.
    """
    wanted = np.zeros((len(gaps), 1 + len(fixed)))
    for rival in range(len(gaps)):
        if spread[rival] > 0 and worst[rival] > 0:
            most = NO_RUIN / worst[rival]
            gain = max(gaps[rival] + slack, 0.0)
            square = gain * gain
            learned = gain * square / max(square + CAUTION * noise[rival], 1e-300)
            wanted[rival, 0] = min(learned / spread[rival], most)
            for gambler in range(len(fixed)):
                wanted[rival, gambler + 1] = min(fixed[gambler] / spread[rival], most)
    return wanted


@njit(cache=True)  # type: ignore[untyped-decorator]
def _settle(
    rivals: Indices,
    used: Mask,
    several: bool,
    logs: NDArray[np.float64],
    bets: NDArray[np.float64],
    drawn: Drawn,
    always: Vector,
    expected: Vector,
) -> None:
    """Add log(1 + lambda (Y + slack)) of every duel, for every rival and gambler.

    ``always`` is what counts against a rival whatever the answer: the slack, and what is foreseen of Y.
    With ``several`` seats a rival may use both edges of a pair. ``used`` is room to mark a rival's edges.
    """
    pair_first, pair_second, neither, first, second, wins, losses, ties = drawn
    for rival in range(len(rivals)):
        used[rivals[rival]] = True
        given = always[rival]
        for pair in range(len(pair_first)):
            value = neither[pair]
            one, other = used[pair_first[pair]], used[pair_second[pair]]
            if several:
                if one:
                    value += first[pair] - neither[pair]
                if other:
                    value += second[pair] - neither[pair]
            elif one or other:
                value = first[pair] if one else second[pair]
            if value == 0.0 and given == 0.0:
                continue
            even = given - value * expected[pair]
            for gambler in range(bets.shape[1]):
                bet = bets[rival, gambler]
                logs[rival, gambler] += wins[pair] * np.log1p(bet * (even + value))
                logs[rival, gambler] += losses[pair] * np.log1p(bet * (even - value))
                if ties[pair]:
                    logs[rival, gambler] += ties[pair] * np.log1p(bet * even)
        used[rivals[rival]] = False


@njit(cache=True)  # type: ignore[untyped-decorator]
def _note_peaks(logs: NDArray[np.float64], peak: Vector) -> None:
    """Note where the wealth of all gamblers together is higher than it has ever been."""
    for rival in range(len(logs)):
        highest = -np.inf
        for gambler in range(logs.shape[1]):
            highest = max(highest, logs[rival, gambler] + LOG_SHARES[gambler])
        total = 0.0
        for gambler in range(logs.shape[1]):
            total += np.exp(logs[rival, gambler] + LOG_SHARES[gambler] - highest)
        peak[rival] = max(peak[rival], highest + np.log(total))
