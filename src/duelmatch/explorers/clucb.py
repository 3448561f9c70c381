"""CLUCB-Borda-PAC (Algorithm 1) and CLUCB-Borda-Exact (Algorithm 5 in the appendix) for the Borda winner.

Each round compares the best matching under the estimated rewards, M_t, with the best under rewards shifted
against it by their confidence radii, M~_t, and asks about the least known edge in which they differ,
against the choice of a uniformly random matching.

Differences from the listings:

- The duel of an edge with itself (p = 1/2 is known) is never asked nor counted. The opponent is drawn given
  that it is another edge, and the estimate is q / 2 + (1 - q) * (mean of the answers), with q = P(e in M)
  the chance of meeting itself; the radius shrinks by the same factor 1 - q. Where q is out of reach and
  opponents are those of sampled matchings, meeting itself counts as half a win instead.
- Opponents need not be biased. They come from exact marginals; where these are out of reach, from matchings
  drawn exactly uniformly (:mod:`duelmatch.matchings.rejection`); and only beyond that from the paper's
  S(eta). The shift by epsilon / 4 pays for the bias of S(eta), so without a bias there is none, which saves
  a quarter to a half of the duels with an epsilon, and up to a fifth without. With ``schedule="every"`` the
  shift stays, as in the listings.
- The proof of Theorem 1 takes the answers about an edge for independent, which those to opponents from one
  Markov chain are not. It suffices that each draw is within eta of uniform given all draws before it: then an
  answer has a mean within eta of the reward given the past, and the Azuma-Hoeffding inequality gives the
  radius that Hoeffding's does. For the same reason the edges of one batch may share their sampled matchings:
  an edge meets each of them once at most.
- The union bound is over max(K, m) means: the printed K is too few where positions have two candidates.
- ``w~(M~) = w~(M)`` in the exact algorithm is decided by the best matching other than M_t, which must be
  worse by more than rounding can explain.
- Beyond one-to-one matchings w(M) adds up w(e) times what a seat of its position counts, and the radii are
  multiplied alike; an edge meets the candidate of one of the seats of a random decision.
- With ``schedule="sparse"`` the comparison is made anew only when the edges in question have been asked
  about a few percent more. The bounds hold at all times, so this is sound.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from itertools import count as counting
from typing import Protocol

import numpy as np
from numba import njit

from duelmatch.errors import TooLargeError
from duelmatch.explorers.car_cond import Schedule
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.engine import Counts, Outcome, Round, RoundAnswers, Rounds, Snapshot
from duelmatch.explorers.tally import paper_scale
from duelmatch.graph import Graph, Indices, Vector
from duelmatch.matchings.chain import Chain
from duelmatch.matchings.counting import edge_marginals
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.rejection import RejectionSampler
from duelmatch.matchings.sampling import Sampler

GROWTH = 0.04
"""How much more the edges in question are asked about between two looks of the sparse schedule."""

ONCE, NEVER = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)

ROUNDING = 1e-12
"""Far more than rounding can change a sum of rewards, far less than any gap that matters."""


class ClucbBorda:
    """One run; ``epsilon=None`` is the exact algorithm, which guesses the gap as 1/2, 1/4, 1/8, ...."""

    def __init__(
        self,
        graph: Graph,
        delta: float,
        seed: int,
        epsilon: float | None = None,
        schedule: Schedule = "sparse",
    ) -> None:
        self._graph = graph
        self._delta = delta
        self._epsilon = epsilon
        self._schedule = schedule
        self._rng = np.random.default_rng([seed, 0])
        self._seed = seed
        self._opponents: _Opponents | None = None
        self._look: tuple[Indices, float, float, int] | None = None
        """The last look: the best matching, its gap per position, epsilon, and the answers used."""

    def rounds(self) -> Rounds:
        """Run the listing."""
        graph = self._graph
        only = decisions_of(graph).one(np.zeros(graph.edges))
        if decisions_of(graph).certain[only].all():
            return Outcome("certified", only)
        if self._epsilon is not None:
            yield from self._epoch(self._epsilon, self._delta)
            return Outcome("within_epsilon", self._leader(), assuming=self._assuming)
        for q in counting(1):
            outcome = yield from self._epoch(2.0**-q, self._delta / (2 * q * q))
            if outcome is not None:
                return outcome
        raise AssertionError("unreachable")

    def _epoch(self, epsilon: float, delta: float) -> Generator[Round, RoundAnswers, Outcome | None]:
        """Run until the best matching is within epsilon (None), or shown to be best (an outcome)."""
        graph = self._graph
        opponents = self._opponents_for(epsilon / 8)
        margin = epsilon / 4 if opponents.eta > 0 or self._schedule == "every" else 0.0
        events = max(graph.pairs, graph.edges)
        asked = np.zeros(graph.edges, dtype=np.int64)
        credit = np.zeros(graph.edges)
        reward = np.zeros(graph.edges)
        t = 1
        while True:
            best = _best(graph, _valued(graph, reward))
            scale = paper_scale(t, delta, events)
            radius, shifted = _shift(reward, asked, opponents.asked_part, best, scale, margin)
            shifted, radius = _valued(graph, shifted), _valued(graph, radius)
            rival = _best(graph, shifted)
            if self._epsilon is None and np.array_equal(best, rival):
                rival = _second_best(graph, shifted, best)
                if shifted[best].sum() - shifted[rival].sum() > ROUNDING:
                    return Outcome("certified", best, assuming=self._assuming)
            compare = _compare if graph.places == graph.positions else _compare_sets
            gap, least_known = compare(best, rival, shifted, radius)
            self._look = (best, gap / graph.positions, epsilon, t - 1)
            if gap <= graph.positions * epsilon:
                return None
            edges, times = np.array([least_known]), ONCE
            if self._schedule == "sparse" and asked[least_known] > 0:
                edges, times = _batch(best, rival, asked)
            met_itself, duels = opponents.draw(edges, times)
            answers = (yield duels) if duels.total else RoundAnswers.none(duels)
            parts = opponents.known_part, opponents.asked_part
            t += _learn(asked, credit, reward, parts, edges, times, met_itself, duels.first, answers.score)

    def _opponents_for(self, eta: float) -> _Opponents:
        if self._opponents is None or eta < self._opponents.eta:
            self._opponents = _opponents(self._graph, eta, self._seed, self._rng)
        return self._opponents

    @property
    def _assuming(self) -> tuple[Assumption, ...]:
        return (Assumption.MIXED_SAMPLER,) if self._opponents and self._opponents.eta > 0 else ()

    def _leader(self) -> Indices:
        assert self._look is not None, "an epoch has looked"
        return self._look[0]

    def snapshot(self) -> Snapshot:
        """Report the matching in front and how far the shifted one is still above it, per position.

        Radii shrink with the square root of the answers, which is what the estimate extrapolates.
        """
        certain, unusable = decisions_of(self._graph).certain, ~decisions_of(self._graph).usable
        if self._look is None:
            return Snapshot(None, certain, unusable)
        best, gap, epsilon, asked = self._look
        left = None if self._epsilon is None else int(asked * (max(1.0, gap / epsilon) ** 2 - 1))
        return Snapshot(best, certain, unusable, gap, left)


class _Opponents(Protocol):
    """Chooses whom an edge meets: at its position, the edge of a random matching."""

    eta: float
    """Within how much of uniform the matchings are drawn; 0 if exactly."""
    known_part: Vector
    """What the reward of each edge owes to meeting itself, as far as that is known beforehand."""
    asked_part: Vector
    """The part of the reward that is estimated from answers."""

    def draw(self, edges: Indices, times: Counts) -> tuple[Counts, Round]:
        """Return how often each edge met itself, and its duels with others."""


class _KnownOpponents:
    """Draws opponents from exact marginals, given that they are not the edge itself."""

    eta = 0.0

    def __init__(self, graph: Graph, marginals: Vector, rng: np.random.Generator) -> None:
        self._rng = rng
        self._others = [_others(graph, marginals, edge) for edge in range(graph.edges)]
        self.known_part = marginals / 2
        self.asked_part = 1.0 - marginals

    def draw(self, edges: Indices, times: Counts) -> tuple[Counts, Round]:
        if times is ONCE:
            others, _, cumulative = self._others[edges[0]]
            place = cumulative.searchsorted(self._rng.random(), side="right")
            return NEVER, Round(edges, others[place : place + 1], ONCE)
        parts = []
        for edge, number in zip(edges.tolist(), times.tolist(), strict=True):
            others, chance, _ = self._others[edge]
            parts.append((edge, others, self._rng.multinomial(number, chance)))
        return np.zeros_like(times), _round(parts)


class _SampledOpponents:
    """Takes opponents from sampled matchings, which the edges of a batch share."""

    def __init__(self, graph: Graph, sampler: Sampler) -> None:
        self._graph = graph
        self._sampler = sampler
        self.eta = sampler.eta
        self.known_part = np.zeros(graph.edges)
        self.asked_part = np.ones(graph.edges)

    def draw(self, edges: Indices, times: Counts) -> tuple[Counts, Round]:
        matchings = self._sampler.draw(int(times.max()))
        met_itself = np.zeros(len(edges), dtype=np.int64)
        parts = []
        for place, edge in enumerate(edges.tolist()):
            drawn = matchings[: times[place], self._graph.edge_position[edge]]
            met_itself[place] = (drawn == edge).sum()
            others, number = np.unique(drawn[drawn != edge], return_counts=True)
            parts.append((edge, others, number))
        return met_itself, _round(parts)


def _opponents(graph: Graph, eta: float, seed: int, rng: np.random.Generator) -> _Opponents:
    """Return the first that is feasible: exact marginals, uniform matchings, almost uniform ones."""
    if not graph.one_to_one:  # at a position of several seats, the candidate of one of them
        shares = decisions_of(graph).marginals() / graph.seats[graph.edge_position]
        return _KnownOpponents(graph, shares, rng)
    with suppress(TooLargeError):
        return _KnownOpponents(graph, edge_marginals(graph), rng)
    with suppress(TooLargeError):
        return _SampledOpponents(graph, RejectionSampler(graph, seed))
    return _SampledOpponents(graph, Chain(graph, eta, seed))


def _others(graph: Graph, marginals: Vector, edge: int) -> tuple[Indices, Vector, Vector]:
    """Return the edges an edge can meet, the chance of each given that it does not meet itself, and sums."""
    inside = np.arange(graph.edges)[graph.at(int(graph.edge_position[edge]))]
    others = inside[(inside != edge) & (marginals[inside] > 0)]
    if len(others) == 0:
        return others, np.zeros(0), np.zeros(0)
    chance = marginals[others] / marginals[others].sum()
    cumulative = np.cumsum(chance)
    cumulative[-1] = 1.0
    return others, chance, cumulative


@njit(cache=True)  # type: ignore[untyped-decorator]
def _shift(
    reward: Vector, asked: Counts, part: Vector, best: Indices, scale: float, margin: float
) -> tuple[Vector, Vector]:
    """Return the radii, and the rewards shifted against the best matching and in favour of the others."""
    radius = np.ones(len(reward))
    for edge in range(len(reward)):
        if asked[edge] > 0:
            radius[edge] = np.sqrt(scale / asked[edge]) * part[edge]
    shifted = reward + radius + margin
    for edge in best:
        shifted[edge] = reward[edge] - radius[edge] - margin
    return radius, shifted


@njit(cache=True)  # type: ignore[untyped-decorator]
def _learn(
    asked: Counts,
    credit: Vector,
    reward: Vector,
    parts: tuple[Vector, Vector],
    edges: Indices,
    times: Counts,
    met_itself: Counts,
    first: Indices,
    score: Vector,
) -> int:
    """Credit the edges with what they won, estimate their rewards anew; return the rounds played."""
    rounds = 0
    for place in range(len(first)):
        credit[first[place]] += score[place]
    for place in range(len(edges)):
        edge = edges[place]
        asked[edge] += times[place]
        credit[edge] += 0.5 * met_itself[place]
        reward[edge] = parts[0][edge] + parts[1][edge] * (credit[edge] / asked[edge])
        rounds += times[place]
    return rounds


@njit(cache=True)  # type: ignore[untyped-decorator]
def _compare(best: Indices, rival: Indices, shifted: Vector, radius: Vector) -> tuple[float, int]:
    """Return w~(M~) - w~(M), and the least known edge in which the two differ (of several, the first)."""
    gap, widest, least_known = 0.0, -1.0, -1
    for mine, theirs in zip(best, rival):  # noqa: B905, compiled
        if mine == theirs:
            continue
        gap += shifted[theirs] - shifted[mine]
        for edge in (mine, theirs):
            if radius[edge] > widest or (radius[edge] == widest and edge < least_known):
                widest, least_known = radius[edge], edge
    return gap, least_known


def _compare_sets(best: Indices, rival: Indices, shifted: Vector, radius: Vector) -> tuple[float, int]:
    """Compare two decisions of any numbers of seats; as :func:`_compare`."""
    mine, theirs = np.setdiff1d(best, rival), np.setdiff1d(rival, best)
    if len(mine) == 0:
        return 0.0, -1
    differing = np.union1d(mine, theirs)
    return float(shifted[theirs].sum() - shifted[mine].sum()), int(differing[np.argmax(radius[differing])])


def _valued(graph: Graph, values: Vector) -> Vector:
    """Return what edges count in w(M): by the weights of positions and their seats, l in all."""
    return values if graph.even else values * graph.edge_share * (graph.positions / graph.total_weight)


def _batch(best: Indices, rival: Indices, asked: Counts) -> tuple[Indices, Counts]:
    """Return how often to ask about the least asked edges in question to raise them to a common level."""
    undecided = np.setxor1d(best, rival)
    level = int(np.ceil(asked[undecided].min() * (1 + GROWTH))) + 1
    edges = undecided[asked[undecided] < level]
    return edges, level - asked[edges]


def _round(parts: list[tuple[int, Indices, Counts]]) -> Round:
    """Put the duels of several edges, (edge, opponents, how often each), into one round."""
    return Round(
        np.concatenate([np.full(len(others), edge) for edge, others, _ in parts]),
        np.concatenate([others for _, others, _ in parts]),
        np.concatenate([number for _, _, number in parts]),
    )


def _second_best(graph: Graph, weights: Vector, best: Indices) -> Indices:
    other = decisions_of(graph).best_other(weights, best)
    assert other is not None, "there is more than one matching"
    return other


def _best(graph: Graph, weights: Vector) -> Indices:
    return decisions_of(graph).one(weights)
