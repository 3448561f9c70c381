"""One simulated run after another, each judged right or wrong, and what their number says about the error.

Run number r of a case is on instance r mod 10 of the family, with seed r. So every case can be run again,
and any single run of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import log2
from time import process_time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from benchmarks.error_rates.families import FAMILIES, Ahead, instance
from scipy import stats

import duelmatch as dm
from duelmatch.experiments.cell import Known, Verdict
from duelmatch.experiments.simulation import clopper_pearson
from duelmatch.explorers import car_cond
from duelmatch.explorers.tally import paper_scale
from duelmatch.preferences import Criterion

INSTANCES = 10
MOST_DUELS = 20_000_000
ARMS = (5, 10)

CRITERIA: dict[str, Criterion] = {
    "clucb-borda-pac": "borda",
    "clucb-borda-exact": "borda",
    "car-cond": "condorcet",
    "car-verify": "condorcet",
    "car-parallel": "condorcet",
}


@dataclass(frozen=True)
class Case:
    """``factor`` other than 1 breaks the algorithm on purpose, see :func:`narrowed`."""

    algorithm: str
    family: str
    delta: float
    factor: float = 1.0

    def preferences(self, run: int) -> dm.Preferences:
        return instance(self.family, CRITERIA[self.algorithm], run % INSTANCES)

    @property
    def parameters(self) -> dict[str, float]:
        """An epsilon below every margin of the family, so that no answer but the winner is good enough."""
        if self.algorithm != "clucb-borda-pac":
            return {}
        return {"epsilon": 0.8 * borda_margin(self.family)}


def borda_margin(family: str) -> float:
    """Return the smallest margin of the Borda winner in a family."""
    fits = FAMILIES[family].fits
    assert isinstance(fits, Ahead)
    return fits.borda[0]


class Trial(NamedTuple):
    verdict: Verdict
    duels: int
    seconds: float


def run_trial(case: Case, run: int) -> Trial:
    preferences = case.preferences(run)
    started = process_time()
    with narrowed(case.factor):
        result = dm.simulate(
            preferences, case.algorithm, case.delta, seed=run, max_duels=MOST_DUELS, **case.parameters
        )
    verdict = judge(result, preferences, CRITERIA[case.algorithm], case.delta)
    return Trial(verdict, result.duels, process_time() - started)


@cache
def one_good_arm(arms: int) -> dm.Preferences:
    """A single position, on which another package was measured too: duels without the good arm are even."""
    names = [f"c{i}" for i in range(arms)]
    problem = dm.Problem.complete(names, ["best"])
    pairs = ((i, j) for i in range(arms) for j in range(i + 1, arms))
    return dm.Preferences(problem, {("best", names[i], names[j]): 0.6 if i == 0 else 0.5 for i, j in pairs})


def run_single(algorithm: str, arms: int, run: int) -> Trial:
    """Do a run on one position."""
    preferences = one_good_arm(arms)
    started = process_time()
    result = dm.simulate(preferences, algorithm, 0.05, seed=run, max_duels=MOST_DUELS)
    verdict = judge(result, preferences, CRITERIA[algorithm], 0.05)
    return Trial(verdict, result.duels, process_time() - started)


def judge(result: dm.Result, preferences: dm.Preferences, criterion: Criterion, delta: float) -> Verdict:
    """Compare a result with the winner."""
    return Known(preferences, criterion).verdict(result, delta)


@contextmanager
def narrowed(factor: float) -> Iterator[None]:
    """Multiply every confidence radius, and eps_q of CAR-Cond, by a factor.

    The radius of what has not been asked at all stays.
    """
    if factor == 1.0:
        yield
        return

    def scale(*arguments: float) -> float:
        return factor**2 * paper_scale(*arguments)

    def epoch(t: int, right: Callable[[int], int] = car_cond.epoch) -> float:
        return right(t) - log2(factor)  # since eps_q = 2^-q

    with (
        patch("duelmatch.explorers.tally.paper_scale", scale),
        patch("duelmatch.explorers.clucb.paper_scale", scale),
        patch("duelmatch.explorers.car_cond.epoch", epoch),
    ):
        yield


@dataclass(frozen=True)
class Summary:
    runs: int
    wrong: int
    refuted: int
    unfinished: int
    median_duels: float
    high_duels: float
    """The 90th percentile."""
    median_seconds: float

    @property
    def interval(self) -> tuple[float, float]:
        """The exact (Clopper-Pearson) 99% interval of the probability of a wrong answer."""
        return clopper_pearson(self.wrong, self.runs, 0.99)

    def chance(self, delta: float) -> float:
        """The probability that an algorithm that errs with probability delta is wrong so often or more."""
        return float(stats.binom.sf(self.wrong - 1, self.runs, delta))


def summarise(trials: Sequence[Trial]) -> Summary:
    verdicts = Counter(trial.verdict for trial in trials)
    duels = [trial.duels for trial in trials]
    return Summary(
        len(trials),
        verdicts["wrong"],
        verdicts["refuted"],
        verdicts["unfinished"],
        float(np.median(duels)),
        float(np.quantile(duels, 0.9)),
        float(np.median([trial.seconds for trial in trials])),
    )


Task = tuple[Hashable, Callable[..., Any], tuple[Any, ...]]
"""(what it belongs to, a function, its arguments)"""


def run_task(task: Task) -> Any:
    """Do a task; here, since worker processes do not find what is defined in the program itself."""
    _, function, arguments = task
    return function(*arguments)
