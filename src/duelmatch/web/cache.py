"""A least-recently-used cache with one value per study."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from duelmatch.studies import Study

Value = TypeVar("Value")

CAPACITY = 50


class StudyCache(Generic[Value]):
    """The values of the studies used last. Safe to use from several threads."""

    def __init__(self, make: Callable[[Study], Value]) -> None:
        self._make = make
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, study: Study) -> Value:
        """Return the value of a study, which is made if need be."""
        with self._lock:
            if study.id not in self._values:
                self._values[study.id] = self._make(study)
            self._values.move_to_end(study.id)
            if len(self._values) > CAPACITY:
                self._values.popitem(last=False)
            return self._values[study.id]
