"""The frugal search for the Condorcet or the Borda winner.

Every round backs a champion, draws pairs at random where they tell most, and settles the bets against every
rival. A rival against which the wealth reaches 1/delta is not the winner, and is out for good: if it were the
winner, that would happen with probability delta at most (Ville's inequality), and only one matching can be
the winner, so there is no union bound over rivals. The last one left is the answer.

The champion is the matching that the answers so far speak for. Borda: the best matching under the estimated
rewards. Condorcet: follow best responses from the last champion until one has no answer. If that runs into a
cycle, the estimates have no winner; then somebody in the cycle is not the winner for sure, and the
champion is the one whose victory over a possible winner is clearest. Betting on it either rejects the loser
for good or corrects the estimate, and so resolves the cycle, whether a winner exists or not. (The mixed
optimum of the game would draw with everything in its support, and stall.)

Two requests need more than that. ``epsilon``: the champion need not be the winner, only close to it; and
``assume_winner=False``: there may be no winner, so that being the last one left proves nothing. Both are
answered by a proof for one champion at a time: a second wealth against each rival, from bets that it
loses to it by no more than epsilon per position, made while it is the champion. The champion of a proof is
chosen by the data, so the i-th proof gets its own part of delta / 2, one in i (i + 1), and a new one begins
only after the duels have grown by half.

Champion, shares and bets come from estimates of the pairs by a model (:mod:`duelmatch.models.strengths`).
Any function of the past will do for them, so the proof does not mind if the model is wrong. With a budget
(:meth:`FrugalSearch.aim_at`) the duels go where they improve the leader most
(:mod:`duelmatch.explorers.frugal.finding`), until a proof is in reach.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from typing import Protocol

import numpy as np

from duelmatch.errors import TooLargeError
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.engine import Outcome, Round, Rounds, Snapshot
from duelmatch.explorers.frugal.finding import worthwhile
from duelmatch.explorers.frugal.listed import Ledger, ListedRivals
from duelmatch.explorers.frugal.stakes import Pairs, Play, Prospects, Stakes
from duelmatch.explorers.frugal.tables import TabledRivals
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.assignment import decisions_of
from duelmatch.matchings.minimax import least_beaten
from duelmatch.matchings.reference import NO_REFERENCE, ReferenceName, reference_of
from duelmatch.models.lineups import LineupFinder, least_expected
from duelmatch.models.strengths import StrengthModel
from duelmatch.preferences import Criterion

LONGEST_WALK = 12
SLOW_WALK = 4
"""Where a response takes an integer program."""

ROUNDING = 1e-12

GROWTH = 0.02
"""A round adds this part of the duels so far: its bets are fixed before it."""

MOST_LISTED = 10_000
"""Rivals are listed one by one from here on: an update takes some tens of milliseconds then."""

SHORT_COUNT = 1 << 22
"""The memory for counting possible winners in a report, in bytes, where it takes counters."""

FEW = 100
"""So many possible winners are listed in a report."""

LEADING = 3
"""Keeps the random numbers of the leader apart from those that draw pairs."""

DRAWS = 100
"""From the posterior, to compare possible leaders."""

MOST_PAIRS = 5_000
"""Beyond so many pairs the champion leads: drawing tables would take too long."""

NEXT_PROOF = 1.5
"""A new proof begins when the duels have grown by this factor since the last one began."""


def condorcet(
    graph: Graph,
    delta: float,
    seed: int,
    epsilon: float | None = None,
    assume_winner: bool = False,
    batch: int = 1,
) -> FrugalSearch:
    """Begin a search for the Condorcet winner."""
    return FrugalSearch(graph, "condorcet", delta, seed, epsilon, assume_winner, batch)


def borda(
    graph: Graph,
    delta: float,
    seed: int,
    epsilon: float | None = None,
    batch: int = 1,
    reference: ReferenceName | Vector = "decisions",
) -> FrugalSearch:
    """Begin a search for the Borda winner against a reference (:mod:`duelmatch.matchings.reference`)."""
    return FrugalSearch(graph, "borda", delta, seed, epsilon, batch=batch, reference=reference)


class FrugalSearch:
    """One run."""

    def __init__(
        self,
        graph: Graph,
        criterion: Criterion,
        delta: float,
        seed: int,
        epsilon: float | None = None,
        assume_winner: bool = False,
        batch: int = 1,
        reference: ReferenceName | Vector = "decisions",
    ) -> None:
        self._graph = graph
        self._criterion = criterion
        self._seed = seed
        self._assume_winner = assume_winner or criterion == "borda"
        self._slack = 0.0 if epsilon is None else epsilon * graph.positions
        self._batch = batch
        self._proves = epsilon is not None or not self._assume_winner
        self._threshold = log((2 if self._proves else 1) / delta)
        self._rng = np.random.default_rng([seed, 0])
        self._pairs = Pairs(graph)
        self._model = StrengthModel(graph, self._pairs.wins, self._pairs.duels)
        self._budget: int | None = None
        self._plain = graph.one_to_one and graph.even  # what a budget buys is worked out for these
        self._decisions = decisions_of(graph)
        self._usable = self._decisions.usable
        self._reference = reference_of(graph, reference, seed) if criterion == "borda" else NO_REFERENCE
        self._marginals = self._reference.shares
        if criterion == "borda" and self._pairs.several:  # who holds a seat is met in it alone
            self._marginals = self._marginals * graph.seats[graph.edge_position]
        self._duels = 0
        self._champion: Indices | None = None
        self._crowned = 0  # how many duels there had been when it became the champion
        self._proofs = 0
        self._proof_begun = 0
        self._proof_for: Indices | None = None
        self._last: tuple[Play, Prospects] | None = None
        self._ended: Outcome | None = None
        self._rivals: ListedRivals | TabledRivals = self._listed(self._usable) or TabledRivals(
            graph, self._usable, self._assume_winner
        )

    def aim_at(self, max_duels: int) -> None:
        """Make the best of so many duels: find a good leader first, and prove it if that is in reach."""
        self._budget = max_duels

    def rounds(self) -> Rounds:
        """Play until one matching is left, or proven, or none is left."""
        if int(self._usable.sum()) == self._graph.places:
            return Outcome("certified", np.flatnonzero(self._usable))
        while True:
            self._model.adjust()
            estimates, cautious = self._model.estimates()
            champion = self._crown(estimates - 0.5)
            stakes = self._stakes(champion)
            variance = 0.25 / (self._pairs.duels + 2)
            prospects = Prospects(
                stakes.sums(cautious - 0.5), stakes.square_sums(variance), stakes.squares_of_both(variance)
            )
            proving = self._proving
            omega = self._rivals.plan(
                stakes, prospects, self._slack if proving else 0.0, self._proof_threshold if proving else None
            )
            planned = Play.of_nothing(stakes, omega)
            self._last = planned, prospects
            size = max(self._batch, int(GROWTH * self._duels), 1)
            sought = self._worth_finding(planned, prospects, estimates, size)
            drawn = self._rng.multinomial(size, omega if sought is None else sought)
            pairs = np.flatnonzero(drawn)
            asked = Round(self._pairs.first[pairs], self._pairs.second[pairs], drawn[pairs])
            answers = yield asked
            self._pairs.add(pairs, asked.count, answers)
            self._duels += asked.total
            if sought is not None:
                continue
            play = replace(planned, pairs=pairs, duels=asked.count, answers=answers)
            self._rivals.settle(play, prospects, self._slack, proving)
            if self._rivals.reject(self._threshold) and isinstance(self._rivals, TabledRivals):
                self._rivals = self._listed(self._rivals.edges(), self._rivals) or self._rivals
            self._ended = self._outcome(champion, proving)
            if self._ended is not None:
                return self._ended

    def _worth_finding(
        self, planned: Play, prospects: Prospects, estimates: Vector, size: int
    ) -> Vector | None:
        """Return the shares of the pairs that improve the leader most, while the budget allows no proof.

        None if a proof takes no more than what is left, should the estimates be right; if there is no budget;
        if no answer can change the leader; and if the proof would ask the same.
        """
        if self._budget is None or not self._plain:
            return None
        if self._duels_left(planned, prospects) <= self._budget - self._duels:
            return None
        assert self._champion is not None, "crowned before"
        allowed = self._rivals.edges() if self._assume_winner else self._usable
        sought = worthwhile(
            self._pairs,
            self._model,
            estimates,
            self._champion,
            allowed,
            self._usable,
            self._marginals if self._criterion == "borda" else None,
            size,
        )
        return None if sought is None or np.allclose(sought, planned.omega) else sought

    def _duels_left(self, play: Play, prospects: Prospects) -> float:
        proving = self._proving
        threshold = self._proof_threshold if proving else self._threshold
        return self._rivals.duels_left(play, prospects, threshold, self._slack if proving else 0.0, proving)

    def _crown(self, advantage: Vector) -> Indices:
        """Choose the champion, and begin a proof for it if it is time."""
        allowed = self._rivals.edges() if self._assume_winner else self._usable
        if self._criterion == "borda":
            champion = borda_champion(self._pairs, advantage, self._marginals, allowed)
        else:
            champion = condorcet_champion(self._pairs, advantage, self._champion, allowed, self._rivals)
        if self._champion is None or not np.array_equal(champion, self._champion):
            self._crowned = self._duels
        self._champion = champion
        if (
            self._proves
            and not self._proving
            and self._duels >= NEXT_PROOF * self._proof_begun
            and self._duels >= NEXT_PROOF * self._crowned
        ):
            self._proofs += 1
            self._proof_begun, self._proof_for = self._duels, champion
            self._rivals.start_proof()
        return champion

    @property
    def _proving(self) -> bool:
        """Whether the present proof is for the present champion."""
        if self._champion is None or self._proof_for is None:
            return False
        return np.array_equal(self._proof_for, self._champion)

    @property
    def _proof_threshold(self) -> float:
        return self._threshold + log(self._proofs * (self._proofs + 1))

    def _stakes(self, champion: Indices) -> Stakes:
        if self._criterion == "borda":
            return Stakes.borda(self._pairs, champion, self._marginals)
        return Stakes.condorcet(self._pairs, champion)

    def _outcome(self, champion: Indices, proving: bool) -> Outcome | None:
        left = self._rivals.left
        assuming: tuple[Assumption, ...] = ()
        if self._criterion == "condorcet" and self._assume_winner:
            assuming = (Assumption.CONDORCET_WINNER,)
        if self._reference.eta > 0:
            assuming = (Assumption.MIXED_SAMPLER,)
        if left == 0:
            if self._criterion == "borda":
                return Outcome("certified", champion, assuming=assuming)
            self._model.fit()
            estimates, _ = self._model.estimates()
            return Outcome("no_winner", least_beaten_estimate(self._pairs, estimates - 0.5, self._usable))
        if left == 1 and self._assume_winner:
            return Outcome("certified", np.flatnonzero(self._rivals.edges()), assuming=assuming)
        if proving and self._rivals.proven(champion, self._proof_threshold):
            if self._slack > 0:
                return Outcome("within_epsilon", champion, assuming=assuming)
            return Outcome("certified", champion, assuming=assuming)
        return None

    def _listed(self, edges: Mask, tables: TabledRivals | None = None) -> ListedRivals | None:
        """List the rivals of these edges one by one, with the wealth of the tables; None if they are many."""
        if tables is not None and not self._assume_winner:
            return None
        rows = self._decisions.listed(edges, MOST_LISTED)
        if rows is None or len(rows) == 0:
            return None
        base = Ledger(np.zeros(len(rows)) if tables is None else tables.base.wealth(rows))
        proof = None if tables is None or tables.proof is None else Ledger(tables.proof.wealth(rows))
        return ListedRivals(self._graph, rows, base, proof, self._assume_winner)

    def snapshot(self) -> Snapshot:
        """Report the champion, the edges decided, the possible winners, and how much evidence is missing."""
        edges = self._rivals.edges()
        per_position = np.add.reduceat(edges, self._graph.start[:-1], dtype=np.intp)
        accepted = edges & (per_position == self._graph.seats)[self._graph.edge_position]
        possible, some = self._possible(edges)
        if self._champion is None or self._last is None or self._duels == 0:
            return Snapshot(None, accepted, ~edges, None, None, float(possible != 1), possible, some)
        leader = self._leader()
        evidence = self._evidence(leader)
        left = self._duels_left(*self._last)
        return Snapshot(
            leader,
            accepted,
            ~edges,
            1 - evidence / self._threshold,
            int(np.ceil(left)),
            exp(-evidence),
            possible,
            some,
        )

    def _leader(self) -> Indices:
        """Return the matching to name now: the champion, or for Condorcet the one least beaten on average.

        They differ while the estimates have no winner: the champion is then the one to bet on.
        """
        champion = self._champion
        assert champion is not None, "there has been a round"
        if self._ended is not None and self._ended.matching is not None:
            return self._ended.matching
        if self._criterion == "borda" or self._pairs.count > MOST_PAIRS or not self._plain:
            return champion
        allowed = self._rivals.edges() if self._assume_winner else self._usable
        finder = LineupFinder(self._graph)
        rng = np.random.default_rng([self._seed, LEADING, self._duels])
        tables = self._model.draws(rng, DRAWS)
        best, _ = finder.best(tables, champion, allowed)
        return least_expected(finder, tables, best, champion)[0]

    def _evidence(self, leader: Indices) -> float:
        """Return the log evidence that the leader is the winner, between 0 and the threshold."""
        if self._assume_winner:
            evidence = self._rivals.poorest(leader)
        elif self._proof_for is not None and np.array_equal(self._proof_for, leader):
            evidence = self._rivals.poorest(leader) - log(self._proofs * (self._proofs + 1))
        else:
            evidence = 0.0
        return min(self._threshold, max(0.0, evidence))

    def _possible(self, edges: Mask) -> tuple[int | None, Indices | None]:
        """Return the number of possible winners, if it can be counted, and the list, if it is short."""
        if isinstance(self._rivals, ListedRivals):
            rows = self._rivals.rows[self._rivals.possible]
            return len(rows), rows if len(rows) <= FEW else None
        if not edges.any():
            return 0, None
        left = decisions_of(self._graph.part(edges))
        try:
            return left.count() if left.graph.one_to_one else left.count(SHORT_COUNT), None
        except TooLargeError:
            return None, None


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
    for _ in range(LONGEST_WALK if decisions_of(pairs.graph).fast else SLOW_WALK):
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
    response = decisions_of(pairs.graph).good(against, allowed)
    assert response is not None, "the allowed edges hold a decision"
    return response, float(against[response].sum())


def _error(pairs: Pairs, current: Indices, response: Indices) -> float:
    """Return the standard error of how much one beats the other."""
    variance = pairs.variance_against(current, 0.25 / (pairs.duels + 2))
    return float(np.sqrt(variance[response].sum()))


def borda_champion(pairs: Pairs, advantage: Vector, marginals: Vector, allowed: Mask) -> Indices:
    """Return the best matching of the allowed edges under the estimated rewards."""
    if pairs.scale is not None:
        advantage = advantage * pairs.scale
    won = np.bincount(pairs.first, advantage * marginals[pairs.second], pairs.graph.edges)
    lost = np.bincount(pairs.second, advantage * marginals[pairs.first], pairs.graph.edges)
    rewards = np.asarray(won - lost, dtype=np.float64)
    champion = decisions_of(pairs.graph).good(rewards, allowed)
    assert champion is not None, "the allowed edges hold a decision"
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
    if pairs.scale is not None:
        advantage = advantage * pairs.scale
    ahead[pairs.first, pairs.second], ahead[pairs.second, pairs.first] = advantage, -advantage
    try:
        found = least_beaten(graph.part(allowed), ahead[np.ix_(kept, kept)])
    except TooLargeError:
        return None
    assert found is not None, "the allowed edges hold a matching"
    matching: Indices = kept[found[0]]
    return matching
