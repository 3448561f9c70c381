"""Ballots have exactly the chances they should have, and a fixed size."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duelmatch.explorers.ballots.drawing import (
    as_a_walk,
    draw,
    draw_apart,
    inclusion_chances,
    pivotal,
    systematic,
)


@settings(deadline=None)  # compiled on the first call
@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.integers(1, 25))
def test_chances_add_up_to_the_size_and_never_exceed_1(shares, size):
    shares = np.array(shares)
    shares[shares < 1e-6] = 0.0
    chances = inclusion_chances(shares, size)
    assert chances.sum() == pytest.approx(min(size, (shares > 0).sum()))
    assert ((chances > 0) == (shares > 0)).all()
    assert (chances <= 1).all()
    below = (chances > 0) & (chances < 1)
    if below.any():
        ratio = chances[below] / shares[below]
        assert ratio == pytest.approx(np.full(len(ratio), ratio[0]))


def test_every_item_is_taken_with_its_chance_exactly():
    """The measure of the starts with which an item is taken is its chance, in whatever order."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        chances = inclusion_chances(rng.random(8), 3)
        order = rng.permutation(8)
        cuts = np.unique(np.concatenate([[0.0, 1.0], np.cumsum(chances[order]) % 1.0]))
        found = np.zeros(8)
        for low, high in pairwise(cuts):
            taken = systematic(chances, order, (low + high) / 2)
            if high - low > 1e-12:
                assert len(set(taken.tolist())) == 3
            found[taken] += high - low
        np.testing.assert_allclose(found, chances, atol=1e-12)


def test_the_variance_is_near_that_of_the_best_known_designs():
    """E[Y^2] of a total of values +-1/2 with random signs is that of independent answers; with equal signs,
    where pairs that meet too often would show, it is below that of Poisson sampling with the same
    chances."""
    rng = np.random.default_rng(1)
    chances = inclusion_chances(rng.random(12) + 0.1, 5)
    totals = []
    for _ in range(40_000):
        taken = draw(chances, rng)
        totals.append((0.5 / chances[taken]).sum())
    poisson = (0.25 * (1 - chances) / chances).sum()
    assert np.mean(totals) == pytest.approx(6.0, abs=6 * np.std(totals) / 200)
    assert np.var(totals) < 1.1 * poisson


def test_two_that_compete_keep_their_chances_exactly():
    """The measure of the third uniform number with which each is taken, on a grid."""
    first, second, backed = np.array([0, 0]), np.array([1, 2]), np.zeros(3, dtype=np.bool_)
    grid = (np.arange(1000) + 0.5) / 1000
    for chances in ([0.25, 0.75], [0.4, 0.6], [0.9, 0.1]):
        taken = np.zeros(2)
        for u in grid:
            for who in (0.2, 0.7):
                uniform = np.array([[who, 0.0, u], [0.0, 0.0, 0.0]])
                taken[pivotal(np.array(chances), first, second, backed, uniform)] += 0.5 / len(grid)
        np.testing.assert_allclose(taken, chances, atol=1e-3)


def test_pairs_kept_apart_have_their_chances_and_seldom_share_a_candidate():
    """Six standard errors; the number of couples with an edge in common, against systematic drawing."""
    rng = np.random.default_rng(2)
    first, second = np.triu_indices(6, 1)
    champion = np.array([2])
    chances = inclusion_chances(rng.random(15) + 0.1, 5)
    draws = 20_000

    def couples(drawn):
        ends = np.concatenate([first[drawn], second[drawn]])
        return (np.bincount(ends, minlength=6) * (np.bincount(ends, minlength=6) - 1) // 2).sum()

    found, apart, together = np.zeros(15), 0, 0
    for _ in range(draws):
        drawn = draw_apart(chances, first, second, champion, rng)
        assert len(set(drawn.tolist())) == 5
        found[drawn] += 1
        apart += couples(drawn)
        together += couples(draw(chances, rng))
    error = np.sqrt(chances * (1 - chances) / draws)
    assert (np.abs(found / draws - chances) <= 6 * error + 1e-9).all()
    assert apart < 0.95 * together


def test_a_walk_has_the_same_questions_and_stays_with_a_candidate_where_it_can():
    candidate = np.array([0, 1, 2, 3, 0, 1, 2, 3])  # four at each of two positions
    rng = np.random.default_rng(0)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)] + [(4, 5), (4, 6), (4, 7)]
    for _ in range(50):
        drawn = [pairs[k] for k in rng.permutation(len(pairs))[: rng.integers(0, 8)]]
        walk = as_a_walk(drawn, candidate)
        assert sorted(walk) == sorted(drawn)
        assert walk[:1] == drawn[:1]
    star = [(0, 1), (2, 3), (4, 7), (0, 3), (4, 6)]
    met = [{int(candidate[edge]) for edge in question} for question in as_a_walk(star, candidate)]
    assert all(one & other for one, other in pairwise(met))
