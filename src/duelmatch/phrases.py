"""How numbers and texts are written for people, in the command line and on the pages alike."""

from collections.abc import Mapping
from math import ceil


def counted(number: int, noun: str) -> str:
    """Return '1 duel' or '2 duels'.

    >>> counted(1, "duel"), counted(1200, "duel")
    ('1 duel', '1,200 duels')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def two_digits(number: float) -> str:
    """Write a whole number with two digits that matter.

    >>> two_digits(1961), two_digits(37)
    ('2,000', '37')
    """
    return f"{int(float(f'{number:.2g}')):,}"


def likely(share: float) -> str:
    """Write a probability that was estimated from a few hundred draws.

    >>> likely(0.0), likely(0.436), likely(1.0)
    ('under 1%', '44%', 'over 99%')
    """
    if share < 0.01:
        return "under 1%"
    return "over 99%" if share > 0.99 else f"{share:.0%}"


def votes_in_100(shortfall: float) -> str:
    """Write a difference of shares down, rounded up: it is a bound.

    >>> votes_in_100(0.0), votes_in_100(0.0312)
    ('0.0 votes in 100', '3.2 votes in 100')
    """
    return f"{ceil(1000 * shortfall - 1e-6) / 10:.1f} votes in 100"


def spoken(names: str | tuple[str, ...]) -> str:
    """Return who fills a position, one or several, in words.

    >>> spoken("ann"), spoken(("ann", "bob", "cyd"))
    ('ann', 'ann, bob and cyd')
    """
    *others, last = names if isinstance(names, tuple) else (names,)
    return f"{', '.join(others)} and {last}" if others else last


def filled_by(matching: Mapping[str, str | tuple[str, ...]], between: str = "; ") -> str:
    """Return who fills which position.

    >>> filled_by({"chair": "ann", "jury": ("bob", "cyd")})
    'chair: ann; jury: bob and cyd'
    """
    return between.join(f"{position}: {spoken(names)}" for position, names in matching.items())


def printable(text: str) -> str:
    """Escape what a terminal would not show as a character."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
