"""The verdict of a crowd: which line-ups are out, whatever was corrected when, and what is proven."""

from __future__ import annotations

from math import log as logarithm

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
    # a proof needs more wealth the more proofs are tried: they share delta
    tries = (max(wealth.proof * (wealth.proof + 1), 1) for wealth in found)
    if all(one.is_proven(problem.threshold + logarithm(k)) for one, k in zip(found, tries, strict=True)):
        row = found[-1].proof_for
        if row is not None and problem.stays(problem.lineup(row)):
            return LineupVerdict("within_epsilon" if problem.slack else "certified", problem.lineup(row))
    return LineupVerdict("budget_spent", champion if problem.stays(champion) else None)
