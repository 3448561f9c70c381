"""Many runs, cut into tasks for workers to do.

The cells of a grid are visited in turn, each time for about as long as a task should take, so that every
cell has results early. The length of a run is learned as results come in, and as long as it is not known, a
cell has one run in a task. Cells that take little time share one: what a task brings is saved in one piece,
and ten thousand quick cells need not be as many files.

A guess may be wrong. So a worker stops once its time is over, and what it has not begun is handed out again.
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
"""Of a cell in a task, however short they are."""

MOST_CELLS = 200
"""In a task: they are sent to the worker."""


@dataclass(frozen=True, slots=True)
class Task:
    """Some runs of some cells, by their numbers; after so many ``seconds`` no further one is begun."""

    parts: tuple[tuple[Cell, tuple[int, ...]], ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Batch:
    """What a worker brings back: finished runs, and the numbers of those that it has not begun, by cell.

    ``seconds`` is how long the runs of each cell took, and ``version`` that of the duelmatch that did them.
    """

    runs: Mapping[str, tuple[Run, ...]]
    seconds: Mapping[str, float]
    left: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    version: str = field(default=__version__)


def run_batch(task: Task) -> Batch:
    """Do the runs of a task one after the other, until its time is over."""
    runs: dict[str, tuple[Run, ...]] = {}
    seconds: dict[str, float] = {}
    left: dict[str, tuple[int, ...]] = {}
    begin = perf_counter()
    for cell, numbers in task.parts:
        start = perf_counter()
        done: list[Run] = []
        for number in numbers:
            if (runs or done) and perf_counter() - begin >= task.seconds:
                break
            done.append(run_once(cell, number))
        if done:
            runs[cell.key], seconds[cell.key] = tuple(done), perf_counter() - start
        if len(done) < len(numbers):
            left[cell.key] = numbers[len(done) :]
    return Batch(runs, seconds, left)


class Batches:
    """An iterator over the tasks of some cells, given the numbers of the ``missing`` runs of each by key.

    It may end and go on: what a worker has left is part of a later task.
    """

    def __init__(self, cells: Sequence[Cell], missing: Mapping[str, Sequence[int]], workers: int) -> None:
        self._cells = {cell.key: cell for cell in cells}
        self._left = {key: len(numbers) for key, numbers in missing.items()}
        self._waiting = {cell.key: tuple(missing[cell.key]) for cell in cells if len(missing[cell.key])}
        self._seconds: dict[str, float] = {}
        self._workers = max(workers, 1)
        self._target = max(SECONDS, 0.02 * self._workers)  # so that at most 50 batches a second come back

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        """Fill a task from cell after cell, until it is as long as it should be."""
        parts: dict[str, tuple[int, ...]] = {}
        room = self._target
        while self._waiting and len(parts) < MOST_CELLS:
            key = next(iter(self._waiting))
            each = self._expected(key)
            if key in parts or (parts and each > room):
                break
            numbers = self._waiting.pop(key)
            size = int(min(max(room / each, 1), MOST_RUNS)) if key in self._seconds else 1
            parts[key] = numbers[:size]
            if numbers[size:]:
                self._waiting[key] = numbers[size:]  # as the last of all
            room -= each * len(parts[key])
        if not parts:
            raise StopIteration
        return Task(tuple((self._cells[key], numbers) for key, numbers in parts.items()), self._target)

    def _expected(self, key: str) -> float:
        """Return how long a run probably takes: as the last of its cell did, or as those of others do."""
        known = self._seconds.get(key)
        if known is None:
            known = sum(self._seconds.values()) / len(self._seconds) if self._seconds else self._target
        return max(known, 1e-9)

    def learn(self, batch: Batch) -> None:
        """Note what is done, and how long it took: by the last batch, the first one being slow."""
        for key, runs in batch.runs.items():
            self._left[key] -= len(runs)
            self._seconds[key] = batch.seconds[key] / len(runs)
        for key, numbers in batch.left.items():
            self._waiting[key] = numbers + self._waiting.pop(key, ())

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
