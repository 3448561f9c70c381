"""What follows from a log: the wealth against every possible winner, for one way of counting.

:func:`evidence` is a pure function of the designs, the ballots in the order of opening, their answers, and
who counts. A live study settles ballots one by one as the oldest ones close, and comes to exactly the same.

An answer that is missing when a ballot closes is never 1/2. It takes, for every rival, whichever of 0 and 1
makes Y smallest, so the factor is at most what it would be with whatever the voter thought.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import deepcopy

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.ballots.bets import LOG_SHARES, Bets, Contest, Odds, PerPair
from duelmatch.explorers.ballots.records import EVERYBODY, Answers, Ballot, Count, Design
from duelmatch.graph import Indices, Mask, Vector


class Settling(ABC):
    """The evidence for one count, after the ballots settled so far.

    ``forget``: a matching that is not the winner is of no further interest, as a winner exists for sure.
    Then a proof starts from the wealth so far, and bets without the slack while its champion is not the
    champion.
    """

    def __init__(self, contest: Contest, count: Count, slack: float, forget: bool) -> None:
        self.contest = contest
        self.count = count
        self.settled = 0
        self.proof_number = 0
        self.proof_for: Indices | None = None
        self._slack = slack
        self._forget = forget

    @property
    @abstractmethod
    def as_listed(self) -> Evidence | None:
        """The evidence rival by rival; None while they are too many to list."""

    @abstractmethod
    def settle(self, design: Design, ballot: Ballot, answers: Answers) -> None:
        """Settle the next ballot in the order of opening."""


class Wealth:
    """The wealth of the gamblers against each of some rivals, in logarithms."""

    def __init__(self, log_wealth: Vector) -> None:
        self.logs = np.repeat(log_wealth[:, None], len(LOG_SHARES), axis=1)
        self.peak = log_wealth.copy()
        """The highest wealth there has been against each rival."""

    def settle(self, rows: Indices, told: Vector, bets: NDArray[np.float64], slack: float = 0.0) -> None:
        """Settle the bets on a ballot."""
        _settle(rows, told, bets, slack, self.logs, self.peak, LOG_SHARES)


class Evidence(Settling):
    """The wealth against each of the rivals listed."""

    def __init__(
        self,
        contest: Contest,
        rows: Indices,
        count: Count = EVERYBODY,
        slack: float = 0.0,
        forget: bool = True,
    ) -> None:
        super().__init__(contest, count, slack, forget)
        self.rows = rows
        self.base, self.proof = self._nothing, self._nothing
        self.exact = self._nothing
        """The same for a proof without slack: not that the champion is close, but that it is the winner."""
        self.moments = np.zeros((2, len(rows)))
        """Sums of Y^2 and of what was expected of it, over complete ballots."""
        self._bets: dict[int, Bets] = {}

    @property
    def as_listed(self) -> Evidence:
        """Itself."""
        return self

    @property
    def _nothing(self) -> Wealth:
        return Wealth(np.zeros(len(self.rows)))

    @property
    def wealth(self) -> Vector:
        """The logarithm of the present wealth against each rival."""
        wealth: Vector = np.logaddexp.reduce(self.base.logs + LOG_SHARES, axis=1)
        return wealth

    def settle(self, design: Design, ballot: Ballot, answers: Answers) -> None:
        """Settle the next ballot in the order of opening."""
        assert ballot.number == self.settled, "ballots settle in the order of opening"
        if design.proof != self.proof_number:
            assert design.proof > self.proof_number, "a proof that is over does not begin again"
            self.proof_number, self.proof_for = design.proof, design.proof_for
            self.proof = deepcopy(self.base) if self._forget else self._nothing
            self.exact = self._nothing
        self.settled += 1
        values = self.count.values(ballot, answers)
        if values is None:
            return
        bets, rows = self._bets_of(design), self.rows
        told = told_by(bets.odds, ballot.pairs, values)
        self.base.settle(rows, told, bets.base)
        if not np.isnan(values).any():
            _add_moments(rows, told, bets.base, bets.spread / design.dispersion, self.moments)
        if self.proof_number and design.proving:
            self.proof.settle(rows, told, bets.proof, self._slack)
            if not self._forget:
                self.exact.settle(rows, told, bets.base)
        elif self.proof_number and self._forget:
            self.proof.settle(rows, told, bets.base)

    def go_on(self, before: Settling, wealth: Vector, proof_wealth: Vector | None) -> None:
        """Go on from the wealth that there was against the rivals before they were listed."""
        self.settled = before.settled
        self.proof_number, self.proof_for = before.proof_number, before.proof_for
        self.base = Wealth(wealth)
        if proof_wealth is not None:
            self.proof = Wealth(proof_wealth)

    def possible_rows(self, threshold: float) -> Indices | None:
        """List the possible winners."""
        return self.rows[self.possible(threshold)]

    def _bets_of(self, design: Design) -> Bets:
        if design.number not in self._bets:
            if len(self._bets) > 8:  # overlapping ballots refer to a few designs at a time
                self._bets.pop(next(iter(self._bets)))
            self._bets[design.number] = Bets.of(design, self.contest, self.rows, self._slack)
        return self._bets[design.number]

    def possible(self, threshold: float) -> Mask:
        """Mark the rivals against which the wealth has never reached the threshold."""
        possible: Mask = self.base.peak < threshold
        return possible

    def proven(self, threshold: float, proof_threshold: float) -> bool:
        """Whether every rival in question is shown not to beat the champion of the proof."""
        if self.proof_for is None:
            return False
        rivals = (self.rows != self.proof_for).any(axis=1)
        if self._forget:
            rivals &= self.possible(threshold)
        return bool((self.proof.peak[rivals] >= proof_threshold).all())


def evidence(
    contest: Contest,
    designs: Sequence[Design],
    ballots: Sequence[Ballot],
    answers: Sequence[Answers],
    count: Count = EVERYBODY,
    *,
    rows: Indices | None = None,
    slack: float = 0.0,
    forget: bool = True,
) -> Evidence:
    """Settle all ballots before the first that is still open, counting who counts."""
    if rows is None:
        rows = contest.rivals(at_most=10**6)
        assert rows is not None, "where rivals are too many to list, there are tables"
    found = Evidence(contest, rows, count, slack, forget)
    settle_finished(found, designs, ballots, answers)
    return found


def settle_finished(
    found: Settling,
    designs: Sequence[Design],
    ballots: Sequence[Ballot],
    answers: Sequence[Answers],
    end: int | None = None,
) -> None:
    """Settle what is finished before the first ballot that is not, or ``end``, from where it stands."""
    for number in range(found.settled, len(ballots) if end is None else end):
        if not answers[number].closed:
            break
        found.settle(designs[ballots[number].design], ballots[number], answers[number])


def told_by(odds: Odds, asked: Indices, values: Vector) -> Vector:
    """Return what a ballot adds to Y of the rivals with each edge."""
    told: Vector = _told(asked, values, odds.told)
    return told


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _told(pairs: Indices, values: Vector, per_pair: PerPair) -> Vector:
    """Return what a ballot adds to Y of the rivals with each edge; missing answers count against it."""
    start, told = per_pair.start, np.zeros(per_pair.start[-1])
    for place in range(len(pairs)):
        pair = pairs[place]
        position = per_pair.position[pair]
        missing = np.isnan(values[place])
        for edge in range(start[position], start[position + 1]):
            value = per_pair.neither[pair]
            if edge == per_pair.pair_first[pair]:
                value = per_pair.first[pair]
            elif edge == per_pair.pair_second[pair]:
                value = per_pair.second[pair]
            if value != 0.0:
                told[edge] += -abs(value) / 2 if missing else value * (values[place] - 0.5)
    return told


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _settle(
    rows: Indices,
    told: Vector,
    bets: NDArray[np.float64],
    slack: float,
    logs: NDArray[np.float64],
    peak: Vector,
    log_shares: Vector,
) -> None:
    """Multiply the wealth against every rival by 1 + lambda (Y + slack), and note new peaks."""
    count, positions = rows.shape
    gamblers = bets.shape[1]
    for rival in range(count):
        if bets[rival, 1] == 0.0:
            continue
        value = slack
        for position in range(positions):
            value += told[rows[rival, position]]
        if value == 0.0:
            continue
        highest = -np.inf
        for gambler in range(gamblers):
            logs[rival, gambler] += np.log1p(bets[rival, gambler] * value)
            highest = max(highest, logs[rival, gambler] + log_shares[gambler])
        if value > 0.0 and highest + 1.7 > peak[rival]:
            total = 0.0
            for gambler in range(gamblers):
                total += np.exp(logs[rival, gambler] + log_shares[gambler] - highest)
            peak[rival] = max(peak[rival], highest + np.log(total))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _add_moments(
    rows: Indices, told: Vector, bets: NDArray[np.float64], expected: Vector, moments: NDArray[np.float64]
) -> None:
    for rival in range(len(rows)):
        if bets[rival, 1] == 0.0:
            continue
        value = 0.0
        for position in range(rows.shape[1]):
            value += told[rows[rival, position]]
        moments[0, rival] += value * value
        moments[1, rival] += expected[rival]
