"""The exact number of maximum matchings, and how often a uniformly random one uses each edge.

The graph is split into independent blocks. A complete block has a closed form; any other is counted by
vertex elimination (:mod:`duelmatch.matchings.elimination`), whose cost is exponential only in the
number of vertices open at once: the number of positions in a dense graph, a few in a sparse one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import gcd, isqrt, lgamma, perm, prod

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from duelmatch.errors import TooLargeError
from duelmatch.graph import Graph, Indices, Vector
from duelmatch.matchings.decisions import MEMORY, usable_edges
from duelmatch.matchings.elimination import Elimination, Layer, plan

WORKING_LAYERS = 6
"""How many layers a step holds at once, besides those kept for the way back."""


@dataclass(frozen=True, slots=True)
class Block:
    """A connected piece of a graph, as a graph of its own, and which edges these were."""

    graph: Graph
    edges: Indices


def blocks(graph: Graph) -> list[Block]:
    """Drop the edges in no maximum matching and split the rest into its connected components.

    A maximum matching of the graph is then one maximum matching of each block, chosen freely: counts
    multiply, marginals and samples stay apart.
    """
    return pieces(graph, np.flatnonzero(usable_edges(graph)))


def pieces(graph: Graph, kept: Indices) -> list[Block]:
    """Split some of the edges into their connected components, without their conditions."""
    position, candidate = graph.edge_position[kept], graph.edge_candidate[kept]
    vertices = graph.positions + graph.candidates
    union = csr_array(
        (np.ones(len(kept)), (position, graph.positions + candidate)), shape=(vertices, vertices)
    )
    _, component = connected_components(union, directed=False)
    found = []
    for label in np.unique(component[position]):
        edges = kept[component[position] == label]
        candidates, candidate_number = np.unique(graph.edge_candidate[edges], return_inverse=True)
        positions, position_number = np.unique(graph.edge_position[edges], return_inverse=True)
        piece = Graph(len(candidates), len(positions), candidate_number, position_number)
        found.append(Block(piece, edges))
    return found


def count_matchings(graph: Graph, memory: int = MEMORY) -> int:
    """Return the number of maximum matchings as a Python integer.

    :raises TooLargeError: if it would take more than ``memory`` bytes, with an estimate.
    """
    return prod(_count_block(block.graph, memory) for block in blocks(graph))


def edge_marginals(graph: Graph, memory: int = MEMORY) -> Vector:
    """Return, for every edge e, the probability P(e in M) under a uniformly random maximum matching M.

    Sums and products of non-negative numbers only, so every digit of the result but the last two or
    three is right. :raises TooLargeError: if it would take more than ``memory`` bytes.
    """
    marginals = np.zeros(graph.edges)
    for block in blocks(graph):
        marginals[block.edges] = _marginals_of_block(block.graph, memory)
    return marginals


def log_count_bound(graph: Graph) -> float:
    """Return the natural logarithm of an upper bound on the number of maximum matchings, at no cost.

    Bregman's bound on the permanent, prod_j (d_j!)^(1/d_j), for the square matrix that n - l positions
    open to all candidates complete; each matching is then counted (n - l)! times.
    """
    spare = graph.candidates - graph.positions
    bregman: float = sum(lgamma(degree + 1) / degree for degree in graph.degrees.tolist())
    return bregman + spare * lgamma(graph.candidates + 1) / graph.candidates - lgamma(spare + 1)


def plan_within(graph: Graph, memory: int) -> tuple[Elimination, int]:
    """Return a plan for a block, and the stride between kept layers that respects the memory limit."""
    elimination = plan(graph)
    layer_bytes = [8 << step.open_after for step in elimination.steps]
    working = WORKING_LAYERS * max(layer_bytes)
    if working + sum(layer_bytes) <= memory:
        return elimination, 1
    stride = isqrt(len(layer_bytes)) + 1
    needed = working + sum(layer_bytes[::stride]) + stride * max(layer_bytes)
    if needed > memory:
        raise TooLargeError(
            f"Exact counting on a block of {graph.positions} positions and {graph.candidates} candidates "
            f"would take about {_size(needed)} of memory (2^{elimination.widest} states) and "
            f"{elimination.work:.1e} operations; the limit is {_size(memory)}. Raise the limit, or draw "
            "matchings by the methods 'rejection' or 'chain', which need no exact count."
        )
    return elimination, stride


def _count_block(graph: Graph, memory: int) -> int:
    if graph.is_complete:
        return perm(graph.candidates, graph.positions)
    elimination, _ = plan_within(graph, memory)
    return exact_count(partial(_count_modulo, elimination), prod(graph.degrees.tolist()))


def _count_modulo(elimination: Elimination, modulus: int) -> int:
    layer: Layer = np.ones(1, dtype=np.uint64)
    for step in elimination.steps:
        layer = step.forward(layer) % np.uint64(modulus)
    return int(layer[0])


def exact_count(count_modulo: Callable[[int], int], bound: int) -> int:
    """Return a number up to ``bound`` from its residues: the smallest from 0 that has enough of them.

    The moduli are coprime, of 2^48 and below, so that 2^16 residues add up without overflow.
    """
    total, product, modulus = 0, 1, 1 << 48
    while product <= bound:
        if gcd(modulus, product) == 1:
            total += product * ((count_modulo(modulus) - total) * pow(product, -1, modulus) % modulus)
            product *= modulus
        modulus -= 1
    return total


def _marginals_of_block(graph: Graph, memory: int) -> Vector:
    if graph.is_complete:
        return np.full(graph.edges, 1.0 / graph.candidates)
    elimination, stride = plan_within(graph, memory)
    marginals = np.empty(graph.edges)
    finish = np.ones(1)
    for step, layer in elimination.layers_backwards(stride):
        counts = np.zeros(graph.edges)
        before = step.backward(layer, finish, counts)
        total = float(layer @ before)
        if total == 0.0:
            raise TooLargeError(
                "Some parts of this graph have so many more matchings than others (a factor of 1e300) that "
                "doubles cannot hold both. Draw matchings by the methods 'rejection' or 'chain', which need "
                "no exact count."
            )
        for edge in step.edges:
            marginals[edge] = counts[edge] / total
        _, exponent = np.frexp(before.max())
        finish = np.ldexp(before, -exponent)
    return marginals


def _size(size: int) -> str:
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.1f} {unit}"
    return f"{size} bytes"
