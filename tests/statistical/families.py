"""Seeded families of small instances on which the error of the algorithms is measured.

Of a seeded sequence of draws, a family keeps the first whose winner is ahead of the runner-up by a margin
within the family's range: there is one right answer, and the range fixes how hard it is to find.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

import duelmatch as dm

Criterion = Literal["borda", "condorcet"]
Rng = np.random.Generator

MOST_ATTEMPTS = 10_000


@dataclass(frozen=True)
class Family:
    """``margins`` are the ranges of the winner's margin by criterion, in scores between 0 and 1.

    ``wins`` draws the probabilities, of which those above the diagonal are used.
    """

    name: str
    about: str
    problem: Callable[[Rng], dm.Problem]
    wins: Callable[[dm.Problem, Rng], np.ndarray]
    margins: dict[Criterion, tuple[float, float]]


def complete(candidates: int, positions: int) -> Callable[[Rng], dm.Problem]:
    """Everyone can fill every position."""
    return lambda rng: dm.instances.random_problem(candidates, positions)


def row(rng: Rng) -> dm.Problem:
    """Position j takes candidate j or j + 1: more edges than pairs, where the printed radius is too small."""
    return dm.Problem.from_edges([(f"c{i}", f"s{j}") for j in range(3) for i in (j, j + 1)])


def sparse(rng: Rng) -> dm.Problem:
    return dm.instances.random_problem(5, 4, density=0.35, seed=int(rng.integers(2**31)))


def strengths(spread: float, noise: float = 0.05) -> Callable[[dm.Problem, Rng], np.ndarray]:
    """A normal strength for each edge, as in the Bradley-Terry model, and noise against transitivity."""

    def wins(problem: dm.Problem, rng: Rng) -> np.ndarray:
        edges = problem.graph.edges
        strength = rng.normal(0.0, spread, edges)
        probability = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
        return probability + rng.uniform(-noise, noise, (edges, edges))

    return wins


def two_favourites(problem: dm.Problem, rng: Rng) -> np.ndarray:
    """One candidate beats everyone narrowly; another loses to that one only, and beats the rest by far."""
    edges = problem.graph.edges
    wins = rng.uniform(0.3, 0.7, (edges, edges))
    narrowly, by_far = rng.permutation(edges)[:2]
    wins[by_far, :], wins[:, by_far] = 0.9, 0.1
    wins[narrowly, :], wins[:, narrowly] = 0.62, 0.38
    return wins


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "easy",
            "3 candidates, 2 positions, a clear winner",
            complete(3, 2),
            strengths(2.0),
            {"borda": (0.12, 0.3), "condorcet": (0.12, 0.3)},
        ),
        Family(
            "near-tie",
            "3 candidates, 2 positions, several assignments almost as good as the winner",
            complete(3, 2),
            strengths(0.15, noise=0.01),
            {"borda": (0.04, 0.05), "condorcet": (0.05, 0.07)},
        ),
        Family(
            "two candidates",
            "3 positions in a row, 4 candidates, each position between two of them",
            row,
            strengths(1.5),
            {"borda": (0.08, 0.2), "condorcet": (0.08, 0.2)},
        ),
        Family(
            "more candidates",
            "4 candidates, 2 positions, far from transitive",
            complete(4, 2),
            strengths(1.5, noise=0.3),
            {"borda": (0.1, 0.2), "condorcet": (0.1, 0.2)},
        ),
        Family(
            "sparse",
            "5 candidates, 4 positions, about half of the edges",
            sparse,
            strengths(2.0),
            {"borda": (0.08, 0.2), "condorcet": (0.08, 0.2)},
        ),
        Family(
            "one position",
            "4 candidates, 1 position; the Condorcet winner is never the Borda winner",
            complete(4, 1),
            two_favourites,
            {"borda": (0.06, 0.2), "condorcet": (0.08, 0.2)},
        ),
    )
}


@cache
def instance(family: str, criterion: Criterion, number: int) -> dm.Preferences:
    """Return instance ``number`` of a family, in which the criterion has exactly one winner."""
    lowest, highest = FAMILIES[family].margins[criterion]
    for attempt in range(MOST_ATTEMPTS):
        preferences = draw(FAMILIES[family], np.random.default_rng([number, attempt]))
        if lowest <= margin(preferences, criterion) <= highest:
            return preferences
    raise AssertionError(f"'{family}' has no margins from {lowest} to {highest}")


def draw(family: Family, rng: Rng) -> dm.Preferences:
    """Return one draw, whatever its margin."""
    problem = family.problem(rng)
    upper = np.triu(np.clip(family.wins(problem, rng), 0.01, 0.99), 1)
    mirrored = upper + np.tril(1.0 - upper.T, -1) + 0.5 * np.eye(problem.graph.edges)
    return dm.Preferences.from_matrix(problem, mirrored)


def margin(preferences: dm.Preferences, criterion: Criterion) -> float:
    """Return by how much the winner is ahead of the best other matching; 0 if there is no single winner."""
    if criterion == "borda":
        return preferences.borda_margin()
    winner = preferences.condorcet_winner()
    return 0.0 if winner is None else preferences.condorcet_margin(preferences.problem.edge_numbers(winner))
