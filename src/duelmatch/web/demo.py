"""A study to watch: a bundled example, and simulated voters who answer it by its known preferences."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from duelmatch.errors import DuelmatchError
from duelmatch.instances import example
from duelmatch.preferences import Preferences
from duelmatch.studies import Question, Settings, Store, Study

EXAMPLE = "lineup"
VOTERS = 8
"""How many of the crowd are voting at the same time."""

PAUSE = 0.8
"""Seconds that a simulated voter takes for an answer, more or less."""


def create_demo(store: Store) -> Study:
    """Create the study."""
    return store.create(example(EXAMPLE).problem, Settings("condorcet", delta=0.05), "Who plays when?")


@contextmanager
def simulated_voters(study: Study, pause: float = PAUSE) -> Iterator[list[threading.Thread]]:
    """Let simulated voters come, answer their ballots and go, until the study is done or this ends."""
    stop = threading.Event()
    preferences, numbers = example(EXAMPLE), count(1)
    threads = [
        threading.Thread(target=_vote, args=(study, preferences, numbers, pause, stop)) for _ in range(VOTERS)
    ]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _vote(
    study: Study, preferences: Preferences, numbers: Iterator[int], pause: float, stop: threading.Event
) -> None:
    voter, chance = None, random.Random()
    while not stop.wait(chance.uniform(0.5, 1.5) * pause):
        try:
            if voter is None:
                number = next(numbers)
                voter, chance = study.add_voter(f"Voter {number}"), random.Random(number)
            asked = study.ask(voter)
            if isinstance(asked, Question):
                first, second = asked.candidates
                wins = preferences.probability(asked.position, first, second)
                study.tell(voter, asked.number, first if chance.random() < wins else second)
            elif asked.reason in ("done", "budget"):
                return
            elif asked.reason in ("all yours", "late", "left"):
                voter = None  # the next one comes
        except DuelmatchError:
            voter = None  # struck, or the candidate was dropped meanwhile
