"""Ballots of a fixed size on which every pair has exactly the chance it should have.

Systematic sampling with unequal chances (Madow 1949): put the pairs in random order, lay their chances end
to end on a line, which is then n long, and take the pairs at u, u + 1, ..., u + n - 1 with u uniform on
[0, 1). No pair is longer than 1, so none is taken twice, and each is taken with probability its length.
Successive weighted draws without replacement would not have these chances. The random order gives
nearly every two pairs a chance to meet, which keeps the variance near that of independent draws.

Two other laws are made from this one. A ballot of one position: a position is drawn, then pairs among its
own. Rankings: positions are drawn, then at each a set of k edges. For Condorcet only pairs with the
champion's edge tell anything, so the set is that edge and k - 1 others drawn with the chances wanted. For
Borda every pair in the set tells something, and sets are drawn evenly: each pair is in one of them
with probability k (k - 1) / (d (d - 1)) at a position with d edges.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from duelmatch.graph import Indices, Vector

ROUNDING = 1e-9


@njit(cache=True)  # type: ignore[untyped-decorator]
def inclusion_chances(shares: Vector, size: int) -> Vector:
    """Return chances that add up to ``size``, proportional to the shares where they are below 1.

    Only what has a share can be included; if that is no more than ``size``, all of it is for sure.
    """
    chances = np.zeros(len(shares))
    certain = np.zeros(len(shares), dtype=np.bool_)
    positive = 0
    for item in range(len(shares)):
        positive += shares[item] > 0
    if positive <= size:
        for item in range(len(shares)):
            chances[item] = 1.0 if shares[item] > 0 else 0.0
        return chances
    left = float(size)
    while True:
        total = 0.0
        for item in range(len(shares)):
            if not certain[item]:
                total += shares[item]
        more = False
        for item in range(len(shares)):
            if not certain[item]:
                chances[item] = left * shares[item] / total
                more = more or chances[item] >= 1.0
        if not more:
            return chances
        for item in range(len(shares)):
            if not certain[item] and chances[item] >= 1.0:
                certain[item] = True
                chances[item] = 1.0
                left -= 1.0


@njit(cache=True)  # type: ignore[untyped-decorator]
def systematic(chances: Vector, order: Indices, start: float) -> Indices:
    """Return the items taken, in the given random ``order``; ``start`` is uniform on [0, 1).

    The chances add up to a whole number, up to rounding, and so many are taken.
    """
    total = 0.0
    for item in order:
        total += chances[item]
    size = int(np.rint(total))
    taken = np.empty(size, dtype=np.intp)
    count, line = 0, 0.0
    for item in order:
        line += chances[item]
        if count < size and line > start + count:
            taken[count] = item
            count += 1
    if count < size:  # rounding, with start next to 1: the last item that has not been taken
        for place in range(len(order) - 1, -1, -1):
            if chances[order[place]] > 0 and order[place] not in taken[:count]:
                taken[count] = order[place]
                break
    return taken


def draw(chances: Vector, rng: np.random.Generator) -> Indices:
    """Draw items with the given chances, in random order."""
    order = rng.permutation(np.flatnonzero(chances))
    taken: Indices = rng.permutation(systematic(chances, order, rng.random()))
    return taken
