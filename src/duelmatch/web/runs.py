"""Runs in rounds that live in a worker process, which is killed if a round takes too long.

The paper's algorithms work out a round in compiled code and in linear programs, for as long as it takes; a
thread of the server could not be stopped. So a study has its run in the worker process, and here only what
the run wanted and said last. Should the worker have died, or have too many runs to keep them all, the run is
played again from the answers of its rounds.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from duelmatch.explorers.engine import Counts, Round
from duelmatch.explorers.explorer import Explorer
from duelmatch.explorers.result import Progress, Result
from duelmatch.problem import Problem
from duelmatch.studies import Settings, begin_run
from duelmatch.web.worker import round_worker, work_elsewhere

Seen = TypeVar("Seen")
Answers = tuple[Counts, Counts | None]

LONGEST_ROUND = 10.0
"""Seconds for the rounds that are sent at once."""

AT_ONCE = 100
"""Rounds that are played again in one go."""

MOST_RUNS = 20
"""In the worker."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a run wants next."""

    wanted: Round
    done: bool
    duels: int


class RemoteRun:
    """A run in the worker process."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self._key = secrets.token_hex(8)
        self._beginning = problem, settings
        self._rounds: list[Answers] = []
        self._played = 0
        """How many of the rounds the worker has."""
        self._summary: tuple[Result, Progress] | None = None
        self._outlook = self._look(outlook_of)

    @property
    def duels(self) -> int:
        """How many answers it has used."""
        return self._outlook.duels

    @property
    def done(self) -> bool:
        """Whether it is sure."""
        return self._outlook.done

    @property
    def result(self) -> Result:
        """What it says now."""
        return self._said()[0]

    @property
    def progress(self) -> Progress:
        """Where it stands."""
        return self._said()[1]

    def _said(self) -> tuple[Result, Progress]:
        if self._summary is None:
            self._summary = self._look(summary_of)
        return self._summary

    def wanted(self) -> Round:
        """Return the round that it wants now."""
        return self._outlook.wanted

    def tell_wins(self, wins: Counts, ties: Counts | None = None) -> None:
        """Take the answers of the round, and work out the next."""
        self._rounds.append((wins, ties))
        self._summary = None
        self._outlook = self._look(outlook_of)

    def _look(self, look: Callable[[Explorer], Seen]) -> Seen:
        """Let the worker catch up, and look at the run.

        :raises ExhaustedError: if a round takes too long, or too much memory.
        :raises UnreachableError: if the worker is busy with other studies for too long.
        """
        beginning = None if self._played else self._beginning
        while True:
            batch = self._rounds[self._played : self._played + AT_ONCE]
            task = self._key, beginning, self._played, batch, look
            seen = work_elsewhere(play, *task, seconds=LONGEST_ROUND, by=round_worker)
            if seen is None:  # the worker does not have it, or not any more
                self._played, beginning = 0, self._beginning
                continue
            self._played, beginning = self._played + len(batch), None
            if self._played == len(self._rounds):
                found: Seen = seen
                return found


# In the worker process.

_runs: OrderedDict[str, tuple[int, Explorer]] = OrderedDict()
"""How many rounds each has played."""


def play(
    key: str,
    beginning: tuple[Problem, Settings] | None,
    played: int,
    rounds: Sequence[Answers],
    look: Callable[[Explorer], Seen],
) -> Seen | None:
    """Play more rounds of a run after those ``played``, and look at it; None if there is no such run."""
    known = _runs.pop(key, None)
    if beginning is not None:
        known = 0, begin_run(*beginning)
    if known is None or known[0] != played:
        return None
    run = known[1]
    for wins, ties in rounds:
        run.tell_wins(wins, ties)
    _runs[key] = played + len(rounds), run
    if len(_runs) > MOST_RUNS:
        _runs.popitem(last=False)
    return look(run)


def outlook_of(run: Explorer) -> Outlook:
    """Return what a run wants next, in a form that can be sent to another process."""
    wanted = run.wanted()
    if wanted.order is not None:
        wanted = replace(wanted, order=wanted.order().copy)
    return Outlook(wanted, run.done, run.duels)


def summary_of(run: Explorer) -> tuple[Result, Progress]:
    """Return what a run says."""
    return run.result, run.progress
