"""Splitting a graph into blocks whose matchings are independent of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from duelmatch.graph import Graph, Indices
from duelmatch.matchings.decisions import usable_edges


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
