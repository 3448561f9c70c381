"""What many runs of one cell come to: how often they were right, and how many duels they took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from duelmatch.experiments.bounds import Bounds
from duelmatch.experiments.correctness import clopper_pearson, correctness_of
from duelmatch.experiments.experiment import Cell
from duelmatch.experiments.simulation import Run
from duelmatch.explorers.catalogue import Assumption
from duelmatch.problem import Matching

CONFIDENCE = 0.95
"""Of every interval."""


@dataclass(frozen=True, slots=True)
class AnswerCount:
    """An answer, how many runs gave it, and whether it is right."""

    status: str
    matching: Matching | None
    runs: int
    right: bool | None


@dataclass(frozen=True, slots=True)
class DuelCounts:
    """How many duels the runs took."""

    median: float
    mean: float
    percentile_5: float
    percentile_95: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Of all finished runs: statuses and answers with their counts, the most frequent first; errors; duels.

    ``wrong`` runs claim what is not so, and are an ``error_rate`` of all runs, with an exact 95% interval;
    None if the winner is out of reach, ``too_large`` saying why. ``error_allowed`` is the largest delta of an
    answer. ``assuming`` is what their guarantees take for granted.
    """

    finished: int
    statuses: dict[str, int]
    answers: tuple[AnswerCount, ...]
    winner: Matching | None
    too_large: str | None
    wrong: int | None
    error_rate: float | None
    error_interval: tuple[float, float] | None
    error_allowed: float
    assuming: tuple[Assumption, ...]
    duels: DuelCounts
    information_limit: float | None
    seconds_per_run: float


def summarise(cell: Cell, runs: Sequence[Run]) -> Summary:
    """Return the summary of some runs of a cell, at least one, which all have a result."""
    results = [run.result for run in runs if run.result is not None]
    known = correctness_of(cell)
    wrong = None if known.too_large else sum(run.wrong for run in runs)
    answers = Counter(
        (result.status, result.matching, run.right) for run, result in zip(runs, results, strict=True)
    )
    duels = np.array([result.duels for result in results])
    low, high = (float(value) for value in np.percentile(duels, [5, 95]))
    return Summary(
        finished=len(runs),
        statuses=dict(Counter(result.status for result in results).most_common()),
        answers=tuple(
            AnswerCount(status, matching, number, is_so)
            for (status, matching, is_so), number in answers.most_common()
        ),
        winner=known.winner,
        too_large=known.too_large,
        wrong=wrong,
        error_rate=None if wrong is None else wrong / len(runs),
        error_interval=None if wrong is None else clopper_pearson(wrong, len(runs), CONFIDENCE),
        error_allowed=max(result.delta for result in results),
        assuming=tuple(dict.fromkeys(one for result in results for one in result.assuming)),
        duels=DuelCounts(float(np.median(duels)), float(duels.mean()), low, high),
        information_limit=Bounds().limit(cell),
        seconds_per_run=sum(run.seconds for run in runs) / len(runs),
    )
