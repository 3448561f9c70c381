"""Running an explorer to its end: against known preferences, or against a judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duelmatch.errors import ProblemError
from duelmatch.explorers.contract import Explorer, Result
from duelmatch.explorers.registry import explorer
from duelmatch.preferences import Preferences
from duelmatch.problem import Duel, Problem

ANSWERS = 2
"""Keeps the answers' random numbers apart from those of an instance generated from the same seed."""


def simulate(
    preferences: Preferences,
    algorithm: str,
    delta: float = 0.05,
    seed: int = 0,
    max_duels: int | None = None,
    **parameters: Any,
) -> Result:
    """Run an algorithm with answers drawn from known preferences, whole rounds at a time.

    Ctrl-C ends the run early, with what is known by then.
    """
    return simulated_run(preferences, algorithm, delta, seed, max_duels, **parameters).result


def simulated_run(
    preferences: Preferences,
    algorithm: str,
    delta: float = 0.05,
    seed: int = 0,
    max_duels: int | None = None,
    **parameters: Any,
) -> Explorer:
    """Do what :func:`simulate` does and return the run itself, which also knows its progress."""
    if not isinstance(preferences, Preferences):
        raise ProblemError(f"A simulation needs Preferences to draw answers from, not {preferences!r:.80}.")
    run = explorer(algorithm, preferences.problem, delta, seed, max_duels, **parameters)
    answers = np.random.default_rng([seed, ANSWERS])
    try:
        while not run.done:
            answer_round(run, preferences, answers)
    except KeyboardInterrupt:
        pass
    return run


def answer_round(run: Explorer, preferences: Preferences, answers: np.random.Generator) -> None:
    """Answer what a run wants now, or as much of it as its budget allows, from known preferences."""
    wanted = run.wanted()
    budget = None if run.max_duels is None else run.max_duels - run.duels - len(run.open_duels)
    if budget is None or wanted.total <= budget:
        run.tell_wins(answers.binomial(wanted.count, preferences.matrix[wanted.first, wanted.second]))
        return
    for duel in run.ask(budget):
        first_wins = answers.random() < preferences.probability(duel.position, duel.first, duel.second)
        run.tell(duel, duel.first if first_wins else duel.second)


def explore(
    problem: Problem,
    judge: Callable[[Duel], str],
    algorithm: str,
    delta: float = 0.05,
    seed: int = 0,
    max_duels: int | None = None,
    **parameters: Any,
) -> Result:
    """Run an algorithm with answers from ``judge``, which names the winning candidate of a duel.

    Ctrl-C, in the judge or elsewhere, ends the run early, with what is known by then.
    """
    return drive(explorer(algorithm, problem, delta, seed, max_duels, **parameters), judge)


def drive(run: Explorer, judge: Callable[[Duel], str]) -> Result:
    """Put the questions of a run to ``judge``, one after the other, until it is over or interrupted."""
    try:
        while not run.done:
            for duel in run.open_duels or run.ask(1):
                run.tell(duel, judge(duel))
    except KeyboardInterrupt:
        pass
    return run.result
