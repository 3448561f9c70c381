"""What judges will probably say. Only the design uses it; no certificate does.

Each edge has a strength s, fitted to the count by penalised maximum likelihood (Bradley and Terry): P(a over
b) = 1 / (1 + exp(s_b - s_a)). The share of a pair that the open answers will bring is estimated by its own
count, with PRIOR_ANSWERS imagined ones that follow the strengths.

A judge may think higher or lower of a candidate than the others do. That is what makes a judge who was
against the champion at a position a poor one to ask about it again: each judge has an offset per edge with a
normal distribution, updated by each answer as in TrueSkill (Herbrich, Minka and Graepel 2006).

All of it is a function of the count and of what was said; when that was makes no difference. Whole rankings,
for forecasts, are drawn by the same strengths (:func:`drawn_times`).
"""

from __future__ import annotations

from math import erf, exp, inf, log, pi, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.panel.state import Opinions, PanelState, Weights, opinion_of, pair_at
from duelmatch.graph import Graph, Indices, Vector

PRIOR_ANSWERS = 4.0
"""How many answers the strengths are worth in the estimate of a single pair."""

STRENGTH_PRECISION = 0.7
"""1 / variance of the strengths, in logits, before any answer."""

JUDGE_VARIANCE = 1.64
"""Of a judge's offsets, in logits: that of the Gumbel distribution, which Bradley-Terry comes from."""

STEPS = 30
"""Of Newton per strength at most; the fit ends earlier when none is as large as CLOSE_ENOUGH."""

CLOSE_ENOUGH = 1e-3

DRAWN = 12
"""How often every time of a ranking is drawn. They start evenly spaced, in an order that fits the answers."""


class PairTables(NamedTuple):
    """What the compiled functions read."""

    start: Indices
    pair_start: Indices
    ahead: Weights
    behind: Weights
    open: Weights
    total: Weights
    odds: Vector
    """exp(strength) of every edge."""
    prior: float
    """PRIOR_ANSWERS in units of weight."""


class Model:
    """Strengths of edges, and the offsets of judges."""

    def __init__(self, state: PanelState) -> None:
        self.state = state
        edges = state.graph.edges
        self._strength: Vector = np.zeros(edges)
        self._odds: Vector = np.ones(edges)
        self._unit = float(state.weight.mean())
        self._offsets: dict[int, tuple[Vector, Vector]] = {}

    @property
    def strength(self) -> Vector:
        """The strength of every edge, by all answers that are counted."""
        if self.state.changed:
            self._offsets.clear()
            for position in sorted(self.state.changed):
                self._fit(position)
            self.state.changed.clear()
        return self._strength

    def offsets(self, judge: int) -> tuple[Vector, Vector]:
        """Return by how much a judge thinks higher of each edge than the others do, and the variances."""
        strength = self.strength
        if judge not in self._offsets:
            offset, variance = np.zeros(len(strength)), np.full(len(strength), JUDGE_VARIANCE)
            state = self.state
            _lean(strength, state.said[judge], state.first, state.second, offset, variance)
            self._offsets[judge] = offset, variance
        return self._offsets[judge]

    def tables(self) -> PairTables:
        """Return what there is now."""
        assert len(self.strength), "brought up to date"
        return self._tables()

    def _tables(self) -> PairTables:
        state = self.state
        return PairTables(
            state.graph.start, state.pair_start, state.ahead, state.behind, state.open, state.total,
            self._odds, PRIOR_ANSWERS * self._unit,
        )  # fmt: skip

    def _fit(self, position: int) -> None:
        at = self.state.graph.at(position)
        self._strength[at], self._odds[at] = 0.0, 1.0
        _fit(self._tables(), position, self._strength, 1.0 / self._unit)


@njit(cache=True)  # type: ignore[untyped-decorator]
def normal(x: float) -> float:
    """Return the chance that a standard normal variable is below x."""
    return 0.5 * (1.0 + erf(x / 1.4142135623730951))


@njit(cache=True)  # type: ignore[untyped-decorator]
def favours(strength: Vector, offset: Vector, variance: Vector, one: int, other: int) -> float:
    """Return the chance that a judge prefers one edge to another."""
    mean = strength[one] + offset[one] - strength[other] - offset[other]
    chance: float = normal(mean / sqrt(variance[one] + variance[other]))
    return chance


@njit(cache=True)  # type: ignore[untyped-decorator]
def outlook(tables: PairTables, position: int, one: int, other: int) -> tuple[float, float, float, float]:
    """Return the outlook of an edge against another of its position.

    The share its next answer will have, estimated; by how much it will be ahead when all have answered
    (2p - 1), estimated; the deviation of that estimate; and by how much it is ahead at least.
    """
    start = tables.start[position]
    degree = tables.start[position + 1] - start
    if one < other:
        pair = pair_at(tables.pair_start[position], degree, one - start, other - start)
        won, lost = tables.ahead[pair], tables.behind[pair]
    else:
        pair = pair_at(tables.pair_start[position], degree, other - start, one - start)
        won, lost = tables.behind[pair], tables.ahead[pair]
    total, open_ = tables.total[pair], tables.open[pair]
    expected = tables.odds[one] / (tables.odds[one] + tables.odds[other])
    if total == 0:
        return expected, 0.0, 0.0, 0.0
    known = total - open_
    share = (0.5 * (known + won - lost) + tables.prior * expected) / (known + tables.prior)
    ahead = (won - lost + open_ * (2 * share - 1)) / total
    unit = tables.prior / 4.0  # PRIOR_ANSWERS
    spread = 4 * share * (1 - share) * (open_ * open_ / (known + tables.prior) * unit + open_ * unit)
    return share, ahead, sqrt(spread) / total, (won - lost - open_) / total


def expectations(model: Model) -> tuple[Vector, Vector]:
    """Return, for the first edge of every pair, the share of the answers to come and what it will lead by."""
    state = model.state
    share, ahead = np.zeros(state.pairs), np.zeros(state.pairs)
    _expect(model.tables(), state.position, state.first, state.second, share, ahead)
    return share, ahead


@njit(cache=True)  # type: ignore[untyped-decorator]
def _expect(
    tables: PairTables, position: Indices, first: Indices, second: Indices, share: Vector, ahead: Vector
) -> None:
    for pair in range(len(first)):
        share[pair], ahead[pair], _, _ = outlook(tables, position[pair], first[pair], second[pair])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _fit(tables: PairTables, position: int, strength: Vector, per_weight: float) -> None:
    start = tables.start[position]
    degree = tables.start[position + 1] - start
    odds = tables.odds
    for _ in range(STEPS):
        largest = 0.0
        for one in range(degree):
            slope, curvature = -STRENGTH_PRECISION * strength[start + one], STRENGTH_PRECISION
            for other in range(degree):
                if other == one:
                    continue
                pair = pair_at(tables.pair_start[position], degree, min(one, other), max(one, other))
                known = (tables.total[pair] - tables.open[pair]) * per_weight
                if known == 0:
                    continue
                lead = (tables.ahead[pair] - tables.behind[pair]) * per_weight
                wins = 0.5 * (known + (lead if one < other else -lead))
                share = odds[start + one] / (odds[start + one] + odds[start + other])
                slope += wins - known * share
                curvature += known * share * (1 - share)
            step = min(1.0, max(-1.0, slope / curvature))
            strength[start + one] += step
            odds[start + one] = exp(strength[start + one])
            largest = max(largest, abs(step))
        if largest < CLOSE_ENOUGH:
            break


@njit(cache=True)  # type: ignore[untyped-decorator]
def _lean(
    strength: Vector, said: Opinions, first: Indices, second: Indices, offset: Vector, variance: Vector
) -> None:
    """Take all that a judge has said, pair by pair."""
    for pair in range(len(said)):
        if said[pair] == 1:
            _move(strength, offset, variance, first[pair], second[pair])
        elif said[pair] == -1:
            _move(strength, offset, variance, second[pair], first[pair])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _move(strength: Vector, offset: Vector, variance: Vector, better: int, worse: int) -> None:
    both = variance[better] + variance[worse]
    deviation = sqrt(both)
    x = (strength[better] + offset[better] - strength[worse] - offset[worse]) / deviation
    ratio = exp(-0.5 * x * x) / sqrt(2 * pi) / max(normal(x), 1e-9)
    shrink = ratio * (ratio + x)
    for edge, sign in ((better, 1.0), (worse, -1.0)):
        share = variance[edge] / deviation
        offset[edge] += sign * share * ratio
        variance[edge] *= max(0.05, 1 - variance[edge] / both * shrink)


def drawn_times(
    graph: Graph, strength: Vector, opinion: Opinions, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return a time for every judge (a row of ``opinion``) and every edge; earlier is better.

    Everybody ranks by the law of Plackett and Luce: a candidate comes up after a time that is exponential
    with rate exp(strength), so that two compare by Bradley and Terry. What a judge has said puts an order on
    some of the times, unless it contradicts itself; the others are drawn given that order, one time after the
    other between those that bound it (Gibbs sampling).
    """
    begin = np.searchsorted(graph.pair_table.position, np.arange(graph.positions + 1))
    times = np.empty((len(opinion), graph.edges))
    _draw(
        np.exp(strength), graph.start, begin, opinion,
        rng.random((DRAWN, len(opinion), graph.edges)), times,
    )  # fmt: skip
    return times


@njit(cache=True)  # type: ignore[untyped-decorator]
def _draw(
    rate: Vector,
    start: Indices,
    begin: Indices,
    opinion: Opinions,
    uniform: NDArray[np.float64],
    times: NDArray[np.float64],
) -> None:
    for judge in range(len(opinion)):
        for position in range(len(start) - 1):
            first, degree = start[position], start[position + 1] - start[position]
            time = times[judge, first : first + degree]
            lead = np.zeros(degree)
            for a in range(degree):
                for b in range(degree):
                    said = opinion_of(opinion[judge], begin[position], degree, a, b)
                    lead[a] += said if said != 2 else 0
            order = np.argsort(-lead)
            for place in range(degree):
                time[order[place]] = (place + 1.0) / degree
            for sweep in range(len(uniform)):
                for a in range(degree):
                    low, high = 0.0, inf
                    for b in range(degree):
                        said = opinion_of(opinion[judge], begin[position], degree, a, b)
                        if said == 1:
                            high = min(high, time[b])
                        elif said == -1:
                            low = max(low, time[b])
                    if low >= high:  # the judge contradicts this ranking
                        continue
                    share = uniform[sweep, judge, first + a]
                    if high < inf:
                        share *= 1.0 - exp(-rate[first + a] * (high - low))
                    time[a] = low - log(1.0 - share) / rate[first + a]
