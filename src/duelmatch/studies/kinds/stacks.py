"""A run of an algorithm that works in rounds, and the answers it has or is waiting for.

An algorithm wants rounds of duels. Voters answer when they like, late, twice as many as asked for, and some
answers are taken back. In between stands, for every pair of candidates at a position, the *stack* of its
answers in the order of the log. A round takes from the bottom of each stack what it wants, as soon as all of
it is there; what it leaves waits for a later round.

So the state of the run is a function of the stacks: no matter when an answer came, who else was asked, or
what was being asked then. That is what makes a replay exact, lets every late or surplus answer count, and
makes it sound to go on after answers were removed. It is also what the guarantees assume: the k-th answer to
a question is independent of all others, and which questions get a k-th answer is decided without looking at
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from duelmatch.explorers.catalogue import BUILT_IN, described
from duelmatch.explorers.engine import Counts, Round
from duelmatch.explorers.explorer import Explorer
from duelmatch.problem import Problem
from duelmatch.studies.kinds import Begin, Trace
from duelmatch.studies.settings import Settings
from duelmatch.studies.values import Point

Pair = tuple[int, int, int]
"""A position and two of its candidates, by number, the lower first; late candidates do not move them."""

OFTEN = 1 << 40
"""More than any count of answers: how often a voter was asked a question comes before everything else."""


class Stacks:
    """The run, the stacks of answers, and what the present round still needs."""

    def __init__(
        self, problem: Problem, dropped: Iterable[str], settings: Settings, begin: Begin | None = None
    ) -> None:
        self.problem = problem.without({*dropped})
        self.run = (begin or begin_run)(self.problem, settings)
        self.trace = Trace()
        self._ahead = settings.ahead
        self._edges = [
            (problem.position_number(position), problem.candidate_number(candidate))
            for candidate, position in self.problem.edges
        ]
        self._known = set(self._edges)
        self._stacks: dict[Pair, list[tuple[int, float]]] = {}
        self._taken: Counter[Pair] = Counter()
        self._leased: Counter[Pair] = Counter()
        self.answers = 0
        """How many answers there are, those included that the run has used."""
        self.install()

    # The answers and leases, as the log brings them.

    def push(self, question: int, pair: Pair, value: float) -> None:
        """Put an answer on its stack: 1 if the lower of the pair is better, 0 if the higher, or 1/2."""
        if not self.concerns(pair):
            return
        self._stacks.setdefault(pair, []).append((question, value))
        self.answers += 1
        self._change(pair, 1, 0)

    def remove(self, question: int, pair: Pair) -> bool:
        """Take an answer away, unless the run has used it; say whether that was possible."""
        stack = self._stacks.get(pair, [])
        for place in range(len(stack) - 1, self._taken[pair] - 1, -1):
            if stack[place][0] == question:
                del stack[place]
                self.answers -= 1
                self._change(pair, -1, 0)
                return True
        return not self.concerns(pair)

    def lease(self, pair: Pair, change: int) -> None:
        """Note that a question was handed out (1) or given back (-1)."""
        self._leased[pair] += change
        self._change(pair, 0, change)

    def concerns(self, pair: Pair) -> bool:
        """Whether both candidates of a question are still there."""
        position, low, high = pair
        return (position, low) in self._known and (position, high) in self._known

    def _change(self, pair: Pair, answers: int, leases: int) -> None:
        slot = self._slot.get(pair)
        if slot is None:
            return
        before = min(self._answered[slot], self._need[slot])
        self._answered[slot] += answers
        self._given[slot] += answers + leases
        self.missing -= int(min(self._answered[slot], self._need[slot]) - before)

    # The round.

    @property
    def complete(self) -> bool:
        """Whether all answers of the round are there."""
        return self.missing == 0 and not self.over

    def take(self) -> tuple[Counts, Counts]:
        """Take the answers of the round: how often the first of each pair won, and how often nobody did."""
        wanted = self._round
        if len(self._slot) < len(self._pairs):  # a question for several purposes: its answers go round
            turns = wanted.turns().tolist()
        else:
            turns = np.repeat(np.arange(len(self._pairs)), wanted.count).tolist()
        wins, ties = [0] * len(self._pairs), [0] * len(self._pairs)
        for number in turns:
            pair = self._pairs[number]
            value = self._stacks[pair][self._taken[pair]][1]
            self._taken[pair] += 1
            if value == 0.5:
                ties[number] += 1
            else:
                wins[number] += (value == 1.0) == self._low_is_first[number]
        return np.array(wins, dtype=np.int64), np.array(ties, dtype=np.int64)

    def play(self, wins: Counts, ties: Counts) -> None:
        """Let the algorithm work out what it wants next; that can take long."""
        self.run.tell_wins(wins, ties)
        self.trace.follow(self.run.duels, self.point)

    def point(self) -> Point:
        """Say where the run stands, for the history."""
        progress = self.run.progress
        decided = len(progress.accepted) + len(progress.rejected)
        edges = decided + len(progress.undecided)
        sure = None if progress.p_value is None else max(0.0, 1 - progress.p_value)
        return Point(progress.duels, sure, decided / edges if edges else 1.0)

    def install(self) -> None:
        """Look up what the run wants now, and how much of it is there."""
        self.over = self.run.done
        self._round: Round = self.run.wanted()
        self._pairs: list[Pair] = []
        self._low_is_first: list[bool] = []
        for first, second in zip(self._round.first.tolist(), self._round.second.tolist(), strict=True):
            (position, one), (_, other) = self._edges[first], self._edges[second]
            self._pairs.append((position, min(one, other), max(one, other)))
            self._low_is_first.append(one < other)
        self._slot: dict[Pair, int] = {}
        for pair in self._pairs:
            self._slot.setdefault(pair, len(self._slot))
        self.questions = list(self._slot)
        slots = np.array([self._slot[pair] for pair in self._pairs], dtype=np.intp)
        self._need = np.bincount(slots, self._round.count, len(self._slot)).astype(np.int64)
        self._answered = np.array(
            [len(self._stacks.get(pair, ())) - self._taken[pair] for pair in self.questions], dtype=np.int64
        )
        leased = np.array([self._leased[pair] for pair in self.questions], dtype=np.int64)
        self._given = self._answered + leased
        self.missing = int(np.maximum(self._need - self._answered, 0).sum())

    # What to ask.

    def choose(self, asked: Mapping[Pair, int], skipped: Collection[Pair] = ()) -> Pair | None:
        """Return the question for a voter, given how often they were asked each pair; None if there is none.

        What the voter has skipped does not come again.

        First what the round lacks: of that, what the voter was asked least, then what has been handed out
        least. If all of it is handed out, more of the same, what is not answered yet before the rest, so
        that nobody waits for somebody who went away. Nobody knows whether a later round wants them; so no
        more than ``ahead`` of them are handed out at a time, and no more than that are kept of any question.
        """
        surplus = self._given - self._need
        times = np.zeros(len(surplus), dtype=np.int64)
        for pair, often in asked.items():
            if (slot := self._slot.get(pair)) is not None:
                times[slot] = often
        willing = np.ones(len(surplus), dtype=bool)
        willing[[self._slot[pair] for pair in skipped if pair in self._slot]] = False
        lacking = surplus < 0
        leased = self._given - self._answered
        spare = int(np.maximum(leased - np.maximum(self._need - self._answered, 0), 0).sum())
        more = ~lacking & (surplus < self._ahead) & (spare < self._ahead)
        unanswered = self._answered < self._need
        for allowed, given in ((lacking, self._given), (more, 2 * surplus - unanswered)):
            slots = np.flatnonzero(allowed & willing)
            if len(slots):
                chosen = int(slots[np.argmin(times[slots] * OFTEN + given[slots])])
                return self.questions[chosen]
        return None

    def lacking(self) -> list[Pair]:
        """Return the questions whose answers the round still lacks."""
        return [self.questions[slot] for slot in np.flatnonzero(self._answered < self._need)]


def begin_run(problem: Problem, settings: Settings) -> Explorer:
    """Begin a run in rounds; for "condorcet" and "borda" that is how the first format had it."""
    description, delta, seed = described(settings.algorithm), settings.delta, settings.seed or 0
    parameters = dict(settings.parameters)
    if settings.kind == "rounds":
        parameters = description.checked(parameters)
    search = description.search(problem, delta, seed, parameters)
    tested = description in BUILT_IN
    return Explorer(problem, search, description.name, delta, None, seed, parameters, tested)
