"""The best matching of each of many tables of pair probabilities, as drawn from a posterior.

Borda: one assignment problem under the rewards. Condorcet: from the matching that wins most against everyone,
follow best responses until one has no answer; that matching is unbeaten, as nothing does better against it
than a draw. Where the walk runs into a circle, so does mostly a second one. Then the least beaten of those
passed is improved, as long as giving a position to somebody else, or swapping two, makes its worst defeat
smaller: mostly that is the least beaten of all, which would be a program of its own for each table
(:mod:`duelmatch.matchings.minimax`).

Decisions beyond one-to-one are in :mod:`duelmatch.models.general_lineups`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.integers import assign
from duelmatch.models.strengths import Matrix, PairLayout

LONGEST_WALK = 20

MOST_LEADERS = 40
"""How many matchings are compared as leaders."""

MOST_WORK = 2_500_000
"""Up to so many tables, times squared cells of an assignment problem, circles are looked into: some tenths of
a second."""

ROUNDING = 1e-12


class Finder(Protocol):
    """Finds the best decision of each of many tables: for matchings below, and for every other class."""

    @property
    def linear(self) -> bool:
        """Whether a decision's value is linear in the probabilities."""

    def best(self, tables: Matrix, start: Indices, allowed: Mask | None = None) -> tuple[Indices, Vector]:
        """Return the best decision by each table, and its worst defeat."""

    def shortfalls(self, tables: Matrix, best: Indices, matching: Indices) -> Vector:
        """Return by how much a decision falls short in each table."""


class LineupFinder:
    """Finds best matchings of one graph, or of its ``usable`` edges.

    ``marginals`` is against whom Borda counts, by edge; None for Condorcet.
    """

    def __init__(self, graph: Graph, marginals: Vector | None = None, usable: Mask | None = None) -> None:
        self._graph, self._layout, self._marginals = graph, PairLayout.of(graph), marginals
        self._usable = np.ones(graph.edges, dtype=np.bool_) if usable is None else usable

    @property
    def linear(self) -> bool:
        """Whether a matching's value is linear in the probabilities: Borda's is."""
        return self._marginals is not None

    def best(self, tables: Matrix, start: Indices, allowed: Mask | None = None) -> tuple[Indices, Vector]:
        """Return the best matching by each table, and its worst defeat, which is 0 for Borda.

        A walk begins with ``start``, which ought to be a good one. Only ``allowed`` edges are used.
        """
        graph, lay = self._graph, self._layout
        rows = np.empty((len(tables), graph.positions), dtype=np.intp)
        defeats = np.zeros(len(tables))
        present = self._present(self._usable if allowed is None else allowed & self._usable)
        if self._marginals is None:
            _unbeaten(
                tables, lay.start, lay.begin, lay.one, lay.other, graph.edge_at, graph.edge_candidate,
                present, start, len(tables) * graph.edge_at.size**2 <= MOST_WORK, rows, defeats,
            )  # fmt: skip
        else:
            _highest(
                tables, lay.start, lay.begin, lay.one, lay.other, graph.edge_at, graph.edge_candidate,
                present, self._marginals, rows,
            )  # fmt: skip
        return rows, defeats

    def shortfalls(self, tables: Matrix, best: Indices, matching: Indices) -> Vector:
        """Return by how much a matching falls short in each table, per position.

        Borda: how far it scores below ``best``, that table's own. Condorcet: its worst defeat.
        """
        graph, lay = self._graph, self._layout
        out = np.empty(len(tables))
        if self._marginals is None:
            _defeats(
                tables, lay.start, lay.begin, graph.edge_at, graph.edge_candidate,
                self._present(self._usable), matching, out,
            )  # fmt: skip
        else:
            _behind(tables, lay.start, lay.begin, lay.one, lay.other, self._marginals, best, matching, out)
        shortfalls: Vector = np.maximum(out / graph.positions, 0.0)
        return shortfalls

    def _present(self, edges: Mask) -> NDArray[np.bool_]:
        present = self._graph.edge_at >= 0
        present.ravel()[self._graph.cell] &= edges
        return present


def least_expected(finder: Finder, tables: Matrix, best: Indices, likely: Indices) -> tuple[Indices, float]:
    """Return the matching that falls short least on average, and by how much.

    ``best`` are those of the tables. ``likely`` is one matching, or a row for each: for Borda the best by the
    mean of the tables is the answer, as scores are linear in them; for Condorcet those are compared with the
    most frequent of ``best``. Where the tables go in circles, none of these is a favourite, and the matching
    that wins most against everyone (:func:`advantages`) ought to be among the likely ones.
    """
    candidates = np.atleast_2d(likely)
    if not finder.linear:
        found, often = np.unique(best, axis=0, return_counts=True)
        candidates = np.concatenate([candidates, found[np.argsort(-often, kind="stable")[:MOST_LEADERS]]])
    expected = [float(finder.shortfalls(tables, best, row).mean()) for row in candidates]
    chosen = int(np.argmin(expected))
    return candidates[chosen], expected[chosen]


def advantages(graph: Graph, table: Vector) -> Vector:
    """Return by how much each edge beats the others at its position, summed up."""
    pairs, ahead = graph.pair_table, table - 0.5
    won, lost = np.bincount(pairs.first, ahead, graph.edges), np.bincount(pairs.second, ahead, graph.edges)
    return np.asarray(won - lost, dtype=np.float64)


@njit(cache=True)  # type: ignore[untyped-decorator]
def pair_probability(table: Vector, begin: int, degree: int, one: int, other: int) -> float:
    """Return the probability that an edge beats another; both are counted from their position's first."""
    if one == other:
        return 0.5
    low, high = min(one, other), max(one, other)
    probability: float = table[begin + low * (2 * degree - low - 1) // 2 + high - low - 1]
    return probability if one < other else 1.0 - probability


@njit(cache=True)  # type: ignore[untyped-decorator]
def _rewards(
    table: Vector,
    start: Indices,
    begin: Indices,
    one: Indices,
    other: Indices,
    marginals: Vector,
    out: Vector,
) -> None:
    """Fill in w(e) - 1/2 of every edge."""
    out[:] = 0.0
    for position in range(len(start) - 1):
        first = start[position]
        for pair in range(begin[position], begin[position + 1]):
            a, b = first + one[pair], first + other[pair]
            ahead = table[pair] - 0.5
            out[a] += ahead * marginals[b]
            out[b] -= ahead * marginals[a]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _highest(
    tables: Matrix,
    start: Indices,
    begin: Indices,
    one: Indices,
    other: Indices,
    edge_at: NDArray[np.intp],
    edge_candidate: Indices,
    present: NDArray[np.bool_],
    marginals: Vector,
    rows: Indices,
) -> None:
    positions, candidates = edge_at.shape
    rewards = np.empty(len(edge_candidate))
    cost = np.zeros((positions, candidates))
    column = np.empty(positions, dtype=np.intp)
    for row in range(len(tables)):
        _rewards(tables[row], start, begin, one, other, marginals, rewards)
        for position in range(positions):
            for edge in range(start[position], start[position + 1]):
                cost[position, edge_candidate[edge]] = -rewards[edge]
        assign(cost, present, column)
        for position in range(positions):
            rows[row, position] = edge_at[position, column[position]]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _respond(
    table: Vector,
    start: Indices,
    begin: Indices,
    edge_candidate: Indices,
    edge_at: NDArray[np.intp],
    present: NDArray[np.bool_],
    cost: Matrix,
    column: Indices,
    current: Indices,
    response: Indices,
) -> float:
    """Fill in the matching that does best against the current one, and return by how much it is ahead."""
    positions = len(start) - 1
    for position in range(positions):
        first = start[position]
        degree = start[position + 1] - first
        own = current[position] - first
        for edge in range(degree):
            cost[position, edge_candidate[first + edge]] = 0.5 - pair_probability(
                table, begin[position], degree, edge, own
            )
    assign(cost, present, column)
    lead = 0.0
    for position in range(positions):
        response[position] = edge_at[position, column[position]]
        lead -= cost[position, column[position]]
    return lead


@njit(cache=True)  # type: ignore[untyped-decorator]
def _unbeaten(
    tables: Matrix,
    start: Indices,
    begin: Indices,
    one: Indices,
    other: Indices,
    edge_at: NDArray[np.intp],
    edge_candidate: Indices,
    present: NDArray[np.bool_],
    first_guess: Indices,
    thorough: bool,
    rows: Indices,
    defeats: Vector,
) -> None:
    """Walk from the matching that wins most against everyone, and from the guess if that leads in circles.

    From the guess alone, whoever is near it would seem to be the least beaten more often than it is. In
    circles the least beaten one is improved, if there is time to be ``thorough``.
    """
    positions, candidates = edge_at.shape
    cost = np.zeros((positions, candidates))
    column = np.empty(positions, dtype=np.intp)
    seen = np.empty((LONGEST_WALK + 1, positions), dtype=np.intp)
    rewards, alike = np.empty(len(edge_candidate)), np.ones(len(edge_candidate))
    for row in range(len(tables)):
        table = tables[row]
        _rewards(table, start, begin, one, other, alike, rewards)
        for position in range(positions):
            for edge in range(start[position], start[position + 1]):
                cost[position, edge_candidate[edge]] = -rewards[edge]
        assign(cost, present, column)
        for position in range(positions):
            seen[0, position] = edge_at[position, column[position]]
        rows[row] = seen[0]
        least = _walk(
            table, start, begin, edge_at, edge_candidate, present, cost, column, seen, rows[row], np.inf
        )
        if least > ROUNDING:
            seen[0] = first_guess
            least = _walk(
                table, start, begin, edge_at, edge_candidate, present, cost, column, seen, rows[row], least
            )
        if least > ROUNDING and thorough:
            least = _improve(
                tables[row : row + 1], start, begin, edge_at, edge_candidate, present, cost, column, rows[row]
            )
        defeats[row] = max(least, 0.0)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _walk(
    table: Vector,
    start: Indices,
    begin: Indices,
    edge_at: NDArray[np.intp],
    edge_candidate: Indices,
    present: NDArray[np.bool_],
    cost: Matrix,
    column: Indices,
    seen: NDArray[np.intp],
    best: Indices,
    least: float,
) -> float:
    """Follow best responses from ``seen[0]`` on; put who is beaten by less than ``least`` into ``best``."""
    for step in range(LONGEST_WALK):
        lead = _respond(
            table, start, begin, edge_candidate, edge_at, present, cost, column, seen[step], seen[step + 1]
        )
        if lead < least:
            least = lead
            best[:] = seen[step]
        if lead <= ROUNDING:
            break
        again = False
        for earlier in range(step + 1):
            if (seen[earlier] == seen[step + 1]).all():
                again = True
                break
        if again:
            break
    return least


@njit(cache=True)  # type: ignore[untyped-decorator]
def _improve(
    tables: Matrix,
    start: Indices,
    begin: Indices,
    edge_at: NDArray[np.intp],
    edge_candidate: Indices,
    present: NDArray[np.bool_],
    cost: Matrix,
    column: Indices,
    matching: Indices,
) -> float:
    """Change one candidate or swap two while that makes the mean defeat smaller; return the latter."""
    positions, candidates = edge_at.shape
    response, trial = np.empty(positions, dtype=np.intp), matching.copy()
    holder = np.full(candidates, -1)
    for position in range(positions):
        holder[edge_candidate[matching[position]]] = position
    least: float = _mean_defeat(
        tables, start, begin, edge_at, edge_candidate, present, cost, column, matching, response, np.inf
    )
    better = True
    while better and least > ROUNDING:
        better = False
        for position in range(positions):
            for candidate in range(candidates):
                own, elsewhere = edge_candidate[matching[position]], holder[candidate]
                if candidate == own or not present[position, candidate]:
                    continue
                if elsewhere >= 0 and not present[elsewhere, own]:
                    continue
                trial[position] = edge_at[position, candidate]
                if elsewhere >= 0:
                    trial[elsewhere] = edge_at[elsewhere, own]
                defeat = _mean_defeat(
                    tables, start, begin, edge_at, edge_candidate, present, cost, column, trial, response,
                    least - ROUNDING,
                )  # fmt: skip
                if defeat < least - ROUNDING:
                    least, better = defeat, True
                    holder[own], holder[candidate] = elsewhere, position
                    matching[:] = trial
                else:
                    trial[:] = matching
    return least


@njit(cache=True)  # type: ignore[untyped-decorator]
def _mean_defeat(
    tables: Matrix,
    start: Indices,
    begin: Indices,
    edge_at: NDArray[np.intp],
    edge_candidate: Indices,
    present: NDArray[np.bool_],
    cost: Matrix,
    column: Indices,
    matching: Indices,
    response: Indices,
    bound: float,
) -> float:
    """Return the mean of the worst defeats in all tables, or something above the bound if it is above."""
    total = 0.0
    for row in range(len(tables)):
        total += max(
            0.0,
            _respond(
                tables[row], start, begin, edge_candidate, edge_at, present, cost, column, matching, response
            ),
        )
        if total > bound * len(tables):
            return np.inf
    return total / len(tables)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _defeats(
    tables: Matrix,
    start: Indices,
    begin: Indices,
    edge_at: NDArray[np.intp],
    edge_candidate: Indices,
    present: NDArray[np.bool_],
    matching: Indices,
    out: Vector,
) -> None:
    positions, candidates = edge_at.shape
    cost = np.zeros((positions, candidates))
    column, response = np.empty(positions, dtype=np.intp), np.empty(positions, dtype=np.intp)
    for row in range(len(tables)):
        out[row] = _respond(
            tables[row], start, begin, edge_candidate, edge_at, present, cost, column, matching, response
        )


@njit(cache=True)  # type: ignore[untyped-decorator]
def _behind(
    tables: Matrix,
    start: Indices,
    begin: Indices,
    one: Indices,
    other: Indices,
    marginals: Vector,
    best: Indices,
    matching: Indices,
    out: Vector,
) -> None:
    rewards = np.empty(start[-1])
    for row in range(len(tables)):
        _rewards(tables[row], start, begin, one, other, marginals, rewards)
        out[row] = 0.0
        for position in range(best.shape[1]):
            out[row] += rewards[best[row, position]] - rewards[matching[position]]
