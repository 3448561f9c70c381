"""What an event leads to, worked out in a copy before it happens: the same as without."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable

import numpy as np
import pytest

import duelmatch as dm
from duelmatch.errors import TooLargeError
from duelmatch.explorers.ballots import conclusions
from duelmatch.explorers.ballots.evidence import Evidence
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.ballots.tables import TabledEvidence

SMALL = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor"])
LARGE = dm.Problem.complete([f"c{number}" for number in range(9)], [f"p{number}" for number in range(8)])
"""Has more line-ups than are listed."""

CHANGES: dict[str, Callable[[BallotExplorer], None]] = {
    "struck": lambda run: run.strike("v3"),
    "reinstated": lambda run: run.reinstate("v1"),
    "corrected": lambda run: run.strike_answer(next(run.given())[0]),
    "dropped": lambda run: run.drop(run.problem.candidates[0]),
    "added": lambda run: run.add("late", run.problem.positions[:1]),
}


class Expected(Exception):  # noqa: N818 (a signal)
    """Raised before an event that was not worked out."""


def vote(run: BallotExplorer, voters: range, chance: random.Random) -> None:
    for voter in voters:
        for question in run.ask(4, f"v{voter}"):
            run.tell(question, chance.choice(question.candidates))


def begun(problem: dm.Problem, criterion: str) -> BallotExplorer:
    run = BallotExplorer(problem, criterion, 1e-6, 1, ballot_size=4)  # type: ignore[arg-type]
    vote(run, range(20), random.Random(1))
    run.strike("v1")
    return run


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize(
    ("problem", "criterion"),
    [(SMALL, "condorcet"), (SMALL, "borda"), (LARGE, "condorcet")],
    ids=["condorcet", "borda", "tabled"],
)
def test_a_change_that_was_worked_out_is_the_same_change(
    kind: str, problem: dm.Problem, criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if others have voted since; only what came since is then settled."""
    twin = begun(problem, criterion)
    vote(twin, range(20, 24), random.Random(2))
    CHANGES[kind](twin)
    expected = twin.result, twin.progress, twin.conclusions.assumptions, twin.conclusions.possible_edges

    monkeypatch.setattr(conclusions, "AT_ONCE", 0)
    run, events = begun(problem, criterion), []

    def ahead(event: object) -> None:
        events.append(event)
        raise Expected

    run.ahead = ahead
    with pytest.raises(Expected):
        CHANGES[kind](run)
    assert [event["kind"] for event in events] == [kind]
    run.ahead = None
    copy = pickle.loads(pickle.dumps(run))
    found = pickle.loads(pickle.dumps(copy.recount(events[0])))
    run.ahead = ahead
    vote(run, range(20, 24), random.Random(2))
    run.keep(found)
    settled = []
    for evidence in (Evidence, TabledEvidence):
        settle = evidence.settle
        monkeypatch.setattr(
            evidence,
            "settle",
            lambda self, *rest, settle=settle: (settled.append(rest[1].number), settle(self, *rest)),
        )
    CHANGES[kind](run)
    *same, edges = run.result, run.progress, run.conclusions.assumptions, run.conclusions.possible_edges
    assert same == list(expected[:-1])
    assert np.array_equal(edges, expected[-1])
    assert all(number >= 20 for number in settled)
    for one, other in zip(run.conclusions.evidence, twin.conclusions.evidence, strict=True):
        assert (one.count, one.settled) == (other.count, other.settled)
        assert one.contest is run.state.contest


def test_a_late_candidate_who_cannot_be_counted_is_refused_and_changes_nothing() -> None:
    """Before, half of it was noted, and the study could not be read any more."""
    large = dm.Problem.complete(
        [f"c{number}" for number in range(60)], [f"p{number}" for number in range(40)]
    )
    run = BallotExplorer(large, "borda", 0.05, 1)
    vote(run, range(2), random.Random(1))
    event = {"kind": "added", "candidate": "late", "positions": ["p0", "p1"]}
    assert run.takes_long(event), "who is complete now is not then"
    before = run.result, run.progress, run.problem
    with pytest.raises(TooLargeError, match="reference='candidates'"):
        run.add("late", ["p0", "p1"])
    assert (run.result, run.progress, run.problem) == before
    vote(run, range(2, 4), random.Random(1))
    run.strike("v0")
    assert run.progress.duels == 16


def test_what_was_overtaken_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conclusions, "AT_ONCE", 0)
    run = begun(SMALL, "borda")
    found = pickle.loads(pickle.dumps(run)).recount({"kind": "dropped", "candidate": "ann"})
    run.strike("v5")
    run.keep(found)
    asked: list[object] = []
    run.ahead = asked.append
    run.drop("ann")
    assert asked == [{"kind": "dropped", "candidate": "ann"}], "it was to be worked out anew"
    twin = begun(SMALL, "borda")
    twin.strike("v5")
    twin.drop("ann")
    assert (run.result, run.progress) == (twin.result, twin.progress)
