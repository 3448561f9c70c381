"""What to ask the next voter: the design of the moment, and a ballot drawn from it.

Both are functions of the state, its conclusions and the seed, so the same log leads to the same questions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from duelmatch.explorers.ballots.conclusions import Conclusions
from duelmatch.explorers.ballots.drawing import as_a_walk
from duelmatch.explorers.ballots.evidence import Evidence
from duelmatch.explorers.ballots.planning import (
    Aim,
    Law,
    ListedAim,
    TabledAim,
    dispersion_of,
    draw_ballot,
    plan,
)
from duelmatch.explorers.ballots.records import Ballot, Design
from duelmatch.explorers.ballots.state import CrowdState
from duelmatch.explorers.ballots.tables import TabledEvidence
from duelmatch.graph import Indices

GROWTH = 0.03
"""A new design is made when the answers have grown by this part since the last."""


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
        state, conclusions = self._state, self._conclusions
        basis, law = self.basis(law), replace(law, one_position=conclusions.possible is None)
        design = plan(
            state.contest, state.tally, self._aim(), law, state.designs, state.answers, self._dispersion(),
            self._proves, conclusions.slack,
        )  # fmt: skip
        return replace(design, basis=basis)

    def draw(self, design: Design, voter: str) -> Ballot:
        """Draw the next ballot."""
        number = len(self._state.ballots)
        rng = np.random.default_rng([self._seed, 1, number])
        ballot = draw_ballot(design, self._state.contest, number, voter, rng)
        if not self._walking:
            return ballot
        contest = self._state.contest
        walk = as_a_walk(ballot.questions, contest.graph.edge_candidate)
        return Ballot.of(number, design.number, voter, walk, contest.graph.pair_table)

    def _dispersion(self) -> float:
        found = _listed(self._conclusions.present)
        if found is None:
            return 1.0
        moments = found.moments[:, found.possible(self._conclusions.threshold) & (found.moments[1] > 0)]
        ratios = moments[0] / moments[1]
        return dispersion_of((float(ratios.mean()), 1.0) if len(ratios) else (0.0, 0.0), found.settled)

    def _aim(self) -> Aim:
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
                found = _listed(each)
                assert found is not None, "all are listed"
                wanted = found.proof_peak < conclusions.proof_threshold(each)
                if conclusions.forget:
                    wanted &= found.possible(conclusions.threshold)
                lacking.append(found.rows[wanted])
            rows = lacking[0] if len(lacking) == 1 else np.unique(np.concatenate(lacking), axis=0)
        others: Indices = rows[(rows != champion).any(axis=1)]
        if len(others) == 0:
            everybody = rows if conclusions.rows is None else conclusions.rows
            others = everybody[(everybody != champion).any(axis=1)]
        return others


def _listed(found: Evidence | TabledEvidence) -> Evidence | None:
    return found.listed if isinstance(found, TabledEvidence) else found
