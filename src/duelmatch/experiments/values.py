"""Values as they stand in an experiment file: checked, and lists spread into a grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
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


def grid(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every choice of one value for each parameter; a list stands for its values.

    >>> list(grid({"gap": [0.1, 0.2], "positions": 3}))
    [{'gap': 0.1, 'positions': 3}, {'gap': 0.2, 'positions': 3}]
    """
    choices = [value if isinstance(value, list) else [value] for value in given.values()]
    for name, values in zip(given, choices, strict=True):
        if not values:
            raise ProblemError(f"The list of '{name}' is empty.")
    for choice in product(*choices):
        yield dict(zip(given, choice, strict=True))
