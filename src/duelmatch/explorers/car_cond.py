"""CAR-Cond (Algorithm 2): accept and reject edges until the Condorcet winner is left.

Every round duels each pair of undecided edges once. An edge is accepted when the best mixture of matchings
with it, by the lower bounds, beats the best without it, by the upper bounds; rejected the other way round.

Differences from the listing:

- The oracle is the exact LP, or, on request, the paper's approximate method with its accuracy eps_q. The
  margin eps_q of the listing stays.
- An empty set of matchings has the value minus infinity, so an edge in no matching is rejected and an edge
  in all of them accepted before any duel.
- A_t is returned, not A_{t-1}.
- If the accepted and rejected edges leave no matching, no Condorcet winner exists (or an event of
  probability delta happened): the listing would loop for ever.
- What is returned is the Condorcet winner if there is one, as the paper assumes. Where there is none it can
  be another: a matching rejected early may beat the one that is left. CAR-Verify takes nothing for granted.
- With ``schedule="sparse"`` rounds are looked at only when t has grown by a few percent, and what follows
  from a decision without any duel (the accepted candidate's other edges) is decided at once.

How most oracle calls are saved. By the lower bounds no mixture can secure more than 1/2, since it meets
itself; so an edge can only be accepted when ExU < 1/2 - eps_q and rejected when InU < 1/2 - eps_q. Any x
found earlier that still secures 1/2 - eps_q against every y, by one assignment problem, is a witness
against the decision, and many edges share one. A round changes a probability by at most 1/t and a radius by
c/2t, so a witness with room to spare also speaks for rounds to come, which need not be looked at even by
``schedule="every"``.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Literal

import numpy as np

from duelmatch.confidence import paper_radius
from duelmatch.explorers.rounds import Outcome, Round, Rounds, Standing
from duelmatch.explorers.tally import Matrix, Tally, pairs_among
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.assignment import (
    allowed_edges,
    best_matching,
    certain_edges,
    usable_edges,
)
from duelmatch.matchings.game import Game, Solution
from duelmatch.matchings.subgradient import solve_by_subgradients

Oracle = Literal["lp", "subgradient"]
Schedule = Literal["sparse", "every"]

GROWTH = 0.02
"""How much t grows between two looks of the sparse schedule."""

ROUNDING = 1e-9
"""More than the LP's tolerance can be worth."""


class CarCond:
    """One run; keeps its tally, so that CAR-Verify can go on from it."""

    def __init__(
        self, graph: Graph, delta: float, schedule: Schedule = "sparse", oracle: Oracle = "lp"
    ) -> None:
        self.tally = Tally(graph)
        self.round_number = 0
        self._graph = graph
        self._delta = delta
        self._schedule = schedule
        self._oracle = _Oracle(graph, oracle)
        self.accepted = certain_edges(graph)
        self.rejected = ~usable_edges(graph)

    def rounds(self) -> Rounds:
        """Run the listing."""
        graph = self._graph
        look: _Look | None = None
        while self.accepted.sum() < graph.positions:
            undecided = ~(self.accepted | self.rejected)
            first, second = pairs_among(graph, undecided)
            accept: list[int] = []
            reject: list[int] = []
            while not (accept or reject):
                skip = self._rounds_until_next_look(look)
                duels = Round(first, second, np.full(len(first), skip))
                self.tally.add(duels, (yield duels))
                self.round_number += skip
                look = self._look(look)
                accept, reject = look.decide(np.flatnonzero(undecided))
                if accept or reject:
                    look.room = 0.0  # witnesses may use what is rejected now
            self.accepted[accept] = True
            self.rejected[reject] = True
            if self._schedule == "sparse":
                self._draw_conclusions()
            if not self._possible():
                return Outcome("no_winner", None)
        assuming = "a Condorcet winner exists" if self.round_number else None
        return Outcome("certified", np.flatnonzero(self.accepted), assuming=assuming)

    def _rounds_until_next_look(self, look: _Look | None) -> int:
        """Return how many rounds to play before a decision is due."""
        t = self.round_number
        if self._schedule == "sparse":
            return max(1, floor(t * GROWTH))
        if look is None or look.room <= 0:
            return 1
        radius = float(paper_radius(np.array(t), t, self._delta, max(1, self._graph.pairs)))
        unharmed = floor(look.room * t / (1 + radius / 2)) - 1
        epoch_end: int = 4 ** _epoch(t)
        return max(1, min(unharmed, epoch_end - t))

    def _look(self, last: _Look | None) -> _Look:
        bounds = self.tally.bounds(self.round_number, self._delta, self._graph.pairs)
        epsilon = self._oracle.epsilon = 2.0 ** -_epoch(self.round_number)
        witnesses = [] if last is None else last.witnesses
        decided = (self.accepted, self.rejected)
        return _Look(self._graph, decided, bounds, epsilon, self._oracle, witnesses)

    def _draw_conclusions(self) -> None:
        """Decide the edges that the accepted and rejected ones decide by themselves."""
        allowed = allowed_edges(self._graph, np.flatnonzero(self.accepted), np.flatnonzero(self.rejected))
        matching = self._graph.some_matching(allowed)
        if matching is None:
            return
        self.rejected |= ~allowed & ~self.accepted
        rest = Graph(
            self._graph.candidates,
            self._graph.positions,
            self._graph.edge_candidate[allowed],
            self._graph.edge_position[allowed],
        )
        numbers = np.flatnonzero(allowed)
        self.rejected[numbers[~usable_edges(rest)]] = True
        self.accepted[numbers[certain_edges(rest)]] = True

    def _possible(self) -> bool:
        """Whether some matching contains what is accepted and avoids what is rejected."""
        accepted, rejected = np.flatnonzero(self.accepted), np.flatnonzero(self.rejected)
        return self._graph.some_matching(allowed_edges(self._graph, accepted, rejected)) is not None

    def standing(self) -> Standing:
        """Report the decided edges, and the strategy the estimates favour, rounded to a matching."""
        graph = self._graph
        accepted, rejected = np.flatnonzero(self.accepted), np.flatnonzero(self.rejected)
        solution = Game(graph, self.tally.estimate).solve(accepted, rejected, accepted, rejected)
        allowed = allowed_edges(graph, accepted, rejected)
        leader = None if solution.x is None else best_matching(graph, solution.x, allowed)
        if self.round_number == 0 or leader is None:
            return Standing(leader, self.accepted.copy(), self.rejected.copy(), None, None)
        undecided = ~(self.accepted | self.rejected)
        gap = float(paper_radius(np.array(self.round_number), self.round_number, self._delta, graph.pairs))
        return Standing(
            leader,
            self.accepted.copy(),
            self.rejected.copy(),
            gap,
            self._duels_left(leader, undecided),
        )

    def _duels_left(self, leader: Indices, undecided: Mask) -> int | None:
        """Estimate what is left, taking the leader for the winner and the estimates for the truth.

        The paper shows that an edge of gap D is decided once 4 c_t + 2 eps_q < D (Appendix C.1).
        """
        graph = self._graph
        against = self.tally.estimate[np.arange(graph.edges), leader[graph.edge_position]]
        margin = 0.5 - against
        rival_margins = margin[undecided & (margin > 0)]
        if len(rival_margins) == 0:
            return None
        smallest = float(rival_margins.min()) / graph.positions
        pairs = len(pairs_among(graph, undecided)[0])
        t = max(1, self.round_number)
        while t < 1e12:
            radius = float(paper_radius(np.array(t), t, self._delta, graph.pairs))
            if 4 * radius + 2 * 2.0 ** -_epoch(t) < smallest:
                return (t - self.round_number) * pairs
            t = ceil(t * 1.1)
        return None


def _epoch(t: int) -> int:
    """Return q with 4^(q-1) < t <= 4^q, at least 1: the epoch of round t, in which eps_q = 2^-q."""
    q = 1
    while 4**q < t:
        q += 1
    return q


class _Look:
    """The decisions of one round, with the oracle asked as rarely as possible.

    ``room`` is how far the weakest witness against a decision is above the threshold.
    """

    def __init__(
        self,
        graph: Graph,
        decided: tuple[Mask, Mask],
        bounds: tuple[Matrix, Matrix],
        epsilon: float,
        oracle: _Oracle,
        witnesses: list[Vector],
    ) -> None:
        self._graph = graph
        self._accepted, self._rejected = (np.flatnonzero(edges) for edges in decided)
        self._allowed = allowed_edges(graph, self._accepted, self._rejected)
        self._bounds = bounds
        self._epsilon = epsilon
        self._threshold = 0.5 - epsilon
        self._oracle = oracle
        self.room = np.inf
        self.witnesses: list[Vector] = []
        self._values: list[float] = []
        self._best = {False: np.full(graph.edges, -np.inf), True: np.full(graph.edges, -np.inf)}
        for x in witnesses:
            self._admit(x)

    def decide(self, undecided: Indices) -> tuple[list[int], list[int]]:
        """Return the edges to accept, since InL > ExU + eps_q, and to reject, since ExL > InU + eps_q."""
        accept, reject = [], []
        for edge in undecided.tolist():
            if self._decided_against(edge, present=False):
                accept.append(edge)
            elif self._decided_against(edge, present=True):
                reject.append(edge)
        self._forget(undecided)
        return accept, reject

    def _decided_against(self, edge: int, present: bool) -> bool:
        """Whether mixtures with the edge (or without it) are beaten by those on the other side."""
        if self._best[present][edge] < self._threshold:
            upper = self._oracle.solve(self._bounds[1], "upper", *self._sides(edge, present))
            if upper.x is not None:
                self._admit(upper.x)
            if upper.value < self._threshold:
                lower = self._oracle.solve(self._bounds[0], "lower", *self._sides(edge, not present))
                if lower.value > upper.value + upper.gap + self._epsilon + ROUNDING:
                    return True
        self.room = min(self.room, max(0.0, self._best[present][edge] - self._threshold))
        return False

    def _sides(self, edge: int, present: bool) -> tuple[Mask, Mask]:
        """Return the edges allowed to x, with the edge required or forbidden, and to y."""
        required = np.append(self._accepted, edge) if present else self._accepted
        forbidden = self._rejected if present else np.append(self._rejected, edge)
        return allowed_edges(self._graph, required, forbidden), self._allowed

    def _admit(self, x: Vector) -> None:
        """Add a witness, if it still respects the decisions taken, with what it secures now."""
        if (x[self._accepted] < 1 - ROUNDING).any() or (x[self._rejected] > ROUNDING).any():
            return
        against_x = x @ self._bounds[1] / self._graph.positions
        worst = best_matching(self._graph, -against_x, self._allowed)
        assert worst is not None, "checked after every decision"
        value = float(against_x[worst].sum())
        self.witnesses.append(x)
        self._values.append(value)
        for present, speaks in ((False, x < ROUNDING), (True, x > 1 - ROUNDING)):
            best = self._best[present]
            np.maximum(best, np.where(speaks, value, -np.inf), out=best)

    def _forget(self, undecided: Indices) -> None:
        """Keep the witnesses that are some edge's best."""
        wanted = np.unique([self._best[present][undecided] for present in (False, True)])
        self.witnesses = [x for x, value in zip(self.witnesses, self._values, strict=True) if value in wanted]


class _Oracle:
    """The oracle O_eps of the paper, exact or approximate, keeping LPs to restart from."""

    def __init__(self, graph: Graph, kind: Oracle) -> None:
        self._graph, self._kind = graph, kind
        self._games: dict[str, tuple[Matrix, Game]] = {}
        self.epsilon = 1.0

    def solve(self, matrix: Matrix, side: str, x_allowed: Mask, y_allowed: Mask) -> Solution:
        """Solve the game of one side's matrix: "lower" or "upper"."""
        if self._kind == "subgradient":
            solution = solve_by_subgradients(self._graph, matrix, x_allowed, y_allowed, self.epsilon)
            return Solution(solution.value, 0.0, solution.x, solution.y)
        known, game = self._games.get(side, (None, None))
        if game is None:
            game = Game(self._graph, matrix)
        elif known is not matrix:
            game.replace_matrix(matrix)
        self._games[side] = (matrix, game)
        return game.solve_allowed(x_allowed, y_allowed)
