"""The paper's radius, and that it keeps its promise."""

from __future__ import annotations

from math import log, pi, sqrt

import numpy as np
import pytest

import duelmatch as dm
from cases import each
from duelmatch.explorers.tally import Tally, paper_radius, weighed


@each(("count", "t", "delta", "events"), [(1, 1, 0.5, 1), (3, 7, 0.05, 10), (10**6, 10**7, 1e-100, 4950)])
def test_the_radius_is_the_formula_of_the_paper(count: int, t: int, delta: float, events: int) -> None:
    expected = sqrt((log(4 * events) + 3 * log(t) - log(delta)) / (2 * count))
    assert paper_radius(np.array([count]), t, delta, events)[0] == pytest.approx(expected, rel=1e-12)


def test_nothing_asked_is_nothing_known() -> None:
    radius = paper_radius(np.array([0, 1, 0]), 5, 0.1, 3)
    assert radius[0] == radius[2] == 1.0
    assert radius[1] > 1.0


def test_every_count_has_its_own_radius_whatever_the_shape() -> None:
    counts = np.arange(12).reshape(3, 4)
    radius = paper_radius(counts, 20, 0.1, 3)
    assert radius.shape == (3, 4)
    for place, count in np.ndenumerate(counts):
        assert radius[place] == paper_radius(np.array(count), 20, 0.1, 3)


def test_the_radius_shrinks_with_answers_and_grows_with_time_events_and_confidence() -> None:
    counts = np.arange(1, 50)
    radius = paper_radius(counts, 50, 0.1, 3)
    assert (np.diff(radius) < 0).all()
    assert (paper_radius(counts, 51, 0.1, 3) > radius).all()
    assert (paper_radius(counts, 50, 0.1, 4) > radius).all()
    assert (paper_radius(counts, 50, 0.09, 3) > radius).all()


@each("probability", [0.5, 0.3, 0.05, 0.0, 1.0])
def test_a_mean_leaves_its_radius_at_any_time_less_often_than_promised(probability: float) -> None:
    """Not by chance: the probability is added up exactly, path by path, where t = T, the tightest case."""
    delta, last = 0.9, 1_500
    inside = np.zeros(last + 1)  # by wins so far, and never outside until now
    inside[0] = 1.0
    wins = np.arange(last + 1)
    for t in range(1, last + 1):
        inside[1:] = inside[1:] * (1 - probability) + inside[:-1] * probability
        inside[0] *= 1 - probability
        radius = float(paper_radius(np.array(t), t, delta, 1))
        inside[np.abs(wins / t - probability) > radius] = 0.0
    left = 1.0 - inside.sum()
    assert left <= delta / 2 * pi**2 / 6


@each("algorithm", ["car-cond", "car-verify", "car-parallel"])
@each("schedule", ["sparse", "every"])
def test_no_pair_has_more_answers_than_there_were_rounds(
    algorithm: str, schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the radius takes for granted of T and t."""
    bounds, looks = Tally.bounds, []

    def watched(tally: Tally, round_number: int, delta: float, events: int) -> object:
        looks.append((int(tally.counts.max()), round_number))
        return bounds(tally, round_number, delta, events)

    monkeypatch.setattr(Tally, "bounds", watched)
    preferences = dm.instances.planted(3, 2, gap=0.2, seed=1)
    dm.simulate(preferences, algorithm, 1e-30, seed=1, max_duels=20_000, schedule=schedule)
    assert max(count for count, _ in looks) > 100
    assert all(count <= t for count, t in looks)


def test_weights_of_positions_are_one_on_average() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair", "editor"], weight={"chair": 3})
    assert weighed(problem.graph, np.full(4, 0.5)).tolist() == [0.75, 0.75, 0.25, 0.25]
