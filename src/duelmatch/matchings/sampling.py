"""Uniformly random maximum matchings: a ladder of three samplers, and what is proven of each.

=============  =====================================================  ====================================
``exact``      walks back through the layers of the exact count       uniform and independent draws, up to
               (:mod:`duelmatch.matchings.elimination`)               the rounding of doubles; memory grows
                                                                      exponentially
``rejection``  nested upper bounds, acceptance and rejection          the same, without counting; the time
               (:mod:`duelmatch.matchings.rejection`)                 a draw takes is not bounded
``chain``      the paper's S(eta), a Markov chain                     each draw within eta of uniform given
               (:mod:`duelmatch.matchings.chain`)                     those before it, *if* a measured rule
                                                                      of thumb for its steps is right
=============  =====================================================  ====================================

``auto`` takes the first that fits: the count within the memory allowed, then the trials of a pilot. The last
two are compiled, and imported where they are used, so that counting alone does not wait for the compiler.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Literal, Protocol

import numpy as np

from duelmatch.errors import ProblemError, TooLargeError
from duelmatch.graph import Graph, Indices, Vector
from duelmatch.matchings.counting import Block, blocks, plan_within
from duelmatch.matchings.decisions import MEMORY
from duelmatch.matchings.elimination import Elimination, Step

Method = Literal["auto", "exact", "rejection", "chain"]

DEFAULT_ETA = 0.01
"""Default bound asked of the chain: total variation from the uniform distribution."""

CHUNK = 20_000
"""Samples drawn per pass through the layers."""


class Sampler(Protocol):
    """Draws maximum matchings; ``eta`` bounds the total variation from uniform it was asked for.

    ``method`` is its rung of the ladder. With ``eta`` 0, draws are uniform and independent: proven.
    """

    method: str
    eta: float

    def draw(self, size: int) -> Indices:
        """Return ``size`` matchings, each the edge numbers of its positions."""


def sampler(
    graph: Graph,
    method: Method = "auto",
    eta: float = DEFAULT_ETA,
    seed: int = 0,
    memory: int = MEMORY,
) -> Sampler:
    """Return the sampler asked for; ``auto`` takes the first that fits.

    :raises TooLargeError: if the method asked for is out of reach.
    """
    match method:
        case "exact":
            return ExactSampler(graph, seed, memory)
        case "rejection":
            from duelmatch.matchings.rejection import RejectionSampler

            return RejectionSampler(graph, seed)
        case "chain":
            from duelmatch.matchings.chain import Chain

            return Chain(graph, eta, seed)
        case "auto":
            return uniform_sampler(graph, seed, memory) or sampler(graph, "chain", eta, seed)
    raise ProblemError(f"The method must be 'auto', 'exact', 'rejection' or 'chain', not {method!r}.")


def uniform_sampler(graph: Graph, seed: int = 0, memory: int = MEMORY) -> Sampler | None:
    """Return a sampler whose draws are proven to be uniform and independent; None if none is feasible."""
    with suppress(TooLargeError):
        return ExactSampler(graph, seed, memory)
    with suppress(TooLargeError):
        return sampler(graph, "rejection", seed=seed)
    return None


class BlockSampler(Protocol):
    """Draws matchings of one block."""

    def draw(self, size: int, rng: np.random.Generator) -> Indices:
        """Return ``size`` matchings, each the edge numbers of its positions."""


def draw_blocks(
    graph: Graph, parts: Iterable[tuple[Block, BlockSampler]], size: int, rng: np.random.Generator
) -> Indices:
    """Draw from every block by itself; return matchings of the graph, a row each."""
    if size < 0:
        raise ProblemError(f"The number of samples cannot be negative: {size}.")
    drawn = np.empty((size, graph.positions), dtype=np.intp)
    for block, part in parts:
        positions = graph.edge_position[block.edges[block.graph.start[:-1]]]
        for first in range(0, size, CHUNK):
            count = min(CHUNK, size - first)
            drawn[first : first + count, positions] = block.edges[part.draw(count, rng)]
    return drawn


class ExactSampler:
    """Draws each block's matching from the layers of its exact count."""

    method = "exact"
    eta = 0.0

    def __init__(self, graph: Graph, seed: int = 0, memory: int = MEMORY) -> None:
        self._graph = graph
        self._rng = np.random.default_rng(seed)
        self._parts = [(block, _exact(block.graph, memory)) for block in blocks(graph)]

    def draw(self, size: int) -> Indices:
        """Return ``size`` independent uniform matchings, each the edge numbers of its positions."""
        return draw_blocks(self._graph, self._parts, size, self._rng)


def _exact(graph: Graph, memory: int) -> BlockSampler:
    return _Arrangements(graph) if graph.is_complete else _Layers(graph, *plan_within(graph, memory))


class _Arrangements:
    """Draws from a complete block: the first l of n candidates in random order."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def draw(self, size: int, rng: np.random.Generator) -> Indices:
        graph = self._graph
        shuffled = rng.permuted(np.tile(np.arange(graph.candidates), (size, 1)), axis=1)
        edges: Indices = graph.edge_at[np.arange(graph.positions), shuffled[:, : graph.positions]]
        return edges


class _Layers:
    """The layers of one block's count, kept between draws if memory allows, else computed anew."""

    def __init__(self, graph: Graph, plan: Elimination, stride: int) -> None:
        self._graph, self._plan, self._stride = graph, plan, stride
        self._kept: list[tuple[Step, Vector]] | None = None

    def draw(self, size: int, rng: np.random.Generator) -> Indices:
        if self._stride == 1 and self._kept is None:
            self._kept = list(self._plan.layers_backwards(1))
        uses = np.zeros((size, self._graph.edges), dtype=np.bool_)
        states = np.zeros(size, dtype=np.int64)
        for step, layer in self._kept or self._plan.layers_backwards(self._stride):
            states = step.sample(layer, states, uses, rng)
        return np.nonzero(uses)[1].reshape(size, self._graph.positions)
