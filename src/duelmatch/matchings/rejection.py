"""Exactly uniform maximum matchings without counting them: acceptance and rejection under nested bounds.

The problem: draw each maximum matching of G(C, S, E), l positions and n candidates, with probability exactly
1/N, where their number N is out of reach and no Markov chain is to be trusted to have mixed.

**The method** (Huber, "Exact sampling from perfect matchings of dense regular bipartite graphs",
Algorithmica 44 (2006); Huber and Law, "Fast approximation of the permanent for very dense problems", SODA
2008). Let U bound the number of matchings of a graph from above, with U = 1 where there is one matching and
nothing left to decide. Decide vertex by vertex: if the choices for one vertex leave the graphs G_1, ...,
G_k, go on in G_i with probability U(G_i) / U(G), and give up with what is missing to 1. The product
telescopes, so every matching is reached with the same probability 1 / U(G): what comes out is exactly
uniform, and draws are independent. Given up, begin anew; a draw takes U(G) / N trials on average. All of
this needs **nesting**, sum U(G_i) <= U(G), for the vertex that is chosen.

**The bound.** Complete G to a square matrix by f = n - l rows of ones (appendix B.2 of the paper), so that a
matching of G is counted f! times, and let r_1, ..., r_n be the row sums. With

    b(0) = 0,  b(1) = 1,  b(r) = b(r - 1) exp(1 / (e b(r - 1))),

the row bound is U = prod_i b(r_i) / f!. *Any column nests.* Say column j has its ones in the rows K, all
r_k >= 2. Matching it to row i removes both, so the bounds of the choices, divided by U, add up to

    prod_{k in K} b(r_k - 1) / b(r_k)  *  sum_{i in K} 1 / b(r_i - 1)  =  exp(-L / e) L  <=  1,

with L = sum_{k in K} 1 / b(r_k - 1), by the definition of b. If some r_k = 1, only the choice of that row
has a bound above 0, and it is at most U. Nesting makes U an upper bound, by induction. The column bound,
the same with column sums, nests for any row; and the smaller of the two nests for some row or column.

Huber and Law use (r + ln(r) / 2 + e - 1) / e in place of b(r), for entries in [0, 1]. On 0/1 matrices b is
smaller: for n = r = 30 the product is 1.31 times that of Bregman's bound r!^(1/r), and theirs 1.85 times.
Bregman's itself does not nest for every column: a column that meets three rows with two entries each is a
counterexample. Scaling rows and columns to equal sums first, as they do, made the bound worse on random 0/1
graphs, and is left out.

**Which vertex.** Any that nests may be chosen, if the choice depends on the graph that is left and nothing
else. As in Kuck, Dao, Rezatofighi, Sabharwal and Ermon, "Approximating the permanent by sampling from
adaptive partitions", NeurIPS 2019, it is the one whose choices have the least total bound. They take
Soules' bound, which need not nest, and refine the partition until it does; here nothing needs refining.

**What is proven.** Every draw is exactly uniform and independent of all others, up to the rounding of
doubles (some 1e-13) and to the quality of numpy's random numbers. **What is not:** how long it takes. A
trial is O(l n) a decision, and n decisions at most. For regular graphs of a degree in proportion to n, U /
N is polynomial in n (Huber 2006); for others, an almost triangular matrix for example, it can be
exponential. So a pilot counts its trials, and :class:`TooLargeError` refuses what takes too many. The pilot
is independent of the draws, so this decision cannot bias them. ``benchmarks/samplers.py`` measures trials
and times.
"""

from __future__ import annotations

from math import e, inf

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.errors import NoMatchingError, TooLargeError
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.counting import blocks
from duelmatch.matchings.sampling import draw_blocks

Counts = NDArray[np.int64]

PILOT_MATCHINGS = 8
"""The pilot has to find this many matchings in each block ..."""

PILOT_TRIALS = 100_000
"""... within so many trials: some seconds at 40 x 40, or ten thousand trials a draw."""

DRAWING_STREAM, PILOT_STREAM = 101, 102
"""Random numbers apart from each other, and from those that a run with the same seed draws for itself."""

TRIALS_AT_ONCE = 2_000
"""Trials between two returns to Python, where Ctrl-C is heard."""


class RejectionSampler:
    """Draws maximum matchings that are exactly uniform and independent; see the module's text.

    :ivar trials: how many trials the draws have taken so far.
    :raises TooLargeError: if a pilot finds that a draw takes too many trials.
    :raises NoMatchingError: if no matching fills every position.
    """

    method = "rejection"
    eta = 0.0

    def __init__(self, graph: Graph, seed: int = 0) -> None:
        if graph.some_matching() is None:
            raise NoMatchingError("No matching fills every position, so there is none to draw.")
        self._graph = graph
        self._parts = [(block, _Trials(block.graph)) for block in blocks(graph)]
        pilot = np.random.default_rng([seed, PILOT_STREAM])
        for _, trials in self._parts:
            trials.draw(PILOT_MATCHINGS, pilot, PILOT_TRIALS)
            trials.taken = 0
        self._rng = np.random.default_rng([seed, DRAWING_STREAM])

    @property
    def trials(self) -> int:
        """How many trials the draws have taken so far, in all blocks."""
        return sum(trials.taken for _, trials in self._parts)

    def draw(self, size: int) -> Indices:
        """Return ``size`` matchings, one a row, as the edge number of each position."""
        return draw_blocks(self._graph, self._parts, size, self._rng)


class _Trials:
    """The trials of one block."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.taken = 0
        self._adjacent = graph.edge_at >= 0
        self._bound, self._shrink = bound_table(graph.candidates)

    def draw(self, size: int, rng: np.random.Generator, limit: float = inf) -> Indices:
        """Return ``size`` matchings of the block, as edge numbers.

        :raises TooLargeError: if that takes more than ``limit`` trials.
        """
        graph = self.graph
        candidates = np.empty((size, graph.positions), dtype=np.int64)
        found = 0
        while found < size:
            if self.taken >= limit:
                raise TooLargeError(
                    f"Drawing exactly uniform matchings of a block of {graph.positions} positions and "
                    f"{graph.candidates} candidates would take more than "
                    f"{PILOT_TRIALS // PILOT_MATCHINGS:,} trials a draw: {self.taken:,} found {found}. Use "
                    "the almost uniform sampler 'chain', which rests on a rule of thumb."
                )
            found, taken = _try_often(self._adjacent, self._bound, self._shrink, candidates, found, rng)
            self.taken += taken
        edges: Indices = graph.edge_at[np.arange(graph.positions), candidates]
        return edges


def bound_table(largest: int) -> tuple[Vector, Vector]:
    """Return b(r) and b(r - 1) / b(r) for r = 0, ..., ``largest``; the latter is 0 for r = 0 and 1."""
    bound = np.zeros(largest + 1)
    bound[1] = 1.0
    for r in range(2, largest + 1):
        bound[r] = bound[r - 1] * _exponential(1 / (e * bound[r - 1]))
    shrink = np.zeros(largest + 1)
    shrink[1:] = bound[:-1] / bound[1:]
    return bound, shrink


def _exponential(x: float) -> float:
    """Return exp(x) for 0 <= x <= 1, from sums and products only: the same bits on every machine."""
    total = term = 1.0
    for k in range(1, 20):
        term *= x / k
        total += term
    return total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _try_often(
    adjacent: Mask,
    bound: Vector,
    shrink: Vector,
    candidates: Counts,
    found: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Make TRIALS_AT_ONCE trials, or fewer to fill ``candidates``; return rows filled and trials made."""
    positions, total = adjacent.shape
    share = np.empty((positions + 1, total))
    for trial in range(TRIALS_AT_ONCE):
        if found == len(candidates):
            return found, trial
        found += _try_once(adjacent, bound, shrink, share, candidates[found], rng)
    return found, TRIALS_AT_ONCE


@njit(cache=True)  # type: ignore[untyped-decorator]
def _try_once(
    adjacent: Mask, bound: Vector, shrink: Vector, share: Vector, chosen: Counts, rng: np.random.Generator
) -> bool:
    """Fill ``chosen`` with the candidate of each position, or give up."""
    positions, total = adjacent.shape
    position_left, candidate_left = np.ones(positions, np.bool_), np.ones(total, np.bool_)
    left = positions
    while left:
        line = decide(adjacent, position_left, candidate_left, bound, shrink, share)
        position, candidate = _pick(line, position_left, candidate_left, share, rng.random())
        if candidate < 0:
            return False
        candidate_left[candidate] = False
        if position < positions:
            chosen[position] = candidate
            position_left[position] = False
            left -= 1
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pick(
    line: int, position_left: Mask, candidate_left: Mask, share: Vector, dice: float
) -> tuple[int, int]:
    """Choose an entry of the line with the probability that it holds; (-1, -1) with what is missing to 1."""
    positions = len(position_left)
    if line < positions:
        for candidate in range(len(candidate_left)):
            if candidate_left[candidate]:
                dice -= share[line, candidate]
                if dice < 0:
                    return line, candidate
        return -1, -1
    candidate = line - positions
    for position in range(positions + 1):
        if position == positions or position_left[position]:
            dice -= share[position, candidate]
            if dice < 0:
                return position, candidate
    return -1, -1


@njit(cache=True)  # type: ignore[untyped-decorator]
def decide(
    adjacent: Mask, position_left: Mask, candidate_left: Mask, bound: Vector, shrink: Vector, share: Vector
) -> int:
    """Return the vertex to decide next, and in ``share`` the bound of each choice over the present bound.

    Line j < l is position j, and line l + i candidate i. ``share[j, i]`` is for matching j with i, 0 without
    an edge, and ``share[l, i]`` for leaving i without a position: f choices in the square matrix, one in G.
    Sums and products only, so that the same bits come out on every machine, and the same draws.
    """
    positions, total = adjacent.shape
    row, column = _degrees(adjacent, position_left, candidate_left)
    size = int(candidate_left.sum())
    spare = size - int(position_left.sum())
    column += spare
    if size - spare == 1:
        return int(_last_line(position_left, candidate_left, adjacent, row, column, bound, share))
    column_loss, ruined_rows, row_loss, ruined_columns = _losses(
        adjacent, position_left, candidate_left, row, column, shrink
    )
    spare_loss, ruined_by_spare = _spare_loss(candidate_left, column, shrink)
    ratio = _row_over_column_bound(position_left, candidate_left, row, column, bound)
    row_bound, column_bound = max(1.0, ratio), max(1.0, 1 / ratio)  # over the smaller of the two
    for _ in range(spare):
        row_bound *= shrink[size]
    best, line, column_sum = np.inf, -1, np.zeros(total)
    for j in range(positions):
        if position_left[j]:
            row_sum = 0.0
            for i in range(total):
                if candidate_left[i]:
                    share[j, i] = 0.0
                    if adjacent[j, i]:
                        by_row = _after(row_bound * column_loss[i], row[j], ruined_rows[i], bound)
                        by_column = _after(column_bound * row_loss[j], column[i], ruined_columns[j], bound)
                        share[j, i] = min(by_row, by_column)
                    row_sum += share[j, i]
                    column_sum[i] += share[j, i]
            if row_sum < best:
                best, line = row_sum, j
    for i in range(total):
        if candidate_left[i]:
            share[positions, i] = 0.0
            if spare:
                by_row = _after(row_bound * column_loss[i], size, ruined_rows[i], bound)
                by_column = _after(column_bound * spare_loss, column[i], ruined_by_spare, bound)
                share[positions, i] = spare * min(by_row, by_column)
            if column_sum[i] + share[positions, i] < best:
                best, line = column_sum[i] + share[positions, i], positions + i
    return line


@njit(cache=True)  # type: ignore[untyped-decorator]
def _degrees(adjacent: Mask, position_left: Mask, candidate_left: Mask) -> tuple[Counts, Counts]:
    """Return how many candidates are left of each position, and how many positions of each candidate."""
    positions, total = adjacent.shape
    row, column = np.zeros(positions, np.int64), np.zeros(total, np.int64)
    for j in range(positions):
        for i in range(total):
            if position_left[j] and candidate_left[i] and adjacent[j, i]:
                row[j] += 1
                column[i] += 1
    return row, column


@njit(cache=True)  # type: ignore[untyped-decorator]
def _spare_loss(candidate_left: Mask, column: Counts, shrink: Vector) -> tuple[float, int]:
    """Return what removing a spare row, which meets every column, loses of the column bound."""
    loss, ruined = 1.0, 0
    for i in range(len(column)):
        if candidate_left[i]:
            if column[i] > 1:
                loss *= shrink[column[i]]
            else:
                ruined += 1
    return loss, ruined


@njit(cache=True)  # type: ignore[untyped-decorator]
def _losses(
    adjacent: Mask, position_left: Mask, candidate_left: Mask, row: Counts, column: Counts, shrink: Vector
) -> tuple[Vector, Counts, Vector, Counts]:
    """Return what removing each column loses of the row bound, and removing each row of the column bound.

    Removing a column loses a factor of every row that it meets, and the other way round. A row that loses
    its only entry is counted instead, since it is no loss if it is the row that is chosen.
    """
    positions, total = adjacent.shape
    column_loss, ruined_rows = np.ones(total), np.zeros(total, np.int64)
    row_loss, ruined_columns = np.ones(positions), np.zeros(positions, np.int64)
    for j in range(positions):
        for i in range(total):
            if position_left[j] and candidate_left[i] and adjacent[j, i]:
                if row[j] > 1:
                    column_loss[i] *= shrink[row[j]]
                else:
                    ruined_rows[i] += 1
                if column[i] > 1:
                    row_loss[j] *= shrink[column[i]]
                else:
                    ruined_columns[j] += 1
    return column_loss, ruined_rows, row_loss, ruined_columns


@njit(cache=True)  # type: ignore[untyped-decorator]
def _after(losses: float, degree: int, ruined: int, bound: Vector) -> float:
    """Return what remains of a bound when a line with ``degree`` entries is removed with one that it meets.

    ``losses`` counts the line among those that shrink, from b(degree) to b(degree - 1); it is removed.
    """
    if degree > 1:
        return losses / bound[degree - 1] if ruined == 0 else 0.0
    return losses if ruined == 1 else 0.0


@njit(cache=True)  # type: ignore[untyped-decorator]
def _row_over_column_bound(
    position_left: Mask, candidate_left: Mask, row: Counts, column: Counts, bound: Vector
) -> float:
    """Return the row bound over the column bound, factor by factor, so that neither overflows."""
    ratio, j, size = 1.0, 0, int(candidate_left.sum())
    for i in range(len(column)):
        if candidate_left[i]:
            while j < len(row) and not position_left[j]:
                j += 1
            ratio *= bound[row[j] if j < len(row) else size] / bound[column[i]]
            j += 1
    return ratio


@njit(cache=True)  # type: ignore[untyped-decorator]
def _last_line(
    position_left: Mask,
    candidate_left: Mask,
    adjacent: Mask,
    row: Counts,
    column: Counts,
    bound: Vector,
    share: Vector,
) -> int:
    """Decide the last position: each of its candidates completes one matching, with U = 1."""
    line, size = int(np.argmax(position_left)), int(candidate_left.sum())
    by_row, by_column, factor = bound[row[line]], 1.0, 0
    for i in range(len(column)):
        if candidate_left[i]:
            by_column *= bound[column[i]]
            if factor > 0:
                by_row *= bound[size] / factor
                by_column /= factor
            factor += 1
    for i in range(len(column)):
        share[line, i] = 1 / min(by_row, by_column) if candidate_left[i] and adjacent[line, i] else 0.0
    return line
