"""A study to watch: a bundled example, and voters who answer it by its known preferences."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from duelmatch.errors import DuelmatchError
from duelmatch.explorers.catalogue import preferred
from duelmatch.instances import example
from duelmatch.preferences import Preferences
from duelmatch.studies import Question, Settings, Store, Study

EXAMPLE = "lineup"
NAMES = ("Ada", "Ben", "Cleo", "Dev", "Ema", "Finn", "Gus", "Hana")
PAUSE = 0.8
"""Seconds that a simulated voter takes for an answer, more or less."""


def begin(store: Store) -> Study:
    """Begin the study."""
    problem = example(EXAMPLE).problem
    return store.create(problem, Settings(preferred("condorcet"), delta=0.05), "Who plays when?")


@contextmanager
def voters(study: Study, pause: float = PAUSE) -> Iterator[list[threading.Thread]]:
    """Let simulated voters vote until the study is done, or this ends."""
    stop = threading.Event()
    preferences = example(EXAMPLE)
    threads = [
        threading.Thread(target=_vote, args=(study, preferences, study.add_voter(name), pause, stop))
        for name in NAMES
    ]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _vote(study: Study, preferences: Preferences, voter: int, pause: float, stop: threading.Event) -> None:
    chance = random.Random(voter)
    while not stop.wait(chance.uniform(0.5, 1.5) * pause):
        try:
            asked = study.ask(voter)
            if isinstance(asked, Question):
                wins = preferences.probability(asked.position, asked.left, asked.right)
                study.tell(voter, asked.number, asked.left if chance.random() < wins else asked.right)
            elif asked.reason in ("done", "all yours", "budget"):
                return
        except DuelmatchError:
            continue  # somebody dropped the candidate, closed the study or struck the voter out: look again
