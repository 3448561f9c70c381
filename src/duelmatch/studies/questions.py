"""The questions of a study, in columns: about seventy bytes each, and an object only while one looks.

A study that serves a crowd has hundreds of thousands of them, nearly all of which were answered long ago.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from duelmatch.errors import StoreError
from duelmatch.graph import Mask
from duelmatch.studies.values import Ranking

State = Literal["open", "answered", "skipped", "released"]
STATES: tuple[State, ...] = get_args(State)
ANSWERED = STATES.index("answered")

STRUCK, HELD = 1, 2
NO_PLACE = 2**16 - 1


@dataclass(slots=True)
class Asked:
    """A question that was put to a voter, and what became of it, at the moment of looking."""

    number: int
    voter: str
    position: str
    candidates: tuple[str, ...]
    until: float | None
    ballot: int | None
    place: int | None
    asked_at: float
    state: State
    answer: Ranking | None
    entry: int
    """The entry that has the answer."""
    at: float
    struck: bool
    held: bool
    """Whether the answer came after closing, and counts if the study is opened again."""


class Questions:
    """All questions of a study, numbered from 1 on."""

    def __init__(self) -> None:
        self.voters: list[str] = []
        """The voters by number, as members have it."""
        self._names: list[str] = []
        self._number: dict[str, int] = {}
        self._voter, self._position = array("I"), array("I")
        self._begin, self._candidate, self._rank = array("I", [0]), array("I"), array("H")
        """Where the candidates of each question begin, who they are, and their places in the answer."""
        self._until, self._asked_at, self._at = array("d"), array("d"), array("d")
        self._ballot, self._place = array("i"), array("i")
        self._state, self._flags = array("B"), array("B")
        self._entry, self._before = array("I"), array("I")
        """The entry with the answer, and the question that the same voter answered before."""
        self._given_in, self._given_to = array("I"), array("I")
        """The entry and the question of every answer, also of those undone since."""

    def __len__(self) -> int:
        return len(self._state)

    def __contains__(self, number: object) -> bool:
        return type(number) is int and 1 <= number <= len(self._state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Questions) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Asked]:
        return (self[number] for number in range(1, len(self) + 1))

    def __getitem__(self, number: int) -> Asked:
        row, names = number - 1, self._names
        if row < 0:
            raise KeyError(number)
        begin, end = self._begin[row], self._begin[row + 1]
        candidates = tuple([names[each] for each in self._candidate[begin:end]])
        until, ballot, place, flags = self._until[row], self._ballot[row], self._place[row], self._flags[row]
        state = STATES[self._state[row]]
        return Asked(
            number,
            self.voters[self._voter[row]],
            names[self._position[row]],
            candidates,
            None if until != until else until,
            None if ballot < 0 else ballot,
            None if place < 0 else place,
            self._asked_at[row],
            state,
            _ranking(candidates, self._rank[begin:end]) if state == "answered" else None,
            self._entry[row],
            self._at[row],
            bool(flags & STRUCK),
            bool(flags & HELD),
        )

    # One question.

    def state(self, number: int) -> State:
        """Return what became of a question."""
        return STATES[self._state[number - 1]]

    def voter(self, number: int) -> str:
        """Return whom a question was put to."""
        return self.voters[self._voter[number - 1]]

    def ballot(self, number: int) -> int | None:
        """Return the ballot that a question is on."""
        ballot = self._ballot[number - 1]
        return None if ballot < 0 else ballot

    def until(self, number: int) -> float | None:
        """Return when the lease of a question is over."""
        until = self._until[number - 1]
        return None if until != until else until

    def names(self, number: int) -> list[str]:
        """Return the candidates of a question, in the order shown."""
        begin, end = self._begin[number - 1], self._begin[number]
        return [self._names[each] for each in self._candidate[begin:end]]

    def flagged(self, number: int) -> bool:
        """Whether the answer to a question is struck or held back."""
        return self._flags[number - 1] != 0

    # What happens to them.

    def ask(
        self,
        number: int,
        voter: int,
        position: str,
        candidates: Sequence[str],
        until: float | None,
        ballot: int | None,
        place: int | None,
        at: float,
    ) -> None:
        """Add the next question."""
        if number != len(self._state) + 1:
            raise StoreError(
                f"The log asks question {number!r:.40}, where {len(self._state) + 1} was to come."
            )
        self._voter.append(voter)
        self._position.append(self._named(position))
        self._candidate.extend([self._named(name) for name in candidates])
        self._rank.extend([NO_PLACE] * len(candidates))
        self._begin.append(len(self._candidate))
        self._until.append(np.nan if until is None else until)
        self._asked_at.append(at)
        self._at.append(0.0)
        self._ballot.append(-1 if ballot is None else ballot)
        self._place.append(-1 if place is None else place)
        self._state.append(0)
        self._flags.append(0)
        self._entry.append(0)
        self._before.append(0)

    def _named(self, name: str) -> int:
        number = self._number.get(name)
        if number is None:
            number = self._number[name] = len(self._names)
            self._names.append(name)
        return number

    def become(self, number: int, state: State) -> None:
        """Note what became of a question."""
        self._state[number - 1] = STATES.index(state)

    def answer(
        self, number: int, answer: Sequence[Sequence[str]], entry: int, at: float, before: int, held: bool
    ) -> None:
        """Note an answer; ``before`` is the question that its voter answered before, or 0."""
        row = number - 1
        self._rank_as(number, answer)
        self._state[row], self._entry[row], self._at[row] = ANSWERED, entry, at
        self._flags[row], self._before[row] = HELD * held, before
        self._given_in.append(entry)
        self._given_to.append(number)

    def _rank_as(self, number: int, answer: Sequence[Sequence[str]]) -> None:
        begin, end = self._begin[number - 1], self._begin[number]
        order = {name: place for place, group in enumerate(answer) for name in group}
        names = [self._names[each] for each in self._candidate[begin:end]]
        if len(order) != len(names) or not all(name in order for name in names):
            raise StoreError(f"The answer to question {number} is not about whom it asks: {order!r:.200}.")
        self._rank[begin:end] = array("H", [order[name] for name in names])

    def take_back(self, number: int, last: int, until: float | None) -> int:
        """Open a question again, whose voter answered ``last`` last; return the one that is the last then."""
        row = number - 1
        earlier = self._before[row]
        if last == number:
            last = earlier
        else:
            following = last
            while self._before[following - 1] != number:
                following = self._before[following - 1]
            self._before[following - 1] = earlier
        self._state[row], self._entry[row] = 0, 0
        self._flags[row] &= ~HELD
        if until is not None:
            self._until[row] = until
        return last

    def correct(self, number: int, answer: Sequence[Sequence[str]] | None) -> None:
        """Change an answer, or with None strike it."""
        row = number - 1
        self._flags[row] = self._flags[row] | STRUCK if answer is None else self._flags[row] & ~STRUCK
        if answer is not None:
            self._rank_as(number, answer)

    def hold_no_longer(self, number: int) -> None:
        """Let an answer count that came after closing."""
        self._flags[number - 1] &= ~HELD

    # All of them.

    def counting(self, struck: Collection[int], dropped: Collection[str]) -> int:
        """Return how many answers count, if these voters, by number, and these candidates do not."""
        counts = self._answered() & (np.array(self._flags) == 0) & ~self._by(struck)
        if dropped and len(self):
            gone = np.array([name in dropped for name in self._names], dtype=np.bool_)
            staying = ~gone[np.array(self._candidate)]
            counts &= np.add.reduceat(staying, np.array(self._begin[:-1]), dtype=np.intp) > 1
        return int(counts.sum())

    def struck(self, voters: Collection[int]) -> int:
        """Return how many answers are struck, or are given by one of these voters."""
        flagged = (np.array(self._flags) & STRUCK) != 0
        return int((self._answered() & (flagged | self._by(voters))).sum())

    def _answered(self) -> Mask:
        answered: Mask = np.array(self._state) == ANSWERED
        return answered

    def _by(self, voters: Collection[int]) -> Mask:
        by: Mask = np.zeros(len(self), dtype=np.bool_)
        if voters:
            by = np.isin(np.array(self._voter), list(voters))
        return by

    def latest(self) -> Iterator[Asked]:
        """Yield the questions with an answer, those first that were asked last."""
        for number in range(len(self), 0, -1):
            if self._state[number - 1] == ANSWERED:
                yield self[number]

    def given_before(self, entry: int) -> Iterator[Asked]:
        """Yield the questions with an answer that came before an entry, the latest first."""
        for place in range(bisect_left(self._given_in, entry) - 1, -1, -1):
            if self._entry[self._given_to[place] - 1] == self._given_in[place]:
                yield self[self._given_to[place]]

    def given_after(self, entry: int) -> Iterator[Asked]:
        """Yield the questions with an answer that came after an entry, the earliest first."""
        for place in range(bisect_left(self._given_in, entry + 1), len(self._given_in)):
            if self._entry[self._given_to[place] - 1] == self._given_in[place]:
                yield self[self._given_to[place]]

    def given_by(self, last: int, before: int) -> Iterator[Asked]:
        """Yield what a voter answered who answered ``last`` last, the latest first, before an entry."""
        while last:
            if self._entry[last - 1] < before:
                yield self[last]
            last = self._before[last - 1]


def _ranking(candidates: tuple[str, ...], places: Sequence[int]) -> Ranking:
    """Return groups of candidates, best first, with those who are equal in the order of the alphabet."""
    if len(candidates) == 2:
        (one, other), (first, second) = candidates, places
        if first != second:
            return ((one,), (other,)) if first < second else ((other,), (one,))
    groups: dict[int, list[str]] = {}
    for name, place in zip(candidates, places, strict=True):
        groups.setdefault(place, []).append(name)
    return tuple([tuple(sorted(groups[place])) for place in sorted(groups)])
