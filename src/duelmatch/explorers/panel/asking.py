"""The next question, of the most useful kind that any judge can be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from duelmatch.explorers.panel.choice import Choice
from duelmatch.explorers.panel.criteria import any_pair
from duelmatch.explorers.panel.projection import Plan, Projection
from duelmatch.graph import Mask

Way = Callable[[int, Mask], Choice | None]
"""Given a judge and the pairs that the judge can be asked about: what to ask, if anything of this kind."""


def next_question(
    now: Projection, plan: Plan, judges: list[int] | None, size: int, anything_open: bool, walking: bool
) -> tuple[int, Choice] | None:
    """Return what to ask, and which judge: one of these, or the one who has answered least.

    None if they cannot help now: the questions that count are others' to answer.
    """
    everyone = range(len(now.voters))
    asked = sorted(everyone, key=now.busy) if judges is None else judges
    for way in _ways(now, plan, size, anything_open, walking):
        for judge in asked:
            if choice := _of_kind(now, way, judge):
                return judge, choice
        if any(_of_kind(now, way, judge) for judge in everyone if judge not in asked):
            return None
    return None


def _of_kind(now: Projection, way: Way, judge: int) -> Choice | None:
    askable = now.askable(judge)
    return way(judge, askable) if askable.any() else None


def _ways(now: Projection, plan: Plan, size: int, anything_open: bool, walking: bool) -> Iterator[Way]:
    """Yield the kinds of questions, the most useful first."""
    method = now.method

    def useful(by: Plan) -> Way:
        def choose(judge: int, askable: Mask) -> Choice | None:
            seen = now.just_seen(judge) if walking else np.zeros(now.state.graph.edges, dtype=np.bool_)
            choice: Choice | None = method.choose(by, judge, askable, now.blocked[judge] > 0, size, seen)
            return choice

        return choose

    yield useful(plan)
    if anything_open:  # as if nobody answered what is handed out
        yield useful(method.plan(plan.champion, np.zeros(now.state.pairs)))
    yield lambda judge, askable: method.refute(plan, askable)
    yield lambda judge, askable: any_pair(now.state, askable)
