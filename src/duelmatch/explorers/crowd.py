"""Runs of ``condorcet`` and ``borda``: of single duels that nobody signs, or of voters with ballots.

Where every duel is a new person's, the frugal search asks them in rounds (docs/algorithms/frugal.md). Where
people answer many questions each, they have ballots (docs/algorithms/ballots.md). Both promise the same, and
the first ``ask`` of a run says which of them it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast, overload

from duelmatch.errors import DuelError
from duelmatch.explorers.engine import Counts, Round
from duelmatch.explorers.explorer import Explorer, whole_number
from duelmatch.explorers.questions import MISSING, Answer, Question, told
from duelmatch.explorers.result import Progress, Result
from duelmatch.preferences import Criterion
from duelmatch.problem import Duel, Problem

if TYPE_CHECKING:
    from duelmatch.explorers.ballots.explorer import BallotExplorer
    from duelmatch.models.standings import Standings


class CrowdExplorer(Explorer):
    """One run, of unsigned duels or of voters.

    ``ask(n, voter="eve")`` hands out questions of eve's ballot, and makes it a run of voters, in which a
    question to nobody in particular is a new voter's ballot of one. ``ask(n)`` makes it a run of
    duels. With questions about more than two it is a run of voters from the start.
    """

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self._ballots: BallotExplorer | None = None
        self._unsigned = False
        if self.parameters["question_size"] > 2:
            self.ballots  # noqa: B018  begins with them

    @property
    def ballots(self) -> BallotExplorer:
        """The run of voters that this is, from now on if it has not begun: to strike, drop, note and record.

        :raises DuelError: if it has begun with unsigned duels.
        """
        if self._ballots is None:
            if self._unsigned:
                raise DuelError(
                    "This run began with questions to nobody in particular, each a new person's: "
                    "begin another one for voters, and name the voter from the first question on."
                )
            from duelmatch.explorers.ballots.explorer import BallotExplorer

            settings = {name: value for name, value in self.parameters.items() if name != "batch"}
            most, criterion = self.max_duels, cast(Criterion, self.name)
            self._ballots = BallotExplorer(
                super().problem, criterion, self.delta, self.seed, max_answers=most, **settings
            )
        return self._ballots

    @property
    def of_voters(self) -> bool:
        """Whether questions are on ballots."""
        return self._ballots is not None

    @overload
    def ask(self, n: int = 1, voter: None = None) -> list[Duel]: ...

    @overload
    def ask(self, n: int = 1, voter: str | None = None, now: float | None = None) -> list[Question]: ...

    def ask(
        self, n: int = 1, voter: str | None = None, now: float | None = None
    ) -> list[Duel] | list[Question]:
        """Hand out up to ``n`` questions: of a voter's ballot, or each to somebody else.

        :raises DuelError: if a voter is named in a run that began without.
        """
        if voter is None and self._ballots is None:
            self._unsigned = True
            return super().ask(n)
        return self.ballots.ask(whole_number(n), voter, now)

    def tell(
        self,
        duel: Duel | Question,
        answer: Answer = MISSING,
        *,
        winner: Answer = MISSING,
        now: float | None = None,
    ) -> None:
        """Take the answer to a question: a winner, None for no difference, or a ranking.

        :raises DuelError: if the question is not open, or the answer does not fit it.
        """
        if self._ballots is None:
            super().tell(cast(Duel, duel), answer, winner=winner)
        else:
            self._ballots.tell(cast(Question, duel), told(answer, winner), now=now)

    def release(self, duel: Duel | Question) -> None:
        """Take back a question; it may be asked again, under a new number."""
        if self._ballots is None:
            super().release(cast(Duel, duel))
        else:
            self._ballots.release(cast(Question, duel))

    @property
    def problem(self) -> Problem:
        """What is being decided."""
        return super().problem if self._ballots is None else self._ballots.problem

    @property
    def duels(self) -> int:
        """How many questions have been answered."""
        return super().duels if self._ballots is None else self._ballots.answers

    @property
    def done(self) -> bool:
        """Whether the run is over: an answer is proven, or the budget is spent."""
        return super().done if self._ballots is None else self._ballots.done

    @property
    def open_duels(self) -> tuple[Duel, ...]:
        """The questions handed out and neither answered, skipped nor released."""
        if self._ballots is None:
            return super().open_duels
        return cast(tuple[Duel, ...], self._ballots.open_questions)

    @property
    def result(self) -> Result:
        """The result; before the run is over, what it would be if it were stopped now."""
        return super().result if self._ballots is None else self._ballots.result

    @property
    def progress(self) -> Progress:
        """Where the run stands."""
        return super().progress if self._ballots is None else self._ballots.progress

    def standings(self, seed: int = 0) -> Standings:
        """Estimate from all answers so far who is in the best line-up: by a model, without a guarantee."""
        return super().standings(seed) if self._ballots is None else self._ballots.standings(seed)

    # Of runs of duels only

    def replay(self, answers: Iterable[tuple[str | None, ...]]) -> None:
        """Feed answers of an earlier run of duels: see :meth:`Explorer.replay`."""
        self._check_unsigned("is restored from its events: pass them to ballots.note")
        super().replay(answers)

    def wanted(self) -> Round:
        """Return what is left to hand out of the present round."""
        self._check_unsigned("has no rounds")
        return super().wanted()

    def tell_wins(self, wins: Counts, ties: Counts | None = None) -> None:
        """Take the answers to all of :meth:`wanted`."""
        self._check_unsigned("has no rounds")
        super().tell_wins(wins, ties)

    def _check_unsigned(self, otherwise: str) -> None:
        if self._ballots is not None:
            raise DuelError(f"This is a run of voters with ballots; it {otherwise}.")
        self._unsigned = True

    # Of runs of voters only

    def skip(self, question: Question, reason: str | None = None, *, now: float | None = None) -> None:
        """Note that a voter does not answer a question."""
        self.ballots.skip(question, reason, now=now)

    def leave(self, voter: str) -> None:
        """Hand in the ballot of a voter who will not answer any more, whatever is missing on it.

        A ballot counts only when all ballots before it are in, so one that nobody finishes holds up the
        proof: ``progress.waiting_for`` has whose. What is missing goes to the next voter who comes.

        :raises DuelError: if the voter has no ballot.
        """
        self.ballots.leave(voter)

    def close(self) -> None:
        """Hand in all ballots, as nobody else will come. What is missing counts against the champion."""
        self.ballots.close()

    def undo(self, question: Question, *, now: float | None = None) -> None:
        """Let a voter take an answer back, and give another, while the ballot is not settled."""
        self.ballots.undo(question, now=now)
