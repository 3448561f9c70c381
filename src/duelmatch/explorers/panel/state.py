"""What the judges of a panel think, as far as they have said, and the count of each pair.

Only opinions of judges who judge the pair are counted:

    ahead - behind + (open) is what first has over second at most, ahead - behind - (open) what it has at
    least,

in units of a judge's weight. Pairs may be judged by different judges, so for sums over positions everything
is brought to a common denominator: ``scale`` is a common multiple of the weights J of all pairs, and a vote
at a pair counts ``factor`` = scale / J. Then p - 1/2 = factor (ahead - behind) / (2 scale) in whole numbers.
Where a position counts v and has k seats, one of its pairs counts v / k^2: ``factor`` is then multiplied by
that, in whole numbers, and so is the ``unit`` in which sums are read.

The opinions are what was said and, of consistent judges, what follows from it (:mod:`.closure`). Nothing here
depends on the order of the answers, except that the last one on a pair counts.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.panel.closure import UNKNOWN, Opinions, close
from duelmatch.graph import Graph, Indices, Mask

Weights = NDArray[np.int64]


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
