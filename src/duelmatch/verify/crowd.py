"""The verdict of a crowd: the wealth of five gamblers who bet against every line-up, ballot by ballot.

If B were the winner, no bet against it could win in the long run; so B is out when the wealth against it has
ever reached 1 / delta. A ballot of a design with champion A says of B

    Y(B) = sum over its pairs of  c_pair(B) / pi_pair  (X_pair - 1/2),       wealth(B) *= 1 + lambda(B) Y(B),

with X = 1, 1/2 or 0 if the first of the pair is better, no different or worse, and pi the chance of the pair
to be on the ballot. lambda follows from the design alone.
"""

from __future__ import annotations

from itertools import combinations
from math import log as logarithm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duelmatch.verify.log import (
    LISTED,
    Ballot,
    Count,
    Design,
    Lineup,
    NotRecomputedError,
    StudyLog,
    Verdict,
    places,
)

Array = NDArray[Any]

SHARES = np.log([0.5, 0.125, 0.125, 0.125, 0.125])
"""What part of the wealth each gambler begins with; the first one learns."""
GAPS = np.array([0.05, 0.1, 0.2, 0.4])
"""The others bet as if the champion were ahead by so much."""
CAUTION = 0.5
"""How many squared standard errors weigh against the estimate of the one who learns."""
NO_RUIN = 0.9
"""The largest part of the wealth that a single ballot may lose."""


class Crowd:
    """The line-ups left, a row each in ``rows`` by their edges, and the bets against them."""

    def __init__(self, log: StudyLog) -> None:
        lineups = log.lineups()
        if lineups is None:
            raise NotRecomputedError(
                f"There are over {LISTED:,} line-ups, and the bets are against each of them."
            )
        self.log, self.lineups, self.pairs = log, lineups, log.pairs()
        self.borda = log.settings["algorithm"] == "borda"
        self.edges = [(j, one) for j in log.positions for one in log.at[j]]
        number = {edge: k for k, edge in enumerate(self.edges)}
        self.rows = np.array(
            [[number[edge] for edge in zip(log.positions, row, strict=True)] for row in lineups]
        )
        self.share = self._reference(log.setting("reference", "decisions"))
        self.number = {pair: k for k, pair in enumerate(self.pairs)}
        self.first = np.array([number[j, one] for j, one, _ in self.pairs], dtype=int)
        self.second = np.array([number[j, other] for j, _, other in self.pairs], dtype=int)
        epsilon = log.setting("epsilon")
        self.slack = 0.0 if epsilon is None else epsilon * len(log.positions)
        self.winner_exists = self.borda or bool(log.setting("assume_winner", True))
        proves = epsilon is not None or not self.winner_exists
        self.threshold = logarithm((2 if proves else 1) / log.setting("delta", 0.05))

    def _reference(self, name: str) -> Array:
        """Return q: how often each edge is the one to be compared with, for Borda."""
        if name == "candidates":
            staying = {j: self.log.staying(j) for j in self.log.positions}
            return np.array([1 / len(staying[j]) if one in staying[j] else 0.0 for j, one in self.edges])
        if name != "decisions":
            raise NotRecomputedError(f"Against whom Borda was counted is not known here: '{name:.50}'.")
        return np.bincount(self.rows.ravel(), minlength=len(self.edges)) / len(self.lineups)

    def _stakes(self, champion: Lineup) -> Array:
        """Return c: a row for each pair, a column for each edge that a rival may have."""
        backed = set(zip(self.log.positions, champion, strict=True))
        own = np.array([edge in backed for edge in self.edges], dtype=float)
        stakes = np.zeros((len(self.pairs), len(self.edges)))
        each = np.arange(len(self.pairs))
        if not self.borda:  # only a pair with the champion's candidate tells anything, about the one it meets
            stakes[each, self.first], stakes[each, self.second] = -own[self.second], own[self.first]
            return stakes
        gain, loss = self.share[self.second], -self.share[self.first]
        of_champion = own[self.first] * gain + own[self.second] * loss
        position = [j for j, _ in self.edges]
        stakes[:] = of_champion[:, None] * np.array([[pair[0] == j for j in position] for pair in self.pairs])
        stakes[each, self.first] -= gain
        stakes[each, self.second] -= loss
        return stakes

    def _bets(self, design: Design) -> tuple[Array, Array, Array]:
        """Return c / pi, and lambda by rival and gambler, without and with the slack.

        No bet is made against whom a pair tells something that had no chance, or for a champion who has left.
        """
        c = self._stakes(design.champion)
        chance, advantage, variance = (
            np.array([of.get(pair, 0.0) for pair in self.pairs])[:, None]
            for of in (design.chances, design.advantage, design.variance)
        )
        odds = np.divide(c, chance, out=np.zeros_like(c), where=chance > 0)
        gap, noise, spread = (
            per_edge.sum(axis=0)[self.rows].sum(axis=1)
            for per_edge in (advantage * c, variance * c**2, design.dispersion * c * odds / 4)
        )
        # The largest |Y|: the ``size`` largest of |c| / 2 pi, all at one position if ballots keep to one.
        largest = -np.sort(-np.abs(odds) / 2, axis=0)[: design.size].T[self.rows]
        if design.one_position:
            worst = largest.sum(axis=2).max(axis=1)
        else:
            worst = -np.sort(-largest.reshape(len(self.rows), -1), axis=1)[:, : design.size].sum(axis=1)
        unfair = ((c != 0) & (chance == 0)).any(axis=0)[self.rows].any(axis=1)
        bet = (worst > 0) & ~unfair & self.log.dropped.isdisjoint(design.champion)
        by_slack = []
        for slack in (0.0, self.slack):
            gain = np.maximum(gap + slack, 0.0)
            learned = gain**3 / np.maximum(gain**2 + CAUTION * noise, 1e-300)
            wanted = np.column_stack([learned, np.tile(GAPS, (len(gain), 1))])
            most = NO_RUIN / np.where(bet, worst, np.inf)
            by_slack.append(np.minimum(wanted / np.where(bet, spread, 1.0)[:, None], most[:, None]))
        return odds, by_slack[0], by_slack[1]

    def _told(self, number: int, ballot: Ballot, count: Count, odds: Array) -> Array:
        """Return what a ballot adds to Y of the rivals with each edge.

        An answer that is missing takes, for every rival, whichever of 0 and 1 makes Y smallest.
        """
        told, corrected = np.zeros(len(self.edges)), dict(count.corrected)
        for place, (j, candidates) in enumerate(ballot.questions):
            asked = self.log.questions.get(ballot.answered.get(place, -1))
            known: dict[str, int] = {}
            if asked is not None and asked.voter not in count.struck:
                known = places(corrected.get((number, place), asked.answer) or [])
            for two in combinations(candidates, 2):
                pair = self.log.pair(j, *two)
                c = odds[self.number[pair]]
                if pair[1] in known and pair[2] in known:
                    told += c * 0.5 * float(np.sign(known[pair[2]] - known[pair[1]]))
                else:
                    told -= np.abs(c) / 2
        return told

    def evidence(self, counts: list[Count]) -> list[Evidence]:
        """Return what follows by each count. Ballots settle in the order of opening."""
        found = [Evidence(count, len(self.rows)) for count in counts]
        made: dict[int, tuple[Array, Array, Array]] = {}
        for number, ballot in enumerate(self.log.ballots[: self.log.settled()]):
            design = self.log.designs[ballot.design]
            if ballot.design not in made:
                made = dict(list(made.items())[-8:])  # ballots that overlap are of a few designs
                made[ballot.design] = self._bets(design)
            odds, *bets = made[ballot.design]
            for each in found:
                each.begin_proof(design, self.winner_exists)
                if ballot.voter not in each.count.struck:
                    y = self._told(number, ballot, each.count, odds)[self.rows].sum(axis=1)
                    each.settle(design, y, bets, self.slack, self.winner_exists)
        return found

    def verdict(self) -> Verdict:
        """Return what is proven by every count that there has been, or by the last if that was agreed on."""
        every = self.log.setting("counting", "least") == "least"
        found = self.evidence(self.log.counts if every else self.log.counts[-1:])
        possible = np.any([each.peak < self.threshold for each in found], axis=0)
        left = [row for row, may_win in zip(self.lineups, possible, strict=True) if may_win]
        champion = self.log.designs[-1].champion if self.log.designs else None
        if not left:
            return Verdict("certified", champion) if self.borda else Verdict("no_winner", None)
        if len(left) == 1 and (self.winner_exists or len(self.lineups) == 1):
            return Verdict("certified", left[0])
        if all(self._is_proven(each) for each in found):
            return Verdict("within_epsilon" if self.slack else "certified", found[-1].proof_for)
        stays = champion is not None and self.log.dropped.isdisjoint(champion)
        return Verdict("budget_spent", champion if stays else None)

    def _is_proven(self, found: Evidence) -> bool:
        """Whether every rival in question is shown not to beat the champion of the proof."""
        if found.proof_for is None:
            return False
        feared = np.array([row != found.proof_for for row in self.lineups])
        if self.winner_exists:
            feared &= found.peak < self.threshold
        needed = self.threshold + logarithm(found.proof * (found.proof + 1))  # all proofs tried share delta
        return bool((found.proof_peak[feared] >= needed).all())


class Evidence:
    """The logarithm of the wealth against every rival, by one count: now, at its peak, and for a proof.

    A proof bets on its own champion, with the slack. Where a winner exists for certain, it begins with the
    wealth so far, and uses the bets on other champions, too.
    """

    def __init__(self, count: Count, rivals: int) -> None:
        self.count = count
        self.logs, self.proof_logs = np.zeros((2, rivals, len(SHARES)))
        self.peak, self.proof_peak = np.zeros((2, rivals))
        self.proof = 0
        self.proof_for: Lineup | None = None

    def begin_proof(self, design: Design, winner_exists: bool) -> None:
        """Begin with the proof that a design is for, if that is another one."""
        if design.proof != self.proof:
            self.proof, self.proof_for = design.proof, design.proof_for
            self.proof_logs, self.proof_peak = self.logs * winner_exists, self.peak * winner_exists

    def settle(self, design: Design, y: Array, bets: list[Array], slack: float, winner_exists: bool) -> None:
        """Settle a ballot."""
        self.logs, self.peak = _settled(self.logs, self.peak, bets[0], y)
        if self.proof and design.proof_for == design.champion:
            proof = _settled(self.proof_logs, self.proof_peak, bets[1], y + slack)
            self.proof_logs, self.proof_peak = proof
        elif self.proof and winner_exists:
            self.proof_logs, self.proof_peak = _settled(self.proof_logs, self.proof_peak, bets[0], y)


def _settled(logs: Array, peak: Array, bets: Array, y: Array) -> tuple[Array, Array]:
    """Multiply the wealth of each gambler against each rival by 1 + lambda Y, and note new peaks."""
    logs = logs + np.log1p(bets * y[:, None])
    return logs, np.maximum(peak, np.logaddexp.reduce(logs + SHARES, axis=1))
