"""What a problem is, in numbers: its sizes, its maximum matchings, and what is decided before any duel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

from duelmatch.errors import TooLargeError
from duelmatch.matchings.assignment import decisions_of
from duelmatch.problem import Problem


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a problem before any duel.

    ``duels`` is the number of different duels (K in the paper). ``matchings`` is the number of maximum
    matchings and ``share`` maps each edge to the share of them that use it; where counting them is out of
    reach, ``too_large`` says why, they are None and empty, and 10^``matchings_at_most_log10`` is an upper
    bound. The edges in ``never`` are in no maximum matching, those in ``certain`` in all of them.
    """

    candidates: int
    positions: int
    edges: int
    duels: int
    matchings: int | None
    matchings_at_most_log10: float
    too_large: str | None
    never: tuple[tuple[str, str], ...]
    certain: tuple[tuple[str, str], ...]
    share: Mapping[tuple[str, str], float]


def describe(problem: Problem) -> Description:
    """Return what is known of a problem before any duel.

    >>> team = Problem.from_edges([("ann", "chair"), ("ann", "editor"), ("bob", "editor")])
    >>> describe(team).matchings, describe(team).never
    (1, (('ann', 'editor'),))
    """
    graph, decisions = problem.graph, decisions_of(problem.graph)
    try:
        matchings, too_large = decisions.count(), None
        share = dict(zip(problem.edges, decisions.marginals().tolist(), strict=True))
    except TooLargeError as error:
        matchings, too_large, share = None, str(error), {}
    return Description(
        len(problem.candidates),
        len(problem.positions),
        graph.edges,
        graph.pairs,
        matchings,
        decisions.log_count_bound() / log(10),
        too_large,
        problem.marked(~decisions.usable),
        problem.marked(decisions.certain),
        share,
    )
