"""Which question to put to a judge: the one whose answer brings the proof of the champion closest.

Condorcet. Only duels with the champion's edges count. All goals of the plan have to be reached in the end, so what
can be saved is answers against the champion, which lift no bound, and answers for a champion that does not
last. Hence two terms: ask the judge where he or she is more likely than the others to favour the champion (the
chance that this judge does, over the share of all who do), and ask first where it is most doubtful that the goal can
be reached, since that is where a wrong champion falls. What follows from the answer by consistency counts too.

Borda. Learning that x is better than y lifts the champion's least reward if x is the champion's edge, for the
benefit of all goals at its position, and lowers the most that y's can be. With q the shares of the edges, the worth of
the opinion x > y is 2 q(y) [goals open at the position] if x is the champion's, plus 2 q(x) [the goal of y is open], summed
over all that follows from it by consistency.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from duelmatch.explorers.panel.model import Model, favours
from duelmatch.explorers.panel.plan import Plan
from duelmatch.explorers.panel.state import Opinions, PanelState, opinion_of, pair_at
from duelmatch.graph import Indices, Mask, Vector

DOUBT = 3.0
"""How much the doubt counts beside the judge's inclination."""

MOST_FOR_CLOSURE = 16
"""Candidates of a position up to which everything that follows from an answer is looked at (Borda)."""

Choice = list[int]
"""Edges of one position, to be compared."""


def choose_condorcet(
    plan: Plan, model: Model, judge: int, askable: Mask, size: int
) -> Choice | None:
    """Return what to ask a judge; None if nothing that is open for the judge helps."""
    state = model.state
    scores = np.zeros(state.graph.edges)
    _score_condorcet(
        plan.champion, plan.need, plan.doubt, plan.share, state.graph.start, state.pair_start,
        state.opinion[judge], askable, state.consistent, model.strength, model.offset[judge],
        model.variance[judge], DOUBT, scores,
    )  # fmt: skip
    if size == 2:
        edge = int(scores.argmax())
        if scores[edge] <= 0:
            return None
        return [int(plan.champion[state.graph.edge_position[edge]]), edge]
    best, choice = 0.0, None
    for position, own in enumerate(plan.champion.tolist()):
        at = state.graph.at(position)
        rivals = at.start + np.argsort(-scores[at], kind="stable")[: size - 1]
        rivals = rivals[scores[rivals] > 0]
        if scores[rivals].sum() > best:
            best, choice = float(scores[rivals].sum()), [int(own), *rivals.tolist()]
    return choice


def choose_borda(
    plan: Plan, shares: Vector, model: Model, judge: int, askable: Mask, size: int
) -> Choice | None:
    """Return what to ask a judge; None if nothing that is open for the judge helps."""
    state = model.state
    scores = np.zeros(state.pairs)
    _score_borda(
        plan.champion, plan.need, plan.doubt, shares, state.graph.start, state.pair_start,
        state.opinion[judge], askable, state.consistent, model.strength, model.offset[judge],
        model.variance[judge], DOUBT, MOST_FOR_CLOSURE, scores,
    )  # fmt: skip
    if scores.max(initial=0.0) <= 0:
        return None
    if size == 2:
        pair = int(scores.argmax())
        return [int(state.first[pair]), int(state.second[pair])]
    best, choice = 0.0, None
    for position in range(state.graph.positions):
        worth, edges = _grown(state, scores, position, size)
        if worth > best:
            best, choice = worth, edges
    return choice


def _grown(state: PanelState, scores: Vector, position: int, size: int) -> tuple[float, Choice]:
    """Return a set of edges of a position whose pairs are worth much together, grown from the best pair."""
    start, degree = int(state.graph.start[position]), int(state.graph.degrees[position])
    table = np.zeros((degree, degree))
    pairs = slice(int(state.pair_start[position]), int(state.pair_start[position + 1]))
    if pairs.start == pairs.stop:
        return 0.0, []
    first, second = state.first[pairs] - start, state.second[pairs] - start
    table[first, second] = table[second, first] = scores[pairs]
    one, other = np.unravel_index(int(table.argmax()), table.shape)
    chosen, worth = [int(one), int(other)], float(table[one, other])
    while len(chosen) < size:
        gains = table[chosen].sum(axis=0)
        gains[chosen] = 0.0
        best = int(gains.argmax())
        if gains[best] <= 0:
            break
        chosen.append(best)
        worth += float(gains[best])
    return worth, [start + place for place in chosen]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _score_condorcet(
    champion: Indices,
    need: Vector,
    doubt: Vector,
    share: Vector,
    start: Indices,
    pair_start: Indices,
    opinion: Opinions,
    askable: Mask,
    consistent: bool,
    strength: Vector,
    offset: Vector,
    variance: Vector,
    weight_of_doubt: float,
    scores: Vector,
) -> None:
    for position in range(len(champion)):
        first, degree = start[position], start[position + 1] - start[position]
        base, own = pair_start[position], champion[position] - first
        for other in range(degree):
            edge = first + other
            if other == own or need[edge] <= 0:
                continue
            pair = pair_at(base, degree, min(own, other), max(own, other))
            if not askable[pair]:
                continue
            worth = 1.0 / share[edge]
            if consistent:
                for y in range(degree):
                    if y == own or y == other or need[first + y] <= 0:
                        continue
                    if opinion[pair_at(base, degree, min(own, y), max(own, y))] != 2:
                        continue
                    if opinion_of(opinion, base, degree, other, y) in (0, 1):
                        worth += 1.0 / share[first + y]
            chance = favours(strength, offset, variance, first + own, edge)
            scores[edge] = chance * worth + weight_of_doubt * doubt[edge]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _score_borda(
    champion: Indices,
    need: Vector,
    doubt: Vector,
    shares: Vector,
    start: Indices,
    pair_start: Indices,
    opinion: Opinions,
    askable: Mask,
    consistent: bool,
    strength: Vector,
    offset: Vector,
    variance: Vector,
    weight_of_doubt: float,
    most_for_closure: int,
    scores: Vector,
) -> None:
    for position in range(len(champion)):
        first, degree = start[position], start[position + 1] - start[position]
        base, own = pair_start[position], champion[position] - first
        goals = 0.0
        weight = np.zeros(degree)
        for place in range(degree):
            if need[first + place] > 0:
                weight[place] = 1.0 + weight_of_doubt * doubt[first + place]
                goals += weight[place]
        if goals == 0.0:
            continue
        worth = np.zeros((degree, degree))
        for one in range(degree):
            for other in range(degree):
                if one != other and opinion_of(opinion, base, degree, one, other) == 2:
                    worth[one, other] = shares[first + one] * weight[other]
                    if one == own:
                        worth[one, other] += shares[first + other] * goals
        for one in range(degree):
            for other in range(one + 1, degree):
                pair = pair_at(base, degree, one, other)
                if not askable[pair]:
                    continue
                up, down = worth[one, other], worth[other, one]
                if consistent and degree <= most_for_closure:
                    up = _worth_of(opinion, base, degree, one, other, worth)
                    down = _worth_of(opinion, base, degree, other, one, worth)
                chance = favours(strength, offset, variance, first + one, first + other)
                scores[pair] = chance * up + (1 - chance) * down


@njit(cache=True)  # type: ignore[untyped-decorator]
def _worth_of(
    opinion: Opinions, base: int, degree: int, better: int, worse: int, worth: Vector
) -> float:
    """Return the worth of all that follows if one is better than another."""
    total = 0.0
    for upper in range(degree):
        if opinion_of(opinion, base, degree, upper, better) not in (0, 1):
            continue
        for lower in range(degree):
            if upper != lower and opinion_of(opinion, base, degree, worse, lower) in (0, 1):
                total += worth[upper, lower]
    return total
