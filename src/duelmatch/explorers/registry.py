"""The algorithms by name."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from inspect import signature
from typing import Any

from duelmatch.errors import ProblemError, listed
from duelmatch.explorers.car_cond import CarCond, Oracle, Schedule
from duelmatch.explorers.car_parallel import CarParallel
from duelmatch.explorers.car_verify import CarVerify
from duelmatch.explorers.clucb import ClucbBorda
from duelmatch.explorers.contract import Explorer
from duelmatch.explorers.rounds import Algorithm
from duelmatch.graph import Graph
from duelmatch.problem import Problem


def _clucb_borda_pac(
    graph: Graph, delta: float, seed: int, epsilon: float = 0.05, schedule: Schedule = "sparse"
) -> Algorithm:
    return ClucbBorda(graph, delta, epsilon, schedule, seed)


def _clucb_borda_exact(graph: Graph, delta: float, seed: int, schedule: Schedule = "sparse") -> Algorithm:
    return ClucbBorda(graph, delta, None, schedule, seed)


def _car_cond(
    graph: Graph, delta: float, seed: int, schedule: Schedule = "sparse", oracle: Oracle = "lp"
) -> Algorithm:
    return CarCond(graph, delta, schedule, oracle)


def _car_verify(
    graph: Graph, delta: float, seed: int, schedule: Schedule = "sparse", oracle: Oracle = "lp"
) -> Algorithm:
    return CarVerify(graph, delta, schedule, oracle)


def _car_parallel(
    graph: Graph, delta: float, seed: int, schedule: Schedule = "sparse", oracle: Oracle = "lp"
) -> Algorithm:
    return CarParallel(graph, delta, schedule, oracle)


_ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    "clucb-borda-pac": _clucb_borda_pac,
    "clucb-borda-exact": _clucb_borda_exact,
    "car-cond": _car_cond,
    "car-verify": _car_verify,
    "car-parallel": _car_parallel,
}

_CHOICES = {"schedule": ("sparse", "every"), "oracle": ("lp", "subgradient")}


def algorithms() -> tuple[str, ...]:
    """Return the names of the algorithms."""
    return tuple(_ALGORITHMS)


def explorer(
    algorithm: str,
    problem: Problem,
    delta: float = 0.05,
    seed: int = 0,
    max_duels: int | None = None,
    **parameters: Any,
) -> Explorer:
    """Start a run of an algorithm on a problem.

    ``delta`` bounds the probability of a wrong answer. ``max_duels`` ends the run without one. Parameters
    by algorithm: ``epsilon`` (clucb-borda-pac), ``schedule`` ("sparse" or "every", all), ``oracle`` ("lp" or
    "subgradient", the car algorithms).

    :raises ProblemError: for an unknown name or parameter, or a value out of range.
    """
    if algorithm not in _ALGORITHMS:
        close = get_close_matches(str(algorithm), _ALGORITHMS, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        raise ProblemError(
            f"There is no algorithm '{algorithm}'; the algorithms are {listed(_ALGORITHMS, 9)}.{hint}"
        )
    build = _ALGORITHMS[algorithm]
    _check(algorithm, build, delta, seed, max_duels, parameters)
    defaults = {name: parameter.default for name, parameter in signature(build).parameters.items()}
    epsilon = parameters.get("epsilon", defaults.get("epsilon"))
    run = build(problem.graph, delta, seed, **parameters)
    return Explorer(problem, run, algorithm, delta, epsilon, max_duels)


def _check(
    algorithm: str,
    build: Callable[..., Algorithm],
    delta: object,
    seed: object,
    max_duels: object,
    parameters: dict[str, Any],
) -> None:
    if not isinstance(delta, (int, float)) or not 0 < delta < 1:
        raise ProblemError(f"delta must lie between 0 and 1, not {delta!r}.")
    if not isinstance(seed, int) or seed < 0:
        raise ProblemError(f"The seed must be a whole number from 0, not {seed!r}.")
    if max_duels is not None and (not isinstance(max_duels, int) or max_duels < 0):
        raise ProblemError(f"max_duels must be a whole number from 0, not {max_duels!r}.")
    known = [name for name in signature(build).parameters if name not in ("graph", "delta", "seed")]
    for name, value in parameters.items():
        if name not in known:
            raise ProblemError(f"{algorithm} has no parameter '{name}'; it has {listed(known)}.")
        if name in _CHOICES and value not in _CHOICES[name]:
            raise ProblemError(f"{name} must be {' or '.join(map(repr, _CHOICES[name]))}, not {value!r}.")
        if name == "epsilon" and (not isinstance(value, (int, float)) or not 0 < value < 1):
            raise ProblemError(f"epsilon must lie between 0 and 1, not {value!r}.")
