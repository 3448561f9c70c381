"""The results of each cell, gathered in the order of the grid, whatever order they came in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duelmatch.experiments.experiment import Cell, Experiment
from duelmatch.experiments.folder import Folder
from duelmatch.experiments.running import FAILED

CONFIDENCE = 0.95
"""Of every interval in a report."""

_COLUMNS = ["cell", "repetition", "status", "right", "allowed", "duels", "seconds"]


@dataclass(frozen=True)
class Summary:
    """What came of the runs of a cell; ``duels`` and ``seconds`` are those of each run, by repetition.

    ``wrong`` answers break the promise of the cell's delta. ``refuted`` counts answers that are not true
    either, but were promised with a larger delta: car-verify's that there is no winner. ``unfinished`` runs
    ended with their budget, so their duels say how many they needed at least.
    """

    cell: Cell
    duels: NDArray[np.int64]
    seconds: NDArray[np.float64]
    judged: int
    wrong: int
    refuted: int
    unfinished: int
    failed: int

    @property
    def runs(self) -> int:
        """How many runs are done."""
        return len(self.duels) + self.failed

    @property
    def mean(self) -> float:
        """The mean number of duels."""
        return float(self.duels.mean())

    @property
    def median(self) -> float:
        """The median number of duels."""
        return float(np.median(self.duels))

    def quantiles(self, *shares: float) -> tuple[float, ...]:
        """Return quantiles of the number of duels."""
        return tuple(float(value) for value in np.quantile(self.duels, shares))


class _Gathered:
    """The columns of one cell, a place for each repetition."""

    def __init__(self, repetitions: int) -> None:
        self.status = np.full(repetitions, "", dtype="U16")
        self.right = np.full(repetitions, np.nan)
        self.allowed = np.zeros(repetitions)
        self.duels = np.zeros(repetitions, dtype=np.int64)
        self.seconds = np.zeros(repetitions)


def summaries(folder: Folder, experiment: Experiment) -> list[Summary]:
    """Return the summaries of all cells that have a result, in the order of the grid."""
    gathered = {cell.key: _Gathered(experiment.repetitions) for cell in experiment.cells}
    for piece in folder.parts.batches(_COLUMNS):
        keys, codes = _words(piece["cell"])
        statuses, status_codes = _words(piece["status"])
        repetition = piece["repetition"].to_numpy()
        right = piece["right"].cast("float64").to_numpy(zero_copy_only=False)
        for code, key in enumerate(keys):
            rows = np.flatnonzero((codes == code) & (repetition < experiment.repetitions))
            if key not in gathered or not len(rows):
                continue
            own, places = gathered[key], repetition[rows]
            own.status[places] = np.array(statuses)[status_codes[rows]]
            own.right[places] = right[rows]
            own.allowed[places] = piece["allowed"].to_numpy()[rows]
            own.duels[places] = piece["duels"].to_numpy()[rows]
            own.seconds[places] = piece["seconds"].to_numpy()[rows]
    found = (_summary(cell, gathered[cell.key]) for cell in experiment.cells)
    return [summary for summary in found if summary.runs]


def _words(column: object) -> tuple[list[str], NDArray[np.int64]]:
    words: list[str] = column.dictionary.to_pylist()  # type: ignore[attr-defined]
    codes = column.indices.to_numpy(zero_copy_only=False)  # type: ignore[attr-defined]
    return words, codes


def _summary(cell: Cell, own: _Gathered) -> Summary:
    ended = (own.status != "") & (own.status != FAILED)
    claims = ended & (own.status != "budget_spent") & ~np.isnan(own.right)
    false = claims & (own.right == 0)
    promised = own.allowed <= cell.delta * (1 + 1e-9)
    return Summary(
        cell,
        own.duels[ended],
        own.seconds[ended],
        judged=int(claims.sum()),
        wrong=int((false & promised).sum()),
        refuted=int((false & ~promised).sum()),
        unfinished=int((own.status == "budget_spent").sum()),
        failed=int((own.status == FAILED).sum()),
    )
