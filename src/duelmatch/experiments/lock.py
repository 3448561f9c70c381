"""Keeps a second process from writing into the same folder; whoever dies lets go, whatever killed it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from duelmatch.errors import FileError
from duelmatch.locking import lock


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for this process."""
    try:
        file = (folder / "lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise FileError(f"{folder}: The folder cannot be written: {error.strerror}.") from None
    with file:
        try:
            lock(file)
        except OSError:
            file.seek(0)
            holder = file.read(20).strip()
            whom = f"process {holder}" if holder.isdecimal() else "another process"
            raise FileError(f"{folder}: {whom} is running this experiment; wait for it, or end it.") from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
