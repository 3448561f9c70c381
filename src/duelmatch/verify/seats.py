"""The verdict of a panel whose line-ups have several seats, capacities, weights or rules: by looking at all.

At a position of weight v and k seats, every pair of one's candidates and another's counts v / k^2; somebody
against itself counts nothing. For Borda a pair counts what it moves the two scores by. So one line-up is
ahead of another by a sum over pairs, and what is open moves each term either way.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import chain
from math import lcm

from duelmatch.verify.log import LISTED, Lineup, LineupVerdict, NotRecomputedError, StudyLog
from duelmatch.verify.panel import CERTAIN, PanelVerdict

COMPARED = 500
"""Up to so many line-ups every two are compared."""


class SeatedVerdict(PanelVerdict):
    """The verdict by a list of the line-ups."""

    def __init__(self, log: StudyLog, borda: bool) -> None:
        super().__init__(log)
        if self.lineups is None:
            raise NotRecomputedError(f"With seats or rules it takes a list, and there are over {LISTED:,}.")
        self.borda = borda
        weight = {j: Fraction(str(log.weight.get(j, 1))) for j in log.positions}
        worth = {j: weight[j] / log.seats.get(j, 1) ** 2 for j in log.positions}
        common = lcm(*(one.denominator for one in worth.values()))
        self.worth = {j: int(one * common) for j, one in worth.items()}
        self._whole = 2 * self.scale * common * (len(self.lineups) if borda else 1) * sum(weight.values())
        self.chosen = {lineup: set(log.edges(lineup)) for lineup in self.lineups}
        self.uses = Counter(chain(*self.chosen.values()))

    @property
    def whole(self) -> Fraction | int:
        """What a difference is divided by to be per position of average weight."""
        return self._whole

    def interval(self, one: Lineup, other: Lineup) -> tuple[int, int]:
        """Return the least and the most by which a line-up is ahead of another."""
        mine, theirs = self.chosen[one], self.chosen[other]
        known = slack = 0
        for j, a, b in self.pairs:
            x, y = (j, a), (j, b)
            if self.borda:
                moves = ((x in mine) - (x in theirs)) * self.uses[y]
                moves -= ((y in mine) - (y in theirs)) * self.uses[x]
            else:
                moves = (x in mine and y in theirs) - (y in mine and x in theirs)
            known += self.worth[j] * moves * self.ahead[j, a, b]
            slack += self.worth[j] * abs(moves) * self.open[j, a, b]
        return known - slack, known + slack

    def closest(self, lineup: Lineup, sign: int) -> int | None:
        """Return the least by which a line-up is ahead of any other; None if that is above 0."""
        others = (other for other in self.chosen if other != lineup)
        least = min((self.interval(lineup, other)[sign > 0] for other in others), default=1)
        return None if least > 0 else least

    def verdict(self, lineup: Lineup) -> LineupVerdict:
        """Return what is certain of a line-up."""
        return super().verdict(lineup) if lineup in self.chosen else LineupVerdict("impossible", lineup)

    def _is_least_beaten(self, lineup: Lineup, defeat: int) -> bool:
        if len(self.chosen) > COMPARED and self._must_lose(lineup) > 0:
            raise NotRecomputedError(f"Whether all of {len(self.chosen):,} line-ups are beaten takes long.")
        return super()._is_least_beaten(lineup, defeat)

    def _must_lose(self, lineup: Lineup) -> int:
        return -min(self.interval(lineup, other)[1] for other in self.chosen)

    def best(self) -> LineupVerdict:
        """Return the best verdict that there is on any line-up."""
        if len(self.chosen) > COMPARED:
            raise NotRecomputedError(f"The log records no line-up, and there are over {COMPARED:,}.")
        order = (*CERTAIN[:-1], "tied", "budget_spent")
        verdicts = [self.verdict(lineup) for lineup in self.chosen]
        return min(verdicts, key=lambda one: (order.index(one.status), one.shortfall))
