"""Compile every function once, although several processes run the tests.

They begin with the same empty caches, and need the same functions at the same time: whoever comes second
waits, and loads what the first has saved.
"""

from __future__ import annotations

import fcntl
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher


@cache
def share() -> None:
    """Let this process wait for what others are compiling; to ask for it twice changes nothing."""
    compiled = Dispatcher.compile

    def compiled_once(dispatcher: Dispatcher, signature: object) -> Any:
        folder = dispatcher._cache.cache_path
        if folder is None:
            return compiled(dispatcher, signature)
        Path(folder).mkdir(parents=True, exist_ok=True)
        name = f"{dispatcher.__module__}.{dispatcher.__qualname__}.lock"
        # Threads take turns before processes do: a function is compiled inside of the one that calls it.
        with global_compiler_lock, open(Path(folder, name), "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return compiled(dispatcher, signature)

    Dispatcher.compile = compiled_once
