"""The information limit of problems that are known to have a Condorcet winner.

If a winner is taken for granted there are fewer worlds to tell apart: those in which a rival B is the winner,
so that D(C, B) <= 0 for *every* decision C, instead of those in which B beats the winner A. For proportions
omega of the duels, the world of that kind nearest to the truth is a projection, and by duality

    T* = min over omega of max over B != A of min over x of [sum c_pair(x, B)^2 / omega_pair] / (2 D(x, B)^2),

where x is a mixture of decisions: the opponent of B. With the winner alone as opponent it is the limit of
:mod:`duelmatch.theory.limit`, which is therefore never smaller.

For each B the inner minimum is a projection on the cone of the decisions, found by non-negative least squares
over a few of them; decisions are added by assignment problems until no other one helps. What an omega needs
bounds T* from above. What is left of the projection is the nearest world in which B is the winner; every such
world bounds the evidence of any omega, which is linear in omega. So the best omega against all worlds found,
a linear program, bounds T* from below, and the search ends when the two bounds meet. Until then it tries, in
turn, the best allocation for the opponents found, as in the other limit, and the way to that omega.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog, nnls

from duelmatch.errors import TooLargeError
from duelmatch.graph import Graph, Indices, Matrix, Vector
from duelmatch.matchings.decisions import decisions_of

Allocate = Callable[[Matrix], tuple[float, Vector]]

MOST_DECISIONS = 2_000
"""Every rival has an opponent of its own, so they are listed."""

TURNS = 100
ACCURACY = 2e-3
"""Relative distance between the two bounds at which the search ends."""

HARDEST = 80
"""Rivals that the allocation is for, and whose worlds are kept, in each turn."""

LEAST = 1e-5
"""The share of the duels that is spread over all pairs, so that no opponent is out of reach."""


class AnyOpponent:
    """The search for omega and the opponents, on one instance."""

    def __init__(self, graph: Graph, winner: Indices, matrix: Matrix, allocate: Allocate) -> None:
        """Take p of all edges against each other, and what finds the best omega for costs of rivals."""
        rows = decisions_of(graph).listed(None, MOST_DECISIONS)
        if rows is None:
            raise TooLargeError(
                "The information limit with a winner taken for granted is known only where there are at most "
                f"{MOST_DECISIONS:,} decisions."
            )
        self._decisions, self._edges, self._pairs = decisions_of(graph), graph.edges, graph.pairs
        self._allocate = allocate
        self.rows = rows[(rows != winner).any(axis=1)]
        own = self.rows[:, graph.edge_position]
        self._same = own == np.arange(graph.edges)
        weight = graph.weight[graph.edge_position]
        self._weight = np.where(self._same, 0.0, weight)
        self._lead = self._weight * (matrix[np.arange(graph.edges), own] - 0.5)
        other = np.broadcast_to(np.arange(graph.edges), own.shape)
        self._pair = np.where(self._same, 0, graph.pair_table.number(own, other))
        self._atoms: list[list[Indices]] = [[winner] for _ in self.rows]

    def solve(self) -> tuple[float, float, Vector]:
        """Return bounds on T* from below and above, and the proportions of duels that attain the latter."""
        omega = np.full(self._pairs, 1.0 / self._pairs)
        lower, upper, best, worlds = 0.0, np.inf, omega, np.zeros((0, self._pairs))
        for turn in range(TURNS):
            costs = self._costs(np.stack([self._opponent(rival, omega) for rival in range(len(self.rows))]))
            needed = (costs / omega).sum(axis=1)
            if needed.max() < upper:
                upper, best = float(needed.max()), omega
            hardest = np.argsort(-needed, kind="stable")[:HARDEST]
            # A nearest world is as far from the truth at a pair as its opponent needs duels there.
            nearest = costs[hardest] / np.square(omega * needed[hardest, None])
            worlds = np.concatenate([worlds, nearest])
            evidence, against_all = _best_against(worlds * upper)  # scaled for the solver's tolerance
            lower = max(lower, upper / evidence)
            if upper <= lower * (1 + ACCURACY):
                break
            if turn % 2:
                omega, wanted, step = best, against_all, 0.5
            else:
                _, wanted = self._allocate(costs[hardest])
                step = max(0.5 * 0.97**turn, 0.05)
            omega = (1 - LEAST) * ((1 - step) * omega + step * wanted) + LEAST / self._pairs
        return lower, upper, best

    def _opponent(self, rival: int, omega: Vector) -> Vector:
        """Return the mixture that rules a rival out soonest, as weights of edges, scaled so that D is 1."""
        root = np.sqrt(np.where(self._same[rival], 1.0, omega[self._pair[rival]]))
        weight = self._weight[rival]
        aim = np.where(weight > 0, root * self._lead[rival] / np.where(weight > 0, weight, 1.0), 0.0)
        atoms = self._atoms[rival]
        while True:
            uses = np.zeros((len(atoms), self._edges))
            uses[np.arange(len(atoms))[:, None], np.stack(atoms)] = 1.0
            shares, _ = nnls((uses * (weight / root)).T, aim)
            mixture = shares @ uses
            gain = (aim - mixture * weight / root) * weight / root
            another = self._decisions.one(gain)
            if gain[another].sum() <= 1e-9 * (aim @ aim) or any((another == atom).all() for atom in atoms):
                break
            atoms.append(another)
        used = [atom for atom, share in zip(atoms, shares, strict=True) if share > 0]
        self._atoms[rival] = used or atoms[:1]
        scaled: Vector = mixture / (mixture @ self._lead[rival])
        return scaled

    def _costs(self, opponents: Matrix) -> Matrix:
        """Return c_pair^2 / 2 of every rival against its opponent."""
        costs = np.zeros((len(opponents), self._pairs))
        squares = np.square(opponents * self._weight) / 2
        for cost, square, pair in zip(costs, squares, self._pair, strict=True):
            np.add.at(cost, pair, square)
        return costs


def _best_against(worlds: Matrix) -> tuple[float, Vector]:
    """Return the most evidence that any omega has against every one of some worlds, and that omega."""
    least = np.append(np.zeros(worlds.shape[1]), -1.0)
    found = linprog(
        least,
        A_ub=np.column_stack([-worlds, np.ones(len(worlds))]),
        b_ub=np.zeros(len(worlds)),
        A_eq=np.append(np.ones(worlds.shape[1]), 0.0)[None],
        b_eq=[1.0],
    )
    return -found.fun, found.x[:-1]
