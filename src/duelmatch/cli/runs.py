"""Many simulated runs, on one processor or several; what they give does not depend on how many."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing.context import BaseContext
from time import perf_counter

import numpy as np

import duelmatch as dm
from duelmatch.cli.options import RunSettings
from duelmatch.errors import DuelmatchError
from duelmatch.experiments.simulation import simulated_run


@dataclass(frozen=True, slots=True)
class Task:
    """What all runs have in common."""

    preferences: dm.Preferences
    settings: RunSettings
    max_duels: int | None


@dataclass(frozen=True, slots=True)
class Run:
    """One finished run: its number, the seed it can be repeated with, what came out and what was open."""

    number: int
    seed: int
    result: dm.Result
    seconds: float
    p_value: float | None = None
    possible: int | None = None


def seed_of(seed: int, number: int) -> int:
    """Return the seed of a run: up to 2^53, so that JSON readers that know only floats can keep it."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0] >> np.uint64(11))


def finished_runs(task: Task, runs: int, jobs: int) -> Generator[Run, None, None]:
    """Yield the runs as they finish. If they are interrupted or the iterator is closed, all work stops."""
    jobs = min(jobs, runs)
    if jobs == 1:
        yield from (_run(task, number) for number in range(runs))
        return
    others = multiprocessing.active_children()
    pool = ProcessPoolExecutor(jobs, _context(), _keep, (task,))
    try:
        numbers = iter(range(1, runs))
        with _interrupts_put_off():  # this starts the workers
            pending: set[Future[Run]] = {pool.submit(_run_kept, 0)}
        while True:
            pending |= {pool.submit(_run_kept, n) for n in islice(numbers, 4 * jobs - len(pending))}
            if not pending:
                return
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool:
        raise DuelmatchError(
            "A worker process was killed, perhaps for want of memory; try again with fewer --jobs."
        ) from None
    except BaseException:
        for worker in multiprocessing.active_children():
            if worker not in others:
                worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _run(task: Task, number: int) -> Run:
    settings = task.settings
    seed = seed_of(settings.seed, number)
    start = perf_counter()
    run = simulated_run(
        task.preferences, settings.algorithm, settings.delta, seed, task.max_duels, **settings.parameters
    )
    result = run.result
    seconds = perf_counter() - start
    progress = run.progress
    return Run(number, seed, result, seconds, progress.p_value, progress.possible)


_kept: list[Task] = []
"""In a worker process: the task, sent once."""


def _keep(task: Task) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _kept[:] = [task]


def _run_kept(number: int) -> Run:
    return _run(_kept[0], number)


def _context() -> BaseContext:
    """Return how to start workers: not by forking this process, which may have threads by now.

    Ctrl-C reaches every process of a terminal. The workers leave it to us, from their first moment on, since
    they are children of a server that was started with it ignored.
    """
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["duelmatch.explorers"])
    with _interrupts_put_off(signal.SIG_IGN):
        forkserver.ensure_running()
    return context


@contextmanager
def _interrupts_put_off(handler: signal.Handlers | None = None) -> Iterator[None]:
    """Let Ctrl-C take effect at the end of this, or never, if the handler ignores it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, handler or (lambda number, _: heard.append(number)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt
