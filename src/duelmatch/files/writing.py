"""Whole files, written completely or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from duelmatch.errors import FileError
from duelmatch.files.documents import check_regular, explaining


@contextmanager
def replacing(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` for writing, which takes its place when it is complete.

    Whatever happens, even a power failure, the old file is there or the new one, whole. If writing fails,
    the new one is removed. It gets the permissions ``mode``, or else those of the old file.

    :raises FileError: if it cannot be written, for instance because the disk is full, or if it is a
        directory, a device or a pipe, whose place no file may take.
    """
    with explaining("written"):
        if path.exists():
            check_regular(path)
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            with open(draft, "xb", opener=partial(os.open, mode=0o666 if mode is None else mode)) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if mode is None and target.exists():
                shutil.copymode(target, draft)
            os.replace(draft, target)
            sync_folder(target.parent)
        finally:
            draft.unlink(missing_ok=True)


def write_text(path: Path, text: str, limit: int) -> None:
    """Put a text into a file, whole or not at all; refuse one too large to be read again."""
    data = encoded(text, limit)
    with replacing(path) as file:
        file.write(data)


def encoded(text: str, limit: int, before: int = 0) -> bytes:
    """Return a text as bytes, unless with the ``before`` bytes of the file it is too large to be read."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise FileError("A text has half of a surrogate pair, which is not a character.") from None
    if (size := before + len(data)) > limit:
        raise FileError(f"The file would be too large to load: {size:,} bytes of {limit:,}.")
    return data


def sync_folder(folder: Path) -> None:
    """Make sure that a new file's name outlives a power failure, where the system can do that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every file system knows how
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
