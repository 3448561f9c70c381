"""What a server process keeps for each study that somebody looks at, and forgets when many others were."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from duelmatch.studies import Study

Kept = TypeVar("Kept")

MOST_KEPT = 50


class Memory(Generic[Kept]):
    """One thing for each of the studies used last. Safe to use from several threads."""

    def __init__(self, make: Callable[[Study], Kept]) -> None:
        self._make = make
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, study: Study) -> Kept:
        """Return what is kept for a study, made if need be."""
        with self._lock:
            if study.id not in self._kept:
                self._kept[study.id] = self._make(study)
            self._kept.move_to_end(study.id)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
            return self._kept[study.id]
