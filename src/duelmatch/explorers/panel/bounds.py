"""What the count says of one line-up against another, whatever the open answers will be.

For a champion A both criteria have the same form: A is ahead of B by a sum over positions, D(A, B) = sum of
d_j(A(j), B(j)), and the open answers leave an interval for every d_j(a, b), in whole numbers:

Condorcet. d_j(a, b) = factor (ahead - behind -+ open) of the pair: see :mod:`.state`.

Borda. With whole numbers q in proportion to how often a line-up uses each edge, w(a) = sum over y of q(y)
factor (ahead - behind) of the pair (a, y), and d_j(a, b) = w(a) - w(b). An open answer on (a, y) moves w(a)
by q(y), one on (a, b) moves w(a) and w(b) against each other by q(a) + q(b); so the least value is least(a) -
most(b), where least and most count every open answer against, or for. There is no term for the pair (a, b)
that would be counted twice.

Consistent judges narrow that: a judge who is known to put a above b (or level) puts every y that is open
against both above both, below both or between, hence contributes -|f(a, y) - f(b, y)| q(y) at least, and not
-(f(a, y) + f(b, y)) q(y), where f is the factor. For one judge, one position and two edges the bound is then
the true minimum over all rankings, if the pairs have the same factor. Condorcet needs no such care, as only
one answer of a judge at a position counts for d_j(a, b).

Positions may count differently, candidates have capacities, and rules be obeyed: the counts are then
multiplied by the weights (:mod:`.state`), and the bounds are sums over the edges of B all the same. (The
narrowing by consistency is left out there.) For several seats see :mod:`.seats`.

The least D(A, B) over B is one assignment problem, or one question to the exact oracle
(:func:`duelmatch.matchings.integers.cheapest_and_bound`). To leave out B = A itself, D is first multiplied
by l + 1 and reduced by the number of positions where B differs: a whole number D > 0 stays above 0, D <= 0
falls below, and A itself has 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.panel.state import Opinions, PanelState, Weights, opinion_of, pair_at
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.counted import counted
from duelmatch.matchings.counting import blocks, count_matchings, edge_marginals
from duelmatch.matchings.decisions import MEMORY, decisions_of
from duelmatch.matchings.integers import SAFE, cheapest_and_bound
from duelmatch.preferences import Criterion

Whole = NDArray[Any]
"""Whole numbers: int64, or Python integers where those do not suffice."""

EXACT_FROM_FLOATS = 10**12
"""Up to so many matchings, the count of those through an edge is its marginal times all, rounded."""


class Closest(NamedTuple):
    """Another line-up, and by how much a given one is ahead of it: a sum over positions."""

    rival: Indices
    ahead: int


class Bounds(ABC):
    """By how much a champion's edges are ahead of each edge, at least and at most."""

    criterion: Criterion

    def __init__(self, state: PanelState) -> None:
        self.state = state

    @property
    def unit(self) -> Fraction:
        """What d = 1 means: the share of votes p - 1/2 is d / unit."""
        return self.state.unit

    def least(self, champion: Indices) -> Whole:
        """Count every open answer against the champion."""
        return self._against(champion, -1)

    def most(self, champion: Indices) -> Whole:
        """Count every open answer for the champion."""
        return self._against(champion, 1)

    @abstractmethod
    def _against(self, champion: Indices, sign: int) -> Whole:
        """Return it with every open answer for the champion (1) or against (-1).

        Of several seats see :mod:`.seats`: the sum over a decision's edges is to be compared with that over
        the champion's.
        """


class CondorcetBounds(Bounds):
    """Head to head."""

    criterion = "condorcet"

    def _against(self, champion: Indices, sign: int) -> Whole:
        state, graph = self.state, self.state.graph
        several = 2 * graph.places if graph.places > graph.positions else 1
        largest = several * state.largest * graph.places * (graph.places + 1)
        factor, ahead, behind, open_ = as_whole(largest, state.factor, state.ahead, state.behind, state.open)
        own, out = graph.uses(champion), np.zeros(graph.edges, dtype=factor.dtype)
        count = _against.py_func if factor.dtype == object else _against
        count(
            champion, own, sign, graph.edge_position, graph.start, state.pair_start, factor, ahead, behind,
            open_, out,
        )  # fmt: skip
        return out

    def matrix(self, sign: int) -> Whole:
        """Return an m x m table of the most (1) or the least (-1) by which one edge is ahead of another."""
        state, graph = self.state, self.state.graph
        largest = state.largest * graph.positions * (graph.positions + 1)
        factor, ahead, behind, slack = as_whole(
            largest, state.factor, state.ahead, state.behind, sign * state.open
        )
        margin = ahead - behind
        return graph.table(factor * (slack + margin), factor * (slack - margin))


class BordaBounds(Bounds):
    """By reward."""

    criterion = "borda"

    def __init__(self, state: PanelState) -> None:
        super().__init__(state)
        self.shares, self.share_unit = counted(exact_marginals, state.graph)

    @property
    def parts(self) -> Vector:
        """How much of the line-ups use each edge."""
        return np.array([float(share) for share in self.shares / self.share_unit])

    @property
    def unit(self) -> Fraction:
        """What d = 1 means: the difference of two rewards is d / unit."""
        return self.state.unit * self.share_unit

    def rewards(self, sign: int) -> Whole:
        """Return for every edge the most (1) or the least (-1) its reward can be, less half of its range."""
        state, graph = self.state, self.state.graph
        factor, shares, ahead, behind, slack = as_whole(
            self._largest, state.factor, self.shares, state.ahead, state.behind, sign * state.open
        )
        out, margin = np.zeros(graph.edges, dtype=factor.dtype), ahead - behind
        np.add.at(out, state.first, shares[state.second] * factor * (slack + margin))
        np.add.at(out, state.second, shares[state.first] * factor * (slack - margin))
        return out

    @property
    def _largest(self) -> int:
        graph = self.state.graph
        most = int(self.share_unit) * graph.places * (graph.places + 1) * int(graph.seats.max())
        return 4 * self.state.largest * most

    def _against(self, champion: Indices, sign: int) -> Whole:
        state, graph = self.state, self.state.graph
        own, others = self.rewards(sign), self.rewards(-sign)
        if graph.places > graph.positions:  # to be compared with the sum over the champion's edges
            others[champion] = own[champion]
            return -others
        out: Whole = own[champion][graph.edge_position] - others
        out[champion] = 0
        if state.consistent and graph.conditions is None:
            factor, shares, weight = as_whole(self._largest, state.factor, self.shares, state.weight)
            narrow = _narrow.py_func if factor.dtype == object else _narrow
            narrow(
                champion, sign, graph.start, state.pair_start, factor, shares, state.opinion, state.open_to,
                weight, out,
            )  # fmt: skip
        return out


def as_whole(largest: int, *arrays: Whole) -> tuple[Whole, ...]:
    """Return whole numbers in int64 if sums up to ``largest`` are safe there, else all of them as Python's.

    A single numpy integer among Python's would bring back its overflow.
    """
    return tuple(array.astype(np.int64 if largest < SAFE else object, copy=False) for array in arrays)


def closest(graph: Graph, bound: Whole, champion: Indices) -> Closest | None:
    """Return the other line-up with the smallest sum of ``bound``; None if it is above 0 for all others.

    Sums are less that of the champion, which is 0 unless a position has several seats. Where the oracle stops
    before it has found it, ``ahead`` is no more than the smallest sum, and the line-up is the closest that
    was met: perhaps the champion itself.
    """
    costs = (graph.places + 1) * bound - 1
    costs[champion] += 1
    found = cheapest_and_bound(graph, costs)
    assert found is not None, "a Problem has a matching"
    rival, at_least = found
    own = costs[champion].sum()
    if at_least == own:
        return None
    if costs[rival].sum() == at_least:
        return Closest(rival, int(bound[rival].sum() - bound[champion].sum()))
    return Closest(rival, -int(-(at_least - own + 1) // (graph.places + 1)))


def exact_marginals(graph: Graph, memory: int = MEMORY) -> tuple[Whole, int]:
    """Return whole numbers q and their unit: a uniformly random matching uses edge e with chance q(e) / unit.

    :raises TooLargeError: where the marginals are out of reach.
    """
    if not graph.one_to_one:
        return _exact_shares(graph, memory)
    counts = np.zeros(graph.edges, dtype=object)
    totals = np.ones(graph.edges, dtype=object)
    for block in blocks(graph):
        part = block.graph
        if part.is_complete:
            counts[block.edges], totals[block.edges] = 1, part.candidates
            continue
        total = count_matchings(part, memory)
        marginals = edge_marginals(part, memory)
        if total <= EXACT_FROM_FLOATS:
            through = [round(float(marginal) * total) for marginal in marginals]
        else:
            through = [_count_through(part, edge, memory) for edge in range(part.edges)]
        counts[block.edges], totals[block.edges] = np.array(through, dtype=object), total
    unit = lcm(*{int(total) for total in totals})
    return counts * (unit // totals), unit


def _exact_shares(graph: Graph, memory: int) -> tuple[Whole, int]:
    """Return the same for any class: the decisions through an edge are all, less those without it."""
    decisions = decisions_of(graph)
    total = decisions.count(memory)
    if total <= EXACT_FROM_FLOATS:
        through = [round(float(marginal) * total) for marginal in decisions.marginals(memory)]
    else:
        certain, edges = decisions.certain, np.arange(graph.edges)
        through = [
            total if certain[edge] else total - decisions_of(graph.part(edges != edge)).count(memory)
            for edge in edges.tolist()
        ]
    common = gcd(total, *through)
    return np.array([number // common for number in through], dtype=object), total // common


def _count_through(graph: Graph, edge: int, memory: int) -> int:
    """Count the matchings through an edge: those of the graph without its two ends."""
    candidate, position = graph.edge_candidate[edge], graph.edge_position[edge]
    rest = (graph.edge_candidate != candidate) & (graph.edge_position != position)
    if graph.positions == 1:
        return 1
    candidates, positions = graph.edge_candidate[rest], graph.edge_position[rest]
    smaller = Graph.from_edges(
        graph.candidates - 1,
        graph.positions - 1,
        candidates - (candidates > candidate),
        positions - (positions > position),
    )
    return count_matchings(smaller, memory) if smaller.hall_violator() is None else 0


@njit(cache=True)  # type: ignore[untyped-decorator]
def _against(
    champion: Indices, own: Mask, sign: int, position_of: Indices, start: Indices, pair_start: Indices,
    factor: Whole, ahead: Weights, behind: Weights, open_: Weights, out: Whole,
) -> None:  # fmt: skip
    for chosen in champion:
        position = position_of[chosen]
        first, degree = start[position], start[position + 1] - start[position]
        for other in range(first, first + degree):
            if other != chosen:
                low, high = min(chosen, other) - first, max(chosen, other) - first
                pair = pair_at(pair_start[position], degree, low, high)
                lead = ahead[pair] - behind[pair] if chosen < other else behind[pair] - ahead[pair]
                slack = -sign * open_[pair] if own[other] else sign * open_[pair]
                out[other] += factor[pair] * (lead + slack)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _narrow(
    champion: Indices,
    sign: int,
    start: Indices,
    pair_start: Indices,
    factor: Whole,
    shares: Whole,
    opinion: Opinions,
    open_to: Mask,
    weight: Weights,
    out: Whole,
) -> None:
    """Take back what no consistent judge can do: put y between a and b the wrong way round."""
    for position in range(len(champion)):
        degree = start[position + 1] - start[position]
        own = champion[position] - start[position]
        base = pair_start[position]
        for judge in range(len(opinion)):
            for other in range(degree):
                known = opinion_of(opinion[judge], base, degree, own, other)
                if other == own or (known != 0 and known != -sign):
                    continue
                for y in range(degree):
                    if y in (own, other):
                        continue
                    own_pair = pair_at(base, degree, min(own, y), max(own, y))
                    other_pair = pair_at(base, degree, min(other, y), max(other, y))
                    if opinion[judge, own_pair] != 2 or opinion[judge, other_pair] != 2:
                        continue
                    if open_to[judge, own_pair] and open_to[judge, other_pair]:
                        less = 2 * min(factor[own_pair], factor[other_pair]) * weight[judge]
                        out[start[position] + other] -= sign * less * shares[start[position] + y]
