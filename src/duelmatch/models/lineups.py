"""The best matching of each of many tables of pair probabilities, as drawn from a posterior.

Borda: one assignment problem under the rewards. Condorcet: from the matching that wins most against everyone,
follow best responses until one has no answer; that matching is unbeaten, as nothing does better against it
than a draw. Where the walk runs into a circle, so does mostly a second one. Then the least beaten of those
passed is improved, as long as giving a position to somebody else, or swapping two, makes its worst defeat
smaller: mostly that is the least beaten of all, which would be a program of its own for each table
(:mod:`duelmatch.matchings.minimax`).

Beyond one-to-one matchings it takes the linear oracle alone. How far an edge is ahead of a mixture y of edges
(a decision, or against whom Borda counts) is, at a position of weight v and k seats,

    v / k^2  sum over b of y_b (p(e, b) - 1/2),

and the sum over a decision's edges, over the total weight, is by how much it is ahead: see
docs/decisions-mathematics.md. So Borda is one question to the oracle, and so is a best response.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numba import njit

from duelmatch.graph import Graph, Indices, Mask, Matrix, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.integers import assign
from duelmatch.models.strengths import PairLayout

LONGEST_WALK = 20

MOST_LEADERS = 40
"""How many matchings are compared as leaders."""

MOST_WORK = 2_500_000
"""Up to so many tables, times squared cells of an assignment problem, circles are looked into: some tenths of
a second."""

ROUNDING = 1e-12


class Finder(ABC):
    """Finds the best decision of each of many tables, of one graph or of its ``usable`` edges.

    ``marginals`` is against whom Borda counts, by edge; None for Condorcet.
    """

    def __init__(self, graph: Graph, marginals: Vector | None = None, usable: Mask | None = None) -> None:
        self._graph, self._marginals, self._usable = graph, marginals, usable
        self._decisions = decisions_of(graph)

    @property
    def linear(self) -> bool:
        """Whether a decision's value is linear in the probabilities: Borda's is."""
        return self._marginals is not None

    def _among(self, allowed: Mask | None) -> Mask | None:
        """Return the edges that are usable and allowed; None if all are."""
        if allowed is None or self._usable is None:
            return self._usable if allowed is None else allowed
        return allowed & self._usable

    @abstractmethod
    def best(self, tables: Matrix, start: Indices, allowed: Mask | None = None) -> tuple[Indices, Vector]:
        """Return the best decision by each table, and its worst defeat, which is 0 for Borda.

        A walk begins with ``start``, which ought to be a good one. Only ``allowed`` edges are used.
        """

    def shortfalls(self, tables: Matrix, best: Indices, matching: Indices) -> Vector:
        """Return by how much a decision falls short in each table, per unit of weight.

        Borda: how far it scores below ``best``, that table's own. Condorcet: its worst defeat.
        """
        behind = self._short(tables, best, matching) / self._graph.total_weight
        return np.maximum(behind, 0.0)

    @abstractmethod
    def _short(self, tables: Matrix, best: Indices, matching: Indices) -> Vector:
        """Return the same as a sum over positions, below 0 if the decision does better than ``best``."""


class Cells(NamedTuple):
    """The table of an assignment problem: a row per position, a column per candidate."""

    edge_at: Indices
    candidate: Indices
    """The column of each edge."""
    present: Mask
    """The cells whose edges may be used."""


class LineupFinder(Finder):
    """Finds best matchings; all positions count the same."""

    def __init__(self, graph: Graph, marginals: Vector | None = None, usable: Mask | None = None) -> None:
        super().__init__(graph, marginals, usable)
        self._layout = PairLayout.of(graph)

    def best(self, tables: Matrix, start: Indices, allowed: Mask | None = None) -> tuple[Indices, Vector]:
        """Return the best matching by each table, and its worst defeat."""
        rows = np.empty((len(tables), self._graph.positions), dtype=np.intp)
        defeats = np.zeros(len(tables))
        cells = self._cells(self._among(allowed))
        if self._marginals is None:
            thorough = len(tables) * cells.present.size**2 <= MOST_WORK
            _unbeaten(tables, self._layout, cells, start, thorough, rows, defeats)
        else:
            _highest(tables, self._layout, cells, self._marginals, rows)
        return rows, defeats

    def _short(self, tables: Matrix, best: Indices, matching: Indices) -> Vector:
        out = np.empty(len(tables))
        if self._marginals is None:
            _defeats(tables, self._layout, self._cells(self._usable), matching, out)
        else:
            _behind(tables, self._layout, self._marginals, best, matching, out)
        return out

    def _cells(self, edges: Mask | None) -> Cells:
        present = self._graph.edge_at >= 0
        if edges is not None:
            present.ravel()[self._graph.cell] &= edges
        return Cells(self._graph.edge_at, self._graph.edge_candidate, present)


class DecisionFinder(Finder):
    """Finds best decisions, whatever may be chosen.

    Where the oracle takes milliseconds (many decisions under rules) good decisions stand for the best.
    """

    def best(self, tables: Matrix, start: Indices, allowed: Mask | None = None) -> tuple[Indices, Vector]:
        """Return the best decision by each table, and its worst defeat."""
        among = self._among(allowed)
        rows = np.empty((len(tables), self._graph.places), dtype=np.intp)
        defeats = np.zeros(len(tables))
        for number, table in enumerate(tables):
            if self._marginals is None:
                rows[number], defeats[number] = self._unbeaten(table, start, among)
            else:
                rows[number] = self._decisions.one(self._ahead(table, self._marginals), among, exact=False)
        return rows, defeats

    def _short(self, tables: Matrix, best: Indices, matching: Indices) -> Vector:
        out = np.empty(len(tables))
        for number, table in enumerate(tables):
            if self._marginals is None:
                out[number] = self._respond(table, matching, self._usable)[1]
            else:
                ahead = self._ahead(table, self._marginals)
                out[number] = ahead[best[number]].sum() - ahead[matching].sum()
        return out

    def _unbeaten(self, table: Vector, start: Indices, among: Mask | None) -> tuple[Indices, float]:
        """Follow best responses until one has no answer; return the least beaten met, and its defeat."""
        current, best, least, met = start, start, np.inf, set[bytes]()
        for _ in range(LONGEST_WALK):
            met.add(current.tobytes())
            response, lead = self._respond(table, current, among)
            if lead < least:
                best, least = current, lead
            if lead <= ROUNDING or response.tobytes() in met:
                break
            current = response
        return best, max(least, 0.0)

    def _respond(self, table: Vector, decision: Indices, among: Mask | None) -> tuple[Indices, float]:
        """Return the decision that does best against another, and by how much it is ahead."""
        ahead = self._ahead(table, self._graph.uses(decision).astype(np.float64))
        response = self._decisions.one(ahead, among, exact=False)
        return response, float(ahead[response].sum())

    def _ahead(self, table: Vector, mixture: Vector) -> Vector:
        """Return by how much every edge is ahead of a mixture of edges."""
        ahead: Vector = self._graph.leads(table - 0.5, mixture) * self._graph.edge_scale
        return ahead


def finder_of(graph: Graph, marginals: Vector | None = None, usable: Mask | None = None) -> Finder:
    """Return what finds the best decisions of a graph; the parameters are those of LineupFinder.

    ``marginals`` add up to the seats of every position.
    """
    if graph.one_to_one and graph.even:
        return LineupFinder(graph, marginals, usable)
    return DecisionFinder(graph, marginals, usable)


def least_expected(finder: Finder, tables: Matrix, best: Indices, likely: Indices) -> tuple[Indices, float]:
    """Return the matching that falls short least on average, and by how much.

    ``best`` are those of the tables. ``likely`` is one matching, or a row for each: for Borda the best by the
    mean of the tables is the answer, as scores are linear in them; for Condorcet those are compared with the
    most frequent of ``best``. Where the tables go in circles, none of these is a favourite, and the matching
    that wins most against everyone ought to be among the likely ones.
    """
    candidates = np.atleast_2d(likely)
    if not finder.linear:
        found, often = np.unique(best, axis=0, return_counts=True)
        candidates = np.concatenate([candidates, found[np.argsort(-often, kind="stable")[:MOST_LEADERS]]])
    expected = [float(finder.shortfalls(tables, best, row).mean()) for row in candidates]
    chosen = int(np.argmin(expected))
    return candidates[chosen], expected[chosen]


@njit(cache=True)  # type: ignore[untyped-decorator]
def pair_probability(table: Vector, begin: int, degree: int, one: int, other: int) -> float:
    """Return the probability that an edge beats another; both are counted from their position's first."""
    if one == other:
        return 0.5
    low, high = min(one, other), max(one, other)
    probability: float = table[begin + low * (2 * degree - low - 1) // 2 + high - low - 1]
    return probability if one < other else 1.0 - probability


@njit(cache=True)  # type: ignore[untyped-decorator]
def _rewards(table: Vector, layout: PairLayout, marginals: Vector, out: Vector) -> None:
    """Fill in w(e) - 1/2 of every edge."""
    start, begin, one, other, _ = layout
    out[:] = 0.0
    for position in range(len(start) - 1):
        first = start[position]
        for pair in range(begin[position], begin[position + 1]):
            a, b = first + one[pair], first + other[pair]
            ahead = table[pair] - 0.5
            out[a] += ahead * marginals[b]
            out[b] -= ahead * marginals[a]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _best_by_rewards(
    table: Vector,
    layout: PairLayout,
    cells: Cells,
    marginals: Vector,
    rewards: Vector,
    cost: Matrix,
    column: Indices,
    matching: Indices,
) -> None:
    """Fill in the matching of the largest reward; ``rewards``, ``cost`` and ``column`` are overwritten."""
    _rewards(table, layout, marginals, rewards)
    start, (edge_at, candidate, present) = layout.start, cells
    for position in range(len(cost)):
        for edge in range(start[position], start[position + 1]):
            cost[position, candidate[edge]] = -rewards[edge]
    assign(cost, present, column)
    for position in range(len(cost)):
        matching[position] = edge_at[position, column[position]]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _highest(tables: Matrix, layout: PairLayout, cells: Cells, marginals: Vector, rows: Indices) -> None:
    rewards, cost = np.empty(len(cells.candidate)), np.zeros(cells.edge_at.shape)
    column = np.empty(len(cost), dtype=np.intp)
    for row in range(len(tables)):
        _best_by_rewards(tables[row], layout, cells, marginals, rewards, cost, column, rows[row])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _respond(
    table: Vector,
    layout: PairLayout,
    cells: Cells,
    cost: Matrix,
    column: Indices,
    current: Indices,
    response: Indices,
) -> float:
    """Fill in the matching that does best against the current one, and return by how much it is ahead."""
    start, begin, _, _, _ = layout
    edge_at, candidate, present = cells
    for position in range(len(cost)):
        first = start[position]
        degree = start[position + 1] - first
        own = current[position] - first
        for edge in range(degree):
            cost[position, candidate[first + edge]] = 0.5 - pair_probability(
                table, begin[position], degree, edge, own
            )
    assign(cost, present, column)
    lead = 0.0
    for position in range(len(cost)):
        response[position] = edge_at[position, column[position]]
        lead -= cost[position, column[position]]
    return lead


@njit(cache=True)  # type: ignore[untyped-decorator]
def _unbeaten(
    tables: Matrix,
    layout: PairLayout,
    cells: Cells,
    first_guess: Indices,
    thorough: bool,
    rows: Indices,
    defeats: Vector,
) -> None:
    """Walk from the matching that wins most against everyone, and from the guess if that leads in circles.

    Walks from the guess alone would find the matchings near it least beaten more often than they are. If all
    walks end in circles, the least beaten matching is improved, should there be time to be ``thorough``.
    """
    positions = len(cells.edge_at)
    cost = np.zeros(cells.edge_at.shape)
    column = np.empty(positions, dtype=np.intp)
    seen = np.empty((LONGEST_WALK + 1, positions), dtype=np.intp)
    rewards, alike = np.empty(len(cells.candidate)), np.ones(len(cells.candidate))
    for row in range(len(tables)):
        table, best = tables[row], rows[row]
        _best_by_rewards(table, layout, cells, alike, rewards, cost, column, seen[0])
        best[:] = seen[0]
        least = _walk(table, layout, cells, cost, column, seen, best, np.inf)
        if least > ROUNDING:
            seen[0] = first_guess
            least = _walk(table, layout, cells, cost, column, seen, best, least)
        if least > ROUNDING and thorough:
            least = _improve(table, layout, cells, cost, column, best)
        defeats[row] = max(least, 0.0)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _walk(
    table: Vector,
    layout: PairLayout,
    cells: Cells,
    cost: Matrix,
    column: Indices,
    seen: Indices,
    best: Indices,
    least: float,
) -> float:
    """Follow best responses from ``seen[0]``; copy the least beaten into ``best`` if it beats ``least``."""
    for step in range(LONGEST_WALK):
        lead = _respond(table, layout, cells, cost, column, seen[step], seen[step + 1])
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
    table: Vector, layout: PairLayout, cells: Cells, cost: Matrix, column: Indices, matching: Indices
) -> float:
    """Change one candidate or swap two while that makes the worst defeat smaller; return the latter."""
    edge_at, candidate_of, present = cells
    positions, candidates = edge_at.shape
    response, trial = np.empty(positions, dtype=np.intp), matching.copy()
    holder = np.full(candidates, -1)
    for position in range(positions):
        holder[candidate_of[matching[position]]] = position
    least: float = max(0.0, _respond(table, layout, cells, cost, column, matching, response))
    better = True
    while better and least > ROUNDING:
        better = False
        for position in range(positions):
            for candidate in range(candidates):
                own, elsewhere = candidate_of[matching[position]], holder[candidate]
                if candidate == own or not present[position, candidate]:
                    continue
                if elsewhere >= 0 and not present[elsewhere, own]:
                    continue
                trial[position] = edge_at[position, candidate]
                if elsewhere >= 0:
                    trial[elsewhere] = edge_at[elsewhere, own]
                defeat = max(0.0, _respond(table, layout, cells, cost, column, trial, response))
                if defeat < least - ROUNDING:
                    least, better = defeat, True
                    holder[own], holder[candidate] = elsewhere, position
                    matching[:] = trial
                else:
                    trial[:] = matching
    return least


@njit(cache=True)  # type: ignore[untyped-decorator]
def _defeats(tables: Matrix, layout: PairLayout, cells: Cells, matching: Indices, out: Vector) -> None:
    cost = np.zeros(cells.edge_at.shape)
    column, response = np.empty(len(cost), dtype=np.intp), np.empty(len(cost), dtype=np.intp)
    for row in range(len(tables)):
        out[row] = _respond(tables[row], layout, cells, cost, column, matching, response)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _behind(
    tables: Matrix, layout: PairLayout, marginals: Vector, best: Indices, matching: Indices, out: Vector
) -> None:
    rewards = np.empty(layout.start[-1])
    for row in range(len(tables)):
        _rewards(tables[row], layout, marginals, rewards)
        out[row] = 0.0
        for position in range(best.shape[1]):
            out[row] += rewards[best[row, position]] - rewards[matching[position]]
