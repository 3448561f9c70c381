"""Uniformly random maximum matchings: exactly where counting is possible, almost uniformly beyond.

The ladder: ``exact`` walks back through the layers of the exact count, and is uniform up to the rounding
of doubles; ``chain`` is the paper's almost uniform sampler S(eta) (:mod:`duelmatch.matchings.chain`),
for graphs that exact counting cannot hold; ``auto`` takes the first that fits.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import ProblemError, TooLargeError
from duelmatch.graph import Graph, Vector
from duelmatch.matchings.blocks import blocks
from duelmatch.matchings.chain import Chain
from duelmatch.matchings.counting import MEMORY, plan_within
from duelmatch.matchings.elimination import Elimination, Step

Method = Literal["auto", "exact", "chain"]

DEFAULT_ETA = 0.01
"""Default bound asked of the chain: total variation from the uniform distribution."""

CHUNK = 20_000
"""Samples drawn per pass through the layers."""


class Sampler(Protocol):
    """Draws maximum matchings; ``eta`` bounds the total variation from uniform it was asked for."""

    eta: float

    def draw(self, size: int) -> NDArray[np.intp]:
        """Return ``size`` matchings, each the edge numbers of its positions."""


def sampler(
    graph: Graph,
    method: Method = "auto",
    eta: float = DEFAULT_ETA,
    seed: int = 0,
    memory: int = MEMORY,
) -> Sampler:
    """Return the sampler asked for; ``auto`` takes the exact one if it fits into ``memory`` bytes."""
    if method == "chain":
        return Chain(graph, eta, seed)
    if method not in ("auto", "exact"):
        raise ProblemError(f"The method must be 'auto', 'exact' or 'chain', not {method!r}.")
    try:
        return ExactSampler(graph, seed, memory)
    except TooLargeError:
        if method == "exact":
            raise
        return Chain(graph, eta, seed)


class ExactSampler:
    """Draws each block's matching from the layers of its exact count."""

    eta = 0.0

    def __init__(self, graph: Graph, seed: int = 0, memory: int = MEMORY) -> None:
        self._graph = graph
        self._rng = np.random.default_rng(seed)
        self._blocks = blocks(graph)
        self._layers = [
            None if block.graph.is_complete else _Layers(*plan_within(block.graph, memory))
            for block in self._blocks
        ]

    def draw(self, size: int) -> NDArray[np.intp]:
        """Return ``size`` independent uniform matchings, each the edge numbers of its positions."""
        if size < 0:
            raise ProblemError(f"The number of samples cannot be negative: {size}.")
        drawn = np.empty((size, self._graph.positions), dtype=np.intp)
        for block, layers in zip(self._blocks, self._layers, strict=True):
            positions = self._graph.edge_position[block.edges[block.graph.start[:-1]]]
            for first in range(0, size, CHUNK):
                count = min(CHUNK, size - first)
                edges = (
                    self._arrangements(block.graph, count)
                    if layers is None
                    else layers.draw(block.graph, count, self._rng)
                )
                drawn[first : first + count, positions] = block.edges[edges]
        return drawn

    def _arrangements(self, graph: Graph, count: int) -> NDArray[np.intp]:
        """Draw from a complete block: the first l of n candidates in random order."""
        shuffled = self._rng.permuted(np.tile(np.arange(graph.candidates), (count, 1)), axis=1)
        edges: NDArray[np.intp] = graph.edge_at[np.arange(graph.positions), shuffled[:, : graph.positions]]
        return edges


class _Layers:
    """The layers of one block's count, kept between draws if memory allows, else computed anew."""

    def __init__(self, plan: Elimination, stride: int) -> None:
        self._plan, self._stride = plan, stride
        self._kept: list[tuple[Step, Vector]] | None = None

    def draw(self, graph: Graph, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        if self._stride == 1 and self._kept is None:
            self._kept = list(self._plan.layers_backwards(1))
        uses = np.zeros((count, graph.edges), dtype=np.bool_)
        states = np.zeros(count, dtype=np.int64)
        for step, layer in self._kept or self._plan.layers_backwards(self._stride):
            states = step.sample(layer, states, uses, rng)
        return np.nonzero(uses)[1].reshape(count, graph.positions)
