"""Who asks whether a server is ready, or waits for estimates, leaves the threads to others."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from duelmatch.errors import UnreachableError
from duelmatch.web import app
from duelmatch.web.app import Readiness
from duelmatch.web.watching import MOST_WAITING, Watcher


def test_while_one_tries_to_write_all_others_learn_what_came_of_it_last() -> None:
    """Before, each waited for the lock, and then tried again for 5 seconds: 40 of them took all threads."""
    tries, entered, go_on = [], threading.Event(), threading.Event()

    def check(seconds: float) -> None:
        tries.append(seconds)
        entered.set()
        assert go_on.wait(60)
        raise UnreachableError("Locked.")

    ready = Readiness(check)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(ready.check)
        assert entered.wait(60)
        for _ in range(40):
            with pytest.raises(UnreachableError, match="getting ready"):
                ready.check()
        go_on.set()
        assert "Locked" in str(first.exception(60))
    assert len(tries) == 1


def test_a_failure_is_remembered_as_a_success_is(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[float] = []

    def check(seconds: float) -> None:
        tries.append(seconds)
        if len(tries) == 1:
            raise UnreachableError("Locked.")

    monkeypatch.setattr(app, "HOLDS", 3600.0)
    ready = Readiness(check)
    for _ in range(3):
        with pytest.raises(UnreachableError, match="Locked"):
            ready.check()
    assert len(tries) == 1
    monkeypatch.setattr(app, "HOLDS", 0.0)
    ready.check()
    monkeypatch.setattr(app, "HOLDS", 3600.0)
    ready.check()
    assert len(tries) == 2


class NeverEstimated:
    """A study whose estimates do not come."""

    id = "0" * 16

    def latest_estimates(self) -> tuple[None, bool]:
        return None, False


def test_a_few_wait_for_first_estimates_and_all_others_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    watcher, study = Watcher(), NeverEstimated()
    monkeypatch.setattr(watcher, "_work", lambda: None)
    with ThreadPoolExecutor(40) as pool:
        waiting: list[Any] = [pool.submit(watcher.estimates, study, 3600.0) for _ in range(40)]  # type: ignore[arg-type]
        for _ in range(600):
            time.sleep(0.1)
            if sum(each.done() for each in waiting) == 40 - MOST_WAITING:
                break
        assert sum(each.done() for each in waiting) == 40 - MOST_WAITING
        watcher.close()
    assert [each.result() for each in waiting] == [None] * 40
    assert watcher._places == MOST_WAITING
