"""The set of maximum matchings of a problem, by name; knows nothing of duels or statistics.

The functions here translate names; the modules beside this one do the work on edge numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from duelmatch.errors import ProblemError, TooLargeError, listed
from duelmatch.graph import Vector
from duelmatch.matchings.decisions import MEMORY, Decisions, allowed_edges, decisions_of
from duelmatch.matchings.game import Game, Solution
from duelmatch.matchings.general_game import payoffs
from duelmatch.matchings.sampling import DEFAULT_ETA, Method, sampler
from duelmatch.matchings.subgradient import solve_by_subgradients
from duelmatch.problem import Matching, Problem, check_problem

__all__ = [
    "Description",
    "Edge",
    "Samples",
    "Solution",
    "best",
    "best_other",
    "count",
    "describe",
    "edges_in_every",
    "edges_in_some",
    "game_value",
    "marginals",
    "sample",
    "solve_game",
]

Edge = tuple[str, str]
"""(candidate, position)"""


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a problem before any duel.

    ``duels`` is the number of different duels (K in the paper). ``matchings`` is the number of maximum
    matchings and ``share`` maps each edge to the share of them that use it; where counting them is out of
    reach, ``too_large`` says why, they are None and empty, and 10^``matchings_at_most_log10`` is an upper
    bound. The edges in ``never`` are in no maximum matching, those in ``certain`` in all of them.
    """

    candidates: int
    positions: int
    edges: int
    duels: int
    matchings: int | None
    matchings_at_most_log10: float
    too_large: str | None
    never: tuple[Edge, ...]
    certain: tuple[Edge, ...]
    share: Mapping[Edge, float]


def describe(problem: Problem) -> Description:
    """Return what is known of a problem before any duel.

    >>> team = Problem.from_edges([("ann", "chair"), ("ann", "editor"), ("bob", "editor")])
    >>> describe(team).matchings, describe(team).never
    (1, (('ann', 'editor'),))
    """
    graph, decisions = problem.graph, _decisions(problem)
    try:
        matchings, too_large = decisions.count(), None
        share = dict(zip(problem.edges, decisions.marginals().tolist(), strict=True))
    except TooLargeError as error:
        matchings, too_large, share = None, str(error), {}
    return Description(
        len(problem.candidates),
        len(problem.positions),
        graph.edges,
        graph.pairs,
        matchings,
        decisions.log_count_bound() / log(10),
        too_large,
        problem.marked(~decisions.usable),
        problem.marked(decisions.certain),
        share,
    )


def count(problem: Problem, memory: int = MEMORY) -> int:
    """Return how many maximum matchings there are, exactly.

    :raises TooLargeError: if that would take more than ``memory`` bytes.
    """
    return _decisions(problem).count(memory)


def marginals(problem: Problem, memory: int = MEMORY) -> dict[Edge, float]:
    """Return the probability that a uniformly random maximum matching uses each edge.

    :raises TooLargeError: if that would take more than ``memory`` bytes.
    """
    probabilities = _decisions(problem).marginals(memory)
    return dict(zip(problem.edges, probabilities.tolist(), strict=True))


class Samples(list[Matching]):
    """Sampled matchings, with the ``method`` that drew them and the ``eta`` it was asked to keep.

    ``eta`` bounds the total variation of each matching's distribution from the uniform one; 0 for the
    methods ``exact`` and ``rejection``, whose draws are uniform and independent.
    """

    def __init__(self, matchings: Iterable[Matching], method: str, eta: float) -> None:
        super().__init__(matchings)
        self.method = method
        self.eta = eta


def sample(
    problem: Problem,
    size: int,
    seed: int = 0,
    method: Method = "auto",
    eta: float = DEFAULT_ETA,
    memory: int = MEMORY,
) -> Samples:
    """Return ``size`` random maximum matchings.

    Uniform by ``exact`` and by ``rejection``, almost uniform by ``chain``; ``auto`` takes the first of these
    that is feasible. See :mod:`duelmatch.matchings.sampling` for what is proven of each.

    :raises TooLargeError: if the method asked for is out of reach.
    """
    _check_whole("number of samples", size)
    _check_whole("seed", seed)
    check_problem(problem, "A set of matchings")
    if not problem.graph.one_to_one:
        if method == "chain":
            raise ProblemError(
                "The Markov chain draws one-to-one matchings; with capacities, seats or rules, use 'exact'."
            )
        rows = decisions_of(problem.graph).draw(size, np.random.default_rng(seed))
        return Samples(map(problem.matching, rows.tolist()), "exact", 0.0)
    drawer = sampler(problem.graph, method, eta, seed, memory)
    drawn = map(problem.matching, drawer.draw(size).tolist())
    return Samples(drawn, drawer.method, drawer.eta)


def best(
    problem: Problem,
    weights: Mapping[Edge, float],
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
) -> Matching | None:
    """Return a maximum matching of largest weight with these edges required and those forbidden.

    None if no maximum matching contains all of ``required`` and none of ``forbidden``.
    """
    decisions = _decisions(problem)
    allowed = np.ones(problem.graph.edges, dtype=np.bool_)
    allowed[_numbers(problem, forbidden)] = False
    values, needed = _weights(problem, weights), _numbers(problem, required)
    edges = decisions.best(values, allowed, needed)
    return None if edges is None else problem.matching(edges)


def best_other(
    problem: Problem, weights: Mapping[Edge, float], matching: Mapping[str, Any]
) -> Matching | None:
    """Return a best maximum matching that differs from ``matching``; None if there is no other."""
    decisions = _decisions(problem)
    edges = decisions.best_other(_weights(problem, weights), problem.edge_numbers(matching))
    return None if edges is None else problem.matching(edges)


def edges_in_some(problem: Problem) -> frozenset[Edge]:
    """Return the edges that lie in some maximum matching; the others can never matter."""
    return frozenset(problem.marked(_decisions(problem).usable))


def edges_in_every(problem: Problem) -> frozenset[Edge]:
    """Return the edges that lie in every maximum matching: decided before any duel."""
    return frozenset(problem.marked(_decisions(problem).certain))


def solve_game(
    problem: Problem,
    Q: ArrayLike,
    required_x: Iterable[Edge] = (),
    forbidden_x: Iterable[Edge] = (),
    required_y: Iterable[Edge] = (),
    forbidden_y: Iterable[Edge] = (),
    method: Literal["lp", "subgradient"] = "lp",
    epsilon: float = 1e-9,
) -> Solution:
    """Solve max over x, min over y of x^T Q y / l over matchings; see :mod:`duelmatch.matchings.game`.

    ``Q`` is m x m in the order of ``problem.edges``. With weights and seats, its entries count as in f; see
    :func:`duelmatch.matchings.general_game.payoffs`. ``lp`` is exact up to rounding; ``subgradient`` is
    the paper's method, run until its gap is proven to be at most ``epsilon`` (0.01 is practical).
    """
    check_problem(problem, "A game")
    graph = problem.graph
    matrix = _finite(Q, "Every entry of Q must be a finite number.")
    if matrix.shape != (graph.edges, graph.edges):
        raise ProblemError(
            f"Q must be {graph.edges} x {graph.edges}, a row and a column per edge, "
            f"not {' x '.join(map(str, matrix.shape)) or 'a number'}."
        )
    if not epsilon > 0:
        raise ProblemError(f"epsilon must be above 0, not {epsilon!r}.")
    if method not in ("lp", "subgradient"):
        raise ProblemError(f"The method must be 'lp' or 'subgradient', not {method!r}.")
    sides = [_numbers(problem, edges) for edges in (required_x, forbidden_x, required_y, forbidden_y)]
    if problem.conditions:
        if method == "subgradient":
            raise ProblemError("The subgradient method is for one-to-one matchings of equal positions.")
        return decisions_of(graph).game(payoffs(graph, matrix)).solve(*sides)
    if method == "lp":
        return Game(graph, matrix).solve(*sides)
    x_allowed, y_allowed = allowed_edges(graph, *sides[:2]), allowed_edges(graph, *sides[2:])
    return solve_by_subgradients(graph, matrix, x_allowed, y_allowed, epsilon)


def game_value(
    problem: Problem,
    Q: ArrayLike,
    required_x: Iterable[Edge] = (),
    forbidden_x: Iterable[Edge] = (),
    required_y: Iterable[Edge] = (),
    forbidden_y: Iterable[Edge] = (),
    method: Literal["lp", "subgradient"] = "lp",
    epsilon: float = 1e-9,
) -> float:
    """Return the value of :func:`solve_game`; minus infinity if one of the two sets is empty."""
    return solve_game(problem, Q, required_x, forbidden_x, required_y, forbidden_y, method, epsilon).value


def _decisions(problem: Problem) -> Decisions:
    check_problem(problem, "A set of matchings")
    return decisions_of(problem.graph)


def _numbers(problem: Problem, edges: Iterable[Edge]) -> list[int]:
    return [_number(problem, edge) for edge in edges]


def _number(problem: Problem, edge: object) -> int:
    match edge:
        case (str(candidate), str(position)):
            return problem.edge_number(candidate, position)
    raise ProblemError(f"An edge is a pair (candidate, position), not {edge!r:.80}.")


def _check_whole(name: str, number: object) -> None:
    if not isinstance(number, (int, np.integer)) or number < 0:
        raise ProblemError(f"The {name} must be a whole number, 0 or more, not {number!r:.80}.")


def _weights(problem: Problem, weights: Mapping[Edge, float]) -> Vector:
    if missing := [f"{edge[0]} at {edge[1]}" for edge in problem.edges if edge not in weights]:
        raise ProblemError(f"The weight of {listed(missing, limit=3)} is missing.")
    _numbers(problem, weights)
    return _finite([weights[edge] for edge in problem.edges], "Every weight must be a finite number.")


def _finite(values: ArrayLike, complaint: str) -> Vector:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProblemError(complaint) from None
    if not np.isfinite(array).all():
        raise ProblemError(complaint)
    return array
