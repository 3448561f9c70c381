"""The round engine: the protocol between an algorithm and its driver, and the engine that plays it.

A search is a generator: it yields a :class:`Round`, the duels it wants next, is sent the answers, counted as
:class:`RoundAnswers`, and at last returns an :class:`Outcome`. So its code keeps the shape of its listing, it
can be suspended after any single duel, and a simulation can answer a whole round with one binomial draw.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Literal, NoReturn, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import AlgorithmError, DuelError
from duelmatch.explorers.catalogue import Assumption
from duelmatch.graph import Graph, Indices, Mask, Vector

Status = Literal["certified", "within_epsilon", "no_winner", "budget_spent"]
Counts = NDArray[np.int64]

MOST_EMPTY_ROUNDS = 10_000
"""After this many rounds in a row without a duel a search is taken to be stuck."""


@dataclass(frozen=True, slots=True)
class Round:
    """Duels between edges ``first[i]`` and ``second[i]``, ``count[i]`` times each, answered in any order.

    ``order`` lists the pairs duel by duel where the order in which they are asked matters; otherwise the
    pairs take turns. Two pairs may be the same question, asked for different purposes: such pairs come one
    after the other.
    """

    first: Indices
    second: Indices
    count: Counts
    order: Callable[[], Indices] | None = None
    total: int = field(init=False)
    """How many duels the round has."""

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "total", int(self.count.sum()))
        except AttributeError:
            raise AlgorithmError("A Round is made of three arrays: first, second and count.") from None

    def turns(self) -> Indices:
        """Return the number of the pair of each duel, in the order in which they are asked."""
        if self.order is not None:
            return self.order()
        _, question = np.unique(np.array(self.questions()), axis=0, return_inverse=True)
        by_question = np.argsort(question, kind="stable")
        pair = np.repeat(by_question, self.count[by_question])
        size = np.bincount(question, weights=self.count).astype(np.intp)
        turn = np.arange(len(pair)) - np.repeat(np.cumsum(size) - size, size)
        turns: Indices = pair[np.lexsort((pair, turn))]
        return turns

    def questions(self) -> list[tuple[int, int]]:
        """Return the two edges of each pair, the lower first: what a voter can tell of it."""
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    @classmethod
    def empty(cls) -> Round:
        """Return a round without duels."""
        return cls(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class RoundAnswers:
    """The answers to a round: for each pair, how often the first edge won, and how often it was a tie."""

    wins: Counts
    ties: Counts

    @property
    def score(self) -> Vector:
        """What the first edge of each pair is credited with: 1 for a win, 1/2 for a tie."""
        return self.wins + 0.5 * self.ties

    def part(self, pairs: slice) -> RoundAnswers:
        """Return the answers about some of the pairs."""
        return RoundAnswers(self.wins[pairs], self.ties[pairs])

    @classmethod
    def none(cls, duels: Round) -> RoundAnswers:
        """Return no answer to any of the pairs of a round."""
        pairs = len(duels.first)
        return cls(np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: the matching's edges, if there is one, and what is known of it.

    ``delta`` is the probability of being wrong, where it is not the one asked for; ``assuming`` is what
    must be true for it to be so.
    """

    status: Status
    matching: Indices | None
    delta: float | None = None
    assuming: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Where a run is, in edges; :class:`duelmatch.explorers.result.Progress` tells the same by name.

    ``some_possible`` lists the matchings that may still be the winner, a row each, if they are few.
    ``shortfall`` works out the leader's; it is called before the next round, or not at all. What an algorithm
    does not keep is None.
    """

    leader: Indices | None
    accepted: Mask
    rejected: Mask
    gap: float | None = None
    duels_left: int | None = None
    p_value: float | None = None
    possible: int | None = None
    some_possible: Indices | None = None
    shortfall: Callable[[], float | None] | None = None


Rounds = Generator[Round, RoundAnswers, Outcome]


class Search(Protocol):
    """One run of one algorithm."""

    def rounds(self) -> Rounds:
        """Yield the duels wanted, receive the answers, return the outcome."""

    def snapshot(self) -> Snapshot:
        """Say where the run is; may be asked at any time, also of an interrupted run.

        It is asked once a round at most: the arrays must stay as they are until the next one.
        """


@runtime_checkable
class AimsAtBudget(Protocol):
    """A search that makes the best of a budget, if it is told of one before it begins."""

    def aim_at(self, max_duels: int) -> None:
        """Take the budget of the run."""


class Engine:
    """Plays the rounds of a search.

    ``wanted`` is the present round, of which ``missing`` duels have not been answered; with the last answer
    the next round begins. At the end there is an ``outcome``, and nothing is wanted. ``interrupted`` is true
    while an answer is being processed; if it still is later, Ctrl-C stopped the search in mid-computation.
    What a search wants is checked, unless it is ``tested``, as ours are.
    """

    def __init__(self, search: Search, graph: Graph, tested: bool = False) -> None:
        self.outcome: Outcome | None = None
        self._search = search
        self._graph = graph
        self._tested = tested
        self._failure: Exception | None = None
        if not callable(getattr(search, "rounds", None)):
            raise AlgorithmError("A search must have a method 'rounds', a generator that yields Rounds.")
        self._rounds = search.rounds()
        if not isinstance(self._rounds, Generator):
            raise AlgorithmError("The method 'rounds' of a search must be a generator: it yields Rounds.")
        self._snapshot: Snapshot | None = None
        self._answers: RoundAnswers | None = None  # none to the present round yet
        self._proceed(None)

    def check_going_on(self) -> None:
        """Refuse to go on with a search that failed or was interrupted."""
        if self._failure is not None:
            error = f"{type(self._failure).__name__}: {self._failure}"
            raise AlgorithmError(f"This run ended with an error and cannot go on: {error}")
        if self.interrupted:
            raise DuelError("This run was interrupted in mid-computation; replay its answers in a new one.")

    def tell_many(self, answers: RoundAnswers, duels: int) -> None:
        """Take so many answers to the round."""
        self.interrupted = True
        if self._answers is None:
            self._answers = RoundAnswers(answers.wins.copy(), answers.ties.copy())
        else:
            self._answers.wins[:] += answers.wins
            self._answers.ties[:] += answers.ties
        self._count(duels)

    def tell_one(self, pair: int, first_wins: bool | None) -> None:
        """Take one answer to the round; None is a tie."""
        self.interrupted = True
        if self._answers is None:
            self._answers = RoundAnswers.none(self.wanted)
        (self._answers.ties if first_wins is None else self._answers.wins)[pair] += first_wins is not False
        self._count(1)

    def _count(self, duels: int) -> None:
        self.missing -= duels
        if self.missing == 0:
            self._proceed(self._answers)
        self.interrupted = False

    @property
    def snapshot(self) -> Snapshot:
        """Where the run is; worked out once a round."""
        if self._snapshot is None or self.interrupted:
            self._snapshot = self._search.snapshot()
        return self._snapshot

    def _proceed(self, answers: RoundAnswers | None) -> None:
        """Give the search its answers, and take its next round or its outcome."""
        self.interrupted = True
        try:
            wanted = self._next_round(answers)
        except Exception as error:
            self._failure = error
            raise
        self._snapshot = None
        self.wanted = wanted
        self.missing = wanted.total
        self._answers = None
        self.interrupted = False

    def _next_round(self, answers: RoundAnswers | None) -> Round:
        """Return the next round with duels, or set the outcome and return nothing."""
        try:
            wanted = next(self._rounds) if answers is None else self._rounds.send(answers)
            for _ in range(MOST_EMPTY_ROUNDS):
                if not self._tested:
                    self._check_round(wanted)
                if wanted.total:
                    return wanted
                wanted = self._rounds.send(RoundAnswers.none(wanted))
        except StopIteration as stop:
            if not self._tested:
                self._check_outcome(stop.value)
            self.outcome = stop.value
            return Round.empty()
        raise AlgorithmError(f"The algorithm asked for nothing {MOST_EMPTY_ROUNDS:,} times in a row.")

    def _check_round(self, wanted: Round) -> None:
        if not isinstance(wanted, Round):
            _refuse(f"it yields {wanted!r:.50}, not a Round")
        first, second, count = wanted.first, wanted.second, wanted.count
        if not (first.shape == second.shape == count.shape == (len(first),)) or count.dtype.kind != "i":
            _refuse("the arrays of a Round must be of one length, and the counts whole numbers")
        if len(first) == 0:
            return
        if count.min() < 0:
            _refuse("it asks for a negative number of duels")
        if min(first.min(), second.min()) < 0 or max(first.max(), second.max()) >= self._graph.edges:
            _refuse(f"it asks about an edge that is not there; the edges are 0 to {self._graph.edges - 1}")
        position = self._graph.edge_position
        if (position[first] != position[second]).any() or (first == second).any():
            _refuse("it asks for a duel that is not between two candidates of one position")

    def _check_outcome(self, outcome: object) -> None:
        if not isinstance(outcome, Outcome):
            _refuse(f"'rounds' must return an Outcome, not {outcome!r:.50}")
        if outcome.status not in get_args(Status):
            _refuse(f"'{outcome.status!s:.50}' is not a status of an Outcome")
        if outcome.matching is None:
            if outcome.status in ("certified", "within_epsilon"):
                _refuse(f"it says '{outcome.status}' without a matching")
            return
        if not self._graph.allows(np.sort(np.asarray(outcome.matching))):
            if self._graph.conditions is None:
                _refuse("the edges that it returns do not fill every position with a candidate of its own")
            _refuse("the edges that it returns break the seats, capacities or rules of the problem")


def _refuse(what: str) -> NoReturn:
    raise AlgorithmError(f"The algorithm breaks its contract: {what}.")
