"""What changes where a position has several seats: a rival may use both edges of a pair.

c_pair(B) is affine in which of the two edges B uses, so for a rival with both it is first + second - neither.
D stays a sum over edges, if what all rivals share at a position is split between its seats. Squares are no
such sum: a rival with both edges of a pair adds both^2 - first^2 - second^2 + neither^2 = 2 (first - neither)
(second - neither), never above 0, for each such pair. The wealth per edge of the tables ignores it, which can
only make it smaller: (1 + neither) (1 + both) >= (1 + first) (1 + second) for the same reason.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from duelmatch.graph import Graph, Indices, Vector


def pairs_within(graph: Graph, rows: Indices) -> Indices:
    """Return the numbers of the pairs that each decision uses both edges of."""
    columns = [graph.pair_table.number(rows[:, one], rows[:, other]) for one, other in _columns(graph)]
    return np.stack(columns, axis=1)


def _columns(graph: Graph) -> list[tuple[int, int]]:
    """Return every two columns of a list of decisions that belong to the same position."""
    position = np.repeat(np.arange(graph.positions), graph.seats)
    return [
        (one, other)
        for one in range(graph.places)
        for other in range(one + 1, graph.places)
        if position[one] == position[other]
    ]


@njit(cache=True)  # type: ignore[untyped-decorator]
def iterate_seats(
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
    """Improve the shares in place and fill in omega, as for one seat; the four are squares of c.

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
