"""Whether a server can be used: whether the database takes what is written, tried once a second at most.

Trying takes seconds where something is wrong, so one caller does, and all others learn what came of it last.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from time import monotonic

from duelmatch.errors import StoreError, UnreachableError

READY_WITHIN = 5.0
"""Seconds in which something has to be written by a server that says it is ready."""

HOLDS = 1.0
"""Seconds for which what was found, good or bad, is not looked at again."""

NOT_TRIED = "The server is getting ready."


class Readiness:
    """Whether something can be written. Safe to use from several threads."""

    def __init__(self, check: Callable[[float], None]) -> None:
        self._check = check
        self._lock = threading.Lock()
        self._checking = False
        self._checked_at = -math.inf
        self._refusal: StoreError | None = UnreachableError(NOT_TRIED)

    def check(self) -> None:
        """Try to write something, unless that was tried just now, or somebody else does.

        :raises StoreError: if it failed when it was tried last.
        """
        with self._lock:
            is_known = self._checking or monotonic() - self._checked_at < HOLDS
            self._checking |= not is_known
        if not is_known:
            self._try()
        if self._refusal is not None:
            raise self._refusal

    def _try(self) -> None:
        refusal: StoreError | None = UnreachableError(NOT_TRIED)
        try:
            self._check(READY_WITHIN)
            refusal = None
        except StoreError as error:
            refusal = error
        finally:
            with self._lock:
                self._refusal, self._checking, self._checked_at = refusal, False, monotonic()
