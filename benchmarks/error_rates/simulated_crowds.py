"""Simulated crowds: voters whose answers hang together, who skip, quit, dawdle and come back.

A voter is a draw from a crowd: what they think of every pair, which pairs they would answer, how many
questions they have the patience for, and how quick they are. All of these may depend on each other.
:func:`hold` lets voters of a crowd come to a study, several at the same time, until it is over or nobody
else comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.questions import Question
from duelmatch.graph import Graph, Mask, Vector
from duelmatch.preferences import Preferences
from duelmatch.problem import Problem

Rng = np.random.Generator


@dataclass(slots=True)
class CrowdVoter:
    """One person: ``values`` says 1, 1/2 or 0 where the first edge of a pair is better, no better, worse."""

    values: Vector
    willing: Mask | None = None
    """Which pairs they would answer; None: all."""
    patience: int | None = None
    """After how many questions they leave; None: never."""
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class Crowd:
    """Whom voters are drawn from, and what the whole crowd thinks."""

    preferences: Preferences
    draw: Callable[[Rng], CrowdVoter]

    @property
    def problem(self) -> Problem:
        """What is being decided."""
        return self.preferences.problem


def independent(preferences: Preferences) -> Crowd:
    """Return a crowd whose voters answer every question as if they had never been asked another."""
    chance = _of_pairs(preferences)

    def draw(rng: Rng) -> CrowdVoter:
        return CrowdVoter((rng.random(len(chance)) < chance).astype(np.float64))

    return Crowd(preferences, draw)


def consistent(problem: Problem, strengths: Vector, tie_below: float = 0.0) -> Crowd:
    """Return a crowd in which every voter has a utility for every edge: its strength, and a taste.

    Tastes have the Gumbel distribution, so the crowd's preferences are those of Bradley and Terry.
    Utilities that differ by less than ``tie_below`` are no difference to the voter; the preferences follow
    from the same tastes.
    """
    table = problem.graph.pair_table
    lead = strengths[table.first] - strengths[table.second]

    def draw(rng: Rng) -> CrowdVoter:
        utility = strengths + rng.gumbel(size=len(strengths))
        difference = utility[table.first] - utility[table.second]
        values = np.where(np.abs(difference) < tie_below, 0.5, difference > 0)
        return CrowdVoter(values.astype(np.float64))

    def above(limit: Vector) -> Vector:
        return np.asarray(1 / (1 + np.exp(limit)))

    chance = (above(tie_below - lead) + above(-tie_below - lead)) / 2
    return Crowd(_preferences(problem, chance), draw)


def typed(problem: Problem, shares: Vector, values: NDArray[np.float64], flips: float = 0.0) -> Crowd:
    """Return a crowd of a few latent types: whoever is of type t thinks ``values[t]`` of every pair.

    With ``flips`` every single answer is reversed so often, independently.
    """
    cumulative = np.cumsum(shares) / np.sum(shares)

    def draw(rng: Rng) -> CrowdVoter:
        kind = int(np.searchsorted(cumulative, rng.random(), side="right"))
        own = values[min(kind, len(values) - 1)]
        if flips:
            own = np.where(rng.random(len(own)) < flips, 1 - own, own)
        return CrowdVoter(own.copy())

    mean = (np.asarray(shares) / np.sum(shares)) @ values
    return Crowd(_preferences(problem, flips + (1 - 2 * flips) * mean), draw)


def silent(crowd: Crowd, rate_of: Callable[[Vector], Vector], patience: float | None = None) -> Crowd:
    """Let voters answer each pair at a rate that may depend on the pair and on what they would say.

    ``rate_of(values)`` is the chance that each pair is answered; ``patience`` the mean number of questions
    after which a voter leaves.
    """

    def draw(rng: Rng) -> CrowdVoter:
        voter = crowd.draw(rng)
        voter.willing = rng.random(len(voter.values)) < rate_of(voter.values)
        if patience is not None:
            voter.patience = int(rng.geometric(1 / patience))
        return voter

    return Crowd(crowd.preferences, draw)


def paced(crowd: Crowd, speed_of: Callable[[Vector], float]) -> Crowd:
    """Let voters be quick or slow, depending on what they think."""

    def draw(rng: Rng) -> CrowdVoter:
        voter = crowd.draw(rng)
        voter.speed = speed_of(voter.values)
        return voter

    return Crowd(crowd.preferences, draw)


def hold(
    study: BallotExplorer,
    crowd: Crowd,
    rng: Rng,
    voters: int,
    together: int = 1,
    at_once: int = 1_000_000,
    between: Callable[[BallotExplorer, int], None] | None = None,
    come_back: int | None = None,
) -> list[int]:
    """Let up to ``voters`` voters come, ``together`` at a time; return the ballots as they were completed.

    Each asks for ``at_once`` questions whenever it is their turn, which comes in proportion to their speed.
    Who has no more patience leaves, and the lease ends. ``between`` is called after every voter who leaves.
    With ``come_back`` there are so many people altogether, who come again and again under the same name.
    """
    edges = {edge: number for number, edge in enumerate(crowd.problem.edges)}
    people: dict[str, CrowdVoter] = {}
    completed: list[int] = []
    arrivals = _arrivals(voters, come_back, rng)
    present: list[str] = []
    came = 0
    while not study.done:
        while len(present) < together and (name := next(arrivals, None)) is not None:
            if name not in people:
                people[name] = crowd.draw(rng)
            if name not in present:
                present.append(name)
                study.ask(1, voter=name)  # ballots are opened in the order of coming, not of being quick
        if not present:
            break
        if len(present) == 1:
            name = present[0]
        else:
            speed = np.array([people[each].speed for each in present])
            name = present[int(rng.choice(len(present), p=speed / speed.sum()))]
        voter = people[name]
        questions = study.ask(at_once, voter=name)
        for question in questions:
            if voter.patience is not None:
                if voter.patience == 0:
                    questions = []
                    break
                voter.patience -= 1
            _answer(study, question, voter, edges, crowd.problem.graph)
        if not questions or at_once > 1000:
            present.remove(name)
            study.expire(voter=name)
            part = study.state.parts.get(name)
            completed.append(-1 if part is None else part.ballot)
            came += 1
            if between is not None:
                between(study, came)
    return completed


def _answer(
    study: BallotExplorer,
    question: Question,
    voter: CrowdVoter,
    edges: dict[tuple[str, str], int],
    graph: Graph,
) -> None:
    numbers = [edges[name, question.position] for name in question.candidates]
    if len(numbers) == 2:
        pair = _pair_number(graph, *numbers)
        if voter.willing is not None and not voter.willing[pair]:
            study.skip(question)
            return
        value = voter.values[pair]
        low, high = question.candidates if numbers[0] < numbers[1] else question.candidates[::-1]
        study.tell(question, low if value == 1 else high if value == 0 else None)
        return
    order = np.zeros(len(numbers))
    for i in range(len(numbers)):
        for j in range(len(numbers)):
            if i != j:
                pair = _pair_number(graph, numbers[i], numbers[j])
                order[i] += voter.values[pair] if numbers[i] < numbers[j] else 1 - voter.values[pair]
    groups = [
        tuple(name for name, points in zip(question.candidates, order, strict=True) if points == level)
        for level in sorted(set(order.tolist()), reverse=True)
    ]
    study.tell(question, groups)


def _pair_number(graph: Graph, one: int, other: int) -> int:
    low, high = min(one, other), max(one, other)
    return int(np.searchsorted(graph.pair_table.first, low)) + high - low - 1


def _arrivals(voters: int, come_back: int | None, rng: Rng) -> Iterator[str]:
    for number in range(voters):
        yield f"v{number}" if come_back is None else f"v{rng.integers(come_back)}"


def _of_pairs(preferences: Preferences) -> Vector:
    table = preferences.problem.graph.pair_table
    return np.asarray(preferences.matrix[table.first, table.second])


def _preferences(problem: Problem, chance: Vector) -> Preferences:
    table, edges = problem.graph.pair_table, problem.graph.edges
    matrix = np.full((edges, edges), 0.5)
    matrix[table.first, table.second], matrix[table.second, table.first] = chance, 1 - chance
    return Preferences.from_matrix(problem, matrix)
