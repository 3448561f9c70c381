"""How often to ask about each pair, so that the slowest rival is ruled out soonest.

The pairs are those of the information limit's best allocation, for the rivals that are left. The number of
duels that reject rival B grows as v(B) / D(B)^2, so the best omega makes the largest of these smallest. As
for the limit itself (:mod:`duelmatch.theory.limit`), omega is explicit once the rivals have shares mu:
omega_pair^2 is proportional to sum_B mu_B c_pair(B)^2 / D(B)^2. The best mu is a fixed point of

    mu_B  <-  mu_B (v(B) / D(B)^2) / normalisation,

which is what is iterated here, from the shares of the round before: the estimates move little between two
rounds, and so do the shares. All of it goes through edges, so a step costs O(rivals x positions + pairs).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from duelmatch.explorers.frugal.stakes import NO_RUIN, Stakes, highest, over, pairs_within
from duelmatch.graph import Indices, Mask, Vector

OPTIMISM = 0.1
"""How many squared standard errors are added to a squared gap: no gap is taken for 0."""

STEPS = 15
"""Steps towards the best shares in every round."""

MANY, FEW_STEPS = 100_000, 1
"""More pairs than this take fewer steps: shares carry over between rounds, and asking must be quick."""

EXPLORED = 0.1
"""The share of the duels that is spread evenly over all pairs that tell anything."""

LEVELS = (0.0, 0.15, 0.3, 0.5, 0.8)
"""How much of omega may be in proportion to the stakes, where there is a slack."""

LEAST_SHARE = 1e-4
"""No rival's share falls below this part of an even share, or it could not come back."""


def squared_margins(gaps: Vector, slack: float) -> Vector:
    """Return the square of what the bets are on: D, either way, or D + slack if there is one.

    A rival that seems to win by more than three quarters of the slack is kept: that may be noise.
    """
    squares: Vector = np.square(gaps if slack == 0.0 else np.maximum(gaps + slack, 0.25 * slack))
    return squares


def allocation(stakes: Stakes, rivals: Indices, squared_gaps: Vector, shares: Vector, used: Mask) -> Vector:
    """Return omega for rivals with the given D(B)^2, and move their ``shares`` towards the best ones.

    Every pair that tells about a matching of the ``used`` edges has a chance to be drawn: without that, Y
    would not have mean D for it.
    """
    pairs, graph = stakes.pairs, stakes.pairs.graph
    np.maximum(shares, LEAST_SHARE / len(shares), out=shares)
    shares /= shares.sum()
    omega, told = np.zeros(pairs.count), stakes.told(used)
    if stakes.both is not None:
        squares = [np.square(each) for each in (stakes.neither, stakes.first, stakes.second, stakes.both)]
        _iterate_seats(
            rivals, pairs_within(graph, rivals), squared_gaps, shares, pairs.first, pairs.second, *squares,
            STEPS, omega,
        )  # fmt: skip
        chances: Vector = omega[told]
    else:
        part = slice(None) if told.all() else np.flatnonzero(told)  # for Condorcet few tell anything
        doubt = 1.0 if stakes.expected is None else stakes.doubt[part]
        squares = [np.square(each[part]) * doubt for each in (stakes.neither, stakes.first, stakes.second)]
        steps, chances = STEPS if len(squares[0]) <= MANY else FEW_STEPS, np.empty(len(squares[0]))
        _iterate(
            rivals, squared_gaps, shares, pairs.first[part], pairs.second[part], pairs.position[part],
            graph.edge_position, *squares, steps, chances,
        )  # fmt: skip
    chances = (1 - EXPLORED) * chances + EXPLORED / len(chances)
    chances /= chances.sum()
    if len(chances) == len(omega):
        return chances
    omega[:] = 0.0
    omega[told] = chances
    return omega


def levelled(omega: Vector, stakes: Stakes, rows: Indices, margins: Vector) -> Vector:
    """Return omega mixed with a level one, as far as that lets the slowest rival be ruled out sooner.

    A pair that is hardly ever drawn has a large |Y|, and as no duel may ruin, all bets are small then. That
    does not matter for small margins, whose best bets are smaller yet. For large ones it is what takes
    time, and omega had better be in proportion to the stakes.
    """
    level = np.maximum(np.abs(stakes.neither), np.maximum(np.abs(stakes.first), np.abs(stakes.second)))
    level = np.where(omega > 0, level, 0.0) / level[omega > 0].sum()
    best, least = omega, np.inf
    for part in LEVELS:
        mixed = (1 - part) * omega + part * level
        spread, worst = over(rows, stakes.spread(mixed)), highest(rows, stakes.worst(mixed))
        bet = np.minimum(margins / spread, NO_RUIN / worst)
        slowest = float(np.max(1 / (bet * (margins - 0.5 * bet * spread))))
        if slowest < least:
            best, least = mixed, slowest
    return best


@njit(cache=True)  # type: ignore[untyped-decorator]
def _iterate(
    rivals: Indices,
    squared_gaps: Vector,
    shares: Vector,
    pair_first: Indices,
    pair_second: Indices,
    pair_position: Indices,
    edge_position: Indices,
    neither: Vector,
    first: Vector,
    second: Vector,
    steps: int,
    omega: Vector,
) -> None:
    """Improve the shares in place and fill in omega, for the pairs given and one seat a position.

    ``neither``, ``first`` and ``second`` are squares of c, times what part of an answer's variance is left.
    """
    count, positions = rivals.shape
    edges, pairs = len(edge_position), len(pair_first)
    load, spread = np.zeros(edges), np.zeros(edges)
    for step in range(steps + 1):
        load[:] = 0.0
        at_position, common = np.zeros(positions), np.zeros(positions)
        for rival in range(count):
            share = shares[rival] / squared_gaps[rival]
            for position in range(positions):
                load[rivals[rival, position]] += share
        for edge in range(edges):
            at_position[edge_position[edge]] += load[edge]
        total = 0.0
        for pair in range(pairs):
            one, other = pair_first[pair], pair_second[pair]
            square = neither[pair] * (at_position[pair_position[pair]] - load[one] - load[other])
            square += first[pair] * load[one] + second[pair] * load[other]
            omega[pair] = np.sqrt(max(square, 0.0))
            total += omega[pair]
        if step == steps:
            for pair in range(pairs):
                omega[pair] /= total
            return
        spread[:] = 0.0
        for pair in range(pairs):
            omega[pair] /= total
            if omega[pair] > 1e-9:
                inverse = 1.0 / omega[pair]
                common[pair_position[pair]] += neither[pair] * inverse
                spread[pair_first[pair]] += (first[pair] - neither[pair]) * inverse
                spread[pair_second[pair]] += (second[pair] - neither[pair]) * inverse
        total = 0.0
        for rival in range(count):
            needed = 0.0
            for position in range(positions):
                needed += spread[rivals[rival, position]] + common[position]
            shares[rival] *= needed / squared_gaps[rival]
            total += shares[rival]
        for rival in range(count):
            shares[rival] /= total


@njit(cache=True)  # type: ignore[untyped-decorator]
def _iterate_seats(
    rivals: Indices,
    within: Indices,
    squared_gaps: Vector,
    shares: Vector,
    pair_first: Indices,
    pair_second: Indices,
    neither: Vector,
    first: Vector,
    second: Vector,
    both: Vector,
    steps: int,
    omega: Vector,
) -> None:
    """Improve the shares in place and fill in omega, as for one seat; the four are the squares of c.

    Only pairs that tell something about one of the rivals are gone through: for Condorcet few of all.
    """
    count, edges = len(rivals), int(max(pair_second.max(), pair_first.max(), rivals.max())) + 1
    used = np.zeros(edges, dtype=np.bool_)
    for rival in range(count):
        for place in range(rivals.shape[1]):
            used[rivals[rival, place]] = True
    told = np.flatnonzero(
        (neither != 0) | (used[pair_first] & (first != 0)) | (used[pair_second] & (second != 0))
    )
    one, other = pair_first[told], pair_second[told]
    none, left, right, two = neither[told], first[told], second[told], both[told]
    place_of = np.full(len(pair_first), -1)
    place_of[told] = np.arange(len(told))
    chance, inverse = np.zeros(len(told)), np.zeros(len(told))
    for step in range(steps + 1):
        load, shared = np.zeros(edges), np.zeros(len(told))
        whole = 0.0
        for rival in range(count):
            share = shares[rival] / squared_gaps[rival]
            whole += share
            for place in range(rivals.shape[1]):
                load[rivals[rival, place]] += share
            for place in range(within.shape[1]):
                pair = place_of[within[rival, place]]
                if pair >= 0:
                    shared[pair] += share
        total = 0.0
        for pair in range(len(told)):
            by_one, by_other, by_both = load[one[pair]], load[other[pair]], shared[pair]
            square = none[pair] * (whole - by_one - by_other + by_both) + left[pair] * (by_one - by_both)
            square += right[pair] * (by_other - by_both) + two[pair] * by_both
            chance[pair] = np.sqrt(max(square, 0.0))
            total += chance[pair]
        chance /= total
        if step == steps:
            break
        common, spread = 0.0, np.zeros(edges)
        for pair in range(len(told)):
            weight = 1.0 / chance[pair] if chance[pair] > 1e-9 else 0.0
            inverse[pair] = weight
            common += none[pair] * weight
            spread[one[pair]] += (left[pair] - none[pair]) * weight
            spread[other[pair]] += (right[pair] - none[pair]) * weight
        total = 0.0
        for rival in range(count):
            needed = common
            for place in range(rivals.shape[1]):
                needed += spread[rivals[rival, place]]
            for place in range(within.shape[1]):
                pair = place_of[within[rival, place]]
                if pair >= 0:
                    needed += (two[pair] - left[pair] - right[pair] + none[pair]) * inverse[pair]
            shares[rival] *= max(needed, 0.0) / squared_gaps[rival]
            total += shares[rival]
        for rival in range(count):
            shares[rival] /= total
    omega[told] = chance
