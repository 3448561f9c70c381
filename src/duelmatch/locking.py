"""A lock on an open file, which ends with the process that holds it, whatever killed that."""

from __future__ import annotations

import sys
from typing import IO

if sys.platform == "win32":
    import msvcrt

    def lock(file: IO[str]) -> None:
        """Hold a file for this process; OSError if another holds it."""
        file.seek(1000)  # behind the process number, which others may want to read
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def lock(file: IO[str]) -> None:
        """Hold a file for this process; OSError if another holds it."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
