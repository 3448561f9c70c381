"""What to ask when a proof is out of reach: the duel whose answer is worth most to the leader.

Let A be the leader by the estimates, and V = max over B of D(B, A) what changing to another matching is
worth: 0 now, as nothing is estimated to be better than the leader. An answer moves the estimates, and V too.
The duel to ask is the one after whose answers V is largest on average: the knowledge gradient (Frazier,
Powell and Dayanik 2009). A duel that cannot change the choice is worth nothing, however uncertain its
pair; one that may overturn a small lead by a little is worth less than one that may overturn it by much.

By the model (:mod:`duelmatch.models.strengths`) the answers to one pair move the estimates of all pairs of
its position along one direction, by a normal amount z. For an edge e of that position let best(e) be the
value of the best B through e, and u(e) how far z moves it; then V = max over e of best(e) + u(e) z, and its
mean over z is a sum over a few nodes. All best(e) come from one assignment problem
(:meth:`duelmatch.matchings.decisions.Assignments.alternatives`).

Looking one round ahead has a blind spot: where it takes several rounds to change the choice, no single one is
worth anything. So once every pair has had a few duels, every other round asks what two matchings that may
both be best differ in, each the best by its own draw from the posterior (Thompson sampling).

No bets are made on these duels: they serve the estimates, and leave the wealth of the proof as it is.
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from numba import njit

from duelmatch.explorers.frugal.stakes import Pairs
from duelmatch.graph import Indices, Mask, Matrix, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.models.lineups import LineupFinder
from duelmatch.models.strengths import PairLayout, StrengthModel, covariance

CONTENDERS = 16
"""At most this many edges of a position are compared with each other: those that may be best."""

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()

FORBIDDEN = 1e7
"""A weight that no matching of allowed edges outweighs."""

WORTHY = 0.2
"""A round of several duels goes to the best pair of each position that is worth this part of the best of all
or more: asking the same again is worth less each time, asking at another position is not."""

NEAR = 1e-6
"""Values that differ by less than this fraction count as equal: rounding must not decide what is asked."""

NOTHING = 1e-12
"""A gain below this is none."""


MOST_COUPLES = 50
"""At most this many pairs of matchings are drawn for a round."""

ATTEMPTS = 6
"""How often they are drawn again if the two of every pair agree."""


def contested(
    finder: LineupFinder,
    model: StrengthModel,
    likely: Indices,
    allowed: Mask,
    rng: np.random.Generator,
    duels: int,
) -> Vector | None:
    """Return the share of each pair in duels between matchings that may both be best, where they differ.

    Walks to the best of a draw begin at the ``likely`` matching. None if all draws have the same best.
    """
    couples = min(duels, MOST_COUPLES)
    table = model.graph.pair_table
    for _ in range(ATTEMPTS):
        best, _ = finder.best(model.draws(rng, 2 * couples), likely, allowed)
        one, other = best[:couples], best[couples:]
        rows, places = np.nonzero(one != other)
        if len(rows):
            pairs = table.number(one[rows, places], other[rows, places])
            shares = np.bincount(pairs, 1 / np.bincount(rows)[rows], minlength=table.count)
            return np.asarray(shares / shares.sum())
    return None


def worthwhile(
    pairs: Pairs,
    model: StrengthModel,
    estimates: Vector,
    leader: Indices,
    allowed: Mask,
    usable: Mask,
    marginals: Vector | None,
    duels: int = 1,
) -> Vector | None:
    """Return the share of each pair in the next ``duels``.

    A single duel is for the pair that is worth most. Several are shared by the best pairs of the positions,
    in proportion to what they are worth. ``estimates`` are the means of p by the model. Only matchings of
    ``allowed`` edges are in question, and only ``usable`` edges are asked about. ``marginals`` are those of
    Borda, None for Condorcet. Pairs that are worth the same share the duels. None if no answer could change
    the leader.
    """
    graph = pairs.graph
    ahead = estimates - 0.5
    if marginals is None:
        values = pairs.against(leader, ahead)
    else:
        rewards = pairs.rewards(ahead, marginals)
        values = rewards - rewards[leader[graph.edge_position]]
    best = decisions_of(graph).alternatives(np.where(allowed, values, -FORBIDDEN)).with_edge
    gain = np.zeros(pairs.count)
    _gains(
        model.layout, model.wins, model.duels, model.trust, model.strength, model.factor, leader, best,
        np.zeros(graph.edges) if marginals is None else marginals, marginals is not None, float(duels), gain,
    )  # fmt: skip
    gain[~(usable[pairs.first] & usable[pairs.second])] = 0.0
    if gain.max(initial=0.0) < NOTHING:
        return None
    best_there = np.zeros(graph.positions)
    np.maximum.at(best_there, pairs.position, gain)
    least = max((WORTHY if duels > 1 else 1 - NEAR) * gain.max(), NOTHING)
    chosen = (gain >= (1 - NEAR) * best_there[pairs.position]) & (gain >= least)
    alike = np.bincount(pairs.position[chosen], minlength=graph.positions)[pairs.position]
    worth = np.where(chosen, best_there[pairs.position] / np.maximum(alike, 1), 0.0)
    shares: Vector = worth / worth.sum()
    return shares


@njit(cache=True)  # type: ignore[untyped-decorator]
def _gains(
    layout: PairLayout,
    wins: Vector,
    duels: Vector,
    trust: float,
    strength: Vector,
    factor: Vector,
    leader: Indices,
    best: Vector,
    marginals: Vector,
    borda: bool,
    asked: float,
    gain: Vector,
) -> None:
    """Fill in what ``asked`` duels of each pair are worth."""
    start, begin, one, other, square = layout
    top = -np.inf
    for edge in range(len(best)):
        top = max(top, best[edge])
    for position in range(len(start) - 1):
        first, low, high = start[position], begin[position], begin[position + 1]
        degree = start[position + 1] - first
        s = strength[first : start[position + 1]]
        cov = covariance(factor[square[position] : square[position + 1]].reshape((degree, degree)))
        own = leader[position] - first
        # p of a pair = common part, through the strengths with this slope, + own part with this variance
        slope, noise, chance = np.empty(high - low), np.empty(high - low), np.empty(high - low)
        for pair in range(low, high):
            pi = 1.0 / (1.0 + exp(s[other[pair]] - s[one[pair]]))
            n = duels[pair]
            share = (wins[pair] + trust * pi) / (n + trust)
            slope[pair - low] = trust / (n + trust) * pi * (1 - pi)
            chance[pair - low] = share * (1 - share)
            noise[pair - low] = share * (1 - share) / (n + trust + 1)
        contender, through = _contenders(
            degree, own, best[first : first + degree], one[low:high], other[low:high], slope, noise, cov,
            marginals[first : first + degree], borda,
        )  # fmt: skip
        moved = np.zeros(len(contender))
        is_contender = np.zeros(degree, dtype=np.bool_)
        for number in range(len(contender)):
            is_contender[contender[number]] = True
        for pair in range(low, high):
            a, b, i = one[pair], other[pair], pair - low
            if not (is_contender[a] and is_contender[b]):
                continue
            spread = slope[i] ** 2 * (cov[a, a] + cov[b, b] - 2 * cov[a, b]) + noise[i]
            scale = 1.0 / sqrt(spread + chance[i] / asked)
            for number in range(len(contender)):
                stake = _stake(contender[number], own, a, b, marginals[first : first + degree], borda)
                common = slope[i] * (through[number, a] - through[number, b])
                moved[number] = scale * (common + stake * noise[i])
            mean = 0.0
            for node in range(len(NODES)):
                highest = -np.inf
                for number in range(len(contender)):
                    value = best[first + contender[number]] + NODES[node] * moved[number]
                    highest = max(highest, value)
                mean += WEIGHTS[node] * highest
            gain[pair] = max(mean - top, 0.0)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _stake(edge: int, own: int, a: int, b: int, marginals: Vector, borda: bool) -> float:
    """Return by how much p(a, b) enters the lead of an edge over the leader's own."""
    if edge == own:
        return 0.0
    if not borda:
        if edge == a and own == b:
            return 1.0
        return -1.0 if edge == b and own == a else 0.0
    stake = 0.0
    if edge == a:
        stake += marginals[b]
    elif edge == b:
        stake -= marginals[a]
    if own == a:
        stake -= marginals[b]
    elif own == b:
        stake += marginals[a]
    return stake


@njit(cache=True)  # type: ignore[untyped-decorator]
def _contenders(
    degree: int,
    own: int,
    best: Vector,
    one: Indices,
    other: Indices,
    slope: Vector,
    noise: Vector,
    cov: Matrix,
    marginals: Vector,
    borda: bool,
) -> tuple[Indices, Matrix]:
    """Return the edges that may be best, the leader's first, and how the strengths enter their leads.

    The latter is a row per edge: the covariance of its lead over the leader's edge with the strengths.
    """
    direction = np.zeros((degree, degree))
    variance = np.zeros(degree)
    for pair in range(len(one)):
        a, b = one[pair], other[pair]
        for edge in range(degree):
            stake = _stake(edge, own, a, b, marginals, borda)
            if stake != 0.0:
                direction[edge, a] += stake * slope[pair]
                direction[edge, b] -= stake * slope[pair]
                variance[edge] += stake * stake * noise[pair]
    promise = np.empty(degree)
    through = np.zeros((degree, degree))
    for edge in range(degree):
        for a in range(degree):
            for b in range(degree):
                through[edge, a] += cov[a, b] * direction[edge, b]
        for a in range(degree):
            variance[edge] += direction[edge, a] * through[edge, a]
        promise[edge] = best[edge] + 2.0 * sqrt(max(variance[edge], 0.0))
    promise[own] = np.inf
    kept = min(degree, CONTENDERS)
    chosen = np.empty(kept, dtype=np.intp)
    rows = np.empty((kept, degree))
    left = np.ones(degree, dtype=np.bool_)
    for number in range(kept):  # a few of the highest; to sort them all takes seconds to compile
        top = -1
        for edge in range(degree):
            if left[edge] and (top < 0 or promise[edge] > promise[top]):
                top = edge
        left[top] = False
        chosen[number] = top
        for a in range(degree):
            rows[number, a] = through[top, a]
    return chosen, rows
