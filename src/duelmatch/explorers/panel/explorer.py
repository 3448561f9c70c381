"""A panel decides: which question to put to which judge next, until the outcome is certain."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from duelmatch.errors import DuelError, ProblemError
from duelmatch.explorers.catalogue import LARGEST_QUESTION, whole
from duelmatch.explorers.panel.bounds import BordaBounds, Whole, exact_marginals
from duelmatch.explorers.panel.choice import Choice
from duelmatch.explorers.panel.proceedings import (
    Event,
    OpenAnswers,
    Proceedings,
    Seat,
    as_conflicts,
    with_candidate,
)
from duelmatch.explorers.panel.standing import Standing, Until
from duelmatch.explorers.panel.state import PanelState
from duelmatch.explorers.questions import MISSING, Answer, Question, groups_of, places, told
from duelmatch.explorers.result import Progress, Result
from duelmatch.graph import Graph, Vector
from duelmatch.matchings.counted import is_quick, keep_count
from duelmatch.panel import Conflict, check_conflicts, check_voters, judged_pairs, voter_weights
from duelmatch.preferences import Criterion
from duelmatch.problem import Problem, check_problem

if TYPE_CHECKING:
    from duelmatch.models.standings import Standings

MOST_RECOUNTS = 4
"""Changes that are kept as worked out; two organisers rarely make one at the same time."""

Recount = tuple[Event, Problem, Graph, tuple[Whole, int] | None]
"""What was counted for an event: of which problem, and the shares in the graph of after it."""


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
    in a question. A Condorcet run ends when a line-up is unbeaten for certain; ``until="decided"`` goes on
    until it beats every other, or certainly does not. For judges who are ``walking``, the next question keeps
    a candidate whom they have just seen where that costs little.

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
        until: Until = "unbeaten",
        walking: bool = False,
    ) -> None:
        check_problem(problem, "An explorer")
        if criterion not in ("condorcet", "borda"):
            raise ProblemError(f"The criterion must be 'borda' or 'condorcet', not {criterion!r:.80}.")
        for name, value in (("consistent", consistent), ("walking", walking)):
            if not isinstance(value, bool):
                raise ProblemError(f"{name} must be True or False, not {value!r:.80}.")
        if until not in get_args(Until):
            raise ProblemError(f"until must be 'unbeaten' or 'decided', not {until!r:.80}.")
        self.criterion, self.consistent, self.until = criterion, consistent, until
        self.walking = walking
        names = check_voters(voters)
        self.questions_each = None if questions_each is None else whole("questions_each", questions_each, 0)
        self.question_size = whole("question_size", question_size, 2, LARGEST_QUESTION)
        conflicts, weights = conflicts or {}, voter_weight or {}
        judged_pairs(problem, names, conflicts)  # refuses what is wrong with them
        voter_weights(names, weights)
        self.record: Callable[[Event], None] | None = None
        """Called with each event that this object decided, after it was noted."""
        self.ahead: Callable[[Event], None] | None = None
        """Called before a change for which it takes long to count anew, unless a copy of this object has
        worked it out (:meth:`recount`) and it was kept. It may raise: then nothing has changed."""
        self._recounts: list[tuple[Event, Problem]] = []
        self.shown: Callable[[str, str, Sequence[str]], Sequence[str]] | None = None
        """The order in which candidates are shown to a voter at a position; as in the problem if None."""
        self._proceedings = Proceedings(
            problem,
            {voter: Seat(weights.get(voter, 1), as_conflicts(conflicts.get(voter, ()))) for voter in names},
        )
        self.standing = Standing(self._proceedings, criterion, consistent, self.questions_each, until)
        """What is certain, who is backed, and what is still needed, in edges and whole numbers."""

    # Events

    def note(self, event: Event) -> None:
        """Take over an event from the record; it is looked at when something is read.

        :raises DuelError: if it cannot have happened here.
        """
        self._proceedings.note(event)
        self.standing.changed()

    def _happen(self, kind: str, **data: Any) -> None:
        event = {"kind": kind, **data}
        self.note(event)
        if self.record is not None:
            self.record(event)

    def _decide(self, kind: str, **data: Any) -> None:
        """Make an event of a decision, and look at what follows from it."""
        self._happen(kind, **data)
        self.settle()

    # What takes long

    def takes_long(self, event: Event) -> bool:
        """Whether it takes more than a moment to count anew what an event changes: who stands, for Borda."""
        kind = event["kind"]
        if kind not in ("dropped", "added") or self.criterion != "borda":
            return False
        return not is_quick(self.problem.graph, kind == "added")

    def recount(self, event: Event) -> Recount:
        """Take over an event that has not happened, in a copy of a run; return what was counted for it."""
        before = self.problem
        self.note(event)
        bounds = self.standing.now.method.certifier.bounds
        exact = isinstance(bounds, BordaBounds)  # short lists need no count
        return event, before, self.problem.graph, (bounds.shares, bounds.share_unit) if exact else None

    def keep(self, found: Recount) -> None:
        """Keep what was counted for an event, for when it happens."""
        event, before, graph, shares = found
        if shares is not None:
            keep_count(shares, exact_marginals, graph)
        self._recounts = [*self._recounts[1 - MOST_RECOUNTS :], (event, before)]

    def _expect(self, event: Event) -> None:
        """Have what takes long worked out before it happens."""
        known = (event, self.problem) in self._recounts
        if self.ahead is not None and not known and self.takes_long(event):
            self.ahead(event)

    def settle(self) -> None:
        """Look at what has come, and record whom the design backs now if that has changed."""
        backing = self.standing.backing
        if backing != self._proceedings.backing:
            self._happen("backed", **asdict(backing))

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
        return self.standing.now.duels

    @property
    def done(self) -> bool:
        """Whether the outcome is certain, or nobody can be asked anything more."""
        return self.standing.done

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
        n = whole("The number of questions", n, 0)
        if voter is not None:
            self._proceedings.seat(voter)
        self.settle()
        questions: list[Question] = []
        while len(questions) < n and not self.done:
            now, plan = self.standing.now, self.standing.plan
            judges = None if voter is None else [now.number[voter]]
            anything_open = bool(self._proceedings.open)
            found = now.next_question(plan, judges, self.question_size, anything_open, self.walking)
            if found is None:
                break
            questions.append(self._hand_out(*found, deadline))
        return questions

    def can_be_asked(self, voter: str) -> bool:
        """Whether there is anything that this voter could be asked, now or when others cannot help."""
        self._proceedings.seat(voter)
        now = self.standing.now
        return bool(now.askable(now.number[voter]).any())

    def tell(self, question: Question, answer: Answer = MISSING, *, winner: Answer = MISSING) -> None:
        """Take an answer: the better one, None for no difference, or a ranking; ``winner`` is another name.

        A refused answer changes nothing. After the end answers still count. So do answers to questions whose
        time was over.

        :raises DuelError: if the question is not open, or the answer does not fit it.
        """
        entry = self._proceedings.entries.get(question.id) if isinstance(question, Question) else None
        late = entry is not None and (entry.status, entry.reason) == ("released", "expired")
        if not late or entry is None or entry.question != question:
            self._check_open(question)
        order = places(question, told(answer, winner))
        self._decide("answered", question=question.id, answer=groups_of(order))

    def release(self, question: Question, reason: str = "released") -> None:
        """Take a question back; it may be asked again, under a new number."""
        self._check_open(question)
        self._decide("released", question=question.id, reason=reason)

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
        self._decide("skipped", question=question.id, reason=reason)

    def undo(self, question: Question) -> None:
        """Take back an answer, or a skip, for the voter: the question is open again, under its number."""
        self._decide("undone", question=self._known(question))

    def correct(self, question: Question, answer: object, *, clerical: bool = False) -> None:
        """Replace an answer, for the organiser; None is no difference, as always."""
        number = self._known(question)
        groups = groups_of(places(question, answer))
        self._decide("corrected", question=number, answer=groups, clerical=bool(clerical))

    def strike_answer(self, question: Question, *, clerical: bool = False) -> None:
        """Leave out one answer, for the organiser: its voter does not judge what was asked there."""
        self._decide("corrected", question=self._known(question), answer=None, clerical=bool(clerical))

    # The panel

    def strike(self, voter: str) -> None:
        """Leave out a voter: nothing that the voter said or may say counts; J shrinks."""
        self._take_back(voter, "released")
        self._decide("struck", voter=voter)

    def reinstate(self, voter: str) -> None:
        """Count a struck voter again, with everything that the voter has said."""
        self._decide("reinstated", voter=voter)

    def leave(self, voter: str, open_answers: OpenAnswers = "open") -> None:
        """Ask a voter nothing more. What the voter has not said stays open, or is dropped: not counted."""
        self._proceedings.seat(voter)
        if open_answers not in ("open", "dropped"):
            raise ProblemError(f"open_answers must be 'open' or 'dropped', not {open_answers!r:.80}.")
        self._take_back(voter, "left")
        self._decide("left", voter=voter, open_answers=open_answers)

    def rejoin(self, voter: str) -> None:
        """Ask a voter again who had left."""
        self._decide("returned", voter=voter)

    def enter(self, voter: str, weight: int = 1, conflicts: Collection[Conflict] = ()) -> None:
        """Let a voter join who comes late."""
        self.enter_all([(voter, weight, conflicts)])

    def enter_all(self, voters: Sequence[tuple[str, int, Collection[Conflict]]]) -> None:
        """Let voters join who come late, all of them or none, each with a weight and conflicts."""
        names = check_voters([*self.voters, *(voter for voter, _, _ in voters)])
        weights = {name: seat.weight for name, seat in self._proceedings.seats.items()}
        voter_weights(names, weights | {voter: weight for voter, weight, _ in voters})
        for voter, _, conflicts in voters:
            check_conflicts(self.problem, voter, conflicts)
        for voter, weight, conflicts in voters:
            self._happen("entered", voter=voter, weight=weight, conflicts=_plain(conflicts))
        self.settle()

    def declare_conflict(self, voter: str, candidates: Collection[Conflict]) -> None:
        """Take a voter out of all pairs with these candidates (or of these edges, or pairs)."""
        self._proceedings.seat(voter)
        out = judged_pairs(self.problem, [voter], {voter: candidates})[0]
        for question in self._proceedings.open_of(voter):
            if not out[self.standing.now.pairs_of(question)].all():
                self._happen("released", question=question.id, reason="released")
        self._decide("conflict", voter=voter, candidates=_plain(candidates))

    def clear_conflict(self, voter: str, candidates: Collection[Conflict]) -> None:
        """Let a voter judge these again who had a conflict about them; what was said counts again."""
        self._proceedings.seat(voter)
        self._decide("cleared", voter=voter, candidates=_plain(candidates))

    def drop(self, candidate: str) -> None:
        """Take a candidate out of the problem; what was said of the others stays.

        :raises ProblemError: if there is no such candidate, or a position could not be filled without.
        """
        self.problem.without([candidate])
        self._expect({"kind": "dropped", "candidate": candidate})
        for question in self.open_duels:
            if candidate in question.candidates:
                self._happen("released", question=question.id, reason="dropped")
        self._decide("dropped", candidate=candidate)

    def add(self, candidate: str, positions: Collection[str]) -> None:
        """Let a candidate in: new pairs open for everybody. One who was dropped brings the answers back."""
        with_candidate(self.problem, candidate, positions)
        self._expect({"kind": "added", "candidate": candidate, "positions": list(positions)})
        self._decide("added", candidate=candidate, positions=list(positions))

    def _take_back(self, voter: str, reason: str) -> None:
        for question in self._proceedings.open_of(voter):
            self._happen("released", question=question.id, reason=reason)

    # Where it stands

    @property
    def result(self) -> Result:
        """The result; before the run is over, the line-up backed, and how far it may fall short."""
        return self.standing.result()

    @property
    def last_result(self) -> Result:
        """The result if nobody is asked any more; of what is not certain, the line-up that falls short least.

        As far as it is found: with many line-ups it may be another, and it takes up to some ten seconds.
        """
        return self.standing.last_result()

    @property
    def progress(self) -> Progress:
        """Where the panel stands; looking at thousands of line-ups takes a while."""
        return self.standing.progress()

    def standings(self, seed: int = 0) -> Standings:
        """Estimate from the answers so far who will be in the best line-up: by a model, without a guarantee.

        What was said, and what follows from it, is counted; only the opinions that are open are uncertain.
        """
        return self.standings_later(seed)()

    def standings_later(self, seed: int = 0) -> Callable[[], Standings]:
        """Return what computes the standings of this moment; another process can be given it."""
        from duelmatch.models.standings import standings_from_counts

        wins, duels, ties = self.counted_answers()
        awaited = self.state.open.astype(np.float64)
        given = self.problem, wins, duels, self.criterion, ties, awaited
        return partial(standings_from_counts, *given, seed=seed)

    def counted_answers(self) -> tuple[Vector, Vector, float]:
        """Return what the first edge of each pair is credited with, how often it was judged, and all ties.

        In units of a judge's weight, with what follows from the answers of consistent judges.
        """
        state = self.state
        known = state.total - state.open
        level = known - state.ahead - state.behind
        return state.ahead + level / 2, known.astype(np.float64), float(level.sum())

    @property
    def state(self) -> PanelState:
        """The opinions and the count."""
        return self.standing.now.state

    # Inside

    def _hand_out(self, judge: int, choice: Choice, deadline: float | None) -> Question:
        names = [self.problem.edges[edge] for edge in sorted(choice)]
        number = self._proceedings.last_question + 1
        candidates = [name for name, _ in names]
        voter, position = self.standing.now.voters[judge], names[0][1]
        self._happen(
            "asked",
            question=number,
            voter=voter,
            position=position,
            candidates=candidates if self.shown is None else list(self.shown(voter, position, candidates)),
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


def _plain(conflicts: Collection[Conflict]) -> list[str | list[str]]:
    """Return conflicts as JSON has them."""
    return [one if isinstance(one, str) else list(one) for one in conflicts]
