"""The verdict of a crowd: which line-ups are out, by every count that there has been, and what is proven."""

from __future__ import annotations

from math import log as logarithm

import numpy as np

from duelmatch.verify.contest import Contest
from duelmatch.verify.log import Count, StudyLog, Verdict
from duelmatch.verify.wealth import ListedWealth, TabledWealth


class CrowdVerdict:
    """Settles the ballots of a log, in the order in which they were opened."""

    def __init__(self, log: StudyLog) -> None:
        self.log, self.contest = log, Contest(log)
        self._rows = self.contest.rows(self.contest.usable)

    def evidence(self, counts: list[Count]) -> list[ListedWealth | TabledWealth]:
        """Return what follows by each count."""
        contest, rows = self.contest, self._rows
        found: list[ListedWealth | TabledWealth] = [
            TabledWealth(contest, count) if rows is None else ListedWealth(contest, count, rows)
            for count in counts
        ]
        for number, ballot in enumerate(self.log.ballots[: self.log.settled()]):
            for each in found:
                each.settle(number, ballot, self.log.designs[ballot.design])
        return found

    def verdict(self) -> Verdict:
        """Return what is proven by every count that there has been, or by the last if that was agreed on."""
        log, contest = self.log, self.contest
        every = log.setting("counting", "least") == "least"
        found = self.evidence(log.counts if every else log.counts[-1:])
        possible = np.unique(np.concatenate([each.possible().ravel() for each in found]))
        champion = log.designs[-1].champion if log.designs else None
        if not len(possible):
            return Verdict("certified", champion) if contest.borda else Verdict("no_winner", None)
        alone = contest.usable.sum() == len(log.positions)
        if len(possible) == len(log.positions) and (contest.winner_exists or alone):
            return Verdict("certified", contest.lineup(possible))
        if all(each.is_proven(self._needed(each)) for each in found):
            row = found[-1].proof_for
            if row is not None and log.dropped.isdisjoint(contest.lineup(row)):
                return Verdict("within_epsilon" if contest.slack else "certified", contest.lineup(row))
        stays = champion is not None and log.dropped.isdisjoint(champion)
        return Verdict("budget_spent", champion if stays else None)

    def _needed(self, found: ListedWealth | TabledWealth) -> float:
        """Return the logarithm of the wealth that a proof needs: all that are tried share delta."""
        return self.contest.threshold + logarithm(max(found.proof * (found.proof + 1), 1))
