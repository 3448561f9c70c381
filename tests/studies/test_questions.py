"""The questions of a study in memory: packed, and looked up without going through all of them."""

from __future__ import annotations

import pytest

import duelmatch as dm
from duelmatch.errors import StoreError
from duelmatch.studies import Settings, Store, Study
from duelmatch.studies.entries import BEGINNING, sealed
from duelmatch.studies.questions import Asked, Questions
from duelmatch.studies.state import State
from studies.playing import vote

PROBLEM = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor"])
JUDGES = ["eve", "ned", "pam"]


@pytest.fixture
def voted(store: Store) -> Study:
    """A panel of three, each of whom has answered all twelve questions or until it was certain."""
    study = store.create(
        PROBLEM, Settings("panel", parameters={"consistent": False, "criterion": "borda"}), "x", JUDGES
    )
    for _ in range(6):
        for voter in study.voters():
            vote(study, voter.id)
    return study


def test_a_page_looks_at_no_more_than_it_shows(voted: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    original = Questions.__getitem__

    def counting(questions: Questions, number: int) -> Asked:
        looked_at.append(number)
        return original(questions, number)

    everything = voted.answers(limit=None)
    monkeypatch.setattr(Questions, "__getitem__", counting)
    middle = everything[9]
    reads = {
        "the latest": (lambda: voted.answers(limit=3), everything[:3]),
        "before an entry": (lambda: voted.answers(middle.entry, limit=3), everything[10:13]),
        "after an entry": (lambda: voted.answers_after(middle.entry, 3), everything[6:9][::-1]),
        "of a voter": (
            lambda: voted.answers(middle.entry, middle.voter, 3),
            [given for given in everything[10:] if given.voter == middle.voter][:3],
        ),
    }
    for name, (read, expected) in reads.items():
        looked_at.clear()
        assert read() == expected, name
        assert len(looked_at) == len(expected), name
    looked_at.clear()
    status = voted.status()
    assert (status.answers, status.counted, status.struck, looked_at) == (18, 18, 0, [])


def test_what_is_packed_is_what_was_said(voted: Study) -> None:
    entries = {entry.seq: entry for entry in voted.entries()}
    asked = {entry.data["question"]: entry for entry in entries.values() if entry.kind == "asked"}
    for given in voted.answers(limit=None):
        said, question = entries[given.entry], asked[given.question]
        assert (said.data["question"], said.at, said.voter) == (given.question, given.at, given.voter)
        assert [list(group) for group in given.answer] == said.data["answer"]
        assert (question.data["position"], tuple(question.data["candidates"])) == (
            given.position,
            given.candidates,
        )
        receipt = voted.answer_of(given.question)
        assert receipt is not None
        assert receipt.hash == said.hash


@pytest.mark.parametrize(
    ("kind", "data", "sentence"),
    [
        ("asked", {"question": 3, "position": "chair", "candidates": ["ann", "bob"]}, "where 2 was to come"),
        ("answered", {"question": 7, "answer": [["ann"], ["bob"]]}, "no question 7"),
        ("answered", {"question": 1, "answer": [["ann"], ["dan"]]}, "not about whom it asks"),
        ("undone", {"question": 1}, "not there"),
        ("opened", {"ballot": 4, "questions": []}, "not the next"),
    ],
)
def test_a_log_that_makes_no_sense_is_refused(kind: str, data: dict[str, object], sentence: str) -> None:
    from duelmatch.studies.state import created_data

    voters = [{"id": "0" * 16, "weight": 1, "conflicts": []}]
    created = created_data(PROBLEM, Settings("panel").settled(named_voters=True), voters)
    state = State(sealed(1, 0.0, "created", created, BEGINNING)[0])
    first = {"question": 1, "position": "chair", "candidates": ["ann", "bob"], "until": None}
    state.follow(sealed(2, 0.0, "asked", first, BEGINNING, None, "0" * 16)[0])
    with pytest.raises(StoreError, match=sentence):
        state.follow(sealed(3, 0.0, kind, data, BEGINNING, None, "0" * 16)[0])
