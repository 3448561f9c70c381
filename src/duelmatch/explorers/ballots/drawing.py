"""Ballots of a fixed size on which every pair has exactly the chance it should have.

Systematic sampling with unequal chances (Madow 1949): put the pairs in random order, lay their chances end
to end on a line, which is then n long, and take the pairs at u, u + 1, ..., u + n - 1 with u uniform on
[0, 1). No pair is longer than 1, so none is taken twice, and each is taken with probability its length.
Successive weighted draws without replacement would not have these chances. The random order gives
nearly every two pairs a chance to meet, which keeps the variance near that of independent draws.

For Borda answers about the same candidate go together, and a ballot that has many of them says less. So there
pairs with a candidate in common are kept apart by the local pivotal method (Deville and Tille 1998, Grafstrom
2012): take a pair whose chance s is neither 0 nor 1 and the one most like it, with chance t, and let them
compete. If s + t < 1 one of them is out and the other goes on with s + t; if not, one is on the ballot and
the other goes on with s + t - 1; who it is is drawn so that both chances stay what they are on average. That
lowers the second moment of Y by 7 to 9% for consistent voters, which is nearly all that any law with these
chances could do.

Two other laws are made from these. A ballot of one position: a position is drawn, then pairs among its
own. Rankings: positions are drawn, then at each a set of k edges. For Condorcet only pairs with the
champion's edge tell anything, so the set is that edge and k - 1 others drawn with the chances wanted. For
Borda every pair in the set tells something, and sets are drawn evenly: each pair is in one of them
with probability k (k - 1) / (d (d - 1)) at a position with d edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.ballots.bets import Contest
from duelmatch.explorers.ballots.records import Ballot, Design
from duelmatch.graph import Indices, Mask, Vector

ROUNDING = 1e-9

MOST_LOOKED_AT = 64
"""So many pairs are looked at for the one most like another."""


@dataclass(frozen=True, slots=True)
class Law:
    """How ballots are to be drawn."""

    size: int
    question_size: int = 2
    one_position: bool = False


def spread_out(omega: Vector, contest: Contest, law: Law) -> tuple[Vector, Vector | None, int]:
    """Return the chances of pairs, those of positions where they are drawn first, and the largest size."""
    if law.question_size == 2 and not law.one_position:
        chances: Vector = inclusion_chances(omega, law.size)
        return chances, None, int(np.rint(chances.sum()))
    position = contest.pairs.position
    per_position: Vector = np.bincount(position, omega, contest.graph.positions).astype(np.float64)
    if law.question_size == 2:
        per_position = _for_one_position(omega, position, per_position, law.size)
        chances = np.zeros(len(omega))
        largest = 0
        for j in np.flatnonzero(per_position):
            own = position == j
            within = inclusion_chances(np.where(own, omega, 0.0), law.size)
            largest = max(largest, int(np.rint(within.sum())))
            chances += per_position[j] * within
        return chances, per_position, largest
    return _for_rankings(omega, contest, law, per_position)


def _for_one_position(omega: Vector, position: Indices, shares: Vector, size: int) -> Vector:
    """Return the chances of the positions: their shares, over how many pairs a ballot at each can hold."""
    pairs = np.minimum(np.bincount(position, omega > 0, len(shares)), size)
    chances = np.where(pairs > 0, shares / np.maximum(pairs, 1), 0.0)
    return np.asarray(chances / chances.sum())


def _for_rankings(
    omega: Vector, contest: Contest, law: Law, per_position: Vector
) -> tuple[Vector, Vector | None, int]:
    k = law.question_size
    questions = 1 if law.one_position else max(1, law.size // (k * (k - 1) // 2))
    position_chances: Vector = inclusion_chances(per_position, questions)
    chances = np.zeros(len(omega))
    for j in np.flatnonzero(position_chances):
        edges = _rankable(contest, int(j))
        asked = min(k, len(edges))
        if _around_champion(contest):  # its edge, and others as they tell
            own = np.flatnonzero(contest.pairs.position == j)
            within = inclusion_chances(omega[own], asked - 1)
        else:
            one, other = np.triu_indices(len(edges), 1)
            own = contest.graph.pair_table.number(edges[one], edges[other])
            within = np.full(len(own), asked * (asked - 1) / (len(edges) * (len(edges) - 1)))
        chances[own] = position_chances[j] * within
    return chances, position_chances, int(np.rint(position_chances.sum())) * (k * (k - 1) // 2)


def _around_champion(contest: Contest) -> bool:
    """Whether only pairs with one edge of each position tell anything: rankings are about that one."""
    return contest.criterion == "condorcet" and not contest.pairs.several


def _rankable(contest: Contest, position: int) -> Indices:
    """Return the edges of a position that can be in a winner, or that a winner is compared with."""
    own = contest.graph.at(position)
    edges: Indices = np.flatnonzero(contest.usable[own] | (contest.marginals[own] > 0)) + own.start
    return edges


def draw_ballot(
    design: Design, contest: Contest, number: int, voter: str, rng: np.random.Generator, walking: bool = False
) -> Ballot:
    """Draw a ballot of a design; for voters who are ``walking``, neighbours on it share a candidate."""
    draw_questions = _draw_rankings if design.question_size > 2 else _draw_duels
    questions = draw_questions(design, contest, rng)
    if walking:
        questions = as_a_walk(questions, contest.graph.edge_candidate)
    return Ballot.of(number, design.number, voter, questions, contest.graph.pair_table)


def _draw_duels(design: Design, contest: Contest, rng: np.random.Generator) -> list[tuple[int, ...]]:
    pairs, chances = contest.pairs, design.chances
    if design.position_chances is not None:
        place = int(draw(design.position_chances, rng)[0])
        chances = np.where(pairs.position == place, chances / design.position_chances[place], 0.0)
    if contest.criterion == "borda" and design.size > 1:
        drawn = draw_apart(chances, pairs.first, pairs.second, design.champion, rng)
    else:
        drawn = draw(chances, rng)
    turned = rng.random(len(drawn)) < 0.5
    one = np.where(turned, pairs.second[drawn], pairs.first[drawn]).tolist()
    other = np.where(turned, pairs.first[drawn], pairs.second[drawn]).tolist()
    return list(zip(one, other, strict=True))


def _draw_rankings(design: Design, contest: Contest, rng: np.random.Generator) -> list[tuple[int, ...]]:
    assert design.position_chances is not None, "rankings are drawn position by position"
    pairs = contest.pairs
    questions: list[tuple[int, ...]] = []
    for place in draw(design.position_chances, rng).tolist():
        if _around_champion(contest):
            within = np.where(pairs.position == place, design.chances / design.position_chances[place], 0.0)
            met = draw(within, rng)
            edges = np.union1d(pairs.first[met], pairs.second[met])
        else:
            rankable = _rankable(contest, place)
            edges = rng.choice(rankable, min(design.question_size, len(rankable)), replace=False)
        questions.append(tuple(rng.permutation(edges).tolist()))
    return questions


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


def draw_apart(
    chances: Vector, first: Indices, second: Indices, champion: Indices, rng: np.random.Generator
) -> Indices:
    """Draw pairs with the given chances, in random order, few of them about the same edge."""
    backed = np.zeros(int(max(second.max(), champion.max())) + 1, dtype=np.bool_)
    backed[champion] = True  # at a position with one candidate there is no pair with it
    certain = np.flatnonzero(chances >= 1 - ROUNDING)
    uncertain = np.flatnonzero((chances > 0) & (chances < 1 - ROUNDING))
    taken = pivotal(
        chances[uncertain], first[uncertain], second[uncertain], backed, rng.random((len(uncertain), 3))
    )
    drawn: Indices = rng.permutation(np.concatenate([certain, uncertain[taken]]))
    return drawn


def as_a_walk(questions: Sequence[tuple[int, ...]], candidate: Indices) -> list[tuple[int, ...]]:
    """Return the questions of a ballot in an order in which neighbours share a candidate, where they can.

    From the first one on, always to a question that shares a candidate with the last, of several to the one
    with the fewest ways on (Warnsdorff's rule), of several to the first. Which questions are on the ballot,
    and with which chances, does not change, and the order depends on these questions alone, on nobody's
    answers. So the Y of the ballot, a sum over its questions, is what it was.
    """
    seen = {question: set(candidate[list(question)].tolist()) for question in questions}
    left = list(questions)
    walk = [left.pop(0)] if left else []
    while left:
        near = [question for question in left if seen[question] & seen[walk[-1]]] or left
        ways_on = [sum(bool(seen[question] & seen[other]) for other in left) for question in near]
        walk.append(near[ways_on.index(min(ways_on))])
        left.remove(walk[-1])
    return walk


@njit(cache=True)  # type: ignore[untyped-decorator]
def pivotal(
    chances: Vector, first: Indices, second: Indices, backed: Mask, uniform: NDArray[np.float64]
) -> Indices:
    """Return the items taken; those that share a backed edge compete first, then those that share any.

    Every duel settles at least one item, so a row of three uniform numbers per item will do.
    """
    state = chances.copy()
    left = np.arange(len(state))
    count, step = len(state), 0
    while count > 1:
        one = min(int(uniform[step, 0] * count), count - 1)
        offset = int(uniform[step, 1] * count)
        other, closest = -1, -1
        for place in range(min(count, MOST_LOOKED_AT)):
            candidate = (offset + place) % count
            if candidate != one:
                alike = _alike(left[one], left[candidate], first, second, backed)
                if alike > closest:
                    other, closest = candidate, alike
        if other < 0:  # looked at itself only
            other = (one + 1) % count
        i, j = left[one], left[other]
        both = state[i] + state[j]
        if both < 1:
            stays = uniform[step, 2] * both < state[i]
            state[i], state[j] = (both, 0.0) if stays else (0.0, both)
        else:
            taken = uniform[step, 2] * (2 - both) < 1 - state[j]
            state[i], state[j] = (1.0, both - 1) if taken else (both - 1, 1.0)
        step += 1
        for place in (max(one, other), min(one, other)):
            value = state[left[place]]
            if value < ROUNDING or value > 1 - ROUNDING:
                count -= 1
                left[place] = left[count]
    return np.flatnonzero(state > 0.5)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _alike(i: int, j: int, first: Indices, second: Indices, backed: Mask) -> int:
    """Return 2 if two pairs share a backed edge, 1 if they share another, 0 if none."""
    for edge in (first[i], second[i]):
        if edge == first[j] or edge == second[j]:
            return 2 if backed[edge] else 1
    return 0
