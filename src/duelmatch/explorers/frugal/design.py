"""What to ask: whom to back, and which pairs to duel for that.

The champion is the matching that the answers so far speak for. Borda: the best matching under the estimated
rewards. Condorcet: follow best responses from the last champion until one has no answer. If that runs into a
cycle, the estimates have no winner; then somebody in the cycle is not the winner for sure, and the
champion is the one whose victory over a possible winner is clearest. Betting on it either rejects the loser
for good or corrects the estimate, and so resolves the cycle, whether a winner exists or not. (The mixed
optimum of the game would draw with everything in its support, and stall.)

The pairs are those of the information limit's best allocation, for the rivals that are left. The number of
duels that reject rival B grows as v(B) / D(B)^2, so the best omega makes the largest of these smallest. As
for the limit itself (:mod:`duelmatch.theory.limit`), omega is explicit once the rivals have shares mu:
omega_pair^2 is proportional to sum_B mu_B c_pair(B)^2 / D(B)^2. The best mu is a fixed point of

    mu_B  <-  mu_B (v(B) / D(B)^2) / normalisation,

which is what is iterated here, from the shares of the round before: the estimates move little between two
rounds, and so do the shares. All of it goes through edges, so a step costs O(rivals x positions + pairs).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit

from duelmatch.errors import TooLargeError
from duelmatch.explorers.frugal.stakes import Pairs, Stakes, edge_sums
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.assignment import best_matching
from duelmatch.matchings.minimax import least_beaten

LONGEST_WALK = 12
ROUNDING = 1e-12

OPTIMISM = 0.1
"""How many squared standard errors are added to a squared gap: no gap is taken for 0."""

STEPS = 15
"""Steps towards the best shares in every round."""

EXPLORED = 0.1
"""The share of the duels that is spread evenly over all pairs that tell anything."""

LEAST_SHARE = 1e-4
"""No rival's share falls below this part of an even share, or it could not come back."""


class PossibleWinners(Protocol):
    """What is known of the possible winners."""

    def is_possible(self, matching: Indices) -> bool:
        """Whether a matching may be the winner."""

    def somebody(self) -> Indices:
        """Return one that may be."""


def condorcet_champion(
    pairs: Pairs, advantage: Vector, last: Indices | None, allowed: Mask, rivals: PossibleWinners
) -> Indices:
    """Return a champion among the allowed edges; ``advantage`` is the estimate of p - 1/2 of each pair."""
    current = last if last is not None and allowed[last].all() else _most_wins(pairs, advantage, allowed)
    clearest: Indices | None = None
    clearness = -np.inf
    seen = [current]
    for _ in range(LONGEST_WALK):
        response, lead = _response(pairs, advantage, current, allowed)
        if lead <= ROUNDING:
            return current
        clear = lead / _error(pairs, current, response)
        if clear > clearness and rivals.is_possible(current):
            clearest, clearness = response, clear
        if any(np.array_equal(response, other) for other in seen):
            break
        seen.append(response)
        current = response
    if clearest is None:
        clearest, _ = _response(pairs, advantage, rivals.somebody(), allowed)
    return clearest


def _response(pairs: Pairs, advantage: Vector, current: Indices, allowed: Mask) -> tuple[Indices, float]:
    """Return what does best against a matching, and by how much it beats it."""
    against = pairs.against(current, advantage)
    response = best_matching(pairs.graph, against, allowed)
    assert response is not None, "the allowed edges hold a matching"
    return response, float(against[response].sum())


def _error(pairs: Pairs, current: Indices, response: Indices) -> float:
    """Return the standard error of how much one beats the other."""
    variance = np.abs(pairs.against(current, 0.25 / (pairs.duels + 2)))
    return float(np.sqrt(variance[response].sum()))


def borda_champion(pairs: Pairs, advantage: Vector, marginals: Vector, allowed: Mask) -> Indices:
    """Return the best matching of the allowed edges under the estimated rewards."""
    won = np.bincount(pairs.first, advantage * marginals[pairs.second], pairs.graph.edges)
    lost = np.bincount(pairs.second, advantage * marginals[pairs.first], pairs.graph.edges)
    rewards = np.asarray(won - lost, dtype=np.float64)
    champion = best_matching(pairs.graph, rewards, allowed)
    assert champion is not None, "the allowed edges hold a matching"
    return champion


def _most_wins(pairs: Pairs, advantage: Vector, allowed: Mask) -> Indices:
    """Return the best matching if all opponents at a position were equally likely."""
    return borda_champion(pairs, advantage, np.ones(pairs.graph.edges), allowed)


def least_beaten_estimate(pairs: Pairs, advantage: Vector, allowed: Mask) -> Indices | None:
    """Return the matching of the allowed edges whose worst defeat is smallest by the estimates.

    None if that is out of reach. It is what can be said where there is no Condorcet winner.
    """
    graph, kept = pairs.graph, np.flatnonzero(allowed)
    ahead = np.zeros((graph.edges, graph.edges))
    ahead[pairs.first, pairs.second], ahead[pairs.second, pairs.first] = advantage, -advantage
    left = Graph(graph.candidates, graph.positions, graph.edge_candidate[kept], graph.edge_position[kept])
    try:
        found = least_beaten(left, ahead[np.ix_(kept, kept)])
    except TooLargeError:
        return None
    assert found is not None, "the allowed edges hold a matching"
    matching: Indices = kept[found[0]]
    return matching


def allocation(stakes: Stakes, rivals: Indices, squared_gaps: Vector, shares: Vector, used: Mask) -> Vector:
    """Return omega for rivals with the given D(B)^2, and move their ``shares`` towards the best ones.

    Every pair that tells about a matching of the ``used`` edges has a chance to be drawn: without that, Y
    would not have mean D for it.
    """
    pairs, graph = stakes.pairs, stakes.pairs.graph
    np.maximum(shares, LEAST_SHARE / len(shares), out=shares)
    shares /= shares.sum()
    omega = np.zeros(pairs.count)
    _iterate(
        rivals, squared_gaps, shares, pairs.first, pairs.second, pairs.position, graph.edge_position,
        graph.start, stakes.neither**2, stakes.first**2, stakes.second**2, STEPS, omega,
    )  # fmt: skip
    told = stakes.told(used)
    omega = (1 - EXPLORED) * np.where(told, omega, 0.0) + EXPLORED / told.sum() * told
    return np.asarray(omega / omega.sum())


@njit(cache=True)  # type: ignore[untyped-decorator]
def _iterate(
    rivals: Indices,
    squared_gaps: Vector,
    shares: Vector,
    pair_first: Indices,
    pair_second: Indices,
    pair_position: Indices,
    edge_position: Indices,
    start: Indices,
    neither: Vector,
    first: Vector,
    second: Vector,
    steps: int,
    omega: Vector,
) -> None:
    """Improve the shares in place and fill in omega; ``neither``, ``first``, ``second`` are squares of c."""
    count, positions = rivals.shape
    edges, pairs = len(edge_position), len(pair_first)
    load, spread, inverse = np.zeros(edges), np.zeros(edges), np.zeros(pairs)
    for step in range(steps + 1):
        load[:] = 0.0
        at_position = np.zeros(positions)
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
        for pair in range(pairs):
            omega[pair] /= total
            inverse[pair] = 1.0 / omega[pair] if omega[pair] > 1e-9 else 0.0
        if step == steps:
            return
        edge_sums(pair_first, pair_second, pair_position, start, neither, first, second, inverse, spread)
        total = 0.0
        for rival in range(count):
            needed = 0.0
            for position in range(positions):
                needed += spread[rivals[rival, position]]
            shares[rival] *= needed / squared_gaps[rival]
            total += shares[rival]
        for rival in range(count):
            shares[rival] /= total
