"""Seeded families of small instances on which the error of the algorithms is measured.

At every position each candidate has a normal strength; a duel is decided by the difference of strengths, as in
the Bradley-Terry model, and some noise that makes the preferences intransitive. Of such draws a family keeps the
first whose winner is ahead of the runner-up by a margin within the family's range: there is one right answer, and
the range fixes how hard it is to find.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Literal

import numpy as np

import duelmatch as dm

Criterion = Literal["borda", "condorcet"]


@dataclass(frozen=True)
class Family:
    """``margins`` are the ranges of the winner's margin by criterion, in scores between 0 and 1."""

    name: str
    about: str
    problem: Callable[[int], dm.Problem]
    spread: float
    margins: dict[Criterion, tuple[float, float]]
    noise: float = 0.05


def complete(candidates: int, positions: int) -> Callable[[int], dm.Problem]:
    """Everyone can fill every position, whatever the seed."""
    return lambda seed: dm.instances.random_problem(candidates, positions)


def ladder(seed: int) -> dm.Problem:
    """Position j takes candidate j or j + 1: as many means as twice the pairs, where the printed radius fails."""
    return dm.Problem.from_edges([(f"c{i}", f"s{j}") for j in range(3) for i in (j, j + 1)])


def sparse(seed: int) -> dm.Problem:
    return dm.instances.random_problem(5, 4, density=0.35, seed=seed)


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "easy",
            "3 candidates, 2 positions, a clear winner",
            complete(3, 2),
            spread=2.0,
            margins={"borda": (0.12, 0.3), "condorcet": (0.12, 0.3)},
        ),
        Family(
            "near-tie",
            "3 candidates, 2 positions, several assignments almost as good as the winner",
            complete(3, 2),
            spread=0.15,
            margins={"borda": (0.02, 0.03), "condorcet": (0.02, 0.03)},
            noise=0.01,
        ),
        Family(
            "two candidates",
            "4 candidates in a row, 3 positions with two neighbours each",
            ladder,
            spread=1.5,
            margins={"borda": (0.06, 0.15), "condorcet": (0.06, 0.15)},
        ),
        Family(
            "more candidates",
            "5 candidates, 2 positions",
            complete(5, 2),
            spread=1.5,
            margins={"borda": (0.1, 0.2), "condorcet": (0.1, 0.2)},
        ),
        Family(
            "sparse",
            "5 candidates, 4 positions, a third of the edges",
            sparse,
            spread=2.0,
            margins={"borda": (0.08, 0.2), "condorcet": (0.08, 0.2)},
        ),
        Family(
            "one position",
            "5 candidates for a single position",
            complete(5, 1),
            spread=1.0,
            margins={"borda": (0.1, 0.25), "condorcet": (0.1, 0.25)},
        ),
    )
}


@cache
def instance(family: str, criterion: Criterion, number: int) -> dm.Preferences:
    """Return instance ``number`` of a family, in which the criterion has exactly one winner."""
    lowest, highest = FAMILIES[family].margins[criterion]
    for attempt in count():
        preferences = draw(FAMILIES[family], [number, attempt])
        if lowest <= margin(preferences, criterion) <= highest:
            return preferences
    raise AssertionError("unreachable")


def draw(family: Family, seed: list[int]) -> dm.Preferences:
    """Return one draw, whatever its margin."""
    rng = np.random.default_rng(seed)
    problem = family.problem(int(rng.integers(2**31)))
    edges = problem.graph.edges
    strength = rng.normal(0.0, family.spread, edges)
    matrix = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
    matrix += rng.uniform(-family.noise, family.noise, (edges, edges))
    upper = np.triu(np.clip(matrix, 0.01, 0.99), 1)
    return dm.Preferences.from_matrix(problem, upper + np.tril(1.0 - upper.T, -1) + 0.5 * np.eye(edges))


def margin(preferences: dm.Preferences, criterion: Criterion) -> float:
    """Return by how much the winner is ahead of the best other matching; 0 if there is no single winner."""
    if criterion == "borda":
        return preferences.borda_margin()
    winner = preferences.condorcet_winner()
    return 0.0 if winner is None else preferences.condorcet_margin(preferences.problem.edge_numbers(winner))
