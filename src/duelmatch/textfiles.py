"""Text files and tables: read whole and checked, written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from duelmatch.errors import FileError, ProblemError

LONGEST_MESSAGE = 1000


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Begin the message of every refusal with the path, and keep it one line of a decent length."""
    try:
        yield Path(path)
    except (FileError, ProblemError) as error:
        message = f"{os.fspath(path)}: {error}"
        if len(message) > LONGEST_MESSAGE:
            message = message[: LONGEST_MESSAGE - 1] + "…"
        raise type(error)(printable(message)) from None


def printable(text: str) -> str:
    """Escape what a terminal would not show as a character."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def read_text(path: Path, limit: int) -> str:
    """Return the text of a file of at most ``limit`` bytes."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a device or a pipe"
            raise FileError(f"This is {kind}, not a file.")
        size = status.st_size
        with path.open("rb") as file:
            data = file.read(limit + 1) if size <= limit else b""
    except FileNotFoundError:
        raise FileError("There is no such file.") from None
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise _cannot("read", error) from None
    if max(size, len(data)) > limit:
        raise FileError(f"The file is too large: {size:,} bytes, where {limit:,} are allowed.")
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


def write_text(path: Path, text: str, limit: int) -> None:
    """Put the text into the file whole or not at all, even if the power fails in between."""
    data = _encoded(text)
    _check_fits(len(data), limit)
    try:
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            with draft.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, draft)
            os.replace(draft, target)
            sync_folder(target.parent)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise _cannot("written", error) from None


def append_table(path: Path, text: str, header: tuple[str, ...], limit: int) -> None:
    """Add the rows of a CSV at the end of a file that has the same header, or is new."""
    data = _encoded(text)
    try:
        with path.open("ab+") as file:
            file.seek(0)
            beginning = file.read(10_000).decode("utf-8-sig", errors="replace")
            if beginning.strip():
                next(table(beginning, header), None)
                file.seek(-1, os.SEEK_END)
                separator = b"" if file.read() in b"\r\n" else b"\n"
                data = separator + data.partition(b"\n")[2]
            _check_fits(file.tell() + len(data), limit)
            new = file.tell() == 0
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if new:
            sync_folder(path.parent)
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise _cannot("written", error) from None


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


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise FileError("A text has half of a surrogate pair, which is not a character.") from None


def _check_fits(size: int, limit: int) -> None:
    if size > limit:
        raise FileError(f"The file would be too large to load: {size:,} bytes of {limit:,}.")


def _cannot(verb: str, error: Exception) -> FileError:
    reason = getattr(error, "strerror", None) or str(error)
    return FileError(f"The file cannot be {verb}: {reason}.")


def table(text: str, header: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) for each row of a CSV under this header; skip blank rows."""
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    headed, line = False, 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                if headed:
                    _check_row(cells, header, line)
                    yield line, cells
                else:
                    _check_header(cells, header, line)
                headed = True
            line = reader.line_num + 1
    except csv.Error as error:
        raise FileError(f"The CSV is broken at line {line}: {error}.") from None


def _check_header(cells: list[str], header: tuple[str, ...], line: int) -> None:
    if tuple(cell.casefold() for cell in cells) != header:
        hint = " Separate the columns with commas." if re.search(r"[;\t]", cells[0]) else ""
        found, expected = ",".join(cells), ",".join(header)
        raise FileError(f"line {line}: the header must be {expected}, not '{found:.80}'.{hint}")


def _check_row(cells: list[str], header: tuple[str, ...], line: int) -> None:
    if len(cells) != len(header):
        raise FileError(
            f"line {line}: {len(header)} columns are expected ({', '.join(header)}), but "
            f"there {'is' if len(cells) == 1 else 'are'} {len(cells)}."
        )
    for cell, column in zip(cells, header, strict=True):
        if not cell:
            raise FileError(f"line {line}: the {column} is empty.")


def dump_table(header: tuple[str, ...], rows: Iterable[Iterable[str]]) -> str:
    """Return a CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
