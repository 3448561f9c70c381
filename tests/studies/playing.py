"""Voters for tests, and what must hold of every log."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from duelmatch.studies import Entry, Question, Status, Store, Study
from duelmatch.studies.entries import checked
from duelmatch.studies.state import State
from duelmatch.studies.view import status_of

BY_ASKING = ("designed", "opened", "passed", "backed", "asked")
"""The kinds of entries that asking for a question can bring."""


class Stall:
    """Work that waits in its middle until it may go on; called as a function, it does nothing else."""

    def __init__(self) -> None:
        self._begun, self._ended = threading.Event(), threading.Event()

    def __call__(self, *_: object) -> None:
        self._begun.set()
        assert self._ended.wait(60)

    def wait(self) -> None:
        """Return as soon as the work is in its middle."""
        assert self._begun.wait(60)

    def end(self) -> None:
        self._ended.set()


def question_for(study: Study, voter: str) -> Question:
    question = study.ask(voter)
    assert isinstance(question, Question), question
    return question


def vote(study: Study, voter: str, winner: str | None = None) -> Question:
    """Ask, and answer with the winner given, or else with the first in the alphabet."""
    question = question_for(study, voter)
    study.tell(voter, question.number, winner or min(question.candidates))
    return question


def replayed(entries: Iterable[Entry]) -> State:
    """Return the state that a log alone gives."""
    first, *others = entries
    state = State(first)
    state.note(others)
    state.kind.think()
    return state


def summary(state: State) -> dict[str, Any]:
    """Return everything that can be told from a state."""
    return {
        "questions": state.questions,
        "members": state.members,
        "hours": state.hours,
        "points": state.kind.points,
        "status": status_of("", "", state),
    }


def check_log(study: Study) -> None:
    """The log is chained without gaps, explains every question in it, and gives what the study says."""
    entries = study.entries()
    assert [entry.seq for entry in checked(entries)] == list(range(1, len(entries) + 1))
    asked = [entry.data["question"] for entry in entries if entry.kind == "asked"]
    assert asked == list(range(asked[0], asked[0] + len(asked))) if asked else True
    state = replayed(entries)
    assert without_names(study.status()) == status_of("", "", state)
    study.status()
    with study._states.reading(study.id) as live:
        assert summary(live) == summary(state)


def without_names(status: Status) -> Status:
    return replace(status, id="", name="")


def check_fresh(study: Study, url: str) -> None:
    """A store that is opened afresh says the same."""
    with Store(url) as other:
        assert other.study(study.id).status() == study.status()


def check_every_question(entries: Sequence[Entry], sides: bool = True) -> None:
    """Each question is the one that the entries before it call for, and nobody has two open ones.

    With ``sides``, also who is shown first.
    """
    state = State(entries[0])
    place = 1
    while place < len(entries):
        end = place
        while end < len(entries) and entries[end].kind in BY_ASKING[:-1]:
            end += 1
        if end < len(entries) and entries[end].kind == "asked" and state.phase == "open":
            place += check_asking(state, entries[place:], entries[end], sides)
        else:
            state.note([entries[place]])
            place += 1


def check_asking(state: State, entries: Sequence[Entry], asked: Entry, sides: bool) -> int:
    """What a voter's asking brings is what follows from the state, down to the last figure.

    Return how many entries it brought: a question that a conflict forbids is skipped at once,
    and the next one follows, if there is one.
    """
    assert asked.voter is not None
    assert state.members[asked.voter].open is None
    events: list[Any] = []
    state.kind.think()
    state.kind.record = lambda event: events.append(dict(event))
    nothing = state.kind.ask(asked.voter, asked.at)
    state.kind.record = None
    brought = entries[: len(events)]
    assert asked in brought
    assert (nothing is None) == (brought[-1].kind == "asked")
    for event, entry in zip(events, brought, strict=True):
        noted = dict(entry.event)
        event |= {"until": noted.get("until"), "voter": event.get("voter", entry.voter)}
        noted |= {"until": event["until"], "voter": entry.voter}
        if not sides and "candidates" in event:
            event["candidates"] = sorted(event["candidates"])
            noted["candidates"] = sorted(noted["candidates"])
        assert event == noted
    for entry in brought:
        state.follow(entry)
    return len(brought)
