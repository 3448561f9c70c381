"""The parts of a panel's run that depend on the criterion: whom to back, what is needed, what to ask.

Everything here is a function of the state, the model and the arguments; nothing is remembered, except which
line-up the certifier has met that may be less beaten (``certifier.possible``), and that is in the record.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from duelmatch.explorers.panel.bounds import BordaBounds, CondorcetBounds
from duelmatch.explorers.panel.choice import Asking, Choice, choose_borda, choose_condorcet
from duelmatch.explorers.panel.model import Model, expectations
from duelmatch.explorers.panel.plan import (
    NOTHING,
    ROUNDS,
    SLOW_ROUNDS,
    QuestionPlan,
    expected_rewards,
    least_beaten,
    least_beaten_met,
    outlooks,
    question_plan,
)
from duelmatch.explorers.panel.state import PanelState
from duelmatch.explorers.panel.verdict import Certifier, Verdict, surest
from duelmatch.graph import Indices, Mask, Vector
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.minimax import worst_defeat

ROUNDS_TIMES_EDGES = 30_000
"""So that the search takes a few milliseconds."""

LAST_ROUNDS = 3000
"""Of fictitious play, where nothing more can be asked and the line-ups are too many to look at."""


class _Method:
    """What both have in common."""

    def __init__(self, state: PanelState, model: Model) -> None:
        self.state, self.model = state, model

    def needed(self, plan: QuestionPlan) -> list[tuple[int, int, int]]:
        """Return the answers of a plan: the edge they would favour, the other one, and how many.

        What follows from them by consistency can save some.
        """
        state, edges = self.state, np.flatnonzero(plan.need > 0)
        own = plan.champion[state.graph.edge_position[edges]]
        total = state.total[state.graph.pair_table.number(own, edges)]
        per_answer = 2.0 * np.median(state.weight) / np.maximum(total, 1)
        answers = np.ceil(plan.need[edges] / per_answer - NOTHING).astype(np.int64)
        return list(zip(own.tolist(), edges.tolist(), answers.tolist(), strict=True))

    def expected_share(self, plan: QuestionPlan) -> float:
        """Return the share of the answers needed that will be as the plan wants them, estimated."""
        share = plan.share[plan.need > 0]
        return float(share.mean()) if len(share) else 1.0


class CondorcetMethod(_Method):
    """Head to head."""

    def __init__(self, state: PanelState, model: Model) -> None:
        super().__init__(state, model)
        self.bounds = CondorcetBounds(state)
        self.certifier = Certifier(self.bounds)
        self._present = state.graph.edge_at >= 0

    def search(self, last: Indices | None) -> Verdict:
        """Find the line-up to back: the least beaten by the estimates, unbeaten if one may be."""
        graph = self.state.graph
        if last is None:
            last = graph.some_matching() if graph.one_to_one else decisions_of(graph).some()
        assert last is not None, "a Problem has a decision"
        rounds = min(ROUNDS, ROUNDS_TIMES_EDGES // graph.edges + 1)
        return self.certifier.prefer_unbeaten(self._champion(last, rounds))

    def last_verdict(self, champion: Indices) -> Verdict:
        """Look at every line-up, within limits."""
        safest = self.certifier.safest()
        if safest is not None:
            return self.certifier.verdict(safest[0])
        return surest(map(self.certifier.verdict, (self._champion(champion, LAST_ROUNDS), champion)))

    def _champion(self, last: Indices, rounds: int) -> Indices:
        """Return the least beaten line-up met by the estimates."""
        model, graph = self.model, self.state.graph
        if graph.conditions is None:
            found: Indices = least_beaten_met(
                model.tables(), last, graph.edge_candidate, graph.edge_at, self._present, rounds
            )
            return found
        decisions, ahead = decisions_of(graph), expectations(model)[1] * graph.weight[self.state.position]

        def facing(decision: Indices) -> Vector:
            over, (others, pairs, is_first) = np.zeros(graph.edges), self._met(decision)
            over[others] = np.where(is_first, ahead[pairs], -ahead[pairs])
            return over

        most = 10 * ROUNDS_TIMES_EDGES // graph.edges + 1 if decisions.fast else SLOW_ROUNDS
        return least_beaten(facing, partial(decisions.one, exact=False), last, min(rounds, most))

    def _met(self, champion: Indices) -> tuple[Indices, Indices, Mask]:
        """Return the edges a champion meets, the pairs in which it does, and where its own edge is first."""
        own, table = champion[self.state.graph.edge_position], self.state.graph.pair_table
        others = np.flatnonzero(own != np.arange(len(own)))
        return others, table.number(own[others], others), own[others] < others

    def plan(self, champion: Indices, pending_pairs: Vector) -> QuestionPlan:
        """Set a goal for each pair with the champion; ``pending`` answers count as expected."""
        graph, (others, pairs, _) = self.state.graph, self._met(champion)
        pending, share, ahead, deviation, least = np.zeros((5, graph.edges))
        pending[others] = pending_pairs[pairs] / np.maximum(self.state.total[pairs], 1)
        outlooks(self.model.tables(), champion, pending, share, ahead, deviation, least)
        return question_plan(graph, champion, share, ahead, deviation, least)

    def choose(self, plan: QuestionPlan, who: Asking) -> Choice | None:
        """Ask about the champion and a rival."""
        return choose_condorcet(plan, self.model, who)

    def refute(self, plan: QuestionPlan, askable: Mask) -> Choice | None:
        """Ask about the line-ups that keep the champion from being certain."""
        graph = self.state.graph
        rival, possible = self.certifier.most_dangerous(plan.champion), self.certifier.possible
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
        self.certifier = Certifier(self.bounds)
        self._shares = self.bounds.parts

    def search(self, last: Indices | None) -> Verdict:
        """Back the line-up whose score is best under the estimates."""
        rewards, graph = self._estimates()[0], self.state.graph
        return self.certifier.verdict(decisions_of(graph).one(rewards * graph.edge_share, exact=False))

    def _estimates(self) -> tuple[Vector, Vector]:
        """Return the expected rewards, with their variances, in shares."""
        rewards, variances = np.zeros((2, self.state.graph.edges))
        expected_rewards(self.model.tables(), self._shares, rewards, variances)
        return rewards, variances

    def last_verdict(self, champion: Indices) -> Verdict:
        """Take the line-up that is best in the middle of what is possible, or the one backed."""
        middle = self.bounds.rewards(1) + self.bounds.rewards(-1)
        matching = decisions_of(self.state.graph).one(middle.astype(np.float64), exact=False)
        return surest(map(self.certifier.verdict, (matching, champion)))

    def plan(self, champion: Indices, pending_pairs: Vector) -> QuestionPlan:
        """Set a goal for each edge's reward."""
        graph, bounds = self.state.graph, self.bounds
        rewards, variances = self._estimates()
        least = bounds.least(champion).astype(np.float64) / float(bounds.unit / 2)
        least /= graph.edge_share * graph.positions / graph.total_weight
        own = champion[graph.edge_position]
        deviation = np.sqrt(variances + variances[own])
        even = np.full(graph.edges, 0.5)
        return question_plan(graph, champion, even, rewards[own] - rewards, deviation, least)

    def choose(self, plan: QuestionPlan, who: Asking) -> Choice | None:
        """Ask about any two contenders."""
        return choose_borda(plan, self._shares, self.model, who)

    def refute(self, plan: QuestionPlan, askable: Mask) -> Choice | None:
        """There is nothing better than any pair."""
        return None


def any_pair(state: PanelState, askable: Mask) -> Choice:
    """Return the pair with the most open answers."""
    return state.edges_of(int(np.where(askable, state.open, -1).argmax()))
