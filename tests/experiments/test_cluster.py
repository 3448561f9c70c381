"""The same work on a real Dask cluster: a scheduler and workers on this machine, one of them killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import pytest

import duelmatch as dm
from duelmatch import experiments
from duelmatch.experiments.session import Tick
from duelmatch.explorers.catalogue import described
from experiments.small import small_file

WORKERS = 2
PATIENCE = 90.0


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and workers as processes of their own; give the address, and the workers."""
    known = folder / "scheduler.json"
    quiet = ["--no-dashboard"]
    here = ["--host", "127.0.0.1"]
    scheduler = _start(
        "distributed.cli.dask_scheduler", *quiet, *here, "--port", "0", "--scheduler-file", str(known)
    )
    started = [scheduler]
    try:
        deadline = time.monotonic() + PATIENCE
        while not known.exists() or not known.read_text():
            assert scheduler.poll() is None, "the scheduler did not start"
            assert time.monotonic() < deadline
            time.sleep(0.05)
        address = json.loads(known.read_text())["address"]
        ours = [
            _start("distributed.cli.dask_worker", address, *quiet, *here, "--nthreads", "1", "--no-nanny")
            for _ in range(workers)
        ]
        started += ours
        yield address, ours
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def _start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", module, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def rows(out: Path) -> list[dict[str, object]]:
    return experiments.results(out).drop_columns(["seconds", "session"]).to_pylist()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_worker_killed_midway_loses_no_run_and_the_other_learns_what_was_registered(tmp_path: Path) -> None:
    condorcet = resolve_name("duelmatch.explorers.frugal.search:condorcet")
    mine = replace(described("condorcet"), name="mine", parameters=(), make=lambda *given: condorcet(*given))
    dm.register_algorithm(mine)
    file = small_file(tmp_path, repetitions=40, algorithms=1)
    killed: list[int] = []
    with cluster(tmp_path, WORKERS) as (address, workers):

        def kill_one(tick: Tick) -> None:
            if not killed and tick.done >= 8:
                workers[0].kill()
                killed.append(tick.done)

        status = experiments.run(file, tmp_path / "cluster", scheduler=address, progress=kill_one)
        own = {
            "seed": 1,
            "repetitions": 2,
            "problems": [{"generator": "equal_gaps", "positions": 2, "gap": 0.4}],
            "algorithms": [{"name": "mine"}],
        }
        theirs = experiments.run(experiments.from_dict(own), tmp_path / "own", scheduler=address)
        assert workers[0].wait() != 0
        assert all(worker.poll() is None for worker in workers[1:])
    assert killed[0] < status.runs
    assert status.finished
    assert (status.failed, theirs.failed) == (0, 0)
    assert status.sessions[0]["scheduler"] == address
    experiments.run(file, tmp_path / "here", jobs=1)
    assert rows(tmp_path / "cluster") == rows(tmp_path / "here")


def test_no_scheduler_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duelmatch.experiments.workers.TIMEOUT", 1)
    with pytest.raises(dm.DuelmatchError, match=r"No Dask scheduler answers at .tcp://127\.0\.0\.1:9"):
        experiments.run(small_file(tmp_path), tmp_path / "out", scheduler="tcp://127.0.0.1:9")
