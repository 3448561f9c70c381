"""The workers: this process, worker processes on this machine, or a running Dask cluster.

Each maps a function over an iterator of tasks: it takes tasks when it has room for them, and yields results
as they finish. Closing the generator stops all work. Algorithms and generators that were registered by a call
are sent to the workers, too, if they can be pickled; those that the tasks need must be.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing.context import BaseContext
from typing import TYPE_CHECKING, Any, TypeVar

from duelmatch.errors import DuelmatchError, MissingExtraError
from duelmatch.explorers.catalogue import (
    Algorithm,
    register_algorithm,
    registered_algorithms,
    whole,
)
from duelmatch.instances.generators import Generator as InstanceGenerator
from duelmatch.instances.generators import register_generator, registered_generators
from duelmatch.version import __version__

if TYPE_CHECKING:
    from distributed import Client

AHEAD = 2
"""Tasks handed out for each worker: one to do, and one so that it need not wait."""

TIMEOUT = 15
"""Seconds to wait for a Dask scheduler to answer."""

T = TypeVar("T")
R = TypeVar("R")
Registered = tuple[tuple[Algorithm, ...], dict[str, InstanceGenerator]]


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Processes:
    """Worker processes on this machine; with a single job, the process we are in."""

    def __init__(self, jobs: int) -> None:
        self.number = whole("The number of jobs", jobs, 1)

    def map(
        self, function: Callable[[T], R], tasks: Iterable[T], algorithms: Iterable[str] = ()
    ) -> Generator[R, None, None]:
        """Do the tasks.

        :raises DuelmatchError: if a worker is killed, or does not get one of the algorithms.
        """
        if self.number == 1:
            yield from map(function, tasks)
            return
        job = pickle.dumps((function, _registered(pickle.dumps, algorithms)))
        waiting = iter(tasks)
        pool = ProcessPoolExecutor(self.number, _context(), _begin, (job,))
        pending: set[Future[R]] = set()
        try:
            while True:
                with _starting(needs_main=b"__main__" in job):
                    room = AHEAD * self.number - len(pending)
                    pending |= {pool.submit(_work, task) for task in islice(waiting, room)}
                if not pending:
                    return
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        except BrokenProcessPool:
            raise DuelmatchError(
                "A worker process was killed or could not start. If memory ran out, use fewer jobs; "
                'a script that starts workers needs `if __name__ == "__main__":`.'
            ) from None
        except BaseException:
            for worker in list((pool._processes or {}).values()):
                worker.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _registered(dumps: Callable[[Any], bytes], needed: Iterable[str]) -> Registered:
    """Return what was registered by a call and can be sent to workers; refuse if that is too little."""
    algorithms = tuple(one for one in registered_algorithms() if not _objection(one, dumps))
    generators = {name: one for name, one in registered_generators().items() if not _objection(one, dumps)}
    for algorithm in registered_algorithms():
        if algorithm.name in set(needed) and algorithm not in algorithms:
            raise _not_sent(f"'{algorithm.name}'", _objection(algorithm, dumps))
    return algorithms, generators


def _objection(registered: object, dumps: Callable[[Any], bytes]) -> str:
    """Return why something cannot be sent to workers; nothing if it can."""
    try:
        dumps(registered)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        return str(error)
    return ""


def _not_sent(what: str, why: object) -> DuelmatchError:
    return DuelmatchError(
        f"{what}, which was registered by a call, cannot be sent to worker processes ({why}). "
        "Use jobs=1, or make it known by an entry point."
    )


def _register(registered: Registered) -> None:
    algorithms, generators = registered
    for algorithm in algorithms:
        register_algorithm(algorithm)
    for name, make in generators.items():
        register_generator(name, make)


_job: list[Callable[..., Any] | DuelmatchError] = []
"""In a worker process: the function that it applies to tasks, sent once, or why there is none."""


def _begin(job: bytes) -> None:
    """Prepare a worker: Ctrl-C is left to the process that started it, whose end is its own end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        function, registered = pickle.loads(job)
        _register(registered)
        _job[:] = [function]
    except Exception as error:  # whatever another package does when it is imported
        _job[:] = [_not_sent("An algorithm", error)]


def _end_with_parent() -> None:
    """Wait for the end of the process that started us; one that is killed with -9 cannot tell anybody."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work(task: Any) -> Any:
    if isinstance(_job[0], DuelmatchError):
        raise _job[0]
    return _job[0](task)


def _context() -> BaseContext:
    """Return how to start workers: not by forking this process, which may have threads by now.

    Ctrl-C reaches every process of a terminal. The workers ignore it from their first moment on, since they
    are children of a server that was started with it ignored.
    """
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["duelmatch.experiments.tasks"])
    with _interrupts_put_off(signal.SIG_IGN):
        forkserver.ensure_running()
    return context


@contextmanager
def _starting(needs_main: bool) -> Iterator[None]:
    """Put Ctrl-C off while workers are started, and start them without the main program if they can.

    A worker imports the main program, which a script without ``if __name__ == "__main__"`` does not survive.
    Only functions and algorithms that are defined there need it.
    """
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {}
    if not needs_main:
        hidden = {name: vars(main)[name] for name in ("__spec__", "__file__") if name in vars(main)}
    with _interrupts_put_off():
        try:
            vars(main).update(dict.fromkeys(hidden))
            yield
        finally:
            vars(main).update(hidden)


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


class Cluster:
    """A Dask cluster that is running already; the tasks of a worker that it loses are done by others."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise MissingExtraError("A scheduler needs Dask: pip install 'duelmatch[dask]'") from None
        try:
            self._client: Client = Client(address, timeout=TIMEOUT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise DuelmatchError(f"No Dask scheduler answers at '{address}': {error}") from None
        self._check_workers(address)

    @property
    def number(self) -> int:
        """How many tasks the cluster can do at once, at present."""
        return sum(self._client.nthreads().values())

    def map(
        self, function: Callable[[T], R], tasks: Iterable[T], algorithms: Iterable[str] = ()
    ) -> Generator[R, None, None]:
        """Do the tasks.

        :raises DuelmatchError: if the connection is lost, or a task kills every worker that tries it.
        """
        from cloudpickle import dumps
        from distributed import KilledWorker, as_completed
        from distributed.client import FutureCancelledError

        results = as_completed(loop=self._client.loop, with_results=True)
        waiting, registered = iter(tasks), _registered(dumps, algorithms)

        def fill() -> None:
            """Hand out as many tasks as there is room for, counting the workers anew: they come and go."""
            room = max(AHEAD * self.number, 1) - results.count()
            for task in islice(waiting, max(room, 0)):
                results.add(self._client.submit(_work_registered, function, registered, task, pure=False))

        try:
            fill()
            for future, result in results:
                future.release()
                fill()
                yield result
                fill()  # since a result may bring new tasks
        except KilledWorker as error:
            raise DuelmatchError(
                f"A task was given up, since every worker that took it died: {error}. Saved runs are safe."
            ) from None
        except (FutureCancelledError, OSError) as error:
            raise DuelmatchError(
                f"The connection to the Dask scheduler was lost: {error}. Saved runs are safe: the same "
                "command goes on."
            ) from None
        finally:
            self._client.cancel([future for future in results.futures if not future.done()])
            self._client.close()

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


def _work_registered(function: Callable[[T], R], registered: Registered, task: T) -> R:
    _register(registered)
    return function(task)


def _version() -> str:
    return __version__
