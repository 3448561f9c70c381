"""CAR-Parallel (Algorithm 3): CAR-Verify at confidences delta/2, delta/4, ..., interleaved.

At tick t = 1, 2, ... every sub-run k = 0, 1, 2, ... with 2^k dividing t is resumed for one duel. The first
to certify a matching ends the run; one whose guess was refuted is dropped. k starts at 0, so that
delta/2^(k+1) adds up to delta. Sub-runs share no answers.

A sub-run changes only when a round of its own is complete. So the duels of all ticks up to the first such
moment are handed out as one round, in the order of the ticks: no question depends on an answer in between.
"""

from __future__ import annotations

from collections.abc import Generator
from math import inf

import numpy as np
from numpy.typing import NDArray

from duelmatch.explorers.car_cond import Oracle, Schedule
from duelmatch.explorers.car_verify import CarVerify
from duelmatch.explorers.rounds import NOTHING, Outcome, Round, Rounds, Standing
from duelmatch.graph import Graph, Indices

Moment = tuple[float, int]
"""(tick, k): sub-run k is resumed at this tick. Moments follow each other in the order of tuples."""


class CarParallel:
    """One run."""

    def __init__(
        self, graph: Graph, delta: float, schedule: Schedule = "sparse", oracle: Oracle = "lp"
    ) -> None:
        self._graph = graph
        self._delta = delta
        self._schedule: Schedule = schedule
        self._oracle: Oracle = oracle
        self._runs: list[_SubRun] = []

    def rounds(self) -> Rounds:
        """Run the listing."""
        self._start_next()
        while True:
            if (outcome := self._certified()) is not None:
                return outcome
            next_start = (2 ** len(self._runs), len(self._runs))
            first_end = min(run.end_of_round for run in self._runs)
            yield from self._play_until(min(first_end, next_start))
            if next_start < first_end:
                self._start_next()

    def _start_next(self) -> None:
        k = len(self._runs)
        verify = CarVerify(self._graph, self._delta / 2 ** (k + 1), self._schedule, self._oracle)
        self._runs.append(_SubRun(k, verify))

    def _certified(self) -> Outcome | None:
        for run in self._runs:
            if run.outcome is not None and run.outcome.status == "certified":
                return run.outcome
        return None

    def _play_until(self, moment: Moment) -> Generator[Round, NDArray[np.int64], None]:
        """Hand out the duels of all moments up to this one, and give each sub-run its answers."""
        shares = [run.share(moment) for run in self._runs]
        starts = np.cumsum([0] + [len(run.round.first) for run in self._runs])

        def by_tick() -> Indices:
            pair = np.concatenate([start + share for start, share in zip(starts, shares, strict=False)])
            tick = np.concatenate(
                [run.ticks(len(share)) for run, share in zip(self._runs, shares, strict=True)]
            )
            k = np.repeat(np.arange(len(shares)), [len(share) for share in shares])
            in_order: Indices = pair[np.lexsort((k, tick))]
            return in_order

        counts = [
            np.bincount(share, minlength=len(run.round.first))
            for run, share in zip(self._runs, shares, strict=True)
        ]
        duels = Round(
            np.concatenate([run.round.first for run in self._runs]),
            np.concatenate([run.round.second for run in self._runs]),
            np.concatenate(counts),
            by_tick,
        )
        wins = (yield duels) if duels.total else duels.count
        for number, run in enumerate(self._runs):
            run.answer(len(shares[number]), wins[starts[number] : starts[number + 1]])

    def standing(self) -> Standing:
        """Report the sub-run that is furthest: the first that has not been refuted."""
        alive = [run for run in self._runs if run.outcome is None or run.outcome.matching is not None]
        return (alive or self._runs)[0].verify.standing()


class _SubRun:
    """CAR-Verify number k, suspended somewhere in a round of its own."""

    def __init__(self, k: int, verify: CarVerify) -> None:
        self.verify = verify
        self.outcome: Outcome | None = None
        self.round = NOTHING
        self._k = k
        self._rounds = verify.rounds()
        self._duels_done = 0
        self._proceed(None)

    @property
    def end_of_round(self) -> Moment:
        """The moment at which its round will be complete."""
        left = len(self._turns) - self._answered
        return (2**self._k * (self._duels_done + left), self._k) if left else (inf, self._k)

    def share(self, moment: Moment) -> Indices:
        """Return the pairs of the duels it is resumed for until a moment, in order."""
        if self.outcome is not None:
            return self._turns[:0]
        tick, k = moment
        resumed = int(tick) // 2**self._k
        if self._k > k and int(tick) % 2**self._k == 0:  # its turn comes later in that tick
            resumed -= 1
        return self._turns[self._answered : self._answered + resumed - self._duels_done]

    def ticks(self, number: int) -> NDArray[np.int64]:
        """Return the ticks of its next duels."""
        ticks: NDArray[np.int64] = 2**self._k * np.arange(self._duels_done + 1, self._duels_done + number + 1)
        return ticks

    def answer(self, number: int, wins: NDArray[np.int64]) -> None:
        """Take the wins of its last ``number`` duels, and go on if that completes its round."""
        self._duels_done += number
        self._answered += number
        self._wins += wins
        if number and self._answered == len(self._turns):
            self._proceed(self._wins)

    def _proceed(self, wins: NDArray[np.int64] | None) -> None:
        self._answered = 0
        try:
            self.round = next(self._rounds) if wins is None else self._rounds.send(wins)
            while self.round.total == 0:
                self.round = self._rounds.send(self.round.count)
        except StopIteration as stop:
            self.outcome, self.round = stop.value, NOTHING
        self._turns = self.round.turns()
        self._wins = np.zeros(len(self.round.first), dtype=np.int64)
