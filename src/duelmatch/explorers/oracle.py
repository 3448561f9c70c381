"""The oracle of CAR-Cond: InL, InU, ExL and ExU of an edge, with most of the games saved.

InU(e) is the value of the game between mixtures of matchings that contain e, by the upper bounds, and all
mixtures; ExU(e) of those without e; InL and ExL by the lower bounds. Each is an LP, or on request the
paper's approximate method.

How most of them are saved. By the lower bounds no mixture can secure more than 1/2, since it meets itself; so
an edge can only be accepted when ExU < 1/2 - eps_q and rejected when InU < 1/2 - eps_q. Any x found earlier
that still secures 1/2 - eps_q against every y, by one assignment problem, is a witness against the
decision, and many edges share one. A round changes a probability by at most 1/t and a radius by c/2t, so a
witness with room to spare also speaks for rounds to come, which need not be looked at even by
``schedule="every"``.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from duelmatch.errors import ProblemError
from duelmatch.explorers.tally import weighed
from duelmatch.graph import Graph, Mask, Matrix, Vector
from duelmatch.matchings.decisions import allowed_edges, decisions_of
from duelmatch.matchings.game import Game, Solution
from duelmatch.matchings.general_game import LinearGame
from duelmatch.matchings.subgradient import solve_by_subgradients

Method = Literal["lp", "subgradient"]

ROUNDING = 1e-9
"""More than the LP's tolerance can be worth."""


def new_game(graph: Graph, matrix: Matrix) -> Game | LinearGame:
    """Return the game of a matrix of probabilities, weighed; every position has one seat."""
    if graph.one_to_one:
        return Game(graph, matrix)
    return LinearGame(decisions_of(graph), matrix, graph.positions)


class Oracle:
    """O_eps of the paper on the bounds of the present round, which :meth:`begin_round` sets.

    ``room`` is how far the weakest witness against a decision is above the threshold; 0 where there is none,
    and so where there was a decision.
    """

    def __init__(self, graph: Graph, method: Method) -> None:
        self._graph, self._method = graph, method
        self._decisions = decisions_of(graph)
        if graph.conditions is not None and method != "lp":
            raise ProblemError("The subgradient method is for one-to-one matchings of equal positions.")
        self._games: dict[str, Game | LinearGame] = {}
        self._witnesses: list[tuple[float, Vector]] = []
        self._undecided = np.zeros(0, dtype=np.intp)
        self._best = self._no_values()
        self.room = 0.0

    def begin_round(
        self, bounds: tuple[Matrix, Matrix], accepted: Mask, rejected: Mask, epsilon: float
    ) -> None:
        """Take the bounds of a round, and what is decided before it."""
        self._accepted, self._rejected = np.flatnonzero(accepted), np.flatnonzero(rejected)
        self._allowed = allowed_edges(self._graph, self._accepted, self._rejected)
        weighted = [weighed(self._graph, matrix) for matrix in bounds]
        self._bounds = dict(zip(("lower", "upper"), weighted, strict=True))
        self._fresh = {"lower", "upper"}  # the games that do not know these bounds yet
        self._epsilon, self._threshold = epsilon, 0.5 - epsilon
        self._known: dict[tuple[int, bool], float] = {}
        self.room = np.inf
        wanted = np.unique([best[self._undecided] for best in self._best.values()])
        kept = [x for value, x in self._witnesses if value in wanted]
        self._undecided = np.flatnonzero(~(accepted | rejected))
        self._witnesses, self._best = [], self._no_values()
        for x in kept:
            self._admit(x)

    def InU(self, edge: int) -> float:
        """Return the best value with the edge, by the upper bounds; or some of it, from the threshold on."""
        return self._upper(edge, present=True)

    def ExU(self, edge: int) -> float:
        """Return the best value without the edge, by the upper bounds; or some, from the threshold on."""
        return self._upper(edge, present=False)

    def InL(self, edge: int) -> float:
        """Return the best value with the edge, by the lower bounds."""
        return self._solve("lower", edge, present=True).value

    def ExL(self, edge: int) -> float:
        """Return the best value without the edge, by the lower bounds."""
        return self._solve("lower", edge, present=False).value

    def _upper(self, edge: int, present: bool) -> float:
        if (edge, present) not in self._known:
            self._known[edge, present] = self._upper_value(edge, present)
        return self._known[edge, present]

    def _upper_value(self, edge: int, present: bool) -> float:
        best = self._best[present]
        if best[edge] < self._threshold:
            solution = self._solve("upper", edge, present)
            if solution.x is not None:
                self._admit(solution.x)
            if solution.value < self._threshold:
                self.room = 0.0
                return solution.value + solution.gap + ROUNDING
        self.room = min(self.room, max(0.0, float(best[edge]) - self._threshold))
        return max(self._threshold, float(best[edge]))

    def _solve(self, side: str, edge: int, present: bool) -> Solution:
        """Solve the game of one side's bounds, with the edge required or forbidden."""
        required = np.append(self._accepted, edge) if present else self._accepted
        forbidden = self._rejected if present else np.append(self._rejected, edge)
        matrix, x_allowed = self._bounds[side], allowed_edges(self._graph, required, forbidden)
        if self._method == "subgradient":
            found = solve_by_subgradients(self._graph, matrix, x_allowed, self._allowed, self._epsilon)
            return Solution(found.value, 0.0, found.x, found.y)
        if side not in self._games:
            self._games[side] = new_game(self._graph, matrix)
        elif side in self._fresh:
            self._games[side].replace_matrix(matrix)
        self._fresh.discard(side)
        return self._games[side].solve_allowed(x_allowed, self._allowed)

    def _admit(self, x: Vector) -> None:
        """Add a witness, if it still respects the decisions taken, with what it secures now."""
        if (x[self._accepted] < 1 - ROUNDING).any() or (x[self._rejected] > ROUNDING).any():
            return
        against_x = x @ self._bounds["upper"] / self._graph.positions
        worst = self._decisions.one(-against_x, self._allowed)
        value = float(against_x[worst].sum())
        self._witnesses.append((value, x))
        for present, speaks in ((False, x < ROUNDING), (True, x > 1 - ROUNDING)):
            best = self._best[present]
            np.maximum(best, np.where(speaks, value, -np.inf), out=best)

    def _no_values(self) -> dict[bool, Vector]:
        return {present: np.full(self._graph.edges, -np.inf) for present in (False, True)}
