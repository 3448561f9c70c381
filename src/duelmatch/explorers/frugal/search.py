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
chosen by the data, so the i-th proof gets its own part of delta; it begins when its champion is clear enough.

Champion, shares and bets come from estimates of the pairs by a model (:mod:`duelmatch.models.strengths`).
Any function of the past will do for them, so the proof does not mind if the model is wrong. With a budget
(:meth:`FrugalSearch.aim_at`) the duels go where they improve the leader most
(:mod:`duelmatch.explorers.frugal.finding`), until a proof is in reach.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import cached_property
from math import exp, inf, log
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import TooLargeError
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.engine import Outcome, Round, RoundAnswers, Rounds, Snapshot, Status
from duelmatch.explorers.frugal.design import Beliefs
from duelmatch.explorers.frugal.finding import contested, worthwhile
from duelmatch.explorers.frugal.listed import GRID, ListedRivals, Proof, price
from duelmatch.explorers.frugal.stakes import Pairs, Play, Played, Prospects, Stakes, variance_of_share
from duelmatch.explorers.frugal.tables import TabledRivals
from duelmatch.graph import Graph, Indices, Mask, Vector
from duelmatch.matchings.decisions import decisions_of
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

MANY_PAIRS = 100_000
"""Beyond this many, pairs are drawn by cumulative shares: a multinomial draw takes four times as long."""

MOST_LISTED = 10_000
"""At most this many rivals are listed one by one: an update then takes some tens of milliseconds."""

SHORT_COUNT = 1 << 22
"""Bytes of memory for counting the possible winners in a report, where that takes counters."""

FEW = 100
"""A report lists the possible winners if there are no more than this."""

LEADING, CONTESTING = 3, 4
"""Keep the random numbers of the leader, and of matchings in doubt, apart from those that draw pairs."""

DRAWS = 100
"""Draws from the posterior, to compare possible leaders."""

MOST_PAIRS = 5_000
"""Beyond this many pairs the champion is the leader: drawing tables would take too long."""

BOUNDS = 0.03
"""The part of delta for the bound on the shortfall, where nothing else has to be proven of a champion."""

CLEAR = 0.5
"""A proof begins when the champion is ahead of every possible winner by this many standard errors."""

ACQUAINTED = 4
"""How many duels a pair has had on average when every other round asks where matchings in doubt differ."""

MOST_DUELS = 10**10
"""A run that has asked this many is given up: the matchings still in question tie exactly."""

LOOK_AGAIN = 1.1
"""While the budget cannot pay for a proof, that is checked again when the duels have grown by this factor."""

NEXT_PROOF = 1.5
"""A new proof begins when the duels have grown by this factor since the last one began."""

SHORT = 1.2
"""With an epsilon, a proof begins when the champion is unlikely to fall short by more than this times it."""

SWITCH = 0.6
"""Another champion must be within epsilon in this part of the time, or less, to take over."""


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
        self._delta = delta
        self._seed = seed
        self._assume_winner = assume_winner or criterion == "borda"
        self._slack = 0.0 if epsilon is None else epsilon * graph.positions
        self._grid = GRID if epsilon is None else tuple(sorted({*GRID, epsilon}, reverse=True))
        self._batch = batch
        self._proves = epsilon is not None or not self._assume_winner
        of_rejections, of_proofs = self._parts(epsilon)
        self._threshold = -log(of_rejections * delta)
        self._proof_threshold = -log(of_proofs * delta)
        self._rng = np.random.default_rng([seed, 0])
        self._pairs = Pairs(graph)
        self._budget: int | None = None
        self._plain = graph.one_to_one and graph.even  # what a budget buys is worked out for these
        self._decisions = self._pairs.decisions
        self._usable = self._decisions.usable
        self._reference = reference_of(graph, reference, seed) if criterion == "borda" else NO_REFERENCE
        self._marginals: Vector | None = None  # of Borda
        if criterion == "borda":  # who holds a seat is met in it alone
            self._marginals = self._reference.shares * graph.seats[graph.edge_position]
        self._duels = 0
        self._champion: Indices | None = None
        self._present: Indices | None = None  # the one to be proven close enough
        self._refuting = False  # whether this round is to show that there is no winner
        self._history: list[Played] = []
        self._proofs: list[Proof] = []
        self._proof: Proof | None = None  # for the present champion
        self._proof_begun = 0  # how many duels there had been
        self._bounds: dict[int, int] = {}  # how far down the grid each proof has come
        self._last: tuple[Play, Prospects, Proof | None] | None = None
        self._look_again = 0  # so many duels, until then a proof is out of reach
        self._finding = 0  # how many rounds have been to find a leader
        self._ended: Outcome | None = None
        self._rivals: ListedRivals | TabledRivals = self._listed(
            self._decisions.listed(self._usable, MOST_LISTED)
        ) or TabledRivals(graph, self._usable, self._assume_winner, self._history)

    def _parts(self, epsilon: float | None) -> tuple[float, float]:
        """Return which parts of delta ruling out has, and what is said of a champion.

        Both have all of it if a certificate takes both, and each statement is about worlds of its own. With
        an epsilon most goes to showing that a champion is close enough, which takes no ruling out.
        """
        if epsilon is not None:
            return (0.1, 0.9) if self._assume_winner else (0.25, 0.75)
        return (1 - BOUNDS, BOUNDS) if self._assume_winner else (1.0, 1.0)

    @cached_property
    def _model(self) -> StrengthModel:
        """What steers the search, learned from its answers."""
        return StrengthModel(self._graph, self._pairs.wins, self._pairs.duels)

    def aim_at(self, max_duels: int) -> None:
        """Make the best of so many duels: find a good leader first, and prove it if that is in reach."""
        self._budget = max_duels

    def rounds(self) -> Rounds:
        """Play until one matching is left or proven, none is left, or only a tie could take this long."""
        if int(self._usable.sum()) == self._graph.places:
            return Outcome("certified", np.flatnonzero(self._usable))
        while self._duels < MOST_DUELS:
            self._model.adjust()
            estimates, cautious = self._model.estimates()
            advantage, cautious_advantage = estimates - 0.5, cautious - 0.5
            champion = self._crown(advantage)
            size = max(self._batch, int(GROWTH * self._duels), 1)
            if self._duels < self._look_again:
                sought = self._worth_finding(estimates, size)
                if sought is not None:
                    yield from self._find(sought, size)
                    continue
            stakes = self._stakes(champion, advantage)
            variance = variance_of_share(self._pairs.duels)
            noise = stakes.sums(variance, squared=True), stakes.squares_of_both(variance)
            prospects = Prospects(stakes.sums(cautious_advantage), *noise)
            proof = self._proof_for(champion) or self._begin_proof(champion, prospects)
            self._proof = proof if self._proves and not self._refuting else None
            slack, threshold = self._aim(self._proof)
            beliefs = Beliefs(champion, cautious_advantage, variance)
            omega = self._rivals.plan(stakes, prospects, self._proof, slack, threshold, beliefs)
            play = Play(stakes, omega)
            self._last = play, prospects, self._proof
            if self._out_of_reach():
                sought = self._worth_finding(estimates, size)
                if sought is not None and not np.allclose(sought, omega):
                    self._look_again = int(LOOK_AGAIN * self._duels)
                    yield from self._find(sought, size)
                    continue
            pairs, asked, answers = yield from self._ask(omega, size)
            played = play.played(champion, prospects, pairs, asked.count, answers, self._rivals.tangent)
            self._rivals.settle(played)
            self._history.append(played)
            tables = self._rivals
            if tables.reject(self._threshold) and isinstance(tables, TabledRivals) and self._assume_winner:
                rows = self._decisions.listed(tables.edges(), MOST_LISTED)
                self._rivals = self._listed(rows, tables) or tables
            self._ended = self._outcome(champion)
            if self._ended is not None:
                return self._ended
        return Outcome("budget_spent", self._champion)

    def _find(self, shares: Vector, size: int) -> Generator[Round, RoundAnswers, None]:
        """Ask to find a better leader, and bet nothing; the last such round ends with the budget."""
        if self._budget is not None and self._duels < self._budget:
            size = min(size, self._budget - self._duels)
        self._finding += 1
        yield from self._ask(shares, size)

    def _ask(
        self, shares: Vector, size: int
    ) -> Generator[Round, RoundAnswers, tuple[Indices, Round, RoundAnswers]]:
        """Ask as many duels, drawn by their shares, and count the answers."""
        pairs, counts = self._drawn(shares, size)
        asked = Round(self._pairs.first[pairs], self._pairs.second[pairs], counts)
        answers = yield asked
        self._pairs.add(pairs, asked.count, answers)
        self._duels += asked.total
        return pairs, asked, answers

    def _drawn(self, shares: Vector, size: int) -> tuple[Indices, NDArray[np.int64]]:
        """Draw so many pairs; return those drawn and how often."""
        if len(shares) <= MANY_PAIRS:
            drawn = self._rng.multinomial(size, shares)
            pairs = np.flatnonzero(drawn)
            return pairs, drawn[pairs]
        ends = np.cumsum(shares)
        below_end = np.minimum(ends[-1] * self._rng.random(size), np.nextafter(ends[-1], 0.0))
        pairs, counts = np.unique(np.searchsorted(ends, below_end, side="right"), return_counts=True)
        return pairs, counts.astype(np.int64)

    def _out_of_reach(self) -> bool:
        """Whether a proof takes more than what is left of the budget, should the estimates be right."""
        if self._budget is None or not self._plain:
            return False
        return self._duels_left() > self._budget - self._duels

    def _worth_finding(self, estimates: Vector, size: int) -> Vector | None:
        """Return the shares of the pairs that help most to find a leader; None if no answer can change it."""
        allowed = self._rivals.edges() if self._assume_winner else self._usable
        advantage, marginals = estimates - 0.5, self._marginals
        strong = None if marginals is not None else _most_wins(self._pairs, advantage, allowed)
        leader, _ = least_beaten_on_walk(self._pairs, advantage, strong, allowed, marginals)
        if marginals is None and self._finding % 2 and self._duels >= ACQUAINTED * self._pairs.count:
            rng = np.random.default_rng([self._seed, CONTESTING, self._duels])
            finder = LineupFinder(self._graph)
            shares = contested(finder, self._model, leader, allowed, rng, size)
            if shares is not None:
                return shares
        return worthwhile(self._pairs, self._model, estimates, leader, allowed, self._usable, marginals, size)

    def _duels_left(self) -> float:
        """Return how many duels a proof takes, by the estimates when one was planned last."""
        assert self._last is not None, "planned before"
        return self._rivals.duels_left(*self._last, *self._aim(self._last[2]))

    def _aim(self, proof: Proof | None) -> tuple[float, float]:
        """Return the slack that is to be proven, and the log wealth that it takes."""
        if self._refuting or not self._proves or (proof is None and self._slack == 0):
            return 0.0, self._threshold
        number = len(self._proofs) + 1 if proof is None else proof.number
        return self._slack, self._proof_threshold + price(number)

    def _crown(self, advantage: Vector) -> Indices:
        """Choose the champion, and begin a proof for it if it is time."""
        allowed = self._rivals.edges() if self._assume_winner else self._usable
        if self._slack > 0:
            champion = self._close_enough(advantage, allowed)
        elif self._marginals is not None:
            champion = borda_champion(self._pairs, advantage, self._marginals, allowed)
        else:
            champion = condorcet_champion(self._pairs, advantage, self._champion, allowed, self._rivals)
        self._champion = champion
        return champion

    def _begin_proof(self, champion: Indices, prospects: Prospects) -> Proof | None:
        """Begin a proof for the champion, if it is time."""
        if self._refuting or not self._time_for_proof(prospects):
            return None
        proof = Proof(len(self._proofs) + 1, champion)
        self._proof_begun = self._duels
        self._proofs.append(proof)
        self._rivals.begin(proof)
        return proof

    def _time_for_proof(self, prospects: Prospects) -> bool:
        """Whether the champion is clear enough, and the last proof has had its time."""
        if self._slack > 0:
            return self._rivals.shortness(prospects) <= SHORT * self._slack
        if self._duels < NEXT_PROOF * self._proof_begun:
            return False
        return self._rivals.clearness(prospects) >= CLEAR

    def _proof_for(self, champion: Indices) -> Proof | None:
        return next((proof for proof in self._proofs if np.array_equal(proof.champion, champion)), None)

    def _close_enough(self, advantage: Vector, allowed: Mask) -> Indices:
        """Return the champion that will be shown to be within epsilon soonest, if the estimates are right.

        That takes duels in proportion to the evidence that is lacking over the square of the margin that
        epsilon leaves. Another one must be clearly sooner: noise makes every champion look beaten at times.
        """
        best, worst_defeat = least_beaten_on_walk(
            self._pairs, advantage, self._present, allowed, self._marginals
        )
        self._refuting = self._better_refute(best, worst_defeat(best))
        if self._refuting:
            return condorcet_champion(self._pairs, advantage, self._champion, allowed, self._rivals)
        present = self._present
        if present is not None and allowed[present].all() and not np.array_equal(best, present):
            time = self._time_to_prove(present, worst_defeat(present))
            if self._time_to_prove(best, worst_defeat(best)) >= SWITCH * time:
                return present
        self._present = best
        return best

    def _better_refute(self, best: Indices, defeat: float) -> bool:
        """Whether to show in this round that there is no winner, rather than that the best is close enough.

        The one takes duels in proportion to its evidence over the square of the least defeat, the other over
        that of the margin. If both are about as quick they take turns; one round of eight is for the other.
        """
        if self._criterion == "borda" or defeat <= 0:
            return False
        sooner = self._threshold / defeat**2 / self._time_to_prove(best, defeat)
        turn = len(self._history) % 8
        return turn % 2 == 1 if 0.3 <= sooner < 0.6 else (turn > 0 if sooner < 0.3 else False)

    def _time_to_prove(self, champion: Indices, defeat: float) -> float:
        margin = max(self._slack - defeat, 0.0)
        if margin == 0.0:
            return inf
        proof = self._proof_for(champion)
        lacking = self._proof_threshold + price(len(self._proofs) + 1)
        if proof is not None:
            lacking = self._proof_threshold + proof.price - self._rivals.poorest_of(proof, self._slack)
        return lacking / margin**2

    def _stakes(self, champion: Indices, expected: Vector) -> Stakes:
        """Return what duels tell; bets against listed rivals are on what is not ``expected`` of p - 1/2."""
        if self._marginals is not None:
            stakes = Stakes.borda(self._pairs, champion, self._marginals)
        else:
            stakes = Stakes.condorcet(self._pairs, champion)
        if self._pairs.several or isinstance(self._rivals, TabledRivals):
            return stakes
        return replace(stakes, expected=expected)

    def _outcome(self, champion: Indices) -> Outcome | None:
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
        if self._proof is not None and self._is_proven(self._proof):
            status: Status = "within_epsilon" if self._slack > 0 else "certified"
            return Outcome(status, champion, assuming=assuming)
        return None

    def _is_proven(self, proof: Proof) -> bool:
        """Whether nothing in question beats the champion, or nothing by more than epsilon, is proven."""
        if self._rivals.poorest_of(proof, self._slack) < self._proof_threshold + proof.price:
            return False
        if self._slack == 0:  # so if there is a winner, no other is certified unless that was ruled out
            return self._rivals.left == 1 and self._rivals.is_possible(proof.champion)
        found = self._bound(proof)
        return found is not None and found * self._graph.positions <= self._slack

    def _bound(self, proof: Proof) -> float | None:
        """Return by how much a champion falls short per position at most; None if nothing is proven yet."""
        grid, threshold = self._grid, self._proof_threshold + proof.price
        rejected = self._bounds.get(proof.number, 0)
        while rejected < len(grid):
            if self._rivals.poorest_of(proof, grid[rejected] * self._graph.positions) < threshold:
                break
            rejected += 1
        self._bounds[proof.number] = rejected
        return grid[rejected - 1] if rejected else None

    def _shortfall(self, leader: Indices) -> float | None:
        """Return by how much the leader falls short of the best per position at most; None if unknown."""
        if self._ended is not None and self._ended.status == "certified":
            return 0.0
        proof = self._proof_for(leader)
        return None if proof is None else self._bound(proof)

    def _listed(self, rows: Indices | None, tables: TabledRivals | None = None) -> ListedRivals | None:
        """Take the rivals one by one, with the wealth of the tables; None if they are too many to list."""
        if rows is None or len(rows) == 0:
            return None
        each = self._pairs if self._criterion == "condorcet" and not self._pairs.several else None
        wealth = None if tables is None else tables.base.wealth(rows)
        proven = {} if tables is None else tables.proven_wealth(rows)
        found = ListedRivals(self._graph, rows, self._assume_winner, self._history, wealth, proven, each)
        for proof in self._proofs:
            found.begin(proof)
        return found

    def snapshot(self) -> Snapshot:
        """Report the champion, the edges decided, the possible winners, and how much evidence is missing."""
        edges = self._rivals.edges()
        accepted = self._rivals.shared()
        possible, some = self._possible(edges)
        if self._champion is None or self._last is None or self._duels == 0:
            return Snapshot(None, accepted, ~edges, None, None, float(possible != 1), possible, some)
        leader = self._leader()
        evidence = self._evidence(leader)
        left = self._duels_left()
        return Snapshot(
            leader,
            accepted,
            ~edges,
            1 - evidence / self._threshold,
            int(np.ceil(left)),
            max(exp(-evidence), self._delta),
            possible,
            some,
            lambda: self._shortfall(leader),
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
        estimates, _ = self._model.estimates()
        strong = _most_wins(self._pairs, estimates - 0.5, allowed)
        return least_expected(finder, tables, best, np.stack([champion, strong]))[0]

    def _evidence(self, leader: Indices) -> float:
        """Return the log evidence that the leader is the winner, between 0 and the threshold."""
        evidence = 0.0
        if self._ended is not None and self._ended.status == "no_winner":
            return evidence
        if self._assume_winner:
            evidence = self._rivals.poorest(leader)
        elif (proof := self._proof_for(leader)) is not None:
            evidence = self._rivals.poorest_of(proof, 0.0) - proof.price
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
    """Return a champion among the allowed edges; ``advantage`` is the estimate of p - 1/2 of each pair.

    A victory is as clear as it has standard errors.
    """
    clearest: Indices | None = None
    clearness = -np.inf
    for current, response, lead in _walk(pairs, advantage, last, allowed):
        if lead <= ROUNDING:
            return current
        clear = lead / _standard_error(pairs, current, response)
        if clear > clearness and rivals.is_possible(current):
            clearest, clearness = response, clear
    if clearest is None:
        clearest, _ = _response(pairs, advantage, rivals.somebody(), allowed)
    return clearest


def _standard_error(pairs: Pairs, current: Indices, response: Indices) -> float:
    return float(np.sqrt(pairs.variance_against(current)[response].sum()))


def least_beaten_on_walk(
    pairs: Pairs, advantage: Vector, last: Indices | None, allowed: Mask, shares: Vector | None
) -> tuple[Indices, Callable[[Indices], float]]:
    """Return the best matching by the estimates, and a function that says how far another falls short.

    Borda (``shares``): the highest score. Condorcet: the least beaten one on the walk along best responses.
    """
    if shares is not None:
        best, rewards = borda_champion(pairs, advantage, shares, allowed), pairs.rewards(advantage, shares)
        return best, lambda matching: float(rewards[best].sum() - rewards[matching].sum())
    least, _, _ = min(_walk(pairs, advantage, last, allowed), key=lambda step: step[2])
    return least, lambda matching: _response(pairs, advantage, matching, allowed)[1]


def _walk(
    pairs: Pairs, advantage: Vector, last: Indices | None, allowed: Mask
) -> Iterator[tuple[Indices, Indices, float]]:
    """Yield a matching, the best response to it and its lead; then the same of the response, and so on.

    From the last champion on, or from the matching with most wins, until one has no answer or comes again.
    """
    current = last if last is not None and allowed[last].all() else _most_wins(pairs, advantage, allowed)
    seen = [current]
    for _ in range(LONGEST_WALK if pairs.decisions.fast else SLOW_WALK):
        response, lead = _response(pairs, advantage, current, allowed)
        yield current, response, lead
        if lead <= ROUNDING or any(np.array_equal(response, other) for other in seen):
            return
        seen.append(response)
        current = response


def _response(pairs: Pairs, advantage: Vector, current: Indices, allowed: Mask) -> tuple[Indices, float]:
    """Return what does best against a matching, and by how much it beats it."""
    against = pairs.against(current, advantage)
    response = pairs.decisions.one(against, allowed, exact=False)
    return response, float(against[response].sum())


def borda_champion(pairs: Pairs, advantage: Vector, marginals: Vector, allowed: Mask) -> Indices:
    """Return the best matching of the allowed edges under the estimated rewards."""
    return pairs.decisions.one(pairs.rewards(advantage, marginals), allowed, exact=False)


def _most_wins(pairs: Pairs, advantage: Vector, allowed: Mask) -> Indices:
    """Return the best matching if all opponents at a position were equally likely."""
    return borda_champion(pairs, advantage, np.ones(pairs.graph.edges), allowed)


def least_beaten_estimate(pairs: Pairs, advantage: Vector, allowed: Mask) -> Indices | None:
    """Return the matching of the allowed edges whose worst defeat is smallest by the estimates.

    None if that is out of reach. It is what can be said where there is no Condorcet winner.
    """
    graph, kept = pairs.graph, np.flatnonzero(allowed)
    advantage = advantage * pairs.scale
    ahead = graph.table(advantage, -advantage)
    try:
        found = least_beaten(graph.part(allowed), ahead[np.ix_(kept, kept)])
    except TooLargeError:
        return None
    assert found is not None, "the allowed edges hold a matching"
    matching: Indices = kept[found[0]]
    return matching
