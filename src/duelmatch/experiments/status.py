"""How far an experiment is, and its results as one table."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duelmatch.errors import FileError
from duelmatch.experiments.experiment import Cell
from duelmatch.experiments.folder import Folder
from duelmatch.experiments.parts import SCHEMA

if TYPE_CHECKING:
    import pyarrow as pa

ATTEMPTS = 3
"""To read results that somebody is writing."""

AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Status:
    """How far an experiment is: all runs, those done, and for each cell how many are done.

    ``failed`` counts the runs that ended with an error, and ``failures`` quotes one of each kind. ``unused``
    are results that belong to no cell: of an experiment that was changed since.
    """

    title: str
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


def status(out: AnyPath) -> Status:
    """Return how far the experiment in a folder is; it may be running."""
    for _ in range(ATTEMPTS - 1):
        with suppress(FileError):  # parts were merged, and so removed, while they were read
            return _status(Folder(out))
    return _status(Folder(out))


def _status(folder: Folder) -> Status:
    experiment = folder.experiment()
    done = folder.done(experiment)
    kept = failed = 0
    failures: dict[str, None] = {}
    for piece in folder.parts.batches(["failure"]):
        kept += piece.num_rows
        if piece["failure"].null_count < piece.num_rows:
            found = [failure for failure in piece["failure"].to_pylist() if failure]
            failed += len(found)
            failures.update(dict.fromkeys(found[: 100 - len(failures)]))
    counts = tuple((cell, int(done[cell.key].sum())) for cell in experiment.cells)
    total = sum(count for _, count in counts)
    return Status(
        experiment.title,
        experiment.runs,
        total,
        failed,
        kept - total,
        counts,
        experiment.repetitions,
        tuple(failures),
        tuple(folder.about["sessions"]),
    )


def results(out: AnyPath) -> pa.Table:
    """Return the results in a folder as a table, in the order of the grid: cell by cell, by repetition.

    Reading it takes memory for all of it; the Parquet files in ``runs`` can be read piece by piece instead.
    """
    import numpy as np
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
