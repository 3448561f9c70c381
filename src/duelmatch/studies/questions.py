"""The questions of a study, packed in columns: 74 bytes for a duel, and an object only while one looks.

A study that serves a crowd has hundreds of thousands of them, nearly all of which were answered long ago.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal, get_args

import numpy as np

from duelmatch.errors import StoreError
from duelmatch.explorers.questions import groups_of, order_of
from duelmatch.graph import Mask
from duelmatch.studies.entries import Entry
from duelmatch.studies.values import Ranking

State = Literal["open", "answered", "skipped", "released"]
STATES: tuple[State, ...] = get_args(State)
OPEN, ANSWERED = STATES.index("open"), STATES.index("answered")

STRUCK, HELD = 1, 2
NO_RANK = 2**16 - 1


@dataclass(slots=True)
class Asked:
    """A question that was put to a voter, and its state at the time of the call."""

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


class _Numbers(dict[str, int]):
    """Numbers for names, in the order in which they come up."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self.names)
        self.names.append(name)
        return number


class Questions:
    """All questions of a study, numbered from 1 on: what is at 0 of a column is nothing."""

    def __init__(self) -> None:
        self.voters: list[str] = []
        """The voters by number, as members have it."""
        self._numbers = _Numbers()
        self._names = self._numbers.names
        self._voter, self._position = array("I", [0]), array("I", [0])
        self._until, self._asked_at, self._at = (array("d", [nan]) for _ in range(3))
        self._ballot, self._place = array("i", [-1]), array("i", [-1])
        self._state, self._flags = array("B", [OPEN]), array("B", [0])
        self._entry, self._before = array("I", [0]), array("I", [0])
        """The entry that has the answer, and the question that the same voter answered before."""
        self._end = array("I", [0])
        """Where the candidates of a question end among those of all, in the order shown."""
        self._candidate, self._rank = array("I"), array("H")
        """The candidates of all questions, and their places in the answers."""
        self._given_in, self._given_to = array("I"), array("I")
        """The entry and the question of every answer, also of those undone since."""

    def __len__(self) -> int:
        return len(self._state) - 1

    def __contains__(self, number: object) -> bool:
        return type(number) is int and 1 <= number <= len(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Questions) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Asked]:
        return (self[number] for number in range(1, len(self) + 1))

    def __getitem__(self, number: int) -> Asked:
        if number < 1:
            raise KeyError(number)
        candidates, place = tuple(self.names(number)), self._place[number]
        answered, flags = self._state[number] == ANSWERED, self._flags[number]
        return Asked(
            number,
            self.voter(number),
            self._names[self._position[number]],
            candidates,
            self.until(number),
            self.ballot(number),
            None if place < 0 else place,
            self._asked_at[number],
            self.state(number),
            _ranking(candidates, self._rank[self._span(number)]) if answered else None,
            self._entry[number],
            self._at[number],
            bool(flags & STRUCK),
            bool(flags & HELD),
        )

    # One question.

    def state(self, number: int) -> State:
        """Return the state of a question."""
        return STATES[self._state[number]]

    def voter(self, number: int) -> str:
        """Return whom a question was put to."""
        return self.voters[self._voter[number]]

    def ballot(self, number: int) -> int | None:
        """Return the ballot that a question is on."""
        ballot = self._ballot[number]
        return None if ballot < 0 else ballot

    def until(self, number: int) -> float | None:
        """Return when the lease of a question is over."""
        until = self._until[number]
        return None if until != until else until

    def names(self, number: int) -> list[str]:
        """Return the candidates of a question, in the order shown."""
        return [self._names[each] for each in self._candidate[self._span(number)]]

    def _span(self, number: int) -> slice:
        return slice(self._end[number - 1], self._end[number])

    def flagged(self, number: int) -> bool:
        """Whether the answer to a question is struck or held back."""
        return self._flags[number] != 0

    # What happens to them.

    def ask(self, entry: Entry, voter: int) -> None:
        """Add the next question, put to a voter."""
        data, number = entry.data, len(self) + 1
        if data["question"] != number:
            raise StoreError(f"The log asks question {data['question']!r:.40}, where {number} was to come.")
        until, ballot, place = data.get("until"), data.get("ballot"), data.get("place")
        self._candidate.extend([self._numbers[name] for name in data["candidates"]])
        self._rank.extend([NO_RANK] * len(data["candidates"]))
        self._end.append(len(self._candidate))
        self._voter.append(voter)
        self._position.append(self._numbers[data["position"]])
        self._until.append(nan if until is None else until)
        self._ballot.append(-1 if ballot is None else ballot)
        self._place.append(-1 if place is None else place)
        self._asked_at.append(entry.at)
        self._at.append(0.0)
        self._entry.append(0)
        self._before.append(0)
        self._flags.append(0)
        self._state.append(OPEN)

    def become(self, number: int, state: State) -> None:
        """Set the state of a question."""
        self._state[number] = STATES.index(state)

    def answer(self, entry: Entry, before: int, held: bool) -> None:
        """Note an answer; ``before`` is the question that its voter answered before, or 0."""
        number = entry.data["question"]
        self._rank_as(number, entry.data["answer"])
        self._at[number], self._entry[number], self._before[number] = entry.at, entry.seq, before
        self._state[number], self._flags[number] = ANSWERED, HELD * held
        self._given_in.append(entry.seq)
        self._given_to.append(number)

    def _rank_as(self, number: int, answer: Sequence[Sequence[str]]) -> None:
        order, names = order_of(answer), self.names(number)
        if len(order) != len(names) or order.keys() != {*names}:
            raise StoreError(f"The answer to question {number} is not about whom it asks: {answer!r:.200}.")
        self._rank[self._span(number)] = array("H", [order[name] for name in names])

    def take_back(self, number: int, last: int, until: float | None) -> int:
        """Open a question again, whose voter answered ``last`` last; return the one that is the last then."""
        earlier = self._before[number]
        if last == number:
            last = earlier
        else:
            following = last
            while self._before[following] != number:
                following = self._before[following]
            self._before[following] = earlier
        self._entry[number] = self._before[number] = 0
        self._state[number] = OPEN
        self.hold_no_longer(number)
        if until is not None:
            self._until[number] = until
        return last

    def correct(self, number: int, answer: Sequence[Sequence[str]] | None) -> None:
        """Change an answer, or with None strike it."""
        if answer is None:
            self._flags[number] |= STRUCK
        else:
            self._flags[number] &= ~STRUCK
            self._rank_as(number, answer)

    def hold_no_longer(self, number: int) -> None:
        """Let an answer count that came after closing."""
        self._flags[number] &= ~HELD

    # All of them.

    def counting(
        self, struck: Collection[int], dropped: Collection[str], not_judged: Mapping[int, Collection[str]]
    ) -> list[int]:
        """Return how many answers of each voter count, if these voters, by number, and candidates do not.

        ``not_judged`` has the voters who have conflicts, and all about whom their answers do not count.
        """
        counts = self._answered() & (np.array(self._flags) == 0) & ~self._by(struck)
        if dropped and len(self):
            gone = np.array([name in dropped for name in self._names], dtype=np.bool_)
            staying = ~gone[np.array(self._candidate)]
            counts[1:] &= np.add.reduceat(staying, np.array(self._end)[:-1], dtype=np.intp) > 1
        for number in np.flatnonzero(counts & self._by(not_judged)).tolist() if not_judged else ():
            theirs = not_judged[self._voter[number]]
            counts[number] = sum(name not in theirs for name in self.names(number)) > 1
        voter = np.array(self._voter)
        by_voter: list[int] = np.bincount(voter[counts], minlength=len(self.voters)).tolist()
        return by_voter

    def struck(self, voters: Collection[int]) -> int:
        """Return how many answers are struck, or are given by one of these voters."""
        flagged = (np.array(self._flags) & STRUCK) != 0
        return int((self._answered() & (flagged | self._by(voters))).sum())

    def _answered(self) -> Mask:
        answered: Mask = np.array(self._state) == ANSWERED  # a copy: a view would keep them from growing
        return answered

    def _by(self, voters: Collection[int]) -> Mask:
        by: Mask = np.zeros(len(self) + 1, dtype=np.bool_)
        if voters:
            by = np.isin(np.array(self._voter), list(voters))
        return by

    def latest(self) -> Iterator[Asked]:
        """Yield the questions with an answer, those first that were asked last."""
        return (self[number] for number in range(len(self), 0, -1) if self._state[number] == ANSWERED)

    def given_before(self, entry: int) -> Iterator[Asked]:
        """Yield the questions with an answer that came before an entry, the latest first."""
        return self._given(range(bisect_left(self._given_in, entry) - 1, -1, -1))

    def given_after(self, entry: int) -> Iterator[Asked]:
        """Yield the questions with an answer that came after an entry, the earliest first."""
        return self._given(range(bisect_left(self._given_in, entry + 1), len(self._given_in)))

    def _given(self, places: Iterable[int]) -> Iterator[Asked]:
        for place in places:
            if self._entry[self._given_to[place]] == self._given_in[place]:
                yield self[self._given_to[place]]

    def given_by(self, last: int, before: int) -> Iterator[Asked]:
        """Yield what a voter answered who answered ``last`` last, the latest first, before an entry."""
        while last:
            if self._entry[last] < before:
                yield self[last]
            last = self._before[last]


def _ranking(candidates: tuple[str, ...], places: Sequence[int]) -> Ranking:
    """Return groups of candidates, best first, with those who are equal in the order of the alphabet."""
    if len(candidates) == 2:
        (one, other), (first, second) = candidates, places
        if first != second:
            return ((one,), (other,)) if first < second else ((other,), (one,))
    return tuple(map(tuple, groups_of(dict(zip(candidates, places, strict=True)))))
