"""What a run says to the outside, by name: its result, where it stands, and what to expect of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from duelmatch.explorers.catalogue import Assumption
from duelmatch.matchings import Edge
from duelmatch.phrases import counted, filled_by, two_digits
from duelmatch.problem import Matching, seated

ResultStatus = Literal[
    "decided", "unbeaten", "tied", "certified", "within_epsilon", "no_winner", "budget_spent"
]  # fmt: skip

AGAINST = {
    "candidates": ", Borda against a random candidate of each position",
    "sampled": ", Borda against a sample of the matchings",
    "given": ", Borda against the reference given",
}
"""What is said of a reference that is not the paper's."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a run, and how sure it is.

    Of a panel, for certain, whatever the answers are that are still open: ``decided`` (the matching beats
    every other, or has the best Borda score alone), ``unbeaten`` (none beats it, some may draw), ``tied`` (no
    Borda score is above it, and another is equal), ``no_winner`` (every matching is beaten by another, and
    this one's worst defeat is the smallest). ``delta`` is 0 then.

    Of a crowd, wrong with probability ``delta`` at most: ``certified`` (the matching is the winner),
    ``within_epsilon`` (it is within ``epsilon`` of the winner), ``no_winner`` (there is no Condorcet winner;
    the matching, if any, is the least beaten one by the estimates, and nothing is promised of it).

    ``budget_spent``: the run was stopped, or nobody can be asked anything more; the matching is a guess, and
    may be missing. ``shortfall``: the matching's worst defeat, or by how much its Borda score is below the
    best, is that at most, per position (where a Condorcet winner is taken for granted: by how much that is
    ahead); None where nothing is known of it.

    ``assuming`` lists what all of this takes for granted, if anything: car-cond's guarantee, that a Condorcet
    winner exists; that of a panel with inferred answers, that its judges are consistent. The same ``seed``
    and the same answers give the same run; the guarantee is over seeds that are drawn, so one that was chosen
    after looking promises nothing. ``reference`` says against whom Borda was counted, where there is a
    choice: ``decisions``, ``candidates``, ``sampled``, or ``given``.
    """

    algorithm: str
    status: ResultStatus
    matching: Matching | None
    duels: int
    delta: float
    epsilon: float | None = None
    assuming: tuple[Assumption, ...] = ()
    seed: int | None = None
    shortfall: float | None = None
    reference: str | None = None

    def __str__(self) -> str:
        chosen = filled_by(self.matching or {})
        duels = f"after {counted(self.duels, 'duel')}"
        taken = ", and ".join(assumption.sentence for assumption in self.assuming)
        assuming = f" if {taken}" if taken else ""
        seed = "" if self.seed is None else f", seed {self.seed}"
        seed += AGAINST.get(self.reference or "", "")
        wrong = f"wrong with probability {self.delta:g} at most"
        match self.status:
            case "certified":
                return f"{chosen} (certified {duels}, {wrong}{assuming}{seed})"
            case "within_epsilon":
                return f"{chosen} (within {self.epsilon:g} of the best {duels}, {wrong}{assuming}{seed})"
            case "no_winner" if self.delta:
                least = f"; least beaten, as far as can be estimated: {chosen}" if chosen else ""
                return f"No Condorcet winner{least} ({duels}, {wrong}{seed})"
            case "no_winner":
                loss = f"it loses by {self.shortfall or 0:.4g} per position at most"
                return f"{chosen} (no winner {duels}: the least beaten, {loss}{assuming})"
            case "decided" | "unbeaten" | "tied":
                return f"{chosen} ({self.status} for certain {duels}{assuming})"
        return f"{chosen or 'no guess yet'} (NOT CERTIFIED: stopped {duels}{seed})"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands: what is decided, who leads, and what is left.

    ``gap`` tells how far the run is from stopping, and shrinks with the answers: by how much a rival may
    still be above the leader, per position, or, while car-cond decides edges, the radius of its estimates.
    ``duels_left`` extrapolates from the answers so far and can be far off; None where they say nothing yet.

    The frugal algorithms also tell how sure one may be of the leader now. ``p_value``: if another matching
    is the winner, this is ever at or below x with probability x at most, at whichever moment one looks.
    ``possible`` is the number of matchings that may still be the winner, None where that is out of reach,
    and ``possible_winners`` lists them while they are at most 100. The true winner is among them at all
    times with probability 1 - delta.

    Of a panel nothing is left to chance. ``possible_winners`` may be unbeaten, or among the best, when all
    have answered. ``accepted`` edges are in every line-up that may be the result, be it the least beaten one,
    and ``rejected`` ones in none: unless the panel or the candidates change, or an answer is taken back, that
    stays so, to the last result. ``fewest_questions`` would make the leader certain, if all answers spoke for
    it, and ``duels_left`` if they are as expected: both are estimates along the present plan. ``needed`` are
    these questions: the position, the candidate who would have to be preferred, the other one, and how many
    such answers. ``open_answers`` were not given.

    ``shortfall``: by how much the leader is worse than the best, at most, per position: in its worst defeat,
    or in Borda score. Where a Condorcet winner is taken for granted, it is by how much that is ahead: others
    may be ahead by more. Of a panel it is certain; of a crowd it holds at all times with probability
    1 - delta. None where nothing is known of it.

    ``waiting_for`` says who holds up the result, and with how much. On a panel, whose opinions are open, and
    how many. In a run of voters, whose ballot is not finished, and how many answers on later ballots count
    only once it is (:meth:`duelmatch.explorers.crowd.CrowdExplorer.leave` hands it in as it is).
    """

    duels: int
    leader: Matching | None
    accepted: tuple[Edge, ...]
    rejected: tuple[Edge, ...]
    undecided: tuple[Edge, ...]
    gap: float | None
    duels_left: int | None
    p_value: float | None = None
    possible: int | None = None
    possible_winners: tuple[Matching, ...] = ()
    shortfall: float | None = None
    fewest_questions: int | None = None
    open_answers: int | None = None
    waiting_for: tuple[tuple[str, int], ...] = ()
    needed: tuple[tuple[str, str, str, int], ...] = ()

    @property
    def decided(self) -> dict[str, Any]:
        """The positions whose candidate is certain, or as certain as the algorithm makes it.

        A tuple, in the order of the candidates, where that is so of several seats of a position.
        """
        found: dict[str, Any] = {}
        for candidate, position in self.accepted:
            found[position] = (*seated(found[position]), candidate) if position in found else candidate
        return found


NEARLY = 0.95
"""A share beyond this is said to be nearly every case."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect: an estimate from ``simulations`` (:func:`duelmatch.forecast`), without a guarantee.

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
