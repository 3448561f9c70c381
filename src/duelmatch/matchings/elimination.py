"""Counting matchings by eliminating one vertex after another: a plan, and its steps forth and back.

Vertices are positions 0..l-1, which must be filled, and candidates l..l+n-1, which may stay free. A
vertex is *open* while some but not all of its edges have been dealt with; the state of the count is the
set of open vertices that are already matched, so a layer holds 2^(open vertices) numbers. Eliminating a
vertex decides whom it is matched with and closes it. Eliminating the candidates one by one is the usual
subset dynamic program over positions; on sparse graphs a good order keeps few vertices open.

Every step is a linear map of layers with entries 0 and 1. :meth:`Step.forward` applies it (any dtype),
:meth:`Step.backward` applies its transpose, and both together give edge marginals and samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duelmatch.graph import Graph, Mask, Vector

Layer = NDArray[Any]
"""Counts per state: doubles, or integers modulo something."""

STARTS = 8
"""How many starting vertices are tried when looking for a cheap order."""


@dataclass(frozen=True, slots=True)
class Step:
    """The elimination of one vertex."""

    bit: int
    """The vertex's bit in the layer before the step, -1 if it was not open yet."""
    must_match: bool
    edges: tuple[int, ...]
    edge_bits: tuple[int, ...]
    """For each remaining edge of the vertex, the bit of its other end in the layer after the step."""
    open_after: int

    def split(self, layer: Layer) -> tuple[Layer, Layer | None]:
        """Return the layer where the vertex is unmatched and where it is matched, its bit taken out."""
        if self.bit < 0:
            return layer, None
        halves = layer.reshape(-1, 2, 1 << self.bit)
        return halves[:, 0].ravel(), halves[:, 1].ravel()

    def forward(self, layer: Layer) -> Layer:
        """Count the ways to reach every state after the step."""
        unmatched, matched = self.split(layer)
        after = np.zeros(1 << self.open_after, dtype=layer.dtype)
        kept = after[: len(unmatched)]
        if not self.must_match:
            kept += unmatched
        if matched is not None:
            kept += matched
        for bit in self.edge_bits:
            source, target = _edge_views(unmatched, after, bit)
            target += source
        return after

    def backward(self, layer: Vector, after: Vector, edge_counts: Vector) -> Vector:
        """Return the ways to finish from every state before the step; add to the counts of its edges.

        ``layer`` counts the ways to reach the states before the step, ``after`` the ways to finish
        from the states after it.
        """
        unmatched, matched = self.split(layer)
        kept = after[: len(unmatched)]
        finish = np.zeros_like(unmatched) if self.must_match else kept.copy()
        for edge, bit in zip(self.edges, self.edge_bits, strict=True):
            source, target = _edge_views(unmatched, after, bit)
            edge_counts[edge] += float((source * target).sum())
            finish_source, _ = _edge_views(finish, after, bit)
            finish_source += target
        if matched is None:
            return finish
        before = np.empty_like(layer)
        halves = before.reshape(-1, 2, 1 << self.bit)
        halves[:, 0] = finish.reshape(-1, 1 << self.bit)
        halves[:, 1] = kept.reshape(-1, 1 << self.bit)
        return before

    def sample(
        self, layer: Vector, states: NDArray[np.int64], uses: Mask, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw the states before the step given those after it; mark the edges chosen in ``uses``.

        A path through the layers is uniform over matchings if each step backwards is taken with
        probability proportional to the number of ways to reach the state it leads to.
        """
        unmatched, matched = self.split(layer)
        old = states < len(unmatched)
        rest = np.where(old, states, 0)
        sources, weights = [rest], [np.where(old & (not self.must_match), unmatched[rest], 0.0)]
        if matched is not None:
            sources.append(rest)
            weights.append(np.where(old, matched[rest], 0.0))
        first_edge = len(sources)
        for bit in self.edge_bits:
            source = states ^ (1 << bit)
            reachable = ((states >> bit) & 1 == 1) & (source < len(unmatched))
            source = np.where(reachable, source, 0)
            sources.append(source)
            weights.append(np.where(reachable, unmatched[source], 0.0))
        cumulative = np.cumsum(weights, axis=0)
        threshold = rng.random(len(states)) * cumulative[-1]
        choice = (cumulative <= threshold).sum(axis=0)
        before: NDArray[np.int64] = np.stack(sources)[choice, np.arange(len(states))]
        for option, edge in enumerate(self.edges, start=first_edge):
            uses[choice == option, edge] = True
        if self.bit < 0:
            return before
        low = before & ((1 << self.bit) - 1)
        was_matched = (choice == 1).astype(np.int64)
        expanded: NDArray[np.int64] = ((before - low) << 1) | (was_matched << self.bit) | low
        return expanded


def _edge_views(unmatched: Layer, after: Layer, bit: int) -> tuple[Layer, Layer]:
    """Pair every state whose edge is free with the state after taking the edge, as matching views."""
    if 1 << bit >= len(unmatched):  # the other end is opened by this step
        return unmatched, after[1 << bit : (1 << bit) + len(unmatched)]
    width = 1 << bit
    return unmatched.reshape(-1, 2, width)[:, 0], after[: len(unmatched)].reshape(-1, 2, width)[:, 1]


@dataclass(frozen=True, slots=True)
class Elimination:
    """An order of elimination."""

    steps: tuple[Step, ...]

    @property
    def widest(self) -> int:
        """The largest number of vertices open at once."""
        return max(step.open_after for step in self.steps)

    @property
    def work(self) -> int:
        """About how many additions a pass takes."""
        return sum((1 << step.open_after) * (2 + len(step.edges)) for step in self.steps)

    def layers_backwards(self, stride: int) -> Iterator[tuple[Step, Vector]]:
        """Yield each step, last first, with the layer before it, scaled to a largest entry near 1.

        Every ``stride``-th layer is kept on the way forth and the others are computed again on the way
        back. Scaling is by powers of two, hence exact.
        """
        kept = {0: np.ones(1)}
        layer = kept[0]
        for number, step in enumerate(self.steps[:-1], start=1):
            layer = _scaled(step.forward(layer))
            if number % stride == 0:
                kept[number] = layer
        for first in sorted(kept, reverse=True):
            segment = [kept.pop(first)]
            for step in self.steps[first : min(first + stride, len(self.steps)) - 1]:
                segment.append(_scaled(step.forward(segment[-1])))
            yield from zip(reversed(self.steps[first : first + stride]), reversed(segment), strict=True)


def _scaled(layer: Vector) -> Vector:
    _, exponent = np.frexp(layer.max())
    return np.ldexp(layer, -exponent) if abs(exponent) > 64 else layer


def plan(graph: Graph) -> Elimination:
    """Find a cheap elimination order greedily, from a few starting vertices, and keep the cheapest.

    Among the open vertices and their neighbours, the next to go is the one that leaves the fewest
    vertices open; of several, the one that was opened first.
    """
    incident: list[dict[int, int]] = [{} for _ in range(graph.positions + graph.candidates)]
    for edge, (position, candidate) in enumerate(
        zip(graph.edge_position.tolist(), graph.edge_candidate.tolist(), strict=True)
    ):
        incident[position][graph.positions + candidate] = edge
        incident[graph.positions + candidate][position] = edge
    by_degree = sorted(range(len(incident)), key=lambda vertex: len(incident[vertex]))
    plans = (
        _plan_from(start, graph.positions, [dict(edges) for edges in incident])
        for start in islice(by_degree, STARTS)
    )
    return min(plans, key=lambda candidate: candidate.work)


def _plan_from(start: int, positions: int, remaining: list[dict[int, int]]) -> Elimination:
    open_vertices: list[int] = []
    left = len(remaining)
    steps = []
    vertex = start
    while True:
        steps.append(_eliminate(vertex, vertex < positions, open_vertices, remaining))
        left -= 1
        if left == 0:
            return Elimination(tuple(steps))
        nearby = dict.fromkeys(open_vertices)
        nearby.update(dict.fromkeys(end for vertex in open_vertices for end in remaining[vertex]))
        is_open = set(open_vertices)
        vertex = min(
            nearby,
            key=lambda near: sum(end not in is_open for end in remaining[near]) - (near in is_open),
        )


def _eliminate(
    vertex: int, must_match: bool, open_vertices: list[int], remaining: list[dict[int, int]]
) -> Step:
    """Take the vertex out of ``open_vertices`` and ``remaining`` and describe the step."""
    bit = open_vertices.index(vertex) if vertex in open_vertices else -1
    if bit >= 0:
        open_vertices.pop(bit)
    edges, edge_bits = [], []
    for end, edge in remaining[vertex].items():
        if end not in open_vertices:
            open_vertices.append(end)
        edges.append(edge)
        edge_bits.append(open_vertices.index(end))
        del remaining[end][vertex]
    remaining[vertex] = {}
    return Step(bit, must_match, tuple(edges), tuple(edge_bits), len(open_vertices))
