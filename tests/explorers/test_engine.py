"""The engine and the dispenser apart from any algorithm: empty rounds, answers in parts, interruptions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import duelmatch as dm
from cases import each
from duelmatch.explorers import engine as engine_module
from duelmatch.explorers import explorer as explorer_module
from duelmatch.explorers.engine import Engine, Outcome, Round, RoundAnswers, Rounds, Snapshot

TRIO = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
PAIRS = np.array([0, 0, 1]), np.array([1, 2, 2])


class Script:
    """Wants rounds of these sizes, each pair as often; remembers the answers and the looks."""

    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes
        self.answers: list[list[int]] = []
        self.looks = 0

    def rounds(self) -> Rounds:
        for size in self.sizes:
            answers = yield Round(*PAIRS, np.full(3, size))
            self.answers.append(answers.score.tolist())
        return Outcome("budget_spent", np.array([0]))

    def snapshot(self) -> Snapshot:
        self.looks += 1
        nothing = np.zeros(3, dtype=bool)
        return Snapshot(np.array([0]), nothing, nothing)


def test_rounds_without_duels_are_passed_over() -> None:
    script = Script(0, 0, 0, 2, 0, 0)
    run = Engine(script, TRIO.graph)
    assert run.wanted.total == 6
    run.tell_many(RoundAnswers(np.array([2, 1, 0]), np.zeros(3, dtype=int)), 6)
    assert run.outcome is not None
    assert run.wanted.total == 0
    assert script.answers == [[0, 0, 0]] * 3 + [[2, 1, 0]] + [[0, 0, 0]] * 2


def test_a_round_may_be_answered_in_parts() -> None:
    script = Script(2, 1)
    run = Engine(script, TRIO.graph)
    run.tell_one(0, True)
    run.tell_many(RoundAnswers(np.array([1, 0, 0]), np.array([0, 0, 1])), 4)
    assert script.answers == []
    assert run.missing == 1
    run.tell_one(2, None)
    assert script.answers == [[2, 0, 1]]
    assert run.missing == 3


def test_a_snapshot_is_worked_out_once_a_round() -> None:
    script = Script(2, 2)
    run = dm.Explorer(TRIO, script, "script", 0.1)
    for duel in run.ask(6):
        _ = run.progress, run.result, run.progress
        run.tell(duel, duel.first)
    assert script.looks == 1
    _ = run.progress, run.result
    assert script.looks == 2


def test_an_answer_that_is_interrupted_is_taken_or_not_or_the_run_says_that_it_cannot_go_on() -> None:
    """Ctrl-C before any line of taking an answer; no answer may ever count twice, or half."""
    files = {module.__file__ for module in (engine_module, explorer_module)}
    seen: set[str] = set()
    for line in range(60):
        script = Script(2, 2)
        run = dm.Explorer(TRIO, script, "script", 0.1)
        duels = run.ask(6)
        for duel in duels[:-1]:
            run.tell(duel, duel.first)
        left = line

        def interrupt(frame: FrameType, event: str, _: object) -> Any:
            nonlocal left
            if frame.f_code.co_filename not in files:
                return None
            if event == "line":
                left -= 1
                if left < 0:
                    raise KeyboardInterrupt
            return interrupt

        before = sys.gettrace()
        sys.settrace(interrupt)
        try:
            run.tell(duels[-1], duels[-1].first)
            sys.settrace(before)
            break
        except KeyboardInterrupt:
            sys.settrace(before)
        if run._engine.interrupted:
            with pytest.raises(dm.DuelError, match="replay"):
                run.ask(1)
            seen.add("cannot go on")
        elif duels[-1] in run.open_duels:
            assert (run.duels, script.answers) == (5, [])
            seen.add("not taken")
        else:
            assert (run.duels, len(script.answers)) == (6, 1)
            seen.add("taken")
    assert {"cannot go on", "not taken"} <= seen


def test_a_seed_is_drawn_for_every_run(really_drawn_seeds: None) -> None:
    """Two drawn seeds are the same once in 2^53 times."""
    first, second = (dm.explorer("condorcet", TRIO) for _ in range(2))
    assert first.seed != second.seed
    assert first.result.seed == first.seed


class Broken:
    """Does what it is told to, whatever that is."""

    def __init__(self, rounds: Callable[[], Any]) -> None:
        self.rounds = rounds

    def snapshot(self) -> Snapshot:
        return Script().snapshot()


def asks(first: Any, second: Any, count: Any) -> Callable[[], Any]:
    def rounds() -> Any:
        yield Round(first, second, count)
        return Outcome("budget_spent", None)

    return rounds


def ends(outcome: Any) -> Callable[[], Any]:
    def rounds() -> Any:
        yield from ()
        return outcome

    return rounds


def endless() -> Any:
    while True:
        yield Round.empty()


def whole(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


BROKEN: list[tuple[Callable[[], Any], str]] = [
    (ends(None), "must return an Outcome, not None"),
    (ends(Outcome("great", None)), "'great' is not a status"),  # type: ignore[arg-type]
    (ends(Outcome("certified", None)), "says 'certified' without a matching"),
    (ends(Outcome("certified", whole(0, 1))), "do not fill every position"),
    (ends(Outcome("certified", whole())), "do not fill every position"),
    (lambda: Outcome("certified", whole(0)), "must be a generator"),
    (lambda: (round_ for round_ in [None]), "yields None, not a Round"),
    (asks([0], [1], [1]), "made of three arrays"),
    (asks(whole(0), whole(1, 2), whole(1)), "of one length"),
    (asks(whole(0), whole(1), np.array([1.5])), "whole numbers"),
    (asks(whole(0, 0), whole(1, 2), whole(-3, 3)), "negative number of duels"),
    (asks(whole(0), whole(3), whole(1)), "the edges are 0 to 2"),
    (asks(whole(-1), whole(0), whole(1)), "the edges are 0 to 2"),
    (asks(whole(1), whole(1), whole(1)), "not between two candidates of one position"),
    (endless, "asked for nothing 10,000 times in a row"),
]


@each(("rounds", "sentence"), BROKEN)
def test_a_search_that_breaks_the_contract_is_refused_in_a_sentence(
    rounds: Callable[[], Any], sentence: str
) -> None:
    with pytest.raises(dm.AlgorithmError, match=sentence):
        dm.Explorer(TRIO, Broken(rounds), "broken", 0.1)


def test_a_duel_between_positions_is_refused() -> None:
    pair = dm.Problem.complete(["ann", "bob"], ["chair", "editor"])
    with pytest.raises(dm.AlgorithmError, match="one position"):
        dm.Explorer(pair, Broken(asks(whole(0), whole(2), whole(1))), "broken", 0.1)


@each(
    ("conditions", "edges", "said"),
    [
        ({}, (0, 2), "do not fill every position with a candidate of its own"),
        ({"capacity": {"ann": 2}}, (0, 2), None),
        ({"capacity": {"ann": 2}}, (1, 3), "break the seats, capacities or rules"),
        ({"seats": {"editor": 2}, "capacity": {"ann": 2}}, (0, 2), "break the seats, capacities or rules"),
        ({"rules": [dm.Rule(of=["ann"], at_most=0)]}, (0, 4), "break the seats, capacities or rules"),
    ],
)
def test_a_matching_that_the_problem_does_not_allow_is_refused(
    conditions: dict[str, Any], edges: tuple[int, int], said: str | None
) -> None:
    names = ["ann", "bob", "cyd"] if "rules" in conditions else ["ann", "bob"]
    problem = dm.Problem.complete(names, ["chair", "editor"], **conditions)
    search = Broken(ends(Outcome("certified", whole(*edges))))
    if said is None:
        assert dm.Explorer(problem, search, "broken", 0.1).done
        return
    with pytest.raises(dm.AlgorithmError, match=said):
        dm.Explorer(problem, search, "broken", 0.1)


def test_a_search_that_fails_says_so_from_then_on() -> None:
    def rounds() -> Any:
        yield Round(*PAIRS, np.full(3, 1))
        raise ValueError("no idea")

    run = dm.Explorer(TRIO, Broken(rounds), "broken", 0.1)
    duels = run.ask(3)
    for duel in duels[:2]:
        run.tell(duel, duel.first)
    with pytest.raises(ValueError, match="no idea"):
        run.tell(duels[2], duels[2].first)
    for go_on in (lambda: run.ask(1), lambda: run.tell(duels[2], "ann"), lambda: run.release(duels[2])):
        with pytest.raises(dm.AlgorithmError, match="cannot go on: ValueError: no idea"):
            go_on()


def test_nothing_can_be_told_to_an_interrupted_run() -> None:
    run = dm.Explorer(TRIO, Script(2, 2), "script", 0.1)
    first, second = run.ask(2)
    run._engine.interrupted = True  # as Ctrl-C leaves it
    for go_on in (lambda: run.tell(first, first.first), lambda: run.release(second)):
        with pytest.raises(dm.DuelError, match="replay its answers in a new one"):
            go_on()
