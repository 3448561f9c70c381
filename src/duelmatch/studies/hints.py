"""What is odd about how a voter votes, without saying how: a hint to look closer, never a proof.

Three things are looked at, in questions about two: how quickly somebody answers, whether it is always the
same side, and how seldom they agree with the others who were asked the same. The last two are said of
somebody whose answers are like everybody's about once in a thousand times.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median
from typing import Protocol

QUICK = 2.0
"""Seconds: in less nobody has looked at two candidates."""

FEWEST_TIMES = 5
FEWEST_OTHERS = 3
"""How many others must have been asked the same for a majority."""

BY_CHANCE = 1e-3

LATEST = 10_000
"""How many of the latest answers are looked at: more would take longer than a page may."""


class GivenToTwo(Protocol):
    """An answer to a question."""

    voter: str
    position: str
    candidates: tuple[str, ...]
    answer: tuple[tuple[str, ...], ...] | None
    at: float
    asked_at: float


@dataclass(frozen=True, slots=True)
class Hints:
    """What is odd about a voter; None for what is not.

    ``quick``: the seconds they take, and what the others take, in the middle. ``side``: "first" or "second"
    of the two shown, how often, and of how many. ``agrees``: how often with the majority of the others, and
    of how many.
    """

    quick: tuple[float, float | None] | None = None
    side: tuple[str, int, int] | None = None
    agrees: tuple[int, int] | None = None


def hints(answers: Iterable[GivenToTwo]) -> dict[str, Hints]:
    """Return what is odd about each voter, of those about whom something is."""
    by_voter: dict[str, list[GivenToTwo]] = defaultdict(list)
    for given in answers:
        if given.answer is not None and len(given.candidates) == 2:
            by_voter[given.voter].append(given)
    quick, side, agrees = _quick(by_voter), _side(by_voter), _agreement(by_voter)
    odd = [voter for voter in by_voter if voter in quick or voter in side or voter in agrees]
    return {voter: Hints(quick.get(voter), side.get(voter), agrees.get(voter)) for voter in odd}


def _quick(by_voter: dict[str, list[GivenToTwo]]) -> dict[str, tuple[float, float | None]]:
    """Return who answers in less than QUICK seconds, and in less than half of what the others take."""
    typical = {
        voter: median(each.at - each.asked_at for each in given)
        for voter, given in by_voter.items()
        if len(given) >= FEWEST_TIMES
    }
    found: dict[str, tuple[float, float | None]] = {}
    ordered = sorted(typical.values())
    for voter, seconds in typical.items():
        if seconds < QUICK:
            usual = _median_without(ordered, seconds) if len(ordered) > FEWEST_OTHERS else None
            if usual is None or seconds < usual / 2:
                found[voter] = seconds, usual
    return found


def _median_without(ordered: Sequence[float], one: float) -> float:
    """Return the median of sorted numbers but for one of them."""
    place, others = bisect_left(ordered, one), len(ordered) - 1
    low, high = (number + (number >= place) for number in ((others - 1) // 2, others // 2))
    return (ordered[low] + ordered[high]) / 2


def _side(by_voter: dict[str, list[GivenToTwo]]) -> dict[str, tuple[str, int, int]]:
    """Return who takes the same side more often than chance would have it, as sides are drawn."""
    found: dict[str, tuple[str, int, int]] = {}
    for voter, given in by_voter.items():
        firsts = [
            each.answer[0][0] == each.candidates[0] for each in given if each.answer and len(each.answer) == 2
        ]
        count = max(sum(firsts), len(firsts) - sum(firsts))
        if firsts and 2 * at_least(count, len(firsts), 0.5) < BY_CHANCE:
            found[voter] = "first" if sum(firsts) == count else "second", count, len(firsts)
    return found


def _agreement(by_voter: dict[str, list[GivenToTwo]]) -> dict[str, tuple[int, int]]:
    """Return who agrees with the majority of the others far less often than voters do on the whole."""
    wins: Counter[tuple[str, str, str]] = Counter()
    for given in by_voter.values():
        wins.update(key for each in given if (key := _preference(each)) is not None)
    rates = {
        voter: _agreeing([_preference(each) for each in given], wins) for voter, given in by_voter.items()
    }
    agreed, counted = (sum(rate[place] for rate in rates.values()) for place in (0, 1))
    found: dict[str, tuple[int, int]] = {}
    for voter, (own, total) in rates.items():
        others = counted - total
        if total and others:
            share = (agreed - own + 0.5) / (others + 1)
            if own < total / 2 and at_least(total - own, total, 1 - share) < BY_CHANCE:
                found[voter] = own, total
    return found


def _preference(given: GivenToTwo) -> tuple[str, str, str] | None:
    """Return position, better and worse; None for no difference."""
    if given.answer is None or len(given.answer) != 2:
        return None
    return given.position, given.answer[0][0], given.answer[1][0]


def _agreeing(
    own: Sequence[tuple[str, str, str] | None], wins: Counter[tuple[str, str, str]]
) -> tuple[int, int]:
    """Return how often somebody is with the majority of the others, and how often there is one."""
    agreed = total = 0
    for key in own:
        if key is not None:
            position, better, worse = key
            with_them, against = wins[key] - 1, wins[position, worse, better]
            if with_them + against >= FEWEST_OTHERS and with_them != against:
                total += 1
                agreed += with_them > against
    return agreed, total


def at_least(count: int, of: int, chance: float) -> float:
    """Return the probability of so many successes or more.

    >>> at_least(10, 10, 0.5) == 2**-10
    True
    """
    return sum(comb(of, each) * chance**each * (1 - chance) ** (of - each) for each in range(count, of + 1))
