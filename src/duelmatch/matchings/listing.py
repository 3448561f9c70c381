"""Matchings one by one, where there are few enough."""

from __future__ import annotations

import sys

import numpy as np

from duelmatch.graph import Graph, Indices, Mask
from duelmatch.matchings.assignment import usable_edges


def list_matchings(graph: Graph, allowed: Mask, at_most: int) -> Indices | None:
    """Return the matchings of the allowed edges, a row each; None if there may be more than ``at_most``."""
    rows = np.zeros((1, 0), dtype=np.intp)
    for position in range(graph.positions):
        edges = np.flatnonzero(allowed[graph.at(position)]) + graph.start[position]
        free = np.ones((len(rows), len(edges)), dtype=np.bool_)
        for column in range(position):
            free &= graph.edge_candidate[rows[:, column], None] != graph.edge_candidate[edges]
        row, edge = np.nonzero(free)
        if len(row) > 10 * at_most:
            return None
        rows = np.column_stack([rows[row], edges[edge]])
    return rows if len(rows) <= at_most else None


def all_matchings(graph: Graph) -> Indices:
    """List every maximum matching, a row of edge numbers each: for small graphs only."""
    rows = list_matchings(graph, usable_edges(graph), sys.maxsize)
    assert rows is not None, "there is no limit"
    return rows
