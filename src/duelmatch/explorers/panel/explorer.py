"""A panel decides: which question to put to which judge next, until the outcome is certain."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np

from duelmatch.errors import DuelError, ProblemError
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.panel.bounds import BordaBounds, CondorcetBounds
from duelmatch.explorers.panel.choice import Choice, choose_borda, choose_condorcet
from duelmatch.explorers.panel.model import Model
from duelmatch.explorers.panel.plan import (
    QuestionPlan,
    borda_champion,
    borda_estimates,
    borda_plan,
    condorcet_champion,
    condorcet_plan,
    questions_at_best,
)
from duelmatch.explorers.panel.state import UNKNOWN, PanelState
from duelmatch.explorers.panel.verdict import BordaJudge, CondorcetJudge, PanelStatus, Verdict
from duelmatch.explorers.questions import Question, opinions
from duelmatch.graph import Indices, Mask, Vector
from duelmatch.matchings.assignment import best_matching
from duelmatch.panel import Conflict, check_voters, judged_pairs, voter_weights
from duelmatch.preferences import Criterion
from duelmatch.problem import Matching, Problem

LISTED_WINNERS = 100
"""Up to so many possible winners are named in the progress."""

LARGEST_QUESTION = 10

LAST_ROUNDS = 3000
"""Of fictitious play, where nothing more can be asked and the line-ups are too many to look at."""


@dataclass(frozen=True, slots=True)
class PanelResult:
    """What a panel has decided, and after how many answers.

    Condorcet: ``decided`` (it beats every other line-up), ``unbeaten`` (none beats it, some may draw),
    ``no_winner`` (all are beaten, this one by the least). Borda: ``decided``, or ``tied`` (one of the best).
    All of these are certain. ``budget_spent``: nobody can be asked anything more, or the run is not over; the
    line-up is the one with the smallest worst defeat that is known. ``shortfall``: its worst defeat
    (Condorcet), or by how much it is below the best score (Borda), is that at most, for certain, per
    position. ``assuming`` says what that takes for granted: consistent judges, if answers were inferred.
    """

    algorithm: str
    status: Literal["decided", "unbeaten", "no_winner", "tied", "budget_spent"]
    matching: Matching
    duels: int
    shortfall: float
    assuming: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True)
class PanelProgress:
    """Where a panel stands.

    ``decided``: the positions whose candidate is the same in every possible winner. ``possible_winners``: the
    line-ups that may be unbeaten, or among the best, when all have answered; ``possible`` is their number;
    None and empty where there are too many to look at. ``fewest_questions``: so many answers would make the
    leader certain, if all of them spoke for it; what follows by consistency can save some of them.
    ``expected_questions``: the same with answers as they are expected. Both are estimates, along the present
    plan.
    """

    duels: int
    leader: Matching
    shortfall: float
    decided: tuple[tuple[str, str], ...]
    possible: int | None
    possible_winners: tuple[Matching, ...]
    fewest_questions: int
    expected_questions: int
    open_answers: int


class PanelExplorer:
    """One decision of a panel.

    ``ask(n, voter=...)`` hands out up to n questions for a judge, none of them twice; ``tell`` takes a
    winner, None for no difference, or a ranking. A judge who cannot say skips: the opinion stays open, and is
    not asked for again. ``release`` takes a question back that may be asked again. A judge who leaves is
    asked nothing more, and what the judge has not said either stays open or is not counted: that is the
    organiser's choice.

    ``criterion`` is "condorcet" or "borda"; ``consistent`` judges rank, so that what follows from their
    answers need not be asked; ``conflicts`` lists the candidates (or edges, or pairs) that a voter does not
    judge; ``questions_each`` limits the answers of each voter; ``question_size`` is the number of candidates
    in a question.

    Questions depend on the arguments and the answers only, and nothing is drawn at random.
    """

    def __init__(
        self,
        problem: Problem,
        voters: Iterable[str],
        *,
        criterion: Criterion = "condorcet",
        consistent: bool = True,
        conflicts: Mapping[str, Collection[Conflict]] | None = None,
        voter_weight: Mapping[str, object] | None = None,
        questions_each: int | None = None,
        question_size: int = 2,
    ) -> None:
        if not isinstance(problem, Problem):
            raise ProblemError(f"An explorer needs a Problem, not {problem!r:.80}.")
        problem.require_one_to_one("A panel")
        if criterion not in ("condorcet", "borda"):
            raise ProblemError(f"The criterion must be 'borda' or 'condorcet', not {criterion!r:.80}.")
        if not isinstance(consistent, bool):
            raise ProblemError(f"consistent must be True or False, not {consistent!r:.80}.")
        self.problem, self.criterion, self.consistent = problem, criterion, consistent
        self.voters = check_voters(voters)
        self.questions_each = None if questions_each is None else _whole("questions_each", questions_each, 0)
        self.question_size = _whole("question_size", question_size, 2, LARGEST_QUESTION)
        judged = judged_pairs(problem, self.voters, conflicts or {})
        weights = voter_weights(self.voters, voter_weight or {})
        self.duels = 0
        self.answered = dict.fromkeys(self.voters, 0)
        self._number = {voter: row for row, voter in enumerate(self.voters)}
        self._left: set[int] = set()
        self._open: dict[int, Question] = {}
        self._last_id = 0
        self._inferred = False
        self.state = PanelState(problem.graph, judged, weights, consistent)
        self._model = Model(self.state)
        self._unaskable: Mask = np.zeros(judged.shape, dtype=np.bool_)  # handed out, or skipped
        self._pending: Vector = np.zeros(self.state.pairs)
        self._method = (_Condorcet if criterion == "condorcet" else _Borda)(self)
        self._plan: QuestionPlan | None = None
        self._verdict: Verdict | None = None
        self._consider()

    # Questions and answers

    @property
    def done(self) -> bool:
        """Whether the outcome is certain, or nobody can be asked anything more."""
        return self.verdict.status is not None or self._exhausted

    @property
    def open_duels(self) -> tuple[Question, ...]:
        """The questions handed out and neither answered, skipped nor released."""
        return tuple(self._open.values())

    def ask(self, n: int = 1, voter: str | None = None) -> list[Question]:
        """Hand out up to ``n`` questions for a voter, or for those who have answered least.

        Fewer, or none, if the voter cannot help now: the questions that count are others' to answer.
        """
        n = _whole("The number of questions", n, 0)
        judges = None if voter is None else [self._judge(voter)]
        questions: list[Question] = []
        while len(questions) < n and not self.done:
            found = self._next(judges)
            if found is None:
                break
            questions.append(self._hand_out(*found))
        return questions

    def tell(self, question: Question, answer: object) -> None:
        """Take an answer: the better one, None for no difference, or a ranking.

        A refused answer changes nothing. After the end answers still count; what is certain stays so.

        :raises DuelError: if the question is not open, or the answer does not fit it.
        """
        self._check_open(question)
        said = opinions(question, answer)
        assert question.voter is not None, "every question of a panel is a voter's"
        judge = self._number[question.voter]
        self._take_back(question)
        self.duels += 1
        self.answered[question.voter] += 1
        for better, worse, tie in said:
            one, other = (self.problem.edge_number(name, question.position) for name in (better, worse))
            news = self.state.tell(judge, one, other, tie)
            self._inferred |= news > 1
            if news:
                self._model.learn(judge, one, other, tie)
        self._consider()

    def release(self, question: Question) -> None:
        """Take a question back; it may be asked again, under a new number."""
        self._check_open(question)
        self._take_back(question)
        self._consider()

    def skip(self, question: Question) -> None:
        """Note that the voter does not answer: the voter's opinion stays open, and is not asked for again."""
        self._check_open(question)
        self._take_back(question)
        assert question.voter is not None, "every question of a panel is a voter's"
        self._unaskable[self._number[question.voter], self._pairs_of(question)] = True
        self._consider()

    def leave(self, voter: str, open_answers: Literal["open", "dropped"] = "open") -> None:
        """Ask a voter nothing more. What the voter has not said stays open, or is dropped: not counted."""
        judge = self._judge(voter)
        if open_answers not in ("open", "dropped"):
            raise ProblemError(f"open_answers must be 'open' or 'dropped', not {open_answers!r:.80}.")
        for question in [question for question in self._open.values() if question.voter == voter]:
            self._take_back(question)
        self._left.add(judge)
        if open_answers == "dropped":
            self.state.withdraw(judge, np.ones(self.state.pairs, dtype=np.bool_))
        self._consider()

    # Where it stands

    @property
    def result(self) -> PanelResult:
        """The result; before the run is over, what it would be if it were stopped now."""
        verdict = self.verdict
        assumed = self._inferred or (self.consistent and self.criterion == "borda")
        assuming = (Assumption.CONSISTENT_JUDGES,) if assumed else ()
        matching = self.problem.matching(verdict.matching.tolist())
        status = verdict.status or "budget_spent"
        return PanelResult("panel", status, matching, self.duels, self._per_position(verdict), assuming)

    @property
    def progress(self) -> PanelProgress:
        """Where the panel stands; looking at thousands of line-ups takes a while."""
        verdict = self.verdict
        rows = self._method.judge.possible_winners()
        certain = verdict.status in ("decided", "unbeaten") or rows is None or not len(rows)
        kept = verdict.matching[None, :] if certain and verdict.status else rows
        same = [] if kept is None or not len(kept) else kept[0][(kept == kept[0]).all(axis=0)].tolist()
        fewest, expected = (0, 0) if verdict.status else self._questions_left()
        return PanelProgress(
            self.duels,
            self.problem.matching(verdict.matching.tolist()),
            self._per_position(verdict),
            tuple(self.problem.edges[edge] for edge in same),
            None if rows is None else len(rows),
            ()
            if rows is None or len(rows) > LISTED_WINNERS
            else tuple(map(self.problem.matching, rows.tolist())),
            fewest,
            expected,
            int(((self.state.opinion == UNKNOWN) & self.state.judged).sum()),
        )

    @property
    def verdict(self) -> Verdict:
        """What is certain of the leader, in edges and whole numbers."""
        assert self._verdict is not None, "considered from the start"
        return self._verdict

    def _questions_left(self) -> tuple[int, int]:
        plan = self._current_plan()
        fewest = questions_at_best(plan, self.state)
        share = plan.share[plan.need > 0]
        return fewest, round(fewest / float(share.mean())) if len(share) else fewest

    def _per_position(self, verdict: Verdict) -> float:
        return verdict.shortfall / self._method.judge.bounds.unit / self.problem.graph.positions

    # Inside

    def _consider(self) -> None:
        """Look at what is certain now."""
        self._plan = None
        self._exhausted = False
        if self._verdict is not None and self._verdict.status is not None:
            self._verdict = self._method.judge.verdict(self._verdict.matching)
            if self._verdict.status is not None:  # more answers never make it less certain
                return
        self._verdict = self._method.verdict()
        if self._verdict.status is None and not self._open and not self._anyone_askable():
            self._exhausted = True
            self._verdict = self._method.last_verdict()

    def _askable(self, judge: int) -> Mask:
        """Mark the pairs that a judge can be asked about now."""
        spent = self.questions_each is not None and self._busy(judge) >= self.questions_each
        if spent or judge in self._left:
            return np.zeros(self.state.pairs, dtype=np.bool_)
        state = self.state
        askable: Mask = (state.opinion[judge] == UNKNOWN) & state.judged[judge] & ~self._unaskable[judge]
        return askable

    def _busy(self, judge: int) -> int:
        voter = self.voters[judge]
        return self.answered[voter] + sum(question.voter == voter for question in self._open.values())

    def _anyone_askable(self) -> bool:
        return any(self._askable(judge).any() for judge in range(len(self.voters)))

    def _current_plan(self) -> QuestionPlan:
        if self._plan is None:
            self._plan = self._method.plan(self._pending)
        return self._plan

    def _next(self, judges: list[int] | None) -> tuple[int, Choice] | None:
        """Return a judge and what to ask: a question of the most useful kind that there is for anybody."""
        everyone = range(len(self.voters))
        asked = sorted(everyone, key=self._busy) if judges is None else judges
        for way in self._ways():
            for judge in asked:
                askable = self._askable(judge)
                if askable.any() and (choice := way(judge, askable)):
                    return judge, choice
            others = (judge for judge in everyone if judge not in asked)
            if any(askable.any() and way(j, askable) for j in others for askable in [self._askable(j)]):
                return None
        return None

    def _ways(self) -> Iterator[Callable[[int, Mask], Choice | None]]:
        """Yield the kinds of questions, the most useful first."""
        method, plan = self._method, self._current_plan()
        yield lambda judge, askable: method.choose(plan, judge, askable)
        if self._open:  # as if nobody answered what is handed out
            careful = method.plan(np.zeros(self.state.pairs))
            yield lambda judge, askable: method.choose(careful, judge, askable)
        yield lambda judge, askable: method.refute(plan, askable)
        yield lambda judge, askable: _any_pair(self.state, askable)

    def _hand_out(self, judge: int, choice: Choice) -> Question:
        names = [self.problem.edges[edge] for edge in sorted(choice)]
        self._last_id += 1
        question = Question(names[0][1], tuple(name for name, _ in names), self._last_id, self.voters[judge])
        self._open[question.id] = question
        pairs = self._pairs_of(question)
        self._unaskable[judge, pairs] = True
        self._pending[pairs] += self.state.weight[judge]
        self._plan = None
        return question

    def _take_back(self, question: Question) -> None:
        del self._open[question.id]
        assert question.voter is not None, "every question of a panel is a voter's"
        judge, pairs = self._number[question.voter], self._pairs_of(question)
        self._unaskable[judge, pairs] = False
        self._pending[pairs] -= self.state.weight[judge]

    def _pairs_of(self, question: Question) -> Indices:
        edges = [self.problem.edge_number(name, question.position) for name in question.candidates]
        one, other = np.triu_indices(len(edges), 1)
        numbers = np.array(edges)
        return self.problem.graph.pair_table.number(numbers[one], numbers[other])

    def _check_open(self, question: Question) -> None:
        if not isinstance(question, Question):
            raise DuelError(f"A Question that ask handed out is needed, not {question!r:.80}.")
        if self._open.get(question.id) != question:
            if 0 < question.id <= self._last_id and question.id not in self._open:
                raise DuelError(f"Question {question.id} has been answered, skipped or released already.")
            raise DuelError(f"Question {question.id} at '{question.position}' was never asked by this run.")

    def _judge(self, voter: str) -> int:
        if voter not in self._number:
            raise DuelError(f"There is no voter '{voter!s:.80}' on this panel.")
        return self._number[voter]


class _Condorcet:
    """The parts of a run that depend on the criterion."""

    def __init__(self, run: PanelExplorer) -> None:
        self.run = run
        self.judge = CondorcetJudge(CondorcetBounds(run.state))
        champion = run.problem.graph.some_matching()
        assert champion is not None, "a Problem has a matching"
        self.champion = champion
        self._present = run.problem.graph.edge_at >= 0

    def verdict(self) -> Verdict:
        self.champion = condorcet_champion(self.run._model, self.champion, self._present)
        verdict = self.judge.verdict(self.champion)
        possible = self.judge.possible
        if verdict.status is not None or possible is None or self.judge.must_lose(self.champion) <= 0:
            return verdict
        if self.judge.must_lose(possible) > 0:
            return verdict
        self.champion = possible  # may be unbeaten, and the search has not met it
        return self.judge.verdict(possible)

    def last_verdict(self) -> Verdict:
        """Nobody can be asked: look at every line-up, within limits."""
        safest = self.judge.safest()
        if safest is None:
            safest = condorcet_champion(self.run._model, self.champion, self._present, LAST_ROUNDS)
        self.champion = safest
        return self.judge.verdict(safest)

    def plan(self, pending_pairs: Vector) -> QuestionPlan:
        state, graph = self.run.state, self.run.problem.graph
        own = self.champion[graph.edge_position]
        others = np.flatnonzero(own != np.arange(graph.edges))
        pairs = graph.pair_table.number(own[others], others)
        pending = np.zeros(graph.edges)
        pending[others] = pending_pairs[pairs] / np.maximum(state.total[pairs], 1)
        return condorcet_plan(self.run._model, self.champion, pending)

    def choose(self, plan: QuestionPlan, judge: int, askable: Mask) -> Choice | None:
        return choose_condorcet(
            plan, self.run._model, judge, askable, self.run._unaskable[judge], self.run.question_size
        )

    def refute(self, plan: QuestionPlan, askable: Mask) -> Choice | None:
        """No goal can be brought on: ask about the line-ups that keep the champion from being certain."""
        graph = self.run.problem.graph
        lineups = [(plan.champion, self.judge.most_dangerous(plan.champion))]
        if self.judge.possible is not None:
            lineups.append((self.judge.possible, self.judge.best_reply(self.judge.possible)))
        for one, other in lineups:
            differ = np.flatnonzero(one != other)
            pairs = graph.pair_table.number(one[differ], other[differ])
            if askable[pairs].any():
                return _edges_of(self.run.state, int(pairs[askable[pairs].argmax()]))
        return None


class _Borda:
    """The parts of a run that depend on the criterion."""

    def __init__(self, run: PanelExplorer) -> None:
        self.run = run
        self.judge = BordaJudge(BordaBounds(run.state))
        bounds = self.judge.bounds
        self._shares: Vector = np.array([float(share) for share in bounds.shares / bounds.share_unit])

    def verdict(self) -> Verdict:
        graph, bounds = self.run.problem.graph, self.judge.bounds
        self._rewards, self._variances = borda_estimates(self.run._model, bounds)
        self.champion = borda_champion(graph, self._rewards)
        self._least = bounds.least(self.champion)
        return self.judge.verdict_of(self.champion, self._least)

    def last_verdict(self) -> Verdict:
        """Nobody can be asked: take the line-up that is best in the middle of what is possible."""
        bounds = self.judge.bounds
        middle = bounds.rewards(1) + bounds.rewards(-1)
        matching = best_matching(self.run.problem.graph, middle.astype(np.float64))
        assert matching is not None, "a Problem has a matching"
        return min(
            (self.judge.verdict(champion) for champion in (matching, self.champion)),
            key=lambda verdict: (verdict.status is None, verdict.shortfall),
        )

    def plan(self, pending_pairs: Vector) -> QuestionPlan:
        graph, bounds = self.run.problem.graph, self.judge.bounds
        least = self._least.astype(np.float64) / (bounds.unit // 2)
        return borda_plan(graph, self.champion, self._rewards, self._variances, least)

    def choose(self, plan: QuestionPlan, judge: int, askable: Mask) -> Choice | None:
        return choose_borda(
            plan, self._shares, self.run._model, judge, askable, self.run._unaskable[judge],
            self.run.question_size,
        )  # fmt: skip

    def refute(self, plan: QuestionPlan, askable: Mask) -> Choice | None:
        return None


def _any_pair(state: PanelState, askable: Mask) -> Choice:
    """Return the pair with the most open answers."""
    return _edges_of(state, int(np.where(askable, state.open, -1).argmax()))


def _edges_of(state: PanelState, pair: int) -> Choice:
    return [int(state.first[pair]), int(state.second[pair])]


def _whole(name: str, number: object, low: int, high: int | None = None) -> int:
    fits = isinstance(number, Integral) and not isinstance(number, bool) and int(number) >= low
    if not fits or (high is not None and int(number) > high):  # type: ignore[call-overload]
        most = "" if high is None else f" to {high}"
        raise ProblemError(f"{name} must be a whole number from {low}{most}, not {number!r:.80}.")
    whole: int = int(number)  # type: ignore[call-overload]
    return whole


__all__ = ["PanelExplorer", "PanelProgress", "PanelResult", "PanelStatus"]
