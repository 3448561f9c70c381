"""Values as they stand in a file, checked: names, numbers and the keys of a mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

from duelmatch.errors import FileError, ProblemError, listed

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class Bare:
    """A word without quotes that is not text: a number, a date, YAML's yes, no and null."""

    raw: str
    meaning: str = "a number"
    where: str = ""


Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | Bare | bool | None"
"""What is in a file: mappings, lists, texts, words that are not text, and JSON's true, false and null."""


def shown(value: object) -> str:
    """Describe a value for a message, however large it is."""
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case Bare(raw):
            return f"{raw:.50}"
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
    return f"'{value:.50}'"


def check_keys(given: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    """Refuse a key that nobody reads.

    :raises ProblemError: since a mapping may come from Python as well.
    """
    for key in given:
        if key not in known:
            close = get_close_matches(str(key)[:50], known, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            rest = f"; the known ones are {listed(known, 20)}." if known else "."
            raise ProblemError(f"{what} has an unknown key '{key!s:.50}'{rest}{hint}")


def name(value: Tree, what: str) -> str:
    """Return a name or another short text; whole numbers may stand without quotes."""
    match value:
        case str():
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise FileError(f"{what} has half of a surrogate pair, which is not a character.")
            return value
        case Bare(raw) if WHOLE_NUMBER.fullmatch(raw):
            return raw
        case Bare(raw, meaning, where):
            raise FileError(
                f"{where}{what} must be text, but {raw:.50} means {meaning}; "
                f'put quotes around it: "{raw:.50}".'
            )
    raise FileError(f"{what} must be text, not {shown(value)}.")


def number(value: Tree, what: str) -> float:
    """Return a number."""
    match value:
        case Bare(raw) if NUMBER.fullmatch(raw):
            return float(raw)
        case Bare(raw, _, where):
            raise FileError(f"{where}{what} must be a number, not {raw:.50}.")
    raise FileError(f"{what} must be a number, not {shown(value)}.")


def whole(value: object, what: str, least: int) -> int:
    """Return a whole number, of a format that has them."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ProblemError(f"{what} must be a whole number from {least}, not {value!r:.80}.")
    return value
