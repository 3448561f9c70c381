"""The choices of an organiser in plain words, and what they mean to an explorer."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

import numpy as np

import duelmatch as dm
from duelmatch.preferences import Criterion
from duelmatch.problem import Problem
from duelmatch.studies import Settings

CRITERIA: Mapping[Criterion, str] = {
    "condorcet": "It beats every other line-up head to head.",
    "borda": "It does best on average against everybody.",
}
"""What makes a line-up the best."""

CONFIDENCES = ((0.1, "10"), (0.05, "20"), (0.01, "100"), (0.001, "1,000"))
"""How often the answer may be wrong, and that as one time in so many."""

MOST_VOTES = 1_000_000
LONGEST_TRIAL = 5.0
"""In seconds."""

AGREEMENT = 0.75
"""The share of voters that an estimate takes to prefer the best."""


def wrong_at_most(delta: float) -> str:
    """Say how often an answer may be wrong.

    >>> wrong_at_most(0.05), wrong_at_most(0.3)
    ('wrong at most 1 time in 20', 'wrong at most 30% of the time')
    """
    times = round(1 / delta)
    if abs(times * delta - 1) < 1e-6:
        return f"wrong at most 1 time in {times:,}"
    return f"wrong at most {100 * delta:.3g}% of the time"


def votes_to_expect(
    problem: Problem, algorithm: str, delta: float, seconds: float = LONGEST_TRIAL
) -> int | None:
    """Return how many votes a study took in one trial; None if it was too many, or took too long.

    In the trial some line-up is the best, its candidates are preferred to all others by three voters of four,
    and the others are equally good.
    """
    settings = Settings(algorithm, delta, seed=0).settled()
    run = dm.explorer(algorithm, problem, delta, seed=0, max_duels=MOST_VOTES, **settings.parameters)
    best = np.zeros(len(problem.edges), dtype=bool)
    best[_some_matching(problem)] = True
    chance = np.random.default_rng(0)
    end = monotonic() + seconds
    while not run.done:
        wanted = run.wanted()
        if wanted.total > MOST_VOTES - run.duels or monotonic() > end:
            return None
        first, second = best[wanted.first], best[wanted.second]
        win = np.where(first == second, 0.5, np.where(first, AGREEMENT, 1 - AGREEMENT))
        run.tell_wins(chance.binomial(wanted.count, win))
    return run.duels if run.result.status != "budget_spent" else None


def _some_matching(problem: Problem) -> list[int]:
    from scipy.optimize import linear_sum_assignment

    allowed = problem.graph.edge_at >= 0
    positions, candidates = linear_sum_assignment(allowed, maximize=True)
    return [
        int(problem.graph.edge_at[row, column]) for row, column in zip(positions, candidates, strict=True)
    ]
