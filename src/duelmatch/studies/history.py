"""How a study has developed: how sure it was as its answers grew, and when they came.

Nothing of it is stored: whenever the log is gone through, the study is looked at now and then on its way. So
it is the same on every server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

HOUR = 3600
"""In seconds."""

SPACING = 16
"""A look whenever there is a 16th part more answers: as close as one can see, and too seldom to cost much."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where the study stood after a number of answers.

    ``sure`` is one minus the p-value of the leader, of a crowd; ``shortfall`` by how much the leader can be
    worse than the best, at most and for certain, of a panel; ``decided`` the share of the edges that are
    accepted or rejected, for algorithms that decide edges. None where the study has no such thing.
    """

    answers: int
    sure: float | None = None
    decided: float | None = None
    shortfall: float | None = None


@dataclass(frozen=True, slots=True)
class History:
    """Where a study stood, up to now, and how many answers came in each hour (counted from 1970)."""

    points: list[Point]
    hours: dict[int, int]


class Trace:
    """Looks at a study now and then, as the answers grow."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self._next = 1

    def follow(self, answers: int, look: Callable[[], Point]) -> None:
        """Look, if there are enough answers since the last look."""
        if answers >= self._next:
            self.points.append(look())
            self._next = answers + 1 + answers // SPACING

    def until(self, now: Point) -> list[Point]:
        """Return where the study stood, and where it stands."""
        earlier = [point for point in self.points if point.answers < now.answers]
        return [*earlier, now] if now.answers else earlier
