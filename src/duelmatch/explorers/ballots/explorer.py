"""The explorer that talks to voters: hands out ballots, takes answers, and says what follows.

Nobody waits: a voter who comes gets a ballot with the design of that moment, whatever is still open.
Ballots settle in the order of opening, the oldest first, as they are finished. A voter takes part in one
ballot only, as the one who opened it or as the heir of one whose lease is over.

Whatever is decided here becomes an event (:mod:`duelmatch.explorers.ballots.records`): it is noted in the
state, and passed to ``record``. Another explorer made with the same arguments that notes the same events is
in the same state, and asks the same from then on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from heapq import heappop
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from duelmatch.errors import DuelError, ProblemError
from duelmatch.explorers.ballots.conclusions import RECOUNTED, Conclusions, Recount, Rules, check_listed
from duelmatch.explorers.ballots.drawing import Law
from duelmatch.explorers.ballots.planning import Designer
from duelmatch.explorers.ballots.records import Event
from duelmatch.explorers.ballots.state import CrowdState, Groups, Participation, Told
from duelmatch.explorers.catalogue import drawn_seed, reference_name
from duelmatch.explorers.engine import Outcome
from duelmatch.explorers.questions import Answer, Question, groups_of, places
from duelmatch.explorers.result import Progress, Result
from duelmatch.graph import Vector
from duelmatch.matchings import Edge
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.reference import ReferenceName
from duelmatch.preferences import Criterion
from duelmatch.problem import Problem

if TYPE_CHECKING:
    from duelmatch.models.standings import Standings

MOST_RECOUNTS = 4
"""Changes that are kept as worked out; two organisers rarely make one at the same time."""

NAMELESS = "#"
"""The names of voters without one begin with this."""


class BallotExplorer:
    """One study of a crowd.

    ``ballot_size`` is how many pairs a ballot has at most, ``question_size`` how many candidates are compared
    in one question. ``reference`` says against whom Borda counts; shares given by edge stay as they are when
    a candidate comes late, and are scaled up when one leaves. ``silence``: "blind" if whether a question is
    answered does not depend on the answer; then missing pairs pass to a fresh voter, ``heirs`` times at most.
    "any" if it may depend on it.
    ``counting``: "least" rejects only what every count in the log rejects; "last" goes by the present
    count, which must have been chosen without looking. A ballot stays with its voter for ``ballot_lease``,
    in the units of ``now``, or for ``question_lease`` for each question that is left on it. For voters who
    are ``walking``, neighbours on a ballot have a candidate in common where they can.

    ``record`` is called with every event that this object decided, after it was noted. ``ahead``, if it is
    set, is called before the first event of a change for which it takes long to count anew, unless a copy of
    this object has worked it out (:meth:`recount`) and it was kept. It may raise: then nothing has changed.
    """

    def __init__(
        self,
        problem: Problem,
        criterion: Criterion = "condorcet",
        delta: float = 0.05,
        seed: int | None = None,
        *,
        ballot_size: int = 10,
        question_size: int = 2,
        epsilon: float | None = None,
        assume_winner: bool = False,
        reference: ReferenceName | Mapping[Edge, float] = "decisions",
        silence: Literal["blind", "any"] = "blind",
        heirs: int = 5,
        counting: Literal["least", "last"] = "least",
        ballot_lease: float | None = None,
        question_lease: float | None = None,
        walking: bool = False,
        max_answers: int | None = None,
        record: Callable[[Event], None] | None = None,
    ) -> None:
        check_listed(problem.graph)
        if not 0 < delta < 1:
            raise ProblemError(f"delta must lie between 0 and 1, not {delta!r:.50}.")
        if ballot_size < 1 or question_size < 2 or heirs < 0:
            raise ProblemError(
                f"A ballot has 1 pair or more, a question 2 candidates or more, and heirs are 0 or more, "
                f"not {ballot_size!r:.50}, {question_size!r:.50} and {heirs!r:.50}."
            )
        self.name = criterion
        self.delta = delta
        self.epsilon = epsilon
        self.seed = drawn_seed() if seed is None else seed
        self.max_answers = max_answers
        self.record = record
        self.state = CrowdState(problem, criterion, reference, self.seed)
        rules = Rules(criterion, delta, epsilon, assume_winner, counting)
        self._conclusions = Conclusions(self.state, rules)
        self._designer = Designer(self.state, self._conclusions, rules.proves, self.seed, walking)
        self.law = Law(ballot_size, question_size)
        """How ballots are drawn."""
        self._silence, self._most_heirs = silence, heirs
        self._ballot_lease, self._question_lease = ballot_lease, question_lease
        self.ahead: Callable[[Event], None] | None = None
        self._recounts: list[Recount] = []

    # Events

    def note(self, event: Event) -> None:
        """Take over an event from a log: nothing is decided, nothing is drawn.

        :raises DuelError: if it does not fit what was noted before.
        """
        self.state.note(event)

    def _decide(self, kind: str, **fields: Any) -> None:
        self._decided({"kind": kind, **fields})

    def _decided(self, event: Event) -> None:
        found = None
        if event["kind"] in RECOUNTED and self._conclusions.takes_long(event):
            known = [
                each for each in self._recounts if (each.event, each.changes) == (event, self.state.changes)
            ]
            found = known[0] if known else None
            if found is None and self.ahead is not None:
                self.ahead(event)
        if found is not None:
            self.state.next_contest = found.contest
        self.state.note(event)
        if found is not None:
            self._conclusions.take(found)
            self._recounts.clear()
        if self.record is not None:
            self.record(event)

    # What takes long

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of copies what was worked out for changes to come."""
        return vars(self) | {"_recounts": []}

    def takes_long(self, event: Event) -> bool:
        """Whether it takes more than a moment to count anew what an event changes."""
        return self._conclusions.takes_long(event)

    def recount(self, event: Event) -> Recount:
        """Take over an event that has not happened, in a copy of a run, and return what follows from it."""
        return self._conclusions.recount(event)

    def keep(self, found: Recount) -> None:
        """Keep what was worked out of an event, for when it happens."""
        still = [each for each in self._recounts if each.changes == self.state.changes]
        self._recounts = [*still[1 - MOST_RECOUNTS :], found]

    # Asking and telling

    @property
    def problem(self) -> Problem:
        """Who can fill what, late candidates and those who left included."""
        return self.state.problem

    @property
    def answers(self) -> int:
        """How many questions have been answered, late answers included."""
        return self.state.answers

    @property
    def conclusions(self) -> Conclusions:
        """What follows from the answers, up to date."""
        self._conclusions.update()
        return self._conclusions

    @property
    def done(self) -> bool:
        """Whether something is proven, or the budget is spent."""
        spent = self.max_answers is not None and self.answers >= self.max_answers
        return spent or self.conclusions.outcome is not None

    @property
    def open_questions(self) -> tuple[Question, ...]:
        """The questions handed out and neither answered, skipped nor released."""
        return tuple(question for question, _, _ in self.state.open.values())

    def ask(self, n: int = 1, voter: str | None = None, now: float | None = None) -> list[Question]:
        """Hand out up to ``n`` questions of a voter's ballot, those not answered yet first.

        The first time the whole ballot is drawn. Without a voter, every question is a new voter's.
        """
        if voter is not None and (not isinstance(voter, str) or not voter.strip()):
            raise DuelError(f"The name of a voter must be text, not {voter!r:.80}.")
        if voter is not None and voter.startswith(NAMELESS):
            raise DuelError(f"The name of a voter does not begin with '{NAMELESS}', as {voter!r:.80} does.")
        self.expire(now=now)
        if self.done or n < 1:
            return []
        if voter is None:
            return [self._ask_somebody(now) for _ in range(min(n, self._budget()))]
        if voter in self.state.count.struck:
            return []
        part = self.state.parts.get(voter)
        if part is None and self._budget():
            part = self._begin_part(voter, self.law, now)
        if part is None or part.over:
            return []
        chosen = [place for place in part.left if place in part.handed][:n]
        more = min(n - len(chosen), self._budget())
        chosen += [place for place in part.left if place not in part.handed][:more]
        return [self._hand_out(part, place) for place in chosen]

    def _budget(self) -> int:
        """Return how many questions may still be handed out."""
        if self.max_answers is None:
            return sys.maxsize
        awaited = sum(not part.over for _, part, _ in self.state.open.values())
        return max(0, self.max_answers - self.answers - awaited)

    def _ask_somebody(self, now: float | None) -> Question:
        size = self.law.question_size
        voter = f"{NAMELESS}{len(self.state.parts) + 1}"
        part = self._begin_part(voter, Law(size * (size - 1) // 2, size), now)
        return self._hand_out(part, part.left[0])

    def _begin_part(self, voter: str, law: Law, now: float | None) -> Participation:
        """Give a new voter the missing pairs of a ballot whose lease is over, or else a new ballot."""
        state = self.state
        for number in state.waiting:
            left = len(state.unanswered(number))
            if law is self.law or left == 1:
                deadline = self._deadline(left, now)
                self._decide("passed", ballot=number, voter=voter, deadline=deadline)
                return state.parts[voter]
        design = self._designer.current(law)
        if design is None:
            design = self._designer.design(law)
            self._decided(design.event(self.problem))
        ballot = self._designer.draw(design, voter)
        ballot = replace(ballot, deadline=self._deadline(len(ballot.questions), now))
        self._decided(ballot.event(self.problem))
        return state.parts[voter]

    def _deadline(self, questions: int, now: float | None) -> float | None:
        """Return when what is missing on a ballot of so many questions goes to somebody else."""
        if now is None:
            return None
        if self._question_lease is not None:
            return now + self._question_lease * questions
        return None if self._ballot_lease is None else now + self._ballot_lease

    def _hand_out(self, part: Participation, place: int) -> Question:
        if place not in part.handed:
            ballot, staying = self.state.ballots[part.ballot], self.state.contest.staying
            named = [self.problem.edges[edge] for edge in ballot.questions[place] if staying[edge]]
            self._decide(
                "asked",
                question=self.state.last_question + 1,
                voter=part.voter,
                position=named[0][1],
                candidates=[name for name, _ in named],
                until=part.deadline,
                ballot=part.ballot,
                place=place,
            )
        return part.handed[place]

    def tell(
        self,
        question: Question,
        answer: Answer = None,
        *,
        winner: str | None = None,
        now: float | None = None,
    ) -> None:
        """Take the answer to a question. One that comes when the lease is over is for the standings only.

        :raises DuelError: if the question is not open, or the answer does not fit it.
        """
        part = self._part_of(question)
        order = places(question, winner if winner is not None else answer)
        self._end_if_due(part, now)
        self._decide("answered", question=question.id, answer=groups_of(order))
        self._end_if_nothing_is_left(part)

    def skip(self, question: Question, reason: str | None = None, *, now: float | None = None) -> None:
        """Note that the voter does not answer a question: it waits for the ballot's heir.

        :raises DuelError: if the question is not open.
        """
        part = self._part_of(question)
        self._end_if_due(part, now)
        self._decide("skipped", question=question.id, reason=reason)
        self._end_if_nothing_is_left(part)

    def release(self, question: Question, reason: str = "released") -> None:
        """Take a question back; its voter may be asked again, under a new number.

        :raises DuelError: if the question is not open.
        """
        self._part_of(question)
        self._decide("released", question=question.id, reason=reason)

    def undo(self, question: Question, *, now: float | None = None) -> None:
        """Let a voter take an answer back, and give another, while the ballot is not settled.

        :raises DuelError: if it was not answered, or it is too late for that.
        """
        told = self._told(question)
        part, state = told.part, self.state
        if part.ballot < state.settled or told.corrected or part.voter in state.count.struck:
            raise DuelError(f"Question {question.id} cannot be answered anew: its ballot has been counted.")
        due = part.deadline is not None and now is not None and part.deadline <= now
        handed_in = part.over and state.unanswered(part.ballot)
        if due or handed_in or state.holders[part.ballot] is not part:
            raise DuelError(f"Question {question.id} cannot be answered anew: its ballot was handed in.")
        self._decide("undone", question=question.id)

    def _part_of(self, question: Question) -> Participation:
        asked, part, _ = self.state.open.get(getattr(question, "id", -1), (None, None, -1))
        if asked is None or asked != question or part is None:
            raise DuelError(f"{question!r:.80} is not open: it was answered, skipped or never asked.")
        return part

    def _told(self, question: Question) -> Told:
        told = self.state.told_as(getattr(question, "id", -1))
        if told is None or told.question != question:
            raise DuelError(f"{question!r:.80} has not been answered.")
        return told

    # How a voter's part ends

    def expire(self, voter: str | None = None, now: float | None = None) -> None:
        """End the lease of a voter who has left, or of every ballot whose deadline has passed.

        Leases must not end because of what was answered: deadlines are fixed when a ballot is opened.
        """
        if voter is None:
            deadlines = self.state.deadlines
            while now is not None and deadlines and deadlines[0][0] <= now:
                _, ballot = heappop(deadlines)
                if ballot >= self.state.settled:
                    self._end_if_due(self.state.holders[ballot], now)
        elif voter in self.state.parts:
            self._end(self.state.parts[voter])

    def _end_if_due(self, part: Participation, now: float | None) -> None:
        if part.deadline is not None and now is not None and part.deadline <= now:
            self._end(part)

    def leave(self, voter: str) -> None:
        """Hand in the ballot of a voter who will not answer any more: what is missing passes to another.

        :raises DuelError: if the voter has no ballot.
        """
        if voter not in self.state.parts:
            raise DuelError(f"The voter '{voter!s:.80}' has no ballot.")
        self._end(self.state.parts[voter])

    def settle(self) -> None:
        """Hand in the ballots on which nothing is left, after answers were noted that nobody told."""
        for part in self.state.holders[self.state.settled :]:
            self._end_if_nothing_is_left(part)

    def close(self) -> None:
        """Finish every ballot: nothing more will come. Missing answers count against the champion."""
        for number in range(self.state.settled, len(self.state.ballots)):
            if not self.state.returned[number].closed:
                self._decide("finished", ballot=number)

    def _end_if_nothing_is_left(self, part: Participation) -> None:
        if not part.left:
            self._end(part)

    def _end(self, part: Participation) -> None:
        """End a voter's part in a ballot: pass on what is missing, or finish it."""
        if part.over:
            return
        state = self.state
        heirs = len(state.returned[part.ballot].heirs)
        counts = state.ballots[part.ballot].voter not in state.count.struck
        if self._silence == "blind" and heirs < self._most_heirs and counts and state.unanswered(part.ballot):
            self._decide("expired", ballot=part.ballot)
        else:
            self._decide("finished", ballot=part.ballot)

    # What counts, and who stands

    def strike(self, voter: str) -> None:
        """Let a voter's answers not count, from the first on.

        What is missing on the voter's ballot then passes to nobody: for the counts in which the voter still
        counts, it would have ended because of what was answered.
        """
        if voter in self.state.count.struck:
            return
        self._decide("struck", voter=voter)
        part = self.state.parts.get(voter)
        if part is not None and (not part.over or part.ballot in self.state.waiting):
            self._decide("finished", ballot=part.ballot)

    def reinstate(self, voter: str) -> None:
        """Let a struck voter's answers count again."""
        if voter in self.state.count.struck:
            self._decide("reinstated", voter=voter)

    def correct(self, question: Question, answer: Answer, clerical: bool = False) -> None:
        """Correct an answer on behalf of the organiser, for the standings only.

        A ``clerical`` correction, made without regard to results, makes another count, as a strike does.
        Voters correct their own answers with :meth:`undo`.
        """
        order = places(self._told(question).question, answer)
        self._decide("corrected", question=question.id, answer=groups_of(order), clerical=clerical)

    def strike_answer(self, question: Question) -> None:
        """Let one answer not count: another count, as when a voter is struck."""
        self._told(question)
        self._decide("corrected", question=question.id, answer=None, clerical=False)

    def drop(self, candidate: str) -> None:
        """Let a candidate leave who withdrew for reasons of their own."""
        state = self.state
        if candidate not in self.problem.candidates or candidate in state.dropped:
            raise ProblemError(f"'{candidate}' is not a candidate.")
        gone = (*state.dropped, candidate)
        staying = [name not in gone for name, _ in self.problem.edges]
        if decisions_of(self.problem.graph).some(np.array(staying)) is None:
            raise ProblemError(f"Without '{candidate}' no line-up fills every position.")
        if not isinstance(state.reference, str):
            shares = self.problem.edge_vector(state.reference) * staying
            if (np.add.reduceat(shares, self.problem.graph.start[:-1]) <= 0).any():
                raise ProblemError(f"Without '{candidate}' the reference has nobody left at a position.")
        self._decide("dropped", candidate=candidate)
        for question, part, place in list(state.open.values()):
            if not part.over and place not in part.left:
                self._decide("released", question=question.id, reason="dropped")
        for number in range(state.settled, len(state.ballots)):
            if number < state.settled:  # by the end of one before it, and perhaps packed
                continue
            part = state.holders[number]
            if not state.returned[number].closed and not (
                state.unanswered(number) if part.over else part.left
            ):
                self._decide("finished", ballot=number) if part.over else self._end(part)

    def add(self, candidate: str, positions: Sequence[str]) -> None:
        """Let a late candidate run for some positions."""
        if candidate in self.problem.candidates:
            raise ProblemError(f"'{candidate}' is a candidate already.")
        check_listed(self.problem.with_candidate(candidate, positions).graph)  # or it is refused
        self._decide("added", candidate=candidate, positions=list(positions))

    # What follows

    def standings(self, seed: int = 0) -> Standings:
        """Estimate from all answers so far who is in the best line-up: by a model, without a guarantee.

        Late answers count, too, and what the organiser corrected; those of struck voters do not.
        """
        return self.standings_later(seed)()

    def standings_later(self, seed: int = 0) -> Callable[[], Standings]:
        """Return what computes the standings of this moment; another process can be given it."""
        from duelmatch.models.standings import standings_from_counts

        contest = self.state.contest
        wins, duels, ties = self.counted_answers()
        marginals = contest.marginals if contest.criterion == "borda" else None
        return partial(
            standings_from_counts,
            self.problem, wins, duels, contest.criterion, ties, None, marginals, seed, contest.usable,
        )  # fmt: skip

    def counted_answers(self) -> tuple[Vector, Vector, int]:
        """Return what the first edge of each pair is credited with, how often it was asked, and all ties.

        Of all answers that count for the standings.
        """
        said = self.state.said
        return said.credit.copy(), said.asked.copy(), said.ties

    @property
    def result(self) -> Result:
        """The result; before it is proven, what it would be if the study were stopped now."""
        found = self.conclusions
        outcome = found.outcome or Outcome("budget_spent", found.leader)
        matching = None if outcome.matching is None else self.problem.matching(outcome.matching.tolist())
        assuming = () if found.outcome is None else found.assumptions
        return Result(
            self.name,
            outcome.status,
            matching,
            self.answers,
            self.delta,
            self.epsilon,
            assuming,
            self.seed,
            reference=reference_name(self.state.reference) if self.name == "borda" else None,
        )

    @property
    def progress(self) -> Progress:
        """Where the study stands."""
        return self.conclusions.progress

    def given(self) -> Iterator[tuple[Question, Groups]]:
        """Yield every answer that counts for the standings: late ones, and corrections, included."""
        struck = self.state.count.struck
        for told in self.state.all_told():
            if told.groups is not None and told.question.voter not in struck:
                yield told.question, told.groups
