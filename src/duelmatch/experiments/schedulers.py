"""Who does the tasks: this process, worker processes on this machine, or an existing Dask cluster.

Each takes tasks from an iterator when it has room for them, and yields batches as they get done.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Generator, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from duelmatch import __version__
from duelmatch.errors import DuelmatchError, MissingExtraError
from duelmatch.experiments.running import Batch, Task, run_batch

if TYPE_CHECKING:
    from distributed import Client

AHEAD = 2
"""Tasks handed out for each worker: one to do, and one so that it need not wait."""

TIMEOUT = 15
"""Seconds to wait for a scheduler to answer."""


class Scheduler(Protocol):
    """Does tasks."""

    @property
    def workers(self) -> int:
        """How many tasks can be done at once."""

    def batches(self, tasks: Iterator[Task]) -> Generator[Batch, None, None]:
        """Yield what comes of the tasks, as they are done. Closing the generator ends the work."""


class Here:
    """The process we are in: one task after the other."""

    workers = 1

    def batches(self, tasks: Iterator[Task]) -> Generator[Batch, None, None]:
        """Do the tasks."""
        yield from map(run_batch, tasks)


class Processes:
    """Worker processes on this machine, by joblib."""

    def __init__(self, jobs: int) -> None:
        self.workers = jobs

    def batches(self, tasks: Iterator[Task]) -> Generator[Batch, None, None]:
        """Do the tasks."""
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        parallel = Parallel(
            self.workers,
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch=AHEAD * self.workers,
            max_nbytes=None,
        )
        boss = os.getpid()
        try:
            yield from parallel(delayed(_run_as_worker)(task, boss) for task in tasks)
        except TerminatedWorkerError:
            raise DuelmatchError(
                "A worker process was killed, perhaps for want of memory. Finished runs are kept: the same "
                "command goes on, if need be with fewer --jobs."
            ) from None


def _run_as_worker(task: Task, boss: int) -> Batch:
    """Do a task; leave Ctrl-C to the boss."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with(boss)
    return run_batch(task)


@cache
def _end_with(boss: int) -> None:
    """Watch from a thread whether the boss is still there: who was killed with -9 cannot say goodbye."""

    def watch() -> None:
        while os.getppid() == boss:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Cluster:
    """A Dask cluster that is running already. It sees to it that a lost worker's tasks are done by others."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise MissingExtraError("--scheduler needs Dask: pip install 'duelmatch[dask]'") from None
        try:
            self._client: Client = Client(address, timeout=TIMEOUT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise DuelmatchError(f"No Dask scheduler answers at '{address}': {error}") from None
        self._check_workers(address)

    @property
    def workers(self) -> int:
        """How many tasks the cluster can do at once, at present."""
        return sum(self._client.nthreads().values())

    def batches(self, tasks: Iterator[Task]) -> Generator[Batch, None, None]:
        """Do the tasks."""
        from distributed import KilledWorker, as_completed
        from distributed.client import FutureCancelledError

        waiting = as_completed(loop=self._client.loop, with_results=True)
        try:
            self._fill(waiting, tasks)
            for future, batch in waiting:
                future.release()
                self._fill(waiting, tasks)
                yield batch
        except KilledWorker as error:
            raise DuelmatchError(
                f"A task was given up, since every worker that took it died: {error}. Finished runs are kept."
            ) from None
        except (FutureCancelledError, OSError) as error:
            raise DuelmatchError(
                f"The connection to the Dask scheduler was lost: {error}. Finished runs are kept: the same "
                "command goes on."
            ) from None
        finally:
            self._client.cancel([future for future in waiting.futures if not future.done()])
            self._client.close()

    def _fill(self, waiting: Any, tasks: Iterator[Task]) -> None:
        """Hand out as many tasks as there is room for, counting the workers anew: they come and go."""
        room = max(AHEAD * self.workers, 1) - waiting.count()
        for task in islice(tasks, max(room, 0)):
            waiting.add(self._client.submit(run_batch, task, pure=False))

    def _check_workers(self, address: str) -> None:
        try:
            self._client.wait_for_workers(1, timeout=TIMEOUT)
            versions = set(self._client.run(_version).values())
        except TimeoutError:
            self._client.close()
            raise DuelmatchError(f"The Dask scheduler at '{address}' has no workers; start some.") from None
        except ImportError:
            self._client.close()
            raise DuelmatchError("duelmatch is not installed where the Dask workers run.") from None
        if versions != {__version__}:
            self._client.close()
            raise DuelmatchError(
                f"The Dask workers have duelmatch {', '.join(sorted(versions))}, and this is {__version__}."
            )


def _version() -> str:
    return __version__
