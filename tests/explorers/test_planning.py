"""How many duels to expect: every algorithm that has a bound is in the plan, with the parameters it takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

import duelmatch as dm
from cases import each
from duelmatch.explorers import catalogue
from duelmatch.explorers.catalogue import described
from duelmatch.explorers.planning import UpperBound, assumed_preferences, plan, sizes


def test_the_bounds_are_those_of_the_theory() -> None:
    prefs = dm.instances.example("lineup")
    borda = plan(prefs, "borda", 0.01, parameters={"epsilon": 0.1}).bounds
    assert borda is not None
    assert borda.information_limit == dm.theory.lower_bound(prefs, "borda", 0.01)
    assert borda.verification_hardness is None
    assert borda.upper_bounds == (
        UpperBound("clucb-borda-pac", dm.theory.clucb_borda_pac_bound(prefs, 0.01, 0.1), 0.1),
        UpperBound(
            "clucb-borda-exact",
            dm.theory.clucb_borda_exact_bound(prefs, 0.01),
            None,
            described("clucb-borda-exact").bound_note,
        ),
    )
    condorcet = plan(prefs, "condorcet", 0.01, quick=True).bounds
    assert condorcet is not None
    assert condorcet.information_limit is None
    assert condorcet.upper_bounds == (
        UpperBound("car-cond", dm.theory.car_cond_bound(prefs, 0.01), None),
        UpperBound(
            "car-verify",
            dm.theory.car_verify_bound(prefs, 0.01),
            None,
            "with probability 1 - delta - 0.01",
        ),
        UpperBound("car-parallel", dm.theory.car_parallel_bound(prefs, 0.01), None, "on average"),
    )


def test_algorithms_of_other_packages_are_in_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_known", dict(catalogue._known))
    monkeypatch.setattr(catalogue, "_registered", {})
    other = replace(
        catalogue.described("borda"), name="theirs", bound=lambda preferences, delta, epsilon: 7 / epsilon
    )
    dm.register_algorithm(other)
    bounds = plan(dm.instances.example("lineup"), "borda", quick=True, parameters={"epsilon": 0.5}).bounds
    assert bounds is not None
    assert UpperBound("theirs", 14.0, 0.5) in bounds.upper_bounds


def test_no_condorcet_winner_has_no_bounds() -> None:
    found = plan(dm.instances.cyclic(3, 1), "condorcet")
    assert (found.winner, found.bounds, found.too_large) == (False, None, None)


def test_scores_out_of_reach_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise dm.TooLargeError("Too large.")

    monkeypatch.setattr("duelmatch.matchings.counting.edge_marginals", refuse)
    assert plan(dm.instances.example("lineup"), "borda").too_large == "Too large."


@each("gap", [0.01, 0.1, 0.5])
def test_an_assumed_winner_wins_by_both_criteria(gap: float) -> None:
    prefs = assumed_preferences(dm.instances.example("prizes").problem, gap)
    assert prefs.condorcet_winner() == prefs.borda_winner()
    assert prefs.borda_margin() > 0


def test_a_width_out_of_reach_is_an_upper_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = dm.instances.example("prizes").problem
    assert (sizes(problem).width, sizes(problem).width_is_exact) == (dm.theory.width(problem), True)

    def refuse(*_: object) -> None:
        raise dm.TooLargeError("Too large.")

    monkeypatch.setattr("duelmatch.theory.width", refuse)
    assert (sizes(problem).width, sizes(problem).width_is_exact) == (dm.theory.width_bound(problem), False)
