"""The worker process: what it is asked to do ends at a limit, and nothing else suffers from it."""

from __future__ import annotations

import io
import math
import operator
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from PIL import Image

import duelmatch as dm
from duelmatch.errors import FileError, UnreachableError
from duelmatch.explorers import forecasting
from duelmatch.files.problems import read_problem
from duelmatch.studies import Settings, Store
from duelmatch.web import Config, creating, organising, pictures
from duelmatch.web import worker as worker_module
from duelmatch.web.worker import MEMORY, MOST_OF_ONE, BusyError, ExhaustedError, Worker
from web.running import served

HEAVY = {
    "candidates": [f"c{c}" for c in range(27)],
    "edges": {f"p{p}": [f"c{c}" for c in range(27) if (c * c + 3 * p * c + p) % 7 > 1] for p in range(23)},
}
"""Its matchings are counted exactly, which takes some seconds, before the first question is asked."""


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker(memory=1_000_000_000)
    yield worker
    worker.close()


def test_it_returns_and_raises_what_the_function_does(worker: Worker) -> None:
    assert worker.run(math.gcd, 12, 18, seconds=60) == 6
    with pytest.raises(FileError, match="YAML"):
        worker.run(read_problem, "a: [", ".yaml", seconds=60)


def test_what_takes_too_long_or_too_much_is_ended_and_the_next_goes_on(worker: Worker) -> None:
    """A regular expression holds the interpreter as compiled code does; no signal handler would be called."""
    with pytest.raises(ExhaustedError, match="1 seconds"):
        worker.run(re.fullmatch, "(a+)+", "a" * 60 + "b", seconds=1)
    with pytest.raises(ExhaustedError, match="memory"):
        worker.run(operator.mul, b"x", 2_000_000_000, seconds=60)
    assert worker.run(math.gcd, 12, 18, seconds=60) == 6


def test_who_has_no_patience_does_not_wait(worker: Worker) -> None:
    with worker._lock, pytest.raises(BusyError):
        worker.run(math.gcd, seconds=60)


def test_who_has_enough_with_the_worker_leaves_the_places_of_others() -> None:
    """Before, twelve connections of one organiser took all places, and all others were told to come back."""
    worker = Worker(rehearses=False)
    with ThreadPoolExecutor(20) as threads:
        with worker._lock:  # as if it were busy
            tasks = [
                threads.submit(worker.run, math.gcd, 12, 18, seconds=60, patience=60, of="one")
                for _ in range(12)
            ]
            while sum(task.done() for task in tasks) < 12 - MOST_OF_ONE:
                time.sleep(0.01)
            other = threads.submit(worker.run, math.gcd, 9, 6, seconds=60, patience=60, of="other")
        assert other.result(120) == 3
        refused = [task.exception(120) for task in tasks if task.exception(120) is not None]
    assert len(refused) == 12 - MOST_OF_ONE
    assert all("what you sent before" in str(error) for error in refused)
    assert worker.run(math.gcd, 12, 18, seconds=60, of="one") == 6
    worker.close()


def test_pictures_keep_nothing_else_waiting(tmp_path: Path) -> None:
    data = io.BytesIO()
    Image.new("RGB", (30, 20), "red").save(data, "PNG")
    with worker_module.worker._lock, Store(f"sqlite:///{tmp_path}/x.db") as store:
        assert pictures._keep(store, data.getvalue(), "x").startswith("/pictures/")


@pytest.mark.parametrize("path", ["/api/v1/estimate", "/api/v1/studies"])
def test_a_heavy_study_is_refused_in_time(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, either took as long as it took, and a creation kept all writers of the database waiting."""
    monkeypatch.setattr(creating, "LONGEST_ESTIMATE", 0.5)
    monkeypatch.setattr(organising, "LONGEST_BEGINNING", 0.5)
    new: dict[str, Any] = {"name": "x", "problem": HEAVY, "settings": {"algorithm": "borda"}}
    with Store(f"sqlite:///{tmp_path}/x.db") as store:
        with served(store, Config(rates=None)) as address:
            answer = httpx2.post(f"{address}{path}", json=new, trust_env=False, timeout=300)
            while answer.status_code == 429:  # the worker is compiling what it will need
                time.sleep(1)
                answer = httpx2.post(f"{address}{path}", json=new, trust_env=False, timeout=300)
        if path.endswith("estimate"):
            assert (answer.status_code, answer.json()["simulations"]) == (200, 0)
        else:
            assert answer.status_code == 422
            assert "0.5 seconds" in answer.json()["detail"]
            assert not store.studies()


def test_a_worker_whose_server_is_gone_when_it_is_ready_ends_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        code = f"from duelmatch.web.worker import work; work({MEMORY})"
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writing)
    assert "Traceback" not in done.stderr


def test_a_worker_whose_server_dies_while_it_compiles_ends_too(tmp_path: Path) -> None:
    """Compiling all takes some twenty seconds."""
    code = f"print('here', flush=True); from duelmatch.web.worker import work; work({MEMORY})"
    nothing = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, env=nothing) as worker:
        assert worker.stdin
        assert worker.stdout
        worker.stdout.readline()
        while not any(tmp_path.rglob("*.nbi")):
            assert worker.poll() is None
            time.sleep(0.05)
        worker.stdin.close()
        assert worker.wait(5) == 0
        assert not worker.stdout.read(), "it did not get so far as to be ready"


def test_a_worker_that_is_closed_while_it_starts_is_no_accident() -> None:
    worker = Worker()
    with ThreadPoolExecutor() as threads:
        starting = threads.submit(worker.start)
        while worker._process is None:
            time.sleep(0.001)
        worker.close()
        with pytest.raises(UnreachableError, match="could not be started"):
            starting.result(30)


def test_a_rehearsal_goes_to_its_end_however_long_it_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[dm.Forecast] = []
    forecast, clock = dm.forecast, count(step=1_000_000)
    monkeypatch.setattr(forecasting, "thread_time", lambda: next(clock))
    monkeypatch.setattr(dm, "forecast", lambda *given, **named: found.append(forecast(*given, **named)))
    creating.rehearse_forecasts(["condorcet", "borda", "car-cond", "panel"])
    assert [each.simulations for each in found] == [9] * 4
    assert [each.simulated for each in found] == [60, 60, 60, None], (
        "all of the budget, or until it is certain"
    )


def test_a_study_in_rounds_is_simulated_with_its_budget() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    settings = Settings("car-cond", max_answers=40, seed=0).settled(named_voters=False)
    assert creating.forecast_of(problem, settings, [(1, ())], (None, None, None), 60.0).simulated == 40
