"""The max-min game over two matching polytopes, solved exactly as one linear program.

The value of the game is (Eq. 6 of the paper; Eq. 5 is the case
without required and forbidden edges)

    max over x in P(M, A1, R1) of min over y in P(M, A2, R2) of x^T Q y / l,

where P(M, A, R) is the convex hull of the maximum matchings that contain A and avoid R. The bipartite
matching polytope is described by its degree constraints, so the inner minimum dualises and all of it is

    maximise   sum_j u_j - sum_i v_i
    subject to u_j - v_i <= (Q^T x)_e / l   for every edge e = (i, j) allowed to y,
               x in P(M, A1, R1),  v >= 0,

with m + l + n variables. The paper approximates this value by projected subgradient ascent
(:mod:`duelmatch.matchings.subgradient`); the LP is exact and faster.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from scipy.sparse import block_array, csc_array

from duelmatch.errors import DuelmatchError
from duelmatch.feasibility import seat_rows
from duelmatch.graph import Edges, Graph, Indices, Mask, Matrix, Vector
from duelmatch.matchings.decisions import allowed_edges, best_matching

TOLERANCE = 1e-10
"""Feasibility tolerance of the LP: the tightest HiGHS takes."""


@dataclass(frozen=True, slots=True)
class Solution:
    """What was found, and how far from the optimum it can be at most.

    ``value`` is what ``x`` secures against every y. ``gap`` is a proof: no x secures more than
    ``value + gap``, shown by ``y`` and one assignment problem. If one of the two sets is empty there is
    no game, and the value is minus infinity.
    """

    value: float
    gap: float
    x: Vector | None
    y: Vector | None


NO_GAME = Solution(float("-inf"), 0.0, None, None)


def certified(
    graph: Graph, matrix: Matrix, x: Vector, y: Vector, x_allowed: Mask, y_allowed: Mask
) -> Solution:
    """Bound the value of the game from both sides by two assignment problems."""
    used_x, used_y = np.flatnonzero(x), np.flatnonzero(y)
    against_x = x[used_x] @ matrix[used_x] / graph.positions
    against_y = matrix[:, used_y] @ y[used_y] / graph.positions
    worst = best_matching(graph, -against_x, y_allowed)
    best = best_matching(graph, against_y, x_allowed)
    assert worst is not None, "checked before the game is played"
    assert best is not None, "checked before the game is played"
    value = float(against_x[worst].sum())
    return Solution(value, max(0.0, float(against_y[best].sum()) - value), x, y)


class Game:
    """The LP of one graph and one payoff matrix Q, kept so that related games start from its basis.

    A call of :meth:`solve` with other required and forbidden edges changes bounds only, and
    :meth:`replace_matrix` keeps the basis, so both restart the simplex method near its end.
    """

    def __init__(self, graph: Graph, matrix: Matrix) -> None:
        self.graph = graph
        self._highs = solver(primal_feasibility_tolerance=TOLERANCE, dual_feasibility_tolerance=TOLERANCE)
        self._pattern = graph.comparable  # where a preference matrix has its entries
        rows, self._payoffs = _comparable_rows(graph)
        self._program = _linear_program(graph, rows)
        self._set_matrix(matrix)

    def replace_matrix(self, matrix: Matrix) -> None:
        """Change Q and keep the basis of the last solution."""
        basis = self._highs.getBasis()
        self._set_matrix(matrix)
        if basis.valid:
            self._highs.setBasis(basis)

    def solve(
        self,
        required_x: Edges = (),
        forbidden_x: Edges = (),
        required_y: Edges = (),
        forbidden_y: Edges = (),
    ) -> Solution:
        """Solve the game with these edges required of, and forbidden to, either side."""
        x_allowed = allowed_edges(self.graph, required_x, forbidden_x)
        y_allowed = allowed_edges(self.graph, required_y, forbidden_y)
        return self.solve_allowed(x_allowed, y_allowed)

    def solve_allowed(self, x_allowed: Mask, y_allowed: Mask) -> Solution:
        """Solve the game with the matchings of these edges on either side."""
        indifferent = np.zeros(self.graph.edges)
        for allowed in (x_allowed, y_allowed):
            if best_matching(self.graph, indifferent, allowed) is None:
                return NO_GAME
        self._set_bounds(x_allowed, y_allowed)
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self._highs.clearSolver()
            self._highs.run()
        status = self._highs.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise DuelmatchError(f"HiGHS could not solve a matching game; it says: {status}.")
        solution = self._highs.getSolution()
        edges = self.graph.edges
        x = np.maximum(np.array(solution.col_value)[:edges], 0.0)
        y = np.abs(np.array(solution.row_dual)[:edges])
        return certified(self.graph, self._matrix, x, y, x_allowed, y_allowed)

    def _set_matrix(self, matrix: Matrix) -> None:
        self._matrix = np.asarray(matrix, dtype=np.float64)
        if (self._matrix[~self._pattern] != 0).any():
            self._pattern = self._pattern | (self._matrix != 0)
            rows, self._payoffs = _rows(self.graph, self._pattern)
            self._program = _linear_program(self.graph, rows)
        coefficients = np.array(self._program.a_matrix_.value_)
        coefficients[self._payoffs] = -self._matrix[self._pattern] / self.graph.positions
        self._program.a_matrix_.value_ = coefficients
        self._highs.passModel(self._program)

    def _set_bounds(self, x_allowed: Mask, y_allowed: Mask) -> None:
        edges = np.arange(self.graph.edges, dtype=np.int32)
        count, infinite = len(edges), np.full(len(edges), highspy.kHighsInf)
        x_upper = np.where(x_allowed, highspy.kHighsInf, 0.0)
        self._highs.changeColsBounds(count, edges, np.zeros(count), x_upper)
        y_upper = np.where(y_allowed, 0.0, highspy.kHighsInf)
        self._highs.changeRowsBounds(count, edges, -infinite, y_upper)


def _comparable_rows(graph: Graph) -> tuple[csc_array, Indices]:
    """Return the rows for a preference matrix; the same every time, since algorithms play many games."""
    found: tuple[csc_array, Indices] | None = graph.__dict__.get("_comparable_rows")
    if found is None:
        found = graph.__dict__["_comparable_rows"] = _rows(graph, graph.comparable)
    return found


def _rows(graph: Graph, pattern: Mask) -> tuple[csc_array, Indices]:
    """Return a payoff row per edge, then the degrees of x; the columns are x (m), u (l), v (n).

    The payoffs are left out; returned is where they belong among the coefficients, in the order of
    ``matrix[pattern]``.
    """
    degrees = seat_rows(graph).matrix
    at_position, of_candidate = degrees[: graph.positions], degrees[graph.positions :]
    row, column = np.nonzero(pattern)
    number = csc_array((np.arange(2.0, len(row) + 2), (column, row)), pattern.shape)
    rows = csc_array(
        block_array(
            [
                [number, at_position.T, -of_candidate.T],
                [at_position, None, None],
                [of_candidate, None, csc_array((graph.candidates, graph.candidates))],
            ]
        )
    )
    payoffs = np.flatnonzero(rows.data > 1)
    return rows, payoffs[np.argsort(rows.data[payoffs])]


def _linear_program(graph: Graph, rows: csc_array) -> highspy.HighsLp:
    sizes = [graph.edges, graph.positions, graph.candidates]
    infinity = highspy.kHighsInf
    program = program_of(rows)
    program.sense_ = highspy.ObjSense.kMaximize
    program.col_cost_ = np.repeat([0.0, 1.0, -1.0], sizes)
    program.col_lower_ = np.repeat([0.0, -infinity, 0.0], sizes)
    program.col_upper_ = np.full(rows.shape[1], infinity)
    program.row_lower_ = np.repeat([-infinity, 1.0, -infinity], sizes)
    program.row_upper_ = np.repeat([0.0, 1.0, 1.0], sizes)
    return program


def program_of(rows: csc_array) -> highspy.HighsLp:
    """Return a program of these rows, without costs and bounds."""
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = rows.shape
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = rows.indptr
    program.a_matrix_.index_ = rows.indices
    program.a_matrix_.value_ = rows.data
    return program


def solver(**options: object) -> highspy.Highs:
    """Return HiGHS with these options, silent and in one thread."""
    highs = highspy.Highs()
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(option, value)
    return highs
