r"""What people copy out of a spreadsheet: candidates in rows, and in columns the positions and what to know.

Cells are separated by tabs, as a spreadsheet copies them, or by semicolons or commas, as it saves them::

    candidate;chair;editor;place;text
    Ann;x;x;table 12;Has led two teams.
    Bob;x;;table 7;

A first cell that is empty or says what the rows are, or a heading that is known, makes it a table. Otherwise
every line is a name, whatever commas it has.

>>> read_spreadsheet("Smith, Ann\nMiller, Bob")
{'candidates': ['Smith, Ann', 'Miller, Bob']}
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from duelmatch.errors import FileError
from duelmatch.files.documents import Bare, Tree
from duelmatch.files.tables import Row

ROW_HEADINGS = (
    "candidate",
    "candidates",
    "name",
    "names",
    "project",
    "projects",
    "team",
    "teams",
    "band",
    "act",
)
"""What the first column may be called."""

DETAIL_HEADINGS = {
    "title": "title",
    "text": "text",
    "description": "text",
    "about": "text",
    "picture": "picture",
    "image": "picture",
    "photo": "picture",
    "link": "link",
    "url": "link",
    "website": "link",
    "place": "place",
    "location": "place",
    "stand": "place",
    "table": "place",
    "room": "place",
    "capacity": "capacity",
}
"""Columns that are no positions, and what they say."""

YES = ("x", "✓", "✔", "✅", "•", "*", "yes", "y", "true", "1", "ja", "oui", "si", "sí", "是")
NO = ("", "-", "–", "—", "no", "n", "false", "0", "nein", "non", "否")

HEADINGS_WANTED = (
    "The first row must name the columns: 'candidate' first, then the positions, or title, text, place, "
    "picture, link and capacity."
)


POSITIONS_WANTED = (
    "The first row has marks instead of the names of positions. Put a row with the names of the positions "
    "above it, or paste the names of the candidates alone."
)


def read_spreadsheet(text: str, mistakes: list[str] | None = None) -> dict[str, Tree]:
    """Return the sections of a problem that a table, or a list of names, describes; some may be missing.

    Single cells that are wrong are refused, or noted in ``mistakes`` and passed over.

    :raises FileError: if it has several columns, and nobody can tell what they mean.
    """
    rows = read_rows(text, lambda rows: _is_table(rows) or _begins_with_marks(rows))
    if not rows:
        raise FileError("There is nothing in it.")
    if _begins_with_marks(rows):
        raise FileError(POSITIONS_WANTED)
    if len(rows) == 1 and len(rows[0][1]) > 1:  # a row of names
        return {"candidates": [cell for cell in rows[0][1] if cell]}
    if all(len(cells) == 1 for _, cells in rows):
        names: list[Tree] = [cells[0] for _, cells in rows]
        begin = len(names) > 1 and str(names[0]).casefold() in ROW_HEADINGS
        return {"candidates": names[begin:]}
    if not _is_table(rows):
        raise FileError(HEADINGS_WANTED)
    return _read_columns(rows[0][1], rows[1:], mistakes)


def read_names(text: str) -> list[str]:
    """Return names that stand in a row or in a column."""
    rows = read_rows(text, lambda rows: len(rows) == 1)
    return [cell for _, cells in rows for cell in cells if cell]


def read_rows(text: str, is_table: Callable[[list[Row]], bool]) -> list[Row]:
    """Return the cells of each line that has any, with its number; what separates them makes it a table."""
    text = text.removeprefix("\ufeff")
    for delimiter in "\t;,":
        if delimiter in text:
            rows = _split(text, delimiter)
            if delimiter == "\t" or (any(len(cells) > 1 for _, cells in rows) and is_table(rows)):
                return rows
    lines = enumerate(text.splitlines(), start=1)
    return [(number, [line.strip()]) for number, line in lines if line.strip()]


def _split(text: str, delimiter: str) -> list[Row]:
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=delimiter != "\t"
    )
    rows, line = [], 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise FileError(f"line {line}: the table is broken: {error}.") from None
    width = max((i + 1 for _, cells in rows for i, cell in enumerate(cells) if cell), default=0)
    return [(line, (cells + [""] * width)[:width]) for line, cells in rows]


def _is_table(rows: list[Row]) -> bool:
    first = [cell.casefold() for cell in rows[0][1]]
    if len(rows) == 1 or len(first) == 1:
        return False
    below = [cell.casefold() for _, cells in rows[1:] for cell in cells[1:]]
    known = first[0] in ROW_HEADINGS or not first[0] or not DETAIL_HEADINGS.keys().isdisjoint(first[1:])
    return known or (any(below) and all(cell in YES or cell in NO for cell in below))


def _begins_with_marks(rows: list[Row]) -> bool:
    """Return whether all are candidates with marks, the first row too, and nobody has named the positions."""
    if len(rows) < 2:
        return False
    name, *marks = [cell.casefold() for cell in rows[0][1]]
    below = [cell.casefold() for _, cells in rows[1:] for cell in cells[1:]]
    return (
        name not in ("", *ROW_HEADINGS)
        and any(mark in YES for mark in marks)
        and all(cell in YES or cell in NO for cell in (*marks, *below))
    )


def _read_columns(headings: list[str], rows: list[Row], mistakes: list[str] | None) -> dict[str, Tree]:
    def refuse(sentence: str) -> None:
        if mistakes is None:
            raise FileError(sentence)
        mistakes.append(sentence)

    details = {at: DETAIL_HEADINGS.get(cell.casefold()) for at, cell in enumerate(headings) if at}
    positions = {at: headings[at] for at, detail in details.items() if detail is None and headings[at]}
    candidates: list[Tree] = []
    if len(set(positions.values())) < len(positions):
        refuse("Two columns have the same heading; name the positions differently.")
        positions = {at: _another(name, at, positions) for at, name in positions.items()}
    edges: dict[str, list[Tree]] = {position: [] for position in positions.values()}
    for line, cells in rows:
        if not cells[0]:
            refuse(f"line {line}: the name of the candidate is empty.")
            continue
        about: dict[str, Tree] = {
            detail: Bare(cells[at], where=f"line {line}: ") if detail == "capacity" else cells[at]
            for at, detail in details.items()
            if detail is not None and cells[at]
        }
        candidates.append({"name": cells[0], **about} if about else cells[0])
        for at, position in positions.items():
            mark = cells[at].casefold()
            if mark not in YES and mark not in NO:
                refuse(
                    f"line {line}: what stands under '{position:.50}' must be x, or nothing, not "
                    f"'{cells[at]:.50}'. Other headings are title, text, place, picture, link and capacity."
                )
            if mark in YES:
                edges[position].append(cells[0])
    sections: dict[str, Tree] = {"candidates": candidates}
    if positions:
        sections["positions"] = list(positions.values())
        if any(edges.values()):  # without a single mark, everyone can fill everything
            sections["edges"] = dict(edges)
    return sections


def _another(name: str, at: int, positions: dict[int, str]) -> str:
    """Return a heading, with its column where one before it is the same."""
    is_repeated = any(other == name and before < at for before, other in positions.items())
    return f"{name} (column {at + 1})" if is_repeated else name
