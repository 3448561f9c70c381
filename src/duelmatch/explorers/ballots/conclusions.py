"""What follows from a state: who may still win, what is proven, and how far it is.

The evidence is a function of the log and of a count (:mod:`duelmatch.explorers.ballots.evidence`). It is
brought up to date when it is read, not when an answer comes; the result is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Literal

import numpy as np

from duelmatch.errors import TooLargeError
from duelmatch.explorers.ballots.bets import Contest
from duelmatch.explorers.ballots.evidence import Evidence, settle_finished
from duelmatch.explorers.ballots.records import EVERYBODY, Count, Event
from duelmatch.explorers.ballots.state import CrowdState
from duelmatch.explorers.ballots.tables import TabledEvidence
from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.engine import Outcome
from duelmatch.explorers.frugal.search import least_beaten_estimate
from duelmatch.explorers.result import Progress
from duelmatch.graph import Graph, Indices, Mask
from duelmatch.matchings.counted import is_quick
from duelmatch.matchings.decisions import decisions_of
from duelmatch.preferences import Criterion
from duelmatch.problem import Problem

MOST_LISTED = 10_000
"""Rivals are listed one by one from here on."""

FEW = 100
"""A report lists the possible winners if there are no more than this."""

RECOUNTED = frozenset({"struck", "reinstated", "corrected", "dropped", "added"})
"""The kinds of events that change who counts, or who stands."""


AT_ONCE = 300_000
"""Ballots times rivals that settle within some tens of milliseconds; anything larger is worked out ahead."""


@dataclass(frozen=True, slots=True, eq=False)
class Recount:
    """What an event leads to that changes who counts or who stands, worked out before it happens.

    ``changes`` is how many such events there were before. ``contest`` and ``rows`` are those of after it if
    it changes who stands. The evidence is of the ballots that were settled when this was worked out; they
    stay as they are, and those settled since are few.
    """

    event: Event
    changes: int
    contest: Contest | None
    rows: Indices | None
    evidence: dict[int, Evidence | TabledEvidence]
    """By the place of its count among those that matter after it."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a verdict needs."""

    criterion: Criterion
    delta: float
    epsilon: float | None
    assume_winner: bool
    counting: Literal["least", "last"]

    @property
    def forget(self) -> bool:
        """Whether a matching that is not the winner is of no further interest, as there is a winner."""
        return self.assume_winner or self.criterion == "borda"

    @property
    def proves(self) -> bool:
        """Whether there are proofs for a champion, besides what is ruled out."""
        return self.epsilon is not None or not self.forget

    @property
    def threshold(self) -> float:
        """The log wealth that rules a rival out."""
        return log((2 if self.proves else 1) / self.delta)

    def slack(self, problem: Problem) -> float:
        """By how much a matching may be worse than the winner, over all positions."""
        return 0.0 if self.epsilon is None else self.epsilon * problem.graph.positions


def check_listed(graph: Graph) -> None:
    """Refuse several seats where rivals cannot be listed: their tables would take one edge per position.

    :raises TooLargeError: if there are more than MOST_LISTED decisions.
    """
    if graph.places > graph.positions and decisions_of(graph).listed(None, MOST_LISTED) is None:
        raise TooLargeError(
            f"Where a position has several seats, ballots decide between {MOST_LISTED:,} decisions at most, "
            "and this problem has more. Leave out candidates that cannot win, or edges."
        )


class Conclusions:
    """What follows from a state by some rules, for every count that matters."""

    def __init__(self, state: CrowdState, rules: Rules) -> None:
        self.threshold = rules.threshold
        self.slack = rules.slack(state.problem)
        self.forget = rules.forget
        self.evidence: list[Evidence | TabledEvidence] = []
        """One for each count that matters, the present one last."""
        self.rows: Indices | None = None
        """Everybody who could win before anything was asked; None if they are too many to list."""
        self.possible: Indices | None = None
        self.possible_edges: Mask = np.zeros(0, dtype=np.bool_)
        self.outcome: Outcome | None = None
        self._state = state
        self._rules = rules
        self._contest: Contest | None = None
        self._seen: tuple[int, int] | None = None
        self.update()

    @property
    def present(self) -> Evidence | TabledEvidence:
        """The evidence by the present count."""
        return self.evidence[-1]

    def update(self) -> None:
        """Take in what the state has come to: nothing new, most of the time."""
        state, before = self._state, self.evidence
        if self._seen == (state.changes, state.settled):
            return
        if self._contest is not state.contest:
            self._contest, before = state.contest, []
            self.rows = state.contest.rivals(MOST_LISTED)
        counts = self._counts
        found = [next((each for each in before if each.count is count), None) for count in counts]
        self.evidence = [each or self._begin(count) for each, count in zip(found, counts, strict=True)]
        changed = self._seen is None or found != before
        changed = changed or any(each.settled < state.settled for each in self.evidence)
        for each in self.evidence:
            settle_finished(each, state.designs, state.ballots, state.returned)
        if changed or not before:
            self._review()
        self._seen = state.changes, state.settled

    @property
    def _counts(self) -> list[Count]:
        """The counts that matter."""
        return self._state.counts if self._rules.counting == "least" else self._state.counts[-1:]

    def takes_long(self, event: Event) -> bool:
        """Whether it takes more than a moment to count anew what an event changes."""
        state, kind = self._state, event["kind"]
        if kind not in RECOUNTED or (kind == "corrected" and event["answer"] and not event["clerical"]):
            return False
        width = state.problem.graph.pairs if self.rows is None else len(self.rows)
        stands = kind in ("dropped", "added")
        if state.settled * width * (len(self.evidence) if stands else 1) > AT_ONCE:
            return True
        graph = state.problem.graph
        counts = self._rules.criterion == "borda" and state.reference in ("decisions", "sampled")
        return stands and (counts or not graph.one_to_one) and not is_quick(graph, kind == "added")

    def recount(self, event: Event) -> Recount:
        """Note an event, in a copy of the run, and work out what follows from it."""
        state = self._state
        changes, settled, contest = state.changes, state.settled, state.contest
        state.note(event)
        changed, known = state.contest is not contest, [each.count for each in self.evidence]
        if changed:
            known, self.rows = [], state.contest.rivals(MOST_LISTED)
        found: dict[int, Evidence | TabledEvidence] = {}
        for place, count in enumerate(self._counts):
            if not any(count is each for each in known):
                found[place] = self._begin(count)
                settle_finished(found[place], state.designs, state.ballots, state.returned, settled)
        return Recount(event, changes, state.contest if changed else None, self.rows, found)

    def take(self, found: Recount) -> None:
        """Go on from what was worked out of the event that was just noted."""
        contest = self._state.contest
        if found.contest is not None:
            self._contest, self.rows, self.evidence = contest, found.rows, []
        for place, each in found.evidence.items():
            for part in (each, each.as_listed):
                if part is not None:
                    part.contest, part.count = contest, self._counts[place]
            self.evidence = [*self.evidence, each]
        self._seen = None

    def _begin(self, count: Count) -> Evidence | TabledEvidence:
        contest = self._state.contest
        if self.rows is None:
            return TabledEvidence(contest, self.threshold, MOST_LISTED, count, self.slack, self.forget)
        return Evidence(contest, self.rows, count, self.slack, self.forget)

    def _review(self) -> None:
        """Say what is possible and what is proven now."""
        lists = [found.possible_rows(self.threshold) for found in self.evidence]
        listed = [rows for rows in lists if rows is not None]
        edges = np.zeros(self._state.problem.graph.edges, dtype=np.bool_)
        self.possible = None
        if len(listed) == len(lists):
            self.possible = listed[0] if len(listed) == 1 else np.unique(np.concatenate(listed), axis=0)
        for found, rows in zip(self.evidence, lists, strict=True):
            edges[found.alive if rows is None and isinstance(found, TabledEvidence) else rows] = True
        self.possible_edges = edges
        self.outcome = self._concluded()

    def _concluded(self) -> Outcome | None:
        edges, problem = self.possible_edges, self._state.problem
        if not edges.any():
            if self._rules.criterion == "borda":
                return Outcome("certified", self._state.designs[-1].champion)  # somebody has the best score
            state = self._state
            least_beaten = least_beaten_estimate(state.tally, state.advantages()[0], state.contest.usable)
            return Outcome("no_winner", least_beaten)
        alone = int(self._state.contest.usable.sum()) == problem.graph.places
        one_left = (problem.graph.per_position(edges) == problem.graph.seats).all()
        if one_left and (self.forget or alone):
            return Outcome("certified", np.flatnonzero(edges))
        proof_for = self.present.proof_for
        stands = proof_for is not None and self._state.contest.staying[proof_for].all()
        if stands and all(each.proven(self.threshold, self.proof_threshold(each)) for each in self.evidence):
            return Outcome("within_epsilon" if self.slack else "certified", proof_for)
        return None

    def proof_threshold(self, found: Evidence | TabledEvidence) -> float:
        """Return the log wealth that the proof in progress needs: the i-th has one part in i (i + 1)."""
        return self.threshold + log(found.proof_number * (found.proof_number + 1))

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the guarantee takes for granted."""
        taken = [Assumption.INDEPENDENT_VOTERS]
        if self._rules.criterion == "condorcet" and self.forget:
            taken.append(Assumption.CONDORCET_WINNER)
        if self._state.contest.reference.eta > 0:
            taken.append(Assumption.MIXED_SAMPLER)
        if self._state.has_heirs:
            taken.append(Assumption.SILENCE_BLIND)
        if len(self.evidence) > 1:
            taken.append(Assumption.ONE_COUNT_BLIND)
        elif self.present.count != EVERYBODY:
            taken.append(Assumption.LAST_COUNT_BLIND)
        if self._state.dropped:
            taken.append(Assumption.WITHDRAWALS_BLIND)
        if self._state.late_candidates:
            taken.append(Assumption.ADMISSIONS_BLIND)
        return tuple(taken)

    @property
    def leader(self) -> Indices | None:
        """Who is proven to win, or else is backed now; None before anybody is."""
        if self.outcome is not None:
            return self.outcome.matching
        last = self._state.designs[-1].champion if self._state.designs else None
        return last if last is not None and self._state.contest.staying[last].all() else None

    @property
    def progress(self) -> Progress:
        """Where the study stands."""
        rows, edges, leader, problem = self.possible, self.possible_edges, self.leader, self._state.problem
        accepted = problem.graph.without_choice(edges)
        known = 0.0 if leader is None else self._known_of(leader)
        return Progress(
            self._state.answers,
            None if leader is None else problem.matching(leader.tolist()),
            problem.marked(accepted),
            problem.marked(~edges),
            problem.marked(edges & ~accepted),
            0.0 if self.outcome else 1 - known / self.threshold,
            0 if self.outcome else None,
            exp(-known),
            None if rows is None else len(rows),
            () if rows is None or len(rows) > FEW else tuple(map(problem.matching, rows.tolist())),
            waiting_for=() if self.outcome else self._state.waiting_for(),
        )

    def _known_of(self, leader: Indices) -> float:
        """Return the log evidence that the leader is the winner, between 0 and the threshold."""
        least = np.inf
        if self.outcome is not None and self.outcome.status == "no_winner":
            return 0.0
        for found in self.evidence:
            inner = found.as_listed
            if inner is None:
                return 0.0
            others = (inner.rows != leader).any(axis=1)
            if self.forget:
                least = min(least, inner.base.peak[others].min(initial=np.inf))
            elif inner.proof_for is not None and np.array_equal(inner.proof_for, leader):
                missing = inner.exact.peak[others].min(initial=np.inf)
                least = min(least, missing - log(inner.proof_number * (inner.proof_number + 1)))
            else:
                return 0.0
        return float(min(self.threshold, max(0.0, least)))
