"""Rules about who is chosen with whom, in the words of the person who makes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral

from duelmatch.errors import ProblemError, listed

Item = str | tuple[str, str]
"""What a rule speaks of: a candidate, wherever it is chosen, or a (candidate, position)."""

MOST_PLACES = 1_000_000
"""No decision has more, and it fits into a machine word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What every decision must obey, besides seats and capacities.

    ``Rule(of=[...], at_most=1)`` and ``Rule(of=[...], at_least=1)`` count the places that these candidates or
    edges fill; a candidate who fills two places counts twice. Both may be given. ``Rule(together=[...])``:
    each of these is chosen at least once, or none of them is.

    >>> Rule(of=["ann", ("bob", "chair")], at_most=1).sentence
    "'ann' and 'bob at chair' fill at most 1 place"
    >>> Rule(together=["eve", "fay"]).sentence
    "'eve' and 'fay' are all chosen, or none of them is"

    :raises ProblemError: if it says nothing, or contradicts itself.
    """

    of: tuple[Item, ...] = ()
    at_most: int | None = None
    at_least: int | None = None
    together: tuple[Item, ...] = ()

    def __post_init__(self) -> None:
        freeze = object.__setattr__
        freeze(self, "of", _items("of", self.of))
        freeze(self, "together", _items("together", self.together))
        if self.together:
            if self.of or self.at_most is not None or self.at_least is not None:
                raise ProblemError("A rule has either 'together', or 'of' with 'at_most' or 'at_least'.")
            if len(self.together) < 2:
                raise ProblemError(f"A rule that keeps only {_named(self.together)} together says nothing.")
            return
        if not self.of:
            raise ProblemError("A rule needs 'of' or 'together': a list of candidates or edges.")
        if self.at_most is None and self.at_least is None:
            raise ProblemError(f"The rule of {_named(self.of)} needs 'at_most' or 'at_least'.")
        freeze(self, "at_most", _limit("at_most", self.at_most, 0))
        freeze(self, "at_least", _limit("at_least", self.at_least, 1))
        if self.at_most is not None and self.at_least is not None and self.at_least > self.at_most:
            raise ProblemError(
                f"The rule of {_named(self.of)} contradicts itself: at least {self.at_least} and "
                f"at most {self.at_most}."
            )

    @property
    def items(self) -> tuple[Item, ...]:
        """The candidates and edges that it speaks of."""
        return self.of or self.together

    def without(self, candidate: str) -> Rule | None:
        """Return what it says once a candidate cannot be chosen any more; None if it says nothing then.

        >>> Rule(together=["eve", "fay"]).without("eve")
        Rule(of=('fay',), at_most=0, at_least=None, together=())

        :raises ProblemError: if it cannot be obeyed without the candidate.
        """
        left = tuple(item for item in self.items if candidate != (item if isinstance(item, str) else item[0]))
        if len(left) == len(self.items):
            return self
        if self.together:
            return Rule(of=left, at_most=0) if left else None
        if not left and self.at_least:
            raise ProblemError(f"Without '{candidate}' nobody obeys the rule that {self.sentence}.")
        return Rule(of=left, at_most=self.at_most, at_least=self.at_least) if left else None

    @property
    def sentence(self) -> str:
        """The rule in words, to follow 'that'."""
        names = _named(self.items)
        if self.together:
            return f"{names} are all chosen, or none of them is"
        fill = "fills" if len(self.of) == 1 else "fill"
        if self.at_least == self.at_most:
            return f"{names} {fill} exactly {_places(self.at_most)}"
        limits = [
            f"{words} {_places(limit)}"
            for words, limit in (("at least", self.at_least), ("at most", self.at_most))
            if limit is not None
        ]
        return f"{names} {fill} {' and '.join(limits)}"


def _items(key: str, items: object) -> tuple[Item, ...]:
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise ProblemError(f"The '{key}' of a rule is a list of candidates or edges, not {items!r:.80}.")
    found = tuple(_item(item) for item in items)
    if twice := [item for number, item in enumerate(found) if item in found[:number]]:
        raise ProblemError(f"A rule names {_named(twice[:1])} twice.")
    return found


def _item(item: object) -> Item:
    match item:
        case str():
            return item
        case (str(candidate), str(position)):
            return candidate, position
    raise ProblemError(f"A rule speaks of candidates and of edges (candidate, position), not {item!r:.80}.")


def _limit(key: str, value: object, least: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ProblemError(
            f"'{key}' of a rule must be a whole number of at least {least}, not {value!r:.80}."
        )
    if int(value) > MOST_PLACES:
        raise ProblemError(f"'{key}' of a rule must be at most {MOST_PLACES:,}.")
    return int(value)


def _named(items: Iterable[Item]) -> str:
    return listed([item if isinstance(item, str) else f"{item[0]} at {item[1]}" for item in items])


def _places(number: int | None) -> str:
    return f"{number} place{'s' * (number != 1)}"
