"""Simulated runs, with answers drawn from known preferences: one run, and many, cut into tasks.

The seed of a run derives from its cell and its number, so that what it gives does not depend on how many
there are, nor on who does it. The cells of a grid are visited in turn, each time for about as long as a task
should take, so that every cell has results early. The length of a run is learned as results come in: the
first task of a cell is a single run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from duelmatch.errors import DuelmatchError, ProblemError
from duelmatch.experiments.correctness import correctness_of
from duelmatch.experiments.experiment import Cell, Instance, Variant
from duelmatch.explorers.catalogue import check, drawn_seed, is_whole
from duelmatch.explorers.explorer import Explorer, explorer
from duelmatch.explorers.result import Result
from duelmatch.panel import Panel
from duelmatch.preferences import Preferences
from duelmatch.version import __version__

ANSWERS = 2
"""Keeps the answers' random numbers apart from those of an instance generated from the same seed."""

FAILED = "failed"
"""The status of a run that ended with an error instead of a result."""

SECONDS = 0.5
"""A task takes about this long, or as long as one run. Shorter ones cost more to hand out and to save."""

MOST_RUNS = 2_000
"""In a task, however short they are."""


def simulate(
    preferences: Preferences | Panel,
    algorithm: str,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    **parameters: Any,
) -> Result:
    """Run an algorithm with answers drawn from known preferences, whole rounds at a time.

    Without a ``seed`` one is drawn; the result shows it, and the same seed gives the same run. A
    :class:`duelmatch.Panel` answers for itself, by the algorithm ``"panel"``; the seed says who comes when.
    """
    if isinstance(preferences, Panel) or algorithm == "panel":
        if algorithm != "panel" or not isinstance(preferences, Panel):
            raise ProblemError("A Panel is simulated by the algorithm 'panel', and nothing else is.")
        from duelmatch.explorers.panel.simulation import simulate_panel

        order = drawn_seed() if seed is None else seed
        return simulate_panel(preferences, seed=order, max_duels=max_duels, **parameters)
    return simulated_run(preferences, algorithm, delta, seed, max_duels, **parameters).result


def simulated_run(
    preferences: Preferences,
    algorithm: str,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    observe: Callable[[Explorer], None] | None = None,
    **parameters: Any,
) -> Explorer:
    """Do what :func:`simulate` does and return the run itself, which also knows its progress.

    ``observe`` is shown the run before the first round and after each.
    """
    if not isinstance(preferences, Preferences):
        raise ProblemError(f"A simulation needs Preferences to draw answers from, not {preferences!r:.80}.")
    seed = drawn_seed() if seed is None else seed
    run = explorer(algorithm, preferences.problem, delta, seed, max_duels, **parameters)
    answers = np.random.default_rng([seed, ANSWERS])
    while not run.done:
        if observe:
            observe(run)
        answer_round(run, preferences, answers)
    if observe:
        observe(run)
    return run


def answer_round(run: Explorer, preferences: Preferences, answers: np.random.Generator) -> None:
    """Answer what a run wants now, or as much of it as its budget allows, from known preferences."""
    wanted = run.wanted()
    budget = None if run.max_duels is None else run.max_duels - run.duels - len(run.open_duels)
    if budget is None or wanted.total <= budget:
        run.tell_wins(answers.binomial(wanted.count, preferences.matrix[wanted.first, wanted.second]))
        return
    for duel in run.ask(budget):
        first_wins = answers.random() < preferences.probability(duel.position, duel.first, duel.second)
        run.tell(duel, duel.first if first_wins else duel.second)


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run of a cell: its number, the seed that repeats it, what came out, and whether it is right.

    ``right`` is None where the result says nothing, or the winner is not known. ``promised`` is False where
    the guarantee assumes what is not so. ``p_value`` and ``possible`` are those of the progress at the end. A
    run that ended with an error has a ``failure`` and no result.
    """

    number: int
    seed: int
    seconds: float
    result: Result | None
    right: bool | None = None
    promised: bool = True
    p_value: float | None = None
    possible: int | None = None
    failure: Exception | None = None

    @property
    def status(self) -> str:
        """The status of the result, or ``failed``."""
        return FAILED if self.result is None else self.result.status

    @property
    def duels(self) -> int:
        """How many duels it took."""
        return 0 if self.result is None else self.result.duels

    @property
    def wrong(self) -> bool:
        """Whether it claims what is not so; a guess claims nothing."""
        return self.right is False and self.status != "budget_spent"


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


def run_once(cell: Cell, number: int) -> Run:
    """Do one run of a cell; its result is the one that :func:`duelmatch.simulate` has for its seed."""
    seed, variant, preferences = cell.seed(number), cell.variant, cell.instance.preferences
    start = perf_counter()
    try:
        run = simulated_run(
            preferences, variant.algorithm, cell.delta, seed, cell.max_duels, **variant.parameters
        )
        result, progress = run.result, run.progress
        seconds = perf_counter() - start
        known = correctness_of(cell)
        right, promised = known.right(result), known.promised(result)
    except Exception as error:  # an algorithm of another package may raise anything
        ours = isinstance(error, DuelmatchError)
        failure = error if ours else DuelmatchError(f"{type(error).__name__}: {error}")
        return Run(number, seed, perf_counter() - start, None, failure=failure)
    return Run(number, seed, seconds, result, right, promised, progress.p_value, progress.possible)


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


def single_cell(
    preferences: Preferences,
    algorithm: str,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    **parameters: Any,
) -> Cell:
    """Return the cell of an experiment that has no other. Without a ``seed`` one is drawn.

    :raises ProblemError: for an unknown algorithm or parameter, or a value out of range.
    """
    seed = drawn_seed() if seed is None else seed
    variant = Variant(algorithm, check(algorithm, delta, seed, parameters))
    return Cell.of(seed, Instance("", "", {}, preferences), variant, float(delta), max_duels)


def simulations(cell: Cell, runs: int, jobs: int = 1) -> Generator[Run, None, None]:
    """Yield so many runs of a cell as they finish, done by ``jobs`` processes.

    :raises DuelmatchError: what a run raises.
    """
    if not is_whole(runs) or runs < 1:
        raise ProblemError(f"The number of runs must be a whole number from 1, not {runs!r:.80}.")
    jobs = min(jobs, runs)
    batches = Batches([cell], {cell.key: range(runs)}, jobs)
    with closing(_done(batches, jobs, cell.variant.algorithm)) as finished:
        for batch in finished:
            batches.learn(batch)
            for run in batch.runs:
                if run.failure is not None:
                    raise run.failure
                yield run


def _done(tasks: Iterable[Task], jobs: int, algorithm: str) -> Generator[Batch, None, None]:
    if jobs == 1:
        return (run_batch(task) for task in tasks)
    from duelmatch.experiments.workers import Processes

    return Processes(jobs).map(run_batch, tasks, [algorithm])
