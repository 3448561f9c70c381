"""CAR-Cond (Algorithm 2): accept and reject edges until the Condorcet winner is left.

Every round duels each pair of undecided edges once. An edge is accepted when the best mixture of matchings
with it, by the lower bounds, beats the best without it, by the upper bounds; rejected the other way round.

Differences from the listing:

- The oracle is the exact LP, or, on request, the paper's approximate method with its accuracy eps_q. The
  margin eps_q of the listing stays.
- An empty set of matchings has the value minus infinity, so an edge in no matching is rejected and an edge
  in all of them accepted before any duel.
- A_t is returned, not A_{t-1}. Line 18 prints R_t <- R_{t-1} + e, which would forget the other edges
  rejected in the same round; R_t + e is meant.
- If the accepted and rejected edges leave no matching, no Condorcet winner exists (or an event of
  probability delta happened): the listing would loop for ever.
- What is returned is the Condorcet winner if there is one, as the paper assumes. Where there is none it can
  be another: a matching rejected early may beat the one that is left. CAR-Verify takes nothing for granted.
- InL(e) <= 1/2 and ExL(e) <= 1/2, so they are looked at only where the other side is below 1/2 - eps_q; see
  :mod:`duelmatch.explorers.oracle`, which also tells how many rounds cannot change a decision.
- Positions may have weights and candidates capacities: f and the polytope change, the listing does not. It
  does not know several seats, where accepted edges would still have to be duelled, nor rules, whose
  polytope is not the one of the linear program.
- With ``schedule="sparse"`` rounds are looked at only when t has grown by a few percent, and what follows
  from a decision without any duel (the accepted candidate's other edges) is decided at once.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Literal

import numpy as np

from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.engine import Outcome, Round, Rounds, Snapshot
from duelmatch.explorers.oracle import Method, Oracle, new_game
from duelmatch.explorers.tally import Tally, paper_radius, weighed
from duelmatch.graph import Graph, Indices, Mask
from duelmatch.matchings.decisions import allowed_edges, decisions_of

Schedule = Literal["sparse", "every"]

GROWTH = 0.02
"""How much t grows between two looks of the sparse schedule."""


class CarCond:
    """One run; keeps its tally, so that CAR-Verify can go on from it. Nothing is random: no seed is used."""

    def __init__(
        self, graph: Graph, delta: float, seed: int = 0, schedule: Schedule = "sparse", oracle: Method = "lp"
    ) -> None:
        self.tally = Tally(graph)
        self.round_number = 0
        self._graph = graph
        self._delta = delta
        self._schedule = schedule
        self._oracle = Oracle(graph, oracle)
        self.accepted = decisions_of(graph).certain.copy()
        self.rejected = ~decisions_of(graph).usable

    def rounds(self) -> Rounds:
        """Run the listing; A, R and U are the accepted, rejected and undecided edges."""
        graph, delta, tally = self._graph, self._delta, self.tally
        InL, InU, ExL, ExU = self._oracle.InL, self._oracle.InU, self._oracle.ExL, self._oracle.ExU
        A, R = self.accepted, self.rejected
        while A.sum() < graph.positions:
            U = ~(A | R)
            first, second = graph.pairs_among(U)
            rounds = self._rounds_until_next_look()
            duels = Round(first, second, np.full(len(first), rounds))
            tally.add(duels, (yield duels))
            t = self.round_number = self.round_number + rounds

            epsilon = 2.0 ** -epoch(t)
            self._oracle.begin_round(tally.bounds(t, delta, graph.pairs), A, R, epsilon)
            accept, reject = [], []
            for e in np.flatnonzero(U).tolist():
                if ExU(e) < 1 / 2 - epsilon and InL(e) > ExU(e) + epsilon:
                    accept.append(e)
                elif InU(e) < 1 / 2 - epsilon and ExL(e) > InU(e) + epsilon:
                    reject.append(e)
            if accept or reject:
                A[accept], R[reject] = True, True
                if self._schedule == "sparse":
                    self._draw_conclusions()
                if not self._possible():
                    return Outcome("no_winner", None)
        assuming = (Assumption.CONDORCET_WINNER,) if self.round_number else ()
        return Outcome("certified", np.flatnonzero(A), assuming=assuming)

    def _rounds_until_next_look(self) -> int:
        """Return how many rounds to play before a decision is due."""
        t, room = self.round_number, self._oracle.room
        if self._schedule == "sparse":
            return max(1, floor(t * GROWTH))
        if room <= 0:
            return 1
        radius = float(paper_radius(np.array(t), t, self._delta, max(1, self._graph.pairs)))
        unharmed = floor(room * t / (1 + radius / 2)) - 1
        epoch_end: int = 4 ** epoch(t)
        return max(1, min(unharmed, epoch_end - t))

    def _draw_conclusions(self) -> None:
        """Decide the edges that the accepted and rejected ones decide by themselves."""
        if not self._possible():
            return
        allowed = self._allowed
        self.rejected |= ~allowed & ~self.accepted
        rest = decisions_of(self._graph.part(allowed))
        numbers = np.flatnonzero(allowed)
        self.rejected[numbers[~rest.usable]] = True
        self.accepted[numbers[rest.certain]] = True

    def _possible(self) -> bool:
        """Whether some matching contains what is accepted and avoids what is rejected."""
        return decisions_of(self._graph).some(self._allowed) is not None

    @property
    def _allowed(self) -> Mask:
        """Mark the edges of the matchings that contain what is accepted and avoid what is rejected."""
        return allowed_edges(self._graph, np.flatnonzero(self.accepted), np.flatnonzero(self.rejected))

    def snapshot(self) -> Snapshot:
        """Report the decided edges, and the strategy the estimates favour, rounded to a matching."""
        graph = self._graph
        accepted, rejected = np.flatnonzero(self.accepted), np.flatnonzero(self.rejected)
        game = new_game(graph, weighed(graph, self.tally.estimate))
        solution = game.solve(accepted, rejected, accepted, rejected)
        leader = None if solution.x is None else decisions_of(graph).best(solution.x, self._allowed)
        if self.round_number == 0 or leader is None:
            return Snapshot(leader, self.accepted.copy(), self.rejected.copy())
        undecided = ~(self.accepted | self.rejected)
        gap = float(paper_radius(np.array(self.round_number), self.round_number, self._delta, graph.pairs))
        left = self._duels_left(leader, undecided)
        return Snapshot(leader, self.accepted.copy(), self.rejected.copy(), gap, left)

    def _duels_left(self, leader: Indices, undecided: Mask) -> int | None:
        """Estimate what is left, taking the leader for the winner and the estimates for the truth.

        The paper shows that an edge of gap D is decided once 4 c_t + 2 eps_q < D (Appendix C.1).
        """
        graph = self._graph
        against = self.tally.estimate[np.arange(graph.edges), leader[graph.edge_position]]
        margin = weighed(graph, 0.5 - against)
        rival_margins = margin[undecided & (margin > 0)]
        if len(rival_margins) == 0:
            return None
        smallest = float(rival_margins.min()) / graph.positions
        pairs = len(graph.pairs_among(undecided)[0])
        t = max(1, self.round_number)
        while t < 1e12:
            radius = float(paper_radius(np.array(t), t, self._delta, graph.pairs))
            if 4 * radius + 2 * 2.0 ** -epoch(t) < smallest:
                return (t - self.round_number) * pairs
            t = ceil(t * 1.1)
        return None


def epoch(t: int) -> int:
    """Return the least q >= 1 with t <= 4^q: the epoch of round t, in which eps_q = 2^-q."""
    q = 1
    while 4**q < t:
        q += 1
    return q
