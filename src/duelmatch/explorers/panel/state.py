"""What the judges of a panel think, as far as they have said, and the count of each pair.

Only opinions of judges who judge the pair are counted:

    ahead - behind + (open) is what first has over second at most, ahead - behind - (open) what it has at
    least,

in units of a judge's weight. Pairs may be judged by different judges, so for sums over positions everything
is brought to a common denominator: ``scale`` is a common multiple of the weights J of all pairs, and a vote
at a pair counts ``factor`` = scale / J. Then p - 1/2 = factor (ahead - behind) / (2 scale) in whole numbers.
Where a position counts v and has k seats, one of its pairs counts v / k^2: ``factor`` is then multiplied by
that, in whole numbers, and so is the ``unit`` in which sums are read.

The opinions are what was said and, of consistent judges, what follows from it. Nothing here depends on the
order of the answers, except that the last one on a pair counts.

**What follows.** A judge's opinion on a pair is that its first edge is better (1), its second is (-1), or
that there is no difference (0); UNKNOWN until something says so. Answers say "at least as good as"; a chain
of these leads from one candidate to another. What follows is what chains say in one direction only:

- a chain from x to y and none back: x is better. (A chain of "no difference" could be walked back.)
- chains both ways, and all of them say "no difference": there is none.
- chains both ways with a "better" among them: the judge contradicts this ranking, and nothing follows.

An answer that was given always stands. So the closure is a function of the answers alone, in whatever order
they came: a new answer that agrees with it never takes anything back, and one that contradicts it takes back
what had been inferred, never what was said.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.graph import Graph, Indices, Mask

Weights = NDArray[np.int64]
Opinions = NDArray[np.int8]

UNKNOWN = 2
"""The compiled functions have it as a number."""


class PanelState:
    """The opinions of V judges on K pairs, and the count of each pair.

    ``judged`` marks the pairs that a judge judges (V x K). Those who are ``silent`` answer nothing more: the
    pairs on which their opinion is unknown are not counted.
    """

    def __init__(
        self,
        graph: Graph,
        judged: Mask,
        weight: Weights,
        consistent: bool,
        said: Opinions | None = None,
        silent: Mask | None = None,
    ) -> None:
        self.graph = graph
        self.consistent = consistent
        self.judged = judged
        self.weight = weight
        self.silent: Mask = np.zeros(len(weight), dtype=np.bool_) if silent is None else silent
        self.open_to: Mask = judged & ~self.silent[:, None]
        """Where an opinion that is unknown may still come (V x K)."""
        table = graph.pair_table
        self.first, self.second, self.position = table.first, table.second, table.position
        self.pairs = table.count
        self.pair_start: Indices = np.searchsorted(table.position, np.arange(graph.positions + 1))
        weights = [Fraction(str(float(v))) for v in graph.weight]
        per_pair = [v / int(k) ** 2 for v, k in zip(weights, graph.seats.tolist(), strict=True)]
        common = lcm(*(fraction.denominator for fraction in per_pair))
        self._counts = [int(fraction * common) for fraction in per_pair]
        self._counted_in = common * sum(weights, Fraction(0)) / graph.positions
        self.said: Opinions = np.full(judged.shape, UNKNOWN, dtype=np.int8) if said is None else said
        self.said[~judged] = UNKNOWN  # what does not count is no reason for anything either
        self.opinion: Opinions = self.said.copy()
        self.ahead: Weights = np.zeros(self.pairs, dtype=np.int64)
        self.behind: Weights = np.zeros(self.pairs, dtype=np.int64)
        self.open: Weights = np.zeros(self.pairs, dtype=np.int64)
        if consistent:
            _close_all(self.said, self.pair_start, graph.degrees, self.opinion)
        self.changed: set[int] = set(range(graph.positions))
        """Positions whose count has changed since the reader last cleared this."""
        self._recount()

    def tell(self, judge: int, position: int, pairs: Indices, values: Opinions) -> None:
        """Record opinions on pairs of a position; UNKNOWN takes one back."""
        self.said[judge, pairs] = np.where(self.judged[judge, pairs], values, UNKNOWN)
        self.changed.add(position)
        at = slice(int(self.pair_start[position]), int(self.pair_start[position + 1]))
        before = self.opinion[judge, at].copy()
        if self.consistent:
            close(self.said[judge, at], int(self.graph.degrees[position]), self.opinion[judge, at])
        else:
            self.opinion[judge, at] = self.said[judge, at]
        if self.silent[judge]:
            self._recount()
            return
        _count(
            before, self.opinion[judge, at], self.judged[judge, at], int(self.weight[judge]),
            self.ahead[at], self.behind[at], self.open[at],
        )  # fmt: skip

    def edges_of(self, pair: int) -> list[int]:
        """Return the two edges of a pair."""
        return [int(self.first[pair]), int(self.second[pair])]

    @property
    def unknown(self) -> Mask:
        """The opinions that are counted as open (V x K)."""
        unknown: Mask = self.open_to & (self.opinion == UNKNOWN)
        return unknown

    @property
    def counted(self) -> Mask:
        """Whose opinion is counted on which pair, known or open (V x K)."""
        counted: Mask = self.open_to | (self.judged & (self.opinion != UNKNOWN))
        return counted

    @property
    def inferred(self) -> bool:
        """Whether an opinion is counted that nobody has said."""
        return bool((self.judged & (self.said == UNKNOWN) & (self.opinion != UNKNOWN)).any())

    def _recount(self) -> None:
        """Count from the opinions, and find the common denominator."""
        weight, counted = self.weight[:, None], self.counted
        for value, count in ((1, self.ahead), (-1, self.behind), (UNKNOWN, self.open)):
            count[:] = (weight * (counted & (self.opinion == value))).sum(axis=0)
        self.total: Weights = (weight * counted).sum(axis=0)
        self.scale = lcm(*{int(total) for total in np.unique(self.total)} - {0})
        factors = {int(total): self.scale // int(total) for total in np.unique(self.total) if total}
        self.largest = self.scale * max(self._counts)
        """The most that a pair can count."""
        self.unit: Fraction = 2 * self.scale * self._counted_in
        """What a sum of 1 over the positions means: their mean p - 1/2, times their number, is 1 / unit."""
        dtype = np.int64 if self.largest < 1 << 60 else object
        counts = zip(self.total.tolist(), self.position.tolist(), strict=True)
        self.factor = np.array([factors.get(total, 0) * self._counts[j] for total, j in counts], dtype=dtype)
        self.changed |= set(range(self.graph.positions))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _close_all(said: Opinions, pair_start: Indices, degrees: Indices, opinion: Opinions) -> None:
    for judge in range(len(said)):
        for position in range(len(degrees)):
            low, high = pair_start[position], pair_start[position + 1]
            close(said[judge, low:high], degrees[position], opinion[judge, low:high])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _count(
    before: Opinions,
    after: Opinions,
    judged: Mask,
    weight: int,
    ahead: Weights,
    behind: Weights,
    open_: Weights,
) -> None:
    """Move a judge's weight from where it was counted to where it is counted now."""
    for pair in range(len(before)):
        if before[pair] != after[pair] and judged[pair]:
            for value, sign in ((before[pair], -1), (after[pair], 1)):
                if value == 1:
                    ahead[pair] += sign * weight
                elif value == -1:
                    behind[pair] += sign * weight
                elif value == 2:
                    open_[pair] += sign * weight


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
def close(said: Opinions, degree: int, opinion: Opinions) -> None:
    """Fill in the opinions on the pairs of one position that follow from those that were said.

    Chains are found by Warshall's algorithm, on rows of bits: a row has the candidates that one is at least
    as good as.
    """
    opinion[:] = said
    known = 0
    for pair in range(len(said)):
        known += said[pair] != 2
    if known < 2 or known == len(said):
        return
    words = (degree + 63) // 64
    one_bit = np.uint64(1)
    reach = np.zeros((degree, words), dtype=np.uint64)
    pair = 0
    for one in range(degree):
        for other in range(one + 1, degree):
            if said[pair] == 0 or said[pair] == 1:
                reach[one, other >> 6] |= one_bit << np.uint64(other & 63)
            if said[pair] == 0 or said[pair] == -1:
                reach[other, one >> 6] |= one_bit << np.uint64(one & 63)
            pair += 1
    for middle in range(degree):
        word, bit = middle >> 6, np.uint64(middle & 63)
        for one in range(degree):
            if (reach[one, word] >> bit) & one_bit:
                for each in range(words):
                    reach[one, each] |= reach[middle, each]
    tangled = np.zeros(degree, dtype=np.bool_)  # on a circle with a "better" in it
    pair = 0
    for one in range(degree):
        for other in range(one + 1, degree):
            if said[pair] == 1 or said[pair] == -1:
                high, low = (one, other) if said[pair] == 1 else (other, one)
                if (reach[low, high >> 6] >> np.uint64(high & 63)) & one_bit:
                    tangled[one] = tangled[other] = True
            pair += 1
    pair = -1
    for one in range(degree):
        for other in range(one + 1, degree):
            pair += 1
            if said[pair] != 2:
                continue
            down = (reach[one, other >> 6] >> np.uint64(other & 63)) & one_bit
            up = (reach[other, one >> 6] >> np.uint64(one & 63)) & one_bit
            if down and up:
                if not _any_tangled(reach, tangled, one, degree):
                    opinion[pair] = 0
            elif down:
                opinion[pair] = 1
            elif up:
                opinion[pair] = -1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _any_tangled(reach: NDArray[np.uint64], tangled: Mask, one: int, degree: int) -> bool:
    """Whether a candidate that is level with this one, by chains both ways, is on a contradictory circle."""
    one_bit = np.uint64(1)
    for other in range(degree):
        if tangled[other]:
            down = (reach[one, other >> 6] >> np.uint64(other & 63)) & one_bit
            up = (reach[other, one >> 6] >> np.uint64(one & 63)) & one_bit
            if down and up:
                return True
    return False
