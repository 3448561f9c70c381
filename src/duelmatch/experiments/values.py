"""Values as they stand in an experiment file, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from duelmatch.errors import ProblemError


def check_keys(given: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    """Refuse a key that nobody reads."""
    for key in given:
        if key not in known:
            close = get_close_matches(str(key)[:50], known, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            raise ProblemError(f"{what} has no '{key!s:.50}'; it has {', '.join(known)}.{hint}")


def whole(value: Any, what: str, least: int) -> int:
    """Return a whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ProblemError(f"{what} must be a whole number from {least}, not {value!r:.80}.")
    return value
