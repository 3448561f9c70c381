"""A short version of the measurement in docs/error-rates.md, and proof that it can fail.

A correct algorithm fails here with a probability below 1e-9 on each family and over all of them, so all five
together below 1e-7. The seeds are fixed: a failure is one for everybody.
"""

import pytest

from statistical.families import FAMILIES, instance, margin
from statistical.trials import CRITERIA, INSTANCES, Case, run_trial, summarise

DELTA = 0.2
UNLIKELY = 1e-9
RUNS = {
    "clucb-borda-pac": 24,
    "clucb-borda-exact": 13,
    "car-cond": 16,
    "car-verify": 16,
    "car-parallel": 13,
}
"""13 at least: fewer could all be wrong with a probability above UNLIKELY."""

BROKEN_RUNS = 120


def measured(algorithm, family, runs, factor=1.0):
    case = Case(algorithm, family, DELTA, factor)
    return [run_trial(case, run) for run in range(runs)]


@pytest.mark.parametrize("algorithm", CRITERIA)
def test_wrong_answers_are_not_more_frequent_than_delta(algorithm):
    trials = {family: measured(algorithm, family, RUNS[algorithm]) for family in FAMILIES}
    for family, of_family in trials.items():
        assert summarise(of_family).chance(DELTA) > UNLIKELY, family
    pooled = summarise([trial for of_family in trials.values() for trial in of_family])
    assert pooled.chance(DELTA) > UNLIKELY
    assert pooled.unfinished == 0


@pytest.mark.parametrize("algorithm", CRITERIA)
def test_bounds_that_are_too_narrow_are_detected(algorithm):
    broken = summarise(measured(algorithm, "near-tie", BROKEN_RUNS, factor=0.1))
    assert broken.chance(DELTA) < UNLIKELY


@pytest.mark.parametrize("criterion", ["borda", "condorcet"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_instance_has_one_winner_by_the_margin_of_its_family(family, criterion):
    lowest, highest = FAMILIES[family].margins[criterion]
    for number in range(INSTANCES):
        assert lowest <= margin(instance(family, criterion, number), criterion) <= highest
