"""The chain: every entry has the hash of the one before it, and its own.

A log is a file of JSON lines, oldest first. The hash of an entry is the SHA-256 of the canonical JSON (sorted
keys, no spaces, ASCII) of all its other fields, ``before`` among them. So a changed, missing, moved or
repeated entry breaks the chain at that place. Two things a chain cannot show: that its end was cut off, and
that all of it was written anew. Receipts show both, as each of them is the hash of an entry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import isfinite
from typing import Any

from duelmatch.errors import FileError

FORMAT = 2
BEGINNING = "0" * 64
"""What the first entry has as the hash of the one before."""

NAMES = '{"names":'
"""How a line begins that has the names of voters: beside the log, and no part of it."""

SHORTEST_RECEIPT = 12
"""So many letters of a receipt tell entries apart: by chance, two begin alike once in 10^14 pairs."""

FIELDS = {"v", "seq", "at", "kind", "by", "voter", "data", "before", "hash"}
OF_VOTERS = (
    "asked", "answered", "skipped", "released", "undone", "corrected", "struck", "reinstated", "joined",
    "entered", "conflict", "cleared", "left", "returned", "opened", "passed", "reported",
)  # fmt: skip
"""Kinds of entries that name a voter."""

Entry = Mapping[str, Any]


class DamagedError(FileError):
    """The log is not what a study has written: the message says where, and why."""


def checked(lines: Iterable[str]) -> Iterator[Entry]:
    """Yield the entries of a log as long as the chain is whole.

    :raises DamagedError: at the first entry that does not fit.
    """
    before, number = BEGINNING, 0
    for place, line in enumerate(lines, start=1):
        if not line.strip() or (number and line.startswith(NAMES)):
            continue
        number += 1
        where = f"Entry {number} (line {place})"
        entry = _parsed(line, where)
        if number == 1 and entry.get("v") != FORMAT:
            raise FileError(f"This program reads logs of format {FORMAT}, not {_shown(entry.get('v'))}.")
        if entry.get("seq") != number or entry.get("before") != before:
            raise DamagedError(f"{where} is not the next one: {_why(entry, number)}.")
        if hash_of(entry) != entry["hash"]:
            raise DamagedError(f"{where} was changed: its hash does not fit what it says.")
        if odd := _odd_field(entry):
            raise DamagedError(f"{where} is not as a study writes it: {odd}.")
        before = entry["hash"]
        yield entry
    if number == 0:
        raise DamagedError("There is no entry in the log.")


def received(entries: Sequence[Entry], receipts: Sequence[str]) -> list[Entry]:
    """Return the entry that each receipt is of.

    :raises DamagedError: if one is of none, or of several.
    """
    by_beginning: dict[str, list[Entry]] = {}
    for entry in entries if receipts else ():
        by_beginning.setdefault(entry["hash"][:SHORTEST_RECEIPT], []).append(entry)
    found = []
    for receipt in receipts:
        alike = by_beginning.get(receipt[:SHORTEST_RECEIPT], [])
        matching = [entry for entry in alike if entry["hash"].startswith(receipt)]
        if not matching:
            raise DamagedError(f"No entry has the hash {receipt}: it was removed, or is from another log.")
        if len(matching) > 1:
            raise DamagedError(f"{len(matching)} entries have a hash that begins with {receipt}.")
        found += matching
    return found


def checked_receipt(receipt: str) -> str:
    """Return a receipt, or enough of its beginning, in the letters that hashes have.

    :raises FileError: if it is none.
    """
    letters = receipt.strip().lower()
    if not re.fullmatch(f"[0-9a-f]{{{SHORTEST_RECEIPT},64}}", letters):
        raise FileError(
            f"'{receipt:.80}' is not a receipt. A receipt has 64 characters, digits and the letters a to f; "
            f"the first {SHORTEST_RECEIPT} are enough."
        )
    return letters


def _odd_field(entry: Entry) -> str | None:
    """Return what is wrong with the form of an entry, if anything is."""
    if entry.keys() != FIELDS:
        names = ", ".join(sorted(FIELDS ^ entry.keys()))
        return f"a field is missing, or there is one too many ({names:.80})"
    at, by, voter = entry["at"], entry["by"], entry["voter"]
    if entry["v"] != FORMAT or type(entry["v"]) is not int:
        return f"'v' is {_shown(entry['v'])}, where the log has format {FORMAT}"
    if type(at) is not float or not isfinite(at) or at < 0:
        return f"'at' is {_shown(at)}, which is no time in seconds"
    if by is not None and not _is_id(by):
        return f"'by' is {_shown(by)}, which is no link"
    if voter is not None and not _is_id(voter):
        return f"'voter' is {_shown(voter)}, which is no voter"
    if voter is None and entry["kind"] in OF_VOTERS:
        return f"'{entry['kind']}' needs a voter, and there is none"
    return None


def _is_id(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9A-Za-z_-]{1,64}", value) is not None


def _shown(value: object) -> str:
    """Return a value as JSON writes it, shortened."""
    return f"{json.dumps(value):.50}"


def hash_of(entry: Entry) -> str:
    """Return the hash that an entry must have."""
    rest = {key: value for key, value in entry.items() if key != "hash"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _parsed(line: str, where: str) -> Entry:
    try:
        entry = json.loads(line, object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        found = isinstance(error, json.JSONDecodeError | RecursionError)
        raise DamagedError(f"{where} is not JSON{'' if found else f': {error}'}.") from None
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
