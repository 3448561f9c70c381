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
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from duelmatch.errors import TooLargeError
from duelmatch.explorers.panel.bounds import BordaBounds, Bounds, Closest, CondorcetBounds, closest
from duelmatch.graph import Graph, Indices, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.integers import cheapest, cheapest_and_bound
from duelmatch.matchings.minimax import least_beaten, worst_defeats

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


def surest(verdicts: Iterable[Verdict]) -> Verdict:
    """Return a verdict with a status, if there is one, and of several the one with the least shortfall."""
    return min(verdicts, key=lambda verdict: (verdict.status is None, verdict.shortfall))


class Certifier:
    """Certificates by an oracle for the line-up that is closest to a given one."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.graph: Graph = bounds.state.graph
        self.possible: Indices | None = None
        """A line-up that may turn out less beaten than the last champion; None if it was not looked for."""
        self.may_search = True
        """Whether the least beaten line-up is worth looking for, which can take some ten seconds in vain."""
        self.gave_up = False
        """Whether it was looked for in vain."""

    def verdict(self, champion: Indices) -> Verdict:
        """Return what is certain of a champion."""
        rival = self.most_dangerous(champion)
        if rival is None:
            return Verdict(champion, "decided", 0)
        shortfall, status = max(0, -rival.ahead), None
        if self.bounds.state.total.any():
            status = self._status(champion, shortfall)
        return Verdict(champion, status, shortfall)

    def _status(self, champion: Indices, shortfall: int) -> PanelStatus | None:
        """Return what is certain of a champion that is not certain to be ahead of every other."""
        if self.bounds.criterion == "borda":  # the least beaten is never looked for
            return "tied" if shortfall == 0 and not self.may_beat_all(champion) else None
        if shortfall == 0:
            return "unbeaten"
        return (
            "no_winner" if self.must_lose(champion) > 0 and self._others_lose(champion, shortfall) else None
        )

    def _others_lose(self, champion: Indices, defeat: int) -> bool:
        """Whether every other line-up loses by this much at least."""
        known = self.possible
        if not self.may_search or not self.compares_every_two:
            return False
        if known is not None and (known != champion).any() and self.must_lose(known) < defeat:
            return False
        try:
            found = self.least_beaten(1, champion)
        except TooLargeError:
            self.gave_up = True
            return False
        if found is None:
            return True
        self.possible, least = found
        return bool(least >= defeat)

    def prefer_unbeaten(self, champion: Indices) -> Verdict:
        """Return the verdict on a champion; if it is certain to lose, and the line-up met is not, on that."""
        verdict, possible = self.verdict(champion), self.possible
        if verdict.status is not None or possible is None:
            return verdict
        if self.must_lose(champion) > 0 >= self.must_lose(possible):
            return self.verdict(possible)
        return verdict

    def safest(self) -> tuple[Indices, Any] | None:
        """Return the line-up with the smallest certain shortfall, and that; None if it is out of reach."""
        try:
            return self.least_beaten(-1)
        except TooLargeError:
            return None

    def outlook(self, shortfall: int) -> Outlook:
        """Return the line-ups that may come out; ``shortfall`` is certain of some line-up."""
        if self.bounds.criterion == "borda":  # some line-up always has the best score
            possible = self.possible_best()
            return Outlook(possible, possible)
        found = self.certain_defeats()
        if found is None:
            return Outlook(None, None)
        rows, must_lose = found
        safest = self.safest() if shortfall > 0 else (None, 0)
        # some line-up loses by as little as the safest at most, so whoever loses by more for certain is out
        results = None if safest is None else rows[must_lose <= safest[1]]
        return Outlook(rows[must_lose <= 0], results)

    @property
    def compares_every_two(self) -> bool:
        """Whether the least beaten line-up can be found: not where they are too many (:mod:`.seats`)."""
        return self.graph.places == self.graph.positions

    def most_dangerous(self, champion: Indices) -> Closest | None:
        """Return another line-up that may be ahead of a champion by most, or draw; None if none may."""
        return closest(self.graph, self.bounds.least(champion), champion)

    def closest_other(self, champion: Indices) -> Closest | None:
        """Return the other line-up over which the certain lead is smallest, and that lead; None if none is.

        Where it is too much work to find, one that comes close, and what the lead is at least.
        """
        bound, edges = self.bounds.least(champion), np.arange(self.graph.edges)
        found = [cheapest_and_bound(self.graph, bound, edges != edge) for edge in champion.tolist()]
        best = min((each for each in found if each is not None), key=itemgetter(1), default=None)
        return None if best is None else Closest(best[0], int(best[1]) - int(bound[champion].sum()))

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

    def least_beaten(self, sign: int, excluded: Indices | None = None) -> tuple[Indices, Any] | None:
        """Return the line-up whose worst defeat is smallest, and that; None if ``excluded`` is the only one.

        The worst defeat that is possible (-1), or the one that is certain (1), by Condorcet's criterion.

        :raises TooLargeError: if that is out of reach.
        """
        assert isinstance(self.bounds, CondorcetBounds), "rewards have a best, which nothing beats"
        return least_beaten(self.graph, self.bounds.matrix(sign), excluded)

    def certain_defeats(self) -> tuple[Indices, Vector] | None:
        """Return every line-up, and the worst defeat that each suffers for certain; None if they are many."""
        assert isinstance(self.bounds, CondorcetBounds), "rewards have a best, which nothing beats"
        rows = decisions_of(self.graph).listed(None, POSSIBLE)
        if rows is None:
            return None
        if self.graph.one_to_one:
            return rows, np.array([self.must_lose(row) for row in rows])
        try:
            return rows, worst_defeats(self.graph, self.bounds.matrix(1), rows)
        except TooLargeError:
            return None

    def possible_best(self) -> Indices | None:
        """Return line-ups among which those with the best score are; None if there are too many to look at.

        Each of them could overtake any single other one; perhaps not all others at once.
        """
        assert isinstance(self.bounds, BordaBounds), "scores are sums of rewards"
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
