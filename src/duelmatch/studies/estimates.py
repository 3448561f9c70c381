"""What a study will probably come to, and what a change would do to it, both from one moment of its log.

That takes seconds, so whoever serves voters has it computed elsewhere: a :class:`Moment` has all that the
standings and the forecast are computed from, and can be sent to another process; a preview changes a copy of
the run.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from duelmatch.errors import DuelmatchError, NotThereError
from duelmatch.explorers.result import Forecast
from duelmatch.models.standings import Standings
from duelmatch.problem import Matching

if TYPE_CHECKING:
    from duelmatch.explorers.ballots.explorer import BallotExplorer
    from duelmatch.explorers.panel import PanelExplorer

SIMULATING = 1.0
"""Seconds of a processor for a forecast, unless told otherwise."""

MOST_ANSWERS = 20_000
"""With more answers there is no forecast: copying the run would keep voters waiting."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """What a study is estimated to come to, from its first ``answers`` that count, up to an entry of the log.

    No ``standings`` before the first answer, and no ``forecast`` of algorithms that work in rounds, nor where
    one would take too long.
    """

    entry: int
    answers: int
    standings: Standings | None
    forecast: Forecast | None


@dataclass(frozen=True, slots=True)
class Moment:
    """A study after an entry of its log, as far as estimates depend on it."""

    entry: int
    answers: int
    standings: Callable[[], Standings] | None
    run: bytes | None

    def estimated(self, seconds: float | None = SIMULATING) -> Estimates:
        """Compute the estimates; ``seconds`` of a processor are the limit for the forecast."""
        standings = found = None
        if self.standings is not None:
            with suppress(DuelmatchError):  # too large
                standings = self.standings()
        if self.run is not None:
            from duelmatch.explorers.forecasting import forecast  # compiled

            with suppress(DuelmatchError):
                found = forecast(pickle.loads(self.run), seconds=seconds)
        return Estimates(self.entry, self.answers, standings, found)


Action = Literal["strike", "reinstate", "drop", "leave", "strike_answer"]


@dataclass(frozen=True, slots=True)
class Standpoint:
    """Where a study stands, before or after a change.

    ``certain``: whether the result is certain, or proven. ``lineup`` is the result then, and else the leader
    of the standings, an estimate; None without any answer.
    """

    certain: bool
    status: str
    answers: int
    lineup: Matching | None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change would do."""

    before: Standpoint
    after: Standpoint


def preview(run: bytes, action: Action, what: str | int) -> Preview:
    """Say what a change would do to a run that was pickled."""
    before: Any = pickle.loads(run)
    after: Any = pickle.loads(run)
    _change(after, action, what)
    return Preview(_standpoint(before), _standpoint(after))


def _change(run: PanelExplorer | BallotExplorer, action: Action, what: Any) -> None:
    from duelmatch.explorers.panel import PanelExplorer  # compiled

    match action:
        case "strike" | "reinstate" | "drop":
            getattr(run, action)(what)
        case "leave" if isinstance(run, PanelExplorer):
            run.leave(what, "dropped")
        case "leave":
            run.leave(what)
        case "strike_answer" if isinstance(run, PanelExplorer):
            run.strike_answer(run.question(what))
        case "strike_answer":
            if (told := run.state.told_as(what)) is None:
                raise NotThereError(f"Question {what} has no answer.")
            run.strike_answer(told.question)


def _standpoint(run: PanelExplorer | BallotExplorer) -> Standpoint:
    from duelmatch.explorers.ballots.explorer import BallotExplorer

    result = run.result
    certain = result.status != "budget_spent"
    answers = run.state.counted if isinstance(run, BallotExplorer) else run.duels
    lineup = result.matching if certain else None
    if not certain and answers:
        try:
            lineup = run.standings().leader
        except DuelmatchError:  # too large
            lineup = result.matching
    return Standpoint(certain, result.status, answers, lineup)
