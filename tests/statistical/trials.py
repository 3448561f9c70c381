"""One simulated run after another, each judged right or wrong, and what their number says about the error.

Run number r of a case is on instance r mod 10 of the family, with seed r. So every case can be run again,
and any single run of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log2
from time import process_time
from typing import Literal
from unittest.mock import patch

import numpy as np
from scipy import stats

import duelmatch as dm
from duelmatch.explorers import car_cond
from duelmatch.theory.confidence import paper_scale
from statistical.families import FAMILIES, Criterion, instance

INSTANCES = 10
MOST_DUELS = 20_000_000

CRITERIA: dict[str, Criterion] = {
    "clucb-borda-pac": "borda",
    "clucb-borda-exact": "borda",
    "car-cond": "condorcet",
    "car-verify": "condorcet",
    "car-parallel": "condorcet",
}

Verdict = Literal["right", "wrong", "refuted", "unfinished"]


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
        return {"epsilon": 0.8 * FAMILIES[self.family].margins["borda"][0]}


@dataclass(frozen=True)
class Trial:
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
    return Trial(judge(result, preferences), result.duels, process_time() - started)


def judge(result: dm.Result, preferences: dm.Preferences) -> Verdict:
    """Compare a result with the truth, on an instance that has a winner.

    CAR-Verify promises to certify nothing but the winner; that it finds no winner where its first guess was
    wrong is no error. The same answer from another algorithm is one.
    """
    match result.status:
        case "budget_spent":
            return "unfinished"
        case "no_winner":
            return "refuted" if result.algorithm == "car-verify" else "wrong"
        case "within_epsilon":
            assert result.matching is not None
            assert result.epsilon is not None
            best = preferences.borda_score(preferences.borda_winner())
            loss = best - preferences.borda_score(result.matching)
            return "right" if loss <= result.epsilon else "wrong"
    borda = CRITERIA[result.algorithm] == "borda"
    winner = preferences.borda_winner() if borda else preferences.condorcet_winner()
    return "right" if result.matching == winner else "wrong"


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
        patch("duelmatch.theory.confidence.paper_scale", scale),
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
        interval = stats.binomtest(self.wrong, self.runs).proportion_ci(0.99, method="exact")
        return float(interval.low), float(interval.high)

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
