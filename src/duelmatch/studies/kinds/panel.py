"""Studies of a panel: a known group decides, and is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from duelmatch.errors import ConflictError, DuelError, StudyError
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.explorers.result import Progress, Result
from duelmatch.problem import Problem
from duelmatch.studies.history import Point, Trace
from duelmatch.studies.kinds import Event, Record, shown
from duelmatch.studies.settings import Settings
from duelmatch.studies.values import Ranking, Reason


class PanelKind:
    """A :class:`PanelExplorer` behind the contract of studies."""

    ready = True
    missing = unused = 0

    def __init__(self, problem: Problem, settings: Settings, voters: Sequence[Mapping[str, Any]]) -> None:
        if not voters:
            raise StudyError("A panel needs its voters: name at least one at the beginning.")
        self.record: Record | None = None
        self._run = PanelExplorer(
            problem,
            [voter["id"] for voter in voters],
            conflicts={voter["id"]: voter["conflicts"] for voter in voters},
            voter_weight={voter["id"]: voter["weight"] for voter in voters},
            questions_each=settings.questions_each,
            **settings.parameters,
        )
        self._run.record = self._recorded
        self._run.shown = partial(shown, settings.seed or 0)  # nobody is to be always on the left
        self._trace = Trace()
        self._answers = 0

    def _recorded(self, event: Event) -> None:
        self._follow(event)
        if self.record is not None:
            self.record(event)

    def note(self, event: Event) -> None:
        """Take over an event."""
        self._run.note(event)
        self._follow(event)

    def _follow(self, event: Event) -> None:
        self._answers += (event["kind"] == "answered") - (event["kind"] == "undone")
        if event["kind"] == "backed":
            self._trace.follow(self._answers, self._point)

    def _point(self) -> Point:
        return Point(self._answers, shortfall=self._run.result.shortfall)

    # For voters.

    def ask(self, voter: str, now: float) -> Reason | None:
        """Put the most useful question to a judge that is theirs to answer."""
        if self._run.ask(1, voter):
            return None
        if self._run.done:
            return "done"
        return "waiting" if self._run.can_be_asked(voter) else "all yours"

    def tell(self, question: int, answer: Ranking, now: float) -> None:
        """Take an answer, also a late one."""
        try:
            self._run.tell(self._run.question(question), list(answer))
        except DuelError as error:
            raise ConflictError(f"{error} Ask for the next one.") from None

    def skip(self, question: int, reason: str | None) -> None:
        """Leave an opinion open for good."""
        self._run.skip(self._run.question(question), reason)

    def release(self, question: int, reason: str) -> None:
        """Take a question back."""
        self._run.release(self._run.question(question), reason)

    def undo(self, question: int, now: float) -> None:
        """Take an answer back."""
        self._run.undo(self._run.question(question))

    def settle(self) -> None:
        """Look at what has come."""
        self._run.settle()

    def expire(self, now: float) -> None:
        """Questions are released one by one; there are no ballots here."""

    # For organisers.

    def correct(self, question: int, answer: Ranking | None, clerical: bool) -> None:
        """Correct an answer, or strike it."""
        if answer is None:
            self._run.strike_answer(self._run.question(question), clerical=clerical)
        else:
            self._run.correct(self._run.question(question), list(answer), clerical=clerical)

    def strike(self, voter: str) -> None:
        """Leave out a judge."""
        self._run.strike(voter)

    def reinstate(self, voter: str) -> None:
        """Count a judge again."""
        self._run.reinstate(voter)

    def drop(self, candidate: str) -> None:
        """Take out a candidate."""
        self._run.drop(candidate)

    def add(self, candidate: str, positions: Sequence[str]) -> None:
        """Take in a late candidate."""
        self._run.add(candidate, positions)

    def enter(self, voter: str, weight: int, conflicts: Sequence[str]) -> None:
        """Take in a judge who comes late."""
        self._run.enter(voter, weight, conflicts)

    def leave(self, voter: str, open_answers: Literal["open", "dropped"]) -> None:
        """Ask a judge nothing more."""
        self._run.leave(voter, open_answers)

    def come_back(self, voter: str) -> None:
        """Ask a judge again who had left."""
        self._run.rejoin(voter)

    def conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Take a judge out of all pairs with some candidates."""
        self._run.declare_conflict(voter, candidates)

    # What follows.

    def think(self, patient: bool = True) -> None:
        """Nothing has to be computed first."""

    @property
    def done(self) -> bool:
        """Whether the outcome is certain, or nobody can be asked anything more."""
        return self._run.done

    @property
    def result(self) -> Result:
        """The result."""
        return self._run.result

    @property
    def progress(self) -> Progress:
        """Where the panel stands."""
        return self._run.progress

    @property
    def assuming(self) -> tuple[Assumption, ...]:
        """What the result takes for granted: consistent judges, if answers were inferred."""
        return self._run.result.assuming

    @property
    def points(self) -> list[Point]:
        """How it came there."""
        return self._trace.until(self._point())
