"""The paper's own solver for the matching game: projected subgradient ascent, projected by Frank-Wolfe.

Appendix C.2 of the paper: Algorithm 6 ("Condorcet Oracle") and Algorithm 7 ("Approximate projection by
Frank-Wolfe"). It is kept as the paper has it, with these differences, without which it cannot run:

- The printed iteration counts, T = (4 l K)^2 / eps^2 steps with 16 l^2 / eps'^2 projection steps each,
  are about 6e18 assignment problems for l = 3, K = 9, eps = 0.1. Both loops stop on a proof instead: the
  outer one when the duality gap is at most eps (the average of the answers y bounds the value from
  above, by one assignment problem), the inner one on the Frank-Wolfe gap.
- Step sizes: the paper bounds the diameter by 2 l and the subgradient by K (and prints sqrt(M) where the
  proof needs sqrt(T)). Here they are sqrt(2 l), the true largest distance, and the norm at hand, with
  sqrt(t) for the unknown T.
- The projection starts at the current iterate, which contains A and avoids R (the listing allows any
  maximum matching), and takes the best step on each segment rather than 2 / (t + 1).
- The best iterate is returned, which is what the proof bounds, not the last.

Why an approximate projection is good enough: with z = x + eta g and x' in the polytope, ||x' - x*||^2 <=
||z - x*||^2 + 2 G for every x* in it, where G is the Frank-Wolfe gap at x'. The usual telescoping sum
then loses G / eta a step, so G <= eta eps / 4 costs eps / 4 in all.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from duelmatch.errors import DuelmatchError
from duelmatch.graph import Graph, Indices, Mask, Matrix, Vector
from duelmatch.matchings.decisions import best_matching
from duelmatch.matchings.game import NO_GAME, Solution, certified

MOST_STEPS = 200_000
MOST_PROJECTION_STEPS = 10_000


def solve_by_subgradients(
    graph: Graph, matrix: Matrix, x_allowed: Mask, y_allowed: Mask, epsilon: float
) -> Solution:
    """Solve the game up to a proven gap of ``epsilon``.

    :raises DuelmatchError: if MOST_STEPS steps do not prove it; the message gives the gap reached.
    """
    start = graph.some_matching(x_allowed)
    if start is None or graph.some_matching(y_allowed) is None:
        return NO_GAME
    x = _indicator(graph, start)
    best_x, best_value = x, -np.inf
    answers, total_step = np.zeros(graph.edges), 0.0
    diameter = sqrt(2 * graph.positions)
    solution = NO_GAME
    for t in range(1, MOST_STEPS + 1):
        against_x = x @ matrix / graph.positions
        answer = _best(graph, -against_x, y_allowed)
        if (value := float(against_x[answer].sum())) > best_value:
            best_x, best_value = x, value
        y = _indicator(graph, answer)
        subgradient = matrix @ y / graph.positions
        step = diameter / (max(float(np.linalg.norm(subgradient)), 1e-12) * sqrt(t))
        answers += step * y
        total_step += step
        if t % 10 == 1:
            solution = certified(graph, matrix, best_x, answers / total_step, x_allowed, y_allowed)
            if solution.gap <= epsilon:
                return solution
        x = _projected(graph, x + step * subgradient, x, x_allowed, step * epsilon / 4)
    raise DuelmatchError(
        f"After {MOST_STEPS} subgradient steps the game's value is known within {solution.gap:.2g} only, "
        f"not {epsilon:.2g}. Ask for a larger epsilon, or use the exact method 'lp'."
    )


def _projected(graph: Graph, point: Vector, start: Vector, allowed: Mask, accuracy: float) -> Vector:
    """Project a point onto P(M, A, R) by Frank-Wolfe steps, up to a Frank-Wolfe gap of ``accuracy``."""
    x = start
    for _ in range(MOST_PROJECTION_STEPS):
        pull = point - x
        direction = _indicator(graph, _best(graph, pull, allowed)) - x
        gap = float(pull @ direction)
        if gap <= accuracy:
            break
        x = x + min(1.0, gap / float(direction @ direction)) * direction
    return x


def _best(graph: Graph, weights: Vector, allowed: Mask) -> Indices:
    matching = best_matching(graph, weights, allowed)
    assert matching is not None, "checked before the game is played"
    return matching


def _indicator(graph: Graph, matching: Indices) -> Vector:
    """Return chi_M, the 0/1 vector of a matching."""
    indicator = np.zeros(graph.edges)
    indicator[matching] = 1.0
    return indicator
