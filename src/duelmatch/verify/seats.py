"""The verdict of a panel whose line-ups have several seats, capacities, weights or rules: by looking at all.

At a position of weight v and k seats, every pair of one's candidates and another's counts v / k^2; somebody
against itself counts nothing. For Borda a pair counts what it moves the two scores by. So one line-up is
ahead of another by a sum over pairs, and what is open moves each term either way.
"""

from __future__ import annotations

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
        worth = {j: Fraction(str(log.weight.get(j, 1))) / log.seats.get(j, 1) ** 2 for j in log.positions}
        common = lcm(*(one.denominator for one in worth.values()))
        self.worth = {j: int(one * common) for j, one in worth.items()}
        self.among = len(self.lineups) if borda else 1
        total = sum(Fraction(str(log.weight.get(j, 1))) for j in log.positions)
        self.whole = 2 * self.scale * common * self.among * total
        self.chosen = {lineup: set(log.edges(lineup)) for lineup in self.lineups}
        self.uses = dict.fromkeys(chain(*self.chosen.values()), 0)
        for edge in chain(*self.chosen.values()):
            self.uses[edge] += 1

    def interval(self, one: Lineup, other: Lineup) -> tuple[int, int]:
        """Return the least and the most by which a line-up is ahead of another."""
        mine, theirs = self.chosen[one], self.chosen[other]
        known = slack = 0
        for j, a, b in self.factor:
            if self.log.pair(j, a, b) != (j, a, b):
                continue
            x, y = (j, a), (j, b)
            if self.borda:
                moves = ((x in mine) - (x in theirs)) * self.uses.get(y, 0)
                moves -= ((y in mine) - (y in theirs)) * self.uses.get(x, 0)
            else:
                moves = (x in mine and y in theirs) - (y in mine and x in theirs)
            known += self.worth[j] * moves * self.ahead[j, a, b]
            slack += self.worth[j] * abs(moves) * self.open[j, a, b]
        return known - slack, known + slack

    def verdict(self, lineup: Lineup) -> LineupVerdict:
        """Return what is certain of a line-up."""
        if lineup not in self.chosen:
            return LineupVerdict("impossible", lineup)
        others = [other for other in self.chosen if other != lineup]
        intervals = [self.interval(lineup, other) for other in others]
        worst = min((least for least, _ in intervals), default=1)
        if worst > 0:
            return LineupVerdict("decided", lineup, 0.0)
        shortfall = float(max(0, -worst) / self.whole)
        if not any(self.factor.values()):  # nobody's opinion counts
            return LineupVerdict("budget_spent", lineup, shortfall)
        if self.borda:
            tied = worst == 0 and any(most <= 0 for _, most in intervals)
            return LineupVerdict("tied" if tied else "budget_spent", lineup, shortfall)
        if worst == 0:
            return LineupVerdict("unbeaten", lineup, 0.0)
        return LineupVerdict(
            "no_winner" if self._all_beaten(lineup, -worst) else "budget_spent", lineup, shortfall
        )

    def _all_beaten(self, lineup: Lineup, defeat: int) -> bool:
        def must_lose(one: Lineup) -> int:
            return -min(self.interval(one, other)[1] for other in self.chosen)

        if must_lose(lineup) <= 0:
            return False
        if len(self.chosen) > COMPARED:
            raise NotRecomputedError(f"Whether all of {len(self.chosen):,} line-ups are beaten takes long.")
        return all(must_lose(other) >= defeat for other in self.chosen if other != lineup)

    def best(self) -> LineupVerdict:
        """Return the best verdict that there is on any line-up."""
        if len(self.chosen) > COMPARED:
            raise NotRecomputedError(f"The log records no line-up, and there are over {COMPARED:,}.")
        order = (*CERTAIN[:-1], "tied", "budget_spent")
        verdicts = [self.verdict(lineup) for lineup in self.chosen]
        return min(verdicts, key=lambda one: (order.index(one.status), one.shortfall))
