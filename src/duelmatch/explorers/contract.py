"""The Explorer: asks which duels are wanted, takes answers in any order, says when it is sure and of what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import DuelError, ProblemError
from duelmatch.explorers.rounds import NOTHING, Algorithm, Outcome, Round, Status
from duelmatch.explorers.waiting import Waiting
from duelmatch.graph import Mask
from duelmatch.matchings import Edge
from duelmatch.problem import Duel, Matching, Problem


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a run, and how sure it is.

    ``certified``: the matching is the winner, wrong with probability ``delta`` at most.
    ``within_epsilon``: its score is within ``epsilon`` of the winner's, wrong with probability ``delta``
    at most. ``no_winner``: there is no Condorcet winner. ``budget_spent``: the run was stopped; the matching
    is a guess and may be missing. ``assuming`` is what the guarantee takes for granted, if anything:
    car-cond's, that a Condorcet winner exists. Where none does, it can certify another matching.
    """

    algorithm: str
    status: Status
    matching: Matching | None
    duels: int
    delta: float
    epsilon: float | None = None
    assuming: str | None = None

    def __str__(self) -> str:
        chosen = "; ".join(
            f"{position}: {candidate}" for position, candidate in (self.matching or {}).items()
        )
        duels = f"after {self.duels:,} duel{'s' * (self.duels != 1)}"
        assuming = f" if {self.assuming}" if self.assuming else ""
        match self.status:
            case "certified":
                return (
                    f"{chosen} (certified {duels}, wrong with probability {self.delta:g} at most{assuming})"
                )
            case "within_epsilon":
                return (
                    f"{chosen} (within {self.epsilon:g} of the best {duels}, "
                    f"wrong with probability {self.delta:g} at most{assuming})"
                )
            case "no_winner":
                return f"No Condorcet winner ({duels}, wrong with probability {self.delta:g} at most)"
        return f"{chosen or 'no guess yet'} (NOT CERTIFIED: stopped {duels})"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands: what is decided, who leads, and what is left.

    ``gap`` tells how far the run is from stopping, and shrinks with the answers: by how much a rival may
    still be above the leader, per position, or, while car-cond decides edges, the radius of its estimates.
    ``duels_left`` extrapolates from the answers so far and can be far off; None where they say nothing yet.

    The frugal algorithms also tell how sure one may be of the leader now. ``p_value``: if another matching
    is the winner, this is ever at or below x with probability x at most, at whichever moment one looks.
    ``possible`` is the number of matchings that may still be the winner, None where that is out of reach,
    and ``possible_winners`` lists them while they are at most 100. The true winner is among them at all
    times with probability 1 - delta.
    """

    duels: int
    leader: Matching | None
    accepted: tuple[Edge, ...]
    rejected: tuple[Edge, ...]
    undecided: tuple[Edge, ...]
    gap: float | None
    duels_left: int | None
    p_value: float | None = None
    possible: int | None = None
    possible_winners: tuple[Matching, ...] = ()


class Explorer:
    """One run of one algorithm on one problem.

    ``ask(n)`` hands out up to n duels, which may be answered in any order and at any time with ``tell``, or
    given back with ``release``. An algorithm works in rounds: it needs all answers of a round before it
    knows what to ask next, so ``ask`` may hand out fewer than n, or none while answers are awaited. The
    questions depend on the problem, the parameters, the seed and the answers only.
    """

    def __init__(
        self,
        problem: Problem,
        algorithm: Algorithm,
        name: str,
        delta: float,
        epsilon: float | None = None,
        max_duels: int | None = None,
    ) -> None:
        self.problem = problem
        self.name = name
        self.delta = delta
        self.epsilon = epsilon
        self.max_duels = max_duels
        self.duels = 0
        self._algorithm = algorithm
        self._rounds = algorithm.rounds()
        self._outcome: Outcome | None = None
        self._interrupted = False
        self._open: dict[int, tuple[Duel, int]] = {}
        self._last_id = 0
        self._waiting: Waiting | None  # what is to hand out, listed only once somebody asks
        self._proceed(None)

    @property
    def done(self) -> bool:
        """Whether the run is over: an answer is proven, or the budget is spent."""
        return self._outcome is not None or (self.max_duels is not None and self.duels >= self.max_duels)

    def ask(self, n: int = 1) -> list[Duel]:
        """Hand out up to ``n`` duels that have not been handed out yet."""
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 0:
            raise DuelError(f"The number of duels to ask for must be a whole number from 0, not {n!r:.80}.")
        self._check_going_on()
        if self.done:
            return []
        n = int(min(n, self._budget(n)))
        return [self._hand_out(pair) for pair in self._to_ask().take(n, self._open_pairs())]

    def tell(self, duel: Duel, winner: str) -> None:
        """Take the answer to a duel. A refused answer changes nothing.

        :raises DuelError: if the duel is not open, or the winner was not in it.
        """
        pair = self._pair_of(duel)
        if not isinstance(winner, str) or winner not in (duel.first, duel.second):
            raise DuelError(
                f"'{winner!s:.80}' was not in duel {duel.id}, "
                f"'{duel.first}' against '{duel.second}' at '{duel.position}'."
            )
        self._interrupted = True
        del self._open[duel.id]
        self._wins[pair] += winner == duel.first
        self._count(1)

    def release(self, duel: Duel) -> None:
        """Give back a duel that will not be answered; it is handed out again under a new number.

        :raises DuelError: if the duel is not open.
        """
        self._to_ask().put_back(self._pair_of(duel))
        del self._open[duel.id]

    @property
    def open_duels(self) -> tuple[Duel, ...]:
        """The duels handed out and neither answered nor released."""
        return tuple(duel for duel, _ in self._open.values())

    def replay(self, votes: Iterable[tuple[str, str, str]]) -> None:
        """Feed answers (position, winner, loser) of an earlier run of the same problem, parameters and seed.

        They must come in the order in which they were told. Duels that were open then are asked again.

        :raises DuelError: at the first that this run would not have asked for, naming it.
        """
        for number, vote in enumerate(votes, start=1):
            self._check_going_on()
            match vote:
                case (str(position), str(winner), str(loser)):
                    duel = self._asked_about(position, winner, loser)
                case _:
                    raise DuelError(f"Answer {number} is not (position, winner, loser) but {vote!r:.80}.")
            if duel is None:
                reason = (
                    "comes when the run is over: does it have a smaller max_duels?"
                    if self._outcome is None and self._budget(1) == 0
                    else "is to a question that this run does not ask there: "
                    "is it of another problem, seed, algorithm or set of parameters?"
                )
                raise DuelError(f"Answer {number}, '{winner}' over '{loser}' at '{position}', {reason}")
            self.tell(duel, winner)

    @property
    def result(self) -> Result:
        """The result; before the run is over, what it would be if it were stopped now."""
        outcome = self._outcome
        if outcome is None:
            outcome = Outcome("budget_spent", self._algorithm.standing().leader)
        matching = None if outcome.matching is None else self.problem.matching(outcome.matching.tolist())
        delta = self.delta if outcome.delta is None else outcome.delta
        return Result(self.name, outcome.status, matching, self.duels, delta, self.epsilon, outcome.assuming)

    @property
    def progress(self) -> Progress:
        """Where the run stands."""
        standing = self._algorithm.standing()
        leader = standing.leader if self._outcome is None else self._outcome.matching
        rows = standing.some_possible
        return Progress(
            self.duels,
            None if leader is None else self.problem.matching(leader.tolist()),
            self._named(standing.accepted),
            self._named(standing.rejected),
            self._named(~(standing.accepted | standing.rejected)),
            standing.gap if self._outcome is None else 0.0,
            standing.duels_left if self._outcome is None else 0,
            standing.p_value,
            standing.possible,
            () if rows is None else tuple(self.problem.matching(row) for row in rows.tolist()),
        )

    def wanted(self) -> Round:
        """Return what is left to hand out of the present round, for a simulation to answer at once."""
        self._check_going_on()
        if self._waiting is None:
            return self._round
        return Round(self._round.first, self._round.second, self._waiting.counts())

    def tell_wins(self, wins: NDArray[np.int64]) -> None:
        """Take the answers to all of :meth:`wanted`: how often the first of each pair won.

        :raises DuelError: if they do not fit what is wanted, or are more than the budget allows.
        """
        wanted = self.wanted()
        if wins.shape != wanted.count.shape or (wins < 0).any() or (wins > wanted.count).any():
            raise DuelError("The wins must be a number from 0 to the count for each pair that is wanted.")
        if wanted.total > self._budget(wanted.total):
            raise DuelError(f"{wanted.total:,} answers are more than max_duels={self.max_duels:,} allows.")
        if wanted.total == 0:
            return
        self._interrupted = True
        if wanted.total < self._missing:
            self._waiting = Waiting(NOTHING)
        self._wins += wins
        self._count(wanted.total)

    def _check_going_on(self) -> None:
        if self._interrupted:
            raise DuelError(
                "This run was interrupted while it was thinking; replay its answers in a new one."
            )

    def _budget(self, wanted: int) -> int:
        """Return how many of the duels wanted can still be asked."""
        if self.max_duels is None:
            return wanted
        return min(wanted, self.max_duels - self.duels - len(self._open))

    def _count(self, answered: int) -> None:
        self.duels += answered
        self._missing -= answered
        if self._missing == 0:
            self._proceed(self._wins)
        self._interrupted = False

    def _proceed(self, wins: NDArray[np.int64] | None) -> None:
        """Give the algorithm its answers and take its next round, or its outcome."""
        self._interrupted = True
        try:
            wanted = next(self._rounds) if wins is None else self._rounds.send(wins)
            while wanted.total == 0:
                wanted = self._rounds.send(wanted.count)
        except StopIteration as stop:
            self._outcome, wanted = stop.value, NOTHING
        self._interrupted = False
        self._round = wanted
        self._missing = wanted.total
        self._wins = np.zeros(len(wanted.first), dtype=np.int64)
        self._waiting = None

    def _to_ask(self) -> Waiting:
        if self._waiting is None:
            self._waiting = Waiting(self._round)
        return self._waiting

    def _open_pairs(self) -> Iterable[int]:
        return (pair for _, pair in self._open.values())

    def _hand_out(self, pair: int) -> Duel:
        edges = self.problem.edges
        first, position = edges[self._round.first[pair]]
        self._last_id += 1
        duel = Duel(position, first, edges[self._round.second[pair]][0], self._last_id)
        self._open[duel.id] = (duel, pair)
        return duel

    def _pair_of(self, duel: Duel) -> int:
        """Return the number of an open duel's pair in the present round."""
        if not isinstance(duel, Duel) or not isinstance(duel.id, int):
            raise DuelError(f"A Duel that ask handed out is needed, not {duel!r:.80}.")
        asked, pair = self._open.get(duel.id, (None, -1))
        if asked == duel:
            return pair
        if asked is None and 0 < duel.id <= self._last_id:
            raise DuelError(f"Duel {duel.id} has been answered or released already.")
        raise DuelError(f"Duel {duel.id} at '{duel.position}' was never asked by this run.")

    def _asked_about(self, position: str, one: str, other: str) -> Duel | None:
        """Return an open duel between these two, handing one out if need be; None if none is wanted."""
        for duel, _ in self._open.values():
            if duel.position == position and {duel.first, duel.second} == {one, other}:
                return duel
        try:
            edges = [self.problem.edge_number(name, position) for name in (one, other)]
        except ProblemError:
            return None
        pair = None
        if not self.done and self._budget(1):
            pair = self._to_ask().take_question((min(edges), max(edges)))
        return None if pair is None else self._hand_out(pair)

    def _named(self, edges: Mask) -> tuple[Edge, ...]:
        return tuple(self.problem.edges[edge] for edge in np.flatnonzero(edges))
