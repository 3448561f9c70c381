"""A panel decides: which question to put to which judge next, until the outcome is certain."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np

from duelmatch.errors import DuelError, ProblemError
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.panel.choice import Choice
from duelmatch.explorers.panel.criteria import any_pair
from duelmatch.explorers.panel.plan import QuestionPlan, questions_at_best
from duelmatch.explorers.panel.proceedings import (
    Backing,
    Event,
    OpenAnswers,
    Proceedings,
    Seat,
    as_conflicts,
    with_candidate,
    without,
)
from duelmatch.explorers.panel.projection import MANY, Projection
from duelmatch.explorers.panel.state import PanelState
from duelmatch.explorers.panel.verdict import PanelStatus, Verdict
from duelmatch.explorers.questions import Question, places
from duelmatch.graph import Indices, Mask
from duelmatch.panel import Conflict, check_voters, judged_pairs, voter_weights
from duelmatch.preferences import Criterion
from duelmatch.problem import Matching, Problem

LISTED_WINNERS = 100
"""Up to so many possible winners are named in the progress."""

LARGEST_QUESTION = 10


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
    not asked for again. ``release`` takes a question back that may be asked again. Everything else that
    happens to a panel is a method, too, and costs nobody else's answer: answers taken back and corrected,
    voters struck, reinstated, leaving, returning and coming late, conflicts declared late, candidates dropped
    and added.

    ``criterion`` is "condorcet" or "borda"; ``consistent`` judges rank, so that what follows from their
    answers need not be asked; ``conflicts`` lists the candidates (or edges, or pairs) that a voter does not
    judge; ``questions_each`` limits the answers of each voter; ``question_size`` is the number of candidates
    in a question.

    Each of these methods decides, makes events (:mod:`.proceedings`), takes each of them over by ``note``,
    and then passes it to ``record``, if that is set. A new explorer with the same arguments that notes the
    same events is in the same state: same progress, result and next questions. Nothing is drawn at random.
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
        if criterion not in ("condorcet", "borda"):
            raise ProblemError(f"The criterion must be 'borda' or 'condorcet', not {criterion!r:.80}.")
        if not isinstance(consistent, bool):
            raise ProblemError(f"consistent must be True or False, not {consistent!r:.80}.")
        self.criterion, self.consistent = criterion, consistent
        names = check_voters(voters)
        self.questions_each = None if questions_each is None else _whole("questions_each", questions_each, 0)
        self.question_size = _whole("question_size", question_size, 2, LARGEST_QUESTION)
        conflicts, weights = conflicts or {}, voter_weight or {}
        judged_pairs(problem, names, conflicts)  # refuses what is wrong with them
        voter_weights(names, weights)
        self.record: Callable[[Event], None] | None = None
        """Called with each event that this object decided, after it was noted."""
        self._proceedings = Proceedings(
            problem,
            {voter: Seat(weights.get(voter, 1), as_conflicts(conflicts.get(voter, ()))) for voter in names},
        )
        self._projection: Projection | None = None
        self._standing: Verdict | None = None  # of the line-up that is backed
        self._final: tuple[Verdict, bool] | None = None  # what is certain, and whether nobody can be asked
        self._plan: QuestionPlan | None = None

    # Events

    def note(self, event: Event) -> None:
        """Take over an event from the record; it is looked at when something is read.

        :raises DuelError: if it cannot have happened here.
        """
        self._proceedings.note(event)
        self._final = self._plan = None
        if not self._proceedings.is_settled:
            self._standing = None

    def _happen(self, kind: str, **data: Any) -> None:
        event = {"kind": kind, **data}
        self.note(event)
        if self.record is not None:
            self.record(event)

    def settle(self) -> None:
        """Look at what has come, and say whom the design backs now, if that is somebody else."""
        standing, rival = self._look(), self._now.method.judge.possible
        backing = Backing(
            self._named(standing.matching), None if rival is None else self._named(rival), standing.status
        )
        if backing != self._proceedings.backing:
            self._happen("backed", champion=backing.champion, rival=backing.rival, status=backing.status)

    # Questions and answers

    @property
    def problem(self) -> Problem:
        """What is being decided, without candidates who were dropped and with those who were added."""
        return self._proceedings.problem

    @property
    def voters(self) -> tuple[str, ...]:
        """Everybody who is or was on the panel."""
        return tuple(self._proceedings.seats)

    @property
    def answered(self) -> dict[str, int]:
        """How many questions each voter has answered."""
        return {voter: seat.answered for voter, seat in self._proceedings.seats.items()}

    @property
    def duels(self) -> int:
        """How many answers count."""
        return self._now.duels

    @property
    def done(self) -> bool:
        """Whether the outcome is certain, or nobody can be asked anything more."""
        verdict, exhausted = self._look_again()
        return verdict.status is not None or exhausted

    @property
    def open_duels(self) -> tuple[Question, ...]:
        """The questions handed out and neither answered, skipped nor released."""
        return tuple(self._proceedings.open.values())

    def question(self, number: int) -> Question:
        """Return a question that was asked, by its number."""
        return self._proceedings.entry(number).question

    def ask(self, n: int = 1, voter: str | None = None, deadline: float | None = None) -> list[Question]:
        """Hand out up to ``n`` questions for a voter, or for those who have answered least.

        Fewer, or none, if the voter cannot help now: the questions that count are others' to answer. The
        ``deadline`` is kept for :meth:`expire`; what it counts is the caller's business.
        """
        n = _whole("The number of questions", n, 0)
        if voter is not None:
            self._proceedings.seat(voter)
        self.settle()
        questions: list[Question] = []
        while len(questions) < n and not self.done:
            judges = None if voter is None else [self._now.number[voter]]
            found = self._next(judges)
            if found is None:
                break
            questions.append(self._hand_out(*found, deadline))
        return questions

    def can_be_asked(self, voter: str) -> bool:
        """Whether there is anything left that this voter could be asked, now or later."""
        self._seated(voter)
        number = self._now.number.get(voter)
        return number is not None and bool(self._askable(number).any())

    def tell(self, question: Question, answer: object) -> None:
        """Take an answer: the better one, None for no difference, or a ranking.

        A refused answer changes nothing. After the end answers still count. So do answers to questions whose
        time was over.

        :raises DuelError: if the question is not open, or the answer does not fit it.
        """
        entry = self._proceedings.entries.get(question.id) if isinstance(question, Question) else None
        late = entry is not None and (entry.status, entry.reason) == ("released", "expired")
        if not late or entry is None or entry.question != question:
            self._check_open(question)
        self._happen("answered", question=question.id, answer=_groups(question, answer))
        self.settle()

    def release(self, question: Question, reason: str = "released") -> None:
        """Take a question back; it may be asked again, under a new number."""
        self._check_open(question)
        self._happen("released", question=question.id, reason=reason)
        self.settle()

    def expire(self, now: float) -> list[Question]:
        """Take back the questions whose deadline has passed, and return them."""
        entries = [self._proceedings.entries[number] for number in self._proceedings.open]
        over = [entry.question for entry in entries if entry.until is not None and entry.until <= now]
        for question in over:
            self._happen("released", question=question.id, reason="expired")
        self.settle()
        return over

    def skip(self, question: Question, reason: str | None = None) -> None:
        """Note that the voter does not answer: the voter's opinion stays open, and is not asked for again."""
        self._check_open(question)
        self._happen("skipped", question=question.id, reason=reason)
        self.settle()

    def undo(self, question: Question) -> None:
        """Take back an answer, or a skip, for the voter: the question is open again, under its number."""
        self._happen("undone", question=self._known(question))
        self.settle()

    def correct(self, question: Question, answer: object, *, clerical: bool = False) -> None:
        """Replace an answer, for the organiser; None is no difference, as always."""
        number = self._known(question)
        self._happen("corrected", question=number, answer=_groups(question, answer), clerical=bool(clerical))
        self.settle()

    def strike_answer(self, question: Question, *, clerical: bool = False) -> None:
        """Leave out one answer, for the organiser: its voter does not judge what was asked there."""
        self._happen("corrected", question=self._known(question), answer=None, clerical=bool(clerical))
        self.settle()

    # The panel

    def strike(self, voter: str) -> None:
        """Leave out a voter: nothing that the voter said or may say counts; J shrinks."""
        self._seated(voter)
        self._take_back(voter, "released")
        self._happen("struck", voter=voter)
        self.settle()

    def reinstate(self, voter: str) -> None:
        """Count a struck voter again, with everything that the voter has said."""
        self._seated(voter)
        self._happen("reinstated", voter=voter)
        self.settle()

    def leave(self, voter: str, open_answers: OpenAnswers = "open") -> None:
        """Ask a voter nothing more. What the voter has not said stays open, or is dropped: not counted."""
        self._seated(voter)
        if open_answers not in ("open", "dropped"):
            raise ProblemError(f"open_answers must be 'open' or 'dropped', not {open_answers!r:.80}.")
        self._take_back(voter, "left")
        self._happen("left", voter=voter, open_answers=open_answers)
        self.settle()

    def rejoin(self, voter: str) -> None:
        """Ask a voter again who had left."""
        self._seated(voter)
        self._happen("returned", voter=voter)
        self.settle()

    def enter(self, voter: str, weight: int = 1, conflicts: Collection[Conflict] = ()) -> None:
        """Let a voter join who comes late."""
        names = check_voters([*self.voters, voter])
        seats = self._proceedings.seats
        voter_weights(names, {name: seat.weight for name, seat in seats.items()} | {voter: weight})
        judged_pairs(self.problem, names, {voter: conflicts})
        self._happen("entered", voter=voter, weight=weight, conflicts=_plain(conflicts))
        self.settle()

    def declare_conflict(self, voter: str, candidates: Collection[Conflict]) -> None:
        """Take a voter out of all pairs with these candidates (or of these edges, or pairs)."""
        self._seated(voter)
        judged_pairs(self.problem, [voter], {voter: candidates})
        out = judged_pairs(self.problem, [voter], {voter: candidates})[0]
        for question in list(self._proceedings.open_of(voter)):
            if not out[self._now.pairs_of(question)].all():
                self._happen("released", question=question.id, reason="released")
        self._happen("conflict", voter=voter, candidates=_plain(candidates))
        self.settle()

    def drop(self, candidate: str) -> None:
        """Take a candidate out of the problem; what was said of the others stays.

        :raises ProblemError: if there is no such candidate, or a position could not be filled without.
        """
        without(self.problem, candidate)
        for question in self.open_duels:
            if candidate in question.candidates:
                self._happen("released", question=question.id, reason="dropped")
        self._happen("dropped", candidate=candidate)
        self.settle()

    def add(self, candidate: str, positions: Collection[str]) -> None:
        """Let a candidate in: new pairs open for everybody. One who was dropped brings the answers back."""
        with_candidate(self.problem, candidate, list(positions) if not isinstance(positions, str) else "")
        self._happen("added", candidate=candidate, positions=list(positions))
        self.settle()

    def _take_back(self, voter: str, reason: str) -> None:
        for question in self._proceedings.open_of(voter):
            self._happen("released", question=question.id, reason=reason)

    # Where it stands

    @property
    def result(self) -> PanelResult:
        """The result; before the run is over, what it would be if it were stopped now."""
        verdict = self.verdict
        assumed = self._now.state.inferred or (self.consistent and self.criterion == "borda")
        assuming = (Assumption.CONSISTENT_JUDGES,) if assumed else ()
        matching = self.problem.matching(verdict.matching.tolist())
        status = verdict.status or "budget_spent"
        return PanelResult("panel", status, matching, self.duels, self._per_position(verdict), assuming)

    @property
    def progress(self) -> PanelProgress:
        """Where the panel stands; looking at thousands of line-ups takes a while."""
        verdict = self.verdict
        rows = self._now.method.judge.possible_winners()
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
            int(self._now.state.unknown.sum()),
        )

    @property
    def verdict(self) -> Verdict:
        """What is certain of the leader, in edges and whole numbers."""
        return self._look_again()[0]

    @property
    def state(self) -> PanelState:
        """The opinions and the count."""
        return self._now.state

    def _questions_left(self) -> tuple[int, int]:
        plan = self._current_plan()
        fewest = questions_at_best(plan, self._now.state)
        share = plan.share[plan.need > 0]
        return fewest, round(fewest / float(share.mean())) if len(share) else fewest

    def _per_position(self, verdict: Verdict) -> float:
        return verdict.shortfall / self._now.method.judge.bounds.unit / self.problem.graph.positions

    # Inside

    @property
    def _now(self) -> Projection:
        """The record in numbers, brought up to date."""
        if self._projection is None or self._proceedings.has_changed:
            changes = self._proceedings.take_changes()
            if self._projection is None or changes is None or len(changes) > MANY:
                self._projection = Projection(self._proceedings, self.criterion, self.consistent)
            else:
                self._projection.work_in(changes)
        return self._projection

    def _look(self) -> Verdict:
        """Return what is certain of the line-up that is to be backed: a function of the record.

        One that was backed with certainty is looked at first; the search goes on only if it is not certain
        any more. If the record has whom the design backs since the last answer, nothing is searched for.
        """
        if self._standing is None:
            now, backing = self._now, self._proceedings.backing
            judge, last = now.method.judge, self._edges(backing.champion)
            judge.possible = self._edges(backing.rival)
            if last is not None and (self._proceedings.is_settled or backing.status is not None):
                self._standing = judge.verdict(last)
                if self._standing.status is not None or self._proceedings.is_settled:
                    return self._standing
            self._standing = now.method.search(last)
        return self._standing

    def _look_again(self) -> tuple[Verdict, bool]:
        """Return what is certain, and whether nobody can be asked anything more."""
        if self._final is None:
            verdict, exhausted = self._look(), False
            if verdict.status is None and not self._proceedings.open and not self._anyone_askable():
                judge = self._now.method.judge
                rival = judge.possible
                verdict, exhausted = self._now.method.last_verdict(verdict.matching), True
                judge.possible = rival
            self._final = verdict, exhausted
        return self._final

    def _edges(self, lineup: Mapping[str, str] | None) -> Indices | None:
        """Return a named line-up in edges; None if it is not one of this problem any more."""
        if lineup is None:
            return None
        try:
            return self.problem.edge_numbers(lineup)
        except ProblemError:
            return None

    def _named(self, matching: Indices) -> dict[str, str]:
        return dict(self.problem.matching(matching.tolist()))

    def _askable(self, judge: int) -> Mask:
        """Mark the pairs that a judge can be asked about now."""
        spent = self.questions_each is not None and self._busy(judge) >= self.questions_each
        return np.zeros(self._now.state.pairs, dtype=np.bool_) if spent else self._now.askable(judge)

    def _busy(self, judge: int) -> int:
        seat = self._proceedings.seats[self._now.voters[judge]]
        return seat.answered + seat.open

    def _anyone_askable(self) -> bool:
        return any(self._askable(judge).any() for judge in range(len(self._now.voters)))

    def _current_plan(self) -> QuestionPlan:
        if self._plan is None:
            self._plan = self._now.method.plan(self.verdict.matching, self._now.pending)
        return self._plan

    def _next(self, judges: list[int] | None) -> tuple[int, Choice] | None:
        """Return a judge and what to ask: a question of the most useful kind that there is for anybody."""
        everyone = range(len(self._now.voters))
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
        now, size = self._now, self.question_size
        method, plan = now.method, self._current_plan()
        yield lambda judge, askable: method.choose(plan, judge, askable, now.blocked[judge] > 0, size)
        if self._proceedings.open:  # as if nobody answered what is handed out
            careful = method.plan(plan.champion, np.zeros(now.state.pairs))
            yield lambda judge, askable: method.choose(careful, judge, askable, now.blocked[judge] > 0, size)
        yield lambda judge, askable: method.refute(plan, askable)
        yield lambda judge, askable: any_pair(now.state, askable)

    def _hand_out(self, judge: int, choice: Choice, deadline: float | None) -> Question:
        names = [self.problem.edges[edge] for edge in sorted(choice)]
        number = self._proceedings.last_question + 1
        self._happen(
            "asked",
            question=number,
            voter=self._now.voters[judge],
            position=names[0][1],
            candidates=[name for name, _ in names],
            until=deadline,
        )
        return self._proceedings.open[number]

    def _check_open(self, question: Question) -> None:
        if not isinstance(question, Question):
            raise DuelError(f"A Question that ask handed out is needed, not {question!r:.80}.")
        if self._proceedings.open.get(question.id) != question:
            self._known(question)
            raise DuelError(f"Question {question.id} has been answered, skipped or released already.")

    def _known(self, question: Question) -> int:
        entry = self._proceedings.entries.get(question.id) if isinstance(question, Question) else None
        if entry is None or entry.question != question:
            number, where = getattr(question, "id", question), getattr(question, "position", "?")
            raise DuelError(f"Question {number!r:.80} at '{where}' was never asked by this run.")
        return question.id

    def _seated(self, voter: str) -> None:
        self._proceedings.seat(voter)


def _groups(question: Question, answer: object) -> list[list[str]]:
    """Return an answer as groups of candidates, best first.

    :raises DuelError: if it is not one to this question.
    """
    place = places(question, answer)
    return [
        [name for name in question.candidates if place[name] == each] for each in sorted(set(place.values()))
    ]


def _plain(conflicts: Collection[Conflict]) -> list[str | list[str]]:
    """Return conflicts as JSON has them."""
    return [one if isinstance(one, str) else list(one) for one in conflicts]


def _whole(name: str, number: object, low: int, high: int | None = None) -> int:
    fits = isinstance(number, Integral) and not isinstance(number, bool) and int(number) >= low
    if not fits or (high is not None and int(number) > high):  # type: ignore[call-overload]
        most = "" if high is None else f" to {high}"
        raise ProblemError(f"{name} must be a whole number from {low}{most}, not {number!r:.80}.")
    whole: int = int(number)  # type: ignore[call-overload]
    return whole


__all__ = ["PanelExplorer", "PanelProgress", "PanelResult", "PanelStatus"]
