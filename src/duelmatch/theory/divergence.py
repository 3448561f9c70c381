"""The information limit with the exact divergence of a duel: a proven lower bound, lopsided duels included.

A delta-correct algorithm must tell the instance p from every instance lambda with another answer. If it
asks pair e a share omega_e of its duels, it takes T kl(delta, 1 - delta) of them on average, or more, where
(Garivier and Kaufmann 2016, Theorem 1)

    1 / T = max over omega of min over B != A of F_B(omega),
    F_B(omega) = min over lambda with D_lambda(A, B) <= 0 of sum_e omega_e kl(p_e, lambda_e),

A is the winner and D_lambda(A, B) = sum_e c_e(B) (lambda_e - 1/2) is linear
(:mod:`duelmatch.theory.limit`). That module replaces kl(p, lambda) by 2 (p - lambda)^2, which is what it is
near 1/2 and a lower bound on it elsewhere (Pinsker): its T is exact for nearly even duels and too large for
lopsided ones, where it is a yardstick, not a bound.

*The inner minimum* has one multiplier theta: lambda_e solves lambda - p + a lambda (1 - lambda) = 0 with
a = theta c_e / omega_e, a quadratic equation, and D_lambda falls with theta, so theta is found by bisection.

*The outer maximum.* F_B is a minimum of linear functions of omega. So each (B, lambda) met on the way is a
cut, min_B F_B(omega) <= sum_e omega_e kl(p_e, lambda_e) for all omega, and the linear program over all cuts
bounds the maximum from above at any time (Kelley 1960). T is taken from that bound: whatever the rivals and
cuts, it is a lower bound on the duels, by weak duality. Rivals are those that settle the nearly even form,
and any that an assignment problem at the present theta finds to be harder.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.special import rel_entr

from duelmatch.errors import DuelmatchError
from duelmatch.graph import Indices, Matrix, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.preferences import Criterion, Preferences
from duelmatch.theory.limit import coefficients

ACCURACY = 1e-3
"""Relative distance between the linear program's bound and the best omega at which the search ends."""

MOST_CUTS = 300
"""Rounds of cuts; the bound is valid after any number."""

MIXED_IN = 1e-3
"""The part of the duels that is spread evenly where cuts are made, so that no divergence is infinite."""

BISECTIONS = 80


def exact_limit(preferences: Preferences, criterion: Criterion, rivals: list[Indices]) -> float:
    """Return T, from below; ``rivals`` are matchings to begin with, and none of them ties with the winner."""
    search = _Search(preferences, criterion, rivals)
    pairs = len(search.probability)
    best = middle = np.full(pairs, 1.0 / pairs)
    least, most = 0.0, np.inf
    for _ in range(MOST_CUTS):
        value = search.cut((1 - MIXED_IN) * middle + MIXED_IN / pairs)
        if value > least:
            least, best = value, middle
        most, proposed = search.relaxed()
        if most <= least * (1 + ACCURACY):
            break
        middle = (best + proposed) / 2
    return 1 / most


class _Search:
    """The rivals and the cuts met so far."""

    def __init__(self, preferences: Preferences, criterion: Criterion, rivals: list[Indices]) -> None:
        graph = preferences.problem.graph
        table = graph.pair_table
        self._graph = graph
        self._winner = preferences.winner_edges(criterion)
        self._per_edge = coefficients(graph, criterion, self._winner)
        self._rivals = rivals
        self._known = {tuple(rival.tolist()) for rival in rivals}
        self._cuts: list[Vector] = []
        self.probability = preferences.matrix[table.first, table.second]

    def cut(self, omega: Vector) -> float:
        """Add the cuts of the rivals that are hardest at omega; return the smallest F_B(omega) found."""
        while True:
            stakes = np.stack([self._stakes(rival) for rival in self._rivals])
            theta, costs = self._closest(stakes, omega)
            values = costs @ omega
            hardest = int(values.argmin())
            harder = self._harder(float(theta[hardest]), omega)
            if harder is None:
                break
            self._rivals.append(harder)
            self._known.add(tuple(harder.tolist()))
        near = values <= 1.5 * values[hardest]
        self._cuts += list(costs[near])
        return float(values[hardest])

    def relaxed(self) -> tuple[float, Vector]:
        """Return the largest value that the cuts allow, and the omega that has it."""
        cuts = np.stack(self._cuts)
        scale = cuts.max()
        upper = np.column_stack([-cuts / scale, np.ones(len(cuts))])
        pairs = cuts.shape[1]
        equal = np.append(np.ones(pairs), 0.0)[None, :]
        found = linprog(
            np.append(np.zeros(pairs), -1.0), upper, np.zeros(len(cuts)), equal, [1.0], method="highs"
        )
        if found.status != 0:
            raise DuelmatchError(f"The information limit cannot be computed: {found.message}")
        return float(-found.fun * scale), np.maximum(found.x[:-1], 0.0)

    def _stakes(self, rival: Indices) -> Vector:
        stakes: Vector = np.asarray(self._per_edge[rival].sum(axis=0)).ravel()
        return stakes

    def _closest(self, stakes: Matrix, omega: Vector) -> tuple[Vector, Matrix]:
        """Return theta of each rival, and the divergences of the closest instance where it does not lose."""
        low, high = np.zeros(len(stakes)), np.ones(len(stakes))
        lead = (stakes * (self._moved(stakes, omega, high) - 0.5)).sum(axis=1)
        while (lead > 0).any():
            high = np.where(lead > 0, 2 * high, high)
            lead = (stakes * (self._moved(stakes, omega, high) - 0.5)).sum(axis=1)
        for _ in range(BISECTIONS):
            theta = (low + high) / 2
            ahead = (stakes * (self._moved(stakes, omega, theta) - 0.5)).sum(axis=1) > 0
            low, high = np.where(ahead, theta, low), np.where(ahead, high, theta)
        return high, _divergence(self.probability, self._moved(stakes, omega, high))

    def _moved(self, stakes: Matrix, omega: Vector, theta: Vector) -> Matrix:
        """Return lambda at a multiplier: the root in [0, 1] of a lambda^2 - (1 + a) lambda + p = 0."""
        a = theta[:, None] * stakes / omega
        root = np.sqrt(np.maximum((1 + a) ** 2 - 4 * a * self.probability, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            plain = 2 * self.probability / (1 + a + root)
            steep = (1 + a - root) / (2 * a)
        moved: Matrix = np.where(stakes == 0, self.probability, np.where(1 + a > 0, plain, steep))
        return np.clip(np.nan_to_num(moved), 0.0, 1.0)

    def _harder(self, theta: float, omega: Vector) -> Indices | None:
        """Look for a new rival with the least Lagrangian at theta, which adds up over its edges."""
        stakes = self._per_edge.toarray()
        moved = self._moved(stakes, omega, np.full(len(stakes), theta))
        lagrangian = (omega * _divergence(self.probability, moved) + theta * stakes * (moved - 0.5)).sum(
            axis=1
        )
        rival = decisions_of(self._graph).best_other(-lagrangian, self._winner)
        return None if rival is None or tuple(rival.tolist()) in self._known else rival


def _divergence(p: Vector, moved: Matrix) -> Matrix:
    """Return kl(p, lambda) of two coins."""
    divergence: Matrix = rel_entr(p, moved) + rel_entr(1 - p, 1 - moved)
    return divergence
