"""What looking rarely costs: the same instance and the same answers under both schedules."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time

import numpy as np
from benchmarks.error_rates.families import instance
from benchmarks.error_rates.trials import CRITERIA, INSTANCES, borda_margin
from scipy import stats

import duelmatch as dm

FIRST_STREAM = 4_096


@dataclass(frozen=True)
class Comparison:
    """Duels and seconds under the sparse schedule over those under the schedule that looks every time."""

    runs: int
    every_duels: float
    duels: float
    interval: tuple[float, float]
    seconds: float


class Answers:
    """The n-th duel of two edges ends the same way whoever asks, so that like is compared with like."""

    def __init__(self, preferences: dm.Preferences, seed: int) -> None:
        self._matrix = preferences.matrix
        self._seed = seed
        self._wins: dict[tuple[int, int], np.ndarray] = {}
        self._asked: dict[tuple[int, int], int] = {}

    def answer(self, run: dm.Explorer) -> None:
        """Answer all that a run wants now."""
        wanted = run.wanted()
        duels = zip(wanted.first.tolist(), wanted.second.tolist(), wanted.count.tolist(), strict=True)
        run.tell_wins(np.array([self._next(*duel) for duel in duels], dtype=np.int64))

    def _next(self, first: int, second: int, number: int) -> int:
        """How often the first wins the next ``number`` duels of the two."""
        low, high = pair = min(first, second), max(first, second)
        start = self._asked.get(pair, 0)
        end = self._asked[pair] = start + number
        if pair not in self._wins or len(self._wins[pair]) <= end:
            length = max(FIRST_STREAM, 2 * end)
            draws = np.random.default_rng([self._seed, low, high]).random(length)
            self._wins[pair] = np.append(0, np.cumsum(draws < self._matrix[low, high]))
        low_wins = int(self._wins[pair][end] - self._wins[pair][start])
        return low_wins if first == low else number - low_wins


def run_both(algorithm: str, family: str, run: int) -> tuple[float, float, float, float]:
    """Return the duels, then the seconds, under the sparse schedule and under every."""
    preferences = instance(family, CRITERIA[algorithm], run % INSTANCES)
    parameters = {}
    if algorithm == "clucb-borda-pac":
        parameters["epsilon"] = 0.8 * borda_margin(family)
    duels, seconds = [], []
    for schedule in ("sparse", "every"):
        answers = Answers(preferences, run)
        started = process_time()
        explorer = dm.explorer(algorithm, preferences.problem, 0.05, run, schedule=schedule, **parameters)
        while not explorer.done:
            answers.answer(explorer)
        seconds.append(process_time() - started)
        duels.append(float(explorer.duels))
    return (*duels, *seconds)


def compare(measured: list[tuple[float, float, float, float]]) -> Comparison:
    """Return the ratios of the means; the interval is 95%, by the normal approximation for paired ratios."""
    sparse, every, sparse_seconds, every_seconds = np.array(measured).T
    ratio = sparse.mean() / every.mean()
    error = (sparse - ratio * every).std(ddof=1) / every.mean() / np.sqrt(len(measured))
    half = stats.t.ppf(0.975, len(measured) - 1) * error
    return Comparison(
        len(measured),
        float(every.mean()),
        float(ratio),
        (float(ratio - half), float(ratio + half)),
        float(sparse_seconds.sum() / every_seconds.sum()),
    )
