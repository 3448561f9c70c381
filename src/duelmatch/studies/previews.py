"""What a change would do to a study, before it is made: a copy of the run is changed instead."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from duelmatch.errors import DuelmatchError, NotAllowedError, NotThereError
from duelmatch.problem import Matching

if TYPE_CHECKING:
    from duelmatch.explorers.ballots.explorer import BallotExplorer
    from duelmatch.explorers.panel import PanelExplorer

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
    from duelmatch.explorers.ballots.explorer import BallotExplorer  # compiled, as the other is
    from duelmatch.explorers.panel import PanelExplorer

    match action, run:
        case "strike", _:
            run.strike(what)
        case "reinstate", _:
            run.reinstate(what)
        case "drop", _:
            run.drop(what)
        case "leave", PanelExplorer():
            run.leave(what, "dropped")
        case "leave", _:
            run.leave(what)
        case _, PanelExplorer():
            run.strike_answer(run.question(what))
        case _, BallotExplorer():
            if (told := run.state.told_as(what)) is None:
                raise NotThereError(f"Question {what} has no answer.")
            run.strike_answer(told.question)
        case _:
            raise NotAllowedError("There is no such change.")


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
