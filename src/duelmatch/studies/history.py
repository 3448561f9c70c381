"""How a study came to where it stands: how sure it was after so many votes, and when they came.

Nothing of it is stored: the explorer goes through every round again whenever the log is replayed, and is
looked at now and then on its way. So it is the same on every server, and about the votes that count now.
"""

from __future__ import annotations

from dataclasses import dataclass

from duelmatch.explorers.explorer import Explorer
from duelmatch.explorers.result import Progress

HOUR = 3600
"""In seconds."""

SPACING = 16
"""A look whenever there is a 16th part more votes: as close as one can see, and too seldom to cost much."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where the study stood after so many votes.

    ``sure`` is one minus the p-value of the leader, where the algorithm has one; ``decided`` is the share of
    the edges that are accepted or rejected.
    """

    votes: int
    sure: float | None
    decided: float

    @classmethod
    def of(cls, progress: Progress) -> Point:
        """Note where a run stands."""
        decided = len(progress.accepted) + len(progress.rejected)
        edges = decided + len(progress.undecided)
        sure = None if progress.p_value is None else max(0.0, 1 - progress.p_value)
        return cls(progress.duels, sure, decided / edges if edges else 1.0)


@dataclass(frozen=True, slots=True)
class History:
    """Where a study stood, up to now, and how many votes came in each hour (counted from 1970)."""

    points: list[Point]
    hours: dict[int, int]


class Trace:
    """Follows a run of an explorer."""

    def __init__(self) -> None:
        self._points: list[Point] = []
        self._next = 1

    def follow(self, run: Explorer) -> None:
        """Look at the run, if it has come far enough since the last look."""
        if run.duels >= self._next:
            self._points.append(Point.of(run.progress))
            self._next = run.duels + 1 + run.duels // SPACING

    def until(self, now: Progress) -> list[Point]:
        """Return where the run stood, and where it stands."""
        earlier = [point for point in tuple(self._points) if point.votes < now.duels]
        return [*earlier, Point.of(now)] if now.duels else earlier
