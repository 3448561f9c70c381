"""What cannot be meant is refused in a sentence, whatever kind of run it is given to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import duelmatch as dm
from duelmatch.errors import AlgorithmError, DuelError, DuelmatchError, ProblemError

PROBLEM = dm.Problem.complete(["a", "b", "c"], ["x", "y"])
RANKINGS = {(voter, position): ["a", "b", "c"] for voter in ("eve", "ned") for position in ("x", "y")}
PANEL = dm.Panel(PROBLEM, RANKINGS)


def panel() -> Any:
    return dm.explorer("panel", PROBLEM, voters=["eve", "ned"])


RUNS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "panel": lambda: (run := panel(), run.ask(1, voter="eve")[0]),
    "ballot": lambda: (run := dm.explorer("borda", PROBLEM), run.ask(1, voter="eve")[0]),
    "duel": lambda: (run := dm.explorer("borda", PROBLEM), run.ask(1)[0]),
}


@pytest.mark.parametrize("kind", RUNS)
def test_what_is_no_answer_is_refused_and_changes_nothing(kind: str) -> None:
    run, question = RUNS[kind]()
    first, second = question.candidates
    for answer in (
        [None],
        b"a",
        3,
        [[first], 4],
        {first: 1},
        np.array([first, second]),
        [(first, (second,))],
        "zoe",
    ):
        with pytest.raises(DuelError):
            run.tell(question, answer)
    with pytest.raises(DuelError, match="not both"):
        run.tell(question, first, winner=second)
    assert run.duels == 0
    run.tell(question, [[first, second]])
    assert run.duels == 1


@pytest.mark.parametrize(
    ("use", "sentence"),
    [
        (lambda: dm.Answer("x", ["a", 3]), "of names"),  # type: ignore[list-item]
        (lambda: dm.decide(PROBLEM, None), "answers must be a list"),  # type: ignore[arg-type]
        (lambda: dm.decide(PROBLEM, [], voters="eve"), "voters must be a list"),
        (lambda: dm.decide(PROBLEM, [], voters=3), "voters must be a list"),  # type: ignore[arg-type]
        (lambda: dm.Problem.complete(3, 4), "candidates must be a list"),  # type: ignore[arg-type]
        (lambda: dm.explore(PROBLEM, None, "borda"), "judge must be a function"),  # type: ignore[arg-type]
        (lambda: dm.explorer("panel", PROBLEM, voters=["eve"], conflicts={"eve": None}), "must be a list"),
        (
            lambda: dm.explorer("panel", PROBLEM, voters=["eve"], conflicts={"eve": [("x", "a", "a")]}),
            "A conflict",
        ),
        (lambda: dm.simulate(PANEL, "panel", foo=1), "no parameter 'foo'"),
        (lambda: dm.simulate(PANEL, "panel", delta=0.1), "no delta"),
        (lambda: dm.simulate(PANEL, "panel", seed=-1), "whole number from 0"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(use: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ProblemError, match=sentence):
        use()


def test_an_algorithm_that_is_not_there_or_is_none_is_refused() -> None:
    dm.register_algorithm(dm.Algorithm("nowhere", "borda", "no_such_module:Search"))
    with pytest.raises(AlgorithmError, match="cannot be imported"):
        dm.explorer("nowhere", PROBLEM)
    dm.register_algorithm(dm.Algorithm("empty", "borda", lambda graph, delta, seed: object()))  # type: ignore[arg-type, return-value]
    with pytest.raises(AlgorithmError, match="a method 'rounds'"):
        dm.explorer("empty", PROBLEM)


def test_a_simulated_panel_shows_its_seed() -> None:
    assert dm.simulate(PANEL, "panel", seed=7).seed == 7
    assert dm.simulate(PANEL, "panel").seed is not None


def test_several_assumptions_make_one_sentence() -> None:
    run = dm.explorer("condorcet", dm.Problem.complete(["a", "b"], ["x"]), seed=1, assume_winner=True)
    voters = 0
    while not run.done:
        voters += 1
        for question in run.ask(9, voter=f"v{voters}"):
            run.tell(question, "a")
    text = str(run.result)
    assert text.count(" if ") == 1
    assert ", and " in text


def test_every_refusal_is_of_one_family() -> None:
    assert issubclass(AlgorithmError, DuelmatchError)
