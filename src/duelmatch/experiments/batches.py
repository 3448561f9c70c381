"""What is left to do, cut into tasks of about the same time.

The cells are visited in turn, each time for about as long as a task should take, so that every cell has
results early. The length of a run is learned as results come in: the first task of a cell is a single run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from duelmatch.experiments.experiment import Cell
from duelmatch.experiments.running import Batch, Task

SECONDS = 0.5
"""A task takes about this long, or as long as one run. Shorter ones cost more to hand out and to keep."""

MOST_RUNS = 2_000
"""In a task, however short they are."""

Done = Mapping[str, NDArray[np.bool_]]
"""For each cell's key, which repetitions are done."""


class Batches:
    """An iterator over tasks; schedulers may draw from it in any thread."""

    def __init__(self, cells: Sequence[Cell], done: Done, workers: int) -> None:
        self._missing = {cell.key: np.flatnonzero(~done[cell.key]) for cell in cells}
        self._next = dict.fromkeys(self._missing, 0)
        self._seconds: dict[str, float] = {}
        self._workers = max(workers, 1)
        self._target = max(SECONDS, 0.02 * self._workers)  # so that at most 50 batches a second come back
        self._lock = Lock()
        self._tasks = self._rounds(cells)

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        with self._lock:
            return next(self._tasks)

    def learn(self, batch: Batch) -> None:
        """Take note of how long the runs of a cell take: by the last batch, the first one being slow."""
        self._seconds[batch.key] = batch.seconds / max(len(batch.runs), 1)

    def seconds_left(self, runs_left: Mapping[str, int]) -> float | None:
        """Return about how long the rest takes; None as long as some cell has not been seen."""
        if any(left and key not in self._seconds for key, left in runs_left.items()):
            return None
        return sum(left * self._seconds[key] for key, left in runs_left.items() if left) / self._workers

    def _rounds(self, cells: Sequence[Cell]) -> Iterator[Task]:
        waiting = [cell for cell in cells if len(self._missing[cell.key])]
        while waiting:
            for cell in waiting:
                start = self._next[cell.key]
                end = self._next[cell.key] = start + self._size(cell.key)
                yield Task(cell, tuple(self._missing[cell.key][start:end].tolist()))
            waiting = [cell for cell in waiting if self._next[cell.key] < len(self._missing[cell.key])]

    def _size(self, key: str) -> int:
        seconds = self._seconds.get(key)
        if seconds is None:
            return 1
        return int(np.clip(self._target / max(seconds, 1e-9), 1, MOST_RUNS))
