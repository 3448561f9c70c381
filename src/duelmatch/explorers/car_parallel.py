"""CAR-Parallel (Algorithm 3): CAR-Verify at confidences delta/2, delta/4, ..., interleaved.

The listing: at tick t = 1, 2, ... every sub-run k = 0, 1, 2, ... with 2^k dividing t is begun, if it was
not, and resumed for one duel. The first to certify a matching ends the run; one whose guess was refuted is
dropped. k starts at 0, so that delta/2^(k+1) adds up to delta. Sub-runs share no answers.

A sub-run changes only when a round of its own is complete. So the duels of all ticks up to the first such
moment are handed out as one round, in the order of the ticks: no question depends on an answer in between.
"""

from __future__ import annotations

from collections.abc import Generator
from math import inf

import numpy as np
from numpy.typing import NDArray

from duelmatch.explorers.car_cond import Schedule
from duelmatch.explorers.car_verify import CarVerify
from duelmatch.explorers.engine import Engine, Outcome, Round, RoundAnswers, Rounds, Snapshot
from duelmatch.explorers.oracle import Method
from duelmatch.graph import Graph, Indices

Moment = tuple[float, int]
"""(tick, k): sub-run k is resumed at this tick. Moments follow each other in the order of tuples."""


class CarParallel:
    """One run; no seed is used."""

    def __init__(
        self, graph: Graph, delta: float, seed: int = 0, schedule: Schedule = "sparse", oracle: Method = "lp"
    ) -> None:
        self._graph = graph
        self._delta = delta
        self._schedule: Schedule = schedule
        self._oracle: Method = oracle
        self._runs: list[_SubRun] = []

    def rounds(self) -> Rounds:
        """Run the listing, from one moment at which something changes to the next."""
        while True:
            k = len(self._runs)
            begins = (2**k, k)
            ends = min((run.end_of_round for run in self._runs), default=(inf, 0))
            yield from self._resume_until(min(begins, ends))
            if begins < ends:
                confidence = self._delta / 2 ** (k + 1)
                verify = CarVerify(self._graph, confidence, schedule=self._schedule, oracle=self._oracle)
                self._runs.append(_SubRun(k, Engine(verify, self._graph, tested=True)))
            if (outcome := self._certified()) is not None:
                return outcome

    def _certified(self) -> Outcome | None:
        outcomes = (run.engine.outcome for run in self._runs)
        return next((outcome for outcome in outcomes if outcome and outcome.status == "certified"), None)

    def _resume_until(self, moment: Moment) -> Generator[Round, RoundAnswers, None]:
        """Hand out the duels of all ticks up to this moment, and give each sub-run its answers."""
        runs = self._runs
        if not runs:
            return
        shares = [run.share(moment) for run in runs]
        wanted = [run.engine.wanted for run in runs]
        starts = np.cumsum([0] + [len(own.first) for own in wanted])

        def by_tick() -> Indices:
            pair = np.concatenate([start + share for start, share in zip(starts, shares, strict=False)])
            tick = np.concatenate([run.ticks(len(share)) for run, share in zip(runs, shares, strict=True)])
            k = np.repeat(np.arange(len(runs)), [len(share) for share in shares])
            in_order: Indices = pair[np.lexsort((k, tick))]
            return in_order

        counts = [
            np.bincount(share, minlength=len(own.first)) for share, own in zip(shares, wanted, strict=True)
        ]
        duels = Round(
            np.concatenate([own.first for own in wanted]),
            np.concatenate([own.second for own in wanted]),
            np.concatenate(counts),
            by_tick,
        )
        answers = (yield duels) if duels.total else RoundAnswers.none(duels)
        for run, share, start, end in zip(runs, shares, starts, starts[1:], strict=False):
            run.answer(len(share), answers.part(slice(start, end)))

    def snapshot(self) -> Snapshot:
        """Report the sub-run that is furthest: the first that has not been refuted."""
        engines = [run.engine for run in self._runs]
        alive = [own for own in engines if own.outcome is None or own.outcome.matching is not None]
        return (alive or engines)[0].snapshot


class _SubRun:
    """CAR-Verify number k, and how many duels it has been resumed for."""

    def __init__(self, k: int, engine: Engine) -> None:
        self.engine = engine
        self._k = k
        self._resumed = 0
        self._turns = engine.wanted.turns()

    @property
    def end_of_round(self) -> Moment:
        """The moment at which its round will be complete."""
        left = self.engine.missing
        return (2**self._k * (self._resumed + left), self._k) if left else (inf, self._k)

    def share(self, moment: Moment) -> Indices:
        """Return the pairs of the duels it is resumed for until a moment, in order."""
        tick, k = moment
        resumed = int(tick) // 2**self._k
        if self._k > k and int(tick) % 2**self._k == 0:  # its turn comes later in that tick
            resumed -= 1
        answered = len(self._turns) - self.engine.missing
        return self._turns[answered : answered + resumed - self._resumed]

    def ticks(self, number: int) -> NDArray[np.int64]:
        """Return the ticks of its next duels."""
        ticks: NDArray[np.int64] = 2**self._k * np.arange(self._resumed + 1, self._resumed + number + 1)
        return ticks

    def answer(self, number: int, answers: RoundAnswers) -> None:
        """Take the answers to its next ``number`` duels."""
        if number:
            self._resumed += number
            before = self.engine.wanted
            self.engine.tell_many(answers, number)
            if self.engine.wanted is not before:
                self._turns = self.engine.wanted.turns()
