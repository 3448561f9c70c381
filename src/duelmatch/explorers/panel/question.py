"""A question to a judge, and what its answer says."""

from __future__ import annotations

from dataclasses import dataclass

from duelmatch.errors import DuelError, ProblemError
from duelmatch.panel import places_of


@dataclass(frozen=True, slots=True)
class Question:
    """Which of ``candidates`` is better at ``position``, or their ranking if they are more than two."""

    position: str
    candidates: tuple[str, ...]
    id: int = 0
    voter: str | None = None

    @property
    def first(self) -> str:
        """The first candidate, as in a Duel."""
        return self.candidates[0]

    @property
    def second(self) -> str:
        """The second candidate, as in a Duel."""
        return self.candidates[1]


Opinion = tuple[str, str, bool]
"""(better, worse, whether there is no difference)"""


def opinions(question: Question, answer: object) -> list[Opinion]:
    """Return what an answer says of every two candidates: a winner, None for no difference, or a ranking.

    :raises DuelError: if it does not answer the question.
    """
    candidates = question.candidates
    if answer is None:
        answer = [candidates]
    if isinstance(answer, str):
        if answer not in candidates or len(candidates) != 2:
            asked = " and ".join(f"'{name}'" for name in candidates)
            wanted = "one of them" if len(candidates) == 2 else "a ranking"
            raise DuelError(f"Question {question.id} about {asked} needs {wanted}, not '{answer:.80}'.")
        answer = [answer, *(name for name in candidates if name != answer)]
    try:
        places = places_of(answer, candidates, f"question {question.id}")
    except ProblemError as error:
        raise DuelError(str(error)) from None
    if missing := [name for name in candidates if name not in places]:
        raise DuelError(f"The ranking of question {question.id} leaves out '{missing[0]}'.")
    ordered = sorted(candidates, key=lambda name: places[name])
    return [
        (better, worse, places[better] == places[worse])
        for place, better in enumerate(ordered)
        for worse in ordered[place + 1 :]
    ]
