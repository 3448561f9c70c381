"""Counting decisions with capacities, seats and rules: counters in place of the bits of the elimination.

The edges are decided one after the other. The state is what the rest needs to know: how many seats of
each open position are filled, how many places each open candidate and each open rule have; a vertex or rule
is open between its first and its last edge. States that agree are merged, with the number of ways to reach
them. So the cost is the number of different states, exponential only in what is open at once, and it is
refused beyond STATES. :mod:`duelmatch.matchings.elimination` is the special case where every counter is a
bit.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from math import comb, log, prod

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import ProblemError, TooLargeError
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.counting import exact_count, pieces
from duelmatch.matchings.elimination import plan

STATES = 5_000_000
"""How many states are kept at most, over all edges: some 200 MB and ten seconds."""

STATE_BYTES = 40
"""What a state takes: where it goes in either case, its code, and the ways to finish from it."""

MOST_BITS = 62

Codes = NDArray[np.int64]
"""States, each as the bits of its open counters."""


@dataclass(frozen=True, slots=True)
class EdgeStep:
    """One edge: where each state goes if it is left out or used, -1 if it cannot be."""

    edge: int
    skip: NDArray[np.int32]
    use: NDArray[np.int32]
    states: int
    """How many states there are after it."""


@dataclass(slots=True)
class _Counter:
    """What is counted over some edges: a position, a candidate, a rule, or a group that goes together."""

    edges: Indices
    least: int
    most: int
    saturates: bool = False
    """Whether more than ``most`` is the same as ``most``, not forbidden."""
    status: _Counter | None = None
    """For a group: what is known of its rule, 0 at first, 1 if no group was used so far, 2 if all were."""
    shift: int = -1
    """Where it stands in the code of a state while it is open, else -1."""

    @property
    def bits(self) -> int:
        return int(self.most).bit_length()

    @property
    def mask(self) -> int:
        return ((1 << self.bits) - 1) << self.shift

    def value(self, codes: Codes) -> Codes:
        return (codes & self.mask) >> self.shift

    def closed(self, codes: Codes) -> tuple[Codes, Mask]:
        """Return the codes without it, and mark those that are still possible."""
        value = self.value(codes)
        possible: Mask = value >= self.least
        if self.status is not None:
            known, found = self.status.value(codes), 1 + value
            possible = (known == 0) | (known == found)
            codes = (codes & ~self.status.mask) | (found << self.status.shift)
        return codes & ~self.mask, possible


class Counters:
    """The layers of one count."""

    def __init__(self, graph: Graph, states: int = STATES) -> None:
        self.graph = graph
        self._limit = states
        self._counters, statuses = _counters(graph)
        self.steps = self._forward(_order(graph, self._counters), statuses)

    @property
    def bound(self) -> int:
        """An upper bound on the number of decisions: any candidates in any seats."""
        return prod(
            comb(degree, seats)
            for degree, seats in zip(self.graph.degrees.tolist(), self.graph.seats.tolist(), strict=True)
        )

    def count(self) -> int:
        """Return the number of decisions exactly: modulo enough numbers to tell."""
        return exact_count(self._count_modulo, self.bound)

    def _count_modulo(self, modulus: int) -> int:
        ways = np.ones(1, dtype=np.uint64)
        for step in reversed(self.steps):
            padded = np.append(ways, np.uint64(0))
            ways = (padded[step.skip] + padded[step.use]) % np.uint64(modulus)
        return int(ways[0])

    @cached_property
    def _finish(self) -> list[Vector]:
        """The ways to finish from every state before each step, and after the last; each layer scaled."""
        layers = [np.ones(1)]
        for step in reversed(self.steps):
            padded = np.append(layers[-1], 0.0)
            ways = padded[step.skip] + padded[step.use]
            _, exponent = np.frexp(ways.max())
            layers.append(np.ldexp(ways, -exponent))
        return layers[::-1]

    def marginals(self) -> Vector:
        """Return, for every edge, the share of the decisions that use it."""
        marginals = np.zeros(self.graph.edges)
        reach = np.ones(1)
        for step, after in zip(self.steps, self._finish[1:], strict=True):
            padded = np.append(after, 0.0)
            used, skipped = reach * padded[step.use], reach * padded[step.skip]
            marginals[step.edge] = used.sum() / (used.sum() + skipped.sum())
            ways = np.zeros(step.states + 1)
            np.add.at(ways, step.skip, reach)
            np.add.at(ways, step.use, reach)
            reach = ways[:-1]
            _, exponent = np.frexp(reach.max())
            reach = np.ldexp(reach, -exponent)
        return marginals

    def draw(self, size: int, rng: np.random.Generator) -> Indices:
        """Return independent uniform decisions, a row each."""
        if size < 0:
            raise ProblemError(f"The number of samples cannot be negative: {size}.")
        states = np.zeros(size, dtype=np.intp)
        uses = np.zeros((size, self.graph.edges), dtype=np.bool_)
        for step, after in zip(self.steps, self._finish[1:], strict=True):
            padded = np.append(after, 0.0)
            used, skipped = padded[step.use[states]], padded[step.skip[states]]
            chosen = rng.random(size) * (used + skipped) < used
            uses[:, step.edge] = chosen
            states = np.where(chosen, step.use[states], step.skip[states]).astype(np.intp)
        return np.nonzero(uses)[1].reshape(size, self.graph.places)

    def _forward(self, order: Indices, statuses: list[_Counter]) -> list[EdgeStep]:
        place = np.empty(self.graph.edges, dtype=np.intp)
        place[order] = np.arange(len(order))
        opens, closes = defaultdict[int, list[_Counter]](list), defaultdict[int, list[_Counter]](list)
        for counter in (*self._counters, *statuses):
            if len(counter.edges):
                opens[int(place[counter.edges].min())].append(counter)
                closes[int(place[counter.edges].max())].append(counter)
        codes: Codes = np.zeros(1, dtype=np.int64)
        taken = total = 0
        steps = []
        for number, edge in enumerate(order.tolist()):
            for counter in opens[number]:
                counter.shift = _free_bits(taken, counter.bits)
                taken |= counter.mask
            after, alive = self._skipped_and_used(edge, codes, place)
            for counter in closes[number]:
                after, possible = counter.closed(after)
                alive &= possible
                taken &= ~counter.mask
                counter.shift = -1
            before = len(codes)
            codes, target = np.unique(after[alive], return_inverse=True)
            moves = np.full(len(after), -1, dtype=np.int32)
            moves[alive] = target
            total += len(codes)
            if total > self._limit:
                raise TooLargeError(
                    f"Counting decisions with these capacities, seats and rules takes more than "
                    f"{self._limit:,} states, which is the limit (after {number + 1} of {len(order)} edges). "
                    "Leave out candidates that cannot win, or use fewer seats, capacities or rules."
                )
            steps.append(EdgeStep(edge, moves[:before], moves[before:], len(codes)))
        return steps

    def _skipped_and_used(self, edge: int, codes: Codes, place: Indices) -> tuple[Codes, Mask]:
        """Return the codes after an edge is left out, then those after it is used; mark the possible ones."""
        use = codes.copy()
        may_skip, may_use = np.ones(len(codes), dtype=np.bool_), np.ones(len(codes), dtype=np.bool_)
        for counter in self._counters:
            if counter.shift < 0 or edge not in counter.edges:
                continue
            value = counter.value(codes)
            left = int((place[counter.edges] > place[edge]).sum())
            full = value >= counter.most
            if counter.saturates:
                use += np.where(full, 0, 1) << counter.shift
            else:
                may_use &= ~full
                use += np.int64(1) << counter.shift
            may_skip &= value + left >= counter.least
            may_use &= value + 1 + left >= counter.least
        return np.concatenate([codes, use]), np.concatenate([may_skip, may_use])


def _counters(graph: Graph) -> tuple[list[_Counter], list[_Counter]]:
    """Return what is counted, and the statuses of the rules that keep groups together."""
    counters, statuses = [], []
    for position, seats in enumerate(graph.seats.tolist()):
        counters.append(_Counter(np.arange(graph.edges)[graph.at(position)], seats, seats))
    for candidate, capacity in enumerate(graph.capacity.tolist()):
        edges = np.flatnonzero(graph.edge_candidate == candidate)
        if capacity < len(edges):
            counters.append(_Counter(edges, 0, capacity))
    for rule in graph.rules:
        if not all(len(group) for group in rule.groups):  # one cannot be used at all, so none is
            counters.append(_Counter(rule.edges, 0, 0))
        elif rule.groups:
            status = _Counter(rule.edges, 0, 2)
            statuses.append(status)
            counters += [_Counter(group, 0, 1, saturates=True, status=status) for group in rule.groups]
        elif rule.at_most is None or rule.at_most >= len(rule.edges):
            counters.append(_Counter(rule.edges, rule.at_least, rule.at_least, saturates=True))
        else:
            counters.append(_Counter(rule.edges, rule.at_least, rule.at_most))
    return counters, statuses


def _order(graph: Graph, counters: list[_Counter]) -> Indices:
    """Return the order of edges with the smallest bound on the number of states, of those tried."""
    by_position = np.arange(graph.edges)
    by_candidate = np.lexsort((graph.edge_position, graph.edge_candidate))
    orders = [by_position, by_candidate, _eliminated(graph)]
    return min(orders, key=lambda order: _cost(order, counters))


def _cost(order: Indices, counters: list[_Counter]) -> float:
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    logs = np.zeros(len(order) + 1)
    for counter in counters:
        if len(counter.edges):
            first, last = place[counter.edges].min(), place[counter.edges].max()
            logs[first:last] += log(counter.most + 1)
    return float(np.logaddexp.reduce(logs))


def _eliminated(graph: Graph) -> Indices:
    """Return the edges in the order in which vertices are eliminated, piece by piece."""
    order = [
        int(piece.edges[edge])
        for piece in pieces(graph, np.arange(graph.edges))
        for step in plan(piece.graph).steps
        for edge in step.edges
    ]
    return np.array(order, dtype=np.intp)


def _free_bits(taken: int, bits: int) -> int:
    shift = 0
    while taken >> shift & ((1 << bits) - 1):
        shift += 1
    if shift + bits > MOST_BITS:
        raise TooLargeError(
            "Counting decisions with these capacities, seats and rules takes too many counters at once. "
            "Leave out candidates that cannot win, or use fewer seats, capacities or rules."
        )
    return shift
