"""What is said of a run that has not ended: how many answers it still takes, and what to expect by then.

Its numbers come from simulations (:mod:`duelmatch.explorers.forecasting`).
"""

from __future__ import annotations

from dataclasses import dataclass

from duelmatch.phrases import counted, two_digits

NEARLY = 0.95
"""A share beyond this is said to be nearly every case."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect: an estimate from ``simulations``, without a guarantee.

    ``low`` to ``high`` answers more until the result is certain (of a panel) or proven (of a crowd), in 8 of
    10 cases; ``middle`` in the middle. None where that is more than ``simulated``, how far the simulations
    went. A panel needs about ``fewest`` answers more if all of them speak for the leader, and ``most`` if
    everybody is asked everything.

    Where it was said who comes and for how long: they give about ``planned`` answers, ``questions_each`` at
    most; the result is certain by then with probability ``certain``, and else the line-up that leads then is
    the best one with probability ``best``, and falls short of the best by ``shortfall`` per position on
    average (both over all cases; None where that is out of reach).
    """

    simulations: int
    low: int | None
    middle: int | None
    high: int | None
    simulated: int | None = None
    fewest: int | None = None
    most: int | None = None
    voters: int | None = None
    questions_each: int | None = None
    seconds_each: float | None = None
    planned: int | None = None
    certain: float | None = None
    best: float | None = None
    shortfall: float | None = None
    begun: bool = False
    """Whether there were answers already, so that these come on top of them."""

    def sentences(self) -> list[str]:
        """Say it in words: how far so many people get in the time they have, and what certainty takes."""
        told = []
        if self.certain is not None:
            told.append(
                f"{self.voters:,} {'person has' if self.voters == 1 else 'people have'} time for "
                f"{counted(self.questions_each or 0, 'question')} each, at "
                f"{self.seconds_each:g} seconds a question."
            )
            told.append(f"By then the result is certain {_often(self.certain)}.")
            if self.best is not None and self.shortfall is not None and self.certain < NEARLY:
                behind = f"{100 * self.shortfall:.1f} votes in 100 at each position"
                told.append(
                    f"Certain or not, the line-up that leads by then is the best one {_often(self.best)}; on "
                    f"average it is behind the best by {behind}."
                )
        told.append(self._how_many())
        if self.fewest and self.most:
            told.append(f"At least about {two_digits(self.fewest)} are needed, and at most {self.most:,}.")
        told.append(f"This is an estimate from {self.simulations} simulations, not a promise.")
        return told

    def _how_many(self) -> str:
        if self.high == 0:
            return "The result is certain already."
        people = "voters" if self.fewest is None else "judges"
        answers = "more answers" if self.begun else "answers"
        beginning = f"Until the result is certain, all {people} together have to give"
        beyond = two_digits(self.simulated or 0)
        if self.low is None and (self.simulated or 0) <= (self.fewest or 0):
            return "How many answers it takes could not be simulated in the time there was."
        if self.low is None:
            return f"{beginning} more than {beyond} {answers}, as far as can be told."
        least = two_digits(self.low)
        middle = "" if self.middle is None else f", typically about {two_digits(self.middle)}"
        if self.high is None:
            return f"{beginning} {least} {answers} or more{middle}, and perhaps more than {beyond}."
        return f"{beginning} {least} to {two_digits(self.high)} {answers} in 8 of 10 cases{middle}."


def _often(share: float) -> str:
    """Say how often something happens.

    >>> _often(0.0), _often(0.84), _often(1.0)
    ('in hardly any case', 'in about 8 of 10 cases', 'in nearly every case')
    """
    if share < 1 - NEARLY:
        return "in hardly any case"
    return (
        "in nearly every case"
        if share >= NEARLY
        else f"in about {min(9, max(1, round(10 * share)))} of 10 cases"
    )
