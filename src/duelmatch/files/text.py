"""Whole files: read and checked, or written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from duelmatch.errors import FileError, ProblemError, brief
from duelmatch.phrases import printable

LONGEST_MESSAGE = 1000

AnyPath = str | os.PathLike[str]


@contextmanager
def naming(path: AnyPath) -> Iterator[Path]:
    """Begin the message of every refusal with the path, and keep it one line of a decent length."""
    if not isinstance(path, (str, os.PathLike)):
        raise FileError(f"A file is named by a text or a path, not {brief(path)}.")
    try:
        if "\0" in os.fspath(path):
            raise FileError("The name of a file cannot have a null character in it.")
        yield Path(path)
    except (FileError, ProblemError) as error:
        message = f"{os.fspath(path)}: {error}"
        if len(message) > LONGEST_MESSAGE:
            message = message[: LONGEST_MESSAGE - 1] + "…"
        raise type(error)(printable(message)) from None


@contextmanager
def explaining(verb: str, what: str = "file") -> Iterator[None]:
    """Turn an error of the operating system into a sentence: the file cannot be read, written or made."""
    try:
        yield
    except OSError as error:
        raise FileError(f"The {what} cannot be {verb}: {error.strerror or error}.") from None


def read_text(source: Path | BinaryIO, limit: int) -> str:
    """Return the text of a file, or of what is left of an open one, of at most ``limit`` bytes."""
    return decoded(read_bytes(source, limit))


def read_bytes(source: Path | BinaryIO, limit: int) -> bytes:
    """Return what is in a file, or left of an open one, if that is at most ``limit`` bytes."""
    with explaining("read"):
        if not isinstance(source, Path):
            data = source.read(limit + 1)
        elif not source.exists():
            raise FileError("There is no such file.")
        else:
            _check_regular(source)  # opening a pipe would wait for its other end
            with open(source, "rb") as file:
                data = file.read(limit + 1)
    if len(data) > limit:
        raise FileError(f"The file is too large: more than {limit:,} bytes.")
    return data


def _check_regular(path: Path) -> None:
    if not stat.S_ISREG(path.stat().st_mode):
        raise FileError(f"This is a {'directory' if path.is_dir() else 'device or pipe'}, not a file.")


def decoded(data: bytes) -> str:
    """Return the text that some bytes are, which is not empty."""
    if b"\0" in data:
        raise FileError(f"This is not a text file: byte {data.index(0)} is zero.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder counts from behind the byte order mark.
        offset = error.start + len(data) - len(error.object)
        raise FileError(f"This is not UTF-8 text: byte {offset} is wrong. Save the file as UTF-8.") from None
    if not text.strip():
        raise FileError("The file is empty.")
    return text


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
            _check_regular(path)
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            with open(draft, "xb", opener=_opener(0o666 if mode is None else mode)) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if mode is None and target.exists():
                shutil.copymode(target, draft)
            os.replace(draft, target)
            sync_folder(target.parent)
        finally:
            draft.unlink(missing_ok=True)


def _opener(mode: int) -> Callable[[str, int], int]:
    return lambda path, flags: os.open(path, flags, mode)


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
