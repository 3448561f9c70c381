"""The catalogue: what is written about an algorithm is what it does, and others can add theirs."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest

import duelmatch as dm
from cases import each
from duelmatch.explorers import catalogue
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.catalogue import BUILT_IN, DEFAULT, described, register_algorithm
from duelmatch.explorers.engine import Outcome, Rounds, Snapshot
from duelmatch.explorers.planning import plan
from duelmatch.graph import Graph

TEAM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])


class FirstComers:
    """Takes some matching without a question."""

    def __init__(self, graph: Graph, delta: float, seed: int, patience: int = 3) -> None:
        self.graph, self.patience = graph, patience

    def rounds(self) -> Rounds:
        yield from ()
        return Outcome("budget_spent", self.graph.some_matching())

    def snapshot(self) -> Snapshot:
        nothing = np.zeros(self.graph.edges, dtype=bool)
        return Snapshot(self.graph.some_matching(), nothing, nothing)


PATIENCE = dm.Parameter("patience", int, 3, "How long to wait.", 1, 9)


@pytest.fixture(autouse=True)
def nothing_stays_registered() -> Iterator[None]:
    known, registered = dict(catalogue._known), dict(catalogue._registered)
    yield
    for mine, before in ((catalogue._known, known), (catalogue._registered, registered)):
        mine.clear()
        mine.update(before)


@each("algorithm", BUILT_IN)
def test_the_parameters_described_are_those_that_the_run_takes(algorithm: dm.Algorithm) -> None:
    taken = inspect.signature(resolve_name(str(algorithm.make))).parameters
    own = [name for name in taken if name not in ("graph", "delta", "seed")]
    assert list(taken)[:3] == ["graph", "delta", "seed"]
    if algorithm.name == "clucb-borda-exact":
        own.remove("epsilon")  # the same code finds both: without epsilon it is the exact algorithm
    if algorithm.name in ("condorcet", "borda"):
        ballots = inspect.signature(BallotExplorer).parameters
        of_voters = [parameter.name for parameter in algorithm.parameters if parameter.of_voters]
        for name in of_voters:
            assert ballots[name].default == algorithm.defaults[name]
        own += of_voters
    assert sorted(own) == sorted(algorithm.defaults)
    for name in set(own) & set(taken):
        default = taken[name].default
        assert default == algorithm.defaults[name] or (algorithm.name, name) == ("clucb-borda-pac", "epsilon")


@each("algorithm", BUILT_IN)
def test_the_defaults_are_allowed_and_the_bounds_can_be_computed(algorithm: dm.Algorithm) -> None:
    assert algorithm.checked(algorithm.defaults) == algorithm.defaults
    bound = algorithm.upper_bound(dm.instances.paper_example(), 0.05, algorithm.defaults)
    assert (bound is None) == (algorithm.bound is None)
    assert bound is None or bound > 1


def test_a_bound_is_given_the_parameters_it_takes() -> None:
    coarse, fine = (
        described("clucb-borda-pac").upper_bound(dm.instances.paper_example(), 0.05, {"epsilon": epsilon})
        for epsilon in (0.2, 0.01)
    )
    assert coarse is not None
    assert fine is not None
    assert fine > 10 * coarse


@each("algorithm", BUILT_IN)
def test_what_a_result_assumes_is_among_what_the_algorithm_may_assume(algorithm: dm.Algorithm) -> None:
    result = dm.simulate(dm.instances.planted(3, 2, gap=0.5, seed=4), algorithm.name, 0.1, seed=1)
    assert set(result.assuming) <= set(algorithm.assuming)
    assert all(assumption.sentence for assumption in algorithm.assuming)


def test_the_default_is_there() -> None:
    assert described(DEFAULT).name == DEFAULT


def test_a_registered_algorithm_is_one_like_ours() -> None:
    register_algorithm(dm.Algorithm("first-comers", "borda", FirstComers, (PATIENCE,)))
    assert dm.algorithms()[-1] == "first-comers"
    run = dm.explorer("first-comers", TEAM, patience=5)
    assert run._engine._search.patience == 5  # type: ignore[attr-defined]
    assert run.result.status == "budget_spent"
    result = dm.simulate(dm.instances.paper_example(), "first-comers", seed=2)
    assert (result.algorithm, result.seed, result.duels) == ("first-comers", 2, 0)
    with pytest.raises(dm.ProblemError, match="patience must be a whole number from 1 to 9, not 10"):
        dm.explorer("first-comers", TEAM, patience=10)
    with pytest.raises(dm.ProblemError, match="first-comers has no parameter 'hurry'; it has 'patience'"):
        dm.explorer("first-comers", TEAM, hurry=1)
    with pytest.raises(dm.ProblemError, match=r"Did you mean 'patience'\?"):
        dm.explorer("first-comers", TEAM, patienc=1)


def test_registering_again_replaces() -> None:
    for patience in (PATIENCE, dm.Parameter("patience", int, 8, "Longer.", 1, 9)):
        register_algorithm(dm.Algorithm("first-comers", "borda", FirstComers, (patience,)))
    assert described("first-comers").defaults == {"patience": 8}
    assert [algorithm.name for algorithm in catalogue.registered_algorithms()] == ["first-comers"]


def test_what_cannot_be_registered_is_refused_in_a_sentence() -> None:
    with pytest.raises(dm.ProblemError, match="'car-cond' is an algorithm of duelmatch"):
        register_algorithm(dm.Algorithm("car-cond", "condorcet", FirstComers))
    with pytest.raises(dm.ProblemError, match="An Algorithm is needed"):
        register_algorithm(FirstComers)  # type: ignore[arg-type]
    other = dm.Parameter("epsilon", int, 3, "Another.")
    with pytest.raises(dm.ProblemError, match="'epsilon' of 'mine' has another type in 'condorcet'"):
        register_algorithm(dm.Algorithm("mine", "borda", FirstComers, (other,)))
    with pytest.raises(dm.ProblemError, match="criterion of 'mine' must be 'borda' or 'condorcet'"):
        dm.Algorithm("mine", "copeland", FirstComers)  # type: ignore[arg-type]


def test_parameters_that_nobody_could_give_are_refused_in_a_sentence() -> None:
    """Each of these broke the command line for everybody who had such a package installed."""
    refused: list[tuple[tuple[Any, ...], str]] = [
        (("help", int, 1, ""), "uses that name itself"),
        (("seed", int, 1, ""), "uses that name itself"),
        (("observe", int, 1, ""), "uses that name itself"),
        (("a b/c", int, 1, ""), "small letters"),
        (("", int, 1, ""), "small letters"),
        (("Times", int, 1, ""), "small letters"),
        (("my-par", int, 1, ""), "small letters"),
        (("times", list, 1, ""), "must be float, int, bool or str"),
        (("word", str, "x", ""), "needs choices"),
        (("times", int, -5, "", 1, 3), "from 1 to 3, not -5"),
    ]
    for arguments, sentence in refused:
        with pytest.raises(dm.ProblemError, match=sentence):
            dm.Parameter(*arguments)
    for name in ("", 3, "a b", "Mine", "two--dashes"):
        with pytest.raises(dm.ProblemError, match="An algorithm is named"):
            dm.Algorithm(name, "borda", FirstComers)  # type: ignore[arg-type]
    with pytest.raises(dm.ProblemError, match="same name"):
        dm.Algorithm("mine", "borda", FirstComers, (PATIENCE, PATIENCE))
    with pytest.raises(dm.ProblemError, match="of the class Parameter"):
        dm.Algorithm("mine", "borda", FirstComers, ("times",))  # type: ignore[arg-type]
    with pytest.raises(dm.ProblemError, match="needs a function that makes a run"):
        dm.Algorithm("mine", "borda", None)  # type: ignore[arg-type]


def test_every_option_of_a_command_is_a_reserved_name() -> None:
    """Or an algorithm of another package could take it over."""
    own = {parameter.name for algorithm in BUILT_IN for parameter in algorithm.parameters}
    for module in ("simulate", "ask"):
        command = import_module(f"duelmatch.cli.{module}").command
        options = {option.name for option in command.params} | {
            flag.lstrip("-").replace("-", "_") for option in command.params for flag in option.opts
        }
        assert options - own <= catalogue.RESERVED | {"no_assume_winner"}, module


def test_a_bound_that_fails_is_left_out_of_a_plan_with_a_warning() -> None:
    def bound(preferences: dm.Preferences, delta: float) -> float:
        raise ValueError("no idea")

    register_algorithm(dm.Algorithm("first-comers", "borda", FirstComers, bound=bound))
    with pytest.warns(UserWarning, match="bound of first-comers cannot be computed: ValueError: no idea"):
        found = plan(dm.instances.paper_example(), "borda", 0.05, quick=True)
    assert found.bounds is not None
    assert "first-comers" not in {one.algorithm for one in found.bounds.upper_bounds}


PARAMETERS: list[tuple[dm.Parameter, list[Any], list[Any], str]] = [
    (PATIENCE, [1, 9, np.int64(4)], [0, 10, 1.0, True, "3", None], "a whole number from 1 to 9"),
    (dm.Parameter("x", float, 0.5, "", 0.1, 1), [0.1, 0.99], [1, 0.0, "1", True, float("nan")], "between"),
    (
        dm.Parameter("x", float, 0.5, "", 0.1),
        [0.1, 1e300],
        [0.0, None, 10**400, float("inf")],
        "a number from 0.1",
    ),
    (dm.Parameter("x", bool, True, ""), [True, np.False_], [0, 1, "yes", None], "True or False"),
    (dm.Parameter("x", str, "a", "", choices=("a", "b")), ["b"], ["c", 1, None], "'a' or 'b'"),
    (dm.Parameter("x", float, None, "", 0, 1), [None, 0.5], ["none", False], "between"),
]


@each(("parameter", "right", "wrong", "sentence"), PARAMETERS)
def test_parameters_take_what_is_in_range_and_name_the_range(
    parameter: dm.Parameter, right: list[Any], wrong: list[Any], sentence: str
) -> None:
    for value in right:
        assert parameter.checked(value) == value
    for value in wrong:
        with pytest.raises(dm.ProblemError, match=sentence):
            parameter.checked(value)


def test_an_entry_point_that_cannot_be_loaded_is_left_out_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """So are one that leads to something else, one of another name, and one that takes a name of ours."""
    broken = [
        ("gone", "no.such.module:thing"),
        ("function", "math:sqrt"),
        ("mine", "duelmatch.explorers.catalogue:BUILT_IN"),
        ("condorcet", "duelmatch.explorers.catalogue:BUILT_IN"),
        ("leaves", "exiting:ALGORITHM"),
    ]
    (tmp_path / "exiting.py").write_text("import sys\nsys.exit()\n")
    monkeypatch.syspath_prepend(tmp_path)
    points = [EntryPoint(name, value, catalogue.GROUP) for name, value in broken]
    monkeypatch.setattr(catalogue, "entry_points", lambda group: points)
    before = dict(catalogue._known)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        catalogue._discover.__wrapped__()
    assert catalogue._known == before
    assert [str(warning.message).split("'")[1] for warning in caught] == [name for name, _ in broken]


def test_a_panel_is_listed_and_refused_where_only_a_crowd_can_be_sampled() -> None:
    assert "panel" in dm.algorithms()
    assert dm.algorithms("panel") == ("panel",)
    assert "panel" not in dm.algorithms("crowd")
    panel = described("panel")
    assert (panel.answered_by, panel.answers) == ("panel", ("winner", "tie", "ranking"))
    taken = inspect.signature(resolve_name(str(panel.make))).parameters
    assert {name: taken[name].default for name in panel.defaults} == panel.defaults
    with pytest.raises(dm.ProblemError, match="counts a known panel of judges, and here is only a crowd"):
        catalogue.check("panel", 0.05, 0, {})
    with pytest.raises(dm.ProblemError, match="is an algorithm of duelmatch"):
        register_algorithm(dm.Algorithm("panel", "borda", FirstComers))
