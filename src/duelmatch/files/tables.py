"""Tables as CSV, with a header that says what they are."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from duelmatch.errors import FileError
from duelmatch.files.documents import explaining
from duelmatch.files.writing import encoded, sync_folder

LONGEST_HEADER = 10_000
"""Bytes that are looked at to find the header of a file."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""

Header = tuple[str, ...]
Row = tuple[int, list[str]]
"""The number of its line, and its cells."""


def read_table(text: str, *headers: Header) -> tuple[Header, Iterator[Row]]:
    """Return which of these headers a CSV has, and its rows, all cells filled; blank rows are skipped."""
    rows = filled_rows(text)
    line, cells = next(rows, (1, [""]))
    header = tuple(cell.casefold() for cell in cells)
    if header not in headers:
        expected, found = " or ".join(map(",".join, headers)), ",".join(cells)
        hint = " Separate the columns with commas." if re.search(r"[;\t]", cells[0]) else ""
        raise FileError(f"line {line}: the header must be {expected}, not '{found:.80}'.{hint}")
    return header, _checked(rows, header)


def filled_rows(text: str) -> Iterator[Row]:
    """Yield the rows of a CSV that are not blank, the header included."""
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    line = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise FileError(f"The CSV is broken at line {line}: {error}.") from None


def _checked(rows: Iterator[Row], header: Header) -> Iterator[Row]:
    for line, cells in rows:
        if len(cells) != len(header):
            raise FileError(
                f"line {line}: {len(header)} columns are expected ({', '.join(header)}), but "
                f"there {'is' if len(cells) == 1 else 'are'} {len(cells)}."
            )
        if not all(cells):
            raise FileError(f"line {line}: the {header[cells.index('')]} is empty.")
        yield line, cells


def dump_table(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def harmless(cell: object) -> object:
    """Keep a spreadsheet from taking a text for a formula.

    >>> harmless("=1+1"), harmless("ann"), harmless(-1)
    ("'=1+1", 'ann', -1)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def dump_exactly(header: Header, rows: Sequence[Sequence[str]]) -> str:
    """Return a CSV that :func:`read_table` reads as the same again.

    :raises FileError: if there is none.
    """
    text = dump_table(header, rows)
    with suppress(FileError):
        if "\0" not in text and [tuple(cells) for _, cells in read_table(text, header)[1]] == list(rows):
            return text
    raise FileError("A CSV cannot hold a name that is empty, or begins or ends with a space.")


def append_table(path: Path, text: str, limit: int) -> None:
    """Add the rows of a CSV at the end of a file that has the same plain header, or is new."""
    with explaining("written"), open(path, "ab+") as file:
        file.seek(0)
        beginning = file.read(LONGEST_HEADER).decode("utf-8-sig", errors="replace")
        if beginning.strip():
            header, _, rows = text.partition("\n")
            read_table(beginning, tuple(header.split(",")))
            file.seek(-1, os.SEEK_END)
            text = rows if file.read() in b"\r\n" else "\n" + rows
        size = file.seek(0, os.SEEK_END)
        file.write(encoded(text, limit, before=size))
        file.flush()
        os.fsync(file.fileno())
        if size == 0:
            sync_folder(path.parent)
