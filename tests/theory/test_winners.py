"""The winners of known preferences, and how clearly they win."""

from __future__ import annotations

from math import inf

import pytest

import duelmatch as dm
from cases import each


@each("seed", range(10))
def test_margins_and_rivals_agree_with_the_preferences(seed: int) -> None:
    prefs = dm.instances.planted(5, 4, density=0.8, seed=seed)
    borda = dm.theory.borda_winner(prefs)
    assert borda.matching == prefs.borda_winner()
    assert borda.score == prefs.borda_score(borda.matching)
    assert (borda.margin, borda.unique) == (prefs.borda_margin(), prefs.borda_margin() > 0)
    condorcet = dm.theory.condorcet_winner(prefs)
    assert condorcet is not None
    assert condorcet.matching == prefs.condorcet_winner()
    assert condorcet.margin == pytest.approx(
        prefs.condorcet_margin(prefs.problem.edge_numbers(condorcet.matching))
    )
    assert condorcet.closest_rival not in (None, condorcet.matching)


def test_without_another_matching_the_margin_is_infinite() -> None:
    prefs = dm.Preferences(dm.Problem.complete(["a"], ["s"]), {})
    assert dm.theory.borda_winner(prefs).margin == inf
    condorcet = dm.theory.condorcet_winner(prefs)
    assert condorcet is not None
    assert (condorcet.margin, condorcet.closest_rival) == (inf, None)


def test_a_cycle_has_no_condorcet_winner() -> None:
    assert dm.theory.condorcet_winner(dm.instances.cyclic(3, 1)) is None
