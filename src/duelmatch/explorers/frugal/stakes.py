"""What a duel tells about the matchings, given the champion it is asked for.

Let A be the champion and B a rival. D(A, B) = sum_j d_j(A(j), B(j)) is linear in the pair probabilities,

    D(A, B) = sum over pairs of c_pair(B) (p_pair - 1/2),

and at one position c_pair depends on B only through its edge b there, in one of three ways: b is the first
edge of the pair, the second, or neither. Condorcet: a duel with the champion's edge tells about the edge it
meets and nothing else. Borda: with q the marginals, every duel at a position moves the rewards of its two
edges, w(first) by q(second) and w(second) by -q(first), hence D by the champion's share of that and by the
rival's. So the criteria differ in three numbers per pair, and in nothing else. Weights of positions are
factors of these numbers.

Draw a pair with probability omega_pair and let X be 1 if its first edge won, 1/2 for a tie, else 0. Then
Y(B) = c_pair(B) / omega_pair (X - 1/2) has mean D(A, B) and second moment
v(B) = sum over pairs of c_pair(B)^2 / (4 omega_pair), for all rivals at once.

**Only what is unexpected is noise.** If m_pair is what the model expects of p_pair - 1/2,

    Y(B) = sum over all pairs of c_pair(B) m_pair + c_pair(B) / omega_pair (X - 1/2 - m_pair)

has mean D(A, B) too, whatever m is, as long as it was chosen before the duel: a control variate. Its variance
is v(B) = sum of c_pair(B)^2 / omega_pair (p (1 - p) + (p - 1/2 - m)^2), which is less where duels are
lopsided and the model is about right. Listed rivals have it; one table for all of them has no room for it.

**Several seats.** Where a position has several, a rival may use both edges of a pair. c_pair(B) is affine in
which of the two edges B uses, so for a rival with both it is first + second - neither. D stays a sum over
edges, if what all rivals share at a position is split between its seats. Squares are no such sum: a rival
with both edges of a pair adds both^2 - first^2 - second^2 + neither^2 = 2 (first - neither) (second -
neither), never above 0, for each such pair. The wealth per edge of the tables ignores it, which can only make
it smaller: (1 + neither) (1 + both) >= (1 + first) (1 + second) for the same reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.engine import RoundAnswers
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.decisions import decisions_of

NO_RUIN = 0.9
"""The largest part of the wealth that a single duel may lose."""

LEAST_DOUBT = 0.1
"""No answer is taken to be so certain in advance that its variance is below this part of an even one's."""


class Pairs:
    """The pairs of comparable edges, and how often the first of each has won."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.decisions = graph, decisions_of(graph)
        table = graph.pair_table
        self.first, self.second, self.position = table.first, table.second, table.position
        self.count = table.count
        self.wins = np.zeros(self.count)
        self.duels = np.zeros(self.count)
        self.scale = graph.edge_scale[self.first] * graph.positions / graph.total_weight
        """What a pair of seats counts; so that the positions count as many as they are."""
        edges = np.arange(graph.edges)
        self.before: Final[Indices] = np.searchsorted(table.first, edges) - edges - 1
        """By their lower edge, the numbers of pairs less their higher edge."""
        self.several = graph.places != graph.positions
        """Whether a position has several seats, so that a rival may use both edges of a pair."""

    def add(self, pairs: Indices, duels: NDArray[np.int64], answers: RoundAnswers) -> None:
        """Count answers; a tie is half a win."""
        self.duels[pairs] += duels
        self.wins[pairs] += answers.wins + 0.5 * answers.ties

    def against(self, champion: Indices, advantage: Vector) -> Vector:
        """Return, for every edge, its advantage over each of the champion's at its position, added up."""
        return self._against(champion, self.scale, advantage, -1.0)

    def variance_against(self, champion: Indices) -> Vector:
        """Return, for every edge, the variance of that."""
        return self._against(champion, np.square(self.scale), variance_of_share(self.duels), 1.0)

    def _against(self, champion: Indices, scale: Vector, per_pair: Vector, sign: float) -> Vector:
        graph, out = self.graph, np.zeros(self.graph.edges)
        _against(graph.start, graph.edge_position, self.before, champion, scale, per_pair, sign, out)
        return out

    def rewards(self, advantage: Vector, marginals: Vector) -> Vector:
        """Return w - 1/2 of every edge, by what its position counts."""
        won, lost = np.zeros(self.graph.edges), np.zeros(self.graph.edges)
        _won_and_lost(self.first, self.second, advantage * self.scale, marginals, won, lost)
        return won - lost


def pairs_within(graph: Graph, rows: Indices) -> Indices:
    """Return the numbers of the pairs that each decision uses both edges of."""
    position = np.repeat(np.arange(graph.positions), graph.seats)
    columns = [two for two in combinations(range(graph.places), 2) if position[two[0]] == position[two[1]]]
    number = graph.pair_table.number
    return np.stack([number(rows[:, one], rows[:, other]) for one, other in columns], axis=1)


def variance_of_share(duels: Vector) -> Vector:
    """Return the variance of a share of wins, at most, after so many duels."""
    variance: Vector = 0.25 / (duels + 2)
    return variance


@dataclass(frozen=True, slots=True)
class Stakes:
    """c_pair for rivals whose edge is neither edge of the pair, its first, or its second."""

    pairs: Pairs
    neither: Vector
    first: Vector
    second: Vector
    expected: Vector | None = None
    """What the model expects of p - 1/2 for each pair; None if bets are on all of the answers."""

    @classmethod
    def condorcet(cls, pairs: Pairs, champion: Indices) -> Stakes:
        """Back a champion to beat its rivals head to head."""
        chosen = _chosen(pairs.graph, champion)
        of_first, of_second = -chosen[pairs.second] * pairs.scale, chosen[pairs.first] * pairs.scale
        return cls(pairs, np.zeros(pairs.count), of_first, of_second)

    @classmethod
    def borda(cls, pairs: Pairs, champion: Indices, marginals: Vector) -> Stakes:
        """Back a champion to have the larger reward; ``marginals`` is how often a matching uses each edge."""
        own, first, second = np.empty(pairs.count), np.empty(pairs.count), np.empty(pairs.count)
        chosen = _chosen(pairs.graph, champion)
        _borda_stakes(pairs.first, pairs.second, chosen, marginals, pairs.scale, own, first, second)
        return cls(pairs, own, first, second)

    @property
    def both(self) -> Vector | None:
        """c_pair for rivals that use both edges of the pair; None where every position has one seat."""
        return self.first + self.second - self.neither if self.pairs.several else None

    def squares_of_both(self, per_pair: Vector) -> Vector | None:
        """Return what a rival with both edges of a pair adds to the sums of squares; None for one seat."""
        if not self.pairs.several:
            return None
        return 2 * (self.first - self.neither) * (self.second - self.neither) * per_pair

    def told(self, used: Mask) -> Mask:
        """Mark the pairs that tell about decisions of the ``used`` edges: a value that is not 0 can occur."""
        graph, out = self.pairs.graph, np.zeros(self.pairs.count, dtype=np.bool_)
        spare = np.bincount(graph.edge_position[used], minlength=graph.positions) - graph.seats
        _told(graph.start, graph.seats, spare, self.neither, self.first, self.second, used, out)
        return out

    def sums(self, per_pair: Vector, squared: bool = False) -> Vector:
        """Return, for every edge b, the sum of c_pair(b) per_pair over the pairs at its position.

        Or of c_pair(b)^2 per_pair.
        """
        graph, out = self.pairs.graph, np.zeros(self.pairs.graph.edges)
        _edge_sums(graph.start, graph.seats, self.neither, self.first, self.second, per_pair, out, squared)
        return out

    @property
    def doubt(self) -> Vector:
        """Four times the variance of what is unexpected in an answer, about, for every pair."""
        assert self.expected is not None, "else it is all there"
        return np.clip(1 - 4 * self.expected**2 + 1 / (self.pairs.duels + 2), LEAST_DOUBT, 1.0)

    @property
    def foreseen(self) -> Vector:
        """D as the model expects it, as a sum over edges."""
        return np.zeros(self.pairs.graph.edges) if self.expected is None else self.sums(self.expected)

    def spread(self, omega: Vector) -> Vector:
        """Return v as a sum over edges."""
        quarters = _quarters(omega)
        return self.sums(quarters if self.expected is None else quarters * self.doubt, squared=True)

    def spread_of_both(self, omega: Vector) -> Vector | None:
        """Return what a rival with both edges of a pair adds to v; None for one seat."""
        return self.squares_of_both(_quarters(omega)) if self.pairs.several else None

    def worst(self, omega: Vector) -> Vector:
        """Return, for every edge b, the largest |Y| but for what is foreseen, for a rival with b."""
        out = np.zeros(self.pairs.graph.edges)
        if self.expected is not None:
            omega = omega / (1 + 2 * np.abs(self.expected))
        both = self.neither if self.both is None else self.both
        _worst(self.pairs.graph.start, self.neither, self.first, self.second, both, omega, out)
        return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def _won_and_lost(
    pair_first: Indices, pair_second: Indices, advantage: Vector, marginals: Vector, won: Vector, lost: Vector
) -> None:
    for pair in range(len(pair_first)):
        one, other = pair_first[pair], pair_second[pair]
        won[one] += advantage[pair] * marginals[other]
        lost[other] += advantage[pair] * marginals[one]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _borda_stakes(
    pair_first: Indices,
    pair_second: Indices,
    chosen: Vector,
    marginals: Vector,
    scale: Vector,
    own: Vector,
    first: Vector,
    second: Vector,
) -> None:
    for pair in range(len(pair_first)):
        one, other = pair_first[pair], pair_second[pair]
        of_first, of_second = marginals[other] * scale[pair], -marginals[one] * scale[pair]
        own[pair] = chosen[one] * of_first + chosen[other] * of_second
        first[pair], second[pair] = own[pair] - of_first, own[pair] - of_second


def _quarters(omega: Vector) -> Vector:
    """Return 1 / (4 omega), and 0 where omega is 0."""
    return np.divide(0.25, omega, out=np.zeros(len(omega)), where=omega > 0)


def _chosen(graph: Graph, champion: Indices) -> Vector:
    chosen = np.zeros(graph.edges)
    chosen[champion] = 1.0
    return chosen


@njit(cache=True)  # type: ignore[untyped-decorator]
def over(rows: Indices, per_edge: Vector) -> Vector:
    """Sum over the edges of each matching."""
    sums = np.zeros(len(rows))
    for row in range(len(rows)):
        for position in range(rows.shape[1]):
            sums[row] += per_edge[rows[row, position]]
    return sums


@njit(cache=True)  # type: ignore[untyped-decorator]
def highest(rows: Indices, per_edge: Vector) -> Vector:
    """Return the largest value of the edges of each matching."""
    most = np.zeros(len(rows))
    for row in range(len(rows)):
        for position in range(rows.shape[1]):
            most[row] = max(most[row], per_edge[rows[row, position]])
    return most


@njit(cache=True)  # type: ignore[untyped-decorator]
def _worst(
    start: Indices, neither: Vector, first: Vector, second: Vector, both: Vector, omega: Vector, out: Vector
) -> None:
    pair = 0
    for position in range(len(start) - 1):
        common = 0.0
        for one in range(start[position], start[position + 1]):
            for other in range(one + 1, start[position + 1]):
                if omega[pair] > 0:
                    twice = 2 * omega[pair]
                    common = max(common, abs(neither[pair]) / twice)
                    out[one] = max(out[one], abs(first[pair]) / twice, abs(both[pair]) / twice)
                    out[other] = max(out[other], abs(second[pair]) / twice, abs(both[pair]) / twice)
                pair += 1
        for edge in range(start[position], start[position + 1]):
            out[edge] = max(out[edge], common)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _told(
    start: Indices,
    seats: Indices,
    spare: Indices,
    neither: Vector,
    first: Vector,
    second: Vector,
    used: Mask,
    out: Mask,
) -> None:
    """Mark the pairs: a decision uses neither edge only if the other used ones can fill all seats.

    It uses one of them only if they can fill all but one, and both only if they can fill all but two.
    """
    pair = 0
    for position in range(len(start) - 1):
        for one in range(start[position], start[position + 1]):
            for other in range(one + 1, start[position + 1]):
                left = spare[position] - int(used[one]) - int(used[other])
                both = used[one] and used[other] and seats[position] > 1
                out[pair] = (
                    (left >= 0 and neither[pair] != 0)
                    or (left >= -1 and used[one] and first[pair] != 0)
                    or (left >= -1 and used[other] and second[pair] != 0)
                    or (left >= -2 and both and first[pair] + second[pair] != neither[pair])
                )
                pair += 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _against(
    start: Indices,
    edge_position: Indices,
    before: Indices,
    champion: Indices,
    scale: Vector,
    per_pair: Vector,
    sign: float,
    out: Vector,
) -> None:
    """Add up the pairs of every edge with the champion's, those whose first edge is the champion's signed."""
    for own in champion:
        position = edge_position[own]
        for edge in range(start[position], own):
            pair = before[edge] + own
            out[edge] += scale[pair] * per_pair[pair]
        for edge in range(own + 1, start[position + 1]):
            pair = before[own] + edge
            out[edge] += sign * (scale[pair] * per_pair[pair])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _edge_sums(
    start: Indices,
    seats: Indices,
    neither: Vector,
    first: Vector,
    second: Vector,
    per_pair: Vector,
    out: Vector,
    squared: bool,
) -> None:
    """Fill ``out`` with the sums over the pairs at each edge's position, of their squares if wanted.

    What is the same for all edges of a position is split between its seats.
    """
    pair = 0
    for position in range(len(start) - 1):
        common = 0.0
        for edge in range(start[position], start[position + 1]):
            for other_edge in range(edge + 1, start[position + 1]):
                weight = per_pair[pair]
                if weight != 0.0:
                    none, one, other = neither[pair], first[pair], second[pair]
                    if squared:
                        none, one, other = none * none, one * one, other * other
                    common += none * weight
                    out[edge] += (one - none) * weight
                    out[other_edge] += (other - none) * weight
                pair += 1
        shared = common / seats[position]
        for edge in range(start[position], start[position + 1]):
            out[edge] += shared


@dataclass(frozen=True, slots=True)
class Prospects:
    """What the answers so far say of D(champion, B), as a sum over the edges of B."""

    gaps: Vector
    """Estimates of D."""
    noise: Vector
    """Their variances."""
    noise_of_both: Vector | None = None
    """What a rival with both edges of a pair adds to that; None where every position has one seat."""


class Play:
    """How the pairs of a round are drawn, and what that makes of Y: worked out before any answer is known."""

    def __init__(self, stakes: Stakes, omega: Vector) -> None:
        self.stakes, self.omega = stakes, omega
        self.spread = stakes.spread(omega)
        """v, as a sum over edges."""
        self.spread_of_both = stakes.spread_of_both(omega)
        """What a rival with both edges of a pair adds to v; None where every position has one seat."""
        self.worst = stakes.worst(omega)
        """The largest |Y| there can be, by edge."""

    def played(
        self,
        champion: Indices,
        prospects: Prospects,
        pairs: Indices,
        duels: NDArray[np.int64],
        answers: RoundAnswers,
        tangent: float = 0.0,
    ) -> Played:
        """Return what bets need to know of the round: the ``pairs`` drawn, how often, and how that ended."""
        stakes, table, twice = self.stakes, self.stakes.pairs, 2 * self.omega[pairs]
        drawn = Drawn(
            table.first[pairs],
            table.second[pairs],
            stakes.neither[pairs] / twice,
            stakes.first[pairs] / twice,
            stakes.second[pairs] / twice,
            answers.wins,
            duels - answers.wins - answers.ties,
            answers.ties,
        )
        expected = np.zeros(len(pairs)) if stakes.expected is None else 2 * stakes.expected[pairs]
        return Played(
            champion, drawn, prospects, self.spread, self.spread_of_both, self.worst, tangent, table.several,
            expected, stakes.foreseen,
        )  # fmt: skip


class Drawn(NamedTuple):
    """The pairs drawn in a round, ascending, and what came of them, as the compiled functions take it."""

    first_edge: Indices
    second_edge: Indices
    neither: Vector
    """Y of each pair if its first edge wins: for rivals with neither edge, the first, the second."""
    first: Vector
    second: Vector
    wins: NDArray[np.int64]
    losses: NDArray[np.int64]
    ties: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Played:
    """A round that is over, as bets on it need it; small enough for all rounds to be kept."""

    champion: Indices
    drawn: Drawn
    prospects: Prospects
    spread: Vector
    spread_of_both: Vector | None
    worst: Vector
    tangent: float
    """The bet that suited the hardest rival, where all rivals share their bets."""
    several: bool
    """Whether a position has several seats."""
    expected: Vector
    """What was expected of 2 p - 1, for each pair drawn."""
    foreseen: Vector
    """What was expected of D, as a sum over edges."""
