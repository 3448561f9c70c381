"""CLUCB-Borda-PAC (Algorithm 1) and CLUCB-Borda-Exact (Algorithm 5 in the appendix) for the Borda winner.

Each round compares the best matching under the estimated rewards, M_t, with the best under rewards shifted
against it by their confidence radii, M~_t, and asks about the least known edge in which they differ,
against the choice of a uniformly random matching.

Differences from the listings:

- The duel of an edge with itself (p = 1/2 is known) is never asked nor counted. The opponent is drawn given
  that it is another edge, and the estimate is q / 2 + (1 - q) * (mean of the answers), with q = P(e in M) the
  chance of meeting itself; the radius shrinks by the same factor 1 - q. Where q is out of reach and
  opponents come from the almost uniform sampler, meeting itself counts as half a win instead.
- The union bound is over max(K, m) means: the printed K is too few where positions have two candidates.
- ``w~(M~) = w~(M)`` in the exact algorithm is decided by the best matching other than M_t, which must be worse
  by more than rounding can explain.
- With ``schedule="sparse"`` the comparison is made anew only when the edges in question have been asked about
  a few percent more. The bounds hold at all times, so this is sound.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import count as counting
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from duelmatch.confidence import paper_radius
from duelmatch.errors import TooLargeError
from duelmatch.explorers.rounds import Outcome, Round, Rounds, Standing
from duelmatch.graph import Graph, Indices, Vector
from duelmatch.matchings.assignment import best_matching, best_other_matching, certain_edges, usable_edges
from duelmatch.matchings.chain import Chain
from duelmatch.matchings.counting import edge_marginals

Schedule = Literal["sparse", "every"]

GROWTH = 0.04
"""How much more the edges in question are asked about between two looks of the sparse schedule."""

ONCE = np.ones(1, dtype=np.int64)

ROUNDING = 1e-12
"""Far more than rounding can change a sum of rewards, far less than any gap that matters."""


class ClucbBorda:
    """One run; ``epsilon=None`` is the exact algorithm, which guesses the gap as 1/2, 1/4, 1/8, ...."""

    def __init__(
        self, graph: Graph, delta: float, epsilon: float | None, schedule: Schedule, seed: int
    ) -> None:
        self._graph = graph
        self._delta = delta
        self._epsilon = epsilon
        self._schedule = schedule
        self._rng = np.random.default_rng([seed, 0])
        self._seed = seed
        self._opponents: _Opponents | None = None
        self._look: _Look | None = None

    def rounds(self) -> Rounds:
        """Run the listing."""
        graph = self._graph
        only = graph.some_matching()
        assert only is not None, "a Problem has a matching"
        if certain_edges(graph)[only].all():
            return Outcome("certified", only)
        if self._epsilon is not None:
            return (yield from self._epoch(self._epsilon, self._delta)) or Outcome(
                "within_epsilon", self._leader()
            )
        for q in counting(1):
            outcome = yield from self._epoch(2.0**-q, self._delta / (2 * q * q))
            if outcome is not None:
                return outcome
        raise AssertionError("unreachable")

    def _epoch(self, epsilon: float, delta: float) -> Generator[Round, NDArray[np.int64], Outcome | None]:
        """Run until the best matching is within epsilon (None), or shown to be best (an outcome)."""
        graph = self._graph
        opponents = self._opponents_for(epsilon / 8)
        events = max(graph.pairs, graph.edges)
        asked = np.zeros(graph.edges, dtype=np.int64)
        credit = np.zeros(graph.edges)
        reward = np.zeros(graph.edges)
        t = 1
        while True:
            radius = paper_radius(asked, t, delta, events)
            radius *= np.where(asked > 0, opponents.asked_part, 1.0)
            best = _best(graph, reward)
            shifted = reward + radius + epsilon / 4
            shifted[best] = reward[best] - radius[best] - epsilon / 4
            rival = _best(graph, shifted)
            if self._epsilon is None and np.array_equal(rival, best):
                other = best_other_matching(graph, shifted, best)
                assert other is not None, "there is more than one matching"
                if shifted[best].sum() - shifted[other].sum() > ROUNDING:
                    return Outcome("certified", best)
                rival = other
            gap = float(shifted[rival].sum() - shifted[best].sum())
            self._look = _Look(best, gap / graph.positions, epsilon, t - 1)
            if gap <= graph.positions * epsilon:
                return None
            differ = best != rival
            wanted = self._wanted(np.concatenate([best[differ], rival[differ]]), asked, radius)
            for edge, number in wanted:
                met_itself, duels = opponents.draw(edge, number)
                asked[edge] += number
                credit[edge] += 0.5 * met_itself
                t += number
                if duels.total:
                    credit[edge] += (yield duels).sum()
                mean = credit[edge] / asked[edge]
                reward[edge] = opponents.known_part[edge] + opponents.asked_part[edge] * mean

    def _wanted(self, undecided: Indices, asked: NDArray[np.int64], radius: Vector) -> list[tuple[int, int]]:
        """Return the edges to ask about next, and how often: z_t of the listing, once, or a batch.

        A batch raises the least asked edges in question to a common level a few percent higher.
        """
        if self._schedule == "every" or not asked[undecided].all():
            radii = radius[undecided]
            return [(int(undecided[radii == radii.max()].min()), 1)]
        level = int(np.ceil(asked[undecided].min() * (1 + GROWTH))) + 1
        return [(int(edge), int(level - asked[edge])) for edge in undecided if asked[edge] < level]

    def _opponents_for(self, eta: float) -> _Opponents:
        if self._opponents is None or self._opponents.needs_renewal(eta):
            self._opponents = _opponents(self._graph, eta, self._seed, self._rng)
        return self._opponents

    def _leader(self) -> Indices:
        assert self._look is not None, "an epoch has looked"
        return self._look.best

    def standing(self) -> Standing:
        """Report the matching in front and how far the shifted one is still above it, per position.

        Radii shrink with the square root of the answers, which is what the estimate extrapolates.
        """
        graph, look = self._graph, self._look
        usable, certain = usable_edges(graph), certain_edges(graph)
        if look is None:
            return Standing(None, certain, ~usable, None, None)
        left = None
        if self._epsilon is not None:
            ratio = max(1.0, look.gap / look.epsilon)
            left = int(look.asked * (ratio**2 - 1))
        return Standing(look.best, certain, ~usable, look.gap, left)


@dataclass(frozen=True, slots=True)
class _Look:
    """The last comparison of the best matching with its rival."""

    best: Indices
    gap: float
    epsilon: float
    asked: int


class _Opponents:
    """Draws opponents from exact marginals: another edge of the position, as a random matching uses it."""

    def __init__(self, graph: Graph, marginals: Vector, rng: np.random.Generator) -> None:
        self._rng = rng
        self._others = [_others(graph, marginals, edge) for edge in range(graph.edges)]
        self.known_part = marginals / 2
        self.asked_part = 1.0 - marginals

    def needs_renewal(self, eta: float) -> bool:
        """Whether a smaller eta asks for new opponents: never, these are exact."""
        return False

    def draw(self, edge: int, number: int) -> tuple[int, Round]:
        """Return how often the edge met itself (never), and its duels with others."""
        others, chance, cumulative = self._others[edge]
        if number == 1:
            opponent = others[np.searchsorted(cumulative, self._rng.random(), side="right")]
            return 0, Round(np.array([edge]), np.array([opponent]), ONCE)
        drawn = self._rng.multinomial(number, chance)
        met = np.flatnonzero(drawn)
        return 0, _duels(edge, others[met], drawn[met])


class _ChainOpponents(_Opponents):
    """Draws opponents from the almost uniform sampler, one matching for each."""

    def __init__(self, graph: Graph, eta: float, seed: int) -> None:
        self._graph = graph
        self._chain = Chain(graph, eta, seed)
        self.known_part = np.zeros(graph.edges)
        self.asked_part = np.ones(graph.edges)

    def needs_renewal(self, eta: float) -> bool:
        """Whether the chain was made for a larger eta."""
        return eta < self._chain.eta

    def draw(self, edge: int, number: int) -> tuple[int, Round]:
        """Return how often the edge met itself, and its duels with others."""
        opponents = self._chain.draw(number)[:, self._graph.edge_position[edge]]
        met, times = np.unique(opponents[opponents != edge], return_counts=True)
        return int((opponents == edge).sum()), _duels(edge, met, times)


def _opponents(graph: Graph, eta: float, seed: int, rng: np.random.Generator) -> _Opponents:
    try:
        return _Opponents(graph, edge_marginals(graph), rng)
    except TooLargeError:
        return _ChainOpponents(graph, eta, seed)


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


def _duels(edge: int, opponents: Indices, times: NDArray[np.int64]) -> Round:
    return Round(np.full(len(opponents), edge), opponents, times.astype(np.int64))


def _best(graph: Graph, weights: Vector) -> Indices:
    matching = best_matching(graph, weights)
    assert matching is not None, "a Problem has a matching"
    return matching
