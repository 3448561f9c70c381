"""Many runs, cut into tasks for workers to do.

The cells of a grid are visited in turn, each time for about as long as a task should take, so that every
cell has results early. The length of a run is learned as results come in: the first task of a cell is a
single run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from duelmatch.experiments.cell import Cell
from duelmatch.experiments.simulation import Run, run_once
from duelmatch.version import __version__

SECONDS = 0.5
"""A task takes about this long, or as long as one run. Shorter ones cost more to hand out and to save."""

MOST_RUNS = 2_000
"""In a task, however short they are."""


@dataclass(frozen=True, slots=True)
class Task:
    """Some runs of one cell, by their numbers."""

    cell: Cell
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """The finished runs of a task: all the seconds it took, and the version of duelmatch that did it."""

    key: str
    runs: tuple[Run, ...]
    seconds: float
    version: str = field(default=__version__)


def run_batch(task: Task) -> Batch:
    """Do the runs of a task, one after the other."""
    start = perf_counter()
    runs = tuple(run_once(task.cell, number) for number in task.numbers)
    return Batch(task.cell.key, runs, perf_counter() - start)


class Batches:
    """An iterator over the tasks of some cells, given the numbers of the ``missing`` runs of each by key."""

    def __init__(self, cells: Sequence[Cell], missing: Mapping[str, Sequence[int]], workers: int) -> None:
        self._left = {key: len(numbers) for key, numbers in missing.items()}
        self._seconds: dict[str, float] = {}
        self._workers = max(workers, 1)
        self._target = max(SECONDS, 0.02 * self._workers)  # so that at most 50 batches a second come back
        self._tasks = self._rounds(cells, missing)

    def __iter__(self) -> Iterator[Task]:
        return self._tasks

    def learn(self, batch: Batch) -> None:
        """Note what is done, and how long it took: by the last batch, the first one being slow."""
        self._left[batch.key] -= len(batch.runs)
        self._seconds[batch.key] = batch.seconds / max(len(batch.runs), 1)

    @property
    def runs_left(self) -> int:
        """How many runs have not come back."""
        return sum(self._left.values())

    @property
    def seconds_left(self) -> float | None:
        """About how long the rest takes; None as long as some cell has not been seen."""
        if any(left and key not in self._seconds for key, left in self._left.items()):
            return None
        return sum(left * self._seconds[key] for key, left in self._left.items() if left) / self._workers

    def _rounds(self, cells: Sequence[Cell], missing: Mapping[str, Sequence[int]]) -> Iterator[Task]:
        start = dict.fromkeys(missing, 0)
        waiting = [cell for cell in cells if len(missing[cell.key])]
        while waiting:
            for cell in waiting:
                end = start[cell.key] + self._size(cell.key)
                yield Task(cell, tuple(missing[cell.key][start[cell.key] : end]))
                start[cell.key] = end
            waiting = [cell for cell in waiting if start[cell.key] < len(missing[cell.key])]

    def _size(self, key: str) -> int:
        seconds = self._seconds.get(key)
        if seconds is None:
            return 1
        return int(min(max(self._target / max(seconds, 1e-9), 1), MOST_RUNS))
