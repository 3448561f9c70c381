"""A panel that fills several seats: decisions compared two by two, from a list of all while that is short.

Let A(x) be 1 if decision A uses edge x, else 0, and let a position have weight v and k seats. A is ahead of B
by a sum over the pairs (x, y) of edges of a position,

    D(A, B) = sum of c (ahead - behind),    c = v / k^2 factor worth,
    Condorcet: worth = A(x) B(y) - A(y) B(x);    Borda: worth = (A - B)(x) q(y) - (A - B)(y) q(x),

with q in proportion to how many decisions use each edge. The open answers to a pair move its term by |c|
open at most, either way. So the least and the most that D(A, B) can be are exact wherever the open answers
are free: with judges who may contradict themselves. What consistent judges cannot say together narrows the
interval further; leaving that out is safe, and a verdict may then come some answers later than it could.

What is certain of a decision follows as in :mod:`.verdict`.

**Without a list.** Beyond LISTED decisions: what the open answers can move is no sum over the edges of B
where B has both of x and y, or A has. But it is at most one,

    Condorcet, two edges of A:  |B(y) - B(x)|  <=  (1 - B(x)) + (1 - B(y)),
    Borda:  |worth|  <=  |A(x) - B(x)| q(y) + |A(y) - B(y)| q(x),

with equality for B = A and for every B that differs from A in one seat of a position at most: the rivals that
come closest. So the least by which A is ahead of B is bounded by a sum over the edges of B, less the same for
A (:mod:`.bounds`), and the strongest rival is one question to the exact oracle. A verdict is as certain as
ever, exact once nothing is open, and may come some answers later than a list would have it. That there is no
winner is never said then: it takes comparing every two decisions.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from duelmatch.errors import TooLargeError
from duelmatch.explorers.panel.bounds import BordaBounds, Closest, CondorcetBounds, Whole, as_whole
from duelmatch.explorers.panel.choice import DOUBT, Asking, Choice, best_pairs
from duelmatch.explorers.panel.model import Model, expectations, favours
from duelmatch.explorers.panel.plan import NOTHING, ROUNDS, SLOW_ROUNDS, least_beaten
from duelmatch.explorers.panel.state import PanelState
from duelmatch.explorers.panel.verdict import Certifier, Verdict, surest
from duelmatch.graph import Indices, Mask, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.preferences import Criterion

LISTED = 20_000
"""Up to so many decisions a panel that fills several seats of a position looks at all of them."""

COMPARED = 4_000
"""Up to so many decisions every two are compared, where nobody is unbeaten: some seconds."""

LAST_ROUNDS = 200
"""Without a list, where nothing more can be asked."""

RIVALS = 6
"""Without a list, a plan is made against so many of the decisions that could be ahead, strongest first."""


def worth(state: PanelState, own: Mask, other: Mask, shares: Whole | None) -> Whole:
    """Return for every pair what it is worth for one decision against another, or each of several rows."""
    first, second, own = state.first, state.second, own.astype(np.int64)
    if shares is None:
        return np.asarray(own[first] * other[..., second] - own[second] * other[..., first])
    ahead: Whole = own - other
    return np.asarray(ahead[..., first] * shares[second] - ahead[..., second] * shares[first])


class Comparisons:
    """By how much one decision is ahead of every other, at least and at most."""

    def __init__(self, state: PanelState, criterion: Criterion, rows: Indices) -> None:
        graph = state.graph
        self.state, self.criterion, self.rows = state, criterion, rows
        self.uses = graph.uses(rows)
        self.shares = np.bincount(rows.ravel(), minlength=graph.edges)

    @property
    def unit(self) -> Fraction:
        """What D = 1 means: the score, less 1/2, is D / (unit l)."""
        return self.state.unit * (len(self.rows) if self.criterion == "borda" else 1)

    @property
    def factor(self) -> Whole:
        """What a vote counts at each pair; Python's integers if 64 bits may not do."""
        factor: Whole = self.state.factor
        most = 2 * len(self.rows) if self.criterion == "borda" else 1
        largest = int(factor.max(initial=0)) * most * int(self.state.total.sum() + 1)
        return as_whole(largest, factor)[0]

    def coefficients(self, decision: Indices) -> Whole:
        """Return c of every other decision, a row each, and every pair."""
        own = self.state.graph.uses(decision)
        shares = self.shares if self.criterion == "borda" else None
        return worth(self.state, own, self.uses, shares) * self.factor

    def interval(self, coefficients: Whole) -> tuple[Whole, Whole]:
        """Return the least and the most by which a decision with these coefficients is ahead of each."""
        known = coefficients @ (self.state.ahead - self.state.behind)
        slack = np.abs(coefficients) @ self.state.open
        return known - slack, known + slack

    def others(self, decision: Indices) -> Mask:
        """Mark the other decisions."""
        others: Mask = (self.rows != decision).any(axis=1)
        return others

    def worst(self, sign: int) -> Vector | None:
        """Return every decision's worst defeat: at most (-1), or the one that it suffers for certain (1).

        The interval of D(A, B) is bilinear in A and B, but for the pairs that both use both edges of, which
        do not count. None if two by two is too much work, or too fine for exact sums of doubles.
        """
        state, factor = self.state, self.factor
        if len(self.rows) > COMPARED or factor.dtype == object or factor.max(initial=0) > 1 << 20:
            return None
        margin, slack = factor * (state.ahead - state.behind), sign * factor * state.open
        table = state.graph.table(margin + slack, slack - margin).astype(np.float64)
        uses = self.uses.astype(np.float64)
        both = np.flatnonzero((self.uses[:, state.first] & self.uses[:, state.second]).any(axis=0))
        within = (self.uses[:, state.first[both]] & self.uses[:, state.second[both]]).astype(np.float64)
        against, twice = table @ uses.T, 2.0 * slack[both]
        defeats = np.zeros(len(uses))
        for begin in range(0, len(uses), 256):
            part = slice(begin, begin + 256)
            ahead = uses[part] @ against - (within[part] * twice) @ within.T
            defeats[part] = -ahead.min(axis=1)
        return defeats


class ListedCertifier(Certifier):
    """Certificates by looking at every decision."""

    bounds: Comparisons  # type: ignore[assignment]

    @property
    def compares_every_two(self) -> bool:
        """Whether the least beaten decision can be found."""
        return True

    def most_dangerous(self, champion: Indices) -> Closest | None:
        """Return another decision that may be ahead of a champion by most, or draw; None if none may."""
        met = self.closest_other(champion)
        return None if met is None or met.ahead > 0 else met

    def closest_other(self, champion: Indices) -> Closest | None:
        """Return the other decision over which the certain lead is smallest, and that lead."""
        least, _, others = self._faced(champion)
        if not others.any():
            return None
        nearest = int(np.flatnonzero(others)[np.argmin(least[others])])
        return Closest(self.bounds.rows[nearest], int(least[nearest]))

    def must_lose(self, champion: Indices) -> int:
        """Return the worst defeat that a decision suffers for certain; 0 if it may be unbeaten."""
        return -int(min(0, self._faced(champion)[1].min()))

    def may_beat_all(self, champion: Indices) -> bool:
        """Whether a decision beats every other in some completion of the open answers, as far as is known."""
        _, most, others = self._faced(champion)
        return bool((most[others] > 0).all())

    def _faced(self, champion: Indices) -> tuple[Whole, Whole, Mask]:
        return *self.bounds.interval(self.bounds.coefficients(champion)), self.bounds.others(champion)

    def least_beaten(self, sign: int, excluded: Indices | None = None) -> tuple[Indices, Any]:
        """Return the decision whose worst defeat is smallest, and that."""
        defeats, rows = self.bounds.worst(sign), self.bounds.rows
        if defeats is None:
            raise TooLargeError("Comparing every two decisions takes too long, or is too fine.")
        if excluded is not None:
            others = self.bounds.others(excluded)
            defeats, rows = defeats[others], rows[others]
        least = int(np.argmin(defeats))
        return rows[least], defeats[least]

    def certain_defeats(self) -> tuple[Indices, Vector] | None:
        """Return every decision, and the worst defeat that each suffers for certain."""
        defeats = self.bounds.worst(1)
        return None if defeats is None else (self.bounds.rows, defeats)

    def possible_best(self) -> Indices | None:
        """Return the decisions that may have the best score; None if that takes long."""
        rows = self.bounds.rows
        if len(rows) > COMPARED // 8:
            return None
        possible: Indices = rows[[self._faced(row)[1].min() >= 0 for row in rows]]
        return possible


@dataclass(frozen=True, slots=True)
class ListedPlan:
    """Which answers would make a champion certain: ``answers`` of each pair, for its first edge or not."""

    champion: Indices
    answers: Indices
    for_first: Mask


class ListedMethod:
    """Whom to back, what is needed, and what to ask."""

    def __init__(self, state: PanelState, model: Model, criterion: Criterion, rows: Indices) -> None:
        self.state, self.model = state, model
        bounds = Comparisons(state, criterion, rows)
        self.certifier = ListedCertifier(bounds)  # type: ignore[arg-type]

    def search(self, last: Indices | None) -> Verdict:
        """Find the decision to back: the best by the estimates; one that may be unbeaten, if any may."""
        bounds = self.certifier.bounds
        if bounds.criterion == "borda":
            return self.certifier.verdict(self._best_score())
        return self.certifier.prefer_unbeaten(self._least_beaten(bounds.rows[0] if last is None else last))

    def last_verdict(self, champion: Indices) -> Verdict:
        """Take the decision with the smallest certain shortfall, if it is within reach."""
        lineups = [champion, self._best_score()]
        if self.certifier.bounds.criterion == "condorcet" and (safest := self.certifier.safest()) is not None:
            lineups = [safest[0]]
        return surest(map(self.certifier.verdict, lineups))

    @property
    def _ahead(self) -> Vector:
        """By how much the first edge of every pair will be ahead, estimated, as a part of the whole."""
        graph = self.state.graph
        ahead: Vector = expectations(self.model)[1] * graph.edge_scale[self.state.first]
        return ahead

    def _best_score(self) -> Indices:
        state, bounds = self.state, self.certifier.bounds
        rewards = np.zeros(state.graph.edges)
        np.add.at(rewards, state.first, self._ahead * bounds.shares[state.second])
        np.add.at(rewards, state.second, -self._ahead * bounds.shares[state.first])
        best: Indices = bounds.rows[int(rewards[bounds.rows].sum(axis=1).argmax())]
        return best

    def _least_beaten(self, last: Indices) -> Indices:
        rows, ahead = self.certifier.bounds.rows, self.state.graph.table(self._ahead, -self._ahead)

        def reply(weights: Vector) -> Indices:
            best: Indices = rows[int(weights[rows].sum(axis=1).argmax())]
            return best

        return least_beaten(lambda decision: ahead[decision].sum(axis=0), reply, last, ROUNDS)

    def plan(self, champion: Indices, pending_pairs: Vector) -> ListedPlan:
        """Collect answers for the champion, most telling first, until no other could be ahead of it.

        In turn against the decision that could be ahead by most.
        """
        state, bounds = self.state, self.certifier.bounds
        coefficients = bounds.coefficients(champion).astype(np.float64)
        least = bounds.interval(bounds.coefficients(champion))[0].astype(np.float64)
        least[~bounds.others(champion)] = 0.0
        open_ = np.maximum(state.open - pending_pairs, 0.0)
        per_answer = float(np.median(state.weight))
        answers, for_first = np.zeros(state.pairs, dtype=np.intp), np.ones(state.pairs, dtype=np.bool_)
        while least.min(initial=0.0) < 0:
            rival = int(least.argmin())
            telling = np.where(open_ > 0, np.abs(coefficients[rival]), 0.0)
            pair = int(telling.argmax())
            if telling[pair] == 0:
                break
            for_first[pair] = coefficients[rival, pair] > 0
            sign = 1.0 if for_first[pair] else -1.0
            count = min(-least[rival] / (2 * telling[pair]), open_[pair])
            least += 2 * count * np.maximum(sign * coefficients[:, pair], 0.0)
            least[rival] = max(least[rival], 0.0) if count < open_[pair] else least[rival]
            open_[pair] -= count
            answers[pair] += int(np.ceil(count / per_answer - NOTHING))
        return ListedPlan(champion, answers, for_first)

    def needed(self, plan: ListedPlan) -> list[tuple[int, int, int]]:
        """Return the answers of a plan: the edge they would favour, the other one, and how many."""
        pairs = np.flatnonzero(plan.answers)
        first, second, for_first = self.state.first[pairs], self.state.second[pairs], plan.for_first[pairs]
        own, other = np.where(for_first, first, second), np.where(for_first, second, first)
        return list(zip(own.tolist(), other.tolist(), plan.answers[pairs].tolist(), strict=True))

    def expected_share(self, plan: ListedPlan) -> float:
        """Return the share of the answers needed that will be as the plan wants them, estimated."""
        chosen = plan.answers > 0
        return float(self._shares_for(plan)[chosen].mean()) if chosen.any() else 1.0

    def _shares_for(self, plan: ListedPlan) -> Vector:
        """Return the share of the answers to come that will be as the plan wants them, by pair."""
        share = expectations(self.model)[0]
        return np.asarray(np.where(plan.for_first, share, 1 - share))

    def choose(self, plan: ListedPlan, who: Asking) -> Choice | None:
        """Ask where the judge is likelier than others to speak for the champion, doubtful pairs first."""
        state, model = self.state, self.model
        share = np.clip(self._shares_for(plan), 0.02, 0.98)
        scores = np.zeros(state.pairs)
        for pair in np.flatnonzero(who.askable & (plan.answers > 0)).tolist():
            ends = state.edges_of(pair)
            one, other = ends if plan.for_first[pair] else ends[::-1]
            chance = favours(model.strength, *model.offsets(who.judge), one, other)
            scores[pair] = chance / share[pair] + DOUBT * (1 - share[pair])
        return best_pairs(state, scores, who)

    def refute(self, plan: ListedPlan, askable: Mask) -> Choice | None:
        """Ask about the decisions that keep the champion from being certain."""
        for decision in (plan.champion, self.certifier.possible):
            if decision is None:
                continue
            coefficients = self.certifier.bounds.coefficients(decision)
            least, most = self.certifier.bounds.interval(coefficients)
            bound = least if decision is plan.champion else most
            bound[~self.certifier.bounds.others(decision)] = bound.max()
            if choice := self._most_telling(coefficients[int(bound.argmin())], askable):
                return choice
        return None

    def _most_telling(self, coefficients: Whole, askable: Mask) -> Choice | None:
        """Return the pair whose open answers could change most between two decisions, if any could."""
        telling = np.abs(coefficients) * self.state.open * askable
        return self.state.edges_of(int(telling.argmax())) if telling.max(initial=0) > 0 else None


class SeatedMethod(ListedMethod):
    """Whom to back, what is needed, and what to ask: by the oracle, without a list."""

    def __init__(self, state: PanelState, model: Model, criterion: Criterion) -> None:
        self.state, self.model = state, model
        self._decisions = decisions_of(state.graph)
        bounds = (CondorcetBounds if criterion == "condorcet" else BordaBounds)(state)
        self.certifier: Certifier = Certifier(bounds)  # type: ignore[assignment]

    def search(self, last: Indices | None) -> Verdict:
        """Find the decision to back: the best by the estimates, the last one while nothing beats it there."""
        return self.certifier.verdict(self._champion(last, SLOW_ROUNDS))

    def last_verdict(self, champion: Indices) -> Verdict:
        """Look longer for a decision with a small certain shortfall."""
        return surest(map(self.certifier.verdict, (champion, self._champion(champion, LAST_ROUNDS))))

    def _champion(self, last: Indices | None, rounds: int) -> Indices:
        ahead, edges = self._ahead, self.state.graph.edges
        graph, reply = self.state.graph, partial(self._decisions.one, exact=False)
        if isinstance(self.certifier.bounds, BordaBounds):
            return reply(graph.leads(ahead, self.certifier.bounds.shares.astype(np.float64)))
        last = reply(np.zeros(edges)) if last is None else last

        def facing(decision: Indices) -> Vector:
            return -graph.leads(ahead, graph.uses(decision).astype(np.float64))

        return least_beaten(facing, reply, last, rounds)

    def plan(self, champion: Indices, pending_pairs: Vector) -> ListedPlan:
        """Collect answers for the champion against the decisions that could be ahead of it by most."""
        state = self.state
        trial, bounds = copy(state), copy(self.certifier.bounds)
        bounds.state = trial
        trial.ahead, trial.behind, trial.open = state.ahead.copy(), state.behind.copy(), state.open.copy()
        left = np.maximum(state.open - pending_pairs, 0).astype(np.int64)
        per_answer = float(np.median(state.weight))
        answers, for_first = np.zeros(state.pairs, dtype=np.intp), np.ones(state.pairs, dtype=np.bool_)
        for _ in range(RIVALS):
            bound = bounds.least(champion).astype(np.float64)
            rival = self._decisions.one(-bound, exact=False)
            behind = float(bound[champion].sum() - bound[rival].sum())
            if behind <= 0:
                break
            worth = self._worth(champion, rival).astype(np.float64)
            telling = np.where(left > 0, np.abs(worth), 0.0)
            for pair in np.argsort(-telling, kind="stable").tolist():
                if behind <= 0 or telling[pair] == 0:
                    break
                count = min(int(np.ceil(behind / (2 * telling[pair]))), int(left[pair]))
                for_first[pair] = worth[pair] > 0
                (trial.ahead if for_first[pair] else trial.behind)[pair] += count
                trial.open[pair] -= count
                left[pair] -= count
                behind -= 2 * telling[pair] * count
                answers[pair] += int(np.ceil(count / per_answer - NOTHING))
        return ListedPlan(champion, answers, for_first)

    def _worth(self, one: Indices, other: Indices) -> Whole:
        """Return c of every pair: what an answer for its first edge adds to the lead of one over another."""
        uses, bounds = self.state.graph.uses, self.certifier.bounds
        shares = bounds.shares if isinstance(bounds, BordaBounds) else None
        coefficients: Whole = worth(self.state, uses(one), uses(other), shares) * self.state.factor
        return coefficients

    def refute(self, plan: ListedPlan, askable: Mask) -> Choice | None:
        """Ask about the decision that keeps the champion from being certain."""
        met = self.certifier.most_dangerous(plan.champion)
        return None if met is None else self._most_telling(self._worth(plan.champion, met.rival), askable)
