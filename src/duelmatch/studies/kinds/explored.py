"""What panels and crowds have in common: an explorer that decides, and whose events are the log."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.explorers.questions import Question
from duelmatch.explorers.result import Progress, Result
from duelmatch.models.standings import Standings
from duelmatch.studies.kinds import Event, Kind, Later, Trace
from duelmatch.studies.values import Point, Ranking


class ExploredKind(Kind):
    """An explorer behind the contract of studies; nothing has to be computed before the next question."""

    ready = True
    missing = unused = 0
    looks_at = ""
    """The kind of event after which the history is looked at."""

    def __init__(self, run: BallotExplorer | PanelExplorer) -> None:
        self.record = None
        self._run = run
        self._run.record = self._recorded
        self._run.ahead = self._ahead
        self._trace = Trace()

    def _ahead(self, event: Event) -> None:
        """Stop a transaction from computing what takes long and was not computed before."""
        if self.record is not None:
            raise Later(event)

    def _recorded(self, event: Event) -> None:
        self._follow(event)
        if self.record is not None:
            self.record(event)

    def note(self, event: Event) -> None:
        self._run.note(event)
        self._follow(event)

    def _follow(self, event: Event) -> None:
        if event["kind"] == self.looks_at:
            self._trace.follow(self._answers, self._point)

    _answers: int
    """How many answers there are."""

    def _point(self) -> Point:
        raise NotImplementedError

    def _asked(self, question: int) -> Question:
        """Return a question that can be answered, as the explorer knows it."""
        raise NotImplementedError

    def _told(self, question: int) -> Question:
        """Return a question that has an answer, as the explorer knows it."""
        return self._asked(question)

    def check_answerable(self, question: int) -> None:
        self._asked(question)

    def skip(self, question: int, reason: str | None) -> None:
        self._run.skip(self._asked(question), reason)

    def release(self, question: int, reason: str) -> None:
        self._run.release(self._asked(question), reason)

    def settle(self) -> None:
        self._run.settle()

    def correct(self, question: int, answer: Ranking | None, clerical: bool) -> None:
        if answer is None:
            self._run.strike_answer(self._told(question))
        else:
            self._run.correct(self._told(question), list(answer), clerical=clerical)

    def strike(self, voter: str) -> None:
        self._run.strike(voter)

    def reinstate(self, voter: str) -> None:
        self._run.reinstate(voter)

    def drop(self, candidate: str) -> None:
        self._run.drop(candidate)

    def add(self, candidate: str, positions: Sequence[str]) -> None:
        self._run.add(candidate, positions)

    def look(self) -> None:
        """Count what the answers say."""
        self._run.done  # noqa: B018 (it is computed, and kept)

    def takes_long(self, event: Event) -> bool:
        return self._run.takes_long(event)

    def working_out(self, event: Event) -> Callable[[], Any]:
        return partial(_worked_out, self.run_to_go_on(), event)

    def keep(self, worked_out: Any) -> None:
        self._run.keep(worked_out)

    @property
    def done(self) -> bool:
        return self._run.done

    @property
    def result(self) -> Result:
        return self._run.result

    @property
    def progress(self) -> Progress:
        return self._run.progress

    def standings_later(self) -> Callable[[], Standings]:
        return self._run.standings_later()

    def run_to_go_on(self) -> bytes:
        run = copy(self._run)
        run.record = run.ahead = None
        return pickle.dumps(run)

    @property
    def points(self) -> list[Point]:
        return self._trace.until(self._point())


def _worked_out(run: bytes, event: Event) -> Any:
    """Compute the effect of an event on a pickled run."""
    return pickle.loads(run).recount(event)
