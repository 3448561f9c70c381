"""Proofs for a champion: that nothing beats it, or nothing by more than so much.

Being the last one left proves nothing of a champion that only has to be close, or where there may be no
winner at all. For that there is a second wealth against each rival B, from bets on D(A, B) > -slack that are
made while A is the champion: it multiplies by 1 + lambda (Y(B) + slack), whose mean is at most 1 if A loses
to B by slack or more. Which A is proven is chosen by the data, so the i-th champion for whom a proof is begun
has one part in i (i + 1) of the chance of being wrong. Its evidence is kept when another takes over, and goes
on when it is champion again.

**The bound.** For a grid of slacks, let U be the least so that all slacks of the grid from U on are rejected:
the wealth against every rival has reached the threshold. Then A falls short by U at most. If it falls short
by more than U, then U is one of the slacks that are really exceeded, and so is s, the largest of these in
the grid; s is rejected too, as U <= s. That is one event, for one slack and the rival that A loses to most,
however many slacks are tried: no union over the grid, nor over rivals.

All rounds are kept, and a wealth is worked out when somebody wants to know it. The bets of a round are a
function of what was known before it, so it makes no difference when they are worked out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log
from typing import Generic, TypeVar

import numpy as np

from duelmatch.explorers.frugal.stakes import Played
from duelmatch.graph import Indices

GRID = tuple(round(0.5 * 0.8**step, 4) for step in range(20))
"""Shortfalls per position that are tried, the largest first: from 0.5 down to 0.007."""

WealthT = TypeVar("WealthT")


@dataclass(frozen=True, slots=True)
class Proof:
    """The ``number``-th proof, for a champion, from the ``begun``-th round on."""

    number: int
    champion: Indices
    begun: int

    @property
    def price(self) -> float:
        """What the threshold rises by, as this is one proof of many."""
        return log(self.number * (self.number + 1))


class ProofWealth(Generic[WealthT]):
    """The wealth of every proof at every slack that was asked for, up to the last round when it is asked for.

    ``begin`` makes the wealth before the ``since``-th round, and ``settle`` adds a round to it. With
    ``forget`` only the winner is to be feared: then bets for any champion count, without slack.
    """

    def __init__(
        self,
        history: list[Played],
        forget: bool,
        begin: Callable[[], WealthT],
        settle: Callable[[WealthT, Played, float], None],
    ) -> None:
        self._history, self._forget = history, forget
        self._begin, self._settle = begin, settle
        self._since = len(history)
        self.found: dict[tuple[int, float], tuple[WealthT, int]] = {}

    def of(self, proof: Proof, slack: float) -> WealthT:
        """Return the wealth of a proof after the last round."""
        begun = self._since if self._forget else proof.begun
        wealth, settled = self.found.get((proof.number, slack)) or (self._begin(), begun)
        for number in range(settled, len(self._history)):
            played = self._history[number]
            own = number >= proof.begun and np.array_equal(played.champion, proof.champion)
            if own or self._forget:
                self._settle(wealth, played, slack if own else 0.0)
        self.found[proof.number, slack] = wealth, len(self._history)
        return wealth

    def __iter__(self) -> Iterator[WealthT]:
        """Go through all there are."""
        return (wealth for wealth, _ in self.found.values())
