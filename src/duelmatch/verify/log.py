"""What the entries of a log say, as far as a verdict depends on it; and what they must not say.

A crowd's log is refused if a voter has two ballots, or if a ballot could not have been drawn by its design:
then the bets were not fair, whatever the hashes say.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from typing import Any

from duelmatch.errors import DuelmatchError
from duelmatch.verify.chain import DamagedError, Entry

UNFIT = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
"""What Python raises where data are not of the form expected."""
NOT_AS_WRITTEN = "something that it should say is missing, or not of its form"

SALT = "salt"
"""Random bits in the data of every entry of a secret study, so that its hash cannot be searched for."""

LISTED = 10_000
"""Up to so many line-ups are looked at one by one."""

Lineup = tuple[Any, ...]
"""A candidate for every position, in the order of the positions; several, in theirs, if it has more seats."""
Pair = tuple[str, str, str]
"""A position and two of its candidates."""
Groups = list[list[str]]
"""An answer: candidates in groups of equals, best first."""


class ImpossibleError(DuelmatchError, ValueError):
    """Something that cannot have happened after the entries before; the message is a clause."""


class NotRecomputedError(DuelmatchError):
    """The verdict is beyond this program; the message says why."""


@dataclass(frozen=True)
class LineupVerdict:
    """A status and a line-up.

    ``shortfall``: of a panel, how much the line-up can be behind another at most, per position.
    """

    status: str
    lineup: Lineup | None
    shortfall: float | None = None

    def agrees_with(self, other: LineupVerdict) -> bool:
        """Whether both say the same, up to rounding."""
        known = self.shortfall is not None and other.shortfall is not None
        gap = abs(self.shortfall - other.shortfall) if known else 0.0  # type: ignore[operator]
        return (self.status, self.lineup) == (other.status, other.lineup) and gap <= 1e-9

    def without_votes(self) -> LineupVerdict:
        """Return the verdict where no answer counts: what is not certain then names no line-up."""
        return replace(self, lineup=None) if self.status == "budget_spent" else self


@dataclass
class AskedQuestion:
    """One question to one voter, and the answer; ``place`` is where it stands on a ballot."""

    voter: str
    position: str
    candidates: tuple[str, ...]
    ballot: int = -1
    place: int = -1
    answer: Groups | None = None


@dataclass
class Judge:
    """A member of a panel. ``dropped``: has left, and opinions not given do not count."""

    weight: int
    conflicts: list[Any]
    dropped: bool = False


@dataclass(frozen=True)
class BallotDesign:
    """How ballots were drawn, and what the bets on them follow from."""

    champion: Lineup
    chances: dict[Pair, float]
    advantage: dict[Pair, float]
    variance: dict[Pair, float]
    size: int
    dispersion: float
    one_position: bool
    proof: int
    proof_for: Lineup | None
    bet: float
    """That all rivals share where they are too many to list."""


@dataclass
class DrawnBallot:
    """What one voter was asked about, drawn at once; ``holder`` is who may answer now."""

    voter: str
    design: int
    questions: list[tuple[str, tuple[str, ...]]]
    holder: str | None
    finished: bool = False
    answered: dict[int, int] = field(default_factory=dict)
    """By place on the ballot, the number of the question whose answer counts."""


@dataclass(frozen=True)
class Corrections:
    """What an organiser changed: voters struck, and answers, by ballot and place, None if struck."""

    struck: frozenset[str] = frozenset()
    answers: Mapping[tuple[int, int], Groups | None] = field(default_factory=dict)


class StudyLog:
    """What a log says, from the entry that created the study on."""

    def __init__(self, created: Entry) -> None:
        try:
            problem, self.settings = created["data"]["problem"], created["data"]["settings"]
            self.candidates = [_name(one) for one in problem["candidates"]]
            self.positions = [_name(one) for one in problem["positions"]]
            edges = problem.get("edges") or dict.fromkeys(self.positions, self.candidates)
            self.at = {j: [one for one in self.candidates if one in edges[j]] for j in self.positions}
            self.capacity, self.seats, self.weight = (
                {_name(one): one[word] for one in problem[key] if isinstance(one, dict) and word in one}
                for key, word in (("candidates", "capacity"), ("positions", "seats"), ("positions", "weight"))
            )
            self.rules = [dict(rule) for rule in problem.get("rules") or ()]
            self.judges: dict[str, Judge] = {}
            for one in self.settings.get("voters") or ():
                self._on_entered(one["id"], one.get("weight", 1), one.get("conflicts") or ())
        except UNFIT as error:
            raise DamagedError(f"The first entry does not create a study: {_clause(error)}.") from None
        self.questions: dict[int, AskedQuestion] = {}
        self.given: dict[int, AskedQuestion] = {}
        """Those that were answered, in the order of the answers."""
        self.designs: list[BallotDesign] = []
        self.ballots: list[DrawnBallot] = []
        self.has_ballot: set[str] = set()
        self.dropped: set[str] = set()
        self.corrections = [Corrections()]
        """All that there have been; the last is the present one."""

    def setting(self, name: str, default: Any = None) -> Any:
        """Return a parameter of the algorithm."""
        parameters = self.settings.get("parameters") or {}
        return parameters.get(name, self.settings.get(name, default))

    def recorded(self, closed: Entry) -> LineupVerdict | None:
        """Return the verdict that an entry records."""
        verdict = closed["data"].get("verdict")
        if not verdict:
            return None
        try:
            lineup = verdict.get("matching")
            known = None if lineup is None else self._lineup(lineup)
            return LineupVerdict(verdict["status"], known, verdict.get("shortfall"))
        except UNFIT:
            raise DamagedError(f"Entry {closed['seq']} ('closed') has no verdict of this study.") from None

    def staying(self, position: str) -> list[str]:
        """Return the candidates for a position who have not left."""
        return [one for one in self.at[position] if one not in self.dropped]

    def has_no_conflict(self, voter: str, pair: Pair) -> bool:
        """Whether a voter has declared no conflict of interest about a pair."""
        position, *two = pair
        for conflict in self.judges[voter].conflicts if voter in self.judges else ():
            match [conflict] if isinstance(conflict, str) else conflict:
                case [candidate] if candidate in two:
                    return False
                case [candidate, at] if candidate in two and at == position:
                    return False
                case [at, one, other] if at == position and {one, other} == set(two):
                    return False
        return True

    @property
    def has_answers(self) -> bool:
        """Whether any answer counts: struck neither itself nor with its voter, and about two who stay."""
        now = self.corrections[-1]
        return any(
            now.answers.get((asked.ballot, asked.place), asked.answer) is not None
            and asked.voter not in now.struck
            and any(
                self.dropped.isdisjoint(two) and self.has_no_conflict(asked.voter, (asked.position, *two))
                for two in combinations(asked.candidates, 2)
            )
            for asked in self.given.values()
        )

    def pairs(self) -> list[Pair]:
        """Return all pairs, in the order in which designs list them."""
        return [(j, one, other) for j in self.positions for one, other in combinations(self.at[j], 2)]

    def pair(self, position: str, one: str, other: str) -> Pair:
        """Return two candidates in the order of the problem."""
        at = self.at[position]
        return (position, one, other) if at.index(one) < at.index(other) else (position, other, one)

    def lineups(self, allowed: Container[tuple[str, str]] | None = None) -> list[Lineup] | None:
        """List the line-ups of the candidates who have not left; None if they are more than LISTED.

        ``allowed`` are the positions with candidates that they are made of, if not all. Before the rules,
        they may be ten times as many.
        """
        most = 10 * LISTED if self.rules else LISTED
        found = list(islice(self._extended((), allowed), most + 1))
        if len(found) > most:
            return None
        found = [lineup for lineup in found if all(self._obeys(lineup, rule) for rule in self.rules)]
        return found if len(found) <= LISTED else None

    def _extended(self, start: Lineup, allowed: Container[tuple[str, str]] | None) -> Iterator[Lineup]:
        if len(start) == len(self.positions):
            yield start
            return
        j, taken = self.positions[len(start)], Counter(one for who in start for one in names(who))
        free = (one for one in self.staying(j) if taken[one] < self.capacity.get(one, 1))
        seats = self.seats.get(j, 1)
        for who in combinations([one for one in free if allowed is None or (j, one) in allowed], seats):
            yield from self._extended((*start, who if seats > 1 else who[0]), allowed)

    @property
    def has_conditions(self) -> bool:
        """Whether line-ups are more than one candidate for each position, all of which count the same."""
        return bool(self.capacity or self.seats or self.weight or self.rules)

    def edges(self, lineup: Lineup) -> list[tuple[str, str]]:
        """Return the positions of a line-up, each with everybody who fills it."""
        return [(j, one) for j, who in zip(self.positions, lineup, strict=True) for one in names(who)]

    def _obeys(self, lineup: Lineup, rule: dict[str, Any]) -> bool:
        """Whether a line-up obeys a rule: how many places are filled by these, or all of them or none."""
        filled = [(one, j) for j, one in self.edges(lineup)]

        def places_of(item: Any) -> list[tuple[str, str]]:
            by_name = isinstance(item, str)
            return [edge for edge in filled if (edge[0] == item if by_name else edge == tuple(item))]

        if rule.get("together"):
            return len({bool(places_of(item)) for item in rule["together"]}) == 1
        count = len({edge for item in rule["of"] for edge in places_of(item)})
        return bool(rule.get("at_least", 0) <= count <= rule.get("at_most", count))

    def take(self, entry: Entry) -> None:
        """Note what an entry says, and refuse what cannot have happened."""
        kind, number = entry["kind"], entry["seq"]
        if kind in BESIDE:
            return
        note = getattr(self, f"_on_{kind}", None)
        if note is None:
            raise DamagedError(f"Entry {number} is of a kind that no study writes: '{kind:.50}'.")
        try:
            note(entry.get("voter"), **{key: value for key, value in entry["data"].items() if key != SALT})
        except UNFIT as error:
            what = _clause(error)
            raise DamagedError(f"Entry {number} ('{kind}') does not fit those before it: {what}.") from None

    # Questions and answers

    def _on_asked(
        self,
        voter: str,
        question: int,
        position: str,
        candidates: list[str],
        until: Any = None,
        ballot: int = -1,
        place: int = -1,
    ) -> None:
        if type(question) is not int:
            raise ImpossibleError("a question has no number")
        if question in self.questions or not set(candidates) <= set(self.staying(position)):
            what = f"was asked before, or is not about candidates for {position}"
            raise ImpossibleError(f"question {question} {what}")
        if ballot >= 0:
            drawn = self.ballots[ballot]
            j, of_these = drawn.questions[place]
            if drawn.holder != voter or j != position or not set(candidates) <= set(of_these):
                raise ImpossibleError(f"question {question} is not on the ballot of its voter")
        self.questions[question] = AskedQuestion(voter, position, tuple(candidates), ballot, place)

    def _on_answered(self, voter: Any, question: int, answer: Groups, coin: Any = None) -> None:
        # a coin: the tie was tossed by a study of format 1
        asked = self._question(question)
        if voter != asked.voter:
            raise ImpossibleError(f"question {question} was put to another voter")
        if asked.answer is not None:
            raise ImpossibleError(f"question {question} was answered before")
        self._check_answer(asked, answer)
        asked.answer = answer
        self.given[question] = asked
        drawn = self._ballot_of(asked)
        if drawn is not None and drawn.holder == asked.voter:  # else it is too late to count
            drawn.answered[asked.place] = question

    def _check_answer(self, asked: AskedQuestion, answer: Groups) -> None:
        if sorted(name for group in answer for name in group) != sorted(asked.candidates):
            raise ImpossibleError("this is no answer to the question")

    def _question(self, number: Any) -> AskedQuestion:
        if type(number) is not int or number not in self.questions:
            raise ImpossibleError(f"question {json.dumps(number):.20} was not asked")
        return self.questions[number]

    def _ballot_of(self, asked: AskedQuestion) -> DrawnBallot | None:
        return self.ballots[asked.ballot] if asked.ballot >= 0 else None

    def _on_undone(self, voter: Any, question: int) -> None:
        asked = self._question(question)
        if 0 <= asked.ballot < self.settled():
            raise ImpossibleError(f"the ballot of question {question} had been counted")
        asked.answer = None
        self.given.pop(question, None)
        drawn = self._ballot_of(asked)
        if drawn is not None and drawn.answered.pop(asked.place, None) is not None:
            drawn.holder, drawn.finished = asked.voter, False

    def _on_corrected(self, voter: Any, question: int, answer: Groups | None, clerical: bool = False) -> None:
        asked = self._question(question)
        if answer is not None:
            self._check_answer(asked, answer)
        drawn = self._ballot_of(asked)
        if drawn is None:
            asked.answer = answer
        elif drawn.answered.get(asked.place) == question and (clerical or answer is None):
            self._correct(answers={**self.corrections[-1].answers, (asked.ballot, asked.place): answer})

    # Who counts, and who stands

    def _on_struck(self, voter: str) -> None:
        self._correct(struck=self.corrections[-1].struck | {voter})

    def _on_reinstated(self, voter: str) -> None:
        self._correct(struck=self.corrections[-1].struck - {voter})

    def _correct(self, **changes: Any) -> None:
        new = replace(self.corrections[-1], **changes)
        self.corrections = [one for one in self.corrections if one != new] + [new]

    def _on_dropped(self, voter: Any, candidate: str) -> None:
        self.dropped.add(candidate)
        self.capacity.pop(candidate, None)
        self.rules = [left for rule in self.rules if (left := _without(rule, candidate)) is not None]

    def _on_added(self, voter: Any, candidate: str, positions: list[str]) -> None:
        if candidate in self.candidates and candidate not in self.dropped:
            raise ImpossibleError(f"'{candidate}' was a candidate already")
        self.dropped.discard(candidate)
        self.at = {j: [one for one in at if one != candidate] for j, at in self.at.items()}
        self.candidates = [*(one for one in self.candidates if one != candidate), candidate]
        for position in positions:
            self.at[position].append(candidate)

    def _on_entered(self, voter: str, weight: int = 1, conflicts: Sequence[Any] = ()) -> None:
        if voter in self.judges:
            raise ImpossibleError(f"voter {voter} was on the panel already")
        if type(weight) is not int or weight < 1:
            raise ImpossibleError(f"the weight of voter {voter} is not a whole number from 1 on")
        self.judges[voter] = Judge(weight, list(conflicts))

    def _judge(self, voter: str) -> Judge:
        """Return a member of the panel; a crowd skips questions, and waits for nobody in particular."""
        return self.judges[voter] if self.settings.get("algorithm") == "panel" else Judge(1, [])

    def _on_conflict(self, voter: str, candidates: list[Any]) -> None:
        self._judge(voter).conflicts.extend(candidates)

    def _on_cleared(self, voter: str, candidates: list[Any]) -> None:
        judge = self._judge(voter)
        judge.conflicts = [one for one in judge.conflicts if one not in candidates]

    def _on_left(self, voter: str, open_answers: str) -> None:
        self._judge(voter).dropped = open_answers == "dropped"

    def _on_returned(self, voter: str) -> None:
        self._judge(voter).dropped = False

    # Designs and ballots

    def _on_designed(
        self, voter: Any, design: int, champion: dict[str, str], chances: list[float], **rest: Any
    ) -> None:
        pairs, at_positions, proof_for = self.pairs(), rest["position_chances"], rest["proof_for"]
        if design != len(self.designs) or not all(0 <= chance <= 1 + 1e-9 for chance in chances):
            raise ImpossibleError("it is not the next design, or one of its chances is not between 0 and 1")
        self.designs.append(
            BallotDesign(
                self._lineup(champion),
                dict(zip(pairs, chances, strict=True)),
                dict(zip(pairs, rest["advantage"], strict=True)),
                dict(zip(pairs, rest["variance"], strict=True)),
                rest["size"],
                rest["dispersion"],
                at_positions is not None and sum(at_positions) < 1.5,
                rest["proof"],
                None if proof_for is None else self._lineup(proof_for),
                rest["bet"],
            )
        )

    def _lineup(self, at: Mapping[str, Any]) -> Lineup:
        return tuple(tuple(at[j]) if isinstance(at[j], list) else at[j] for j in self.positions)

    def _on_opened(
        self, voter: str, ballot: int, design: int, questions: list[Any], deadline: Any = None
    ) -> None:
        if ballot != len(self.ballots) or not 0 <= design < len(self.designs):
            raise ImpossibleError("it is not the next ballot, or its design comes later")
        asked = [(one["position"], tuple(one["candidates"])) for one in questions]
        self._check_drawn(self.designs[design], asked)
        self._takes_part(voter)
        self.ballots.append(DrawnBallot(voter, design, asked, voter))

    def _check_drawn(self, design: BallotDesign, asked: list[tuple[str, tuple[str, ...]]]) -> None:
        """Refuse what had no chance, and more than ``size`` pairs: the bets are limited with that in view.

        A ranking may have pairs without a chance, if they tell nothing: those without the champion.
        """
        pairs = [self.pair(j, *two) for j, candidates in asked for two in combinations(candidates, 2)]
        drawn = {pair for pair in pairs if design.chances[pair] > 0}
        if len(set(pairs)) < len(pairs) or len(drawn) > design.size:
            raise ImpossibleError("the ballot has a pair twice, or more than its design allows")
        for j, candidates in asked:
            if not all(any(pair[0] == j and one in pair[1:] for pair in drawn) for one in candidates):
                raise ImpossibleError(f"'{' or '.join(candidates)}' at {j} had no chance to be on the ballot")

    def _on_passed(self, voter: str, ballot: int, deadline: Any = None) -> None:
        self._takes_part(voter)
        if self.ballots[ballot].holder is not None or self.ballots[ballot].finished:
            raise ImpossibleError(f"ballot {ballot} was another voter's")
        self.ballots[ballot].holder = voter

    def _takes_part(self, voter: str) -> None:
        if voter in self.has_ballot:
            raise ImpossibleError(f"voter {voter} has two ballots, which are then not independent")
        self.has_ballot.add(voter)

    def _on_expired(self, voter: Any, ballot: int) -> None:
        self.ballots[ballot].holder = None

    def _on_finished(self, voter: Any, ballot: int) -> None:
        self.ballots[ballot].holder, self.ballots[ballot].finished = None, True

    def settled(self) -> int:
        """Return how many ballots count: all before the first one opened that is not finished."""
        unfinished = (number for number, ballot in enumerate(self.ballots) if not ballot.finished)
        return next(unfinished, len(self.ballots))


BESIDE = (
    "skipped", "released", "joined", "backed", "paused", "resumed", "closed", "reopened", "renamed",
    "detailed", "imported-old", "linked", "revoked", "named", "webhook", "reported",
    "resolved", "published",
)  # fmt: skip
"""Kinds of entries that no verdict depends on."""


def _clause(error: Exception) -> str:
    return str(error) if isinstance(error, ImpossibleError) else NOT_AS_WRITTEN


def places(answer: Groups) -> dict[str, int]:
    """Return the place of every candidate in an answer."""
    return {one: place for place, group in enumerate(answer) for one in group}


def names(at: Any) -> tuple[str, ...]:
    """Return who fills a position in a line-up."""
    return at if isinstance(at, tuple) else (at,)


def _without(rule: dict[str, Any], candidate: str) -> dict[str, Any] | None:
    """Return what a rule says once somebody has left for good; None if it says nothing more."""
    items = rule.get("together") or rule["of"]
    left = [item for item in items if candidate != (item if isinstance(item, str) else item[0])]
    if len(left) == len(items):
        return rule
    if rule.get("together"):
        return {"of": left, "at_most": 0} if left else None
    return {**rule, "of": left} if left else None


def _name(one: Any) -> str:
    return str(one["name"] if isinstance(one, dict) else one)
