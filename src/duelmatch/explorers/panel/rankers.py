"""Judges who rank: what they will say, given what they have said.

Everybody ranks by the law of Plackett and Luce: a candidate comes up after a time that is exponential with
rate exp(strength), and the earlier of two is the better one: with the probabilities of Bradley and
Terry. What a judge has said puts an order on some of the times; the others are drawn given that order, one
time after the other between those that bound it (Gibbs sampling).
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.panel.closure import Opinions, opinion_of
from duelmatch.graph import Graph, Indices, Vector

SWEEPS = 12
"""How often every time is drawn anew. They start evenly spaced, in an order that fits the answers."""


def drawn_times(
    graph: Graph, strength: Vector, opinion: Opinions, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return a time for every judge (a row of ``opinion``) and every edge; earlier is better.

    The times follow the opinions that are known, unless those contradict each other.
    """
    begin = np.searchsorted(graph.pair_table.position, np.arange(graph.positions + 1))
    times = np.empty((len(opinion), graph.edges))
    _draw(
        np.exp(strength), graph.start, begin, opinion,
        rng.random((SWEEPS, len(opinion), graph.edges)), times,
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
