"""The possible winners by their edges, where they are too many to list: one table of wealth per scale.

If all rivals share one bet lambda, log(1 + lambda Y(B)) depends on B only through its edge at the
position of the duel, so the log wealth against B is a sum over its edges, and the poorest matching through an
edge is an assignment problem. One bet does not fit all rivals, so there are several, from a quarter
to four times the one that suits the hardest rival, with equal shares of the wealth. For weights nu that add
up to 1, the logarithm of their sum is at least

    sum_s nu_s (log wealth_s(B) - log scales - log nu_s),

which is additive again. An edge is rejected when one such bound shows that every matching through it is
past the threshold.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import entr

from duelmatch.explorers.frugal.design import OPTIMISM, Beliefs, squared_margins
from duelmatch.explorers.frugal.listed import Proof, Rivals, most_duels
from duelmatch.explorers.frugal.stakes import NO_RUIN, Drawn, Play, Played, Prospects, Stakes
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.decisions import FORBIDDEN, decisions_of

SCALES = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
MIXTURES = np.concatenate([np.eye(5), 0.5 * (np.eye(5)[:-1] + np.eye(5)[1:])])
"""The weights nu that are tried: every scale alone, and neighbours in equal parts."""
BONUS = entr(MIXTURES).sum(axis=1) - np.log(len(SCALES))

MOST_RIVALS = 150
"""How many rivals the design takes into account."""

NEW_RIVALS = 6
"""How many of them it gets to know in a round."""

SLOW_RIVALS = 2
"""How many it looks for in a round where each takes an integer program."""


class Tables:
    """Wealth per scale and edge."""

    def __init__(self, logs: NDArray[np.float64]) -> None:
        self.logs = logs

    @classmethod
    def empty(cls, graph: Graph) -> Tables:
        """Start with wealth 1 against everything."""
        return cls(np.zeros((len(SCALES), graph.edges)))

    def settle(self, played: Played, graph: Graph, slack: float = 0.0) -> None:
        """Settle a round in which all rivals have the same bets, multiples of its ``tangent``."""
        bets = np.minimum(SCALES * played.tangent, NO_RUIN / played.worst.max())
        position = graph.edge_position[played.drawn.first_edge]
        _settle(self.logs, bets, graph.start, graph.seats, position, played.drawn, slack)

    def poorest(self, graph: Graph, allowed: Mask) -> Vector:
        """Bound, for every edge, the least log wealth against a matching of allowed edges through it."""
        least = np.full(graph.edges, -np.inf)
        for nu, bonus in zip(MIXTURES, BONUS, strict=True):
            most = decisions_of(graph).most_through(-(nu @ self.logs), allowed)
            least = np.maximum(least, bonus - most)
        return least

    def bound(self, matching: Indices) -> float:
        """Bound the log wealth against a matching; :meth:`poorest` is no higher for any of its edges."""
        return float((BONUS + MIXTURES @ self.logs[:, matching].sum(axis=1)).max())

    def wealth(self, rows: Indices) -> Vector:
        """Return the log wealth against the matchings listed."""
        logs = self.logs[:, rows].sum(axis=2)
        top = logs.max(axis=0)
        total: Vector = top + np.log(np.exp(logs - top).mean(axis=0))
        return total


class TabledRivals(Rivals[Tables]):
    """The rivals by their edges, and the hardest of them one by one; otherwise as the listed ones."""

    def __init__(self, graph: Graph, usable: Mask, forget: bool, history: list[Played] | None = None) -> None:
        none = np.zeros((0, graph.places), dtype=np.intp)
        super().__init__(graph, none, forget, [] if history is None else history)
        self._usable = usable
        self._alive = usable.copy()
        self.base = Tables.empty(graph)
        self._decisions = decisions_of(graph)

    def _begun(self) -> Tables:
        return Tables(self.base.logs.copy()) if self._forget else Tables.empty(self._graph)

    @property
    def _contenders(self) -> Mask:
        return np.ones(len(self.rows), dtype=np.bool_)

    @property
    def _feared(self) -> Mask:
        """Mark the edges of the rivals that the champion must be compared with."""
        return self._alive if self._forget else self._usable

    def plan(
        self,
        stakes: Stakes,
        prospects: Prospects,
        proof: Proof | None,
        slack: float,
        threshold: float,
        beliefs: Beliefs | None = None,
    ) -> Vector:
        """Return the share of the duels for each pair, for the hardest rivals known."""
        self._drop_rejected()
        if len(self.rows) == 0:
            self._meet(prospects, None)
        gaps, noise = self._expected(prospects)
        rivals = noise > 1e-12
        if not rivals.any():
            self._meet(prospects, None)
            gaps, noise = self._expected(prospects)
            rivals = noise > 1e-12
        squares = squared_margins(gaps, slack) + OPTIMISM * noise
        omega = self._allocated(stakes, rivals, squares, self._feared)
        spread = stakes.spread(omega)
        spreads = self._over(spread, stakes.spread_of_both(omega))[rivals]
        needed = np.where(gaps[rivals] >= 0, spreads / squares[rivals], 0.0)  # who beats the champion is lost
        self.tangent = float((np.sqrt(squares[rivals]) / spreads)[np.argmax(needed)])
        self._meet(prospects, spread)
        return omega

    def settle(self, played: Played) -> None:
        """Settle the bets of a round against each rival being the winner."""
        self.base.settle(played, self._graph)

    def _settle_proof(self, tables: Tables, played: Played, slack: float) -> None:
        tables.settle(played, self._graph, slack)

    def proven_wealth(self, rows: Indices) -> dict[tuple[int, float], Vector]:
        """Return the log wealth of the proofs against the matchings listed."""
        return {key: tables.wealth(rows) for key, (tables, _) in self._proven.items()}

    def reject(self, threshold: float) -> bool:
        """Reject every edge if the wealth against all matchings through it has reached the threshold.

        Say whether any was rejected.
        """
        least = self.base.poorest(self._graph, self._alive)
        left = self._decisions.most_through(np.zeros(self._graph.edges), self._alive & (least < threshold))
        before, self._alive = self._alive, left > -FORBIDDEN / 2
        return bool((before != self._alive).any())

    def edges(self) -> Mask:
        """Mark the edges of the possible winners."""
        return self._alive.copy()

    def shared(self) -> Mask:
        """Mark the edges that all possible winners use, as far as the edges left show it."""
        return self._graph.without_choice(self._alive)

    def is_possible(self, matching: Indices) -> bool:
        """Whether a matching may be the winner."""
        return bool(self._alive[matching].all())

    def somebody(self) -> Indices:
        """Return a possible winner."""
        return self._decisions.one(np.zeros(self._graph.edges), self._alive)

    @property
    def left(self) -> int:
        """0 or 1 if that is the number of possible winners, else 2."""
        spare = self._graph.per_position(self._alive) - self._graph.seats
        return int(min(2, 1 + spare.max())) if spare.min() >= 0 else 0

    def poorest(self, champion: Indices) -> float:
        """Bound the least wealth against a possible winner other than the champion."""
        return self._least(self.base, self._alive, champion)

    def poorest_of(self, proof: Proof, slack: float) -> float:
        """Bound the least wealth of a proof against a rival in question."""
        return self._least(self.proven(proof, slack), self._feared, proof.champion)

    def _least(self, tables: Tables, feared: Mask, champion: Indices) -> float:
        others, allowed = feared.copy(), feared.copy()
        others[champion], allowed[champion] = False, True
        return float(tables.poorest(self._graph, allowed)[others].min(initial=np.inf))

    def duels_left(
        self, play: Play, prospects: Prospects, proof: Proof | None, slack: float, threshold: float
    ) -> float:
        """Return how many duels the slowest rival known still needs, if the estimates are right."""
        spread = self._over(play.spread, play.spread_of_both)
        rivals = spread > 1e-12
        if not rivals.any():
            return 0.0
        tables = self.base if proof is None else self.proven(proof, slack)
        lacking = np.maximum(threshold - tables.wealth(self.rows), 0.0)
        return most_duels(lacking, *self._expected(prospects), spread, slack, rivals)

    def _drop_rejected(self) -> None:
        kept = self._feared[self.rows].all(axis=1)
        if kept.sum() > MOST_RIVALS:
            kept &= self._shares >= np.sort(self._shares[kept])[-MOST_RIVALS]
        self.rows, self._shares = self.rows[kept], self._shares[kept]

    def _meet(self, prospects: Prospects, spread: Vector | None) -> None:
        """Get to know the hardest rivals: D^2 / v >= 2 t D - t^2 v for every t, which is additive."""
        decisions, tangent = self._decisions, self.tangent
        cost = prospects.gaps if spread is None else 2 * tangent * prospects.gaps - tangent**2 * spread
        allowed = self._feared
        weights = -cost
        most = decisions.most_through(weights, allowed)
        open_edges = np.flatnonzero(allowed & (prospects.noise > 1e-12))
        hardest = open_edges[np.argsort(-most[open_edges], kind="stable")]
        known = {tuple(row) for row in self.rows.tolist()}
        new: list[Indices] = []
        for edge in hardest[: 4 * NEW_RIVALS if decisions.fast else SLOW_RIVALS].tolist():
            row = decisions.best(weights, allowed, [edge], exact=False)
            if row is not None and tuple(row.tolist()) not in known:
                known.add(tuple(row.tolist()))
                new.append(row)
            if len(new) == NEW_RIVALS:
                break
        if new:
            self.rows = np.concatenate([self.rows, np.stack(new)])
            share = 1.0 / len(self.rows)
            self._shares = np.concatenate([self._shares * (1 - share * len(new)), np.full(len(new), share)])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _settle(
    logs: NDArray[np.float64],
    bets: Vector,
    start: Indices,
    seats: Indices,
    position: Indices,
    drawn: Drawn,
    slack: float,
) -> None:
    """Add log(1 + lambda (Y + slack)) of every duel to all edges at its position, for every scale."""
    pair_first, pair_second, neither, first, second, wins, losses, ties = drawn
    for scale in range(len(bets)):
        bet = bets[scale]
        common = np.zeros(len(start) - 1)
        for pair in range(len(position)):
            other = wins[pair] * np.log1p(bet * (slack + neither[pair]))
            other += losses[pair] * np.log1p(bet * (slack - neither[pair]))
            one = wins[pair] * np.log1p(bet * (slack + first[pair]))
            one += losses[pair] * np.log1p(bet * (slack - first[pair]))
            two = wins[pair] * np.log1p(bet * (slack + second[pair]))
            two += losses[pair] * np.log1p(bet * (slack - second[pair]))
            if slack != 0.0:  # a tie tells the same about all
                common[position[pair]] += ties[pair] * np.log1p(bet * slack)
            common[position[pair]] += other
            logs[scale, pair_first[pair]] += one - other
            logs[scale, pair_second[pair]] += two - other
        for place in range(len(start) - 1):
            if common[place] != 0.0:
                shared = common[place] / seats[place]
                for edge in range(start[place], start[place + 1]):
                    logs[scale, edge] += shared
