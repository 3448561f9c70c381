"""What to put on the next ballot: whom to back, which pairs with what chance, and when to begin a proof.

Champion and shares are those of the frugal search (:mod:`duelmatch.explorers.frugal.search`), with estimates
by the same model (:mod:`duelmatch.models.strengths`), from all answers in hand that count, settled or not. A
ballot holds a pair once, so no chance exceeds 1, and what a pair cannot take goes to the others. Planning may
look at everything that happened before; whatever it decides, the proof holds. It is a function of the state,
its conclusions and the seed, so the same log leads to the same questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from duelmatch.explorers.ballots.conclusions import Conclusions
from duelmatch.explorers.ballots.drawing import Law, draw_ballot, spread_out
from duelmatch.explorers.ballots.records import Ballot, Design
from duelmatch.explorers.ballots.state import CrowdState
from duelmatch.explorers.frugal.design import OPTIMISM, allocation
from duelmatch.explorers.frugal.search import borda_champion, condorcet_champion
from duelmatch.explorers.frugal.stakes import Prospects, Stakes, over, variance_of_share
from duelmatch.explorers.frugal.tables import TabledRivals
from duelmatch.graph import Graph, Indices, Mask, Vector

GROWTH = 0.03
"""A new design is made when the answers have grown by this part since the last."""

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


class Designer:
    """Decides what to ask, and changes nothing."""

    def __init__(
        self, state: CrowdState, conclusions: Conclusions, proves: bool, seed: int, walking: bool
    ) -> None:
        self._state = state
        self._conclusions = conclusions
        self._proves = proves
        self._seed = seed
        self._walking = walking

    def basis(self, law: Law) -> str:
        """Return what a design must have been made for to be used now.

        Between changes of who counts or stands, fewer and fewer are possible, so their number tells.
        """
        possible = self._conclusions.possible
        left = "edges" if possible is None else str(len(possible))
        edges = int(self._conclusions.possible_edges.sum())
        return f"{law.size}/{law.question_size}/{self._state.changes}/{left}/{edges}"

    def current(self, law: Law) -> Design | None:
        """Return the last design, unless the answers have grown since, or other winners are possible.

        A design from before the proof in progress is not used again: a proof that is over has had its share.
        """
        design = self._state.latest.get(self.basis(law))
        if design is None or self._state.answers > (1 + GROWTH) * design.answers:
            return None
        return design if design.proof == self._state.designs[-1].proof else None

    def design(self, law: Law) -> Design:
        """Make a new design."""
        state, conclusions, aim = self._state, self._conclusions, self._aim()
        contest, designs, answers, estimates = state.contest, state.designs, state.answers, state.tally
        basis, law = self.basis(law), replace(law, one_position=conclusions.possible is None)
        advantage, cautious = state.advantages()
        variance = variance_of_share(estimates.duels)
        if contest.criterion == "borda":
            champion = borda_champion(estimates, advantage, contest.marginals, aim.allowed)
        else:
            last = designs[-1].champion if designs else None
            champion = condorcet_champion(estimates, advantage, last, aim.allowed, aim)
        proof, proof_for = next_proof(designs, champion, answers) if self._proves else (0, None)
        proving = proof_for is not None and np.array_equal(proof_for, champion)
        stakes = contest.stakes(champion)
        prospects = Prospects(stakes.sums(cautious), stakes.sums(variance, squared=True))
        omega, bet = aim.allocate(champion, stakes, prospects, conclusions.slack, proving)
        if law.size > 1:
            omega = (1 - LEVELLED) * omega + LEVELLED * (omega > 0) / (omega > 0).sum()
        chances, position_chances, size = spread_out(omega, contest, law)
        if bet:
            bet *= _ballots_worth(omega, chances)
        return Design(
            len(designs), champion, chances, size, cautious, variance, self._dispersion(), proof, proof_for,
            answers, position_chances, law.question_size, bet, basis,
        )  # fmt: skip

    def draw(self, design: Design, voter: str) -> Ballot:
        """Draw the next ballot."""
        number = len(self._state.ballots)
        rng = np.random.default_rng([self._seed, 1, number])
        return draw_ballot(design, self._state.contest, number, voter, rng, self._walking)

    def _dispersion(self) -> float:
        """Estimate the second moment of Y over that of independent answers, from settled ballots."""
        found = self._conclusions.present.as_listed
        if found is None:
            return 1.0
        moments = found.moments[:, found.possible(self._conclusions.threshold) & (found.moments[1] > 0)]
        if not moments.size:
            return 1.0
        ballots, ratio = found.settled, float((moments[0] / moments[1]).mean())
        return float(np.clip((STIFFNESS + ballots * ratio) / (STIFFNESS + ballots), 0.1, 10.0))

    def _aim(self) -> ListedAim | TabledAim:
        conclusions, contest = self._conclusions, self._state.contest
        if conclusions.possible is None:
            return TabledAim(contest.graph, contest.usable, conclusions.forget, conclusions.possible_edges)
        allowed = conclusions.possible_edges if conclusions.forget else contest.usable
        return ListedAim(conclusions.possible, allowed, self._rivals)

    def _rivals(self, champion: Indices, proving: bool) -> Indices:
        """Return the line-ups to tell from the champion: those possible, or not proven to do no better."""
        conclusions = self._conclusions
        rows = conclusions.possible
        assert rows is not None, "they are listed"
        if proving and conclusions.present.proof_number:
            lacking = []
            for each in conclusions.evidence:
                found = each.as_listed
                assert found is not None, "all are listed"
                wanted = found.proof.peak < conclusions.proof_threshold(each)
                if conclusions.forget:
                    wanted &= found.possible(conclusions.threshold)
                lacking.append(found.rows[wanted])
            rows = lacking[0] if len(lacking) == 1 else np.unique(np.concatenate(lacking), axis=0)
        others: Indices = rows[(rows != champion).any(axis=1)]
        if len(others) == 0:
            everybody = rows if conclusions.rows is None else conclusions.rows
            others = everybody[(everybody != champion).any(axis=1)]
        return others


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
