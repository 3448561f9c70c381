"""The algorithms by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from inspect import signature
from numbers import Integral, Real
from reprlib import repr as shortly
from typing import Any

import numpy as np

from duelmatch.errors import ProblemError, listed
from duelmatch.explorers.car_cond import CarCond, Oracle, Schedule
from duelmatch.explorers.car_parallel import CarParallel
from duelmatch.explorers.car_verify import CarVerify
from duelmatch.explorers.clucb import ClucbBorda
from duelmatch.explorers.contract import Explorer
from duelmatch.explorers.frugal.search import FrugalSearch
from duelmatch.explorers.rounds import Algorithm
from duelmatch.graph import Graph
from duelmatch.problem import Problem


def _condorcet(
    graph: Graph,
    delta: float,
    seed: int,
    epsilon: float | None = None,
    assume_winner: bool = True,
    batch: int = 1,
) -> Algorithm:
    return FrugalSearch(graph, "condorcet", delta, seed, epsilon, bool(assume_winner), int(batch))


def _borda(graph: Graph, delta: float, seed: int, epsilon: float | None = None, batch: int = 1) -> Algorithm:
    return FrugalSearch(graph, "borda", delta, seed, epsilon, batch=int(batch))


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
    "condorcet": _condorcet,
    "borda": _borda,
    "clucb-borda-pac": _clucb_borda_pac,
    "clucb-borda-exact": _clucb_borda_exact,
    "car-cond": _car_cond,
    "car-verify": _car_verify,
    "car-parallel": _car_parallel,
}

SMALLEST_DELTA = 1e-100
"""Its fractions and its logarithm must remain numbers."""

SMALLEST_EPSILON = 1e-9
"""Its square, divided into whatever bounds a number of duels, must remain a number."""

LARGEST_BATCH = 1_000_000
"""Duels at once; they are held in memory."""

_CHOICES = {"schedule": ("sparse", "every"), "oracle": ("lp", "subgradient")}


def algorithms() -> tuple[str, ...]:
    """Return the names of the algorithms."""
    return tuple(_ALGORITHMS)


def parameters_of(algorithm: str) -> tuple[str, ...]:
    """Return the names of an algorithm's own parameters."""
    taken = signature(_ALGORITHMS[algorithm]).parameters
    return tuple(name for name in taken if name not in ("graph", "delta", "seed"))


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
    by algorithm: ``epsilon`` (condorcet, borda and clucb-borda-pac: how much worse than the best is good
    enough), ``assume_winner`` (condorcet: False to allow for there being none), ``batch`` (condorcet and
    borda: how many duels will be asked at once), ``schedule`` ("sparse" or "every", the paper's),
    ``oracle`` ("lp" or "subgradient", the car algorithms).

    :raises ProblemError: for an unknown name or parameter, or a value out of range.
    """
    if not isinstance(problem, Problem):
        raise ProblemError(f"An explorer needs a Problem, not {problem!r:.80}.")
    check(algorithm, delta, seed, parameters)
    if max_duels is not None and not _is_whole(max_duels):
        raise ProblemError(f"max_duels must be a whole number from 0, not {shortly(max_duels)}.")
    build = _ALGORITHMS[algorithm]
    defaults = {name: parameter.default for name, parameter in signature(build).parameters.items()}
    if parameters.get("epsilon") is not None:
        parameters["epsilon"] = float(parameters["epsilon"])
    epsilon = parameters.get("epsilon", defaults.get("epsilon"))
    run = build(problem.graph, float(delta), int(seed), **parameters)
    most = None if max_duels is None else int(max_duels)
    return Explorer(problem, run, algorithm, float(delta), epsilon, most)


def check(algorithm: object, delta: object, seed: object, parameters: Mapping[str, Any]) -> None:
    """Refuse what no run can be started with, on whatever problem.

    :raises ProblemError: for an unknown name or parameter, or a value out of range.
    """
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        close = get_close_matches(algorithm[:50], _ALGORITHMS, n=1) if isinstance(algorithm, str) else []
        hint = f" Did you mean '{close[0]}'?" if close else ""
        called = f"'{algorithm:.50}'" if isinstance(algorithm, str) else shortly(algorithm)
        raise ProblemError(
            f"There is no algorithm {called}; the algorithms are {listed(_ALGORITHMS, 9)}.{hint}"
        )
    if not _is_fraction(delta, SMALLEST_DELTA):
        raise ProblemError(
            f"delta must lie between 0 and 1 ({SMALLEST_DELTA:g} at least), not {shortly(delta)}."
        )
    if not _is_whole(seed):
        raise ProblemError(f"The seed must be a whole number from 0, not {shortly(seed)}.")
    known = parameters_of(algorithm)
    for name, value in parameters.items():
        if name not in known:
            raise ProblemError(f"{algorithm} has no parameter '{name:.50}'; it has {listed(known)}.")
        optional = signature(_ALGORITHMS[algorithm]).parameters[name].default is None
        if value is None and optional:
            continue
        _check_parameter(name, value)


def _check_parameter(name: str, value: object) -> None:
    if name in _CHOICES and not (isinstance(value, str) and value in _CHOICES[name]):
        raise ProblemError(f"{name} must be {' or '.join(map(repr, _CHOICES[name]))}, not {shortly(value)}.")
    if name == "assume_winner" and not isinstance(value, bool | np.bool_):
        raise ProblemError(f"assume_winner must be True or False, not {shortly(value)}.")
    if name == "batch" and not (_is_whole(value) and 1 <= value <= LARGEST_BATCH):  # type: ignore[operator]
        raise ProblemError(f"batch must be a whole number from 1 to {LARGEST_BATCH:,}, not {shortly(value)}.")
    if name == "epsilon" and not _is_fraction(value):
        raise ProblemError(f"epsilon must lie between 0 and 1, not {shortly(value)}.")
    if name == "epsilon" and not _is_fraction(value, SMALLEST_EPSILON):
        raise ProblemError(f"epsilon must be {SMALLEST_EPSILON:g} at least, not {shortly(value)}.")


def _is_fraction(value: object, smallest: float = 0.0) -> bool:
    within = isinstance(value, Real) and 0 < value < 1  # type: ignore[operator]
    return within and smallest <= float(value) < 1  # type: ignore[arg-type]


def _is_whole(value: object) -> bool:
    """Whether a value is a whole number from 0, of Python or numpy; True and False are not numbers here."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0
