"""The bets against every rival that a design stands for: a formula of the record, and of who is a rival.

A ballot says, of every rival B of the champion,

    Y(B) = sum over the pairs on the ballot of  c_pair(B) / pi_pair  (X_pair - 1/2),

whose mean is D(champion, B) if every pair with c_pair(B) != 0 had a chance (docs/algorithms/ballots.md,
Lemma 1). The factor is 1 + lambda(B) (Y(B) + slack) for five gamblers, as in
:mod:`duelmatch.explorers.frugal.listed`, with

    gap(B)    = sum c_pair(B) advantage_pair              the estimate of D,
    noise(B)  = sum c_pair(B)^2 variance_pair             its variance,
    spread(B) = dispersion sum c_pair(B)^2 / (4 pi_pair)  the second moment of Y,
    worst(B)  = the sum of the ``size`` largest |c_pair(B)| / (2 pi_pair), a bound on |Y|,

lambda = min(gain / spread, 0.9 / worst), where gain is the gap, shrunk while it is uncertain, for the first
gambler and 0.05, 0.1, 0.2, 0.4 for the others. All lambda are 0, and the factor is 1, if a pair that tells
about B had no chance, or if the champion is not a line-up any more because one of its candidates has left.

Where a position has k seats, c_pair(B) is affine in which of the two edges B uses. What it is with neither is
split between the seats, so that Y(B) is a sum over the edges of B all the same (:meth:`Odds.of`). An answer
that is missing then takes the worst for each edge by itself, which is at most the worst for B. The sums of
squares and ``worst``, which are no sums over edges, are worked out rival by rival.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.ballots.records import Design
from duelmatch.explorers.frugal.listed import bets
from duelmatch.explorers.frugal.stakes import Pairs, Stakes, over
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.counted import counted
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.reference import NO_REFERENCE, ReferenceName, reference_of, scaled
from duelmatch.preferences import Criterion

FIXED_GAPS = np.array([0.05, 0.1, 0.2, 0.4])
LOG_SHARES = np.log(np.array([0.5, 0.125, 0.125, 0.125, 0.125]))
"""What four of the gamblers take the gap for, and what each has at first; the learning one comes first."""

AT_ONCE = 1000
"""Rivals that are worked on together, for the sake of the memory."""


class Contest:
    """Who can win now, and by what criterion: the hypotheses that the bets are against.

    ``staying`` marks the edges of candidates who have not left. Rewards are over the line-ups that are left,
    or against another reference, of the candidates that are left: given shares are scaled up to 1 again.
    """

    def __init__(
        self,
        graph: Graph,
        criterion: Criterion,
        staying: Mask | None = None,
        reference: ReferenceName | Vector = "decisions",
        seed: int = 0,
    ) -> None:
        staying = np.ones(graph.edges, dtype=np.bool_) if staying is None else staying
        kept = np.flatnonzero(staying)
        left = graph.part(staying)
        self.graph = graph
        self.criterion = criterion
        self.staying = staying
        self.usable: Mask = np.zeros(graph.edges, dtype=np.bool_)
        self.usable[kept] = decisions_of(left).usable
        self.marginals = np.zeros(graph.edges)
        self.reference = NO_REFERENCE
        if criterion == "borda":
            if isinstance(reference, str):
                self.reference = counted(reference_of, left, reference, seed)
            else:
                self.reference = reference_of(left, scaled(left, reference[kept]))
            self.marginals[kept] = self.reference.shares * left.seats[left.edge_position]
        self.pairs = Pairs(graph)

    def stakes(self, champion: Indices) -> Stakes:
        """Return c_pair for a champion."""
        if self.criterion == "borda":
            return Stakes.borda(self.pairs, champion, self.marginals)
        return Stakes.condorcet(self.pairs, champion)

    def rivals(self, at_most: int) -> Indices | None:
        """List the matchings that can win, a row each; None if there are more than ``at_most``."""
        return decisions_of(self.graph).listed(self.usable, at_most)


class PerPair(NamedTuple):
    """Numbers for every pair, for rivals that use neither of its edges, its first, or its second."""

    pair_first: Indices
    pair_second: Indices
    position: Indices
    start: Indices
    neither: Vector
    first: Vector
    second: Vector

    @classmethod
    def of(cls, contest: Contest, neither: Vector, first: Vector, second: Vector) -> PerPair:
        """Put down the numbers with the pairs of a contest."""
        pairs = contest.pairs
        return cls(pairs.first, pairs.second, pairs.position, contest.graph.start, neither, first, second)


@dataclass(frozen=True, slots=True, eq=False)
class Odds:
    """What a ballot of one design says about every edge, per unit of X - 1/2: c / pi of each pair.

    ``spread``, ``gap`` and ``noise`` are per edge, and add up over the edges of a rival. ``void`` marks the
    edges about which a pair tells that had no chance.
    """

    told: PerPair
    gap: Vector
    noise: Vector
    spread: Vector
    void: Mask

    @classmethod
    def of(cls, design: Design, contest: Contest) -> Odds:
        """Work them out for the line-ups that are left."""
        stakes, pairs, inverse = contest.stakes(design.champion), contest.pairs, _inverse(design.chances)
        neither, first, second = stakes.neither, stakes.first, stakes.second
        void = np.zeros(contest.graph.edges, dtype=np.bool_)
        if not contest.staying[design.champion].all():
            void[:] = True
        elif not pairs.several:  # else that depends on which two edges a rival uses
            _mark_void(PerPair.of(contest, neither, first, second), design.chances > 0, void)
        if pairs.several:
            shared = neither * (1.0 - 1.0 / contest.graph.seats[pairs.position])
            neither, first, second = neither - shared, first - shared, second - shared
        return cls(
            PerPair.of(contest, neither * inverse, first * inverse, second * inverse),
            stakes.sums(design.advantage),
            stakes.sums(design.variance, squared=True),
            design.dispersion * stakes.sums(0.25 * inverse, squared=True),
            void,
        )

    def largest(self, size: int) -> NDArray[np.float64]:
        """Return, for every edge, the largest |c| / (2 pi) of the pairs at its position, in order."""
        largest: NDArray[np.float64] = _largest(self.told, size)
        return largest


def _inverse(chances: Vector) -> Vector:
    """Return 1 / pi, and 0 for the pairs that cannot be drawn."""
    return np.asarray(np.where(chances > 0, 1.0 / np.where(chances > 0, chances, 1.0), 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Bets:
    """The bets of a design against rivals one by one."""

    odds: Odds
    base: NDArray[np.float64]
    """lambda by rival and gambler."""
    proof: NDArray[np.float64]
    """The same for bets with the slack."""
    spread: Vector
    """The second moment of Y, as planned, by rival."""

    @classmethod
    def of(cls, design: Design, contest: Contest, rows: Indices, slack: float) -> Bets:
        """Work out the bets against the matchings listed."""
        odds = Odds.of(design, contest)
        moments = _moments_of_seats if contest.pairs.several else _moments
        gaps, noise, spread, worst = moments(design, contest, rows, odds)
        worst[odds.void[rows].any(axis=1)] = np.inf  # no bet
        base = bets(gaps, noise, spread, worst, 0.0, FIXED_GAPS)
        proof = bets(gaps, noise, spread, worst, slack, FIXED_GAPS) if slack else base
        return cls(odds, base, proof, spread)


def _moments(design: Design, contest: Contest, rows: Indices, odds: Odds) -> tuple[Vector, ...]:
    """Return gap, noise, spread and worst of every rival."""
    worst = _worst(rows, odds.largest(design.size), design.size, design.one_position)
    return over(rows, odds.gap), over(rows, odds.noise), over(rows, odds.spread), worst


def _moments_of_seats(design: Design, contest: Contest, rows: Indices, odds: Odds) -> tuple[Vector, ...]:
    """Return the same where a rival may use both edges of a pair."""
    stakes, pairs = contest.stakes(design.champion), contest.pairs
    drawable, quarter = design.chances > 0, 0.25 * _inverse(design.chances)
    per_edge = np.where(
        contest.graph.edge_position[:, None] == pairs.position, np.abs(odds.told.neither) / 2, 0.0
    )
    numbers = np.arange(pairs.count)
    per_edge[pairs.first, numbers] = np.abs(odds.told.first) / 2
    per_edge[pairs.second, numbers] = np.abs(odds.told.second) / 2
    gaps, noise, spread, worst = np.zeros((4, len(rows)))
    for begin in range(0, len(rows), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        uses = contest.graph.uses(rows[part])
        one, other = uses[:, pairs.first], uses[:, pairs.second]
        with_first = np.where(other, stakes.first + stakes.second - stakes.neither, stakes.first)
        values = np.where(one, with_first, np.where(other, stakes.second, stakes.neither))
        gaps[part], noise[part] = values @ design.advantage, values**2 @ design.variance
        spread[part] = design.dispersion * (values**2 @ quarter)
        worst[part] = -np.sort(-(uses @ per_edge), axis=1)[:, : design.size].sum(axis=1)
        worst[part][(values[:, ~drawable] != 0).any(axis=1)] = np.inf
    worst[spread == 0.0] = 0.0
    return gaps, noise, spread, worst


@njit(cache=True)  # type: ignore[untyped-decorator]
def _mark_void(stakes: PerPair, drawable: Mask, void: Mask) -> None:
    """Mark the edges about which a pair tells that cannot be drawn."""
    for pair in range(len(drawable)):
        if drawable[pair]:
            continue
        one, other, position = stakes.pair_first[pair], stakes.pair_second[pair], stakes.position[pair]
        if stakes.neither[pair] != 0.0:
            for edge in range(stakes.start[position], stakes.start[position + 1]):
                if edge != one and edge != other:
                    void[edge] = True
        if stakes.first[pair] != 0.0:
            void[one] = True
        if stakes.second[pair] != 0.0:
            void[other] = True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _largest(told: PerPair, size: int) -> NDArray[np.float64]:
    """Return an edges x size table of |c| / (2 pi) in descending order.

    A pair tells the same about all edges but its own two, so the pairs are put in order once for all edges of
    a position: with a hundred thousand pairs, every edge on its own would take a second.
    """
    positions, start, neither = len(told.start) - 1, told.start, told.neither
    table = np.zeros((start[positions], size))
    begin = np.searchsorted(told.position, np.arange(positions + 1))
    for position in range(positions):
        ordered = begin[position] + np.argsort(-np.abs(neither[begin[position] : begin[position + 1]]))
        for pair in range(begin[position], begin[position + 1]):
            _insert(table[told.pair_first[pair]], abs(told.first[pair]) / 2)
            _insert(table[told.pair_second[pair]], abs(told.second[pair]) / 2)
        for edge in range(start[position], start[position + 1]):
            for pair in ordered:
                value = abs(neither[pair]) / 2
                if value <= table[edge, size - 1]:
                    break
                if edge != told.pair_first[pair] and edge != told.pair_second[pair]:
                    _insert(table[edge], value)
    assert begin[positions] == len(neither)
    return table


@njit(cache=True)  # type: ignore[untyped-decorator]
def _insert(row: Vector, value: float) -> None:
    """Put a value where it belongs in a row in descending order, whose last one is dropped."""
    place = len(row) - 1
    if value <= row[place]:
        return
    while place > 0 and row[place - 1] < value:
        row[place] = row[place - 1]
        place -= 1
    row[place] = value


@njit(cache=True)  # type: ignore[untyped-decorator]
def _worst(rows: Indices, largest: NDArray[np.float64], size: int, one_position: bool) -> Vector:
    """Return the largest |Y| that a ballot of ``size`` pairs can have, for every rival."""
    count, positions = rows.shape
    worst = np.zeros(count)
    for rival in range(count):
        if one_position:
            for position in range(positions):
                worst[rival] = max(worst[rival], largest[rows[rival, position]].sum())
            continue
        taken = np.zeros(positions, dtype=np.int64)
        for _ in range(size):
            best, where = 0.0, -1
            for position in range(positions):
                if taken[position] < size:
                    value = largest[rows[rival, position], taken[position]]
                    if value > best:
                        best, where = value, position
            if where < 0:
                break
            worst[rival] += best
            taken[where] += 1
    return worst
