"""The explorer that talks to voters: hands out ballots, takes answers, and says what follows.

Nobody waits: a voter who comes gets a ballot with the design of that moment, whatever is still open.
Ballots settle in the order of opening, the oldest first, as they close. A voter takes part in one ballot
only, as the one who opened it or as the heir of one whose lease is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp, log
from typing import Literal

import numpy as np

from duelmatch.errors import DuelError, ProblemError
from duelmatch.explorers.ballots.bets import Contest
from duelmatch.explorers.ballots.evidence import Evidence, evidence
from duelmatch.explorers.ballots.planning import (
    Aim,
    Law,
    ListedAim,
    TabledAim,
    dispersion_of,
    draw_ballot,
    plan,
)
from duelmatch.explorers.ballots.records import EVERYBODY, Answers, Ballot, Count, Design
from duelmatch.explorers.ballots.tables import TabledEvidence, tabled_evidence
from duelmatch.explorers.catalogue import Assumption, drawn_seed
from duelmatch.explorers.engine import Outcome
from duelmatch.explorers.frugal.stakes import Pairs
from duelmatch.explorers.questions import Answer, Question, places
from duelmatch.explorers.result import Progress, Result
from duelmatch.graph import Graph, Indices, Mask
from duelmatch.matchings import Edge
from duelmatch.preferences import Criterion
from duelmatch.problem import Problem

GROWTH = 0.03
"""A new design is made when the answers have grown by this part since the last."""

MOST_LISTED = 10_000
FEW = 100
"""So many possible winners are listed in a report."""


@dataclass(slots=True)
class Seat:
    """One voter's part in one ballot: the questions left, by their place on the ballot."""

    ballot: int
    role: int
    left: list[int]
    handed: dict[int, Question] = field(default_factory=dict)
    expired: bool = False


class BallotExplorer:
    """One study of a crowd.

    ``size`` is how many pairs a ballot has at most, ``question_size`` how many candidates are compared in
    one question. ``silence``: "blind" if whether a question is answered does not depend on the answer; then
    missing pairs pass to a fresh voter, ``heirs`` times at most. "any" if it may depend on it.
    ``counting``: "least" rejects only what every count in the log rejects; "last" goes by the present
    count, which must have been chosen without looking. A ``lease`` is how long a ballot stays with its
    voter, in the units of ``now``.
    """

    def __init__(
        self,
        problem: Problem,
        criterion: Criterion = "condorcet",
        delta: float = 0.05,
        seed: int | None = None,
        *,
        size: int = 10,
        question_size: int = 2,
        epsilon: float | None = None,
        assume_winner: bool = True,
        silence: Literal["blind", "any"] = "blind",
        heirs: int = 5,
        counting: Literal["least", "last"] = "least",
        lease: float | None = None,
        max_answers: int | None = None,
    ) -> None:
        problem.require_one_to_one("A study of ballots")
        if not 0 < delta < 1:
            raise ProblemError(f"delta must lie between 0 and 1, not {delta!r:.50}.")
        if size < 1 or question_size < 2 or heirs < 0:
            raise ProblemError(
                f"A ballot has 1 pair or more, a question 2 candidates or more, and heirs are 0 or more, "
                f"not {size!r:.50}, {question_size!r:.50} and {heirs!r:.50}."
            )
        self.problem = problem
        self.name = criterion
        self.delta = delta
        self.epsilon = epsilon
        self.seed = drawn_seed() if seed is None else seed
        self.max_answers = max_answers
        self.answers = 0
        """How many questions have been answered, late answers included."""
        self.designs: list[Design] = []
        self.ballots: list[Ballot] = []
        self.returned: list[Answers] = []
        self.late: list[tuple[Question, Answer]] = []
        """Answers that came after the ballot had passed on: they count for the standings only."""
        self._law = Law(size, question_size)
        self._silence, self._most_heirs, self._counting, self._lease = silence, heirs, counting, lease
        self._forget = assume_winner or criterion == "borda"
        self._slack = 0.0 if epsilon is None else epsilon * problem.graph.positions
        self._proves = epsilon is not None or not self._forget
        self._threshold = log((2 if self._proves else 1) / delta)
        self._seats: dict[str, Seat] = {}
        self._orphans: list[int] = []
        self._open: dict[int, tuple[Question, Seat, int]] = {}
        self._told: dict[int, tuple[Question, int, int]] = {}
        self._last_id = 0
        self._nameless = 0
        self._dropped: tuple[str, ...] = ()
        self._possible: Indices | None = None
        self._possible_edges: Mask = np.zeros(0, dtype=np.bool_)
        self._corrected = False
        self._begin(problem, [EVERYBODY])

    def _begin(self, problem: Problem, counts: Sequence[Count]) -> None:
        """Compute everything that follows from the log."""
        self.problem = problem
        graph = problem.graph
        staying = np.array([name not in self._dropped for name, _ in problem.edges])
        if not staying.all() and graph.some_matching(staying) is None:
            raise ProblemError(f"Without '{self._dropped[-1]}' no line-up fills every position.")
        self._contest = Contest(graph, self.name, staying)
        self._rows = self._contest.rivals(MOST_LISTED)
        self._met = None
        if self._rows is None:
            self._met = TabledAim(graph, self._contest.usable, self._forget)
        self._evidence: list[Evidence | TabledEvidence] = [self._follows(count) for count in counts]
        self._recount()

    def _follows(self, count: Count) -> Evidence | TabledEvidence:
        log = self._contest, self.designs, self.ballots, self.returned, count
        if self._rows is None:
            return tabled_evidence(
                *log,
                threshold=self._threshold,
                most_listed=MOST_LISTED,
                slack=self._slack,
                forget=self._forget,
            )
        return evidence(*log, rows=self._rows, slack=self._slack, forget=self._forget)

    def _recount(self) -> None:
        """Estimate anew from the answers that count, after a change of what counts."""
        self._estimates = Pairs(self.problem.graph)
        count = self._evidence[-1].count
        for ballot, answers in zip(self.ballots, self.returned, strict=True):
            values = count.values(ballot, answers)
            if values is not None:
                given = ~np.isnan(values)
                np.add.at(self._estimates.duels, ballot.pairs[given], 1.0)
                np.add.at(self._estimates.wins, ballot.pairs[given], values[given])
        self._current: dict[Law, Design] = {}
        self._review()

    # Asking and telling

    @property
    def done(self) -> bool:
        """Whether something is proven, or the budget is spent."""
        spent = self.max_answers is not None and self.answers >= self.max_answers
        return spent or self._outcome is not None

    def ask(self, n: int = 1, voter: str | None = None, now: float | None = None) -> list[Question]:
        """Hand out up to ``n`` questions of a voter's ballot, those not answered yet first.

        The first time the whole ballot is drawn. Without a voter, every question is a new voter's.
        """
        if self.done or n < 1:
            return []
        if voter is None:
            return [self._ask_somebody(now) for _ in range(n)]
        if voter in self._evidence[-1].count.struck:
            return []
        seat = self._seats.get(voter) or self._seat(voter, self._law, now)
        if seat.expired:
            return []
        chosen = [place for place in seat.left if place in seat.handed][:n]
        chosen += [place for place in seat.left if place not in seat.handed][: n - len(chosen)]
        return [self._hand_out(seat, place, voter) for place in chosen]

    def _ask_somebody(self, now: float | None) -> Question:
        self._nameless += 1
        voter = f"#{self._nameless}"
        one = Law(self._law.question_size * (self._law.question_size - 1) // 2, self._law.question_size)
        seat = self._seat(voter, one, now)
        return self._hand_out(seat, seat.left[0], voter)

    def _seat(self, voter: str, law: Law, now: float | None) -> Seat:
        """Give a new voter the missing pairs of a ballot whose lease is over, or else a new ballot."""
        for number in self._orphans:
            left = self._unanswered(number)
            if law is self._law or len(left) == 1:
                self._orphans.remove(number)
                heirs = self.returned[number].heirs
                heirs.append(voter)
                seat = Seat(number, len(heirs), left)
                break
        else:
            number = len(self.ballots)
            rng = np.random.default_rng([self.seed, 1, number])
            deadline = None if self._lease is None or now is None else now + self._lease
            ballot = draw_ballot(self._design(law), self._contest, number, voter, rng, deadline)
            self.ballots.append(ballot)
            self.returned.append(Answers.awaited(ballot))
            seat = Seat(number, 0, self._unanswered(number))
        self._seats[voter] = seat
        return seat

    def _unanswered(self, number: int) -> list[int]:
        """Return the places of the questions without an answer, about candidates who have not left."""
        ballot, missing = self.ballots[number], self.returned[number].missing
        places, staying, begin = [], self._contest.staying, 0
        for place, edges in enumerate(ballot.questions):
            pairs = len(edges) * (len(edges) - 1) // 2
            if missing[begin : begin + pairs].any() and staying[list(edges)].sum() > 1:
                places.append(place)
            begin += pairs
        return places

    def ballot_of(self, voter: str) -> int:
        """Return the number of the ballot that a voter takes part in, -1 if none."""
        seat = self._seats.get(voter)
        return -1 if seat is None else seat.ballot

    def _hand_out(self, seat: Seat, place: int, voter: str) -> Question:
        if place not in seat.handed:
            edges, staying = self.ballots[seat.ballot].questions[place], self._contest.staying
            named = [self.problem.edges[edge] for edge in edges if staying[edge]]
            self._last_id += 1
            question = Question(named[0][1], tuple(name for name, _ in named), self._last_id, voter)
            seat.handed[place] = question
            self._open[question.id] = question, seat, place
        return seat.handed[place]

    def tell(self, question: Question, answer: Answer = None, *, winner: str | None = None) -> None:
        """Take the answer to a question. One that comes when the lease is over is for the standings only.

        :raises DuelError: if the question is not open, or the answer does not fit it.
        """
        seat, place = self._asked(question)
        answer = winner if winner is not None else answer
        order = places(question, answer)
        del self._open[question.id]
        self.answers += 1
        if seat.expired:
            self.late.append((question, answer))
            return
        self._told[question.id] = question, seat.ballot, place
        self._write(seat, question, place, order)
        seat.left.remove(place)
        if not seat.left:
            self._leave(seat)

    def _write(self, seat: Seat, question: Question, place: int, order: dict[str, int]) -> None:
        ballot, answers = self.ballots[seat.ballot], self.returned[seat.ballot]
        counts = question.voter not in self._evidence[-1].count.struck
        first, second = self._contest.pairs.first, self._contest.pairs.second
        for index in _pair_places(ballot, place):
            pair = ballot.pairs[index]
            one = order.get(self.problem.edges[first[pair]][0])
            other = order.get(self.problem.edges[second[pair]][0])
            if one is None or other is None:
                continue  # with a candidate who has left
            value = 1.0 if one < other else 0.0 if one > other else 0.5
            answers.value[index], answers.by[index] = value, seat.role
            if counts:
                self._estimates.duels[pair] += 1
                self._estimates.wins[pair] += value

    def _asked(self, question: Question) -> tuple[Seat, int]:
        asked, seat, place = self._open.get(getattr(question, "id", -1), (None, None, -1))
        if asked is None or asked != question or seat is None:
            raise DuelError(f"{question!r:.80} is not open: it was answered, skipped or never asked.")
        return seat, place

    def release(self, question: Question) -> None:
        """Take back a question that its voter will not answer; it passes to another when the ballot does.

        :raises DuelError: if the question is not open.
        """
        seat, place = self._asked(question)
        del self._open[question.id]
        if not seat.expired:
            seat.left.remove(place)
            if not seat.left:
                self._leave(seat)

    def expire(self, voter: str | None = None, now: float | None = None) -> None:
        """End the lease of a voter who has left, or of every ballot whose deadline has passed.

        Leases must not end because of what was answered: deadlines are fixed when a ballot is opened.
        """
        if voter is not None:
            seats = [self._seats[voter]] if voter in self._seats else []
        else:
            due = (ballot for ballot in self.ballots if ballot.deadline is not None and now is not None)
            numbers = {ballot.number for ballot in due if ballot.deadline <= now}  # type: ignore[operator]
            seats = [seat for seat in self._seats.values() if seat.ballot in numbers]
        for seat in seats:
            if not seat.expired and seat.left:
                self._leave(seat)

    def close(self) -> None:
        """Close every ballot: nothing more will come. Missing answers count against the champion."""
        for seat in self._seats.values():
            seat.expired = True
        for answers in self.returned:
            answers.closed = True
        self._orphans.clear()
        self._settle()

    def _leave(self, seat: Seat) -> None:
        """End a voter's part in a ballot: close it, or pass it on."""
        seat.expired = True
        answers = self.returned[seat.ballot]
        missing = bool(self._unanswered(seat.ballot))
        if missing and self._silence == "blind" and len(answers.heirs) < self._most_heirs:
            self._orphans.append(seat.ballot)
            return
        answers.closed = True
        self._settle()

    # What counts

    def strike(self, voter: str) -> None:
        """Let a voter's answers not count, from the first on.

        What is missing on an open ballot then passes to nobody: for the counts in which the voter still
        counts, it would have ended because of what was answered.
        """
        count = self._evidence[-1].count
        seat = self._seats.get(voter)
        if seat is not None and not seat.expired:
            seat.expired = True
            self.returned[seat.ballot].closed = True
            self._settle()
        self._count(Count(count.struck | {voter}, count.corrected))

    def reinstate(self, voter: str) -> None:
        """Let a struck voter's answers count again."""
        count = self._evidence[-1].count
        self._count(Count(count.struck - {voter}, count.corrected))

    def correct(self, question: Question, answer: Answer, clerical: bool = False) -> None:
        """Correct the answer to a question that was told.

        Before its ballot has settled that is all. After, the correction is for the standings only; a
        ``clerical`` one, made without regard to results, makes another count, as a strike does.
        """
        if question.id not in self._told:
            raise DuelError(f"Question {question.id} has not been answered.")
        asked, number, place = self._told[question.id]
        order = places(asked, answer)
        if number >= self._evidence[-1].settled:
            assert asked.voter is not None, "every question on a ballot is a voter's"
            self._write(self._seats[asked.voter], asked, place, order)
            self._recount()
        elif clerical:
            count, ballot = self._evidence[-1].count, self.ballots[number]
            first, second, edges = self._contest.pairs.first, self._contest.pairs.second, self.problem.edges
            values = {}
            for index in _pair_places(ballot, place):
                pair = ballot.pairs[index]
                one, other = order[edges[first[pair]][0]], order[edges[second[pair]][0]]
                values[number, index] = 1.0 if one < other else 0.0 if one > other else 0.5
            self._corrected = True
            self._count(Count(count.struck, {**count.corrected, **values}))
        else:
            self.late.append((asked, answer))

    def drop(self, candidate: str) -> None:
        """Let a candidate leave who withdrew for reasons of their own."""
        if candidate not in self.problem.candidates or candidate in self._dropped:
            raise ProblemError(f"'{candidate}' is not a candidate.")
        before = self._dropped
        self._dropped = (*before, candidate)
        try:
            self._begin(self.problem, [found.count for found in self._evidence])
        except ProblemError:
            self._dropped = before
            raise
        for seat in self._seats.values():
            if not seat.expired:
                left = set(self._unanswered(seat.ballot))
                seat.left = [place for place in seat.left if place in left]
                if not seat.left:
                    self._leave(seat)
        for number in [number for number in self._orphans if not self._unanswered(number)]:
            self._orphans.remove(number)
            self.returned[number].closed = True
        self._settle()

    def add(self, candidate: str, positions: Sequence[str]) -> None:
        """Let a late candidate run for some positions."""
        if candidate in self.problem.candidates:
            raise ProblemError(f"'{candidate}' is a candidate already.")
        old = self.problem
        edges = [*old.edges, *((candidate, position) for position in positions)]
        problem = Problem.from_edges(edges, (*old.candidates, candidate), old.positions)
        edge = np.array([problem.edge_number(name, position) for name, position in old.edges])
        table = old.graph.pair_table
        pair = problem.graph.pair_table.number(edge[table.first], edge[table.second])
        self.designs = [_relabelled(design, edge, pair, problem.graph) for design in self.designs]
        self.ballots = [
            Ballot(
                ballot.number, ballot.design, ballot.voter, pair[ballot.pairs],
                tuple(tuple(edge[list(question)].tolist()) for question in ballot.questions), ballot.deadline,
            )
            for ballot in self.ballots
        ]  # fmt: skip
        self._begin(problem, [found.count for found in self._evidence])

    def _count(self, count: Count) -> None:
        if self._counting == "last":
            self._evidence = [self._follows(count)]
        else:
            known = [found for found in self._evidence if found.count == count]
            others = [found for found in self._evidence if found.count != count]
            self._evidence = [*others, *(known or [self._follows(count)])]
        self._recount()

    # What follows

    def _settle(self) -> None:
        """Settle the closed ballots before the first that is open."""
        before = number = self._evidence[-1].settled
        while number < len(self.ballots) and self.returned[number].closed:
            ballot = self.ballots[number]
            for found in self._evidence:
                found.settle(self.designs[ballot.design], ballot, self.returned[number])
            number += 1
        if number > before:
            self._review()

    def _review(self) -> None:
        """Say what is possible and what is proven now."""
        lists = [found.possible_rows(self._threshold) for found in self._evidence]
        listed = [rows for rows in lists if rows is not None]
        possible, edges = None, np.zeros(self.problem.graph.edges, dtype=np.bool_)
        if len(listed) == len(lists):
            possible = listed[0] if len(listed) == 1 else np.unique(np.concatenate(listed), axis=0)
        for found, rows in zip(self._evidence, lists, strict=True):
            edges[found.alive if rows is None and isinstance(found, TabledEvidence) else rows] = True
        before = self._possible, self._possible_edges
        self._possible, self._possible_edges = possible, edges
        if not np.array_equal(before[1], edges) or (
            possible is not None and (before[0] is None or len(before[0]) != len(possible))
        ):
            self._current = {}
        self._outcome = self._concluded()

    def _concluded(self) -> Outcome | None:
        edges = self._possible_edges
        per_position = np.add.reduceat(edges, self.problem.graph.start[:-1], dtype=np.intp)
        if not edges.any():
            if self.name == "condorcet":
                return Outcome("no_winner", None)
            return Outcome("certified", self.designs[-1].champion)  # somebody has the best score
        alone = int(self._contest.usable.sum()) == self.problem.graph.positions
        if (per_position == 1).all() and (self._forget or alone):
            return Outcome("certified", np.flatnonzero(edges))
        found = self._evidence[-1]
        if found.proof_number and all(
            each.proven(self._threshold, self._proof_threshold(each)) for each in self._evidence
        ):
            return Outcome("within_epsilon" if self._slack else "certified", found.proof_for)
        return None

    def _proof_threshold(self, found: Evidence | TabledEvidence) -> float:
        return self._threshold + log(found.proof_number * (found.proof_number + 1))

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the guarantee takes for granted."""
        taken = [Assumption.INDEPENDENT_VOTERS]
        if self.name == "condorcet" and self._forget:
            taken.append(Assumption.CONDORCET_WINNER)
        if any(answers.heirs for answers in self.returned):
            taken.append(Assumption.SILENCE_BLIND)
        if len(self._evidence) > 1:
            taken.append(Assumption.ONE_COUNT_BLIND)
        elif self._evidence[-1].count != EVERYBODY:
            taken.append(Assumption.LAST_COUNT_BLIND)
        if self._dropped:
            taken.append(Assumption.WITHDRAWALS_BLIND)
        return tuple(taken)

    @property
    def result(self) -> Result:
        """The result; before it is proven, what it would be if the study were stopped now."""
        outcome = self._outcome or Outcome("budget_spent", self._leader)
        matching = None if outcome.matching is None else self.problem.matching(outcome.matching.tolist())
        assuming = () if self._outcome is None else self.assumptions
        return Result(
            self.name, outcome.status, matching, self.answers, self.delta, self.epsilon, assuming, self.seed
        )

    @property
    def _leader(self) -> Indices | None:
        if self._outcome is not None:
            return self._outcome.matching
        last = self.designs[-1].champion if self.designs else None
        return last if last is not None and self._contest.staying[last].all() else None

    @property
    def progress(self) -> Progress:
        """Where the study stands."""
        rows, edges, leader = self._possible, self._possible_edges, self._leader
        per_position = np.add.reduceat(edges, self.problem.graph.start[:-1], dtype=np.intp)
        accepted = edges & (per_position == 1)[self.problem.graph.edge_position]
        known = 0.0 if leader is None else self._known_of(leader)
        return Progress(
            self.answers,
            None if leader is None else self.problem.matching(leader.tolist()),
            self._named(accepted),
            self._named(~edges),
            self._named(edges & ~accepted),
            0.0 if self._outcome else 1 - known / self._threshold,
            0 if self._outcome else None,
            exp(-known),
            None if rows is None else len(rows),
            () if rows is None or len(rows) > FEW else tuple(map(self.problem.matching, rows.tolist())),
        )

    def _known_of(self, leader: Indices) -> float:
        """Return the log evidence that the leader is the winner, between 0 and the threshold."""
        least = np.inf
        for found in self._evidence:
            inner = found.listed if isinstance(found, TabledEvidence) else found
            if inner is None:
                return 0.0
            others = (inner.rows != leader).any(axis=1)
            if self._forget:
                least = min(least, inner.peak[others].min(initial=np.inf))
            elif inner.proof_for is not None and np.array_equal(inner.proof_for, leader):
                missing = inner.proof_peak[others].min(initial=np.inf)
                least = min(least, missing - log(inner.proof_number * (inner.proof_number + 1)))
            else:
                return 0.0
        return float(min(self._threshold, max(0.0, least)))

    def _named(self, edges: Mask) -> tuple[Edge, ...]:
        return tuple(self.problem.edges[edge] for edge in np.flatnonzero(edges))

    # What to ask

    def _design(self, law: Law) -> Design:
        """Return the present design; a new one if the answers have grown, or fewer winners are possible."""
        law = replace(law, one_position=self._possible is None)
        design = self._current.get(law)
        if design is None or self.answers > (1 + GROWTH) * design.answers:
            found = self._evidence[-1]
            design = plan(
                self._contest, self._estimates, self._aim(), law, self.designs, self.answers,
                self._dispersion(found), self._proves, self._slack,
            )  # fmt: skip
            self.designs.append(design)
            self._current = {law: design} if self.answers else {**self._current, law: design}
        return design

    def _dispersion(self, found: Evidence | TabledEvidence) -> float:
        inner = found.listed if isinstance(found, TabledEvidence) else found
        if inner is None:
            return 1.0
        moments = inner.moments[:, inner.possible(self._threshold) & (inner.moments[1] > 0)]
        ratios = moments[0] / moments[1]
        return dispersion_of((float(ratios.mean()), 1.0) if len(ratios) else (0.0, 0.0), inner.settled)

    def _aim(self) -> Aim:
        if self._possible is None:
            assert self._met is not None, "rivals that are not listed are met"
            return self._met.look_at(self._possible_edges)
        allowed = self._possible_edges if self._forget else self._contest.usable
        return ListedAim(self._possible, allowed, self._rivals)

    def _rivals(self, champion: Indices, proving: bool) -> Indices:
        """Return the line-ups to tell from the champion: those possible, or not proven to do no better."""
        rows = self._possible
        assert rows is not None, "they are listed"
        if proving and self._evidence[-1].proof_number:
            lacking = []
            for found in self._evidence:
                inner = found.listed if isinstance(found, TabledEvidence) else found
                assert inner is not None, "all are listed"
                wanted = inner.proof_peak < self._proof_threshold(found)
                if self._forget:
                    wanted &= inner.possible(self._threshold)
                lacking.append(inner.rows[wanted])
            rows = lacking[0] if len(lacking) == 1 else np.unique(np.concatenate(lacking), axis=0)
        others: Indices = rows[(rows != champion).any(axis=1)]
        if len(others) == 0:
            everybody = rows if self._rows is None else self._rows
            others = everybody[(everybody != champion).any(axis=1)]
        return others


def _pair_places(ballot: Ballot, place: int) -> range:
    """Return the places of a question's pairs among those of its ballot."""
    sizes = [len(edges) * (len(edges) - 1) // 2 for edges in ballot.questions[: place + 1]]
    return range(sum(sizes[:-1]), sum(sizes))


def _relabelled(design: Design, edge: Indices, pair: Indices, graph: Graph) -> Design:
    """Return a design under the numbers of a larger graph; new pairs had no chance."""
    chances, advantage, variance = np.zeros(graph.pairs), np.zeros(graph.pairs), np.full(graph.pairs, 0.125)
    chances[pair], advantage[pair], variance[pair] = design.chances, design.advantage, design.variance
    return Design(
        design.number, edge[design.champion], chances, design.size, advantage, variance, design.dispersion,
        design.proof, None if design.proof_for is None else edge[design.proof_for], design.answers,
        design.position_chances, design.question_size, design.bet,
    )  # fmt: skip
