"""A lock between processes, which the operating system releases when the process that holds it dies."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from duelmatch.errors import FileError
from duelmatch.files.documents import explaining, naming

if sys.platform == "win32":
    import msvcrt

    def _lock(file: TextIO) -> None:
        file.seek(1000)  # behind the process number, which others may want to read
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: TextIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Lock:
    """Keeps other processes from what ``of`` names, by a lock on the file ``path``.

    The file holds the process number of the holder, for the message that others get, which ends with
    ``advice``. It is removed on release; if it is left behind, it is not locked and does no harm.
    """

    def __init__(self, path: Path, of: Path, advice: str) -> None:
        self._path, self._of, self._advice = path, of, advice
        self._file: TextIO | None = None

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Hold the lock, or refuse at once if another process holds it."""
        while self._file is None:
            with naming(self._of), explaining("made", f"lock file {self._path.name}"):
                file = open(self._path, "a+", encoding="utf-8")  # noqa: SIM115
            try:
                _lock(file)
                if _is_still_there(file, self._path):
                    self._file = file
            except OSError:
                file.seek(0)
                holder = file.read(20).strip()
                whom = f"process {holder}" if holder.isdecimal() else "another process"
                raise FileError(f"{self._of}: This is in use by {whom}. {self._advice}") from None
            finally:
                if self._file is None:
                    file.close()
        with suppress(OSError):  # a full disk; then others do not learn who holds it
            self._file.truncate(0)
            self._file.write(f"{os.getpid()}\n")
            self._file.flush()

    def release(self) -> None:
        """Let other processes have it."""
        assert self._file is not None, "released what was not acquired"
        if os.name != "nt":  # which does not delete open files; elsewhere nobody may lock it in between
            with suppress(OSError):
                self._path.unlink()
        with suppress(OSError):
            self._file.close()
        self._file = None


def _is_still_there(file: TextIO, path: Path) -> bool:
    """Whether a path still leads to an open file; who held the lock before us may have deleted it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
