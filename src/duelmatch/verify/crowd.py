"""The verdict of a crowd: which line-ups are out, whatever was corrected when, and what is proven."""

from __future__ import annotations

import numpy as np

from duelmatch.verify.crowd_problem import CrowdProblem
from duelmatch.verify.log import LineupVerdict, StudyLog
from duelmatch.verify.wealth import ListedWealth, TabledWealth


def crowd_verdict(log: StudyLog) -> LineupVerdict:
    """Return what is proven with all corrections that there have been, or with the last if so agreed."""
    problem = CrowdProblem(log)
    rows = problem.rows(problem.usable)
    every = log.setting("counting", "least") == "least"
    found: list[ListedWealth | TabledWealth] = [
        TabledWealth(problem, corrections) if rows is None else ListedWealth(problem, corrections, rows)
        for corrections in (log.corrections if every else log.corrections[-1:])
    ]
    for number, ballot in enumerate(log.ballots[: log.settled()]):
        for wealth in found:
            wealth.settle(number, ballot, log.designs[ballot.design])
    possible = np.unique(np.concatenate([wealth.possible().ravel() for wealth in found]))
    champion = log.designs[-1].champion if log.designs else None
    if not len(possible):
        return LineupVerdict("certified", champion) if problem.borda else LineupVerdict("no_winner", None)
    alone = problem.usable.sum() == problem.places
    if len(possible) == problem.places and (problem.winner_exists or alone):
        return LineupVerdict("certified", problem.lineup(possible))
    if problem.stays(proven := found[-1].proof_for) and all(wealth.is_proven() for wealth in found):
        return LineupVerdict("within_epsilon" if problem.slack else "certified", proven)
    return LineupVerdict("budget_spent", champion if problem.stays(champion) else None)
