"""Whether any decision is possible; and if not, what stands in the way.

A decision is a 0/1 vector x over edges: the edges of position j add up to its seats, those of candidate i to
its capacity at most, and every rule is a few more rows. ``together`` needs a variable of its own, z = 1 if
its groups are used: x_e <= z for each of their edges, and sum of x_e >= z over each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import maximum_flow

from duelmatch.errors import TooLargeError
from duelmatch.graph import EdgeRule, Graph, Vector

MOST_BRANCHINGS = 20_000
"""How far a program is searched before nobody can say whether the rules can be obeyed."""

MOST_SUBSETS = 1_000
"""How many sets of rules are tried for a smallest contradictory one, beyond sets of two."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The linear description low <= A (x, z) <= high of the decisions; x are the first columns."""

    matrix: csr_array
    low: Vector
    high: Vector


def seat_rows(graph: Graph, extra: int = 0) -> Rows:
    """Return a row per position and one per candidate; ``extra`` columns are left empty."""
    edges, ones = np.arange(graph.edges), np.ones(graph.edges)
    rows = np.concatenate([graph.edge_position, graph.positions + graph.edge_candidate])
    shape = graph.positions + graph.candidates, graph.edges + extra
    matrix = csr_array((np.tile(ones, 2), (rows, np.tile(edges, 2))), shape=shape)
    seats, capacity = graph.seats.astype(np.float64), graph.capacity.astype(np.float64)
    return Rows(matrix, np.append(seats, np.zeros(graph.candidates)), np.append(seats, capacity))


def rule_rows(graph: Graph, rules: Sequence[EdgeRule]) -> Rows:
    """Return the rows of some rules, with a column after the edges for each that keeps groups together."""
    width = graph.edges + len(rules)
    data: list[tuple[int, int, float]] = []
    low: list[float] = []
    high: list[float] = []

    def add(columns: Sequence[int], values: Sequence[float], least: float, most: float) -> None:
        data.extend((len(low), column, value) for column, value in zip(columns, values, strict=True))
        low.append(least)
        high.append(most)

    for number, rule in enumerate(rules):
        chosen = graph.edges + number
        if not rule.groups:
            most = np.inf if rule.at_most is None else rule.at_most
            add(rule.edges.tolist(), [1.0] * len(rule.edges), rule.at_least, most)
        for group in rule.groups:
            add([*group.tolist(), chosen], [1.0] * len(group) + [-1.0], 0.0, np.inf)
            for edge in group.tolist():
                add([edge, chosen], [1.0, -1.0], -np.inf, 0.0)
    row, column, value = zip(*data, strict=True) if data else ((), (), ())
    matrix = csr_array((np.array(value, dtype=np.float64), (row, column)), shape=(len(low), width))
    return Rows(matrix, np.array(low), np.array(high))


def decision_rows(graph: Graph, rules: Sequence[EdgeRule]) -> Rows:
    """Return the rows of positions, of candidates and of some rules, in this order."""
    first, second = seat_rows(graph, len(rules)), rule_rows(graph, rules)
    matrix = csr_array(vstack([first.matrix, second.matrix], format="csr"))
    return Rows(matrix, np.append(first.low, second.low), np.append(first.high, second.high))


def obeyable(graph: Graph, rules: Sequence[EdgeRule]) -> bool:
    """Whether a decision obeys these rules, whatever the graph's own.

    :raises TooLargeError: if that is not settled within MOST_BRANCHINGS.
    """
    rows = decision_rows(graph, rules)
    columns = rows.matrix.shape[1]
    solved = milp(
        np.zeros(columns),
        integrality=np.ones(columns),
        bounds=Bounds(0.0, 1.0),
        constraints=LinearConstraint(rows.matrix, rows.low, rows.high),
        options={"node_limit": MOST_BRANCHINGS},
    )
    if solved.status not in (0, 2):
        raise TooLargeError(
            f"Whether the rules can be obeyed was not settled within {MOST_BRANCHINGS:,} branchings. "
            "Use fewer rules."
        )
    return bool(solved.status == 0)


def contradiction(graph: Graph) -> list[int] | None:
    """Return the numbers of a smallest set of rules that no decision obeys; None if one obeys all.

    Single rules are all tried; beyond that, sets of each size while they are few, else the answer is a set
    from which no rule can be left out.
    """
    rules = graph.rules
    if not rules or obeyable(graph, rules):
        return None

    def fails(numbers: Sequence[int]) -> bool:
        return not obeyable(graph, [rules[number] for number in numbers])

    needed = list(range(len(rules)))
    for number in range(len(rules)):
        fewer = [other for other in needed if other != number]
        if fails(fewer):
            needed = fewer
    for size in range(1, len(needed)):
        if size > 1 and comb(len(rules), size) > MOST_SUBSETS:
            break
        for numbers in combinations(range(len(rules)), size):
            if fails(numbers):
                return list(numbers)
    return needed


def too_few(graph: Graph) -> tuple[list[int], list[int], int] | None:
    """Return positions with more seats than can be filled, their candidates, and how many they can fill.

    None if every seat can be filled, by seats and capacities alone. A candidate fills a seat of each position
    at most; so positions S lack candidates if their seats are more than the sum over candidates of
    min(capacity, positions of S it fits). By the theorem of Ford and Fulkerson there is such an S if the
    largest flow leaves a seat empty: the positions that alternating paths from that seat reach.
    """
    for position in np.flatnonzero(graph.seats > graph.degrees).tolist():
        candidates = graph.edge_candidate[graph.at(position)].tolist()
        return [position], candidates, len(candidates)
    filled = _largest_flow(graph)
    seats_left = graph.seats - np.bincount(graph.edge_position[filled], minlength=graph.positions)
    if not seats_left.any():
        return None
    load = np.bincount(graph.edge_candidate[filled], minlength=graph.candidates)
    assert (load <= graph.capacity).all(), "a flow respects the capacities"
    lacking = []
    for empty in np.flatnonzero(seats_left).tolist():
        positions, candidates = [empty], dict[int, None]()
        for position in positions:
            inside = np.arange(graph.edges)[graph.at(position)]
            for candidate in graph.edge_candidate[inside[~filled[inside]]].tolist():
                if candidate not in candidates:
                    candidates[candidate] = None
                    held = filled & (graph.edge_candidate == candidate)
                    positions += [p for p in graph.edge_position[held].tolist() if p not in positions]
        fits = np.isin(graph.edge_position, positions)
        reach = np.bincount(graph.edge_candidate[fits], minlength=graph.candidates)
        most = int(np.minimum(reach, graph.capacity).sum())
        lacking.append((sorted(positions), np.flatnonzero(reach).tolist(), most))
    return min(lacking, key=lambda found: len(found[0]))


def _largest_flow(graph: Graph) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Mark the edges used by a largest flow: from a source over positions and candidates to a sink."""
    source, sink = graph.positions + graph.candidates, graph.positions + graph.candidates + 1
    candidate = graph.positions + graph.edge_candidate
    tails = [
        np.full(graph.positions, source),
        graph.edge_position,
        graph.positions + np.arange(graph.candidates),
    ]
    heads = [np.arange(graph.positions), candidate, np.full(graph.candidates, sink)]
    most = [graph.seats, np.ones(graph.edges, dtype=np.intp), graph.capacity]
    network = csr_array(
        (np.concatenate(most).astype(np.int32), (np.concatenate(tails), np.concatenate(heads))),
        shape=(sink + 1, sink + 1),
    )
    flow = maximum_flow(network, source, sink).flow
    used: np.ndarray[tuple[int], np.dtype[np.bool_]] = (
        np.asarray(flow[graph.edge_position, candidate]).ravel() > 0
    )
    return used
