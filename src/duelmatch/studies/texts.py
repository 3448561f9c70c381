"""Texts that people give: checked once, before they go anywhere."""

from __future__ import annotations

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


def plain(
    text: object, what: str, longest: int = LONGEST_NAME, empty: bool = False, lines: bool = False
) -> str:
    """Return a text without spaces around it, if it is a text that every database and terminal can hold."""
    if not isinstance(text, str):
        raise StudyError(f"{what} must be text, not {text!r:.80}.")
    text = text.strip()
    if not text and not empty:
        raise StudyError(f"{what} is empty.")
    if len(text) > longest:
        raise StudyError(f"{what} may have {longest} characters at most, not {len(text):,}.")
    shown = text.replace("\n", "").replace("\r", "") if lines else text
    if not is_shown(shown):
        raise StudyError(f"{what} has a character that cannot be shown, such as a line break.")
    return text
