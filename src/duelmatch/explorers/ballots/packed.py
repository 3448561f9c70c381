"""Ballots that are settled, in columns: about fifteen bytes for a duel, where objects took a thousand.

Nothing of a settled ballot changes any more, but all of it is needed again when it changes who counts or who
stands. So it is packed, and unpacked one ballot at a time; sums over all of them are taken from the columns.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Generic, TypeVar, overload

import numpy as np

from duelmatch.explorers.ballots.records import Answers, Ballot
from duelmatch.graph import Indices, Vector

Item = TypeVar("Item")

_VALUES = np.array([0.0, 0.5, 1.0, np.nan])
_NONE = -1
"""Packed values are 0, 1, 2 for 0, 1/2, 1, and this for none."""


class Packed:
    """The settled ballots, from the first on, and what came back of each."""

    def __init__(self) -> None:
        self._voter: list[str] = []
        self._design, self._deadline = array("I"), array("d")
        self._question_end, self._edge_end, self._pair_end = array("I", [0]), array("I", [0]), array("I", [0])
        self._size, self._edge = array("H"), array("I")
        """How many edges each question has, and the edges of all of them in the order shown."""
        self._pair, self._value = array("I"), array("b")
        self._heirs: dict[int, tuple[list[str], Indices]] = {}
        """Of the ballots that had any: who, and who of them gave each answer."""
        self._ballot_of, self._place_of = array("i"), array("H")
        """By number of the question that was answered: the ballot, and the place on it."""

    def __len__(self) -> int:
        return len(self._voter)

    def append(self, ballot: Ballot, answers: Answers, told: Mapping[int, int]) -> None:
        """Pack the next ballot; ``told`` has the places of the questions that were answered, by number."""
        number = len(self._voter)
        assert ballot.number == number, "ballots settle in the order of opening"
        self._voter.append(ballot.voter)
        self._design.append(ballot.design)
        self._deadline.append(np.nan if ballot.deadline is None else ballot.deadline)
        self._size.extend(map(len, ballot.questions))
        self._edge.extend(chain.from_iterable(ballot.questions))
        self._pair.extend(ballot.pairs.tolist())
        self._value.extend([_NONE if value != value else int(2 * value) for value in answers.value.tolist()])
        for ends, column in (
            (self._question_end, self._size),
            (self._edge_end, self._edge),
            (self._pair_end, self._pair),
        ):
            ends.append(len(column))
        if answers.heirs:
            self._heirs[number] = list(answers.heirs), answers.by
        for question_number, place in told.items():
            missing = question_number + 1 - len(self._ballot_of)
            self._ballot_of.extend([_NONE] * missing)
            self._place_of.extend([0] * missing)
            self._ballot_of[question_number], self._place_of[question_number] = number, place

    def ballot(self, number: int) -> Ballot:
        """Unpack a ballot."""
        sizes = self._size[self._question_end[number] : self._question_end[number + 1]]
        edges = iter(self._edge[self._edge_end[number] : self._edge_end[number + 1]])
        deadline = self._deadline[number]
        return Ballot(
            number,
            self._design[number],
            self._voter[number],
            np.array(self._pair[self._pair_end[number] : self._pair_end[number + 1]], dtype=np.intp),
            tuple([tuple([next(edges) for _ in range(size)]) for size in sizes]),
            None if deadline != deadline else deadline,
        )

    def answers(self, number: int) -> Answers:
        """Unpack what came back of a ballot."""
        value = _VALUES[np.array(self._value[self._pair_end[number] : self._pair_end[number + 1]])]
        heirs, by = self._heirs.get(number, ((), np.where(np.isnan(value), -1, 0)))
        return Answers(value, by, list(heirs), True)

    def told(self) -> Iterator[int]:
        """Yield the numbers of the questions that were answered."""
        return (number for number, ballot in enumerate(self._ballot_of) if ballot >= 0)

    def told_without(self, struck: Collection[str]) -> int:
        """Return how many questions were answered, by those who are not struck."""
        if not struck:
            return sum(ballot >= 0 for ballot in self._ballot_of)
        return sum(
            (self.order(ballot, place)[0] if ballot in self._heirs else self._voter[ballot]) not in struck
            for ballot, place in zip(self._ballot_of, self._place_of, strict=True)
            if ballot >= 0
        )

    def where_told(self, question: int) -> tuple[int, int] | None:
        """Return the ballot of a question that was answered, and its place there."""
        if not 0 <= question < len(self._ballot_of) or self._ballot_of[question] < 0:
            return None
        return self._ballot_of[question], self._place_of[question]

    def forget_told(self, question: int) -> None:
        """Forget that a question was answered, as it is kept elsewhere from now on."""
        if self.where_told(question) is not None:
            self._ballot_of[question] = _NONE

    def order(self, number: int, place: int) -> tuple[str, int, dict[int, float]]:
        """Return who answered a question, in which role, and the score of each of its edges, as shown.

        An edge about which nothing was said was not in the question any more.
        """
        ballot, answers = self.ballot(number), self.answers(number)
        span, scores, roles = ballot.pairs_of(place), dict[int, float](), set[int]()
        for index, pair in zip(span, combinations(sorted(ballot.questions[place]), 2), strict=True):
            value = float(answers.value[index])
            if value == value:
                roles.add(int(answers.by[index]))
                for edge, score in zip(pair, (value, 1 - value), strict=True):
                    scores[edge] = scores.get(edge, 0.0) + score
        (role,) = roles
        voter = ballot.voter if role == 0 else answers.heirs[role - 1]
        return voter, role, {edge: scores[edge] for edge in ballot.questions[place] if edge in scores}

    def sums(
        self, pairs: int, struck: Collection[str], whole: bool, corrected: Mapping[int, Mapping[int, float]]
    ) -> tuple[Vector, Vector, int]:
        """Return how often each pair was asked, what its first edge is credited with, and how many ties.

        Without the answers of who is struck; nor, if ``whole``, any on ballots that they opened.
        ``corrected`` has by ballot and index the value that counts instead.
        """
        value = _VALUES[np.array(self._value, dtype=np.int8)]
        end = self._pair_end
        if struck:
            for number, voter in enumerate(self._voter):
                heirs, by = self._heirs.get(number, ((), None))
                span = slice(end[number], end[number + 1])
                if voter in struck and (whole or by is None):
                    value[span] = np.nan
                elif by is not None:
                    gone = [role for role, who in enumerate((voter, *heirs)) if who in struck]
                    value[span][np.isin(by, gone)] = np.nan
        for number, values in corrected.items():
            for index, correction in values.items() if number < len(self) else ():
                if not np.isnan(value[end[number] + index]):
                    value[end[number] + index] = correction
        given = ~np.isnan(value)
        pair, value = np.array(self._pair, dtype=np.intp)[given], value[given]
        asked = np.bincount(pair, minlength=pairs).astype(np.float64)
        credit = np.bincount(pair, value, pairs).astype(np.float64)
        return asked, credit, int((value == 0.5).sum())

    def renumber(self, edge: Indices, pair: Indices) -> None:
        """Go over to the numbers of a larger problem."""
        if len(self):
            self._edge = array("I", edge[np.array(self._edge)].tolist())
            self._pair = array("I", pair[np.array(self._pair)].tolist())


class Window(Sequence[Item], Generic[Item]):
    """A list whose first items are packed: they are unpacked when somebody looks, and cannot be changed."""

    def __init__(self, unpacked: Callable[[int], Item] | None = None) -> None:
        self._unpacked = unpacked
        self._gone = 0
        self._items: list[Item] = []

    def append(self, item: Item) -> None:
        """Add an item at the end."""
        self._items.append(item)

    def shift(self, count: int) -> list[Item]:
        """Take out the first items that are not packed, which are packed now."""
        taken, self._items = self._items[:count], self._items[count:]
        self._gone += count
        return taken

    def change(self, change: Callable[[Item], Item]) -> None:
        """Put others in the place of the items that are not packed."""
        self._items = [change(item) for item in self._items]

    def __len__(self) -> int:
        return self._gone + len(self._items)

    @overload
    def __getitem__(self, number: int) -> Item: ...
    @overload
    def __getitem__(self, number: slice) -> list[Item]: ...
    def __getitem__(self, number: int | slice) -> Item | list[Item]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        place = number - self._gone
        if number < 0:
            place += len(self)
        if place >= 0:
            return self._items[place]
        if self._unpacked is None or place < -self._gone:
            raise IndexError(number)
        return self._unpacked(place + self._gone)

    def __setitem__(self, number: int, item: Item) -> None:
        if number < self._gone:
            raise IndexError(number)
        self._items[number - self._gone] = item
