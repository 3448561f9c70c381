"""Tables as CSV: rows go to the end of the right table only, and what would not be read is not written."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases import each
from duelmatch.errors import FileError
from duelmatch.files.tables import append_table, dump_exactly, read_table
from files.team import write

HEADER = ("position", "winner", "loser")
ROW = ("chair", "ann", "bob")
FILE = Path("votes.csv")


def rows_of(file: Path) -> list[list[str]]:
    return [cells for _, cells in read_table(file.read_text(), HEADER)[1]]


@each(
    ("old", "kept"),
    [
        (None, []),
        ("", []),
        ("\n", []),
        ("position,winner,loser", []),
        ("position,winner,loser\r\n", []),
        ("position,winner,loser\nchair,bob,ann", [["chair", "bob", "ann"]]),
    ],
)
def test_rows_are_appended_whatever_the_file_ends_with(old, kept):
    if old is not None:
        write(FILE.name, old)
    append_table(FILE, dump_exactly(HEADER, [ROW]), 1000)
    append_table(FILE, dump_exactly(HEADER, []), 1000)
    assert rows_of(FILE) == [*kept, [*ROW]]


def test_rows_are_not_appended_to_another_table():
    write(FILE.name, "candidate,position\nann,chair\n")
    with pytest.raises(FileError, match="header must be position,winner,loser"):
        append_table(FILE, dump_exactly(HEADER, [ROW]), 1000)


def test_rows_that_would_not_be_read_again_are_not_written():
    with pytest.raises(FileError, match="begins or ends with a space"):
        dump_exactly(HEADER, [("x ", "a", "b")])
    append_table(FILE, dump_exactly(HEADER, []), 30)
    with pytest.raises(FileError, match="too large to load"):
        append_table(FILE, dump_exactly(HEADER, [ROW]), 30)
    assert rows_of(FILE) == []
