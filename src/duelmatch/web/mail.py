"""Brings what other threads have done to the event loop, all that is there at once.

Each of them by itself would wake the loop, and take the interpreter from the thread that is at work.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from typing import Any, TypeVar

Returned = TypeVar("Returned")


class Mail:
    """Carries what is done to the event loop that it is made in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._come: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._lock = threading.Lock()

    def bring(self, work: Future[Returned]) -> asyncio.Future[Returned]:
        """Return what can be waited for in the event loop."""
        waiting: asyncio.Future[Returned] = self._loop.create_future()
        work.add_done_callback(lambda done: self._put(waiting, done))
        return waiting

    def _put(self, waiting: asyncio.Future[Any], done: Future[Any]) -> None:
        with self._lock:
            self._come.append((waiting, done))
            first = len(self._come) == 1
        if first:
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        with self._lock:
            come, self._come = self._come, deque()
        for waiting, done in come:
            if waiting.cancelled():
                continue
            if (error := done.exception()) is not None:
                waiting.set_exception(error)
            else:
                waiting.set_result(done.result())
