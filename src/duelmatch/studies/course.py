"""The course of a study: its explorer, and the answers that are there for it.

An explorer wants rounds of duels. Voters answer when they like, late, twice as many as asked for, and some
answers are taken back. In between stands, for every question (two edges of a position), the *stack* of its
answers in the order of the log. A round takes from the top of each stack what it wants, as soon as all of
it is there; what it leaves waits for a later round.

So the explorer's state is a function of the stacks: no matter when an answer came, who else was asked, or
what was being asked then. That is what makes a replay exact, lets every late or surplus answer count, and
makes it sound to go on after answers were removed. It is also what the guarantees assume: the k-th answer
to a question is independent of all others, and which questions get a k-th answer is decided without looking
at it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from duelmatch.explorers.engine import Round
from duelmatch.explorers.explorer import Explorer, explorer
from duelmatch.problem import Problem
from duelmatch.studies.history import Trace
from duelmatch.studies.settings import Settings

Pair = tuple[int, int]
"""A question: two edges of a position, the lower first, as numbered when the study began."""

OFTEN = 1 << 40
"""More than any count of answers: how often a voter was asked a question comes before everything else."""


def pair_of(one: int, other: int) -> Pair:
    """Return the question about two edges."""
    return (one, other) if one < other else (other, one)


class Course:
    """A run of the explorer, the stacks of answers, and what the present round still needs."""

    def __init__(self, problem: Problem, dropped: Iterable[str], settings: Settings) -> None:
        self.problem = without(problem, dropped)
        self.run: Explorer = explorer(
            settings.algorithm, self.problem, settings.delta, settings.seed or 0, **settings.parameters
        )
        self.trace = Trace()
        self._ahead = settings.ahead
        self._once = settings.once
        self._original = [problem.edge_number(*edge) for edge in self.problem.edges]
        self._known = set(self._original)
        self._stacks: dict[Pair, list[tuple[int, int]]] = {}
        self._taken: Counter[Pair] = Counter()
        self._leased: Counter[Pair] = Counter()
        self.answers = 0
        """How many answers there are, those included that the explorer has used."""
        self.install()

    # The answers and leases, as the log brings them.

    def push(self, question: int, winner: int, loser: int) -> None:
        """Put an answer on its stack."""
        pair = pair_of(winner, loser)
        if not self.concerns(pair):
            return
        self._stacks.setdefault(pair, []).append((question, winner))
        self.answers += 1
        self._change(pair, 1, 0)

    def remove(self, question: int, pair: Pair) -> bool:
        """Take an answer away, unless the explorer has used it; say whether that was possible."""
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
        return pair[0] in self._known and pair[1] in self._known

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
    def ready(self) -> bool:
        """Whether the explorer has all answers of the round, and has to think."""
        return self.missing == 0 and not self.over

    def take(self) -> NDArray[np.int64]:
        """Take the answers of the round off the stacks: how often the first of each pair won."""
        wanted = self._round
        if len(self._slot) < len(self._pairs):  # a question for several purposes: its answers go round
            turns = wanted.turns().tolist()
        else:
            turns = np.repeat(np.arange(len(self._pairs)), wanted.count).tolist()
        wins = [0] * len(self._pairs)
        for number in turns:
            pair = self._pairs[number]
            winner = self._stacks[pair][self._taken[pair]][1]
            self._taken[pair] += 1
            wins[number] += winner == self._first[number]
        return np.array(wins, dtype=np.int64)

    def install(self) -> None:
        """Look up what the explorer wants now, and how much of it is there."""
        self.over = self.run.done
        self._round: Round = self.run.wanted()
        edges = np.array(self._original, dtype=np.intp)
        first, second = edges[self._round.first], edges[self._round.second]
        self._first: list[int] = first.tolist()
        self._pairs: list[Pair] = list(
            zip(np.minimum(first, second).tolist(), np.maximum(first, second).tolist(), strict=True)
        )
        self._slot: dict[Pair, int] = {}
        for pair in self._pairs:
            self._slot.setdefault(pair, len(self._slot))
        self._questions = list(self._slot)
        slots = np.array([self._slot[pair] for pair in self._pairs], dtype=np.intp)
        self._need = np.bincount(slots, self._round.count, len(self._slot)).astype(np.int64)
        self._answered = np.array(
            [len(self._stacks.get(pair, ())) - self._taken[pair] for pair in self._questions],
            dtype=np.int64,
        )
        leased = np.array([self._leased[pair] for pair in self._questions], dtype=np.int64)
        self._given = self._answered + leased
        self.missing = int(np.maximum(self._need - self._answered, 0).sum())

    # What to ask.

    def choose(self, asked: Mapping[Pair, int], skipped: Collection[Pair] = ()) -> Pair | None:
        """Return the question for a voter who was asked these before, so often; None if there is none now.

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
        if self._once:
            willing &= times == 0
        lacking = surplus < 0
        leased = self._given - self._answered
        spare = int(np.maximum(leased - np.maximum(self._need - self._answered, 0), 0).sum())
        more = ~lacking & (surplus < self._ahead) & (spare < self._ahead)
        unanswered = self._answered < self._need
        for allowed, given in ((lacking, self._given), (more, 2 * surplus - unanswered)):
            slots = np.flatnonzero(allowed & willing)
            if len(slots):
                chosen = int(slots[np.argmin(times[slots] * OFTEN + given[slots])])
                return self._questions[chosen]
        return None


def without(problem: Problem, dropped: Iterable[str]) -> Problem:
    """Return the problem without these candidates.

    :raises NoMatchingError: if the others cannot fill every position.
    """
    gone = set(dropped)
    if not gone:
        return problem
    return Problem(
        tuple(name for name in problem.candidates if name not in gone),
        problem.positions,
        tuple(edge for edge in problem.edges if edge[0] not in gone),
        {name: details for name, details in problem.candidate_details.items() if name not in gone},
        problem.position_details,
    )
