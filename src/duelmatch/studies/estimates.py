"""What a study will probably come to: standings and a forecast, both estimates, from one moment of its log.

They take seconds, so whoever serves voters has them computed elsewhere: a :class:`Moment` has all that they
are computed from, and can be sent to another process.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass

from duelmatch.errors import DuelmatchError
from duelmatch.explorers.result import Forecast
from duelmatch.models.standings import Standings

SIMULATING = 1.0
"""Seconds of a processor for a forecast, unless told otherwise."""

MOST_ANSWERS = 20_000
"""With more answers there is no forecast: copying the run would keep voters waiting."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """What a study is estimated to come to, from its first ``answers`` that count, up to an entry of the log.

    No ``standings`` before the first answer, and no ``forecast`` of algorithms that work in rounds, nor where
    one would take too long.
    """

    entry: int
    answers: int
    standings: Standings | None
    forecast: Forecast | None


@dataclass(frozen=True, slots=True)
class Moment:
    """A study after an entry of its log, as far as estimates depend on it."""

    entry: int
    answers: int
    standings: Callable[[], Standings] | None
    run: bytes | None

    def estimated(self, seconds: float | None = SIMULATING) -> Estimates:
        """Compute the estimates; ``seconds`` of a processor are the limit for the forecast."""
        return Estimates(self.entry, self.answers, self._standings(), self._forecast(seconds))

    def _standings(self) -> Standings | None:
        if self.standings is None:
            return None
        try:
            return self.standings()
        except DuelmatchError:  # too large
            return None

    def _forecast(self, seconds: float | None) -> Forecast | None:
        if self.run is None:
            return None
        from duelmatch.explorers.forecasting import forecast  # compiled

        try:
            return forecast(pickle.loads(self.run), seconds=seconds)
        except DuelmatchError:
            return None
