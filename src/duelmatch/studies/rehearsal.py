"""A rehearsal: tiny studies in memory in which a bit of everything happens, so that all of it is compiled.

Compiling takes seconds, and holds the interpreter: a server that did so when the first candidate withdraws
would keep everybody waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from duelmatch.errors import DuelmatchError
from duelmatch.problem import Problem
from duelmatch.rules import Rule
from duelmatch.studies.entries import BEGINNING, sealed
from duelmatch.studies.feed import Feed
from duelmatch.studies.log import Held
from duelmatch.studies.settings import Settings
from duelmatch.studies.state import State, created_data
from duelmatch.studies.values import Question

STUDIES = (
    Settings("condorcet"),
    Settings("borda"),
    Settings("condorcet", parameters={"question_size": 3}),
    Settings("panel"),
    Settings("panel", parameters={"consistent": False}),
    Settings("panel", parameters={"criterion": "borda"}),
    Settings("panel", parameters={"question_size": 3}),
)
PROBLEMS = (
    Problem.complete(["a", "b", "c", "d"], ["x", "y"]),
    Problem.complete(
        ["a", "b", "c", "d"], ["x", "y"], capacity={"a": 2}, rules=[Rule(of=("a", "b"), at_most=1)]
    ),
    Problem.complete(["a", "b", "c", "d", "g"], ["x", "y"], seats={"x": 2}),
)
VOTERS = [f"{number:016x}" for number in range(4)]


def rehearse(studies: Iterable[Settings] = STUDIES) -> None:
    """Let a bit of everything happen in studies that nobody sees."""
    for settings in studies:
        for problem in PROBLEMS if not settings.parameters else PROBLEMS[:1]:
            with suppress(DuelmatchError):  # not everything can be asked with everything
                _live(problem, settings.settled(named_voters=True))


def _live(problem: Problem, settings: Settings) -> None:
    voters = [{"id": voter, "weight": 1, "conflicts": []} for voter in VOTERS]
    created = sealed(1, 0.0, "created", created_data(problem, settings, voters), BEGINNING)[0]
    state = State(created)
    feed = Feed(state, Held("rehearsal", "", "open", 1, created.hash, 0.0))
    acts: list[Callable[[], object]] = [
        lambda: feed.undo(VOTERS[0], None),
        lambda: feed.correct(2, list(state.questions[2].candidates), True),
        lambda: feed.correct(1, None, False),
        lambda: feed.strike(VOTERS[1]),
        lambda: feed.reinstate(VOTERS[1]),
        lambda: feed.conflict(VOTERS[2], ["a"]),
        lambda: feed.clear_conflict(VOTERS[2], ["a"]),
        lambda: feed.leave(VOTERS[3], "dropped"),
        lambda: feed.come_back(VOTERS[3]),
        lambda: feed.add("e", ["x"], {}),
        lambda: feed.drop("d"),
        lambda: feed.enter([("f" * 16, 1, ())]),
        lambda: feed.move("closed"),
    ]
    for number, act in enumerate(acts):
        for voter in VOTERS[: 1 + number % 4]:
            with suppress(DuelmatchError):
                _vote(feed, voter, number)
        with suppress(DuelmatchError):  # what a kind of study does not have
            act()
        for look in ("result", "progress", "points", "done"):
            getattr(state.kind, look)


def _vote(feed: Feed, voter: str, number: int) -> None:
    question = feed.ask(voter)
    if isinstance(question, Question):
        tie = number % 5 == 4
        feed.tell(voter, question.number, None if tie else list(question.candidates))
