"""Where a panel stands: a function of the record, computed when it is read.

The record says whom the design backed last (``backed``), so that a line-up that was certain stays the result
as long as it is certain, and nothing is searched for twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal

import numpy as np

from duelmatch.errors import ProblemError
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.panel.proceedings import Backing, Proceedings
from duelmatch.explorers.panel.projection import MANY, Plan, Projection
from duelmatch.explorers.panel.verdict import Verdict
from duelmatch.explorers.result import Progress, Result
from duelmatch.graph import Indices, Mask
from duelmatch.preferences import Criterion

LISTED_WINNERS = 100
"""Up to so many possible winners are named in the progress."""

Until = Literal["unbeaten", "decided"]

Answers = tuple[int, int, int]
"""The edge that answers would favour, the other one, and how many."""


class Standing:
    """What is certain, who is backed, and what is still needed."""

    def __init__(
        self,
        proceedings: Proceedings,
        criterion: Criterion,
        consistent: bool,
        questions_each: int | None,
        until: Until,
    ) -> None:
        self._proceedings, self._until = proceedings, until
        self._project = partial(Projection, proceedings, criterion, consistent, questions_each)
        self._assumes_consistency = consistent and criterion == "borda"
        self._projection: Projection | None = None
        self._backed: Verdict | None = None
        self._certain: tuple[Verdict, bool] | None = None
        self._plan: Plan | None = None

    def changed(self) -> None:
        """Forget what may not be so any more after an event."""
        self._certain = self._plan = None
        if not self._proceedings.is_settled:
            self._backed = None

    @property
    def now(self) -> Projection:
        """The record in numbers, brought up to date."""
        if self._projection is None or self._proceedings.has_changed:
            changes = self._proceedings.take_changes()
            if self._projection is None or changes is None or len(changes) > MANY:
                self._projection = self._project()
            else:
                self._projection.work_in(changes)
        return self._projection

    @property
    def backing(self) -> Backing:
        """Whom to back now, by name."""
        backed, certifier = self._look(), self.now.method.certifier
        return Backing(
            self._named(backed.matching),
            None if certifier.possible is None else self._named(certifier.possible),
            backed.status,
            self.now.duels if certifier.gave_up else self._proceedings.backing.gave_up,
        )

    @property
    def done(self) -> bool:
        """Whether the outcome is certain, or nobody can be asked anything more."""
        return self._look_again()[1]

    @property
    def verdict(self) -> Verdict:
        """What is certain of the leader, in edges and whole numbers."""
        return self._look_again()[0]

    @property
    def plan(self) -> Plan:
        """What is needed to make the leader certain."""
        if self._plan is None:
            self._plan = self.now.method.plan(self.verdict.matching, self.now.pending)
        return self._plan

    def result(self) -> Result:
        """Return the result; before the run is over, the line-up backed, and how far it may fall short."""
        return self._result(self.verdict)

    def last_result(self) -> Result:
        """Return the result if nobody is asked any more: of what is not certain, what falls short least."""
        verdict, done = self._look_again()
        return self._result(verdict if done or verdict.status else self._last(verdict))

    def _result(self, verdict: Verdict) -> Result:
        now = self.now
        assumed = self._assumes_consistency or now.state.inferred
        return Result(
            "panel",
            verdict.status or "budget_spent",
            now.problem.matching(verdict.matching.tolist()),
            now.duels,
            0.0,
            assuming=(Assumption.CONSISTENT_JUDGES,) if assumed else (),
            shortfall=self._per_position(verdict),
        )

    def progress(self) -> Progress:
        """Return all there is to say; looking at thousands of line-ups takes a while."""
        verdict, now = self.verdict, self.now
        outlook = now.method.certifier.outlook(verdict.shortfall)
        rows = outlook.winners
        accepted, rejected = self._decided_edges(verdict, outlook.results)
        planned = [] if verdict.status else now.method.needed(self.plan)
        fewest = sum(answers for *_, answers in planned)
        expected = round(fewest / now.method.expected_share(self.plan)) if fewest else 0
        shortfall = self._per_position(verdict)
        return Progress(
            now.duels,
            now.problem.matching(verdict.matching.tolist()),
            now.problem.marked(accepted),
            now.problem.marked(rejected),
            now.problem.marked(~(accepted | rejected)),
            shortfall,
            expected,
            None,
            None if rows is None else len(rows),
            ()
            if rows is None or len(rows) > LISTED_WINNERS
            else tuple(map(now.problem.matching, rows.tolist())),
            shortfall,
            fewest,
            int(now.state.unknown.sum()),
            self._open_answers(),
            tuple(self._needed_named(*each) for each in self._that_settle(planned)),
        )

    def _that_settle(self, planned: list[Answers]) -> list[Answers]:
        """Return the answers of a plan if it can succeed: none if the leader has lost already.

        None either where a position has several seats: an answer about two who both have a seat speaks for
        the leader against one rival, and against it for another.
        """
        graph, unknown = self.now.problem.graph, self.now.state.unknown.sum(axis=0)
        number_of = graph.pair_table.number_of
        can_be = all(count <= unknown[number_of(min(ends), max(ends))] for *ends, count in planned)
        return planned if can_be and graph.places == graph.positions else []

    def _needed_named(self, better: int, worse: int, answers: int) -> tuple[str, str, str, int]:
        edges = self.now.problem.edges
        (one, position), (other, _) = edges[better], edges[worse]
        return position, one, other, answers

    def _open_answers(self) -> tuple[tuple[str, int], ...]:
        """Return how many opinions of each judge are open, of those who have any, the most first."""
        rows = zip(self.now.voters, self.now.state.unknown.sum(axis=1).tolist(), strict=True)
        return tuple(sorted(((voter, number) for voter, number in rows if number), key=lambda row: -row[1]))

    def _decided_edges(self, verdict: Verdict, possible: Indices | None) -> tuple[Mask, Mask]:
        """Mark the edges that are in every possible result, and those that are in none."""
        edges = self.now.problem.graph.edges
        if verdict.status == "decided" or verdict.status == "no_winner":
            possible = verdict.matching[None, :]  # alone, or the least beaten
        if possible is None or not len(possible):
            return np.zeros(edges, dtype=np.bool_), np.zeros(edges, dtype=np.bool_)
        used = np.bincount(possible.ravel(), minlength=edges)
        return used == len(possible), used == 0

    def _per_position(self, verdict: Verdict) -> float:
        graph, unit = self.now.problem.graph, self.now.method.certifier.bounds.unit
        return float(verdict.shortfall / unit / graph.positions)

    def _look(self) -> Verdict:
        """Return what is certain of the line-up that is to be backed.

        One that was backed with certainty is looked at first; the search goes on only if it is not certain
        any more. If the design has backed a line-up since the last answer, nothing is searched for.
        """
        if self._backed is None:
            method, last = self.now.method, self._proceedings.backing
            champion, is_settled = self._edges(last.champion), self._proceedings.is_settled
            method.certifier.possible = self._edges(last.rival)
            method.certifier.may_search = last.gave_up is None or self.now.duels >= 2 * last.gave_up
            method.certifier.gave_up = False
            if champion is not None and (is_settled or last.status is not None):
                self._backed = method.certifier.verdict(champion)
            if self._backed is None or (self._backed.status is None and not is_settled):
                self._backed = method.search(champion)
        return self._backed

    def _look_again(self) -> tuple[Verdict, bool]:
        """Return what is certain, and whether there is nothing more to ask."""
        if self._certain is None:
            verdict = self._look()
            done = verdict.status is not None
            if self._until == "decided" and verdict.status == "unbeaten":
                done = not self.now.method.certifier.may_beat_all(verdict.matching)
            if not done and not self._proceedings.open and not self.now.is_anyone_askable:
                done = True
                if verdict.status is None:
                    verdict = self._last(verdict)
            self._certain = verdict, done
        return self._certain

    def _last(self, verdict: Verdict) -> Verdict:
        """Look longer for a line-up that falls short less, where nobody is asked any more."""
        certifier = self.now.method.certifier
        before = certifier.possible, certifier.gave_up, certifier.may_search
        certifier.may_search = True
        last: Verdict = self.now.method.last_verdict(verdict.matching)
        certifier.possible, certifier.gave_up, certifier.may_search = before  # as the record has it
        return last

    def _edges(self, lineup: Mapping[str, str] | None) -> Indices | None:
        """Return a named line-up in edges; None if it is not one of this problem any more."""
        try:
            return None if lineup is None else self.now.problem.edge_numbers(lineup)
        except ProblemError:
            return None

    def _named(self, matching: Indices) -> dict[str, str]:
        return dict(self.now.problem.matching(matching.tolist()))
