"""What voters are asked, what they may say, and what it means for the pairs asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duelmatch.errors import DuelError
from duelmatch.problem import Duel


@dataclass(frozen=True, slots=True)
class Question:
    """Ask which of the ``candidates`` is better at ``position``, or how they rank."""

    position: str
    candidates: tuple[str, ...]
    id: int = 0
    voter: str | None = None

    @property
    def first(self) -> str:
        """The first of two."""
        return self.candidates[0]

    @property
    def second(self) -> str:
        """The second of two."""
        return self.candidates[1]


Answer = str | None | Sequence[str | tuple[str, ...]]
"""The winner of two, None for no difference, or a ranking with ties in tuples, best first."""


MISSING = "(no answer)"


def told(answer: Answer, winner: Answer) -> Answer:
    """Return the answer that was given by either of its two names.

    :raises DuelError: if it was given twice, or not at all.
    """
    if answer is MISSING and winner is MISSING:
        raise DuelError("Say who won: winner=..., or None for no difference.")
    if answer is not MISSING and winner is not MISSING:
        raise DuelError(f"Give the answer, {answer!r:.50}, or the winner, {winner!r:.50}, and not both.")
    return winner if answer is MISSING else answer


def places(question: Question | Duel, answer: object) -> dict[str, int]:
    """Return the place of every candidate of a question in an answer, equal ones for a tie.

    :raises DuelError: if the answer is not one to this question.
    """
    asked = question.candidates
    if answer is None:
        return dict.fromkeys(asked, 0)
    if isinstance(answer, str):
        if len(asked) > 2 and answer in asked:
            raise DuelError(
                f"'{answer:.80}' alone does not answer question {question.id}: rank all of "
                f"{', '.join(map(repr, asked))} at '{question.position}', best first."
            )
        if answer not in asked:
            raise DuelError(
                f"'{answer:.80}' is not an answer to question {question.id}: {_described(question)}, "
                "or None for no difference."
            )
        return {name: int(name != answer) for name in asked}
    if not isinstance(answer, Sequence) or isinstance(answer, bytes):
        raise DuelError(f"An answer is a name, a ranking, or nothing for no difference, not {answer!r:.80}.")
    place: dict[str, int] = {}
    for rank, group in enumerate(answer):
        for name in group if isinstance(group, (tuple, list)) else (group,):
            if name not in asked or name in place:
                raise DuelError(
                    f"'{name!s:.80}' cannot be there in a ranking for question {question.id}: "
                    f"{_described(question)}."
                )
            place[name] = rank
    if len(place) < len(asked):
        missing = next(name for name in asked if name not in place)
        raise DuelError(f"The ranking for question {question.id} lacks '{missing}'.")
    return place


def says_first(question: Question | Duel, answer: object) -> bool | None:
    """Return whether the first of two is the better one by an answer; None for no difference.

    :raises DuelError: if the answer is not one to this question.
    """
    place = places(question, answer)
    first, second = place[question.first], place[question.second]
    return None if first == second else first < second


def groups_of(order: Mapping[str, float]) -> list[list[str]]:
    """Write an answer as groups of candidates, best first, from the place of each; sorted within a group."""
    return [sorted(name for name in order if order[name] == each) for each in sorted(set(order.values()))]


def order_of(groups: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return the place of each candidate in an answer, equal ones for a tie."""
    return {name: place for place, group in enumerate(groups) for name in group}


def _described(question: Question | Duel) -> str:
    return f"{' or '.join(repr(name) for name in question.candidates)} at '{question.position}'"
