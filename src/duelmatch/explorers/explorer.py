"""The Explorer: hands out the questions of a run one by one, and takes the answers in any order."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import DuelError, ProblemError, brief, did_you_mean, listed
from duelmatch.explorers.catalogue import (
    BUILT_IN,
    check,
    described,
    drawn_seed,
    is_whole,
    reference_name,
    whole,
)
from duelmatch.explorers.engine import (
    AimsAtBudget,
    Counts,
    Engine,
    Outcome,
    Round,
    RoundAnswers,
    Search,
    Snapshot,
)
from duelmatch.explorers.questions import MISSING, Answer, says_first, told
from duelmatch.explorers.result import Progress, Result
from duelmatch.graph import Graph, Indices, Vector
from duelmatch.problem import Duel, Problem, check_problem

if TYPE_CHECKING:
    from duelmatch.explorers.crowd import CrowdExplorer
    from duelmatch.explorers.panel.explorer import PanelExplorer
    from duelmatch.models.standings import Standings


MOST_UNCOUNTED = 1_000
"""Rounds whose answers are kept as they came."""

SUSPICIOUS = 1_000
"""So many ties at the beginning, and nothing else, are more likely a judge's mistake than its opinion."""


@overload
def explorer(algorithm: Literal["panel"], problem: Problem, **parameters: Any) -> PanelExplorer: ...


@overload
def explorer(
    algorithm: Literal["condorcet", "borda"],
    problem: Problem,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    **parameters: Any,
) -> CrowdExplorer: ...


@overload
def explorer(
    algorithm: str,
    problem: Problem,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    **parameters: Any,
) -> Explorer: ...


def explorer(
    algorithm: str,
    problem: Problem,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    **parameters: Any,
) -> Explorer | PanelExplorer:
    """Start a run of an algorithm on a problem.

    ``"condorcet"`` and ``"borda"`` sample a crowd, duel by duel or voter by voter:
    :class:`duelmatch.explorers.crowd.CrowdExplorer`.

    ``"panel"`` counts a known group instead of sampling a crowd: ``voters`` lists it, and the other
    parameters are those of :class:`duelmatch.explorers.panel.PanelExplorer`; it knows no delta, and draws
    nothing.

    ``delta`` bounds the probability of a wrong answer. Without a ``seed`` one is drawn; the run and its
    result show it. ``max_duels`` is a budget: it ends the run without a certificate (0 asks nothing), and
    ``condorcet`` and
    ``borda`` aim at it, so that the leader is as good as it can be by then. The parameters of each algorithm
    are listed by ``duelmatch algorithms`` and in the documentation.

    :raises ProblemError: for an unknown name or parameter, or a value out of range.
    """
    check_problem(problem, "An explorer")
    if algorithm == "panel":
        if max_duels is not None:
            raise ProblemError("panel has no max_duels: limit the questions of each voter by questions_each.")
        return _panel(problem, delta, parameters)
    if algorithm in ("condorcet", "borda"):
        from duelmatch.explorers.crowd import CrowdExplorer

        return CrowdExplorer.begin(algorithm, problem, delta, seed, max_duels, **parameters)
    return Explorer.begin(algorithm, problem, delta, seed, max_duels, **parameters)


def _panel(problem: Problem, delta: float, parameters: dict[str, Any]) -> PanelExplorer:
    from duelmatch.explorers.panel.explorer import PanelExplorer

    if "voters" not in parameters:
        raise ProblemError('A panel needs its voters: explorer("panel", problem, voters=[...]).')
    check_panel(delta, parameters, PanelExplorer)
    return PanelExplorer(problem, **parameters)


def check_panel(delta: float, parameters: Mapping[str, Any], begin: Callable[..., Any]) -> None:
    """Refuse what a panel does not know.

    :raises ProblemError: for a delta, or a parameter that ``begin`` does not take.
    """
    if delta != 0.05:
        raise ProblemError("panel has no delta: it is counted, and what it says is certain.")
    known = list(signature(begin).parameters)[1:]
    if unknown := [name for name in parameters if name not in known]:
        meant = did_you_mean(unknown[0], known)
        raise ProblemError(f"panel has no parameter '{unknown[0]:.50}'; it has {listed(known, 9)}.{meant}")


def explore(
    problem: Problem,
    judge: Callable[[Duel], str | None],
    algorithm: str,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    **parameters: Any,
) -> Result:
    """Run an algorithm with answers from ``judge``, which names the winning candidate of a duel.

    It may return None for no difference. Where the best matchings are equally good, an algorithm that must
    tell them apart asks for ever: give it ``max_duels``, or an ``epsilon`` where it takes one.
    """
    if not callable(judge):
        raise ProblemError(
            f"The judge must be a function that names the winner of a duel, not {judge!r:.50}."
        )
    return drive(explorer(algorithm, problem, delta, seed, max_duels, **parameters), judge)


def drive(run: Explorer, judge: Callable[[Duel], str | None]) -> Result:
    """Put the questions of a run to ``judge``, one after the other, until it is over.

    What the judge raises ends it, Ctrl-C included; the run is then where the last answer left it.
    """
    ties = FirstTies()
    while not run.done:
        for duel in run.open_duels or run.ask(1):
            answer = judge(duel)
            run.tell(duel, answer)
            ties.count(answer is None)
    return run.result


class FirstTies:
    """Warns once if a judge's first answers are all ties: a function without ``return`` says nothing else."""

    def __init__(self) -> None:
        self._answers, self._all = 0, True

    def count(self, tie: bool) -> None:
        """Take notice of an answer."""
        self._answers += 1
        self._all = self._all and tie
        if self._all and self._answers == SUSPICIOUS:
            warnings.warn(
                f"The first {SUSPICIOUS:,} answers are all ties, None: does the judge return the name of the "
                "winner? With nothing but ties, a run can go on for ever.",
                stacklevel=4,  # where explore was called
            )


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
        search: Search,
        name: str,
        delta: float,
        max_duels: int | None = None,
        seed: int | None = None,
        parameters: Mapping[str, Any] | None = None,
        tested: bool = False,
    ) -> None:
        self.name = name
        self.delta = delta
        self.parameters = parameters or {}
        self.max_duels = max_duels
        self.seed = seed
        self._problem = problem
        self._duels = 0
        self._engine = Engine(search, problem.graph, tested)
        self._open: dict[int, tuple[Duel, int]] = {}
        self._last_id = 0
        self._queue: Queue | None = None  # of the present round, listed only once somebody asks
        self._of: Round = self._engine.wanted
        self.answer_counts = AnswerCounts(problem.graph)

    @classmethod
    def begin(
        cls,
        algorithm: str,
        problem: Problem,
        delta: float = 0.05,
        seed: int | None = None,
        max_duels: int | None = None,
        **parameters: Any,
    ) -> Self:
        """Begin a run of an algorithm that asks a crowd, duel by duel.

        :raises ProblemError: for an unknown name or parameter, or a value out of range.
        """
        seed = drawn_seed() if seed is None else seed
        checked = check(algorithm, delta, seed, parameters)
        most = None if max_duels is None else whole("max_duels", max_duels)
        description = described(algorithm)
        description.check_conditions(problem)
        search = description.search(problem, float(delta), int(seed), checked)
        if most is not None and isinstance(search, AimsAtBudget):
            search.aim_at(most)
        return cls(
            problem, search, algorithm, float(delta), most, int(seed), checked, description in BUILT_IN
        )

    @property
    def problem(self) -> Problem:
        """What is being decided."""
        return self._problem

    @property
    def duels(self) -> int:
        """How many duels have been answered."""
        return self._duels

    @property
    def done(self) -> bool:
        """Whether the run is over: an answer is proven, or the budget is spent."""
        spent = self.max_duels is not None and self.duels >= self.max_duels
        return spent or self._engine.outcome is not None

    def ask(self, n: int = 1, voter: None = None) -> list[Duel]:
        """Hand out up to ``n`` duels that have not been handed out yet.

        :raises DuelError: if a ``voter`` is named: here every answer is somebody else's.
        """
        n = whole_number(n)
        if voter is not None:
            raise DuelError(
                f"{self.name} takes every answer for that of another person, and knows no voters: only "
                "condorcet, borda and panel do."
            )
        self._engine.check_going_on()
        if self.done:
            return []
        n = int(min(n, self._budget(n)))
        open_pairs = (pair for _, pair in self._open.values())
        return [self._hand_out(pair) for pair in self._waiting().take(n, open_pairs)]

    def tell(self, duel: Duel, answer: Answer = MISSING, *, winner: Answer = MISSING) -> None:
        """Take the answer to a duel: the winner's name, or None for no difference, which counts 1/2.

        A ranking of the two is understood as well: ``["ann", "bob"]``, or ``[("ann", "bob")]`` for a tie.
        ``winner`` is another name for ``answer``. A refused answer changes nothing.

        :raises DuelError: if the duel is not open, or the answer is not about the two in it.
        """
        self._engine.check_going_on()
        pair = self._pair_of(duel)
        first_wins = says_first(duel, told(answer, winner))
        self._engine.interrupted = True
        del self._open[duel.id]
        self._duels += 1
        self.answer_counts.add_one(self._engine.wanted, pair, first_wins)
        self._engine.tell_one(pair, first_wins)

    def release(self, duel: Duel) -> None:
        """Give back a duel that will not be answered; it is handed out again under a new number.

        :raises DuelError: if the duel is not open.
        """
        self._engine.check_going_on()
        self._waiting().put_back(self._pair_of(duel))
        del self._open[duel.id]

    @property
    def open_duels(self) -> tuple[Duel, ...]:
        """The duels handed out and neither answered nor released."""
        return tuple(duel for duel, _ in self._open.values())

    def replay(self, answers: Iterable[tuple[str | None, ...]]) -> None:
        """Feed answers (position, winner, loser) of an earlier run of the same problem, parameters and seed.

        A tie, where there was no difference, is (position, one, other, "="), or None instead of "=". They
        must come in the order in which they were told. Duels that were open then are asked again.

        :raises DuelError: at the first that this run would not have asked for, naming it.
        """
        if not isinstance(answers, Iterable):
            raise DuelError(f"The answers are a list of (position, winner, loser), not {brief(answers)}.")
        for number, answer in enumerate(answers, start=1):
            self._engine.check_going_on()
            match answer:
                case (str(position), str(winner), str(loser)) | (
                    str(position),
                    str(winner),
                    str(loser),
                    "=" | None,
                ):
                    duel = self._asked_about(position, winner, loser)
                case _:
                    raise DuelError(
                        f"Answer {number} is not (position, winner, loser), or for a tie (position, one, "
                        f"other, '='), but {answer!r:.80}."
                    )
            if duel is None:
                reason = (
                    "comes when the run is over: does it have a smaller max_duels?"
                    if self._engine.outcome is None and self._budget(1) == 0
                    else "is to a question that this run does not ask there: "
                    "is it of another problem, seed, algorithm or set of parameters?"
                )
                raise DuelError(f"Answer {number}, '{winner}' over '{loser}' at '{position}', {reason}")
            self.tell(duel, winner if len(answer) == 3 else None)

    @property
    def result(self) -> Result:
        """The result; before the run is over, what it would be if it were stopped now."""
        outcome = self._engine.outcome or Outcome("budget_spent", self._engine.snapshot.leader)
        matching = None if outcome.matching is None else self.problem.matching(outcome.matching.tolist())
        delta = self.delta if outcome.delta is None else outcome.delta
        return Result(
            self.name,
            outcome.status,
            matching,
            self.duels,
            delta,
            self.parameters.get("epsilon"),
            outcome.assuming,
            self.seed,
            reference=reference_name(self.parameters.get("reference")),
        )

    @property
    def snapshot(self) -> Snapshot:
        """Where the run stands, in numbers of edges."""
        return self._engine.snapshot

    @property
    def progress(self) -> Progress:
        """Where the run stands, by name."""
        snapshot, outcome = self._engine.snapshot, self._engine.outcome
        leader = snapshot.leader if outcome is None else outcome.matching
        rows = snapshot.some_possible
        return Progress(
            self.duels,
            None if leader is None else self.problem.matching(leader.tolist()),
            self.problem.marked(snapshot.accepted),
            self.problem.marked(snapshot.rejected),
            self.problem.marked(~(snapshot.accepted | snapshot.rejected)),
            snapshot.gap if outcome is None else 0.0,
            snapshot.duels_left if outcome is None else 0,
            snapshot.p_value,
            snapshot.possible,
            () if rows is None else tuple(self.problem.matching(row) for row in rows.tolist()),
            None if snapshot.shortfall is None else snapshot.shortfall(),
        )

    def standings(self, seed: int = 0) -> Standings:
        """Estimate from all answers so far who is in the best line-up: by a model, without a guarantee.

        Unlike ``progress`` it counts every answer at once, and does not wait for a round to be complete.
        """
        from duelmatch.matchings.reference import reference_of
        from duelmatch.models.standings import standings_from_counts

        wins, duels, ties = self.answer_counts.counted()
        criterion, shares = described(self.name).criterion, None
        if (reference := self.parameters.get("reference")) is not None:
            named = self.problem.edge_vector(reference) if isinstance(reference, Mapping) else reference
            graph = self.problem.graph
            shares = reference_of(graph, named, self.seed or 0).shares * graph.seats[graph.edge_position]
        return standings_from_counts(self.problem, wins, duels, criterion, ties, marginals=shares, seed=seed)

    def wanted(self) -> Round:
        """Return what is left to hand out of the present round, for a simulation to answer at once."""
        self._engine.check_going_on()
        wanted = self._engine.wanted
        if self._queue is None or self._of is not wanted:
            return wanted
        return Round(wanted.first, wanted.second, self._queue.counts())

    def tell_wins(self, wins: Counts, ties: Counts | None = None) -> None:
        """Take the answers to all of :meth:`wanted`: how often the first of each pair won, or nobody did.

        :raises DuelError: if they do not fit what is wanted, or are more than the budget allows.
        """
        wanted = self.wanted()
        fits = wins.shape == wanted.count.shape and (ties is None or ties.shape == wins.shape)
        told = wins if ties is None or not fits else wins + ties
        if not fits or ((wins < 0) | (told < wins) | (told > wanted.count)).any():
            raise DuelError(
                "The wins and ties must be numbers from 0, together at most the count, for each pair wanted."
            )
        if wanted.total > self._budget(wanted.total):
            raise DuelError(f"{wanted.total:,} answers are more than max_duels={self.max_duels:,} allows.")
        if wanted.total == 0:
            return
        self._engine.interrupted = True
        if self._queue is not None and self._of is self._engine.wanted:
            self._queue.clear()
        self._duels += wanted.total
        ties = np.zeros(len(wins), dtype=np.int64) if ties is None else ties
        answers = RoundAnswers(wins, ties)
        self.answer_counts.add(wanted, answers)
        self._engine.tell_many(answers, wanted.total)

    def answer_round(self, chance: Callable[[Indices, Indices], Vector], rng: np.random.Generator) -> None:
        """Answer all of :meth:`wanted`, or as much as the budget allows, at random.

        The first edge of a duel wins with the ``chance`` that it has against the second.
        """
        wanted = self.wanted()
        if self._budget(wanted.total) == wanted.total:
            self.tell_wins(rng.binomial(wanted.count, chance(wanted.first, wanted.second)))
            return
        for duel in self.ask(wanted.total):
            edges = [np.array([self.problem.edge_number(name, duel.position)]) for name in duel.candidates]
            self.tell(duel, duel.first if rng.random() < chance(*edges)[0] else duel.second)

    def _budget(self, wanted: int) -> int:
        """Return how many of the duels wanted can still be asked."""
        if self.max_duels is None:
            return wanted
        return min(wanted, self.max_duels - self.duels - len(self._open))

    def _waiting(self) -> Queue:
        """Return the queue of the present round."""
        if self._queue is None or self._of is not self._engine.wanted:
            self._of = self._engine.wanted
            self._queue = Queue(self._of)
        return self._queue

    def _hand_out(self, pair: int) -> Duel:
        edges, wanted = self.problem.edges, self._engine.wanted
        first, position = edges[wanted.first[pair]]
        self._last_id += 1
        duel = Duel(position, first, edges[wanted.second[pair]][0], self._last_id)
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
            pair = self._waiting().take_question((min(edges), max(edges)))
        return None if pair is None else self._hand_out(pair)


def whole_number(n: object) -> int:
    """Return how many duels to ask for.

    :raises DuelError: if that is not a whole number of at least 0.
    """
    if not is_whole(n):
        raise DuelError(
            f"The number of duels to ask for must be a whole number of at least 0, not {n!r:.80}."
        )
    return int(n)


class AnswerCounts:
    """All answers of a run by pair, whatever they were asked for; a tie is half a win.

    They are put down as they come and counted when somebody asks, since most runs are never asked.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._wins: Vector | None = None
        self._duels, self._ties = np.zeros(0), 0
        self._uncounted: list[tuple[Round, RoundAnswers]] = []

    def add(self, asked: Round, answers: RoundAnswers) -> None:
        """Put down the answers to a round."""
        self._uncounted.append((asked, answers))
        if len(self._uncounted) >= MOST_UNCOUNTED:
            self.counted()

    def add_one(self, asked: Round, pair: int, first_wins: bool | None) -> None:
        """Put down the answer to one duel of a round; None is a tie."""
        one, wins, ties = slice(pair, pair + 1), int(first_wins is True), int(first_wins is None)
        duel = Round(asked.first[one], asked.second[one], np.ones(1, dtype=np.int64))
        self.add(duel, RoundAnswers(np.array([wins]), np.array([ties])))

    def counted(self) -> tuple[Vector, Vector, int]:
        """Return what the first edge of each pair is credited with, how often it was asked, and all ties."""
        table = self._graph.pair_table
        if self._wins is None:
            self._wins, self._duels = np.zeros(table.count), np.zeros(table.count)
        for asked, answers in self._uncounted:
            pairs, score = table.number(asked.first, asked.second), answers.score
            np.add.at(self._duels, pairs, asked.count)
            np.add.at(self._wins, pairs, np.where(asked.first < asked.second, score, asked.count - score))
            self._ties += int(answers.ties.sum())
        self._uncounted.clear()
        return self._wins, self._duels, self._ties


class Queue:
    """The duels of a round that nobody has been asked yet, as numbers of pairs, in order.

    Two pairs of a round can be the same question: each sub-run of CAR-Parallel has its own duels, and
    CLUCB-Borda can ask about the same two edges for the sake of either. Who counts an answer must follow from
    the answers alone, or a run could not be replayed from them; and it must not depend on which answer comes
    first, or quick answers would count for one and slow ones for the other. So a question is open for
    one pair at a time, in the order of the round, and its k-th answer belongs to the k-th of its duels.
    """

    def __init__(self, duels: Round) -> None:
        self._pairs: deque[int] = deque(duels.turns().tolist())
        self._question = duels.questions()
        self._shared = len(set(self._question)) < len(self._question)

    def __len__(self) -> int:
        return len(self._pairs)

    def clear(self) -> None:
        """Remove all that are waiting."""
        self._pairs.clear()

    def counts(self) -> NDArray[np.int64]:
        """Return how many duels of each pair are waiting."""
        pairs = np.array(self._pairs, dtype=np.intp)
        return np.bincount(pairs, minlength=len(self._question)).astype(np.int64)

    def take(self, n: int, open_pairs: Iterable[int]) -> list[int]:
        """Remove and return the pairs of up to ``n`` duels that can be asked beside the open ones."""
        if not self._shared:
            return [self._pairs.popleft() for _ in range(min(n, len(self._pairs)))]
        asked_for = {self._question[pair]: pair for pair in open_pairs}
        taken: list[int] = []
        passed_over: list[int] = []
        while self._pairs and len(taken) < n:
            pair = self._pairs.popleft()
            if asked_for.setdefault(self._question[pair], pair) == pair:
                taken.append(pair)
            else:
                asked_for[self._question[pair]] = -1  # those behind it wait too
                passed_over.append(pair)
        self._pairs.extendleft(reversed(passed_over))
        return taken

    def take_question(self, question: tuple[int, int]) -> int | None:
        """Remove and return the first pair that asks about two edges, the lower first; None if none does."""
        for place, pair in enumerate(self._pairs):
            if self._question[pair] == question:
                del self._pairs[place]
                return pair
        return None

    def put_back(self, pair: int) -> None:
        """Put a duel behind all others, except those that must come after it."""
        after: list[int] = []
        if self._shared:
            same = self._question[pair]
            after = [other for other in self._pairs if self._question[other] == same]
            self._pairs = deque(other for other in self._pairs if self._question[other] != same)
        self._pairs.extend([pair, *after])
