"""The max-min game over mixtures of decisions, beyond matchings: by one program, or by a double oracle.

The value is max over x in P(A1, R1) of min over y in P(A2, R2) of x^T Q y, where P(A, R) is the convex hull
of the decisions that contain A and avoid R. Weights and seats are in Q; see :func:`payoffs`.

Where seats and capacities describe the hull (:attr:`Decisions.integral`), :class:`LinearGame` solves one
linear program, the one of :mod:`duelmatch.matchings.game` with the dual of "an edge is used once" added:

    maximise   sum_j seats_j u_j - sum_i capacity_i v_i - sum_e z_e
    subject to u_j - v_i - z_e <= (Q^T x)_e   for every edge e = (i, j) allowed to y,
               x in P(A1, R1),  v >= 0,  z >= 0 (free where y must use e).

Rules make the relaxation larger than the hull, and its value is then no bound on anything: with them
:class:`DoubleOracle` plays a growing matrix game, and both sides add their best answer by the linear oracle
until none is worth more. That ends, since decisions are finite; it is exact up to ACCURACY.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array, diags_array

from duelmatch.errors import DuelmatchError, TooLargeError
from duelmatch.feasibility import seat_rows
from duelmatch.graph import Edges, Graph, Indices, Mask, Matrix, Vector
from duelmatch.matchings.decisions import Decisions
from duelmatch.matchings.game import NO_GAME, Solution

ACCURACY = 1e-10
"""How far the double oracle's bounds on the value may be apart, relative to the largest payoff."""

MOST_ROUNDS = 1_000
"""How often the double oracle asks before it gives up."""

SIMPLEX = {
    "method": "highs-ds",
    "options": {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
}


def payoffs(graph: Graph, matrix: Matrix) -> Matrix:
    """Return the Q with f(x, y) = x^T Q y for a matrix of win probabilities, between edges of any positions.

    The seats of a position share its weight v_j: a pair of seats counts v_j / k_j^2, over the total weight.
    Between different positions, sqrt(v_i v_j) / (k_i k_j).
    """
    half = np.sqrt(graph.weight)[graph.edge_position] / graph.seats[graph.edge_position]
    scaled: Matrix = matrix * np.outer(half, half) / graph.total_weight
    return scaled


class _Side:
    """What one side of a game may play."""

    def __init__(self, decisions: Decisions, required: Edges, forbidden: Edges) -> None:
        self._decisions = decisions
        edges = decisions.graph.edges
        self.edges = np.asarray(required, dtype=np.intp)
        self.required, self.allowed = np.zeros(edges, dtype=np.bool_), np.ones(edges, dtype=np.bool_)
        self.required[self.edges] = True
        self.allowed[np.asarray(forbidden, dtype=np.intp)] = False
        self.first = decisions.some(self.allowed, self.edges)
        """Something to play; None if there is nothing."""

    def best(self, weights: Vector) -> Indices:
        """Return the best answer."""
        best = self._decisions.best(weights, self.allowed, self.edges)
        assert best is not None, "looked at before"
        return best


class PolytopeGame(ABC):
    """A game to be solved with various edges required of, and forbidden to, either side."""

    _matrix: Matrix

    def __init__(self, decisions: Decisions) -> None:
        self._decisions, self._graph = decisions, decisions.graph

    def solve(
        self,
        required_x: Edges = (),
        forbidden_x: Edges = (),
        required_y: Edges = (),
        forbidden_y: Edges = (),
    ) -> Solution:
        """Solve the game; NO_GAME if one of the two sets is empty."""
        x_side = _Side(self._decisions, required_x, forbidden_x)
        y_side = _Side(self._decisions, required_y, forbidden_y)
        if x_side.first is None or y_side.first is None:
            return NO_GAME
        return self._solve(x_side, y_side)

    def solve_allowed(self, x_allowed: Mask, y_allowed: Mask) -> Solution:
        """Solve the game with the decisions of these edges on either side."""
        return self.solve(forbidden_x=np.flatnonzero(~x_allowed), forbidden_y=np.flatnonzero(~y_allowed))

    @abstractmethod
    def _solve(self, x_side: _Side, y_side: _Side) -> Solution:
        """Solve the game of two sides that have something to play."""

    def _certified(
        self, x: Vector, y: Vector, x_side: _Side, y_side: _Side
    ) -> tuple[Solution, Indices, Indices]:
        """Bound the value from both sides by the best answers to x and to y; return these, too."""
        against_x, against_y = x @ self._matrix, self._matrix @ y
        worst, best = y_side.best(-against_x), x_side.best(against_y)
        value, most = float(against_x[worst].sum()), float(against_y[best].sum())
        return Solution(value, max(0.0, most - value), x, y), worst, best


class LinearGame(PolytopeGame):
    """The game as one linear program; the payoff is divided by ``unit``."""

    def __init__(self, decisions: Decisions, matrix: Matrix, unit: float = 1.0) -> None:
        super().__init__(decisions)
        self._unit = unit
        self.replace_matrix(matrix)

    def replace_matrix(self, matrix: Matrix) -> None:
        """Change Q."""
        self._matrix = np.asarray(matrix, dtype=np.float64) / self._unit
        graph, ones = self._graph, np.ones(self._graph.edges)
        degrees = seat_rows(graph).matrix
        at_position, of_candidate = degrees[: graph.positions], degrees[graph.positions :]
        payoff = csr_array(-self._matrix.T)
        identity = diags_array(-ones)
        self._rows = csr_array(
            block_array(
                [
                    [payoff, at_position.T, -of_candidate.T, identity],
                    [of_candidate, None, csr_array((graph.candidates, graph.candidates)), None],
                ]
            )
        )
        rest = graph.positions + graph.candidates + graph.edges
        self._seats = csr_array(block_array([[at_position, csr_array((graph.positions, rest))]]))
        self._cost = -np.concatenate(
            [np.zeros(graph.edges), graph.seats, -graph.capacity.astype(np.float64), -ones]
        )

    def _solve(self, x_side: _Side, y_side: _Side) -> Solution:
        graph = self._graph
        low, high = np.zeros(len(self._cost)), np.full(len(self._cost), np.inf)
        low[: graph.edges], high[: graph.edges] = x_side.required, x_side.allowed
        low[graph.edges : graph.edges + graph.positions] = -np.inf
        low[len(low) - graph.edges :] = np.where(y_side.required, -np.inf, 0.0)
        kept = np.append(y_side.allowed, np.ones(graph.candidates, dtype=np.bool_))
        solved = linprog(
            self._cost,
            A_ub=self._rows[np.flatnonzero(kept)],
            b_ub=np.append(np.zeros(graph.edges), graph.capacity)[kept],
            A_eq=self._seats,
            b_eq=graph.seats,
            bounds=np.column_stack([low, high]),
            **SIMPLEX,
        )
        if solved.status != 0:
            raise DuelmatchError(f"HiGHS could not solve a game; it says: {solved.message}")
        x = np.clip(solved.x[: graph.edges], 0.0, 1.0)
        y = np.zeros(graph.edges)
        y[y_side.allowed] = np.clip(-solved.ineqlin.marginals[: y_side.allowed.sum()], 0.0, 1.0)
        return self._certified(x, y, x_side, y_side)[0]


class DoubleOracle(PolytopeGame):
    """The game between lists of decisions that grow by best answers."""

    def __init__(self, decisions: Decisions, matrix: Matrix) -> None:
        super().__init__(decisions)
        self._matrix = np.asarray(matrix, dtype=np.float64)
        self._scale = max(float(np.abs(self._matrix).max(initial=0.0)), 1e-300)

    def _solve(self, x_side: _Side, y_side: _Side) -> Solution:
        """Solve the game.

        :raises TooLargeError: if the bounds have not met after MOST_ROUNDS.
        """
        assert x_side.first is not None, "looked at before"
        assert y_side.first is not None, "looked at before"
        xs, ys = {tuple(x_side.first.tolist()): x_side.first}, {tuple(y_side.first.tolist()): y_side.first}
        accuracy = ACCURACY * self._scale * len(x_side.first) ** 2
        for _ in range(MOST_ROUNDS):
            x_rows, y_rows = self._indicators(xs), self._indicators(ys)
            mixture, answer = matrix_game(x_rows @ self._matrix @ y_rows.T)
            found, worst, best = self._certified(mixture @ x_rows, answer @ y_rows, x_side, y_side)
            known = len(xs) + len(ys)
            xs[tuple(best.tolist())], ys[tuple(worst.tolist())] = best, worst
            if found.gap <= accuracy or len(xs) + len(ys) == known:
                return found
        raise TooLargeError(f"The game did not settle in {MOST_ROUNDS:,} rounds of best answers.")

    def _indicators(self, rows: dict[tuple[int, ...], Indices]) -> NDArray[np.float64]:
        uses: NDArray[np.float64] = self._graph.uses(np.stack(list(rows.values()))).astype(np.float64)
        return uses


def matrix_game(payoff: Matrix) -> tuple[Vector, Vector]:
    """Return optimal mixtures of the rows, who maximise, and of the columns."""
    rows, columns = payoff.shape
    scale = max(float(np.abs(payoff).max()), 1e-300)
    solved = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.column_stack([-payoff.T / scale, np.ones(columns)]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0.0, None)] * rows + [(None, None)],
        **SIMPLEX,
    )
    if solved.status != 0:
        raise DuelmatchError(f"HiGHS could not solve a matrix game; it says: {solved.message}")
    mixture = np.maximum(solved.x[:-1], 0.0)
    answer = np.maximum(-solved.ineqlin.marginals, 0.0)
    return mixture / mixture.sum(), answer / answer.sum()
