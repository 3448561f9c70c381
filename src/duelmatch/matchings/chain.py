"""PLACEHOLDER"""

from __future__ import annotations

from math import ceil, log

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.errors import ProblemError
from duelmatch.graph import Graph, Indices, Mask, Vector

Counts = NDArray[np.int64]

VISITS = 1.0
PHASE = 16
LOPSIDED = 2.0
KEEP = 0.5


class Chain:
    """An almost uniform sampler."""

    def __init__(self, graph: Graph, eta: float, seed: int) -> None:
        if not 0 < eta < 1:
            raise ProblemError(f"eta is a distance between 0 and 1, both excluded, not {eta}.")
        self.graph = graph
        self.eta = eta
        self._rng = np.random.default_rng(seed)
        self._is_edge = _padded(graph)
        self._matching = _perfect_matching(graph)
        self._possible = _possible_holes(self._is_edge, self._matching)
        self.visits_per_sample = ceil(VISITS * graph.candidates * log(graph.candidates / eta))
        self.steps_per_sample = self.visits_per_sample * int(self._possible.sum())
        self.phases = 0
        self.repeats = 0
        self._start()
        self._anneal()
        self.draw(1)

    def _start(self) -> None:
        n = len(self._matching)
        self._mate = np.concatenate([np.argsort(self._matching) + n, self._matching]).astype(np.int64)
        self._hole = (-1, -1, 0)

    def _tables(self, activity: float):
        n = len(self._matching)
        factor = np.array([1 / activity if activity else np.inf, 1.0, activity])
        return (
            _both_ways(self._is_edge.astype(np.int64)),
            _both_ways(self._weight[:-1].reshape(n, n)),
            factor,
        )

    def draw(self, size: int) -> Indices:
        if size < 0:
            raise ProblemError(f"The number of matchings to draw cannot be negative, but it is {size}.")
        candidates = np.empty((size, self.graph.positions), dtype=np.intp)
        self._hole = _draw(
            self._mate,
            self._hole,
            *self._tables(0.0),
            self.visits_per_sample,
            candidates,
            self._rng,
        )
        return self.graph.edge_at[np.arange(self.graph.positions), candidates].astype(np.intp)

    def _anneal(self) -> None:
        n = self.graph.candidates
        activity = 1.0
        self._weight = np.append(np.full(n * n, float(n)), 1.0)
        while True:
            counts = self._phase(activity)
            if activity == 0:
                break
            ratio = _next_ratio(counts, self._possible)
            if ratio == 0:
                self._start()
            self._weight = _reweighted(self._weight, counts, ratio, self._possible)
            activity *= ratio

    def _phase(self, activity: float) -> Counts:
        n = self.graph.candidates
        patterns = self._possible if activity == 0 else np.ones(n * n + 1, dtype=np.bool_)
        visits = PHASE * n * n
        while True:
            counts = np.zeros((n * n + 1, n + 1), dtype=np.int64)
            self._hole = _gather(
                self._mate,
                self._hole,
                *self._tables(activity),
                visits * int(patterns.sum()),
                counts,
                self._rng,
            )
            self.phases += 1
            seen = counts.sum(axis=1)[patterns]
            if seen.min() * LOPSIDED >= visits and seen.max() <= LOPSIDED * visits:
                return counts
            factor = np.ones(n * n + 1)
            factor[patterns] = max(seen[-1], 1) / np.maximum(seen, 1)
            self._weight = self._weight * factor
            visits *= 2
            self.repeats += 1


def _both_ways(table):
    n = len(table)
    both = np.ones((2 * n, 2 * n), dtype=table.dtype)
    both[n:, :n] = table
    both[:n, n:] = table.T
    return both


def _padded(graph: Graph) -> Mask:
    is_edge = np.ones((graph.candidates, graph.candidates), dtype=np.bool_)
    is_edge[: graph.positions] = graph.edge_at >= 0
    return is_edge


def _perfect_matching(graph: Graph) -> Indices:
    edges = graph.some_matching()
    if edges is None:
        raise ProblemError("No matching fills every position, so there is none to draw.")
    filled = graph.edge_candidate[edges]
    idle = np.setdiff1d(np.arange(graph.candidates), filled)
    return np.concatenate([filled, idle])


def _possible_holes(is_edge: Mask, matching: Indices) -> Mask:
    reach = is_edge[:, matching]
    for _ in range(len(matching).bit_length()):
        reach = reach @ reach
    possible = np.empty_like(reach)
    possible[:, matching] = reach.T
    return np.append(possible.ravel(), True)


def _kept(counts: Counts, ratio: float, possible: Mask) -> Vector:
    kept = np.zeros(len(counts))
    for non_edges in range(counts.shape[1] - 1, 0, -1):
        kept = kept * ratio + counts[:, non_edges]
    return np.where(possible, kept * ratio + counts[:, 0], kept)


def _next_ratio(counts: Counts, possible: Mask) -> float:
    enough = KEEP * counts.sum(axis=1)
    if (_kept(counts, 0.0, possible) >= enough).all():
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        if (_kept(counts, middle, possible) >= enough).all():
            high = middle
        else:
            low = middle
    return high


def _reweighted(weight: Vector, counts: Counts, ratio: float, possible: Mask) -> Vector:
    kept = _kept(counts, ratio, possible)
    weight = weight * (kept[-1] / kept)
    weight[~possible] = weight[~possible] / ratio if ratio > 0 else 1.0
    return weight


@njit(cache=True, inline="always")
def _step(mate, hole, is_edge, weight, factor, vertex, coin):  # type: ignore[no-untyped-def]
    n = len(mate) // 2
    u, v, k = hole
    if u < 0:
        v, u = min(vertex, mate[vertex]), max(vertex, mate[vertex])
        change = is_edge[u, v] - 1
        if coin < weight[u, v] * factor[1 + change]:
            return u, v, k + change
        return -1, -1, k
    here = coin * weight[u, v]
    if vertex == u or vertex == v:
        change = 1 - is_edge[u, v]
        if here < factor[1 + change]:
            mate[u], mate[v] = v, u
            return -1, -1, k + change
        return u, v, k
    filled, kept = (u, v) if vertex < n else (v, u)
    freed = mate[vertex]
    change = is_edge[freed, vertex] - is_edge[filled, vertex]
    if here < weight[freed, kept] * factor[1 + change]:
        mate[filled], mate[vertex] = vertex, filled
        return max(freed, kept), min(freed, kept), k + change
    return u, v, k


@njit(cache=True)
def _gather(mate, hole, is_edge, weight, factor, steps, counts, rng):  # type: ignore[no-untyped-def]
    n = len(mate) // 2
    for _ in range(steps):
        dice = rng.random() * (2 * n)
        vertex = int(dice)
        hole = _step(mate, hole, is_edge, weight, factor, vertex, dice - vertex)
        pattern = n * n if hole[0] < 0 else (hole[0] - n) * n + hole[1]
        counts[pattern, hole[2]] += 1
    return hole


@njit(cache=True)
def _draw(mate, hole, is_edge, weight, factor, visits, samples, rng):  # type: ignore[no-untyped-def]
    n = len(mate) // 2
    for i in range(len(samples)):
        left = visits
        while left > 0:
            dice = rng.random() * (2 * n)
            vertex = int(dice)
            hole = _step(mate, hole, is_edge, weight, factor, vertex, dice - vertex)
            if hole[0] < 0:
                left -= 1
        samples[i] = mate[n : n + samples.shape[1]]
    return hole
