"""The parts of a panel's run that depend on the criterion: whom to back, what is needed, what to ask.

Everything here is a function of the state, the model and the arguments; nothing is remembered, except by the
judge which line-up it has met that may be less beaten (``judge.possible``), and that is in the record.
"""

from __future__ import annotations

import numpy as np

from duelmatch.explorers.panel.bounds import BordaBounds, CondorcetBounds
from duelmatch.explorers.panel.choice import Choice, choose_borda, choose_condorcet
from duelmatch.explorers.panel.model import Model
from duelmatch.explorers.panel.plan import (
    QuestionPlan,
    answers_at_best,
    borda_estimates,
    borda_plan,
    condorcet_champion,
    condorcet_plan,
)
from duelmatch.explorers.panel.state import PanelState
from duelmatch.explorers.panel.verdict import Judge, Verdict, surest
from duelmatch.graph import Indices, Mask, Vector
from duelmatch.matchings.assignment import decisions_of
from duelmatch.matchings.minimax import worst_defeat

LAST_ROUNDS = 3000
"""Of fictitious play, where nothing more can be asked and the line-ups are too many to look at."""


class _Method:
    """What both have in common."""

    def __init__(self, state: PanelState, model: Model) -> None:
        self.state, self.model = state, model

    def needed(self, plan: QuestionPlan) -> list[tuple[int, int, int]]:
        """Return the answers of a plan: the edge they would favour, the other one, and how many."""
        return answers_at_best(plan, self.state)

    def expected_share(self, plan: QuestionPlan) -> float:
        """Return the share of the answers needed that will be as the plan wants them, estimated."""
        share = plan.share[plan.need > 0]
        return float(share.mean()) if len(share) else 1.0


class CondorcetMethod(_Method):
    """Head to head."""

    def __init__(self, state: PanelState, model: Model) -> None:
        super().__init__(state, model)
        self.bounds = CondorcetBounds(state)
        self.judge = Judge(self.bounds)
        self._present = state.graph.edge_at >= 0

    def search(self, last: Indices | None) -> Verdict:
        """Find the line-up to back: the least beaten by the estimates, unbeaten if one may be."""
        graph = self.state.graph
        if last is None:
            last = graph.some_matching() if graph.one_to_one else decisions_of(graph).some()
        assert last is not None, "a Problem has a decision"
        champion = condorcet_champion(self.model, last, self._present)
        return self.judge.prefer_unbeaten(champion)

    def last_verdict(self, champion: Indices) -> Verdict:
        """Look at every line-up, within limits."""
        safest = self.judge.safest()
        if safest is not None:
            return self.judge.verdict(safest[0])
        found = condorcet_champion(self.model, champion, self._present, LAST_ROUNDS)
        return surest(map(self.judge.verdict, (found, champion)))

    def plan(self, champion: Indices, pending_pairs: Vector) -> QuestionPlan:
        """Set a goal for each pair with the champion."""
        state, graph = self.state, self.state.graph
        own = champion[graph.edge_position]
        others = np.flatnonzero(own != np.arange(graph.edges))
        pairs = graph.pair_table.number(own[others], others)
        pending = np.zeros(graph.edges)
        pending[others] = pending_pairs[pairs] / np.maximum(state.total[pairs], 1)
        return condorcet_plan(self.model, champion, pending)

    def choose(
        self, plan: QuestionPlan, judge: int, askable: Mask, blocked: Mask, size: int, seen: Mask
    ) -> Choice | None:
        """Ask about the champion and a rival."""
        return choose_condorcet(plan, self.model, judge, askable, blocked, size, seen)

    def refute(self, plan: QuestionPlan, askable: Mask) -> Choice | None:
        """Ask about the line-ups that keep the champion from being certain."""
        graph = self.state.graph
        rival, possible = self.judge.most_dangerous(plan.champion), self.judge.possible
        lineups = [] if rival is None else [(plan.champion, rival.rival)]
        if possible is not None:
            ahead = self.bounds.matrix(1) + self.bounds.matrix(-1)  # by the known answers
            lineups.append((possible, worst_defeat(graph, ahead, possible)[1]))
        for one, other in lineups:
            differ = np.flatnonzero(one != other)
            pairs = graph.pair_table.number(one[differ], other[differ])
            if askable[pairs].any():
                return self.state.edges_of(int(pairs[askable[pairs].argmax()]))
        return None


class BordaMethod(_Method):
    """By reward."""

    def __init__(self, state: PanelState, model: Model) -> None:
        super().__init__(state, model)
        self.bounds = BordaBounds(state)
        self.judge = Judge(self.bounds)
        self._shares = self.bounds.parts

    def search(self, last: Indices | None) -> Verdict:
        """Back the line-up whose score is best under the estimates."""
        rewards, graph = borda_estimates(self.model, self._shares)[0], self.state.graph
        return self.judge.verdict(decisions_of(graph).one(rewards * graph.edge_share, exact=False))

    def last_verdict(self, champion: Indices) -> Verdict:
        """Take the line-up that is best in the middle of what is possible, or the one backed."""
        middle = self.bounds.rewards(1) + self.bounds.rewards(-1)
        matching = decisions_of(self.state.graph).one(middle.astype(np.float64), exact=False)
        return surest(map(self.judge.verdict, (matching, champion)))

    def plan(self, champion: Indices, pending_pairs: Vector) -> QuestionPlan:
        """Set a goal for each edge's reward."""
        graph, bounds = self.state.graph, self.bounds
        rewards, variances = borda_estimates(self.model, self._shares)
        least = bounds.least(champion).astype(np.float64) / float(bounds.unit / 2)
        least /= graph.edge_share * graph.positions / graph.total_weight
        return borda_plan(graph, champion, rewards, variances, least)

    def choose(
        self, plan: QuestionPlan, judge: int, askable: Mask, blocked: Mask, size: int, seen: Mask
    ) -> Choice | None:
        """Ask about any two contenders."""
        return choose_borda(plan, self._shares, self.model, judge, askable, blocked, size, seen)

    def refute(self, plan: QuestionPlan, askable: Mask) -> Choice | None:
        """There is nothing better than any pair."""
        return None


def any_pair(state: PanelState, askable: Mask) -> Choice:
    """Return the pair with the most open answers."""
    return state.edges_of(int(np.where(askable, state.open, -1).argmax()))
