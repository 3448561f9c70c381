"""From threads to the event loop: results of writer threads, delivered in batches to those who await them.

Waking the loop once for every result would take the interpreter away from the thread that is at work, and a
commit finishes dozens of them at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

Waiting = asyncio.Future[Any]


class LoopBridge:
    """Makes what other threads do awaitable in the event loop in which it is created."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._finished: deque[tuple[Waiting, Any, BaseException | None]] = deque()
        self._lock = threading.Lock()

    def expect(self) -> tuple[Waiting, Callable[[Any], None], Callable[[BaseException], None]]:
        """Return a future of the event loop, and what another thread calls with its result or exception."""
        waiting = self.loop.create_future()
        return waiting, partial(self._finish, waiting), partial(self._finish, waiting, None)

    def _finish(self, waiting: Waiting, result: Any, error: BaseException | None = None) -> None:
        with self._lock:
            self._finished.append((waiting, result, error))
            first = len(self._finished) == 1
        if first:
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                self.loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        with self._lock:
            finished, self._finished = self._finished, deque()
        for waiting, result, error in finished:
            if waiting.cancelled():
                continue
            if error is not None:
                waiting.set_exception(error)
            else:
                waiting.set_result(result)
