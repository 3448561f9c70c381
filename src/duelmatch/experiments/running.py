"""One run, and a batch of them: what a worker process does, wherever it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from duelmatch import __version__
from duelmatch.errors import DuelmatchError
from duelmatch.experiments.experiment import Cell
from duelmatch.experiments.simulation import simulated_run
from duelmatch.explorers.explorer import Explorer
from duelmatch.explorers.result import Result
from duelmatch.truth import Truth

FAILED = "failed"
"""The status of a run that ended with an error instead of a result."""

KEPT_TRUTHS = 64


@dataclass(frozen=True, slots=True)
class Task:
    """Some runs of one cell."""

    cell: Cell
    repetitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one run.

    ``right`` is None where nothing was promised, or the truth is not known. ``allowed`` is how often this
    very answer may be wrong, which for some answers is not the cell's delta.
    """

    repetition: int
    seed: int
    status: str
    right: bool | None
    allowed: float
    duels: int
    seconds: float
    matching: tuple[str, ...] | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """The finished runs of a task. ``seconds`` is all the time it took, ``version`` whose work it is."""

    key: str
    runs: tuple[Run, ...]
    seconds: float
    version: str = field(default=__version__)


def run_batch(task: Task) -> Batch:
    """Do the runs of a task, one after the other."""
    start = perf_counter()
    runs = tuple(_run(task.cell, repetition) for repetition in task.repetitions)
    return Batch(task.cell.key, runs, perf_counter() - start)


def simulate_run(
    cell: Cell, repetition: int, observe: Callable[[Explorer], None] | None = None
) -> tuple[Result, float]:
    """Return the result of a run and the seconds it took; the same result as :func:`duelmatch.simulate`'s.

    ``observe`` is shown the run before the first round and after each.
    """
    start = perf_counter()
    seed = cell.seed(repetition)
    preferences, variant = cell.instance.preferences, cell.variant
    run = simulated_run(
        preferences, variant.algorithm, cell.delta, seed, cell.max_duels, observe, **variant.parameters
    )
    return run.result, perf_counter() - start


def _run(cell: Cell, repetition: int) -> Run:
    seed = cell.seed(repetition)
    start = perf_counter()
    try:
        result, seconds = simulate_run(cell, repetition)
        truth = truth_of(cell, result.epsilon)
    except (DuelmatchError, MemoryError) as error:
        failure = f"{type(error).__name__}: {error}"
        return Run(
            repetition, seed, FAILED, None, cell.delta, 0, perf_counter() - start, failure=failure[:500]
        )
    right = truth.right(result)
    if result.status == "certified" and result.assuming and truth.winner is None:
        right = None  # what the guarantee takes for granted is not so
    matching = result.matching
    positions = cell.instance.preferences.problem.positions
    chosen = None if matching is None else tuple(matching[position] for position in positions)
    return Run(repetition, seed, result.status, right, result.delta, result.duels, seconds, chosen)


_truths: dict[tuple[str, float | None], Truth] = {}


def truth_of(cell: Cell, epsilon: float | None) -> Truth:
    """Return the truth about a cell, worked out once in a process."""
    known = cell.key, epsilon
    if known not in _truths:
        if len(_truths) >= KEPT_TRUTHS:
            _truths.clear()
        assume = bool(cell.variant.parameters.get("assume_winner", True))
        _truths[known] = Truth(cell.instance.preferences, cell.variant.criterion, epsilon, assume)
    return _truths[known]
