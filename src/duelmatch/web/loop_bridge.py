"""From threads to the event loop: results of writer threads, delivered in batches to those who await them.

``asyncio.wrap_future`` would wake the loop once for every future. A commit finishes dozens of them at once,
and each wake-up takes the interpreter away from the thread that is at work.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from typing import Any, TypeVar

Returned = TypeVar("Returned")


class LoopBridge:
    """Makes the futures of other threads awaitable in the event loop in which it is created."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._finished: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._lock = threading.Lock()

    def awaitable(self, work: Future[Returned]) -> asyncio.Future[Returned]:
        """Return a future of the event loop that gets the result, or the exception, of another."""
        waiting: asyncio.Future[Returned] = self.loop.create_future()
        work.add_done_callback(lambda done: self._finish(waiting, done))
        return waiting

    def _finish(self, waiting: asyncio.Future[Any], done: Future[Any]) -> None:
        with self._lock:
            self._finished.append((waiting, done))
            first = len(self._finished) == 1
        if first:
            self.loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        with self._lock:
            finished, self._finished = self._finished, deque()
        for waiting, done in finished:
            if waiting.cancelled():
                continue
            if (error := done.exception()) is not None:
                waiting.set_exception(error)
            else:
                waiting.set_result(done.result())
