"""An event over HTTP, with judges as they are: some skip, one always takes the first, one leaves halfway."""

from __future__ import annotations

import httpx2
from benchmarks.event import CERTAIN, Plan, play

from duelmatch.studies import Store


def test_an_event_ends_with_an_answer_that_says_what_it_is(place: tuple[str, Store]) -> None:
    """``benchmarks/event.py`` holds larger ones, and counts how often the answer is the right one."""
    plan = Plan(projects=8, prizes=4, judges=6, questions_each=20)
    with httpx2.Client(base_url=place[0], trust_env=False, timeout=60) as http:
        outcome = play(http, plan, seed=4)
    assert outcome.last in CERTAIN, "nobody is awaited any more"
    assert outcome.label.startswith("Decided by this panel: the votes were counted without waiting for ")
    assert ", who had left" in outcome.label
    assert 0 < outcome.votes <= plan.judges * plan.questions_each
