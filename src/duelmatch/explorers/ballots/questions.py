"""What voters are asked, what they may say, and what it means for the pairs asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from duelmatch.errors import DuelError


@dataclass(frozen=True, slots=True)
class Question:
    """Ask which of the ``candidates`` is better at ``position``, or how they rank."""

    position: str
    candidates: tuple[str, ...]
    id: int
    voter: str

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


class Assumption(StrEnum):
    """What the guarantee takes for granted; ``sentence`` says it to people."""

    CONDORCET_WINNER = "condorcet_winner"
    INDEPENDENT_VOTERS = "independent_voters"
    SILENCE_BLIND = "silence_blind"
    ONE_COUNT_BLIND = "one_count_blind"
    LAST_COUNT_BLIND = "last_count_blind"
    WITHDRAWALS_BLIND = "withdrawals_blind"

    @property
    def sentence(self) -> str:
        """The assumption as a clause, to follow 'if' or 'that'."""
        return {
            Assumption.CONDORCET_WINNER: "a Condorcet winner exists",
            Assumption.INDEPENDENT_VOTERS: "voters are independent draws from those who are to decide",
            Assumption.SILENCE_BLIND: "whether a question was answered did not depend on the answer",
            Assumption.ONE_COUNT_BLIND: "one of the sets of voters that counted at some time was chosen "
            "without regard to answers",
            Assumption.LAST_COUNT_BLIND: "the voters who do not count were chosen without regard to answers",
            Assumption.WITHDRAWALS_BLIND: "the candidates who left did so without regard to answers",
        }[self]


def places(question: Question, answer: object) -> dict[str, int]:
    """Return the place of every candidate of a question in an answer, equal ones for a tie.

    :raises DuelError: if the answer is not one to this question.
    """
    asked = question.candidates
    if answer is None:
        return dict.fromkeys(asked, 0)
    if isinstance(answer, str):
        if len(asked) != 2 or answer not in asked:
            raise DuelError(
                f"'{answer:.80}' is not an answer to question {question.id}: {_described(question)}."
            )
        return {name: int(name != answer) for name in asked}
    if not isinstance(answer, Sequence):
        raise DuelError(f"An answer is a name, None or a ranking, not {answer!r:.80}.")
    place: dict[str, int] = {}
    for rank, group in enumerate(answer):
        for name in (group,) if isinstance(group, str) else tuple(group):
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


def _described(question: Question) -> str:
    return f"{' or '.join(repr(name) for name in question.candidates)} at '{question.position}'"
