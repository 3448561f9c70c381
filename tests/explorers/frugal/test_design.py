"""The design's allocation against the information limit's, which is found by another method."""

from __future__ import annotations

import numpy as np
import pytest

import brute
from duelmatch.explorers.frugal import design
from duelmatch.matchings.assignment import usable_edges
from duelmatch.theory.limit import balanced_allocation
from explorers.frugal.test_stakes import stakes_for
from explorers.frugal.watching import PROBLEMS, coefficients

MANY = 60


def needed(graph, criterion, seed, explored, calls, monkeypatch):
    """Return the duels of the hardest rival under the design, over those under the best allocation."""
    monkeypatch.setattr(design, "EXPLORED", explored)
    rng = np.random.default_rng(seed)
    everyone = brute.matchings(graph)
    champion = everyone[rng.integers(len(everyone))]
    rivals = everyone[(everyone != champion).any(axis=1)]
    squares = rng.uniform(0.02, 0.4, len(rivals)) ** 2
    costs = coefficients(graph, criterion, tuple(champion.tolist())) ** 2
    costs = costs[(everyone != champion).any(axis=1)] / (2 * squares[:, None])
    least, _ = balanced_allocation(costs)
    stakes = stakes_for(graph, criterion, champion)
    shares = np.full(len(rivals), 1 / len(rivals))
    for _ in range(calls):
        omega = design.allocation(stakes, rivals, squares, shares, usable_edges(graph))
    assert omega.sum() == pytest.approx(1.0)
    assert (omega[costs.any(axis=0)] > 0).all(), "Y would not have mean D"
    told = costs > 0
    return float(np.where(told, costs / np.where(omega > 0, omega, 1.0), 0.0).sum(axis=1).max() / least)


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_design_comes_close_to_the_best_allocation(monkeypatch, problem, criterion):
    for seed in range(5):
        alone = needed(problem.graph, criterion, seed, 1e-9, MANY, monkeypatch)
        assert 1 - 1e-6 <= alone < 1.03
        with_exploration = needed(problem.graph, criterion, seed, 0.1, MANY, monkeypatch)
        assert 1 - 1e-6 <= with_exploration < 1.03 / 0.9


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_a_single_step_is_far_from_it(monkeypatch, criterion):
    """So the test above can fail."""
    monkeypatch.setattr(design, "STEPS", 0)
    far = [needed(PROBLEMS["wide"].graph, criterion, seed, 1e-9, 1, monkeypatch) for seed in range(5)]
    assert max(far) > 1.1
