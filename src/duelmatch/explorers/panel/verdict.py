"""What is certain of a line-up, whatever the open answers will be: no probability, no seed, no assumption.

Condorcet. ``decided``: it beats every other. ``unbeaten``: none beats it, some may draw. ``no_winner``: every
line-up is beaten by another, and this one has the smallest worst defeat. The first two are one assignment
problem and exact: they hold if and only if they hold in every completion of the open answers. The third
compares the most this one can lose by with the least any other must lose by,

    max over B of -least D(A, B)  <=  min over A' != A of max over B of -most D(A', B),    all of them beaten,

which is enough, and necessary once nothing is open; the right side is
:func:`duelmatch.matchings.minimax.least_beaten`, within its limits.

With capacities, weights and rules, and one seat per position, all this is the same, with the exact oracle of
that class (:func:`duelmatch.matchings.integers.cheapest_and_bound`) for the assignment problem. Where rules
are so tangled that it stops early, its bound takes the place of the exact value: what is said stays certain,
and some of it is said later.

Where no opinion is counted, given or open (all judges are struck, say), nothing is certain: then all line-ups
draw, and none is the choice of anybody.

Borda. ``decided``: its score is above every other's. ``tied``: no score is above it, and some other is
certain to be equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from duelmatch.errors import TooLargeError
from duelmatch.explorers.panel.bounds import BordaBounds, CondorcetBounds, Whole, closest
from duelmatch.graph import Graph, Indices, Vector
from duelmatch.matchings.assignment import decisions_of
from duelmatch.matchings.integers import cheapest, cheapest_and_bound
from duelmatch.matchings.least_beaten import worst_defeats
from duelmatch.matchings.minimax import least_beaten, worst_defeat

PanelStatus = Literal["decided", "unbeaten", "no_winner", "tied"]

POSSIBLE = 5_000
"""Up to so many line-ups are looked at one by one for those that are still possible winners."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is certain of ``matching``; ``status`` is None if nothing is yet.

    ``shortfall``: it is behind any other by so much at most, a sum over positions in units of the bounds.
    """

    matching: Indices
    status: PanelStatus | None
    shortfall: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """The line-ups that may come out; None where that takes long to find out.

    ``winners`` may be unbeaten, or have the best score, when all have answered. The result will be one of
    ``results``: while it is not certain that some line-up is unbeaten, also those that may be least beaten.
    With each answer there are fewer of both, or as many.
    """

    winners: Indices | None
    results: Indices | None

    @classmethod
    def of(cls, rows: Indices, must_lose: Vector, least_shortfall: float | None) -> Outlook:
        """Look at the worst defeat that each line-up suffers for certain.

        Some line-up loses by ``least_shortfall`` at most. So the result does, and whoever loses by more for
        certain is not the result.
        """
        results = None if least_shortfall is None else rows[must_lose <= least_shortfall]
        return cls(rows[must_lose <= 0], results)


class MayBeUnbeaten(Protocol):
    """A judge who has met a line-up that may turn out less beaten than the last champion."""

    possible: Indices | None

    def verdict(self, champion: Indices) -> Verdict:
        """Return what is certain of a champion."""

    def must_lose(self, champion: Indices) -> int:
        """Return the worst defeat that a line-up suffers for certain."""


def prefer_unbeaten(judge: MayBeUnbeaten, champion: Indices) -> Verdict:
    """Judge a champion; if it is certain to lose, and the line-up met is not, judge that one."""
    verdict, possible = judge.verdict(champion), judge.possible
    if verdict.status is not None or possible is None:
        return verdict
    if judge.must_lose(champion) > 0 >= judge.must_lose(possible):
        return judge.verdict(possible)
    return verdict


def surest(verdicts: Iterable[Verdict]) -> Verdict:
    """Return a verdict with a status, if there is one, and of several the one with the least shortfall."""
    return min(verdicts, key=lambda verdict: (verdict.status is None, verdict.shortfall))


def closest_other(graph: Graph, bound: Whole, champion: Indices) -> tuple[Indices, int] | None:
    """Return the other line-up with the smallest sum of ``bound``, and that sum; None if there is none.

    Where it is too much work to find, one that comes close, and what the sum is at least.
    """
    best: tuple[Indices, int] | None = None
    for edge in champion.tolist():
        found = cheapest_and_bound(graph, bound, np.arange(graph.edges) != edge)
        if found is not None and (best is None or found[1] < best[1]):
            best = found[0], int(found[1])
    return None if best is None else (best[0], best[1] - int(bound[champion].sum()))


class _Judge:
    """What certificates of both kinds rest on: what the open answers may do to a line-up."""

    def __init__(self, bounds: CondorcetBounds | BordaBounds) -> None:
        self.bounds = bounds
        self.graph: Graph = bounds.state.graph
        self.possible: Indices | None = None
        """A line-up that may turn out less beaten than the last champion; None if it was not looked for."""
        self.may_search = True
        """Whether the least beaten line-up is worth looking for, which can take some ten seconds in vain."""
        self.gave_up = False
        """Whether it was looked for in vain."""

    def closest_other(self, champion: Indices) -> tuple[Indices, int] | None:
        """Return the other line-up over which the certain lead is smallest, and that lead."""
        return closest_other(self.graph, self.bounds.least(champion), champion)

    def must_lose(self, champion: Indices) -> int:
        """Return by how much another is ahead of a line-up for certain; 0 if it may be unbeaten, or best."""
        bound = self.bounds.most(champion)
        rival = cheapest(self.graph, bound)
        assert rival is not None, "a Problem has a matching"
        return int(bound[champion].sum() - bound[rival].sum())

    def may_beat_all(self, champion: Indices) -> bool:
        """Whether a line-up beats every other, or scores best alone, in some completion of the open answers.

        It may if none was met of which it cannot be ahead.
        """
        most = self.bounds.most(champion)
        met = closest(self.graph, most, champion)
        if met is None or (met.rival == champion).all():
            return True
        return bool(most[met.rival].sum() > most[champion].sum())


class CondorcetJudge(_Judge):
    """Certificates by head-to-head margins."""

    bounds: CondorcetBounds

    def verdict(self, champion: Indices) -> Verdict:
        """Return what is certain of a champion."""
        rival = closest(self.graph, self.bounds.least(champion), champion)
        if rival is None:
            return Verdict(champion, "decided", 0)
        if rival.ahead >= 0:
            return Verdict(champion, "unbeaten" if self.bounds.state.total.any() else None, 0)
        status: PanelStatus | None = None
        if self.must_lose(champion) > 0 and self._others_lose(champion, -rival.ahead):
            status = "no_winner"
        return Verdict(champion, status, -rival.ahead)

    def _others_lose(self, champion: Indices, defeat: int) -> bool:
        """Whether every other line-up loses by this much at least."""
        known = self.possible
        if not self.may_search or self.graph.places > self.graph.positions:  # many decisions: see .seated
            return False
        if known is not None and (known != champion).any() and self.must_lose(known) < defeat:
            return False
        try:
            found = least_beaten(self.graph, self.bounds.matrix(1), champion)
        except TooLargeError:
            self.gave_up = True
            return False
        if found is None:
            return True
        self.possible, least = found
        return bool(least >= defeat)

    def safest(self) -> Indices | None:
        """Return the line-up with the smallest certain shortfall; None if that is out of reach."""
        found = self._safest()
        return None if found is None else found[0]

    def _safest(self) -> tuple[Indices, int] | None:
        try:
            found = least_beaten(self.graph, self.bounds.matrix(-1))
        except TooLargeError:
            return None
        assert found is not None, "a Problem has a matching"
        return found[0], int(found[1])

    def most_dangerous(self, champion: Indices) -> Indices:
        """Return another line-up that may beat a champion by most, or draw; the champion if none may."""
        rival = closest(self.graph, self.bounds.least(champion), champion)
        return champion if rival is None else rival.rival

    def best_reply(self, matching: Indices) -> Indices:
        """Return the line-up that beats another most, by the known answers."""
        ahead = self.bounds.matrix(1) + self.bounds.matrix(-1)
        return worst_defeat(self.graph, ahead, matching)[1]

    def possible_winners(self) -> Indices | None:
        """Return the line-ups that may be unbeaten when all have answered; None if there are too many."""
        return self.outlook(0).winners

    def outlook(self, shortfall: int) -> Outlook:
        """Return the line-ups that may come out; ``shortfall`` is certain of some line-up."""
        rows = decisions_of(self.graph).listed(None, POSSIBLE)
        must_lose = None if rows is None else self._must_lose_each(rows)
        if rows is None or must_lose is None:
            return Outlook(None, None)
        safest = self._safest() if shortfall > 0 else None
        return Outlook.of(rows, must_lose, safest[1] if safest else None if shortfall > 0 else 0)

    def _must_lose_each(self, rows: Indices) -> Vector | None:
        if self.graph.one_to_one:
            return np.array([self.must_lose(row) for row in rows])
        try:
            return worst_defeats(self.graph, self.bounds.matrix(1), rows)
        except TooLargeError:
            return None


class BordaJudge(_Judge):
    """Certificates by rewards. The least beaten line-up is never looked for."""

    bounds: BordaBounds

    def verdict(self, champion: Indices) -> Verdict:
        """Return what is certain of a champion."""
        rival = closest(self.graph, self.bounds.least(champion), champion)
        if rival is None:
            return Verdict(champion, "decided", 0)
        if rival.ahead < 0:
            return Verdict(champion, None, -rival.ahead)
        tied = self.bounds.state.total.any() and not self.may_beat_all(champion)
        return Verdict(champion, "tied" if tied else None, 0)

    def possible_winners(self) -> Indices | None:
        """Return line-ups among which the best are; None if there are too many to look at.

        Each of them could overtake any single other one; perhaps not all others at once.
        """
        rows = decisions_of(self.graph).listed(None, POSSIBLE)
        if rows is None:
            return None
        most, least = self.bounds.rewards(1), self.bounds.rewards(-1)
        floor = least[rows].sum(axis=1).max()
        rows = rows[most[rows].sum(axis=1) >= floor]
        keep = []
        for row in rows:
            bound = self.bounds.most(row)
            rival = cheapest(self.graph, bound)
            assert rival is not None, "a Problem has a matching"
            keep.append(bool(bound[rival].sum() >= 0))
        possible: Indices = rows[keep]
        return possible

    def outlook(self, shortfall: int) -> Outlook:
        """Return the line-ups that may come out: some line-up always has the best score."""
        possible = self.possible_winners()
        return Outlook(possible, possible)
