"""What follows from a judge's answers at one position, if the judge ranks.

A judge's opinion on a pair is that its first edge is better (1), its second is (-1), or that there is no
difference (0); UNKNOWN until something says so. Answers say "at least as good as"; a chain of these leads
from one candidate to another. What follows is what chains say in one direction only:

- a chain from x to y and none back: x is better. (A chain of "no difference" could be walked back.)
- chains both ways, and all of them say "no difference": there is none.
- chains both ways with a "better" among them: the judge contradicts this ranking, and nothing follows.

An answer that was given always stands. So the closure is a function of the answers alone, in whatever order
they came: a new answer that agrees with it never takes anything back, and one that contradicts it takes back
what had been inferred, never what was said.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.graph import Mask

Opinions = NDArray[np.int8]

UNKNOWN = 2


@njit(cache=True)  # type: ignore[untyped-decorator]
def pair_at(start: int, degree: int, one: int, other: int) -> int:
    """Return the number of the pair of two candidates of a position, by their places there, one < other."""
    return start + one * (2 * degree - one - 1) // 2 + other - one - 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def opinion_of(opinion: Opinions, start: int, degree: int, one: int, other: int) -> int:
    """Return the opinion on one against other, in this order."""
    if one == other:
        return 0
    value: int = opinion[pair_at(start, degree, min(one, other), max(one, other))]
    oriented: int = value if one < other or value == 2 else -value
    return oriented


@njit(cache=True)  # type: ignore[untyped-decorator]
def close(said: Opinions, degree: int, opinion: Opinions) -> None:
    """Fill in the opinions on the pairs of one position that follow from those that were said.

    Chains are found by Warshall's algorithm, on rows of bits: a row has the candidates that one is at least
    as good as.
    """
    opinion[:] = said
    known = 0
    for pair in range(len(said)):
        known += said[pair] != 2
    if known < 2 or known == len(said):
        return
    words = (degree + 63) // 64
    one_bit = np.uint64(1)
    reach = np.zeros((degree, words), dtype=np.uint64)
    pair = 0
    for one in range(degree):
        for other in range(one + 1, degree):
            if said[pair] == 0 or said[pair] == 1:
                reach[one, other >> 6] |= one_bit << np.uint64(other & 63)
            if said[pair] == 0 or said[pair] == -1:
                reach[other, one >> 6] |= one_bit << np.uint64(one & 63)
            pair += 1
    for middle in range(degree):
        word, bit = middle >> 6, np.uint64(middle & 63)
        for one in range(degree):
            if (reach[one, word] >> bit) & one_bit:
                for each in range(words):
                    reach[one, each] |= reach[middle, each]
    tangled = np.zeros(degree, dtype=np.bool_)  # on a circle with a "better" in it
    pair = 0
    for one in range(degree):
        for other in range(one + 1, degree):
            if said[pair] == 1 or said[pair] == -1:
                high, low = (one, other) if said[pair] == 1 else (other, one)
                if (reach[low, high >> 6] >> np.uint64(high & 63)) & one_bit:
                    tangled[one] = tangled[other] = True
            pair += 1
    pair = -1
    for one in range(degree):
        for other in range(one + 1, degree):
            pair += 1
            if said[pair] != 2:
                continue
            down = (reach[one, other >> 6] >> np.uint64(other & 63)) & one_bit
            up = (reach[other, one >> 6] >> np.uint64(one & 63)) & one_bit
            if down and up:
                if not _any_tangled(reach, tangled, one, degree):
                    opinion[pair] = 0
            elif down:
                opinion[pair] = 1
            elif up:
                opinion[pair] = -1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _any_tangled(reach: NDArray[np.uint64], tangled: Mask, one: int, degree: int) -> bool:
    """Whether a candidate that is level with this one, by chains both ways, is on a contradictory circle."""
    one_bit = np.uint64(1)
    for other in range(degree):
        if tangled[other]:
            down = (reach[one, other >> 6] >> np.uint64(other & 63)) & one_bit
            up = (reach[other, one >> 6] >> np.uint64(one & 63)) & one_bit
            if down and up:
                return True
    return False


assert UNKNOWN == 2, "the compiled code has it as a number"
