"""What follows from a log where the rivals are too many to list: one table of wealth per scale, by edges.

All rivals share their bets, multiples of ``design.bet``. With y_j(B) the part of Y(B) that the pairs at
position j give, which depends on the edge of B there and on nothing else, and w_j the part of the ballot's
pairs that are at j,

    log(1 + lambda sum_j (y_j + w_j slack)) >= sum_j w_j log(1 + lambda (y_j / w_j + slack))

as the logarithm is concave. The right-hand side is a sum over the edges of B, and its exponential, being at
most the factor itself, has mean at most 1 where that has. But with m positions on a ballot it behaves as if
only one in m answers had been given, so while there are tables all pairs of a ballot are at one position,
and both sides are equal. There a ballot costs nothing: the pairs that tell about one rival exclude each
other, or are answers by one voter about one position.

A rival with an edge about which a pair tells that had no chance would need a factor of 1, which is not a
sum over edges. So a ballot counts only if there is no such edge among those still possible. When few enough
are possible they are listed, and go on from the wealth of the tables.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.ballots.bets import Contest, Odds
from duelmatch.explorers.ballots.evidence import Evidence, Settling, told_by
from duelmatch.explorers.ballots.records import EVERYBODY, Answers, Ballot, Count, Design
from duelmatch.explorers.frugal.stakes import NO_RUIN
from duelmatch.explorers.frugal.tables import SCALES, Tables
from duelmatch.graph import Indices, Mask, Vector
from duelmatch.matchings.decisions import FORBIDDEN, decisions_of


class TabledEvidence(Settling):
    """The wealth against all rivals by their edges."""

    def __init__(
        self,
        contest: Contest,
        threshold: float,
        most_listed: int,
        count: Count = EVERYBODY,
        slack: float = 0.0,
        forget: bool = True,
    ) -> None:
        super().__init__(contest, count, slack, forget)
        self.alive: Mask = contest.usable.copy()
        """The edges of possible winners, as far as the tables can tell."""
        self.listed: Evidence | None = None
        self.base = Tables.empty(contest.graph)
        self.proof = Tables.empty(contest.graph)
        self._threshold = threshold
        self._most_listed = most_listed
        self._last_design = -1
        self._odds: tuple[int, Odds, Vector] | None = None
        self._doubt: Indices | None = None
        """A rival that was not shown to be no better when this was last looked at."""

    @property
    def as_listed(self) -> Evidence | None:
        """The evidence rival by rival, if they are listed by now."""
        return self.listed

    def settle(self, design: Design, ballot: Ballot, answers: Answers) -> None:
        """Settle the next ballot in the order of opening; look what is ruled out at each new design."""
        assert ballot.number == self.settled, "ballots settle in the order of opening"
        if design.number != self._last_design and self.listed is None:
            self._last_design = design.number
            self._reject()
        if self.listed is not None:
            self.listed.settle(design, ballot, answers)
            self.settled = self.listed.settled
            return
        if design.proof != self.proof_number:
            self.proof_number, self.proof_for = design.proof, design.proof_for
            self.proof = Tables(self.base.logs.copy()) if self._forget else Tables.empty(self.contest.graph)
        self.settled += 1
        values = self.count.values(ballot, answers)
        odds, bets = self._bets_of(design)
        feared = self.alive if self._forget else self.contest.usable
        if values is None or not len(values) or (odds.void & feared).any():
            return
        told = told_by(odds, ballot.pairs, values)
        positions = self.contest.pairs.position[ballot.pairs]
        part = np.bincount(positions, minlength=self.contest.graph.positions) / len(positions)
        start = self.contest.graph.start
        _settle(self.base.logs, bets, start, part, told, 0.0)
        if self.proof_number and (design.proving or self._forget):
            _settle(self.proof.logs, bets, start, part, told, self._slack if design.proving else 0.0)

    def _bets_of(self, design: Design) -> tuple[Odds, Vector]:
        if self._odds is None or self._odds[0] != design.number:
            odds = Odds.of(design, self.contest)
            largest = odds.largest(design.size)[self.contest.usable]
            worst = float(largest.sum(axis=1).max() if design.one_position else design.size * largest.max())
            bets = np.minimum(SCALES * design.bet, NO_RUIN / worst) if worst > 0 else np.zeros(len(SCALES))
            self._odds = design.number, odds, bets
        return self._odds[1:]

    def _reject(self) -> None:
        """Rule out every edge if the wealth against all matchings through it has reached the threshold."""
        graph = self.contest.graph
        if not self.alive.any():
            return
        least = self.base.poorest(graph, self.alive)
        decisions, left = decisions_of(graph), self.alive & (least < self._threshold)
        most = decisions.most_through(np.zeros(graph.edges), left)
        before, self.alive = self.alive, most > -FORBIDDEN / 2
        if self._forget and (before != self.alive).any():
            rows = decisions.listed(self.alive, self._most_listed)
            if rows is not None and len(rows):
                proof = self.proof.wealth(rows) if self.proof_number else None
                self.listed = Evidence(self.contest, rows, self.count, self._slack, self._forget)
                self.listed.go_on(self, self.base.wealth(rows), proof)

    def possible_rows(self, threshold: float) -> Indices | None:
        """List the possible winners; None while they are not listed."""
        return None if self.listed is None else self.listed.possible_rows(threshold)

    def proven(self, threshold: float, proof_threshold: float) -> bool:
        """Whether every rival in question is shown not to beat the champion of the proof."""
        if self.listed is not None:
            return self.listed.proven(threshold, proof_threshold)
        if self.proof_for is None:
            return False
        feared = (self.alive if self._forget else self.contest.usable).copy()
        others = feared.copy()
        others[self.proof_for] = False
        feared[self.proof_for] = True
        doubt, graph = self._doubt, self.contest.graph
        if (
            doubt is not None
            and feared[doubt].all()
            and others[doubt].any()
            and self.proof.bound(doubt) < proof_threshold
        ):
            return False  # without nine assignment problems
        least = self.proof.poorest(graph, feared)
        least[~others] = np.inf
        edge = int(least.argmin())
        if least[edge] >= proof_threshold:
            return True
        self._doubt = decisions_of(graph).best(-self.proof.logs.mean(axis=0), feared, [edge], exact=False)
        return False


@njit(cache=True)  # type: ignore[untyped-decorator]
def _settle(
    logs: NDArray[np.float64], bets: Vector, start: Indices, part: Vector, told: Vector, slack: float
) -> None:
    """Add w log(1 + lambda (y / w + slack)) to all edges at the positions of a ballot, for every scale."""
    for position in range(len(part)):
        if part[position] > 0:
            for edge in range(start[position], start[position + 1]):
                value = told[edge] / part[position] + slack
                for scale in range(len(bets)):
                    logs[scale, edge] += part[position] * np.log1p(bets[scale] * value)
