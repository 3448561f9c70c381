"""How many duels to expect: what the bounds say about finding a winner, for every algorithm that has one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

import duelmatch.theory as theory
from duelmatch.errors import AlgorithmError, TooLargeError
from duelmatch.explorers.catalogue import algorithms, described
from duelmatch.files.problems import MOST_EDGES_WITH_PREFERENCES
from duelmatch.matchings.decisions import decisions_of
from duelmatch.preferences import Criterion, Preferences
from duelmatch.problem import Problem
from duelmatch.theory.bounds import PaperLowerBound


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes that the bounds depend on: ``duels`` is K; ``width`` may be an upper bound, or undefined."""

    candidates: int
    positions: int
    edges: int
    duels: int
    width: int | None
    width_is_exact: bool


@dataclass(frozen=True, slots=True)
class UpperBound:
    """How many duels an algorithm takes at most, and the epsilon it has.

    With probability 1 - delta, unless the ``note`` says otherwise: on average, or with another probability.
    """

    algorithm: str
    duels: float
    epsilon: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class DuelBounds:
    """What is known about the number of duels; infinite if no number is enough.

    ``information_limit``, in its near-even form, is the least that any algorithm needs on average; None if it
    was not asked for.
    ``verification_hardness`` is of the Condorcet winner only.
    """

    smallest_gap: float
    hardness: float
    verification_hardness: float | None
    information_limit: float | None
    paper_lower_bound: PaperLowerBound
    upper_bounds: tuple[UpperBound, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to expect of the search for the winner by a criterion.

    ``winner``: whether there is exactly one; several may share the best Borda score. There are no ``bounds``
    if there is no Condorcet winner, or if they are out of reach, and then ``too_large`` says why.
    """

    criterion: Criterion
    delta: float
    winner: bool
    bounds: DuelBounds | None
    too_large: str | None = None


def sizes(problem: Problem) -> Sizes:
    """Return the sizes of a problem that the bounds depend on; only one-to-one matchings have a width."""
    graph = problem.graph
    exact = graph.one_to_one
    try:
        width = theory.width(problem) if exact else None
    except TooLargeError:
        width, exact = theory.width_bound(problem), False
    return Sizes(len(problem.candidates), len(problem.positions), graph.edges, graph.pairs, width, exact)


def assumed_preferences(problem: Problem, gap: float) -> Preferences:
    """Return preferences in which one matching wins all its duels with 1/2 + ``gap``; all others are even.

    :raises TooLargeError: if there are too many edges for a matrix of preferences.
    """
    graph = problem.graph
    if graph.edges > MOST_EDGES_WITH_PREFERENCES:
        raise TooLargeError(
            f"The bounds take a matrix of edges times edges, and there are {graph.edges:,} edges, "
            f"where {MOST_EDGES_WITH_PREFERENCES:,} are allowed."
        )
    wins = graph.uses(decisions_of(graph).one(np.zeros(graph.edges))).astype(np.float64)
    return Preferences.from_matrix(problem, 0.5 + gap * (wins[:, None] - wins[None, :]))


def plan(
    preferences: Preferences,
    criterion: Criterion,
    delta: float = 0.05,
    quick: bool = False,
    parameters: Mapping[str, Any] | None = None,
) -> Plan:
    """Return what the bounds say about finding the winner by a criterion.

    ``quick`` leaves out the information limit, which takes minutes on large problems. ``parameters`` go to
    the algorithms that have them, which are all those of the :mod:`duelmatch.explorers.catalogue`, also of
    other packages.

    :raises ProblemError: for a delta or a parameter that is out of range.
    """
    verification = None
    if criterion == "borda":
        try:
            gaps = theory.borda_gaps(preferences).values()
        except TooLargeError as error:
            return Plan(criterion, delta, False, None, str(error))
        winner, hardness = preferences.borda_margin() > 0, theory.borda_hardness(preferences)
    else:
        winner = preferences.condorcet_winner() is not None
        if not winner:
            return Plan(criterion, delta, winner, None)
        gaps = theory.condorcet_gaps(preferences).values()
        pair_gaps = theory.condorcet_pair_gaps(preferences).values()
        hardness = sum(gap**-2 for gap in pair_gaps if isfinite(gap))
        if not preferences.problem.conditions:
            verification = theory.verification_hardness(preferences)
    limit = None
    with suppress(TooLargeError):
        limit = None if quick else theory.lower_bound(preferences, criterion, delta)
    bounds = DuelBounds(
        min(gaps),
        hardness,
        verification,
        limit,
        _paper_lower_bound(preferences, criterion, delta),
        _upper_bounds(preferences, criterion, delta, parameters or {}),
    )
    return Plan(criterion, delta, winner, bounds)


def _upper_bounds(
    preferences: Preferences, criterion: Criterion, delta: float, parameters: Mapping[str, Any]
) -> tuple[UpperBound, ...]:
    found: list[UpperBound] = []
    if preferences.problem.conditions:  # they are proven for one-to-one matchings of equal positions only
        return ()
    for algorithm in map(described, algorithms()):
        if algorithm.criterion == criterion and algorithm.bound is not None:
            own = algorithm.checked(
                {name: parameters[name] for name in algorithm.defaults if name in parameters}
            )
            try:
                duels = algorithm.upper_bound(preferences, delta, own)
            except AlgorithmError as error:
                warnings.warn(str(error), stacklevel=2)
                continue
            if duels is not None:
                found.append(UpperBound(algorithm.name, duels, own.get("epsilon"), algorithm.bound_note))
    return tuple(found)


def _paper_lower_bound(preferences: Preferences, criterion: Criterion, delta: float) -> PaperLowerBound:
    try:
        return theory.paper_lower_bound(preferences, criterion, delta)
    except TooLargeError as error:
        return PaperLowerBound(None, f"not checked: {error}")
