"""The chain: every entry has the hash of the one before it, and its own.

A log is a file of JSON lines, oldest first. The hash of an entry is the SHA-256 of the canonical JSON (sorted
keys, no spaces, ASCII) of all its other fields, ``before`` among them. So a changed, missing, moved or
repeated entry breaks the chain at that place. Two things a chain cannot show: that its end was cut off, and
that all of it was written anew. Receipts show both, as each of them is the hash of an entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from duelmatch.errors import FileError

FORMAT = 2
BEGINNING = "0" * 64
"""What the first entry has as the hash of the one before."""

NAMES = '{"names":'
"""How a line begins that has the names of voters: beside the log, and no part of it."""

Entry = Mapping[str, Any]


class DamagedError(FileError):
    """The log is not what a study has written: the message says where, and why."""


def checked(lines: Iterable[str], receipts: Sequence[str] = ()) -> Iterator[Entry]:
    """Yield the entries of a log as long as the chain is whole.

    :raises DamagedError: at the first entry that does not fit, or at the end if a receipt is of none.
    """
    before, number, missing = BEGINNING, 0, [receipt.strip().lower() for receipt in receipts]
    for place, line in enumerate(lines, start=1):
        if not line.strip() or (number and line.startswith(NAMES)):
            continue
        number += 1
        entry = _parsed(line, f"Entry {number} (line {place})")
        if number == 1 and entry.get("v") != FORMAT:
            raise FileError(f"This program reads logs of format {FORMAT}, not {entry.get('v')!r:.50}.")
        if entry.get("seq") != number or entry.get("before") != before:
            raise DamagedError(f"Entry {number} (line {place}) is not the next one: {_why(entry, number)}.")
        if hash_of(entry) != entry["hash"]:
            raise DamagedError(
                f"Entry {number} (line {place}) was changed: its hash does not fit what it says."
            )
        before = entry["hash"]
        missing = [receipt for receipt in missing if not before.startswith(receipt)]
        yield entry
    if number == 0:
        raise DamagedError("There is no entry in the log.")
    if missing:
        raise DamagedError(f"No entry has the hash {missing[0]}: it was removed, or is from another log.")


def hash_of(entry: Entry) -> str:
    """Return the hash that an entry must have."""
    rest = {key: value for key, value in entry.items() if key != "hash"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _parsed(line: str, where: str) -> Entry:
    try:
        entry = json.loads(line, object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{where} is not JSON: {error}.") from None
    texts = (isinstance(entry, dict) and isinstance(entry.get(key), str) for key in ("kind", "hash"))
    if not all(texts) or not isinstance(entry.get("data"), dict):
        raise DamagedError(f"{where} is not an entry of a log: 'kind', 'data' or 'hash' is missing.")
    parsed: Entry = entry
    return parsed


def _why(entry: Entry, number: int) -> str:
    seq = entry.get("seq")
    if not isinstance(seq, int) or seq == number:
        return "it was written after another entry than the one before it"
    return f"it is number {seq}, so entries were " + ("removed" if seq > number else "moved or repeated")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")
