"""Decisions one by one, where they are few enough to be listed."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from duelmatch.graph import EdgeRule, Graph, Indices, Mask

CELLS = 50_000_000
"""Rows times choices looked at in one piece, to bound the memory."""


def list_decisions(graph: Graph, allowed: Mask, at_most: int) -> Indices | None:
    """Return the decisions of the allowed edges, a row each; None if there may be more than ``at_most``.

    Position by position, every choice of candidates for its seats that leaves capacities respected; what
    cannot obey a rule any more is dropped on the way.
    """
    rows = np.zeros((1, 0), dtype=np.intp)
    load = np.zeros((1, graph.candidates), dtype=np.int32)
    for position in range(graph.positions):
        edges = np.flatnonzero(allowed[graph.at(position)]) + graph.start[position]
        seats = int(graph.seats[position])
        if comb(len(edges), seats) > 10 * at_most:
            return None
        choices = np.array(list(combinations(range(len(edges)), seats)), dtype=np.intp).reshape(-1, seats)
        candidate = graph.edge_candidate[edges]
        free = load[:, candidate] < graph.capacity[candidate]
        fitting = _fitting(free, choices, 10 * at_most)
        if fitting is None:
            return None
        row, choice = fitting
        rows = np.column_stack([rows[row], edges[choices[choice]]])
        load = load[row]
        for seat in range(seats):
            load[np.arange(len(row)), candidate[choices[choice, seat]]] += 1
        later = np.flatnonzero(allowed & (graph.edge_position > position))
        for rule in graph.rules:
            kept = _may_obey(graph, rule, rows, later)
            rows, load = rows[kept], load[kept]
    return rows if len(rows) <= at_most else None


def _fitting(free: Mask, choices: Indices, at_most: int) -> tuple[Indices, Indices] | None:
    """Return every row with each choice of free candidates; None if there are more than so many."""
    step = max(1, CELLS // max(1, choices.size))
    parts, found = [], 0
    for first in range(0, len(free), step):
        fits = free[first : first + step, choices].all(axis=2)
        row, choice = np.nonzero(fits)
        parts.append((row + first, choice))
        found += len(row)
        if found > at_most:
            return None
    return np.concatenate([row for row, _ in parts]), np.concatenate([choice for _, choice in parts])


def _may_obey(graph: Graph, rule: EdgeRule, rows: Indices, later: Indices) -> Mask:
    """Mark the beginnings of decisions that the ``later`` edges may complete to one that obeys a rule."""
    if rule.groups:
        used = np.stack([np.isin(rows, group).any(axis=1) for group in rule.groups])
        open_still = np.stack([np.isin(group, later).any() for group in rule.groups])[:, None]
        return np.asarray((used | open_still).all(axis=0) | ~used.any(axis=0))
    count = np.isin(rows, rule.edges).sum(axis=1)
    still = np.bincount(graph.edge_position[np.intersect1d(rule.edges, later)], minlength=graph.positions)
    most = int(np.minimum(still, graph.seats).sum())
    enough: Mask = count + most >= rule.at_least
    return enough if rule.at_most is None else enough & (count <= rule.at_most)
