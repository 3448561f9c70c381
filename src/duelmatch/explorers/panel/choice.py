"""Which question to put to a judge: the one whose answer brings the proof of the champion closest.

Condorcet. Only duels with the champion's edges count. All goals of the plan have to be reached in the end, so
what can be saved is answers against the champion, which lift no bound, and answers for a champion that does
not last. Hence two terms: ask the judge where he or she is more likely than the others to favour the champion
(the chance that this judge does, over the share of all who do), and ask first where it is most doubtful that
the goal can be reached, since that is where a wrong champion falls. What follows from the answer by
consistency counts too.

Borda. Learning that x is better than y lifts the champion's least reward if x is the champion's edge, for the
benefit of all goals at its position, and lowers the most that y's can be. With q the shares of the edges, the
worth of the opinion x > y is 2 q(y) [goals open at the position] if x is the champion's, plus 2 q(x) [the
goal of y is open]. Of a consistent judge both answers are tried, with all that follows: Borda needs most
opinions on the contenders, so what counts is that either answer tells much, as in sorting, and the gain of
the bounds only beside it.

Walking. Judges who walk from one candidate to the next would rather stay where they are. Of the questions
that are nearly as useful as the best, one is taken that keeps a candidate whom the judge has just seen. No
certificate depends on which questions were asked, so that may cost answers, and nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from duelmatch.explorers.panel.model import Model, favours
from duelmatch.explorers.panel.plan import QuestionPlan
from duelmatch.explorers.panel.state import Opinions, PanelState, close, opinion_of, pair_at
from duelmatch.graph import Indices, Mask, Vector

DOUBT = 3.0
"""How much the doubt counts beside the judge's inclination."""

BORDA_DOUBT = 1.0
"""The same for Borda."""

GAIN = 0.2
"""How much the expected gain of the bounds counts beside what is learnt in any case (Borda)."""

MOST_FOR_LOOKAHEAD = 10
"""Candidates of a position up to which everything that follows from an answer is looked at (Borda)."""

WALKING_LOSS = 0.5
"""The part of a question's worth that is given up at most to keep a candidate just seen."""

Choice = list[int]
"""Edges of one position, to be compared."""


class Asking(NamedTuple):
    """A judge who is to be asked a question about ``size`` candidates.

    About pairs that are ``askable``, none of them ``blocked``. ``seen`` marks the edges of the candidates
    whom the judge has just seen, if it is to matter.
    """

    judge: int
    askable: Mask
    blocked: Mask
    size: int
    seen: Mask


class JudgeTables(NamedTuple):
    """What the compiled functions read of a judge."""

    start: Indices
    pair_start: Indices
    opinion: Opinions
    askable: Mask
    consistent: bool
    strength: Vector
    offset: Vector
    variance: Vector

    @classmethod
    def of(cls, model: Model, who: Asking) -> JudgeTables:
        """Return what there is now."""
        state, opinion, strength = model.state, model.state.opinion[who.judge], model.strength
        return cls(
            state.graph.start, state.pair_start, opinion, who.askable, state.consistent, strength,
            *model.offsets(who.judge),
        )  # fmt: skip


def choose_condorcet(plan: QuestionPlan, model: Model, who: Asking) -> Choice | None:
    """Return what to ask a judge; None if nothing that is open for the judge helps."""
    state, scores = model.state, np.zeros(model.state.graph.edges)
    _score_condorcet(plan, JudgeTables.of(model, who), scores)
    if who.size == 2:
        edge = best_of(scores, who.seen | who.seen[plan.champion[state.graph.edge_position]])
        return None if edge is None else [int(plan.champion[state.graph.edge_position[edge]]), edge]
    found = []
    for position, own in enumerate(plan.champion.tolist()):
        at = state.graph.at(position)
        chosen = [int(own)]
        for rival in (at.start + np.argsort(-scores[at], kind="stable")).tolist():
            if scores[rival] > 0 and len(chosen) < who.size and not _meets(state, chosen, rival, who.blocked):
                chosen.append(rival)
        found.append((float(scores[chosen].sum()), chosen))
    return best_ranking(found, who.seen)


def choose_borda(plan: QuestionPlan, shares: Vector, model: Model, who: Asking) -> Choice | None:
    """Return what to ask a judge; None if nothing that is open for the judge helps."""
    scores = np.zeros(model.state.pairs)
    _score_borda(plan, shares, JudgeTables.of(model, who), scores)
    return best_pairs(model.state, scores, who)


def best_pairs(state: PanelState, scores: Vector, who: Asking) -> Choice | None:
    """Return the pair that is worth most, or a set of edges whose pairs are; None if nothing is."""
    if who.size == 2:
        pair = best_of(scores, who.seen[state.first] | who.seen[state.second])
        return None if pair is None else state.edges_of(pair)
    positions = range(state.graph.positions)
    found = [_grown(state, scores, place, who.blocked, who.size) for place in positions]
    return best_ranking(found, who.seen)


def best_of(worth: Vector, near: Mask) -> int | None:
    """Return what is worth most, or a near one that is worth nearly as much; None if nothing is."""
    if worth.max(initial=0.0) <= 0:
        return None
    best, nearest = int(worth.argmax()), int(np.where(near, worth, 0.0).argmax())
    enough = near[nearest] and worth[nearest] >= (1 - WALKING_LOSS) * worth[best] and worth[nearest] > 0
    return nearest if enough else best


def best_ranking(found: list[tuple[float, Choice]], seen: Mask) -> Choice | None:
    """Return the set of edges that is worth most, or nearly so with one of those seen."""
    worth = np.array([each for each, _ in found])
    best = best_of(worth, np.array([bool(seen[edges].any()) for _, edges in found], dtype=np.bool_))
    return None if best is None else found[best][1]


def _meets(state: PanelState, chosen: Choice, edge: int, blocked: Mask) -> bool:
    """Whether a judge must not be asked about an edge and one of those chosen."""
    others = np.array(chosen)
    numbers = state.graph.pair_table.number(others, np.full(len(chosen), edge))
    return bool(blocked[numbers].any())


def _grown(
    state: PanelState, scores: Vector, position: int, blocked: Mask, size: int
) -> tuple[float, Choice]:
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
        edges = [start + place for place in chosen]
        for place in np.flatnonzero(gains > 0).tolist():
            if _meets(state, edges, start + place, blocked):
                gains[place] = 0.0
        best = int(gains.argmax())
        if gains[best] <= 0:
            break
        chosen.append(best)
        worth += float(gains[best])
    return worth, [start + place for place in chosen]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _score_condorcet(plan: QuestionPlan, judge: JudgeTables, scores: Vector) -> None:
    start, opinion, need = judge.start, judge.opinion, plan.need
    for position in range(len(plan.champion)):
        first, degree = start[position], start[position + 1] - start[position]
        base, own = judge.pair_start[position], plan.champion[position] - first
        for other in range(degree):
            edge = first + other
            if other == own or need[edge] <= 0:
                continue
            if not judge.askable[pair_at(base, degree, min(own, other), max(own, other))]:
                continue
            worth = 1.0 / plan.share[edge]
            if judge.consistent:
                for y in range(degree):
                    if y in (own, other) or need[first + y] <= 0:
                        continue
                    if opinion[pair_at(base, degree, min(own, y), max(own, y))] != 2:
                        continue
                    if opinion_of(opinion, base, degree, other, y) in (0, 1):
                        worth += 1.0 / plan.share[first + y]
            chance = favours(judge.strength, judge.offset, judge.variance, first + own, edge)
            scores[edge] = chance * worth + DOUBT * plan.doubt[edge]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _score_borda(plan: QuestionPlan, shares: Vector, judge: JudgeTables, scores: Vector) -> None:
    start, strength, offset, variance = judge.start, judge.strength, judge.offset, judge.variance
    for position in range(len(plan.champion)):
        first, end = start[position], start[position + 1]
        degree, base, own = end - first, judge.pair_start[position], plan.champion[position] - first
        goals = 0.0
        weight = np.zeros(degree)
        for place in range(degree):
            if plan.need[first + place] > 0:
                weight[place] = 1.0 + BORDA_DOUBT * plan.doubt[first + place]
                goals += weight[place]
        if goals == 0.0:
            continue
        if judge.consistent and degree <= MOST_FOR_LOOKAHEAD:
            pairs = slice(base, judge.pair_start[position + 1])
            _look_ahead(
                judge.opinion[pairs], judge.askable[pairs], degree, own, shares[first:end], weight,
                strength[first:end], offset[first:end], variance[first:end], scores[pairs],
            )  # fmt: skip
            continue
        for one in range(degree):
            for other in range(one + 1, degree):
                pair = pair_at(base, degree, one, other)
                if judge.askable[pair]:
                    up = shares[first + one] * weight[other]
                    down = shares[first + other] * weight[one]
                    if one == own:
                        up += shares[first + other] * goals
                    elif other == own:
                        down += shares[first + one] * goals
                    chance = favours(strength, offset, variance, first + one, first + other)
                    scores[pair] = 2 * (chance * up + (1 - chance) * down)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _look_ahead(
    opinion: Opinions,
    askable: Mask,
    degree: int,
    own: int,
    shares: Vector,
    weight: Vector,
    strength: Vector,
    offset: Vector,
    variance: Vector,
    scores: Vector,
) -> None:
    """Score the pairs of one position by what both answers would tell."""
    sure = _guaranteed(opinion, degree, own, shares, weight)
    left = _unknown(opinion, degree, own, shares, weight)
    told, then = opinion.copy(), opinion.copy()
    for one in range(degree):
        for other in range(one + 1, degree):
            pair = pair_at(0, degree, one, other)
            if not askable[pair]:
                continue
            chance = favours(strength, offset, variance, one, other)
            learnt, gain = np.inf, 0.0
            for turn in range(2):
                told[pair] = 1 if turn == 0 else -1
                close(told, degree, then)
                learnt = min(learnt, left - _unknown(then, degree, own, shares, weight))
                lifted = _guaranteed(then, degree, own, shares, weight) - sure
                gain += (chance if turn == 0 else 1 - chance) * lifted
            told[pair] = 2
            scores[pair] = learnt + GAIN * gain


@njit(cache=True)  # type: ignore[untyped-decorator]
def _unknown(opinion: Opinions, degree: int, own: int, shares: Vector, weight: Vector) -> float:
    """Return how much the unknown opinions of a judge at a position weigh in the goals."""
    total, goals = 0.0, weight.sum()
    for one in range(degree):
        for other in range(one + 1, degree):
            if opinion[pair_at(0, degree, one, other)] == 2:
                total += shares[one] * weight[other] + shares[other] * weight[one]
                if one == own:
                    total += shares[other] * goals
                elif other == own:
                    total += shares[one] * goals
    return total


@njit(cache=True)  # type: ignore[untyped-decorator]
def _guaranteed(opinion: Opinions, degree: int, own: int, shares: Vector, weight: Vector) -> float:
    """Return the weighted sum over rivals of what a consistent judge adds to w(own) - w(rival) at least."""
    total = 0.0
    for rival in range(degree):
        if weight[rival] == 0.0:
            continue
        lead = opinion_of(opinion, 0, degree, own, rival)
        least = (shares[own] + shares[rival]) * (-1.0 if lead == 2 else lead)
        for y in range(degree):
            if y in (own, rival):
                continue
            mine, others = opinion_of(opinion, 0, degree, own, y), opinion_of(opinion, 0, degree, rival, y)
            if mine != 2 and others != 2:
                least += shares[y] * (mine - others)
            elif lead != 0 and lead != 1:
                least += shares[y] * ((-1 if mine == 2 else mine) - (1 if others == 2 else others))
        total += weight[rival] * least
    return total
