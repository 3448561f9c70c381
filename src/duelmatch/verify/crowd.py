"""The verdict of a crowd: the bets against the line-ups, what has become of them, and what is proven.

If B were the winner, no bet against it could win in the long run; so B is out when the wealth against it has
ever reached 1 / delta. Each ballot multiplies the wealth of a gambler against B by 1 + lambda(B) Y(B), where
lambda follows from the design alone.

Besides, there are proofs: bets on one champion, with a slack, that no other beats it. A proof begins with
nothing; or, where a winner exists for certain, with the wealth so far, and uses the bets on other champions.
"""

from __future__ import annotations

import numpy as np

from duelmatch.verify.crowd_problem import Array, CrowdProblem
from duelmatch.verify.log import BallotDesign, Corrections, DrawnBallot, Lineup, LineupVerdict, StudyLog

SHARES = np.log([0.5, 0.125, 0.125, 0.125, 0.125])
"""What part of the wealth each gambler begins with; the first one learns."""
GAPS = np.array([0.05, 0.1, 0.2, 0.4])
"""The others bet as if the champion were ahead by so much."""
CAUTION = 0.5
"""How many squared standard errors weigh against the estimate of the one who learns."""
NO_RUIN = 0.9
"""The largest part of the wealth that a single ballot may lose."""

SCALES = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
"""Where line-ups are too many: the bets of five gamblers with equal shares, as multiples of the design's."""
MIXTURES = np.vstack([np.eye(5), (np.eye(5)[:-1] + np.eye(5)[1:]) / 2])
"""The weights nu that are tried: every gambler alone, and neighbours in equal parts."""
BONUS = np.array([-(nu[nu > 0] * np.log(nu[nu > 0])).sum() for nu in MIXTURES]) - np.log(5.0)


class ListedWealth:
    """The logarithm of the wealth against every line-up, a row each: now, at its peak, and for a proof."""

    def __init__(self, problem: CrowdProblem, corrections: Corrections, rows: Array) -> None:
        self.problem, self.corrections, self.rows = problem, corrections, rows
        self.seated, self.seatings = problem.seatings(rows)
        self.logs, self.proof_logs = np.zeros((2, len(rows), len(SHARES)))
        self.peak, self.proof_peak = np.zeros((2, len(rows)))
        self.proof = 0
        self.proof_for: Lineup | None = None
        self._made: dict[int, tuple[Array, Array, Array]] = {}

    def settle(self, number: int, ballot: DrawnBallot, design: BallotDesign) -> None:
        """Settle a ballot."""
        problem = self.problem
        if design.proof != self.proof:
            self.proof, self.proof_for = design.proof, design.proof_for
            self.proof_logs, self.proof_peak = (
                wealth * problem.winner_exists for wealth in (self.logs, self.peak)
            )
        if ballot.voter in self.corrections.struck:
            return
        if ballot.design not in self._made:
            self._made = dict(list(self._made.items())[-8:])  # ballots that overlap are of a few designs
            self._made[ballot.design] = self._bets(design)
        odds, bets, slack_bets = self._made[ballot.design]
        y = problem.told(number, ballot, self.corrections, odds)[0][self.rows].sum(axis=1)
        self.logs, self.peak = _settled(self.logs, self.peak, bets, y)
        own = design.proof_for == design.champion
        if self.proof and (own or problem.winner_exists):
            bets, y = (slack_bets, y + problem.slack) if own else (bets, y)
            self.proof_logs, self.proof_peak = _settled(self.proof_logs, self.proof_peak, bets, y)

    def _bets(self, design: BallotDesign) -> tuple[Array, Array, Array]:
        """Return c / pi by edge, and lambda by rival and gambler, without and with the slack."""
        problem, rows = self.problem, self.rows
        c, odds, void = problem.odds(design, self.seated)
        advantage, variance = problem.by_pair(design.advantage), problem.by_pair(design.variance)
        gap, noise, spread = (
            by_pair.sum(axis=0)[self.seatings].sum(axis=1)
            for by_pair in (advantage * c, variance * c**2, design.dispersion * c * odds / 4)
        )
        by_edge = problem.odds(design, np.eye(len(problem.edges)))[1]
        largest = _largest(np.abs(by_edge) @ self.seated, design).T[self.seatings]
        if design.one_position and rows.shape == self.seatings.shape:
            worst = largest.sum(axis=2).max(axis=1)
        else:
            worst = -np.sort(-largest.reshape(len(rows), -1), axis=1)[:, : design.size].sum(axis=1)
        bet = (worst > 0) & (spread > 0) & ~void[self.seatings].any(axis=1)
        by_slack = []
        for slack in (0.0, problem.slack):
            gain = np.maximum(gap + slack, 0.0)
            learned = gain**3 / np.maximum(gain**2 + CAUTION * noise, 1e-300)
            wanted = np.column_stack([learned, np.tile(GAPS, (len(gain), 1))])
            most = NO_RUIN / np.where(bet, worst, np.inf)
            by_slack.append(np.minimum(wanted / np.where(bet, spread, 1.0)[:, None], most[:, None]))
        return by_edge, by_slack[0], by_slack[1]

    def possible(self) -> Array:
        """List the line-ups that may win."""
        return self.rows[self.peak < self.problem.threshold]

    def is_proven(self) -> bool:
        """Whether every rival in question is shown not to beat the champion of the proof."""
        if self.proof_for is None:
            return False
        feared = (self.rows != self.problem.row(self.proof_for)).any(axis=1)
        if self.problem.winner_exists:
            feared &= self.peak < self.problem.threshold
        return bool((self.proof_peak[feared] >= self.problem.needed(self.proof)).all())


class TabledWealth:
    """The same where line-ups are too many to list: the logarithm of the wealth is kept by edges.

    All rivals share their bets, and with w_j the part of a ballot's pairs that are at position j,

        log(1 + lambda (sum y_j + slack)) >= sum over j of w_j log(1 + lambda (y_j / w_j + slack)),

    a sum over the edges of B, like the lower bound sum nu_s (log wealth_s - log 5 - log nu_s) of the wealth
    of five gamblers by any weights nu. So the cheapest line-up through an edge says how poor the bets against
    a line-up with that edge can be, and if not at all poor, the edge is out. Once few line-ups are left, and
    one of them is the winner, they are listed.
    """

    def __init__(self, problem: CrowdProblem, corrections: Corrections) -> None:
        self.problem, self.corrections = problem, corrections
        self.logs, self.proof_logs = np.zeros((2, len(SCALES), len(problem.edges)))
        self.alive = problem.usable.copy()
        self.listed: ListedWealth | None = None
        self.proof = 0
        self.proof_for: Lineup | None = None
        self._design = -1
        self._made: tuple[Array, Array, Array] | None = None
        self._poor: dict[int, Array] = {}

    def settle(self, number: int, ballot: DrawnBallot, design: BallotDesign) -> None:
        """Settle a ballot; what is out is looked at whenever the design changes."""
        problem = self.problem
        if ballot.design != self._design and self.listed is None:
            self._design, self._made = ballot.design, None
            self._reject()
        if self.listed is not None:
            self.listed.settle(number, ballot, design)
            self.proof, self.proof_for = self.listed.proof, self.listed.proof_for
            return
        if design.proof != self.proof:
            self.proof, self.proof_for = design.proof, design.proof_for
            self.proof_logs = self.logs * problem.winner_exists
        if self._made is None:
            _, odds, void = problem.odds(design, np.eye(len(problem.edges)))
            each = _largest(np.abs(odds), design)[:, problem.usable]
            worst = each.sum(axis=0).max() if design.one_position else design.size * each.max()
            bets = np.minimum(SCALES * design.bet, NO_RUIN / max(worst, 1e-300)) * (worst > 0)
            self._made = odds, void, bets
        odds, void, bets = self._made
        told, at = problem.told(number, ballot, self.corrections, odds)
        feared = self.alive if problem.winner_exists else problem.usable
        if ballot.voter in self.corrections.struck or not at.any() or (void & feared).any():
            return
        part = (at / at.sum())[problem.position]
        y = np.divide(told, part, out=np.zeros_like(told), where=(part > 0) & problem.usable)
        self.logs += part * np.log1p(bets[:, None] * y)
        own = design.proof_for == design.champion
        if self.proof and (own or problem.winner_exists):
            slack = problem.slack if own else 0.0
            self.proof_logs += part * np.log1p(bets[:, None] * (y + slack))

    def _reject(self) -> None:
        problem = self.problem
        left = self.alive & ~self._rich(self.logs, self.alive, self.alive, problem.threshold)
        if (left == self.alive).all():
            return
        self.alive = problem.on_lineups(left)
        rows = problem.rows(self.alive) if problem.winner_exists else None
        if rows is not None and len(rows):
            self.listed = listed = ListedWealth(problem, self.corrections, rows)
            listed.proof, listed.proof_for = self.proof, self.proof_for
            listed.peak, listed.proof_peak = (_wealth(of[:, rows]) for of in (self.logs, self.proof_logs))
            listed.logs += listed.peak[:, None]
            listed.proof_logs += listed.proof_peak[:, None]

    def _rich(self, logs: Array, allowed: Array, asked: Array, needed: float) -> Array:
        """Return which of the edges asked about lie on no line-up of allowed edges with less wealth.

        A line-up that was poor once may still be so, by all the weights, and spares the search for another.
        """
        rich, costs = asked.copy(), MIXTURES @ logs
        for edge in np.flatnonzero(asked).tolist():
            poor = self._poor.get(edge)
            if (
                poor is not None
                and allowed[poor].all()
                and (costs[:, poor].sum(axis=1) + BONUS < needed).all()
            ):
                rich[edge] = False
                continue
            for cost, bonus in zip(costs, BONUS, strict=True):
                poor = self.problem.cheapest(edge, cost, allowed)
                if poor is None or cost[poor].sum() + bonus >= needed:
                    break
                self._poor[edge] = poor
            else:
                rich[edge] = False
        return rich

    def possible(self) -> Array:
        """List the edges of line-ups that may win, or those line-ups."""
        return np.flatnonzero(self.alive) if self.listed is None else self.listed.possible()

    def is_proven(self) -> bool:
        """Whether every rival in question is shown not to beat the champion of the proof."""
        if self.listed is not None:
            return self.listed.is_proven()
        if self.proof_for is None:
            return False
        allowed = (self.alive if self.problem.winner_exists else self.problem.usable).copy()
        others = allowed.copy()
        row = self.problem.row(self.proof_for)
        allowed[row], others[row] = True, False
        needed = self.problem.needed(self.proof)
        return bool(self._rich(self.proof_logs, allowed, others, needed)[others].all())


def _largest(odds: Array, design: BallotDesign) -> Array:
    """Return the ``size`` largest of |c| / 2 pi in every column: no ballot can have a larger |Y|."""
    return -np.sort(-odds / 2, axis=0)[: design.size]


def _wealth(by_edge: Array) -> Array:
    """Return the logarithm of the mean wealth of the gamblers, from scale, line-up and edge."""
    wealth: Array = np.logaddexp.reduce(by_edge.sum(axis=2), axis=0) - np.log(len(SCALES))
    return wealth


def _settled(logs: Array, peak: Array, bets: Array, y: Array) -> tuple[Array, Array]:
    """Multiply the wealth of each gambler against each rival by 1 + lambda Y, and note new peaks."""
    logs = logs + np.log1p(bets * y[:, None])
    return logs, np.maximum(peak, np.logaddexp.reduce(logs + SHARES, axis=1))


def crowd_verdict(log: StudyLog) -> LineupVerdict:
    """Return what is proven with all corrections that there have been, or with the last if so agreed."""
    problem = CrowdProblem(log)
    rows = problem.rows(problem.usable)
    every = log.setting("counting", "least") == "least"
    found: list[ListedWealth | TabledWealth] = [
        TabledWealth(problem, corrections) if rows is None else ListedWealth(problem, corrections, rows)
        for corrections in (log.corrections if every else log.corrections[-1:])
    ]
    for number, ballot in enumerate(log.ballots[: log.settled()]):
        for wealth in found:
            wealth.settle(number, ballot, log.designs[ballot.design])
    possible = np.unique(np.concatenate([wealth.possible().ravel() for wealth in found]))
    champion = log.designs[-1].champion if log.designs else None
    if not len(possible):
        return LineupVerdict("certified", champion) if problem.borda else LineupVerdict("no_winner", None)
    alone = problem.usable.sum() == problem.places
    if len(possible) == problem.places and (problem.winner_exists or alone):
        return LineupVerdict("certified", problem.lineup(possible))
    if problem.stays(proven := found[-1].proof_for) and all(wealth.is_proven() for wealth in found):
        return LineupVerdict("within_epsilon" if problem.slack else "certified", proven)
    return LineupVerdict("budget_spent", champion if problem.stays(champion) else None)
