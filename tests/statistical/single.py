"""The instance of a single position on which another package was measured too."""

from __future__ import annotations

from functools import cache
from time import process_time

import duelmatch as dm
from statistical.trials import MOST_DUELS, Trial, judge

ARMS = (5, 10)


@cache
def one_good_arm(arms: int) -> dm.Preferences:
    """All duels without the good arm are even."""
    names = [f"c{i}" for i in range(arms)]
    problem = dm.Problem.complete(names, ["best"])
    pairs = ((i, j) for i in range(arms) for j in range(i + 1, arms))
    return dm.Preferences(problem, {("best", names[i], names[j]): 0.6 if i == 0 else 0.5 for i, j in pairs})


def run_single(algorithm: str, arms: int, run: int) -> Trial:
    preferences = one_good_arm(arms)
    started = process_time()
    result = dm.simulate(preferences, algorithm, 0.05, seed=run, max_duels=MOST_DUELS)
    return Trial(judge(result, preferences), result.duels, process_time() - started)
