"""What is in the folder of an experiment: how far it is, its results as one table, and those of each cell."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import FileError
from duelmatch.experiments.cell import Cell, Variant
from duelmatch.experiments.experiment import Experiment
from duelmatch.experiments.folder import Folder
from duelmatch.experiments.parts import SCHEMA, words_of
from duelmatch.experiments.simulation import CONFIDENCE, FAILED, clopper_pearson
from duelmatch.files.documents import AnyPath

if TYPE_CHECKING:
    import pyarrow as pa

ATTEMPTS = 3
"""To read results that another process is writing."""

_GATHERED = [("status", "U16"), ("right", "f8"), ("allowed", "f8"), ("duels", "i8"), ("seconds", "f8")]
_NOT_DONE = np.array(("", np.nan, 0.0, 0, 0.0), _GATHERED)
"""What is gathered of a run of a cell, as long as there is no result."""

_COLUMNS = ["cell", "repetition", "status", "right", "allowed", "duels", "seconds"]


@dataclass(frozen=True, slots=True)
class ExperimentStatus:
    """How far an experiment is: all runs, those done, and for each cell how many are done.

    ``failed`` counts the runs that ended with an error, and ``failures`` quotes one of each kind. ``unused``
    are results that belong to no cell: of an experiment that was changed since.
    """

    title: str
    seed: int
    runs: int
    done: int
    failed: int
    unused: int
    cells: tuple[tuple[Cell, int], ...]
    repetitions: int
    failures: tuple[str, ...]
    sessions: tuple[dict[str, Any], ...]

    @property
    def finished(self) -> bool:
        """Whether nothing is missing."""
        return self.done == self.runs


def status(out: AnyPath) -> ExperimentStatus:
    """Return how far the experiment in a folder is; it may be running."""
    for _ in range(ATTEMPTS - 1):
        with suppress(FileError):  # parts were merged, and so removed, while they were read
            return _status(Folder(out))
    return _status(Folder(out))


def _status(folder: Folder) -> ExperimentStatus:
    experiment = folder.experiment()
    done = folder.done(experiment)
    saved = failed = 0
    failures: dict[str, None] = {}
    for piece in folder.parts.batches(["failure"]):
        saved += piece.num_rows
        if piece["failure"].null_count < piece.num_rows:
            found = [failure for failure in piece["failure"].to_pylist() if failure]
            failed += len(found)
            failures.update(dict.fromkeys(found[: 100 - len(failures)]))
    counts = tuple((cell, int(done[cell.key].sum())) for cell in experiment.cells)
    total = sum(count for _, count in counts)
    return ExperimentStatus(
        experiment.title,
        experiment.seed,
        experiment.runs,
        total,
        failed,
        saved - total,
        counts,
        experiment.repetitions,
        tuple(failures),
        tuple(folder.about["sessions"]),
    )


def results(out: AnyPath) -> pa.Table:
    """Return the results in a folder as a table, in the order of the grid: cell by cell, by repetition.

    Reading it takes memory for all of it; the Parquet files in ``runs`` can be read piece by piece instead.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    folder = Folder(out)
    experiment = folder.experiment()
    order = {cell.key: number for number, cell in enumerate(experiment.cells)}
    table = pa.Table.from_batches(folder.parts.batches(SCHEMA.names), SCHEMA).unify_dictionaries()
    words = table["cell"].cast(pa.string()).to_pylist()
    place = np.array([order.get(key, -1) for key in words], dtype=np.int64)
    repetition = table["repetition"].to_numpy()
    used = np.flatnonzero((place >= 0) & (repetition < experiment.repetitions))
    sorting = used[np.lexsort((repetition[used], place[used]))]
    return table.take(pc.cast(pa.array(sorting), pa.int64()))


@dataclass(frozen=True)
class CellSummary:
    """What came of the runs of a cell; ``duels`` and ``seconds`` are those of each run, by repetition.

    ``wrong`` answers break the promise of the cell's delta. ``refuted`` counts answers that are not so
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


def cell_summaries(folder: Folder, experiment: Experiment) -> list[CellSummary]:
    """Return the summaries of all cells that have a result, in the order of the grid."""
    gathered = {cell.key: np.full(experiment.repetitions, _NOT_DONE) for cell in experiment.cells}
    for piece in folder.parts.batches(_COLUMNS):
        keys, codes = words_of(piece["cell"])
        statuses, status_codes = words_of(piece["status"])
        repetition = piece["repetition"].to_numpy()
        right = piece["right"].cast("float64").to_numpy(zero_copy_only=False)
        for code, key in enumerate(keys):
            rows = np.flatnonzero((codes == code) & (repetition < experiment.repetitions))
            if key not in gathered or not len(rows):
                continue
            own, places = gathered[key], repetition[rows]
            own["status"][places] = np.array(statuses)[status_codes[rows]]
            own["right"][places] = right[rows]
            for name in ("allowed", "duels", "seconds"):
                own[name][places] = piece[name].to_numpy()[rows]
    found = (_of_cell(cell, gathered[cell.key]) for cell in experiment.cells)
    return [summary for summary in found if summary.runs]


def _of_cell(cell: Cell, own: NDArray[np.void]) -> CellSummary:
    status, right = own["status"], own["right"]
    ended = (status != "") & (status != FAILED)
    claims = ended & (status != "budget_spent") & ~np.isnan(right)
    false = claims & (right == 0)
    promised = own["allowed"] <= cell.delta * (1 + 1e-9)
    return CellSummary(
        cell,
        own["duels"][ended],
        own["seconds"][ended],
        judged=int(claims.sum()),
        wrong=int((false & promised).sum()),
        refuted=int((false & ~promised).sum()),
        unfinished=int((status == "budget_spent").sum()),
        failed=int((status == FAILED).sum()),
    )


@dataclass(frozen=True)
class ErrorRate:
    """How often a variant was wrong at a delta, over all problems."""

    variant: Variant
    delta: float
    wrong: int
    runs: int

    @property
    def interval(self) -> tuple[float, float]:
        """The exact interval of the probability of a wrong answer."""
        return clopper_pearson(self.wrong, self.runs, CONFIDENCE)


def error_rates(summaries: list[CellSummary]) -> list[ErrorRate]:
    """Return the error rates by variant and delta. Unfinished runs claim nothing, and are not wrong."""
    counts: dict[tuple[str, float], list[int]] = {}
    variants: dict[str, Variant] = {}
    for summary in summaries:
        cell = summary.cell
        variants[cell.variant.label] = cell.variant
        count = counts.setdefault((cell.variant.label, cell.delta), [0, 0])
        count[0] += summary.wrong
        count[1] += summary.judged
    return [
        ErrorRate(variants[label], delta, wrong, runs)
        for (label, delta), (wrong, runs) in counts.items()
        if runs
    ]
