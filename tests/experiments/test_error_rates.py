"""A short version of the measurement in docs/error-rates.md, and proof that it can fail.

A correct algorithm fails here with a probability below 1e-9, so all together below 1e-8. The seeds are fixed:
a failure is one for everybody. The paper's algorithms look at their answers five times more rarely than
usual, which is as safe, takes a third of the time, and hides no error: those that are broken on purpose are
found out all the same.
"""

from dataclasses import replace

import pytest
from benchmarks.error_rates import frugal, frugal_page
from benchmarks.error_rates.families import FAMILIES, instance
from benchmarks.error_rates.saving import measured
from benchmarks.error_rates.trials import CRITERIA, INSTANCES, Case, run_trial, summarise

from duelmatch.explorers import car_cond, car_verify, clucb

DELTA = 0.2
UNLIKELY = 1e-9
RUNS = 4
"""Of each family, which are judged together: so few of one could all be wrong by chance."""

BROKEN_RUNS = 150
"""At most: a broken algorithm is found out as soon as its errors cannot be chance."""

RARER = 5


@pytest.fixture(autouse=True)
def _rare_looks(monkeypatch):
    for module in (car_cond, car_verify, clucb):
        monkeypatch.setattr(module, "GROWTH", RARER * module.GROWTH)


def trials_of(algorithm, family, runs):
    return [run_trial(Case(algorithm, family, DELTA), run) for run in range(runs)]


def is_found_out(trial_of, delta):
    """Whether the first runs, however many, are wrong more often than chance would have it."""
    trials = []
    for run in range(BROKEN_RUNS):
        trials.append(trial_of(run))
        if summarise(trials).chance(delta) < UNLIKELY / BROKEN_RUNS:  # there are so many looks
            return True
    return False


@pytest.mark.parametrize("algorithm", CRITERIA)
def test_wrong_answers_are_not_more_frequent_than_delta(algorithm):
    trials = [trial for family in FAMILIES for trial in trials_of(algorithm, family, RUNS)]
    assert len(trials) >= 20
    pooled = summarise(trials)
    assert pooled.chance(DELTA) > UNLIKELY
    assert pooled.unfinished == 0


@pytest.mark.parametrize("algorithm", CRITERIA)
def test_bounds_that_are_too_narrow_are_detected(algorithm):
    broken = Case(algorithm, "near-tie", DELTA, 0.1)
    assert is_found_out(lambda run: run_trial(broken, run), DELTA)


def test_every_instance_has_one_winner_by_the_margin_of_its_family():
    for name, family in FAMILIES.items():
        for criterion in ("borda", "condorcet"):
            for number in range(INSTANCES):
                preferences = instance(name, criterion, number)
                assert family.fits(preferences, criterion), (name, criterion, number)
                winner = preferences.borda_winner if criterion == "borda" else preferences.condorcet_winner
                assert winner() is not None, (name, criterion, number)


@pytest.mark.parametrize("algorithm", ["condorcet", "borda"])
def test_condorcet_and_borda_are_not_wrong_more_often_than_delta(algorithm):
    """In all settings together: in each of them it would take more runs than there is time for."""
    settings = [setting for setting in frugal.settings() if setting.algorithm == algorithm]
    trials = [
        frugal.run_setting(replace(setting, most_duels=1_500), run) for run, setting in enumerate(settings)
    ]
    assert len(trials) >= 13
    assert summarise(trials).chance(frugal.DELTA) > UNLIKELY


@pytest.mark.parametrize("algorithm", ["condorcet", "borda"])
def test_too_low_a_threshold_is_detected(algorithm):
    """Nine tenths of the level are for certificates."""
    broken = frugal.Setting(algorithm, "a hair's breadth", level=0.99, most_duels=200)
    assert is_found_out(lambda run: frugal.run_setting(broken, run), frugal.DELTA)


def test_a_measurement_that_was_stopped_goes_on(tmp_path):
    path = tmp_path / "build" / "saved.jsonl"
    started = measured(abs, [-1, -2, -3], 1, path)
    assert next(started) == (-1, 1)
    started.close()
    with path.open("a") as file:
        file.write('["cut')
    path.write_text(path.read_text().replace("1]", "100]"))  # to tell what is read from what is done again
    assert list(measured(abs, [-1, -2, -3], 1, path)) == [(-1, 100), (-2, 2), (-3, 3)]
    assert list(measured(abs, [-3, -1], 1, path)) == [(-3, 3), (-1, 100)]


def test_only_its_own_section_of_the_page_is_replaced():
    section = f"{frugal_page.HEADING}\n\nnew\n\n### more\n"
    page = f"# Page\n\n{frugal_page.HEADING}\n\nold\n\n### older\n\n## Next\n\nkept\n"
    for text in ("# Page\n", page):
        replaced = frugal_page.replace_section(text, section)
        assert frugal_page.section_of(replaced).strip() == section.strip()
        assert frugal_page.replace_section(replaced, section) == replaced
        assert "old" not in replaced
    assert "## Next\n\nkept" in frugal_page.replace_section(page, section)


def test_every_instance_has_a_condorcet_winner_or_none_as_its_family_says():
    for family in frugal.FAMILIES:
        for number in range(3):
            preferences = frugal.instance(family, "condorcet", number)
            assert (preferences.condorcet_winner() is None) == ("no winner" in family), (family, number)
