"""Texts that people give: checked once, before they go anywhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise

from duelmatch.errors import NotThereError, StudyError
from duelmatch.problem import LONGEST_NAME, is_shown

LARGEST_NUMBER = 2**31 - 1
"""What a column of the database holds."""


def counting(number: object, what: str) -> int:
    """Return the number of something, which is at least one that there could be.

    :raises NotThereError: if it is not.
    """
    if type(number) is not int or not 1 <= number <= LARGEST_NUMBER:
        raise NotThereError(f"There is no {what} {number!r:.40} in this study.")
    return number


JOINERS = "\u200c\u200d"
"""Characters without width that matter in some scripts, and in none of Europe's."""


def tidy(text: str) -> str:
    """Return a text as one would type what it looks like: composed, with single spaces, nothing invisible.

    >>> tidy(" Zoe\u0301 \u200bA. \u00a0 Smith\ufeff") == "Zo\u00e9 A. Smith"
    True
    """
    shown = [
        character
        for before, character in pairwise("a" + unicodedata.normalize("NFC", text))
        if unicodedata.category(character) != "Cf" or (character in JOINERS and before > "\u02ff")
    ]
    return re.sub(r"[^\S\r\n\x1c-\x1e\x85\u2028\u2029]+", " ", "".join(shown)).strip()


def look_alike(names: Iterable[str]) -> str | None:
    """Return a name that looks like another of them; None if all can be told apart."""
    seen: set[str] = set()
    for name in names:
        look = re.sub(r"\s+", " ", tidy(unicodedata.normalize("NFKC", name)).translate(_WITHOUT_JOINERS))
        if look in seen:
            return name
        seen.add(look)
    return None


_WITHOUT_JOINERS = dict.fromkeys(map(ord, JOINERS))


def plain(
    text: object, what: str, longest: int = LONGEST_NAME, empty: bool = False, lines: bool = False
) -> str:
    """Return a text in its tidy form, if it is one that every database and terminal can hold."""
    if not isinstance(text, str):
        raise StudyError(f"{what} must be text, not {text!r:.80}.")
    text = text.strip() if lines else tidy(text)
    if not text and not empty:
        raise StudyError(f"{what} is empty.")
    if len(text) > longest:
        raise StudyError(f"{what} may have {longest} characters at most, not {len(text):,}.")
    shown = text.replace("\n", "").replace("\r", "") if lines else text
    if not is_shown(shown):
        raise StudyError(f"{what} has a character that cannot be shown, such as a line break.")
    return text
