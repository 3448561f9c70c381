"""How a study came to where it stands: how sure it was after so many votes, and when they came.

It is made of the log alone, by a board of its own that follows it and stops now and then to look; so it is
the same on every server, and nothing of it is stored.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

from duelmatch.studies.board import Board
from duelmatch.studies.entries import Line
from duelmatch.studies.queries import AFTER, LAST
from duelmatch.studies.study import Study

MOST_POINTS = 120
HOUR = 3600


@dataclass(frozen=True, slots=True)
class Point:
    """Where the study stood after so many votes.

    ``sure`` is one minus the p-value of the leader, where the algorithm has one; ``decided`` is the share of
    the edges that are accepted or rejected; ``possible`` is how many matchings may still be the winner.
    """

    at: float
    votes: int
    sure: float | None
    decided: float
    possible: int | None


class History:
    """Follows the log of a study. Safe to use from several threads."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._board: Board | None = None
        self._lock = threading.Lock()
        self._step = 1
        self._votes = 0
        self._points: list[Point] = []
        self._hours = Counter[int]()

    def points(self) -> list[Point]:
        """Return where it stood: evenly spread over the votes, and now."""
        with self._lock:
            last = self._catch_up()
            return self._points if last is None else [*self._points, last]

    def hours(self) -> list[tuple[float, int]]:
        """Return how many votes came in each hour, from the first to the last that had any."""
        with self._lock:
            self._catch_up()
            if not self._hours:
                return []
            hours = range(min(self._hours), max(self._hours) + 1)
            return [(float(hour * HOUR), self._hours[hour]) for hour in hours]

    def _catch_up(self) -> Point | None:
        """Read on, and return where the study stands, unless that was the last look."""
        line = None
        for line in self._news():
            if self._board is None:
                self._board = Board.of(line)
                continue
            self._board.absorb([line])
            if line.kind == "answered":
                self._votes += 1
                self._hours[int(line.at // HOUR)] += 1
                if self._votes % self._step == 0:
                    self._note(self._look(self._board, line.at))
        if self._board is None or (self._points and self._points[-1].votes == self._votes):
            return None
        return self._look(self._board, line.at if line else self._points[-1].at if self._points else 0.0)

    def _news(self) -> list[Line]:
        values = {"s": self._study.id, "a": self._board.seq if self._board else 0, "b": LAST}
        with self._study.store.database.reading() as connection:
            return [Line(*row[1:]) for row in connection.execute(AFTER, values)]

    def _look(self, board: Board, at: float) -> Point:
        progress = board.standing().progress
        decided = len(progress.accepted) + len(progress.rejected)
        edges = decided + len(progress.undecided)
        p_value = getattr(progress, "p_value", None)
        return Point(
            at,
            self._votes,
            None if p_value is None else max(0.0, 1 - p_value),
            decided / edges if edges else 1.0,
            getattr(progress, "possible", None),
        )

    def _note(self, point: Point) -> None:
        self._points.append(point)
        if len(self._points) > MOST_POINTS:
            self._step *= 2
            self._points = [old for old in self._points if old.votes % self._step == 0]
