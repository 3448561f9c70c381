"""What to expect of a run: how many answers it still takes, and what so many voters in so much time bring.

It is simulated: worlds are drawn that agree with the answers so far, a copy of the run goes on in each, and
the outcomes are reported. Of n = 10 k - 1 simulations, the k-th smallest and the k-th largest
number bound 80% of what may come: one world more falls between them with probability
(n + 1 - 2 k) / (n + 1) = 8/10, if it is like those drawn. How often that holds is measured
(docs/forecast.md).

All simulations go on side by side, so that none is left out because it takes long: if time runs out before
one has ended, it is reported to take more answers than it has had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from time import thread_time
from typing import Any

import numpy as np

from duelmatch.errors import ProblemError, TooLargeError, brief
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.continuations import Continuation, Run, begun_anew, continuations, shortfall_of
from duelmatch.explorers.crowd import CrowdExplorer
from duelmatch.explorers.explorer import Explorer
from duelmatch.explorers.panel import PanelExplorer
from duelmatch.explorers.result import Forecast

SECONDS_A_CANDIDATE = 15.0
"""How long a voter takes for each candidate of a question, unless given: half a minute for two."""

LOT = 10
"""How many simulations are begun at a time; the first lot has one fewer."""

_NEVER = 1 << 62

MOST_ROUNDS = 100_000
"""After so many rounds a simulation is given up."""


@dataclass(slots=True)
class _Ending:
    """How a simulation went."""

    given: int = 0
    certain: bool = False
    planned: tuple[int, bool, tuple[float, bool] | None] | None = None
    """When the planned time was over: answers, whether it was certain, and the leader's shortfall."""


def forecast(
    run: Any,
    voters: int | None = None,
    minutes: float | None = None,
    seconds_each: float | None = None,
    *,
    simulations: int = 19,
    seconds: float | None = None,
    seed: int = 0,
) -> Forecast:
    """Say what to expect of a run, which is left as it is.

    ``run`` is what :func:`duelmatch.explorer` returns, before its first answer or later; how a run of duels
    goes on can be told before its first answer only. ``voters`` come, or the judges of a panel are there,
    for ``minutes``; a question takes them ``seconds_each``, or 15 seconds for each of its candidates. A voter
    of a crowd has one ballot, however many minutes there are. The simulations stop after so many ``seconds``
    of a processor; what is said then depends on how far they came, and else on the ``seed`` only.

    :raises ProblemError: for a number out of range, or a run that cannot be copied.
    """
    for name, number in (("voters", voters), ("minutes", minutes), ("seconds_each", seconds_each)):
        if number is not None and not 0 < number < 1e9:
            raise ProblemError(f"{name} must be a number above 0, not {number!r:.50}.")
    if simulations < LOT - 1:
        raise ProblemError(f"A forecast takes {LOT - 1} simulations or more, not {simulations!r:.50}.")
    run = _of_voters(run)
    asks = run.law if isinstance(run, BallotExplorer) else run
    size = 2 if isinstance(asks, Explorer) else asks.question_size
    pace = SECONDS_A_CANDIDATE * size if seconds_each is None else seconds_each
    each = None if minutes is None else max(1, int(60 * minutes / pace))
    plan = _Plan(None, voters, each, pace)
    if isinstance(run, PanelExplorer):
        plan = _Plan(each, len(run.voters), each, pace)
    elif isinstance(run, BallotExplorer):
        plan = _Plan(voters, voters, min(each or run.law.size, run.law.size), pace)
    end = np.inf if seconds is None else thread_time() + seconds
    return _summary(run, plan, _endings(run, plan, simulations, end, np.random.default_rng([seed, 13])))


@dataclass(frozen=True, slots=True)
class _Plan:
    """Who comes: ``rounds`` is after how many rounds of a continuation their time is over, if it is known."""

    rounds: int | None
    voters: int | None
    questions_each: int | None
    seconds_each: float


def _of_voters(run: Any) -> Run:
    """Return the run of voters that one is, or is going to be."""
    if isinstance(run, CrowdExplorer):
        if run.of_voters:
            return run.ballots
        if not run.duels:
            return begun_anew(run).ballots
    if not isinstance(run, PanelExplorer | BallotExplorer | Explorer):
        raise ProblemError(f"A forecast is of a run that dm.explorer returns, not of {brief(run)}.")
    return run


def _endings(run: Run, plan: _Plan, most: int, end: float, rng: np.random.Generator) -> list[_Ending]:
    """Simulate one lot after the other, as long as there is time for another."""
    patience = plan.questions_each if isinstance(run, BallotExplorer) else None
    endings: list[_Ending] = []
    count = LOT - 1
    while len(endings) + count <= most:
        began = thread_time()
        endings += _together(run, continuations(run, count, patience, rng), plan.rounds, end)
        count = LOT
        if thread_time() + 1.5 * (thread_time() - began) > end:
            break
    return endings


def _together(run: Run, going: Sequence[Continuation], rounds: int | None, end: float) -> list[_Ending]:
    """Let some continuations go on side by side, until all are certain or time is over."""
    endings = [_Ending() for _ in going]
    active = list(zip(going, endings, strict=True))
    for number in range(1, MOST_ROUNDS):
        still = []
        for each, ending in active:
            over = each.certain or not each.step() or each.certain
            ending.given, ending.certain = each.answers, each.certain
            if ending.planned is None and (number == rounds or over):
                ending.planned = each.answers, ending.certain, _quality(run, each)
            if not over and thread_time() < end:
                still.append((each, ending))
        active = still
        if not active:
            break
    return endings


def _quality(run: Run, each: Continuation) -> tuple[float, bool] | None:
    leader = each.leader
    try:
        return None if leader is None else shortfall_of(run, each.table, leader)
    except TooLargeError:
        return None


def _summary(run: Run, plan: _Plan, endings: Sequence[_Ending]) -> Forecast:
    cut = min((ending.given for ending in endings if not ending.certain), default=None)
    ordered = sorted(ending.given if ending.certain else _NEVER for ending in endings)
    rank = (len(ordered) + 1) // LOT

    def told(place: int) -> int | None:
        number = ordered[place - 1]
        return number if number < _NEVER and (cut is None or number <= cut) else None

    found = Forecast(
        len(ordered), told(rank), told((len(ordered) + 1) // 2), told(len(ordered) + 1 - rank), cut
    )
    found = replace(found, begun=(run.answers if isinstance(run, BallotExplorer) else run.duels) > 0)
    if isinstance(run, PanelExplorer):
        progress, pairs = run.progress, run.question_size * (run.question_size - 1) // 2
        fewest = ceil((progress.fewest_questions or 0) / pairs)
        found = replace(found, fewest=min(fewest, ordered[0]), most=progress.open_answers)
    planned = [ending.planned for ending in endings if ending.planned is not None]
    if plan.rounds is None or len(planned) < len(endings):
        return found
    quality = [each for _, _, each in planned if each is not None]
    return replace(
        found,
        voters=plan.voters,
        questions_each=plan.questions_each,
        seconds_each=plan.seconds_each,
        planned=round(sum(answers for answers, _, _ in planned) / len(planned)),
        certain=sum(certain for _, certain, _ in planned) / len(planned),
        best=sum(best for _, best in quality) / len(quality) if quality else None,
        shortfall=sum(short for short, _ in quality) / len(quality) if quality else None,
    )
