"""A log is all there is to a study: whoever notes its events is in the same state, and asks the same."""

from __future__ import annotations

import json
import pickle
from random import Random

import numpy as np
import pytest

import duelmatch as dm
from cases import each
from duelmatch.errors import DuelError
from duelmatch.explorers.ballots import conclusions, state
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.ballots.records import KINDS
from explorers.ballots.messy import MessyCrowd

WIDE = dm.Problem.complete(["a", "b", "c", "d", "e"], ["s", "t"])
SETTINGS = {
    "condorcet": {"criterion": "condorcet", "ballot_size": 4},
    "no winner assumed": {"criterion": "condorcet", "ballot_size": 4, "assume_winner": False},
    "borda": {"criterion": "borda", "ballot_size": 3},
    "epsilon": {"criterion": "borda", "ballot_size": 5, "epsilon": 0.1},
    "any silence": {"criterion": "condorcet", "ballot_size": 4, "silence": "any"},
    "last count": {"criterion": "borda", "ballot_size": 4, "counting": "last"},
    "rankings": {"criterion": "borda", "ballot_size": 6, "question_size": 3},
}


def messy(seed: int, steps: int = 350, **settings):
    """A run with everything in it, and its events after a journey through JSON."""
    events: list[str] = []
    run = BallotExplorer(WIDE, delta=0.2, seed=seed, ballot_lease=60.0, **settings)
    run.record = lambda event: events.append(json.dumps(event))
    crowd = MessyCrowd(run, Random(seed), nameless=0.02)
    crowd.play(steps)
    return run, [json.loads(event) for event in events], crowd.now


def restored(events, seed, **settings):
    run = BallotExplorer(WIDE, delta=0.2, seed=seed, ballot_lease=60.0, **settings)
    for event in events:
        run.note(event)
    return run


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@each("seed", range(4))
def test_a_fresh_explorer_fed_with_the_events_goes_on_in_the_same_way(seed, settings):
    run, events, now = messy(seed, **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "UNPACKED", 0)  # packed as soon as it is settled, and not only after a while
        again = restored(events, seed, **settings)
    assert again.progress == run.progress
    assert again.result == run.result
    assert again.open_questions == run.open_questions
    given = {question: sorted_groups(groups) for question, groups in run.given()}
    assert {question: sorted_groups(groups) for question, groups in again.given()} == given
    assert run.state.counted == again.state.counted == len(given)
    for one, other in zip(again.counted_answers(), run.counted_answers(), strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(again.state.tally.wins, run.state.tally.wins)
    assert np.array_equal(again.state.tally.duels, run.state.tally.duels)
    for voter in ("v1", "v2", "new 1", "new 2", None):
        assert again.ask(3, voter=voter, now=now) == run.ask(3, voter=voter, now=now)


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_with_tables_too(monkeypatch, criterion):
    monkeypatch.setattr(conclusions, "MOST_LISTED", 5)
    for seed in range(3):
        run, events, now = messy(seed, criterion=criterion, ballot_size=4)
        again = restored(events, seed, criterion=criterion, ballot_size=4)
        assert again.progress == run.progress
        assert again.ask(3, voter="new", now=now) == run.ask(3, voter="new", now=now)


def test_what_is_kept_of_a_settled_ballot_is_a_few_bytes(monkeypatch):
    """A thousand bytes of objects for each vote filled the memory of a server."""
    monkeypatch.setattr(state, "UNPACKED", 5)
    run = BallotExplorer(WIDE, delta=1e-9, seed=0, ballot_size=10, question_lease=1e6)
    sizes = []
    for number in range(90):
        for question in run.ask(10, voter=f"{number:016}", now=float(number)):
            run.tell(question, question.first, now=float(number))
        if number in (29, 89):
            sizes.append((run.answers, len(pickle.dumps((run.state._packed, run.state.parts)))))
            assert len(run.state.told) <= 100
            assert len(run.state.deadlines) <= 20
    (few, before), (many, after) = sizes
    assert (after - before) / (many - few) < 40


def sorted_groups(groups):
    return [sorted(group) for group in groups]


def test_messy_runs_have_every_kind_of_event_in_them_and_are_the_same_if_packed_at_once(monkeypatch):
    seen: dict[str, int] = {}
    packed = 0
    for number, settings in enumerate(SETTINGS.values()):
        with monkeypatch.context() as patch:
            patch.setattr(state, "UNPACKED", 0)
            run, events, _ = messy(number, **settings)
        assert messy(number, **settings)[1] == events
        packed += run.state.settled
        for event in events:
            seen[event["kind"]] = seen.get(event["kind"], 0) + 1
    assert set(seen) == set(KINDS)
    assert packed > 50


def test_events_have_names_and_the_evidence_of_one_look_is_that_of_many():
    run, events, _ = messy(1, **SETTINGS["borda"])
    looked = BallotExplorer(WIDE, delta=0.2, seed=1, ballot_lease=60.0, **SETTINGS["borda"])
    for event in events:
        looked.note(event)
        looked.progress  # noqa: B018  settle now, not later
    assert len(looked.conclusions.evidence) == len(run.conclusions.evidence) > 1
    for one, other in zip(looked.conclusions.evidence, run.conclusions.evidence, strict=True):
        np.testing.assert_array_equal(one.base.peak, other.base.peak)
    design = next(event for event in events if event["kind"] == "designed")
    assert set(design["champion"]) == {"s", "t"}
    assert len(design["chances"]) == WIDE.graph.pairs


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "elected"},
        {},
        {"kind": "answered", "question": 99, "answer": [["a"], ["b"]]},
        {"kind": "opened", "ballot": 7, "voter": "v", "design": 0, "questions": [], "deadline": None},
        {"kind": "finished", "ballot": 0},
        {"kind": "asked", "question": 1},
    ],
)
def test_what_is_no_event_of_this_study_is_refused(event):
    with pytest.raises(DuelError):
        BallotExplorer(WIDE, seed=1).note(event)


def test_a_late_answer_is_for_the_standings_and_a_skipped_question_goes_to_an_heir():
    run = BallotExplorer(WIDE, seed=1, ballot_size=3, ballot_lease=10)
    first, second, third = run.ask(3, voter="eve", now=0)
    run.tell(first, first.first, now=1)
    run.skip(second, now=2)
    inherited = run.ask(9, voter="ned", now=10)
    assert [set(q.candidates) for q in inherited] == [set(q.candidates) for q in (second, third)]
    run.tell(third, third.first, now=11)
    assert dict(run.given())[third] == [[third.first], [third.second]]
    assert np.isnan(run.state.returned[0].value).sum() == 2
    run.expire(now=19)
    assert run.ask(9, voter="ned", now=19) == inherited
    run.tell(inherited[0], None, now=20)  # the heir has a lease too
    assert run.state.waiting == [0]
    assert np.isnan(run.state.returned[0].value).sum() == 2


def test_an_heir_on_the_ballot_of_a_struck_voter_does_not_count():
    run = BallotExplorer(WIDE, "condorcet", 0.2, seed=1, ballot_size=3)
    for question in run.ask(1, voter="eve"):
        run.tell(question, question.first)
    run.leave("eve")
    asked = run.ask(3, voter="ned")
    assert run.state.returned[0].heirs == ["ned"]
    run.tell(asked[0], asked[0].first)
    assert run.state.tally.duels.sum() == 2
    run.strike("eve")
    assert run.state.tally.duels.sum() == run.state.tally.wins.sum() == 0
    run.tell(asked[1], asked[1].first)
    assert run.state.tally.duels.sum() == run.state.tally.wins.sum() == 0
    run.reinstate("eve")
    assert run.state.tally.duels.sum() == 3
