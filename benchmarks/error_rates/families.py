"""Seeded families of small instances on which the error of the algorithms is measured.

Instance n of a family is the first of a seeded sequence of draws that fits it. For most families that is one
whose winner is ahead of the runner-up by a margin within a range: there is one right answer, and the range
fixes how hard it is to find.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

import duelmatch as dm
from duelmatch.matchings.decisions import all_matchings, decisions_of
from duelmatch.matchings.general_game import payoffs
from duelmatch.preferences import Criterion

Rng = np.random.Generator

MOST_ATTEMPTS = 10_000


@dataclass(frozen=True)
class Family:
    """``wins`` draws the probabilities, of which those above the diagonal are used; ``fits`` accepts them."""

    name: str
    about: str
    problem: Callable[[Rng], dm.Problem]
    wins: Callable[[dm.Problem, Rng], np.ndarray]
    fits: Callable[[dm.Preferences, Criterion], bool]


@dataclass(frozen=True)
class Ahead:
    """Fits if the winner is ahead of the next best matching by so much, in scores between 0 and 1."""

    borda: tuple[float, float]
    condorcet: tuple[float, float]

    def __call__(self, preferences: dm.Preferences, criterion: Criterion) -> bool:
        lowest, highest = self.borda if criterion == "borda" else self.condorcet
        return lowest <= margin(preferences, criterion) <= highest


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
            Ahead(borda=(0.12, 0.3), condorcet=(0.12, 0.3)),
        ),
        Family(
            "near-tie",
            "3 candidates, 2 positions, several assignments almost as good as the winner",
            complete(3, 2),
            strengths(0.15, noise=0.01),
            Ahead(borda=(0.04, 0.05), condorcet=(0.05, 0.07)),
        ),
        Family(
            "two candidates",
            "3 positions in a row, 4 candidates, each position between two of them",
            row,
            strengths(1.5),
            Ahead(borda=(0.08, 0.2), condorcet=(0.08, 0.2)),
        ),
        Family(
            "more candidates",
            "4 candidates, 2 positions, far from transitive",
            complete(4, 2),
            strengths(1.5, noise=0.3),
            Ahead(borda=(0.1, 0.2), condorcet=(0.1, 0.2)),
        ),
        Family(
            "sparse",
            "5 candidates, 4 positions, about half of the edges",
            sparse,
            strengths(2.0),
            Ahead(borda=(0.08, 0.2), condorcet=(0.08, 0.2)),
        ),
        Family(
            "one position",
            "4 candidates, 1 position; the Condorcet winner is never the Borda winner",
            complete(4, 1),
            two_favourites,
            Ahead(borda=(0.06, 0.2), condorcet=(0.08, 0.2)),
        ),
    )
}


@cache
def instance(family: str, criterion: Criterion, number: int) -> dm.Preferences:
    """Return instance ``number`` of a family of the paper's algorithms."""
    return first_that_fits(FAMILIES[family], criterion, number)


def first_that_fits(family: Family, criterion: Criterion, *seed: int) -> dm.Preferences:
    """Return the first of the draws that belong to a seed, of a number and what tells it from others."""
    number, *rest = seed
    for attempt in range(MOST_ATTEMPTS):
        rng = np.random.default_rng([number, attempt, *rest])
        problem = family.problem(rng)
        upper = np.triu(np.clip(family.wins(problem, rng), 0.01, 0.99), 1)
        mirrored = upper + np.tril(1.0 - upper.T, -1) + 0.5 * np.eye(problem.graph.edges)
        preferences = dm.Preferences.from_matrix(problem, mirrored)
        if family.fits(preferences, criterion):
            return preferences
    raise AssertionError(f"'{family.name}' has no instance {number} for {criterion}")


def margin(preferences: dm.Preferences, criterion: Criterion) -> float:
    """Return by how much the winner is ahead of the best other matching; 0 if there is no single winner."""
    if criterion == "borda":
        return preferences.borda_margin()
    graph = preferences.problem.graph
    if graph.conditions is None:
        everyone = all_matchings(graph)  # few; so this is quicker than a linear program
        scores = preferences.matrix[everyone[:, None], everyone[None]].mean(axis=2)
    else:
        listed = decisions_of(graph).listed(None, MOST_ATTEMPTS)
        assert listed is not None, "the families are small"
        uses = graph.uses(listed).astype(float)
        scores = uses @ payoffs(graph, preferences.matrix) @ uses.T
    np.fill_diagonal(scores, np.inf)
    return max(float(scores.min(axis=1).max()) - 0.5, 0.0)
