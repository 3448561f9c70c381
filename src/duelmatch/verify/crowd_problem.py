"""What is at stake in a crowd's study: who can win, and what a ballot tells for and against them.

A ballot of a design with champion A says of a line-up B

    Y(B) = sum over its pairs of  c_pair(B) / pi_pair  (X_pair - 1/2),

with X = 1, 1/2 or 0 if the first of the pair is better, no different or worse, and pi the chance of the pair
to be on the ballot. With A, B and q as 1 or 0 for each edge (a position with a candidate for it), the pair of
a and b has

    c(B) = (A(a) - B(a)) q(b) - (A(b) - B(b)) q(a),

times what the pair counts. For Borda q is the reference: how often the edge is the one to be compared with;
head to head it is A. So c depends on B only through whom it seats at the position of the pair, and with A / k
for each of k seats it is a sum over the edges of B. So Y(B) is one, too. Where an answer is missing, every
edge has the worst for itself, and Y(B) is never less than the sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import log as logarithm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from duelmatch.verify.log import (
    BallotDesign,
    Corrections,
    DrawnBallot,
    Lineup,
    NotRecomputedError,
    Pair,
    StudyLog,
    names,
    places,
)

Array = NDArray[Any]

MOST_SETS = 200_000
"""Of candidates taken, that counting the line-ups may come across."""
IMPOSSIBLE = 1e7
"""A cost beyond that of any line-up of allowed edges."""


class CrowdProblem:
    """Edges are numbered position by position; rows of numbers, one for each seat, are line-ups."""

    def __init__(self, log: StudyLog) -> None:
        self.log, self.pairs = log, log.pairs()
        self.borda = log.settings["algorithm"] == "borda"
        self.edges = [(j, one) for j in log.positions for one in log.at[j]]
        self.position = np.array([log.positions.index(j) for j, _ in self.edges])
        self._candidate = np.array([log.candidates.index(one) for _, one in self.edges])
        self._edge = np.full((len(log.positions), len(log.candidates)), -1)
        self._edge[self.position, self._candidate] = np.arange(len(self.edges))
        self._number = {edge: k for k, edge in enumerate(self.edges)}
        self._pair = {pair: k for k, pair in enumerate(self.pairs)}
        self._first = np.array([self._number[j, one] for j, one, _ in self.pairs], dtype=int)
        self._second = np.array([self._number[j, other] for j, _, other in self.pairs], dtype=int)
        self._seats = np.array([log.seats.get(j, 1) for j in log.positions])
        self.places = int(self._seats.sum())
        mean_weight = sum(log.weight.get(j, 1) for j in log.positions) / len(log.positions)
        worth = {j: log.weight.get(j, 1) / mean_weight / log.seats.get(j, 1) ** 2 for j in log.positions}
        self._worth = np.array([worth[j] for j, _, _ in self.pairs])
        """What a pair counts: the weight of its position, 1 on average, over its seats squared."""
        staying = np.array([one not in log.dropped for _, one in self.edges])
        self.usable = self.on_lineups(staying)
        """The edges of all line-ups of the candidates who have not left."""
        self._share = self._reference(log.setting("reference", "decisions")) if self.borda else None
        epsilon = log.setting("epsilon")
        self.slack = 0.0 if epsilon is None else epsilon * len(log.positions)
        self.winner_exists = self.borda or bool(log.setting("assume_winner", True))
        proves = epsilon is not None or not self.winner_exists
        self.threshold = logarithm((2 if proves else 1) / log.setting("delta", 0.05))

    def needed(self, proof: int) -> float:
        """Return the logarithm of the wealth that a proof needs: all that are tried share delta."""
        return self.threshold + logarithm(max(proof * (proof + 1), 1))

    # Line-ups

    def stays(self, lineup: Lineup | None) -> bool:
        """Whether there is a line-up, and nobody in it has left."""
        return lineup is not None and self.log.dropped.isdisjoint(one for who in lineup for one in names(who))

    def row(self, lineup: Lineup) -> Array:
        """Return the edges of a line-up."""
        return np.array([self._number[edge] for edge in self.log.edges(lineup)])

    def lineup(self, row: Array) -> Lineup:
        """Return the line-up of some edges."""
        chosen = [
            tuple(self.edges[edge][1] for edge in row if self.edges[edge][0] == j) for j in self.log.positions
        ]
        return tuple(who if len(who) > 1 else who[0] for who in chosen)

    def rows(self, allowed: Array) -> Array | None:
        """List the line-ups of allowed edges; None if they are too many."""
        lineups = self.log.lineups({self.edges[edge] for edge in np.flatnonzero(allowed)})
        if lineups is None:
            return None
        return np.array([self.row(lineup) for lineup in lineups], dtype=int).reshape(-1, self.places)

    def _listed(self, allowed: Array) -> Array:
        if (rows := self.rows(allowed)) is None:
            raise NotRecomputedError("With capacities or rules it takes a list, and there are too many.")
        return rows

    def cheapest(self, edge: int, cost: Array, allowed: Array) -> Array | None:
        """Return the cheapest line-up of allowed edges through one of them; None if there is none."""
        table = np.full((len(self.log.positions), len(self.log.candidates)), IMPOSSIBLE)
        table[self.position[allowed], self._candidate[allowed]] = cost[allowed]
        table[self.position[edge], self._candidate[edge]] -= 4 * IMPOSSIBLE
        places, candidates = linear_sum_assignment(table)
        row = self._edge[places, candidates]
        complete = len(row) == len(table) and (row >= 0).all()
        return row if complete and edge in row and allowed[row].all() else None

    def on_lineups(self, allowed: Array) -> Array:
        """Return which of the allowed edges lie on a line-up of such edges."""
        found, none = np.zeros(len(allowed), dtype=bool), np.zeros(len(allowed))
        if self.log.has_conditions:
            found[self._listed(allowed)] = True
            return found
        for edge in np.flatnonzero(allowed).tolist():
            if not found[edge] and (row := self.cheapest(edge, none, allowed)) is not None:
                found[row] = True
        return found

    def _reference(self, name: str) -> Array:
        """Return q: how often each edge is the one to be compared with, for Borda."""
        if name == "candidates":
            staying = {j: self.log.staying(j) for j in self.log.positions}
            each = {j: self.log.seats.get(j, 1) / len(staying[j]) for j in self.log.positions}
            return np.array([each[j] if one in staying[j] else 0.0 for j, one in self.edges])
        if name != "decisions":
            raise NotRecomputedError(f"Against whom Borda was counted is not known here: '{name:.50}'.")
        if self.log.has_conditions:
            rows = self._listed(self.usable)
            return np.bincount(rows.ravel(), minlength=len(self.edges)) / len(rows)
        return self._share_of_lineups()

    def _share_of_lineups(self) -> Array:
        """Return the part of all line-ups that have each edge, without listing them.

        Line-ups of the first positions are counted by the set of candidates that they take; then of the last.
        """
        bit = [1 << int(one) for one in self._candidate]
        ahead = [Counter({0: 1})]

        def steps(j: int) -> Iterator[tuple[int, int, int]]:
            here = np.flatnonzero(self.usable & (self.position == j)).tolist()
            return ((taken, k, taken | bit[k]) for taken in ahead[j] for k in here if not taken & bit[k])

        for j in range(len(self.log.positions)):
            ahead.append(Counter())
            for taken, _, then in steps(j):
                ahead[j + 1][then] += ahead[j][taken]
            if len(ahead[-1]) > MOST_SETS:
                raise NotRecomputedError("There are too many line-ups to count what Borda compares with.")
        share = np.zeros(len(self.edges))
        behind = Counter(dict.fromkeys(ahead[-1], 1))
        total = sum(ahead[-1].values())
        for j in reversed(range(len(self.log.positions))):
            before: Counter[int] = Counter()
            for taken, edge, then in steps(j):
                before[taken] += behind[then]
                share[edge] += ahead[j][taken] * behind[then] / total
            behind = before
        return share

    # Ballots

    def seatings(self, rows: Array) -> tuple[Array, Array]:
        """Return the edges of every seating of some line-ups, a column each, and the numbers of theirs."""
        number: dict[tuple[int, ...], int] = {}
        numbers = [
            [number.setdefault(tuple(edges), len(number)) for edges in here.tolist()]
            for here in np.split(rows, np.cumsum(self._seats)[:-1], axis=1)
        ]
        seated = np.zeros((len(self.edges), len(number)))
        for edges, k in number.items():
            seated[list(edges), k] = 1.0
        return seated, np.array(numbers, dtype=int).T

    def odds(self, design: BallotDesign, seated: Array) -> tuple[Array, Array, Array]:
        """Return c, c / pi and which of some edges or seatings no bet is made about; a row for each pair.

        None is made where a pair tells something that had no chance, nor for a champion who has left.
        """
        own = np.zeros((len(self.edges), 1))
        own[self.row(design.champion)] = 1.0
        reference = own if self._share is None else self._share[:, None]
        at = self.position[seated.argmax(axis=0)]
        more = own * (seated.sum(axis=0) / self._seats[at]) - seated
        c = more[self._first] * reference[self._second] - more[self._second] * reference[self._first]
        c *= self._worth[:, None] * (self.position[self._first][:, None] == at)
        chance = self.by_pair(design.chances)
        odds = np.divide(c, chance, out=np.zeros_like(c), where=chance > 0)
        return c, odds, ((c != 0) & (chance == 0)).any(axis=0) | (not self.stays(design.champion))

    def by_pair(self, values: Mapping[Pair, float]) -> Array:
        """Return a column of numbers; pairs of candidates who came after a design have 0."""
        return np.array([values.get(pair, 0.0) for pair in self.pairs])[:, None]

    def told(
        self, number: int, ballot: DrawnBallot, corrections: Corrections, odds: Array
    ) -> tuple[Array, Array]:
        """Return what a ballot adds to Y of the rivals with each edge, and its pairs at each position.

        An answer that is missing takes, for every rival, whichever of 0 and 1 makes Y smallest.
        """
        told = np.zeros(len(self.edges))
        at = np.zeros(len(self.log.positions))
        for place, (j, candidates) in enumerate(ballot.questions):
            asked = self.log.questions.get(ballot.answered.get(place, -1))
            known: dict[str, int] = {}
            if asked is not None and asked.voter not in corrections.struck:
                known = places(corrections.answers.get((number, place), asked.answer) or [])
            for two in combinations(candidates, 2):
                pair = self.log.pair(j, *two)
                c = odds[self._pair[pair]]
                at[self.log.positions.index(j)] += 1
                if pair[1] in known and pair[2] in known:
                    told += c * 0.5 * float(np.sign(known[pair[2]] - known[pair[1]]))
                else:
                    told -= np.abs(c) / 2
        return told, at
