"""The design of a round: how often to ask about each pair, and against whom the bets on each rival are.

The pairs are those of the information limit's best allocation, for the rivals that are left. The number of
duels that reject rival B grows as v(B) / D(B)^2, so the best omega makes the largest of these smallest. As
for the limit itself (:mod:`duelmatch.theory.limit`), omega is explicit once the rivals have shares mu:
omega_pair^2 is proportional to sum_B mu_B c_pair(B)^2 / D(B)^2. The best mu is a fixed point of

    mu_B  <-  mu_B (v(B) / D(B)^2) / normalisation,

which is what is iterated here, from the shares of the round before: the estimates move little between two
rounds, and so do the shares. All of it goes through edges, so a step costs O(rivals x positions + pairs).

**Opponents.** Where a winner has nobody to lose to, any clear defeat rules it out. Under "B is the winner"
D(C, B) <= 0 for every decision C, not only for the champion. So the bets against B
may be on any C that was chosen before the duels: on the one that takes fewest, v(B) / D(C, B)^2 being least.
Where tastes are transitive that is mostly the champion, and nothing is gained; where they are not, a rival
that is hardly worse than the champion often loses to somebody else by far. C is a decision as a whole: an
opponent put together edge by edge need not be one, and the winner may well lose to it.

The opponents come from a small pool: the champion, and decisions that were the best response to a
rival. Condorcet only, with one seat at every position: a duel of C(j) and B(j) then tells about B what C does
there, and all that is needed of a rival is l pairs, each with a sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duelmatch.explorers.frugal.stakes import NO_RUIN, Drawn, Pairs, Stakes, highest, over, pairs_within
from duelmatch.graph import Indices, Mask, Matrix, Vector

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

POOL = 12
"""How many decisions there are to choose opponents from."""

DOUBT = 6.0
"""How many squared standard errors weigh against a defeat by somebody else than the champion.

The largest of a dozen estimates is mostly too large: without doubt, chance would decide who is asked about.
"""

LOYALTY = 1.25
"""How many times better than the champion another opponent must be."""

AGAIN = 6
"""Opponents are compared every AGAIN rounds, and whenever the champion changes or a rival is ruled out."""

FLOOR = 0.5
"""A pair is taken to be asked at least this part of an even share of the duels: if it serves, it will be."""


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


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Who is champion, and what is believed of p - 1/2 for every pair, with which variance."""

    champion: Indices
    advantage: Vector
    variance: Vector


@dataclass(frozen=True, slots=True)
class Matches:
    """Every rival against its opponent: the pairs in which they differ, and what is believed of D."""

    pair: Indices
    """A row per rival, a column per position; -1 where both have the same edge."""
    stake: Matrix
    """c_pair(B): above 0 where the opponent's edge is the first of the pair."""
    gaps: Vector
    noise: Vector

    def kept(self, kept: Mask) -> Matches:
        """Return those of some rivals."""
        return Matches(self.pair[kept], self.stake[kept], self.gaps[kept], self.noise[kept])

    def looks(self, omega: Vector) -> tuple[Matrix, Vector, Vector]:
        """Return Y if the first edge of each pair wins, v, and the largest |Y|, per rival.

        All are 0 if a pair is never drawn: Y would not have mean D, so nothing can be bet.
        """
        looks, spread, worst = np.zeros(self.pair.shape), np.zeros(len(self.pair)), np.zeros(len(self.pair))
        _look(self.pair, self.stake, omega, looks, spread, worst)
        return looks, spread, worst


class Opponents:
    """The opponents that the bets against each rival are on."""

    def __init__(self, pairs: Pairs) -> None:
        self._decisions = pairs.decisions
        self._usable = self._decisions.usable
        self._pairs = pairs
        self._pool = np.zeros((0, pairs.graph.positions), dtype=np.intp)
        self._use = np.zeros(0)
        self._round = self._turn = 0
        self._champion = np.zeros(0, dtype=np.intp)
        self._chosen: tuple[Indices, Matrix] | None = None

    def choose(self, rows: Indices, shares: Vector, beliefs: Beliefs, omega: Vector, fixed: bool) -> Matches:
        """Choose an opponent for every rival, given their shares in the design, and what it was so far.

        ``fixed``: the design stays as it is, so who has a pair that is not drawn is not in question.
        """
        champion, self._champion = self._champion, beliefs.champion
        self._round += 1
        if (
            self._chosen is None
            or len(self._chosen[0]) != len(rows)
            or self._round % AGAIN == 0
            or not np.array_equal(champion, beliefs.champion)
        ):
            self._chosen = self._compare(rows, shares, beliefs, omega, fixed)
        pair, stake = self._chosen
        gaps, noise = np.zeros(len(rows)), np.zeros(len(rows))
        _believe(pair, stake, beliefs.advantage, beliefs.variance, gaps, noise)
        return Matches(pair, stake, gaps, noise)

    def _compare(
        self, rows: Indices, shares: Vector, beliefs: Beliefs, omega: Vector, fixed: bool
    ) -> tuple[Indices, Matrix]:
        self._widen(rows, shares, beliefs)
        if len(omega) == 0:
            omega = np.ones(self._pairs.count)
        elif not fixed:
            omega = np.maximum(omega, FLOOR * float(np.square(omega).sum()))
        chosen = np.zeros(len(rows), dtype=np.intp)
        pair, stake = np.full(rows.shape, -1), np.zeros(rows.shape)
        _choose(
            rows, self._pool, self._pairs.before, self._pairs.scale, beliefs.advantage, beliefs.variance,
            omega, chosen, pair, stake,
        )  # fmt: skip
        self._use = 0.9 * self._use + np.bincount(chosen, shares, len(self._pool))
        return pair, stake

    def design(self, matches: Matches, wanted: Mask, shares: Vector, used: Mask, told: Mask) -> Vector:
        """Return the share of the duels for each pair, and move the rivals' ``shares`` towards the best ones.

        Some are spread evenly: half of these over the pairs ``told`` by the champion, half over all pairs
        with a ``used`` edge, so that better opponents are found.
        """
        rivals = wanted & (matches.noise > 1e-12)
        if not rivals.any():
            rivals = matches.noise > 1e-12
        squares = np.square(matches.gaps) + OPTIMISM * matches.noise
        own = np.maximum(shares[rivals], LEAST_SHARE / rivals.sum())
        own /= own.sum()
        omega = np.zeros(self._pairs.count)
        _balance(matches.pair[rivals], matches.stake[rivals], squares[rivals], own, STEPS // 3, omega)
        shares[rivals] = own
        first, second = self._pairs.first, self._pairs.second
        known = (used[first] & self._usable[second]) | (used[second] & self._usable[first])
        even = 0.5 * told / max(told.sum(), 1) + 0.5 * known / max(known.sum(), 1)
        omega = (1 - EXPLORED) * omega + EXPLORED * even
        return np.asarray(omega / omega.sum())

    def counts(self, drawn: Drawn) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how often the first edge of every pair won in a round, and lost."""
        pairs = self._pairs.before[drawn.first_edge] + drawn.second_edge
        wins, losses = np.zeros((2, self._pairs.count), dtype=np.int64)
        wins[pairs], losses[pairs] = drawn.wins, drawn.losses
        return wins, losses

    def _widen(self, rows: Indices, shares: Vector, beliefs: Beliefs) -> None:
        """Let the champion, and what does best against one of the rivals, into the pool."""
        self._admit(beliefs.champion, True)
        self._turn += 1
        hardest = int(np.argmax(shares)) if self._turn % 2 else (self._turn // 2 * 7919) % len(rows)
        against = self._pairs.against(rows[hardest], beliefs.advantage)
        response = self._decisions.best(against, self._usable, exact=False)
        if response is not None:
            self._admit(response, False)

    def _admit(self, decision: Indices, first: bool) -> None:
        """Make room for a decision, at the first place for the champion."""
        same = (self._pool == decision).all(axis=1)
        if same.any():
            place = int(np.argmax(same))
        elif len(self._pool) < POOL:
            place = len(self._pool)
            self._pool = np.concatenate([self._pool, decision[None]])
            self._use = np.append(self._use, 0.0)
        else:
            place = 1 + int(np.argmin(self._use[1:]))
            self._pool[place], self._use[place] = decision, 0.0
        if first and place:
            self._pool[[0, place]], self._use[[0, place]] = self._pool[[place, 0]], self._use[[place, 0]]


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
        omega /= total
        if step == steps:
            return
        spread[:] = 0.0
        for pair in range(pairs):
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
        shares /= total


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
        shares /= total
    omega[told] = chance


@njit(cache=True)  # type: ignore[untyped-decorator]
def _choose(
    rows: Indices,
    pool: Indices,
    before: Indices,
    scale: Vector,
    advantage: Vector,
    variance: Vector,
    omega: Vector,
    chosen: Indices,
    pair: Indices,
    stake: Matrix,
) -> None:
    """Fill in the opponent of each rival: who rules it out soonest, the champion if nobody beats it."""
    for rival in range(len(rows)):
        best = 0.0
        for number in range(len(pool)):
            gap, uncertain, spread = 0.0, 0.0, 0.0
            for position in range(rows.shape[1]):
                own, other = rows[rival, position], pool[number, position]
                if own != other:
                    which = before[min(own, other)] + max(own, other)
                    if omega[which] <= 0.0:
                        spread = np.inf
                        break
                    c = scale[which]
                    gap += c * (advantage[which] if other < own else -advantage[which])
                    uncertain += c * c * variance[which]
                    spread += c * c / omega[which]
            if gap > 0.0:
                square = gap * gap
                if number == 0:
                    score = LOYALTY * square / spread
                else:
                    score = square * square / ((square + DOUBT * uncertain) * spread)
                if score > best:
                    best, chosen[rival] = score, number
        for position in range(rows.shape[1]):
            own, other = rows[rival, position], pool[chosen[rival], position]
            if own != other:
                which = before[min(own, other)] + max(own, other)
                pair[rival, position] = which
                stake[rival, position] = scale[which] if other < own else -scale[which]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _believe(
    pair: Indices, stake: Matrix, advantage: Vector, variance: Vector, gaps: Vector, noise: Vector
) -> None:
    """Fill in what is believed of D, and the variance of that."""
    for rival in range(len(pair)):
        for position in range(pair.shape[1]):
            which, c = pair[rival, position], stake[rival, position]
            if which >= 0:
                gaps[rival] += c * advantage[which]
                noise[rival] += c * c * variance[which]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _look(pair: Indices, stake: Matrix, omega: Vector, looks: Matrix, spread: Vector, worst: Vector) -> None:
    """Fill in Y, v and the largest |Y|, but for rivals with a pair that is never drawn."""
    for rival in range(len(pair)):
        drawn = True
        for position in range(pair.shape[1]):
            drawn = drawn and (pair[rival, position] < 0 or omega[pair[rival, position]] > 0.0)
        if not drawn:
            continue
        for position in range(pair.shape[1]):
            which = pair[rival, position]
            if which >= 0:
                look = stake[rival, position] / (2 * omega[which])
                looks[rival, position] = look
                spread[rival] += omega[which] * look * look
                worst[rival] = max(worst[rival], abs(look))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _balance(
    pair: Indices, stake: Matrix, squared_gaps: Vector, shares: Vector, steps: int, omega: Vector
) -> None:
    """Improve the shares of rivals in place and fill in omega, as the design does for one champion."""
    count, positions = pair.shape
    inverse = np.zeros(len(omega))
    for step in range(steps + 1):
        omega[:] = 0.0
        for rival in range(count):
            share = shares[rival] / squared_gaps[rival]
            for position in range(positions):
                which, c = pair[rival, position], stake[rival, position]
                if which >= 0:
                    omega[which] += share * c * c
        total = 0.0
        for which in range(len(omega)):
            omega[which] = np.sqrt(omega[which])
            total += omega[which]
        for which in range(len(omega)):
            omega[which] /= total
            inverse[which] = 1.0 / omega[which] if omega[which] > 0.0 else 0.0
        if step == steps:
            return
        total = 0.0
        for rival in range(count):
            needed = 0.0
            for position in range(positions):
                which, c = pair[rival, position], stake[rival, position]
                if which >= 0:
                    needed += c * c * inverse[which]
            shares[rival] *= needed / squared_gaps[rival]
            total += shares[rival]
        shares /= total


@njit(cache=True)  # type: ignore[untyped-decorator]
def settle_matches(
    logs: Matrix,
    bets: Matrix,
    pair: Indices,
    looks: Matrix,
    wins: NDArray[np.int64],
    losses: NDArray[np.int64],
) -> None:
    """Add log(1 + lambda Y) of every duel, for every rival and gambler."""
    for rival in range(len(pair)):
        for position in range(pair.shape[1]):
            which = pair[rival, position]
            if which < 0 or wins[which] + losses[which] == 0:
                continue
            value = looks[rival, position]
            for gambler in range(bets.shape[1]):
                bet = bets[rival, gambler]
                logs[rival, gambler] += wins[which] * np.log1p(bet * value)
                logs[rival, gambler] += losses[which] * np.log1p(-bet * value)
