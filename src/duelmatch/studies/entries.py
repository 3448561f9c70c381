"""Entries of the log, each sealed with the hash of the one before.

An entry is what an export has on one line::

    {"v": 2, "seq": 7, "at": 1753000000.25, "kind": "answered", "by": null, "voter": "5f0c…", "data": {…},
     "before": "<hash of entry 6>", "hash": "<sha-256 of the canonical JSON of all the rest>"}

Canonical JSON has sorted keys, no spaces and ASCII only. So whoever holds a hash, of the last entry or of
their own answer, can tell whether anything up to it was changed, removed or put elsewhere.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from duelmatch.errors import StoreError

FORMAT = 2
BEGINNING = "0" * 64
"""The hash before the first entry."""

SALT = "salt"
"""128 random bits in the data of an entry of a secret study.

All else in an entry can be guessed: who answered, which of a few answers, and when, between two looks at the
log. Whoever knows the hashes of an entry and of the one before, as organisers do who look often enough, could
try everything until the hash fits, which took 33 million tries. To withhold hashes until the study is closed
would not do: voters have receipts, and two of them may enclose a third's answer. With these bits nobody can
try, and hashes and receipts are as good as ever. They are never shown; only the log itself has them, which in
a secret study nobody gets without the database.
"""

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


class Entry(NamedTuple):
    """One thing that happened: what kind, when, by which link (None from outside of the web), to which voter.

    Kinds of the study itself: created, joined, paused, resumed, closed (with the verdict), reopened, renamed,
    detailed, imported-old. All others are events of what asks the questions.
    """

    seq: int
    at: float
    kind: str
    by: str | None
    voter: str | None
    data: Mapping[str, Any]
    hash: str

    @property
    def event(self) -> dict[str, Any]:
        """The event as explorers know it."""
        event = {**self.data, "kind": self.kind, "voter": self.voter}
        event.pop(SALT, None)
        return event


def salted(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of an entry with random bits, so that its hash cannot be searched for."""
    return {**data, SALT: secrets.token_hex(16)}


def canonical(data: Mapping[str, Any]) -> str:
    """Return data as canonical JSON, the only form that is stored and hashed."""
    return _encode(data)


def sealed_text(
    seq: int, at: float, kind: str, by: str | None, voter: str | None, data: str, before: str
) -> str:
    """Return the canonical JSON of an entry without its hash; ``data`` is canonical already.

    Ids are letters and digits, so nothing has to be escaped; written out because every vote needs it twice.
    """
    by_text = "null" if by is None else f'"{by}"'
    voter_text = "null" if voter is None else f'"{voter}"'
    return (
        f'{{"at":{float(at)!r},"before":"{before}","by":{by_text},"data":{data},"kind":"{kind}",'
        f'"seq":{seq},"v":{FORMAT},"voter":{voter_text}}}'
    )


def sealed(
    seq: int,
    at: float,
    kind: str,
    data: Mapping[str, Any],
    before: str,
    by: str | None = None,
    voter: str | None = None,
) -> tuple[Entry, str]:
    """Return a new entry after the one with the hash ``before``, and its data as they are stored."""
    text = canonical(data)
    digest = sha256(sealed_text(seq, at, kind, by, voter, text, before).encode()).hexdigest()
    return Entry(seq, at, kind, by, voter, data, digest), text


def checked(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries of a whole log, each after its number and hash were found to be right.

    :raises StoreError: naming the first entry that was changed, removed or put elsewhere.
    """
    before = BEGINNING
    for number, entry in enumerate(entries, start=1):
        if entry.seq != number:
            raise StoreError(f"Entry {number} of the log is missing; entry {entry.seq} is in its place.")
        if not follows(entry, before):
            raise StoreError(
                f"Entry {number} of the log does not fit its hash: it or one before was changed."
            )
        before = entry.hash
        yield entry


def follows(entry: Entry, before: str) -> bool:
    """Whether an entry is as it was sealed, after the one with this hash."""
    text = sealed_text(*entry[:5], canonical(entry.data), before)
    return sha256(text.encode()).hexdigest() == entry.hash


def line_of(entry: Entry, before: str) -> str:
    """Return an entry as a line of an export, given the hash of the one before."""
    text = sealed_text(*entry[:5], canonical(entry.data), before)
    return f'{text[:-1]},"hash":"{entry.hash}"}}'
