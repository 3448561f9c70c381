"""The rivals of a champion, and the wealth of its proofs: what listed and tabled rivals have in common.

**Proofs.**
Being the last one left proves nothing of a champion that only has to be close, or where there may be no
winner at all. For that there is a second wealth against each rival B, from bets on D(A, B) > -slack that are
made while A is the champion: it multiplies by 1 + lambda (Y(B) + slack), whose mean is at most 1 if A loses
to B by slack or more. Which A is proven is chosen by the data, so the i-th champion for whom a proof is begun
has one part in i (i + 1) of the chance of being wrong. Its evidence is kept when another takes over, and goes
on when it is champion again.

**The bound.** For a grid of slacks, let U be the least such that all slacks of the grid from U on are
rejected: the wealth against every rival has reached the threshold. Then A falls short by U at most. If it
falls short by more than U, then U is one of the slacks that are really exceeded, and so is s, the largest of
these in the grid; s is rejected too, as U <= s. That is one event, for one slack and the rival that A loses
to most, however many slacks are tried: no union over the grid, nor over rivals.

All rounds are kept, and a wealth is worked out when it is asked for. The bets of a round are a function of
what was known before it, so it makes no difference when they are worked out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from math import log
from typing import Generic, TypeVar

import numpy as np

from duelmatch.explorers.frugal.seats import pairs_within
from duelmatch.explorers.frugal.stakes import (
    OPTIMISM,
    Played,
    Prospects,
    Stakes,
    allocation,
    over,
)
from duelmatch.graph import Graph, Indices, Mask, Vector

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
