"""The questions of a study, packed: 76 bytes for a duel, and an object only while one looks.

A study that serves a crowd has hundreds of thousands of them, nearly all of which were answered long ago.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from struct import Struct
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import StoreError
from duelmatch.graph import Mask
from duelmatch.studies.values import Ranking

State = Literal["open", "answered", "skipped", "released"]
STATES: tuple[State, ...] = get_args(State)
ANSWERED = STATES.index("answered")

STRUCK, HELD = 1, 2
NO_RANK = 2**16 - 1

_FIELDS = {
    "until": "<f8", "asked_at": "<f8", "at": "<f8", "voter": "<u4", "position": "<u4", "entry": "<u4",
    "before": "<u4", "ballot": "<i4", "place": "<i4", "begin": "<u4", "size": "<u2", "state": "u1",
    "flags": "u1",
}  # fmt: skip
"""A row: ``entry`` has the answer, ``before`` is the question that the same voter answered before, ``begin``
and ``size`` say where the candidates stand."""

_TYPE = np.dtype(list(_FIELDS.items()))
_ROW = Struct("<dddIIIIiiIHBB")
_SIZE = _ROW.size
_OFFSET = {name: int(_TYPE.fields[name][1]) for name in _FIELDS}  # type: ignore[index]
_AT, _ENTRY, _NUMBER, _INTEGER, _SPAN = map(Struct, ("<d", "<II", "<I", "<i", "<IH"))
_STATE, _FLAGS = _OFFSET["state"], _OFFSET["flags"]


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
    """All questions of a study, numbered from 1 on."""

    def __init__(self) -> None:
        self.voters: list[str] = []
        """The voters by number, as members have it."""
        self._numbers = _Numbers()
        self._names = self._numbers.names
        self._rows = bytearray()
        self._candidate, self._rank = array("I"), array("H")
        """The candidates of all questions, in the order shown, and their places in the answers."""
        self._given_in, self._given_to = array("I"), array("I")
        """The entry and the question of every answer, also of those undone since."""

    def __len__(self) -> int:
        return len(self._rows) // _SIZE

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
        until, asked_at, at, voter, position, entry, _, ballot, place, begin, size, state, flags = (
            _ROW.unpack_from(self._rows, (number - 1) * _SIZE)
        )
        names, end = self._names, begin + size
        candidates = tuple([names[each] for each in self._candidate[begin:end]])
        return Asked(
            number,
            self.voters[voter],
            names[position],
            candidates,
            None if until != until else until,
            None if ballot < 0 else ballot,
            None if place < 0 else place,
            asked_at,
            STATES[state],
            _ranking(candidates, self._rank[begin:end]) if state == ANSWERED else None,
            entry,
            at,
            bool(flags & STRUCK),
            bool(flags & HELD),
        )

    # One question.

    def _number_in(self, question: int, field: str) -> int:
        number: int = _NUMBER.unpack_from(self._rows, (question - 1) * _SIZE + _OFFSET[field])[0]
        return number

    def state(self, number: int) -> State:
        """Return the state of a question."""
        return STATES[self._rows[(number - 1) * _SIZE + _STATE]]

    def voter(self, number: int) -> str:
        """Return whom a question was put to."""
        return self.voters[self._number_in(number, "voter")]

    def ballot(self, number: int) -> int | None:
        """Return the ballot that a question is on."""
        (ballot,) = _INTEGER.unpack_from(self._rows, (number - 1) * _SIZE + _OFFSET["ballot"])
        return None if ballot < 0 else ballot

    def until(self, number: int) -> float | None:
        """Return when the lease of a question is over."""
        (until,) = _AT.unpack_from(self._rows, (number - 1) * _SIZE + _OFFSET["until"])
        return None if until != until else until

    def names(self, number: int) -> list[str]:
        """Return the candidates of a question, in the order shown."""
        begin, end = self._span(number)
        return [self._names[each] for each in self._candidate[begin:end]]

    def _span(self, number: int) -> tuple[int, int]:
        begin, size = _SPAN.unpack_from(self._rows, (number - 1) * _SIZE + _OFFSET["begin"])
        return begin, begin + size

    def flagged(self, number: int) -> bool:
        """Whether the answer to a question is struck or held back."""
        return self._rows[(number - 1) * _SIZE + _FLAGS] != 0

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
        if number != len(self) + 1:
            raise StoreError(f"The log asks question {number!r:.40}, where {len(self) + 1} was to come.")
        begin, size, numbers = len(self._candidate), len(candidates), self._numbers
        self._candidate.extend([numbers[name] for name in candidates])
        self._rank.extend([NO_RANK] * size)
        self._rows += _ROW.pack(
            nan if until is None else until,
            at,
            0.0,
            voter,
            numbers[position],
            0,
            0,
            -1 if ballot is None else ballot,
            -1 if place is None else place,
            begin,
            size,
            0,
            0,
        )

    def become(self, number: int, state: State) -> None:
        """Set the state of a question."""
        self._rows[(number - 1) * _SIZE + _STATE] = STATES.index(state)

    def answer(
        self, number: int, answer: Sequence[Sequence[str]], entry: int, at: float, before: int, held: bool
    ) -> None:
        """Note an answer; ``before`` is the question that its voter answered before, or 0."""
        self._rank_as(number, answer)
        rows, row = self._rows, (number - 1) * _SIZE
        _AT.pack_into(rows, row + _OFFSET["at"], at)
        _ENTRY.pack_into(rows, row + _OFFSET["entry"], entry, before)
        rows[row + _STATE], rows[row + _FLAGS] = ANSWERED, HELD * held
        self._given_in.append(entry)
        self._given_to.append(number)

    def _rank_as(self, number: int, answer: Sequence[Sequence[str]]) -> None:
        begin, end = self._span(number)
        order = {name: place for place, group in enumerate(answer) for name in group}
        try:
            ranks = [order.pop(self._names[each]) for each in self._candidate[begin:end]]
        except KeyError:
            order = {"": 0}
        if order:
            raise StoreError(f"The answer to question {number} is not about whom it asks: {answer!r:.200}.")
        self._rank[begin:end] = array("H", ranks)

    def take_back(self, number: int, last: int, until: float | None) -> int:
        """Open a question again, whose voter answered ``last`` last; return the one that is the last then."""
        row, earlier = (number - 1) * _SIZE, self._number_in(number, "before")
        if last == number:
            last = earlier
        else:
            following = last
            while (before := self._number_in(following, "before")) != number:
                following = before
            _NUMBER.pack_into(self._rows, (following - 1) * _SIZE + _OFFSET["before"], earlier)
        _ENTRY.pack_into(self._rows, row + _OFFSET["entry"], 0, 0)
        self._rows[row + _STATE] = 0
        self._rows[row + _FLAGS] &= ~HELD
        if until is not None:
            _AT.pack_into(self._rows, row + _OFFSET["until"], until)
        return last

    def correct(self, number: int, answer: Sequence[Sequence[str]] | None) -> None:
        """Change an answer, or with None strike it."""
        place = (number - 1) * _SIZE + _FLAGS
        if answer is None:
            self._rows[place] |= STRUCK
        else:
            self._rows[place] &= ~STRUCK
            self._rank_as(number, answer)

    def hold_no_longer(self, number: int) -> None:
        """Let an answer count that came after closing."""
        self._rows[(number - 1) * _SIZE + _FLAGS] &= ~HELD

    # All of them.

    def counting(
        self, struck: Collection[int], dropped: Collection[str], not_judged: Mapping[int, Collection[str]]
    ) -> list[int]:
        """Return how many answers of each voter count, if these voters, by number, and candidates do not.

        ``not_judged`` has the voters who have conflicts, and all about whom their answers do not count.
        """
        counts = self._answered() & (self._column("flags") == 0) & ~self._by(struck)
        voter = self._column("voter")
        if dropped and len(self):
            gone = np.array([name in dropped for name in self._names], dtype=np.bool_)
            staying = ~gone[np.array(self._candidate)]
            counts &= np.add.reduceat(staying, self._column("begin"), dtype=np.intp) > 1
        for row in np.flatnonzero(counts & self._by(not_judged)).tolist() if not_judged else ():
            theirs = not_judged[int(voter[row])]
            counts[row] = sum(name not in theirs for name in self.names(row + 1)) > 1
        by_voter: list[int] = np.bincount(voter[counts], minlength=len(self.voters)).tolist()
        return by_voter

    def struck(self, voters: Collection[int]) -> int:
        """Return how many answers are struck, or are given by one of these voters."""
        flagged = (self._column("flags") & STRUCK) != 0
        return int((self._answered() & (flagged | self._by(voters))).sum())

    def _column(self, field: str) -> NDArray[Any]:
        """Return a copy of a column: a view would keep the rows from growing."""
        column: NDArray[Any] = np.frombuffer(self._rows, _TYPE)[field].copy()
        return column

    def _answered(self) -> Mask:
        answered: Mask = self._column("state") == ANSWERED
        return answered

    def _by(self, voters: Collection[int]) -> Mask:
        by: Mask = np.zeros(len(self), dtype=np.bool_)
        if voters:
            by = np.isin(self._column("voter"), list(voters))
        return by

    def latest(self) -> Iterator[Asked]:
        """Yield the questions with an answer, those first that were asked last."""
        for number in range(len(self), 0, -1):
            if self._rows[(number - 1) * _SIZE + _STATE] == ANSWERED:
                yield self[number]

    def given_before(self, entry: int) -> Iterator[Asked]:
        """Yield the questions with an answer that came before an entry, the latest first."""
        for place in range(bisect_left(self._given_in, entry) - 1, -1, -1):
            if self._number_in(self._given_to[place], "entry") == self._given_in[place]:
                yield self[self._given_to[place]]

    def given_after(self, entry: int) -> Iterator[Asked]:
        """Yield the questions with an answer that came after an entry, the earliest first."""
        for place in range(bisect_left(self._given_in, entry + 1), len(self._given_in)):
            if self._number_in(self._given_to[place], "entry") == self._given_in[place]:
                yield self[self._given_to[place]]

    def given_by(self, last: int, before: int) -> Iterator[Asked]:
        """Yield what a voter answered who answered ``last`` last, the latest first, before an entry."""
        while last:
            entry, earlier = _ENTRY.unpack_from(self._rows, (last - 1) * _SIZE + _OFFSET["entry"])
            if entry < before:
                yield self[last]
            last = earlier


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
