"""The exact form of the information limit against closed forms and against a direct search."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

import brute
import duelmatch as dm
from cases import each
from duelmatch.errors import ProblemError
from duelmatch.theory.limit import binary_divergence

CRITERIA = ("condorcet", "borda")


def limit(prefs: dm.Preferences, criterion: str, form: str = "exact") -> float:
    """Return T, the limit per unit of kl(delta, 1 - delta)."""
    duels = dm.theory.lower_bound(prefs, criterion, 0.05, form)  # type: ignore[arg-type]
    return duels / binary_divergence(0.05)


def divergence(p: np.ndarray, moved: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = p * np.log(p / moved), (1 - p) * np.log((1 - p) / (1 - moved))
    return np.where(p > 0, one, 0.0) + np.where(p < 1, other, 0.0)


def information(prefs: dm.Preferences, criterion: str, omega: np.ndarray) -> float:
    """Return min over all rivals of F_B(omega), each by its dual on a fine grid of lambda."""
    graph, matrix = prefs.problem.graph, prefs.matrix
    pairs = brute.pairs(graph)
    p = np.array([matrix[a, b] for a, b in pairs])
    grid = np.linspace(0, 1, 1001)[1:-1]
    costs = omega[:, None] * divergence(p[:, None], grid[None, :])
    everyone = brute.matchings(graph)
    used = (everyone[:, :, None] == np.arange(graph.edges)).any(axis=1)
    q = used.mean(axis=0)
    winner = brute.condorcet_winner(graph, matrix) if criterion == "condorcet" else None
    if winner is None:
        winner = everyone[brute.borda_scores(graph, matrix).argmax()]
    smallest = np.inf
    for rival in everyone:
        if np.array_equal(rival, winner):
            continue
        c = np.zeros(len(pairs))
        for number, (a, b) in enumerate(pairs):
            if criterion == "condorcet":
                c[number] = (a in winner and b in rival) * 1.0 - (b in winner and a in rival) * 1.0
            else:
                c[number] = q[b] * ((a in winner) * 1.0 - (a in rival)) - q[a] * (
                    (b in winner) * 1.0 - (b in rival)
                )

        def dual(theta: float, c: np.ndarray = c) -> float:
            return -float((costs + theta * c[:, None] * (grid - 0.5)).min(axis=1).sum())

        found = minimize_scalar(dual, bounds=(0, 50), method="bounded", options={"xatol": 1e-6})
        smallest = min(smallest, -found.fun)
    return smallest


@each("p", [0.51, 0.6, 0.8, 0.99, 1.0])
def test_two_candidates_for_one_position_take_one_over_the_divergence_from_even(p: float) -> None:
    prefs = dm.Preferences(dm.Problem.complete(["ann", "bob"], ["chair"]), {("chair", "ann", "bob"): p})
    from_even = p * log(2 * p) + ((1 - p) * log(2 * (1 - p)) if p < 1 else 0.0)
    for criterion in CRITERIA:
        assert limit(prefs, criterion) == pytest.approx(1 / from_even)


@each("criterion", CRITERIA)
@each("seed", range(2))
def test_no_allocation_tells_more_than_the_limit_and_some_tells_almost_as_much(
    criterion: str, seed: int
) -> None:
    prefs = dm.instances.planted(3, 2, gap=0.35, noise=0.3, seed=seed)
    bound = 1 / limit(prefs, criterion)
    pairs = len(brute.pairs(prefs.problem.graph))
    rng = np.random.default_rng(seed)
    for omega in rng.dirichlet(np.ones(pairs), size=6):
        assert information(prefs, criterion, omega) <= bound * (1 + 1e-3)

    def negative(logits: np.ndarray) -> float:
        omega = np.exp(logits - logits.max())
        return -information(prefs, criterion, omega / omega.sum())

    near_even = dm.theory.information_limit(prefs, criterion).allocation  # type: ignore[arg-type]
    edges = prefs.problem.edges
    names = [(edges[a][1], edges[a][0], edges[b][0]) for a, b in brute.pairs(prefs.problem.graph)]
    start = np.log([near_even.get(name, 0.0) + 1e-4 for name in names])
    found = minimize(negative, start, method="Nelder-Mead", options={"maxfev": 60})
    assert 0.93 * bound <= -found.fun <= bound * (1 + 1e-3)


@each("criterion", CRITERIA)
@each("seed", range(2))
def test_the_exact_form_is_never_above_the_near_even_one_and_meets_it_near_even(
    criterion: str, seed: int
) -> None:
    lopsided = dm.instances.planted(4, 3, gap=0.4, noise=0.4, density=0.8, seed=seed)
    assert limit(lopsided, criterion) < limit(lopsided, criterion, "near-even")
    matrix = np.where(lopsided.matrix > 0, 0.5 + 0.05 * (lopsided.matrix - 0.5), 0.0)
    even = dm.Preferences.from_matrix(
        lopsided.problem, np.where(lopsided.problem.graph.comparable, matrix, 0.0)
    )
    assert limit(even, criterion) == pytest.approx(limit(even, criterion, "near-even"), rel=5e-3)


def test_a_tie_takes_for_ever_and_a_single_matching_nothing_in_either_form() -> None:
    tie = dm.Preferences(dm.Problem.complete(["ann", "bob"], ["chair"]), {("chair", "ann", "bob"): 0.5})
    only = dm.Preferences(dm.Problem.from_edges([("ann", "chair")]), {})
    for form in ("near-even", "exact"):
        assert dm.theory.lower_bound(tie, "borda", 0.05, form) == float("inf")
        assert dm.theory.lower_bound(only, "borda", 0.05, form) == 0.0
        assert dm.theory.lower_bound(dm.instances.paper_example(), "borda", 0.5, form) == 0.0


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ProblemError, match="The form must be 'near-even' or 'exact', not 'odd'"):
        dm.theory.lower_bound(dm.instances.paper_example(), "borda", 0.05, "odd")  # type: ignore[arg-type]
