"""Estimates of the studies that organisers look at, computed in a process of their own, one at a time.

They take seconds, and nobody waits for them: what is shown is what was computed last, with the number of
votes that it is from. A page that watches the study is told when there is something newer.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from contextlib import suppress
from time import monotonic

from duelmatch.errors import DuelmatchError
from duelmatch.studies import Estimates, Study
from duelmatch.web.worker import LONGEST_ESTIMATE, SIMULATING, ExhaustedError, estimator

FIRST_LOOK = 3.0
"""Seconds for which a request waits that wants estimates, where there are none at all."""

MOST_WAITING = 5
"""How many requests may wait for first estimates, of the 40 threads they share; others do without."""

REST = 2.0
"""After its estimates, a study waits this multiple of the time they took for the next ones."""

log = logging.getLogger("duelmatch.web")


class Watcher:
    """Keeps the estimates of studies that somebody looks at up to date."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._wanted: OrderedDict[str, Study] = OrderedDict()
        self._not_before: dict[str, float] = {}
        self._places = MOST_WAITING
        self._thread: threading.Thread | None = None
        self._stopping = False

    def estimates(self, study: Study, patience: float = 0.0) -> Estimates | None:
        """Return the latest estimates of a study; newer ones are on their way.

        Wait up to ``patience`` seconds for them if there are none at all, unless many others wait.
        """
        found, fresh = study.latest_estimates()
        if fresh:
            return found
        end = monotonic() + patience
        with self._lock:
            self._wanted[study.id] = study
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
            self._lock.notify_all()
            if found is not None or self._places == 0:
                return found
            self._places -= 1
            try:
                while found is None and (left := end - monotonic()) > 0 and not self._stopping:
                    self._lock.wait(left)
                    found, _ = study.latest_estimates()
            finally:
                self._places += 1
        return found

    def close(self) -> None:
        """Compute nothing more."""
        with self._lock:
            self._stopping = True
            self._lock.notify_all()

    def _work(self) -> None:
        while (study := self._next()) is not None:
            began = monotonic()
            try:
                self._estimate(study)
            except Exception:
                log.exception("no estimates")
            with self._lock:
                took = monotonic() - began
                self._not_before[study.id] = monotonic() + REST * took
                self._lock.notify_all()

    def _next(self) -> Study | None:
        """Wait for a study whose turn it is; None when the server stops."""
        with self._lock:
            while not self._stopping:
                now = monotonic()
                for identifier in self._wanted:
                    if self._not_before.get(identifier, 0.0) <= now:
                        return self._wanted.pop(identifier)
                self._not_before = {key: at for key, at in self._not_before.items() if at > now}
                self._lock.wait(min(self._not_before.values(), default=now + 3600.0) - now)
        return None

    def _estimate(self, study: Study) -> None:
        with suppress(DuelmatchError):  # the database cannot be reached; callers who need it are told
            moment = study.moment()
            try:
                found = estimator.run(
                    moment.estimated, SIMULATING, seconds=LONGEST_ESTIMATE, patience=LONGEST_ESTIMATE
                )
            except ExhaustedError:
                found = Estimates(moment.entry, moment.answers, None, None)
            study.keep_estimates(found)
