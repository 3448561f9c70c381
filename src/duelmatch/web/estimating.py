"""How many answers a study takes, in one trial with voters who mostly agree."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic

import numpy as np

import duelmatch as dm
from duelmatch.explorers.catalogue import described
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.graph import Mask
from duelmatch.matchings.assignment import decisions_of
from duelmatch.problem import Problem
from duelmatch.studies import Settings

MOST_ANSWERS = 1_000_000
LONGEST_TRIAL = 5.0
"""In seconds."""

AGREEMENT = 0.75
"""The share of voters that prefer the best, in a trial."""


def answers_to_expect(
    problem: Problem, settings: Settings, voters: int, seconds: float = LONGEST_TRIAL
) -> int | None:
    """Return how many answers a study took in one trial; None if it was too many, or took too long.

    In the trial some line-up is the best, its candidates are preferred to all others by three voters of four,
    and the others are equally good. A panel has judges who rank; others answer one question each.
    """
    best = np.zeros(len(problem.edges), dtype=bool)
    matching = decisions_of(problem.graph).one(np.zeros(problem.graph.edges))
    best[matching] = True
    end = monotonic() + seconds
    if settings.kind == "panel":
        return _panel(problem, settings, max(voters, 1), best, end)
    return _crowd(problem, settings, best, end)


def _panel(problem: Problem, settings: Settings, voters: int, best: Mask, end: float) -> int | None:
    chance = np.random.default_rng(0)
    judges = [str(number) for number in range(voters)]
    # An advantage at which two judges' draws come out in this order three times of four
    worth = chance.normal(size=(voters, len(problem.edges))) + 0.954 * best
    run = PanelExplorer(problem, judges, **settings.parameters)
    while not run.done:
        if monotonic() > end:
            return None
        for question in run.ask(1):
            edges = {name: problem.edge_number(name, question.position) for name in question.candidates}
            liked = worth[int(question.voter or 0)]
            best_first = sorted(edges, key=lambda name: -liked[edges[name]])
            run.tell(question, best_first)
    return run.duels


def _crowd(problem: Problem, settings: Settings, best: Mask, end: float) -> int | None:
    algorithm = described(settings.algorithm)
    parameters = {name: value for name, value in settings.parameters.items() if name in algorithm.defaults}
    run = dm.explorer(algorithm.name, problem, settings.delta, seed=0, max_duels=MOST_ANSWERS, **parameters)
    chance = np.random.default_rng(0)
    while not run.done:
        wanted = run.wanted()
        if wanted.total > MOST_ANSWERS - run.duels or monotonic() > end:
            return None
        first, second = best[wanted.first], best[wanted.second]
        win = np.where(first == second, 0.5, np.where(first, AGREEMENT, 1 - AGREEMENT))
        run.tell_wins(chance.binomial(wanted.count, win))
    return run.duels if run.result.status != "budget_spent" else None


def try_out(algorithms: Iterable[str] = ("condorcet", "borda", "panel")) -> None:
    """Run algorithms once on a tiny problem, the way a study does, so that they are compiled."""
    problem = Problem.complete(["a", "b", "c"], ["x", "y"])
    for name in algorithms:
        answers_to_expect(problem, Settings(name, 0.3).settled(named_voters=False), 3)
