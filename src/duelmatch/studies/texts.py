"""Texts that people give: checked once, before they go anywhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from duelmatch.errors import StudyError
from duelmatch.problem import LONGEST_NAME, is_shown

LARGEST_NUMBER = 2**31 - 1
"""What a column of the database holds."""


JOINERS = "\u200c\u200d"
"""Characters without width that matter in some scripts, and in none of Europe's."""


IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Unicode's Default_Ignorable_Code_Point: what is not shown, or not by itself. Python does not have it."""

UNKNOWN = ("Co", "Cn")
"""Categories of characters that have no shape, or one that only some fonts know: they look like any other."""


def tidy(text: str) -> str:
    """Return a text as one would type what it looks like: composed, with single spaces, nothing invisible.

    >>> tidy(" Zoe\u0301 \u200bA. \u00a0 Smith\ufeff") == "Zo\u00e9 A. Smith"
    True
    """
    shown = [""]
    for character in unicodedata.normalize("NFC", text):
        joins = character in JOINERS and shown[-1] > "\u02ff" and shown[-1] not in JOINERS
        if joins or not _is_invisible(character):
            shown.append(character)
    return _SPACES.sub(" ", "".join(shown)).strip()


_SPACES = re.compile(r"(?:[^\S\r\n\x1c-\x1e\x85\u2028\u2029]|\u2800)+")
"""All but what breaks lines; U+2800 is the pattern of Braille without a dot."""


def _is_invisible(character: str) -> bool:
    code = ord(character)
    return code > 0x7F and (
        unicodedata.category(character) == "Cf" or any(first <= code <= last for first, last in IGNORABLE)
    )


def look_of(name: str) -> str:
    """Return what all names have in common that look like this one.

    >>> look_of("\uff25ve\u3164") == look_of("E\u034fve") == "Eve"
    True
    """
    if name.isascii():
        return " ".join(name.split())  # the same, and most of a long list
    name = unicodedata.normalize("NFKC", name)
    return re.sub(r"\s+", " ", tidy(name).translate(_WITHOUT_JOINERS))


def look_alike(names: Iterable[str]) -> str | None:
    """Return a name that looks like another of them; None if all can be told apart."""
    seen: set[str] = set()
    for name in names:
        look = look_of(name)
        if look in seen:
            return name
        seen.add(look)
    return None


_WITHOUT_JOINERS = dict.fromkeys(map(ord, JOINERS))


def plain(
    text: object, what: str, longest: int = LONGEST_NAME, empty: bool = False, lines: bool = False
) -> str:
    """Return a text in its tidy form, if it is one that every database and terminal can hold.

    One of several ``lines`` stays as it is. It names nobody, so it may have characters that are not known.
    """
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
    unknown = "" if lines else next((one for one in text if unicodedata.category(one) in UNKNOWN), "")
    if unknown:
        raise StudyError(f"{what} has a character that is not known here: U+{ord(unknown):04X}.")
    return text
