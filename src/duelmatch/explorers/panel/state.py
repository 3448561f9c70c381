"""What the judges of a panel have said: every answer, what follows from it, and the count of each pair.

A judge's opinion on a pair is that its first edge is better (1), its second is (-1), or that there is no
difference (0); UNKNOWN until it is told. Only opinions of judges who judge the pair are counted:

    ahead - behind + (open) is what first has over second at most, ahead - behind - (open) what it has at
    least,

in units of a judge's weight. Pairs may be judged by different judges, so for sums over positions everything
is brought to a common denominator: ``scale`` is a common multiple of the weights J of all pairs, and a vote
at a pair counts ``factor`` = scale / J. Then p - 1/2 = factor (ahead - behind) / (2 scale) in whole numbers.

Consistency. A judge's opinions at a position are taken to be a ranking with ties. If x is at least as good as
a, a at least as good as b and b at least as good as y, then x is at least as good as y, and better if one of
the three is strict. What follows is counted like an answer. Questions are about unknown pairs only, and a
pair that is unknown after this closure can still turn out any of three ways, so an answer never contradicts
what was inferred before. One that does (it was asked for before the inference, or is part of a longer
ranking) is not counted for that pair: what was counted once is never retracted.
"""

from __future__ import annotations

from math import lcm

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.graph import Graph, Indices, Mask

Opinions = NDArray[np.int8]
Weights = NDArray[np.int64]

UNKNOWN = 2


class PanelState:
    """The opinions of V judges on K pairs, and the count of each pair."""

    def __init__(self, graph: Graph, judged: Mask, weight: Weights, consistent: bool) -> None:
        self.graph = graph
        self.consistent = consistent
        self.judged = judged.copy()
        self.weight = weight
        table = graph.pair_table
        self.first, self.second, self.position = table.first, table.second, table.position
        self.pairs = table.count
        self.pair_start: Indices = np.searchsorted(table.position, np.arange(graph.positions + 1))
        self.opinion: Opinions = np.full(judged.shape, UNKNOWN, dtype=np.int8)
        self.ahead: Weights = np.zeros(self.pairs, dtype=np.int64)
        self.behind: Weights = np.zeros(self.pairs, dtype=np.int64)
        self.open: Weights = np.zeros(self.pairs, dtype=np.int64)
        self.changes = 0
        """How often judges were taken out of pairs: bounds that hold for good hold until then."""
        self._recount()

    def tell(self, judge: int, better: int, worse: int, tie: bool) -> int:
        """Record an opinion on two edges of a position; return how many opinions are newly known."""
        start = int(self.graph.start[self.graph.edge_position[better]])
        position = int(self.graph.edge_position[better])
        return int(
            record(
                self.opinion[judge],
                self.judged[judge],
                int(self.pair_start[position]),
                int(self.graph.degrees[position]),
                better - start,
                worse - start,
                tie,
                self.consistent,
                int(self.weight[judge]),
                self.ahead,
                self.behind,
                self.open,
            )
        )

    def withdraw(self, judge: int, pairs: Mask) -> None:
        """Take a judge out of those of these pairs on which the judge's opinion is unknown: J shrinks."""
        self.judged[judge] &= ~(pairs & (self.opinion[judge] == UNKNOWN))
        self.changes += 1
        self._recount()

    def _recount(self) -> None:
        """Count from the opinions, and find the common denominator."""
        weight = self.weight[:, None]
        for value, count in ((1, self.ahead), (-1, self.behind), (UNKNOWN, self.open)):
            count[:] = (weight * (self.judged & (self.opinion == value))).sum(axis=0)
        self.total: Weights = (weight * self.judged).sum(axis=0)
        self.scale = lcm(*{int(total) for total in np.unique(self.total)} - {0})
        factors = {int(total): self.scale // int(total) for total in np.unique(self.total) if total}
        dtype = np.int64 if self.scale < 1 << 60 else object
        self.factor = np.array([factors.get(int(total), 0) for total in self.total], dtype=dtype)


@njit(cache=True)  # type: ignore[untyped-decorator]
def pair_at(start: int, degree: int, one: int, other: int) -> int:
    """Return the number of the pair of two candidates of a position, by their places there, one < other."""
    return start + one * (2 * degree - one - 1) // 2 + other - one - 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def opinion_of(opinion: Opinions, start: int, degree: int, one: int, other: int) -> int:
    """Return the opinion on one against other, in this order."""
    if one == other:
        return 0
    value: int = opinion[pair_at(start, degree, min(one, other), max(one, other))]
    oriented: int = value if one < other or value == 2 else -value
    return oriented


@njit(cache=True)  # type: ignore[untyped-decorator]
def record(
    opinion: Opinions,
    judged: Mask,
    start: int,
    degree: int,
    better: int,
    worse: int,
    tie: bool,
    consistent: bool,
    weight: int,
    ahead: Weights,
    behind: Weights,
    open_: Weights,
) -> int:
    """Write down an opinion on two places of a position, with all that follows; return how many are new."""
    if opinion_of(opinion, start, degree, better, worse) != 2:
        return 0
    if not consistent:
        value = 0 if tie else 1
        news: int = _settle(
            opinion, judged, start, degree, better, worse, value, weight, ahead, behind, open_
        )
        return news
    news = 0
    for turn in range(2 if tie else 1):
        high, low = (better, worse) if turn == 0 else (worse, better)
        above = np.empty(degree, dtype=np.int64)
        below = np.empty(degree, dtype=np.int64)
        for place in range(degree):
            above[place] = opinion_of(opinion, start, degree, place, high)
            below[place] = opinion_of(opinion, start, degree, low, place)
        for upper in range(degree):
            if above[upper] != 0 and above[upper] != 1:
                continue
            for lower in range(degree):
                if (below[lower] != 0 and below[lower] != 1) or upper == lower:
                    continue
                value = 0 if tie and above[upper] == 0 and below[lower] == 0 else 1
                news += _settle(
                    opinion, judged, start, degree, upper, lower, value, weight, ahead, behind, open_
                )
    return news


@njit(cache=True)  # type: ignore[untyped-decorator]
def _settle(
    opinion: Opinions,
    judged: Mask,
    start: int,
    degree: int,
    better: int,
    worse: int,
    value: int,
    weight: int,
    ahead: Weights,
    behind: Weights,
    open_: Weights,
) -> int:
    """Write down that better is better than worse (1) or equal (0), if nothing is known of them yet."""
    if better < worse:
        pair = pair_at(start, degree, better, worse)
    else:
        pair = pair_at(start, degree, worse, better)
        value = -value
    if opinion[pair] != 2:
        return 0
    opinion[pair] = value
    if judged[pair]:
        open_[pair] -= weight
        if value == 1:
            ahead[pair] += weight
        elif value == -1:
            behind[pair] += weight
    return 1
