"""One simulated run: an algorithm with answers drawn from known preferences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duelmatch.errors import ProblemError
from duelmatch.explorers.catalogue import drawn_seed
from duelmatch.explorers.explorer import Explorer, explorer
from duelmatch.explorers.result import Result
from duelmatch.preferences import Preferences

ANSWERS = 2
"""Keeps the answers' random numbers apart from those of an instance generated from the same seed."""


def simulate(
    preferences: Preferences,
    algorithm: str,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    **parameters: Any,
) -> Result:
    """Run an algorithm with answers drawn from known preferences, whole rounds at a time.

    Without a ``seed`` one is drawn; the result shows it, and the same seed gives the same run.
    """
    return simulated_run(preferences, algorithm, delta, seed, max_duels, **parameters).result


def simulated_run(
    preferences: Preferences,
    algorithm: str,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    observe: Callable[[Explorer], None] | None = None,
    **parameters: Any,
) -> Explorer:
    """Do what :func:`simulate` does and return the run itself, which also knows its progress.

    ``observe`` is shown the run before the first round and after each.
    """
    if not isinstance(preferences, Preferences):
        raise ProblemError(f"A simulation needs Preferences to draw answers from, not {preferences!r:.80}.")
    seed = drawn_seed() if seed is None else seed
    run = explorer(algorithm, preferences.problem, delta, seed, max_duels, **parameters)
    answers = np.random.default_rng([seed, ANSWERS])
    while not run.done:
        if observe:
            observe(run)
        answer_round(run, preferences, answers)
    if observe:
        observe(run)
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
