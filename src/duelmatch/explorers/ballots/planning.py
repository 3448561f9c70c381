"""What to put on the next ballot: whom to back, which pairs with what chance, and when to begin a proof.

Champion and shares are those of the frugal search (:mod:`duelmatch.explorers.frugal.search`), with estimates
by the same model (:mod:`duelmatch.models.strengths`), from all answers in hand that count, settled or not. A
ballot holds a pair once, so no chance exceeds 1, and what a pair cannot take goes to the others. Planning may
look at everything that happened before; whatever it decides, the proof holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from duelmatch.explorers.ballots.bets import Contest
from duelmatch.explorers.ballots.drawing import draw, draw_apart, inclusion_chances
from duelmatch.explorers.ballots.records import Ballot, Design
from duelmatch.explorers.frugal.search import borda_champion, condorcet_champion
from duelmatch.explorers.frugal.stakes import (
    OPTIMISM,
    Pairs,
    Prospects,
    Stakes,
    allocation,
    over,
    variance_of_share,
)
from duelmatch.explorers.frugal.tables import TabledRivals
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.models.strengths import StrengthModel

ADJUSTMENTS = 8
"""Steps towards the likeliest settings of the model, for every design from the same ones on."""

NEXT_PROOF = 1.5
"""A new proof begins when the answers have grown by this factor since the last one began."""

TIMES = 4
"""How often the shares of the rivals are improved; every time takes as many steps as a frugal round."""

MEETINGS = 8
"""How often the hardest rivals are looked for where they cannot be listed."""

LEVELLED = 0.2
"""The share of a ballot that is spread evenly, besides that of the frugal design: no chance may be tiny, as
a ballot can hold many unlikely pairs at once, and the bets must be small enough to survive that."""

STIFFNESS = 30.0
"""The dispersion begins as if it had been 1 on so many ballots."""


@dataclass(frozen=True, slots=True)
class Law:
    """How ballots are to be drawn."""

    size: int
    question_size: int = 2
    one_position: bool = False


class Aim(Protocol):
    """What the next ballots are for: to tell the possible winners from the champion."""

    allowed: Mask
    """The edges of possible champions."""

    def is_possible(self, matching: Indices) -> bool:
        """Whether a matching may be the winner."""

    def somebody(self) -> Indices:
        """Return one that may be."""

    def allocate(
        self, champion: Indices, stakes: Stakes, prospects: Prospects, slack: float, proving: bool
    ) -> tuple[Vector, float]:
        """Return the share of the answers for each pair, and the bet that suits the hardest rival."""


class ListedAim:
    """The possible winners, listed; ``rivals(champion, proving)`` are those to tell from a champion."""

    def __init__(self, possible: Indices, allowed: Mask, rivals: Callable[[Indices, bool], Indices]) -> None:
        self.allowed = allowed
        self._possible = possible
        self._rivals = rivals

    def is_possible(self, matching: Indices) -> bool:
        """Whether a matching may be the winner."""
        return bool((self._possible == matching).all(axis=1).any())

    def somebody(self) -> Indices:
        """Return one that may be."""
        row: Indices = self._possible[0]
        return row

    def allocate(
        self, champion: Indices, stakes: Stakes, prospects: Prospects, slack: float, proving: bool
    ) -> tuple[Vector, float]:
        """Return the shares of the limit's best allocation, from even shares of the rivals."""
        rows = self._rivals(champion, proving)
        gaps, noise = over(rows, prospects.gaps), over(rows, prospects.noise)
        squares = (np.abs(gaps) + (slack if proving else 0.0)) ** 2 + OPTIMISM * noise
        shares = np.full(len(rows), 1.0 / len(rows))
        for _ in range(TIMES):
            omega = allocation(stakes, rows, squares, shares, self.allowed)
        return omega, 0.0


class TabledAim(TabledRivals):
    """The possible winners by their edges, and the hardest rivals among them."""

    allowed: Mask

    def __init__(self, graph: Graph, usable: Mask, forget: bool, alive: Mask) -> None:
        super().__init__(graph, usable, forget)
        self._alive = alive
        self.allowed = self._feared

    def allocate(
        self, champion: Indices, stakes: Stakes, prospects: Prospects, slack: float, proving: bool
    ) -> tuple[Vector, float]:
        """Return the shares of the best allocation for the hardest rivals, met in a few steps."""
        for _ in range(MEETINGS):
            omega = self.plan(stakes, prospects, None, slack if proving else 0.0, 0.0)
        return omega, self.tangent


def advantages(estimates: Pairs) -> tuple[Vector, Vector]:
    """Estimate p - 1/2 for every pair by the model: its mean, and a cautious value for bets."""
    model = StrengthModel(estimates.graph, estimates.wins, estimates.duels)
    for _ in range(ADJUSTMENTS):
        model.adjust()
    mean, cautious = model.estimates()
    return mean - 0.5, cautious - 0.5


def plan(
    contest: Contest,
    estimates: Pairs,
    aim: Aim,
    law: Law,
    designs: Sequence[Design],
    answers: int,
    dispersion: float,
    proves: bool,
    slack: float,
) -> Design:
    """Return the next design."""
    advantage, cautious = advantages(estimates)
    variance = variance_of_share(estimates.duels)
    last = designs[-1].champion if designs else None
    if contest.criterion == "borda":
        champion = borda_champion(estimates, advantage, contest.marginals, aim.allowed)
    else:
        champion = condorcet_champion(estimates, advantage, last, aim.allowed, aim)
    proof, proof_for = next_proof(designs, champion, answers) if proves else (0, None)
    proving = proof_for is not None and np.array_equal(proof_for, champion)
    stakes = contest.stakes(champion)
    prospects = Prospects(stakes.sums(cautious), stakes.square_sums(variance))
    omega, bet = aim.allocate(champion, stakes, prospects, slack, proving)
    omega = (1 - LEVELLED) * omega + LEVELLED * (omega > 0) / (omega > 0).sum() if law.size > 1 else omega
    chances, position_chances, size = spread_out(omega, contest, law)
    if bet:
        bet *= _ballots_worth(omega, chances)
    return Design(
        len(designs), champion, chances, size, cautious, variance, dispersion, proof, proof_for, answers,
        position_chances, law.question_size, bet,
    )  # fmt: skip


def _ballots_worth(omega: Vector, chances: Vector) -> float:
    """Return how much larger the best bet on a ballot is than on one duel: v is so much smaller."""
    asked = (omega > 0) & (chances > 0)
    return float((1 / omega[asked]).sum() / (1 / chances[asked]).sum())


def next_proof(designs: Sequence[Design], champion: Indices, answers: int) -> tuple[int, Indices | None]:
    """Return the number of the proof in progress, a new one if it is time, and its champion."""
    proof, proof_for = (designs[-1].proof, designs[-1].proof_for) if designs else (0, None)
    if proof_for is not None and np.array_equal(proof_for, champion):
        return proof, proof_for
    begun = next((design.answers for design in designs if design.proof == proof > 0), 0)
    crowned = answers
    for design in reversed(designs):
        if not np.array_equal(design.champion, champion):
            break
        crowned = design.answers
    if answers >= NEXT_PROOF * begun and answers >= NEXT_PROOF * crowned:
        return proof + 1, champion
    return proof, proof_for


def dispersion_of(moments: tuple[float, float], ballots: int) -> float:
    """Estimate the second moment of Y over that of independent answers, from sums over settled ballots."""
    found, expected = moments
    if ballots == 0 or expected <= 0:
        return 1.0
    ratio = (STIFFNESS + ballots * found / expected) / (STIFFNESS + ballots)
    return float(np.clip(ratio, 0.1, 10.0))


def spread_out(omega: Vector, contest: Contest, law: Law) -> tuple[Vector, Vector | None, int]:
    """Return the chances of pairs, those of positions where they are drawn first, and the largest size."""
    if law.question_size == 2 and not law.one_position:
        chances: Vector = inclusion_chances(omega, law.size)
        return chances, None, int(np.rint(chances.sum()))
    position = contest.pairs.position
    per_position: Vector = np.bincount(position, omega, contest.graph.positions).astype(np.float64)
    if law.question_size == 2:
        per_position = _for_one_position(omega, position, per_position, law.size)
        chances = np.zeros(len(omega))
        largest = 0
        for j in np.flatnonzero(per_position):
            own = position == j
            within = inclusion_chances(np.where(own, omega, 0.0), law.size)
            largest = max(largest, int(np.rint(within.sum())))
            chances += per_position[j] * within
        return chances, per_position, largest
    return _for_rankings(omega, contest, law, per_position)


def _for_one_position(omega: Vector, position: Indices, shares: Vector, size: int) -> Vector:
    """Return the chances of the positions: their shares, over how many pairs a ballot at each can hold."""
    pairs = np.minimum(np.bincount(position, omega > 0, len(shares)), size)
    chances = np.where(pairs > 0, shares / np.maximum(pairs, 1), 0.0)
    return np.asarray(chances / chances.sum())


def _for_rankings(
    omega: Vector, contest: Contest, law: Law, per_position: Vector
) -> tuple[Vector, Vector | None, int]:
    k = law.question_size
    questions = 1 if law.one_position else max(1, law.size // (k * (k - 1) // 2))
    position_chances: Vector = inclusion_chances(per_position, questions)
    chances = np.zeros(len(omega))
    for j in np.flatnonzero(position_chances):
        edges = _rankable(contest, int(j))
        asked = min(k, len(edges))
        if _around_champion(contest):  # its edge, and others as they tell
            own = np.flatnonzero(contest.pairs.position == j)
            within = inclusion_chances(omega[own], asked - 1)
        else:
            one, other = np.triu_indices(len(edges), 1)
            own = contest.graph.pair_table.number(edges[one], edges[other])
            within = np.full(len(own), asked * (asked - 1) / (len(edges) * (len(edges) - 1)))
        chances[own] = position_chances[j] * within
    return chances, position_chances, int(np.rint(position_chances.sum())) * (k * (k - 1) // 2)


def _around_champion(contest: Contest) -> bool:
    """Whether only pairs with one edge of each position tell anything: rankings are about that one."""
    return contest.criterion == "condorcet" and not contest.pairs.several


def _rankable(contest: Contest, position: int) -> Indices:
    """Return the edges of a position that can be in a winner, or that a winner is compared with."""
    own = contest.graph.at(position)
    edges: Indices = np.flatnonzero(contest.usable[own] | (contest.marginals[own] > 0)) + own.start
    return edges


def draw_ballot(
    design: Design,
    contest: Contest,
    number: int,
    voter: str,
    rng: np.random.Generator,
) -> Ballot:
    """Draw a ballot of a design."""
    pairs = contest.pairs
    if design.question_size > 2:
        questions = _draw_rankings(design, contest, rng)
        return Ballot.of(number, design.number, voter, questions, contest.graph.pair_table)
    chances = design.chances
    if design.position_chances is not None:
        place = int(draw(design.position_chances, rng)[0])
        chances = np.where(pairs.position == place, chances / design.position_chances[place], 0.0)
    if contest.criterion == "borda" and design.size > 1:
        drawn = draw_apart(chances, pairs.first, pairs.second, design.champion, rng)
    else:
        drawn = draw(chances, rng)
    turned = rng.random(len(drawn)) < 0.5
    one = np.where(turned, pairs.second[drawn], pairs.first[drawn]).tolist()
    other = np.where(turned, pairs.first[drawn], pairs.second[drawn]).tolist()
    questions = list(zip(one, other, strict=True))
    return Ballot.of(number, design.number, voter, questions, contest.graph.pair_table)


def _draw_rankings(design: Design, contest: Contest, rng: np.random.Generator) -> list[tuple[int, ...]]:
    assert design.position_chances is not None, "rankings are drawn position by position"
    pairs = contest.pairs
    questions: list[tuple[int, ...]] = []
    for place in draw(design.position_chances, rng).tolist():
        if _around_champion(contest):
            within = np.where(pairs.position == place, design.chances / design.position_chances[place], 0.0)
            met = draw(within, rng)
            edges = np.union1d(pairs.first[met], pairs.second[met])
        else:
            rankable = _rankable(contest, place)
            edges = rng.choice(rankable, min(design.question_size, len(rankable)), replace=False)
        questions.append(tuple(rng.permutation(edges).tolist()))
    return questions
