"""Rankings are drawn so that every pair of candidates has its known probability, or are refused."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

import duelmatch as dm
from duelmatch.errors import ProblemError
from duelmatch.experiments.rankings import Rankings, fitted


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_the_law_of_rankings_gives_every_pair_its_probability(size):
    rng = np.random.default_rng(size)
    orders = list(permutations(range(size)))
    pairs = list(combinations(range(size), 2))
    wins = np.array([[order.index(a) < order.index(b) for order in orders] for a, b in pairs])
    chance = wins @ rng.dirichlet(np.ones(len(orders)))
    law = fitted(wins, chance)
    assert law.sum() == pytest.approx(1)
    assert (law >= 0).all()
    np.testing.assert_allclose(wins @ law, chance, atol=1e-8)


def test_certain_preferences_are_drawn_for_certain():
    problem = dm.Problem.complete(["a", "b", "c"], ["s"])
    sure = dm.Preferences(problem, {("s", "b", "a"): 1.0, ("s", "a", "c"): 1.0, ("s", "b", "c"): 1.0})
    rng = np.random.default_rng(0)
    assert Rankings(sure).draw("s", ("a", "b", "c"), rng) == ("b", "a", "c")


def test_where_no_rankings_agree_and_where_there_are_too_many_it_is_said():
    circle = dm.instances.cyclic(3, 1, strength=0.4)
    with pytest.raises(ProblemError, match="No rankings of c1, c2, c3 at 's1' agree"):
        dm.simulate(circle, "borda", seed=1, question_size=3)
    wide = dm.instances.bradley_terry(8, 1, seed=1)
    with pytest.raises(ProblemError, match="Rankings of 7 cannot be drawn"):
        dm.simulate(wide, "borda", seed=1, question_size=7)
