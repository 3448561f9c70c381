"""What the log keeps: designs, the ballots drawn from them, the answers, and which answers count.

What follows from the records is computed from them, by :mod:`duelmatch.explorers.ballots.evidence`. They are
written by name, ready for JSON. Every change of a study is one event, a mapping with a ``kind``; the log
holds nothing else, and :class:`duelmatch.explorers.ballots.state.CrowdState` is what the events add up to.

==============  ==============================================================================
designed        how ballots are drawn from now on, and all that the bets on them follow from
opened          a ballot was drawn for a voter: its questions, and when its lease is over
passed          the questions that are missing on a ballot go to this voter, who is its heir
asked           a question of a ballot was handed out
answered        the answer to it: groups of candidates, best first
skipped         the voter does not answer it, and is not asked again
released        the question was taken back, and may be asked again
undone          the voter took the answer back, and may answer again
expired         a voter's part in a ballot is over, and what is missing waits for an heir
finished        nothing more will be added to a ballot: what is missing stays missing
struck          a voter does not count; ``reinstated``: counts again
corrected       an answer was corrected, or struck if ``answer`` is None
dropped         a candidate left; ``added``: one came
==============  ==============================================================================

Lists with a number per pair are in the order of the pairs of the problem at that moment: positions in
order, and at each of them every two of its candidates, in the problem's order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from duelmatch.graph import Indices, Mask, PairTable, Vector
from duelmatch.problem import Problem

KINDS = (
    "designed", "opened", "passed", "expired", "finished", "asked", "answered", "skipped", "released",
    "undone", "corrected", "struck", "reinstated", "dropped", "added",
)  # fmt: skip

Event = Mapping[str, Any]
"""What happened: JSON-ready, with its ``kind`` and the names of whom it is about."""

WRITTEN = (
    "champion", "chances", "size", "question_size", "position_chances", "advantage", "variance", "dispersion",
    "bet", "proof", "proof_for", "answers", "basis",
)  # fmt: skip
"""What is written of a design, besides its number."""

MISSING = float("nan")
"""The value of a pair that nobody has answered. It is never counted as 1/2."""


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """How the ballots that refer to it are drawn, and all that the bets on them follow from.

    A design is a function of ballots opened before the first that refers to it, and of nothing else.
    """

    number: int
    champion: Indices
    """The edges of the matching that the bets back."""
    chances: Vector
    """The chance pi of every pair to be on a ballot."""
    size: int
    """The largest number of pairs on a ballot."""
    advantage: Vector
    """The estimate of p - 1/2 of every pair."""
    variance: Vector
    """The variance of that estimate."""
    dispersion: float = 1.0
    """The second moment of Y, over what it would be if the answers of a voter were independent."""
    proof: int = 0
    """The number of the proof in progress; 0 before the first."""
    proof_for: Indices | None = None
    """The champion that the proof is for."""
    answers: int = 0
    """How many answers there were when the design was made."""
    position_chances: Vector | None = None
    """The chance of every position, where a ballot keeps to few of them; None if pairs are drawn from all."""
    question_size: int = 2
    """How many candidates are compared in one question."""
    bet: float = 0.0
    """The bet that all rivals share where they are too many to list."""
    basis: str = ""
    """What the design was made for: how ballots are drawn, how many were possible, after how many changes."""

    @property
    def one_position(self) -> bool:
        """Whether all pairs of a ballot are at one position."""
        return self.position_chances is not None and self.position_chances.sum() < 1.5

    @property
    def proving(self) -> bool:
        """Whether the proof in progress is for the champion."""
        return self.proof_for is not None and np.array_equal(self.proof_for, self.champion)

    def event(self, problem: Problem) -> dict[str, Any]:
        """Write down the design."""
        event: dict[str, Any] = {"kind": "designed", "design": self.number}
        for name in WRITTEN:
            value = getattr(self, name)
            if name in ("champion", "proof_for") and value is not None:
                event[name] = dict(problem.matching(value.tolist()))
            else:
                event[name] = value.tolist() if isinstance(value, np.ndarray) else value
        return event

    @classmethod
    def read(cls, event: Event, problem: Problem) -> Design:
        """Read a design as it was written down."""
        fields = {name: event[name] for name in WRITTEN}
        for name in ("champion", "proof_for"):
            fields[name] = None if fields[name] is None else problem.edge_numbers(fields[name])
        for name in ("chances", "advantage", "variance", "position_chances"):
            fields[name] = None if fields[name] is None else np.array(fields[name], dtype=np.float64)
        return cls(event["design"], **fields)


@dataclass(frozen=True, slots=True, eq=False)
class Ballot:
    """The pairs that one voter is asked about, in the order of asking; drawn at once."""

    number: int
    """In the order of opening, from 0."""
    design: int
    voter: str
    pairs: Indices
    questions: tuple[tuple[int, ...], ...]
    """The edges of every question in the order shown: two for a duel, more for a ranking."""
    deadline: float | None = None
    """When its missing pairs pass to another voter; fixed when the ballot is opened."""

    @classmethod
    def of(
        cls,
        number: int,
        design: int,
        voter: str,
        questions: Sequence[tuple[int, ...]],
        table: PairTable,
        deadline: float | None = None,
    ) -> Ballot:
        """Put down a ballot's pairs: those of each question in turn, by their edges."""
        pairs = [table.number_of(*pair) for edges in questions for pair in combinations(sorted(edges), 2)]
        return cls(number, design, voter, np.array(pairs, dtype=np.intp), tuple(questions), deadline)

    def event(self, problem: Problem) -> dict[str, Any]:
        """Write down the ballot."""
        edges = problem.edges
        return {
            "kind": "opened",
            "ballot": self.number,
            "voter": self.voter,
            "design": self.design,
            "questions": [
                {"position": edges[question[0]][1], "candidates": [edges[edge][0] for edge in question]}
                for question in self.questions
            ],
            "deadline": self.deadline,
        }

    def pairs_of(self, place: int) -> range:
        """Return where the pairs of a question stand among those of the ballot."""
        if len(self.pairs) == len(self.questions):  # all are duels
            return range(place, place + 1)
        sizes = [len(edges) * (len(edges) - 1) // 2 for edges in self.questions[: place + 1]]
        return range(sum(sizes[:-1]), sum(sizes))


@dataclass(slots=True, eq=False)
class Answers:
    """What has come back of one ballot.

    ``value[i]`` is 1, 1/2 or 0 if the first edge of pair i won, drew or lost, and MISSING before; ``by[i]``
    is who said so: 0 the voter who opened the ballot, k the k-th heir, -1 nobody yet.
    """

    value: Vector
    by: Indices
    heirs: list[str] = field(default_factory=list)
    closed: bool = False
    """Whether nothing more will be added: what is missing now stays missing."""

    @classmethod
    def awaited(cls, ballot: Ballot) -> Answers:
        """Begin without any."""
        pairs = len(ballot.pairs)
        return cls(np.full(pairs, MISSING), np.full(pairs, -1, dtype=np.intp))

    @property
    def missing(self) -> Mask:
        """Mark the pairs without an answer."""
        missing: Mask = np.isnan(self.value)
        return missing


@dataclass(frozen=True, slots=True)
class Count:
    """Who and what counts: everybody and everything but the voters struck and the answers corrected."""

    struck: frozenset[str] = frozenset()
    corrected: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    """By ballot and place of the pair on it, the value it should have had; MISSING if it was struck."""

    def values(self, ballot: Ballot, answers: Answers) -> Vector | None:
        """Return the values of a ballot's pairs, as far as they count; None if the ballot does not.

        A ballot counts if the voter who opened it does. The answers of an heir who was struck are missing.
        """
        if ballot.voter in self.struck:
            return None
        value = answers.value
        if self.struck and answers.heirs:
            gone = [k for k, heir in enumerate(answers.heirs, start=1) if heir in self.struck]
            if gone:
                value = np.where(np.isin(answers.by, gone), MISSING, value)
        if ballot.number in self.corrected:
            value = value.copy()
            for place, correction in self.corrected[ballot.number].items():
                if not np.isnan(value[place]):
                    value[place] = correction
        return value


EVERYBODY = Count()


class Renumbering:
    """The new numbers of the edges and pairs of a problem, to which a candidate has come late."""

    def __init__(self, problem: Problem, larger: Problem) -> None:
        table = problem.graph.pair_table
        self._pairs = larger.graph.pairs
        self.edge = np.array([larger.edge_number(name, position) for name, position in problem.edges])
        self.pair = larger.graph.pair_table.number(self.edge[table.first], self.edge[table.second])

    def design(self, design: Design) -> Design:
        """Return a design under the new numbers; new pairs had no chance."""
        chances, advantage = np.zeros(self._pairs), np.zeros(self._pairs)
        variance = np.full(self._pairs, 0.125)
        chances[self.pair], advantage[self.pair] = design.chances, design.advantage
        variance[self.pair] = design.variance
        return replace(
            design,
            champion=self.edge[design.champion],
            chances=chances,
            advantage=advantage,
            variance=variance,
            proof_for=None if design.proof_for is None else self.edge[design.proof_for],
        )

    def ballot(self, ballot: Ballot) -> Ballot:
        """Return a ballot under the new numbers."""
        questions = tuple(tuple(self.edge[list(question)].tolist()) for question in ballot.questions)
        return replace(ballot, pairs=self.pair[ballot.pairs], questions=questions)
