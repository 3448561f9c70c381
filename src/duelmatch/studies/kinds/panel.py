"""Studies of a panel: a known group decides, and is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from duelmatch.errors import ConflictError, DuelError, StudyError
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.explorers.questions import Question
from duelmatch.explorers.result import Result
from duelmatch.problem import Problem
from duelmatch.studies.kinds import Event, Newcomer, shown
from duelmatch.studies.kinds.explored import ExploredKind
from duelmatch.studies.settings import Settings
from duelmatch.studies.values import Point, Ranking, Reason


class PanelKind(ExploredKind):
    """A :class:`PanelExplorer` behind the contract of studies."""

    looks_at = "backed"
    _run: PanelExplorer

    def __init__(self, problem: Problem, settings: Settings, voters: Sequence[Mapping[str, Any]]) -> None:
        if not voters:
            raise StudyError("A panel needs its voters: name at least one at the beginning.")
        run = PanelExplorer(
            problem,
            [voter["id"] for voter in voters],
            conflicts={voter["id"]: voter["conflicts"] for voter in voters},
            voter_weight={voter["id"]: voter["weight"] for voter in voters},
            questions_each=settings.questions_each,
            **settings.parameters,
        )
        run.shown = partial(shown, settings.seed or 0)  # nobody is to be always on the left
        self._answers = 0
        super().__init__(run)

    def _follow(self, event: Event) -> None:
        self._answers += (event["kind"] == "answered") - (event["kind"] == "undone")
        super()._follow(event)

    def _point(self) -> Point:
        return Point(self._answers, shortfall=self._run.result.shortfall)

    def _asked(self, question: int) -> Question:
        return self._run.question(question)

    def ask(self, voter: str, now: float) -> Reason | None:
        """Put the most useful question to a judge that is theirs to answer."""
        if self._run.ask(1, voter):
            return None
        if self._run.done:
            return "all yours" if self._run.result.status == "budget_spent" else "done"
        return "waiting" if self._run.can_be_asked(voter) else "all yours"

    def tell(self, question: int, answer: Ranking, now: float) -> None:
        """Take an answer, also a late one."""
        try:
            self._run.tell(self._asked(question), list(answer))
        except DuelError as error:
            raise ConflictError(f"{error} Ask for the next one.") from None

    def undo(self, question: int, now: float) -> None:
        self._run.undo(self._asked(question))

    def enter(self, voters: Sequence[Newcomer]) -> None:
        self._run.enter_all(voters)

    def leave(self, voter: str, open_answers: Literal["open", "dropped"]) -> None:
        self._run.leave(voter, open_answers)

    def come_back(self, voter: str) -> None:
        self._run.rejoin(voter)

    def conflict(self, voter: str, candidates: Sequence[str]) -> None:
        self._run.declare_conflict(voter, candidates)

    def clear_conflict(self, voter: str, candidates: Sequence[str]) -> None:
        """Let a judge judge some candidates again; what was said about them counts again."""
        self._run.clear_conflict(voter, candidates)

    @property
    def last_result(self) -> Result:
        """The result if nobody is asked any more: if nothing is certain, what falls short least."""
        return self._run.last_result

    @property
    def assuming(self) -> tuple[Assumption, ...]:
        """What the result takes for granted: consistent judges, if answers were inferred."""
        return self._run.result.assuming
