"""A panel that fills several seats, where the decisions are too many to list.

The terms are those of :mod:`.listed`: what the open answers to a pair (x, y) can move is |worth| open, and
that is no sum over the edges of B where B has both of x and y, or A has. But it is at most one,

    Condorcet, two edges of A:  |B(y) - B(x)|  <=  (1 - B(x)) + (1 - B(y)),
    Borda:  |worth|  <=  |A(x) - B(x)| q(y) + |A(y) - B(y)| q(x),

with equality for B = A and for every B that differs from A in one seat of a position at most: the rivals that
come closest. So the least by which A is ahead of B is bounded by a sum over the edges of B, less the same for
A (:mod:`.bounds`), and the strongest rival is one question to the exact oracle. A verdict is as certain as
ever, exact once nothing is open, and may come some answers later than a list would have it.

That there is no winner is never said here: it takes comparing every two decisions.
"""

from __future__ import annotations

from copy import copy
from functools import partial

import numpy as np

from duelmatch.explorers.panel.bounds import BordaBounds, CondorcetBounds, Whole
from duelmatch.explorers.panel.choice import Choice
from duelmatch.explorers.panel.conditions import NOTHING, least_beaten
from duelmatch.explorers.panel.listed import ListedMethod, ListedPlan, worth
from duelmatch.explorers.panel.model import Model
from duelmatch.explorers.panel.state import PanelState
from duelmatch.explorers.panel.verdict import Certifier, Verdict, surest
from duelmatch.graph import Indices, Mask, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.preferences import Criterion

ROUNDS = 6
"""Of fictitious play for a new champion: a best reply takes milliseconds."""

LAST_ROUNDS = 200
"""Where nothing more can be asked."""

RIVALS = 6
"""A plan is made against so many of the decisions that could be ahead of the champion, strongest first."""


class SeatedMethod(ListedMethod):
    """Whom to back, what is needed, and what to ask: by the oracle, without a list."""

    def __init__(self, state: PanelState, model: Model, criterion: Criterion) -> None:
        self.state, self.model = state, model
        self._decisions = decisions_of(state.graph)
        bounds = (CondorcetBounds if criterion == "condorcet" else BordaBounds)(state)
        self.certifier: Certifier = Certifier(bounds)  # type: ignore[assignment]

    def search(self, last: Indices | None) -> Verdict:
        """Find the decision to back: the best by the estimates, the last one while nothing beats it there."""
        return self.certifier.verdict(self._champion(last, ROUNDS))

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
