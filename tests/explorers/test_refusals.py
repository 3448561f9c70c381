"""What cannot be meant is refused in a sentence, whatever kind of run it is given to."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import duelmatch as dm
from duelmatch.errors import AlgorithmError, DuelError, DuelmatchError, ProblemError
from duelmatch.explorers.engine import Round

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


@pytest.mark.parametrize("algorithm", ["panel", "condorcet", "car-cond"])
def test_what_is_no_problem_is_refused(algorithm: str) -> None:
    with pytest.raises(ProblemError, match="An explorer needs a Problem, not 5"):
        dm.explorer(algorithm, 5)


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
        (lambda: dm.simulate(PANEL, "panel", seed=-1), "whole number of at least 0"),
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


def test_what_a_registered_algorithm_asks_for_is_checked() -> None:
    class Wild:
        def __init__(self, graph: Any, delta: float, seed: int) -> None:
            self.edges = graph.edges

        def rounds(self) -> Any:
            beyond = np.array([self.edges])
            yield Round(np.zeros(1, dtype=np.intp), beyond, np.ones(1, dtype=np.int64))

        def snapshot(self) -> Any:
            raise AssertionError

    dm.register_algorithm(dm.Algorithm("wild", "borda", Wild))
    with pytest.raises(AlgorithmError, match="an edge that is not there"):
        dm.explorer("wild", PROBLEM)


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


@pytest.mark.parametrize(
    ("use", "sentence"),
    [
        (lambda: dm.matchings.count(5), "needs a Problem, not 5."),  # type: ignore[arg-type]
        (lambda: dm.matchings.best(5, {}), "needs a Problem, not 5."),  # type: ignore[arg-type]
        (lambda: dm.matchings.sample(5, 1), "needs a Problem, not 5."),  # type: ignore[arg-type]
        (lambda: dm.matchings.game_value(5, []), "needs a Problem, not 5."),  # type: ignore[arg-type]
        (lambda: dm.theory.width(5), "needs a Problem, not 5."),  # type: ignore[arg-type]
        (lambda: dm.Preferences(5, {}), "needs a Problem, not 5."),  # type: ignore[arg-type]
        (lambda: dm.save_problem(5, "x.yaml"), "needs a Problem, not 5."),  # type: ignore[arg-type]
        (lambda: dm.load_problem(5), "named by a text or a path, not 5."),  # type: ignore[arg-type]
        (lambda: dm.estimate_preferences(PROBLEM, []), "answers come first"),  # type: ignore[arg-type]
        (lambda: dm.estimate_preferences(5), "answers come first"),  # type: ignore[call-overload]
        (lambda: dm.explorer("borda", PROBLEM).replay(5), "are a list of"),
        (lambda: dm.simulate(PANEL.preferences(), "panel"), "needs a dm.Panel, not Preferences."),
        (lambda: dm.simulate(PROBLEM, "borda"), "not Problem."),  # type: ignore[arg-type]
        (lambda: dm.forecast(PROBLEM), "not of Problem."),
        (lambda: dm.register_generator("a b", lambda: PANEL.preferences()), "in small letters"),
        (lambda: dm.experiments.from_dict([1]), "is a mapping"),  # type: ignore[arg-type]
    ],
)
def test_what_is_of_another_type_is_refused_in_a_sentence(use: Callable[[], object], sentence: str) -> None:
    with pytest.raises(DuelmatchError, match=sentence):
        use()


@pytest.mark.parametrize("kind", RUNS)
def test_an_answer_has_to_be_given(kind: str) -> None:
    run, question = RUNS[kind]()
    with pytest.raises(DuelError, match=r"Say who won: winner=..., or None for no difference"):
        run.tell(question)


def test_a_judge_may_see_no_difference() -> None:
    assert dm.explore(PROBLEM, lambda duel: None, "borda", max_duels=20).duels == 20


def test_a_judge_that_returns_nothing_is_warned_of_once() -> None:
    """A forgotten ``return`` made a run go on for ever without a word."""
    with pytest.warns(UserWarning, match=r"The first 1,000 answers are all ties, None") as warned:
        dm.explore(PROBLEM, lambda duel: None, "borda", max_duels=2_500)
    assert [Path(one.filename).name for one in warned] == [Path(__file__).name]


def test_a_judge_who_sees_a_difference_once_is_believed() -> None:
    answers = chain(["first"], repeat(None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = dm.explore(
            PROBLEM, lambda duel: duel.first if next(answers) else None, "borda", max_duels=1_500
        )
    assert found.duels == 1_500
