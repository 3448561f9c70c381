"""Who fills a position: one name where it has one seat, a tuple of names where it has several."""

from __future__ import annotations

from typing import Any


def seated(names: Any) -> tuple[Any, ...]:
    """Return the names as a tuple in either case.

    >>> seated("ann"), seated(("ann", "bob"))
    (('ann',), ('ann', 'bob'))
    """
    return names if isinstance(names, tuple) else (names,)


def spoken(names: Any) -> str:
    """Return the names in words.

    >>> spoken("ann"), spoken(("ann", "bob", "cyd"))
    ('ann', 'ann, bob and cyd')
    """
    *others, last = seated(names)
    return f"{', '.join(others)} and {last}" if others else str(last)
