r"""Lists of judges as people have them: names, one on a line, or a table with headings.

>>> for person in read_people("name,votes,conflicts,email\nEve,2,Ann; Bob,eve@example.org\nNed,,,\n"):
...     print(person)
Person(name='Eve', weight=2, conflicts=('Ann', 'Bob'), others={'email': 'eve@example.org'})
Person(name='Ned', weight=1, conflicts=(), others={'email': ''})
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from duelmatch.errors import FileError
from duelmatch.files.spreadsheets import read_rows
from duelmatch.files.tables import Row, dump_table, harmless

NAME = ("name", "judge", "voter")
WEIGHT = ("weight", "votes")
CONFLICTS = ("conflicts", "conflict", "does not judge")
MOST_OTHERS = 20
"""Further columns that are kept."""

HEADINGS_WANTED = (
    "Give one name on a line, or headings in the first row: name, weight, conflicts, and others such as "
    "email, which are only for a mail merge."
)


@dataclass(frozen=True, slots=True)
class Person:
    """A judge, and what else a list says of them."""

    name: str
    weight: int = 1
    conflicts: tuple[str, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict)
    """Further columns, by their headings."""


def read_people(text: str) -> list[Person]:
    """Read a list of judges.

    :raises FileError: if somebody comes twice, or the columns cannot be told apart.
    """
    rows = read_rows(text, _has_headings)
    if rows and _has_headings(rows):
        people = _read_table(rows)
    else:
        people = [(line, Person(cells[0])) for line, cells in rows]
        for line, cells in rows:
            if len(cells) > 1 or "@" in cells[0]:
                raise FileError(
                    f"line {line}: '{' '.join(cells):.80}' is more than a name. {HEADINGS_WANTED}"
                )
    lines: dict[str, int] = {}
    for line, person in people:
        if person.name in lines:
            raise FileError(f"line {line}: '{person.name:.80}' is already in line {lines[person.name]}.")
        lines[person.name] = line
    return [person for _, person in people]


def dump_links(people: Sequence[Mapping[str, str]]) -> str:
    """Return a list to mail from, as CSV: what is known of people by heading, and at last the ``link``."""
    headings = list(dict.fromkeys(key for person in people for key in person if key != "link"))
    rows = [[*(harmless(person.get(key, "")) for key in headings), person["link"]] for person in people]
    return dump_table([*map(str, map(harmless, headings)), "link"], rows)


def _has_headings(rows: list[Row]) -> bool:
    return any(cell.casefold() in NAME for cell in rows[0][1])


def _read_table(rows: list[Row]) -> list[tuple[int, Person]]:
    headings = rows[0][1]
    kinds = [cell.casefold() for cell in headings]
    at_name = next(at for at, kind in enumerate(kinds) if kind in NAME)
    people = []
    for line, cells in rows[1:]:
        weight, conflicts = 1, ""
        others: dict[str, str] = {}
        for at, (kind, cell) in enumerate(zip(kinds, cells, strict=False)):
            if kind in WEIGHT:
                if cell and not re.fullmatch("[0-9]{1,6}", cell):
                    raise FileError(f"line {line}: the weight must be a whole number, not '{cell:.50}'.")
                weight = int(cell or 1)
            elif kind in CONFLICTS:
                conflicts = cell
            elif at != at_name and kind and len(others) < MOST_OTHERS:
                others[headings[at]] = cell
        if not cells[at_name]:
            raise FileError(f"line {line}: the name is empty.")
        named = tuple(filter(None, (part.strip() for part in re.split(r"[;,|\n]", conflicts))))
        people.append((line, Person(cells[at_name], weight, named, others)))
    return people
