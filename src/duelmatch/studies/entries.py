"""The log: what has happened in a study, in the order in which it did."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Kind = Literal[
    "created",
    "joined",
    "asked",
    "answered",
    "skipped",
    "released",
    "corrected",
    "undone",
    "invalidated",
    "reinstated",
    "dropped",
    "paused",
    "resumed",
    "closed",
    "reopened",
]
KINDS: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined]


class Line(NamedTuple):
    """An entry as it is stored: the note is JSON."""

    seq: int
    kind: str
    at: float
    voter: int | None
    question: int | None
    one: int | None
    other: int | None
    note: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened.

    created    ``note``: the problem and the settings
    joined     ``voter``
    asked      ``voter``, ``question``, the edges shown: ``one`` on the left, ``other`` on the right
    answered   ``voter``, ``question``, ``one`` won, ``other`` lost; ``note``: {"tie": true} if a coin decided
    skipped    ``voter``, ``question``; ``note``: {"reason": ...} if there is one
    released   ``voter``, ``question``; ``note``: {"reason": "expired", "undo", "dropped" or "released"}
    corrected  ``question``; ``one`` won, ``other`` lost, or neither, and the answer does not count
    undone     ``voter``, ``question``: the voter took the answer back, and is asked again
    invalidated, reinstated   ``voter``: no answer of this voter counts; they do again
    dropped    ``note``: {"candidate": ...}
    paused, resumed, closed, reopened
    """

    seq: int
    kind: str
    at: float
    voter: int | None = None
    question: int | None = None
    one: int | None = None
    other: int | None = None
    note: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, row: Any) -> Entry:
        """Read a row of the database."""
        note = None if row.note is None else json.loads(row.note)
        return cls(row.seq, row.kind, row.at, row.voter, row.question, row.one, row.other, note)
