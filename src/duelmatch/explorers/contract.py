"""The Explorer: asks which duels are wanted, takes answers in any order, says when it is sure and of what."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import DuelError
from duelmatch.explorers.rounds import NOTHING, Algorithm, Outcome, Round, Status
from duelmatch.graph import Mask
from duelmatch.matchings import Edge
from duelmatch.problem import Duel, Matching, Problem


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a run, and how sure it is.

    ``certified``: the matching is the winner, wrong with probability ``delta`` at most. ``within_epsilon``: its
    score is within ``epsilon`` of the winner's, wrong with probability ``delta`` at most. ``no_winner``: there is no
    Condorcet winner. ``budget_spent``: the run was stopped; the matching is a guess and may be missing.
    """

    algorithm: str
    status: Status
    matching: Matching | None
    duels: int
    delta: float
    epsilon: float | None = None

    def __str__(self) -> str:
        chosen = "; ".join(
            f"{position}: {candidate}" for position, candidate in (self.matching or {}).items()
        )
        duels = f"after {self.duels:,} duels"
        match self.status:
            case "certified":
                return f"{chosen} (certified {duels}, wrong with probability {self.delta:g} at most)"
            case "within_epsilon":
                return (
                    f"{chosen} (within {self.epsilon:g} of the best {duels}, "
                    f"wrong with probability {self.delta:g} at most)"
                )
            case "no_winner":
                return f"No Condorcet winner ({duels}, wrong with probability {self.delta:g} at most)"
        return f"{chosen or 'no guess yet'} (NOT CERTIFIED: stopped {duels})"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands: what is decided, who leads, and what is left.

    ``gap`` must fall to 0 (or to epsilon, for clucb-borda-pac) for the run to stop. ``duels_left`` extrapolates
    from the answers so far and can be far off; None where they say nothing yet.
    """

    duels: int
    leader: Matching | None
    accepted: tuple[Edge, ...]
    rejected: tuple[Edge, ...]
    undecided: tuple[Edge, ...]
    gap: float | None
    duels_left: int | None


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
        self._waiting: deque[int] | None  # pairs to hand out, listed only once somebody asks
        self._proceed(None)

    @property
    def done(self) -> bool:
        """Whether the run is over: an answer is proven, or the budget is spent."""
        return self._outcome is not None or self.duels == self.max_duels

    def ask(self, n: int = 1) -> list[Duel]:
        """Hand out up to ``n`` duels that have not been handed out yet."""
        if n < 0:
            raise DuelError(f"The number of duels to ask for cannot be negative: {n}.")
        if self._interrupted:
            raise DuelError(
                "This run was interrupted while it was thinking; replay its answers in a new one."
            )
        if self.done:
            return []
        if self.max_duels is not None:
            n = min(n, self.max_duels - self.duels - len(self._open))
        return [self._hand_out() for _ in range(min(n, len(self._to_ask())))]

    def tell(self, duel: Duel, winner: str) -> None:
        """Take the answer to a duel. A refused answer changes nothing.

        :raises DuelError: if the duel is not open, or the winner was not in it.
        """
        if not isinstance(duel, Duel):
            raise DuelError(f"tell takes a Duel that ask handed out, not {duel!r:.80}.")
        pair = self._pair_of(duel)
        if winner not in (duel.first, duel.second):
            raise DuelError(
                f"'{winner}' was not in duel {duel.id}, '{duel.first}' against '{duel.second}' at '{duel.position}'."
            )
        del self._open[duel.id]
        wins = np.zeros_like(self._wins)
        wins[pair] = winner == duel.first
        self._take(wins, 1)

    def release(self, duel: Duel) -> None:
        """Give back a duel that will not be answered; it is handed out again under a new number.

        :raises DuelError: if the duel is not open.
        """
        self._to_ask().append(self._pair_of(duel))
        del self._open[duel.id]

    @property
    def open_duels(self) -> tuple[Duel, ...]:
        """The duels handed out and neither answered nor released."""
        return tuple(duel for duel, _ in self._open.values())

    def replay(self, votes: Iterable[tuple[str, str, str]]) -> None:
        """Feed answers (position, winner, loser) of an earlier run of the same problem, parameters and seed.

        :raises DuelError: at the first that this run would not have asked for, naming it.
        """
        for number, (position, winner, loser) in enumerate(votes, start=1):
            duel = self._find_open(position, {winner, loser})
            if duel is None:
                raise DuelError(
                    f"Answer {number}, '{winner}' over '{loser}' at '{position}', is to a question that this run "
                    "does not ask there: is it of another problem, seed, algorithm or set of parameters?"
                )
            self.tell(duel, winner)

    @property
    def result(self) -> Result:
        """The result; before the run is over, what it would be if it were stopped now."""
        outcome = self._outcome
        if outcome is None:
            outcome = Outcome("budget_spent", self._algorithm.standing().leader)
        matching = None if outcome.matching is None else self.problem.matching(outcome.matching.tolist())
        delta = self.delta if outcome.delta is None else outcome.delta
        return Result(self.name, outcome.status, matching, self.duels, delta, self.epsilon)

    @property
    def progress(self) -> Progress:
        """Where the run stands."""
        standing = self._algorithm.standing()
        leader = standing.leader if self._outcome is None else self._outcome.matching
        return Progress(
            self.duels,
            None if leader is None else self.problem.matching(leader.tolist()),
            self._named(standing.accepted),
            self._named(standing.rejected),
            self._named(~(standing.accepted | standing.rejected)),
            standing.gap if self._outcome is None else 0.0,
            standing.duels_left if self._outcome is None else 0,
        )

    def wanted(self) -> Round:
        """Return what is left to hand out of the present round, for a simulation to answer at once."""
        if self._waiting is None:
            return self._round
        left = np.bincount(np.array(self._waiting, dtype=np.intp), minlength=len(self._round.first))
        return Round(self._round.first, self._round.second, left)

    def tell_wins(self, wins: NDArray[np.int64]) -> None:
        """Take the answers to all of :meth:`wanted`: how often the first of each pair won."""
        answered = self.wanted().total
        self._waiting = deque()
        self._take(wins, answered)

    def _take(self, wins: NDArray[np.int64], answered: int) -> None:
        self.duels += answered
        self._missing -= answered
        self._wins += wins
        if self._missing == 0:
            self._proceed(self._wins)

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

    def _to_ask(self) -> deque[int]:
        if self._waiting is None:
            self._waiting = deque(self._round.turns().tolist())
        return self._waiting

    def _hand_out(self) -> Duel:
        pair = self._to_ask().popleft()
        edges = self.problem.edges
        first, position = edges[self._round.first[pair]]
        self._last_id += 1
        duel = Duel(position, first, edges[self._round.second[pair]][0], self._last_id)
        self._open[duel.id] = (duel, pair)
        return duel

    def _pair_of(self, duel: Duel) -> int:
        """Return the number of an open duel's pair in the present round."""
        asked, pair = self._open.get(duel.id, (None, -1))
        if asked == duel:
            return pair
        if asked is None and 0 < duel.id <= self._last_id:
            raise DuelError(f"Duel {duel.id} has been answered or released already.")
        raise DuelError(f"Duel {duel.id} at '{duel.position}' was never asked by this run.")

    def _find_open(self, position: str, names: set[str]) -> Duel | None:
        """Return an open duel between these two, handing out the rest of the round if need be."""
        self.ask(len(self._to_ask()))
        for duel, _ in self._open.values():
            if duel.position == position and {duel.first, duel.second} == names:
                return duel
        return None

    def _named(self, edges: Mask) -> tuple[Edge, ...]:
        return tuple(self.problem.edges[edge] for edge in np.flatnonzero(edges))
