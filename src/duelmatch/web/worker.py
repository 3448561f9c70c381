"""A worker process for work that may need much time or memory, killed when it exceeds its limits.

Compiled code holds the interpreter, so a thread of the server cannot be kept from freezing all others, nor
be stopped. The worker does one thing at a time, and is started anew after it had to be killed. When the
server dies, its input ends and so does it, also while it compiles; should compiled code be busy just then, an
alarm of the kernel's ends it.
"""

from __future__ import annotations

import atexit
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, TypeVar

from starlette.exceptions import HTTPException

from duelmatch.errors import TooLargeError, UnreachableError
from duelmatch.explorers.catalogue import BUILT_IN, PANEL, registered_algorithms

Returned = TypeVar("Returned")

MEMORY = 1_500_000_000
"""Bytes that the worker may have, with all that it has imported."""

STARTING = 120.0
"""Seconds until a worker that was just started has to be there; the first has to compile."""

LONGEST_BEGINNING = 10.0
"""Seconds that it may take to read a problem, or to find the first questions of a study."""

LONGEST_RECOUNT = 20.0
"""Seconds to count anew what an organiser changes, or a study needs that is read: more than to begin one."""

SIMULATING = 2.0
"""Seconds of a processor for a forecast."""

LONGEST_ESTIMATE = 60.0
"""Seconds by the clock: a forecast stops by itself, and standings of the largest problems take a while."""

MOST_WAITING = 10
"""How many may wait for the worker at a time, of the 40 threads that all requests share."""

MOST_OF_ONE = 3
"""How many tasks of one study, or of one address, may run or wait at a time."""

PATIENCE = 10.0
"""Seconds for which those wait for the worker who cannot do without it."""


BUSY = "The server is busy with another estimate or study. Wait a moment, then try again."
BUSY_WITH_YOURS = "The server is busy with what you sent before. Wait a moment, then try again."
STARTS = "The server was started just now, and is not ready yet. Wait a moment, then try again."


class BusyError(HTTPException):
    """The worker has something else to do."""

    def __init__(self, detail: str = BUSY) -> None:
        super().__init__(429, detail, {"Retry-After": "5"})


class ExhaustedError(TooLargeError):
    """It exceeded its time or memory, and was stopped."""


class Worker:
    """Calls functions in a process of its own. Safe to use from several threads."""

    def __init__(
        self,
        memory: int = MEMORY,
        niceness: int = 0,
        most_waiting: int = MOST_WAITING,
        rehearses: bool = True,
    ) -> None:
        self._memory, self._niceness, self._rehearses = memory, niceness, rehearses
        self._process: subprocess.Popen[bytes] | None = None
        self._greeted = False
        """Whether it has said that it is there."""
        self._lock = threading.Lock()
        self._places = threading.Semaphore(most_waiting)
        self._of = Counter[str]()
        """How many tasks there are of each study or address."""
        self._counting = threading.Lock()

    def start(self) -> None:
        """Start the process, if there is none, so that the first who needs it does not wait."""
        with self._lock:
            self._started()

    def begin(self) -> None:
        """Start the process, if there is none, and do not wait until it is there."""
        with self._lock:
            if self._process is None:
                self._begin()

    def run(
        self,
        function: Callable[..., Returned],
        *arguments: Any,
        seconds: float,
        patience: float = 0.0,
        of: str | None = None,
    ) -> Returned:
        """Return what a function of a module returns, or raise the DuelmatchError that it raises.

        ``patience``: how many seconds to wait for others whom the worker serves. ``of``: the study, or the
        address, that this is for.

        :raises BusyError: if they take longer, or too many others wait, or too much is for the same.
        :raises ExhaustedError: if it takes more seconds than that, or more memory than the worker may have.
        """
        if registered_algorithms() or sys.platform == "win32":  # added to this process, and known to no other
            return function(*arguments)
        with self._counted(of):
            self._wait(patience)
            try:
                done, outcome = self._call(pickle.dumps((function, arguments, seconds)), seconds)
            finally:
                self._lock.release()
        if not done:
            raise outcome
        result: Returned = outcome
        return result

    @contextmanager
    def _counted(self, of: str | None) -> Iterator[None]:
        """Count a task among those that are for the same study or address, unless these are too many."""
        if of is None:
            yield
            return
        with self._counting:
            if self._of[of] >= MOST_OF_ONE:
                raise BusyError(BUSY_WITH_YOURS)
            self._of[of] += 1
        try:
            yield
        finally:
            with self._counting:
                self._of -= Counter([of])

    def _wait(self, patience: float) -> None:
        """Wait for others whom the worker serves, unless too many do.

        :raises BusyError: if they take longer than that.
        """
        if self._lock.acquire(blocking=False):
            return
        if not self._places.acquire(blocking=False):
            raise BusyError
        try:
            if not self._lock.acquire(timeout=patience):
                raise BusyError(BUSY if self._greeted else STARTS)
        finally:
            self._places.release()

    def _call(self, task: bytes, seconds: float) -> tuple[bool, Any]:
        process = self._started()
        try:
            assert process.stdin is not None
            process.stdin.write(task)
            process.stdin.flush()
            answer = _read(process, monotonic() + seconds)
        except (OSError, EOFError):
            answer = None
        if self._process is not process:
            raise UnreachableError("The server is being stopped.")
        if answer is None:
            self.close()
            self._begin()  # so that the next one need not wait for it
            return False, ExhaustedError(
                f"This takes more than {seconds:g} seconds, or more memory than there is for it. Choose a "
                "smaller problem, or another way to count."
            )
        found: tuple[bool, Any] = pickle.loads(answer)
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        """Return the process; it is started, and has said that it is there, if there is none."""
        if self._process is None or self._process.poll() is not None:
            self._begin()
        assert self._process is not None
        if not self._greeted:
            try:
                self._greeted = _read(self._process, monotonic() + STARTING) is not None
            except (OSError, EOFError):  # it has died, or was closed
                self.close()
        if not self._greeted or self._process is None:
            raise UnreachableError("A worker process could not be started.")
        return self._process

    def _begin(self) -> None:
        code = f"from duelmatch.web.worker import work; work{self._memory, self._niceness, self._rehearses}"
        arguments, pipe = [sys.executable, "-c", code], subprocess.PIPE
        atexit.register(self.close)
        apart = os.name != "nt"  # Ctrl-C in a terminal is for the server, also while the worker still imports
        self._process = subprocess.Popen(arguments, stdin=pipe, stdout=pipe, start_new_session=apart)
        self._greeted = False

    def close(self) -> None:
        """End the process, whatever it does."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


worker = Worker()
"""For new studies and what organisers change; like the others, it is started when it is needed."""

estimator = Worker(niceness=5)
"""For estimates, of studies that somebody looks at or plans."""

round_worker = Worker(most_waiting=1_000)  # those who wait there have threads of their own
"""For the rounds of studies that are under way, which do not wait for the other one."""

picture_worker = Worker(niceness=5, rehearses=False)
"""For pictures, which nothing else waits for."""


def work_elsewhere(
    function: Callable[..., Returned],
    *arguments: Any,
    seconds: float | None = None,
    by: Worker = worker,
) -> Returned:
    """Call a function in a worker process: to count what a study needs that is read or changed.

    Unless they are given, it has LONGEST_RECOUNT ``seconds``.

    :raises ExhaustedError: if that takes too long, or too much memory.
    :raises UnreachableError: if the worker is busy for too long.
    """
    try:
        return by.run(function, *arguments, seconds=seconds or LONGEST_RECOUNT, patience=PATIENCE)
    except BusyError:
        raise UnreachableError("Other studies are being computed.") from None


def _read(process: subprocess.Popen[bytes], end: float) -> bytes | None:
    """Return a message of the worker: its length in 8 bytes, and the rest; None if it is not there in time.

    :raises EOFError: if the worker has died.
    """
    assert process.stdout is not None
    descriptor, message = process.stdout.fileno(), b""
    while len(message) < 8 or len(message) < 8 + int.from_bytes(message[:8]):
        if not select.select([descriptor], [], [], max(0.0, end - monotonic()))[0]:
            return None
        if not (piece := os.read(descriptor, 1 << 16)):
            raise EOFError
        message += piece
    return message[8:]


# In the worker process.


def work(memory: int, niceness: int = 0, rehearses: bool = True) -> None:
    """Call one function after the other, until the input ends; others go first if it is nice.

    Unless it ``rehearses`` it is for what needs nothing compiled.
    """
    import resource

    os.nice(niceness)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tasks, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no answer
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    if rehearses:  # a task that compiles may never end
        from duelmatch.web.creating import rehearse_forecasts

        rehearse_forecasts(algorithm.name for algorithm in (*BUILT_IN, PANEL))
    with suppress(EOFError, BrokenPipeError):  # the server is gone, before a task or in the middle of one
        _write(answers, b"")
        while True:
            function, arguments, seconds = pickle.load(tasks)
            signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 1)  # in case there is no server any more
            _write(answers, pickle.dumps(_outcome(function, arguments)))
            signal.setitimer(signal.ITIMER_REAL, 0)


def _end_with_the_server() -> None:
    input_ends = select.poll()
    input_ends.register(0, select.POLLHUP)
    input_ends.poll()
    os._exit(0)


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    try:
        return True, function(*arguments)
    except MemoryError:
        os._exit(1)
    except Exception as error:
        return False, error


def _write(answers: Any, message: bytes) -> None:
    answers.write(len(message).to_bytes(8) + message)
    answers.flush()
