"""The process pool: results as they finish, no work after the end, and workers that know what we know."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

import duelmatch as dm
from duelmatch.experiments import simulations, single_cell
from duelmatch.experiments.workers import Processes
from duelmatch.explorers import catalogue

PREFS = dm.Preferences(dm.Problem.complete(["a", "b"], ["s"]), {("s", "a", "b"): 0.9})


def workers() -> list[psutil.Process]:
    """Return the worker processes of this one: children of its fork server."""
    servers = [child for child in psutil.Process().children() if "forkserver" in " ".join(child.cmdline())]
    return [worker for server in servers for worker in server.children()]


def test_every_task_is_done_whoever_does_it() -> None:
    for jobs in (1, 2, 3):
        assert sorted(Processes(jobs).map(abs, range(-20, 0))) == list(range(1, 21)), jobs
        assert list(Processes(jobs).map(abs, [])) == [], jobs
    assert workers() == []


def test_tasks_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []
    finished = Processes(2).map(abs, (taken.append(n) or n for n in range(1000)))
    next(finished)
    assert len(taken) == 4
    finished.close()
    assert len(taken) == 4


def test_closing_ends_all_work_at_once() -> None:
    finished = Processes(2).map(time.sleep, [0, 99, 99, 99, 99])
    next(finished)
    start = time.monotonic()
    finished.close()
    assert time.monotonic() - start < 10
    assert workers() == []


def test_what_a_task_raises_ends_the_work() -> None:
    for jobs in (1, 2):
        with pytest.raises(OverflowError):
            list(Processes(jobs).map(time.sleep, [0, 1e300, 0]))
    assert workers() == []


def test_a_killed_worker_is_one_sentence() -> None:
    with pytest.raises(dm.DuelmatchError, match=r"A worker process was killed.*fewer jobs"):
        list(Processes(2).map(os._exit, [1, 1, 1]))
    assert workers() == []


def test_only_its_own_workers_end_with_it() -> None:
    one, other = (Processes(2).map(time.sleep, [0, *[seconds] * 3]) for seconds in (60, 0.2))
    next(one), next(other)
    mine = multiprocessing.get_context("forkserver").Process(target=time.sleep, args=(60,))
    mine.start()
    one.close()
    assert list(other) == [None] * 3
    assert mine.is_alive()
    mine.terminate()
    mine.join()


def test_jobs_and_runs_are_numbers_from_1() -> None:
    cell = single_cell(PREFS, "condorcet", seed=1)
    for jobs in (0, -1, 1.5, "2"):
        with pytest.raises(dm.ProblemError, match="number of jobs must be a whole number of at least 1"):
            Processes(jobs)  # type: ignore[arg-type]
    for runs in (0, -1, 1.5):
        with pytest.raises(dm.ProblemError, match="number of runs must be a whole number of at least 1"):
            list(simulations(cell, runs))  # type: ignore[arg-type]


def own_algorithm(make: object) -> dm.Algorithm:
    described = catalogue.described("condorcet")
    return replace(described, name="mine", parameters=(), make=make)  # type: ignore[arg-type]


def test_workers_know_what_was_registered_by_a_call() -> None:
    dm.register_algorithm(own_algorithm(catalogue.described("condorcet").make))
    dm.register_generator("mine", dm.instances.uniform)
    theirs, ours = (
        sorted((run.number, run.duels) for run in simulations(single_cell(PREFS, "mine", seed=1), 4, jobs))
        for jobs in (2, 1)
    )
    assert theirs == ours


def test_what_cannot_be_sent_is_said_and_one_job_does_without() -> None:
    make = catalogue.resolve_name("duelmatch.explorers.frugal.search:condorcet")
    dm.register_algorithm(own_algorithm(lambda *given, **more: make(*given, **more)))
    dm.register_generator("mine", lambda: PREFS)
    cell = single_cell(PREFS, "mine", seed=1)
    with pytest.raises(dm.DuelmatchError, match=r"'mine', .* cannot be sent to worker.*entry point"):
        list(simulations(cell, 4, jobs=2))
    assert len(list(simulations(cell, 4, jobs=1))) == 4
    assert len(list(simulations(single_cell(PREFS, "borda", seed=1), 4, jobs=2))) == 4


SCRIPT = """
import duelmatch as dm
from duelmatch.experiments import simulations, single_cell
prefs = dm.instances.equal_gaps(2, 0.4)
"""
UNGUARDED = 'print(len(list(simulations(single_cell(prefs, "condorcet"), 4, jobs=2))))\n'
GUARDED = """
from dataclasses import replace
from duelmatch.explorers.catalogue import described
from duelmatch.explorers.frugal.search import condorcet
def make(*given, **more):
    return condorcet(*given, **more)
if __name__ == "__main__":
    dm.register_algorithm(replace(described("condorcet"), name="mine", parameters=(), make=make))
    print(len(list(simulations(single_cell(prefs, "mine"), 4, jobs=2))))
"""


@pytest.mark.parametrize("rest", [UNGUARDED, GUARDED], ids=["plain", "with an algorithm of its own"])
def test_scripts_can_use_several_processes(rest: str, tmp_path: Path) -> None:
    """A plain script need not know how processes are started; one with own functions guards its main part."""
    (tmp_path / "script.py").write_text(SCRIPT + rest)
    ran = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False, timeout=120
    )
    assert (ran.stdout, ran.stderr) == ("4\n", "")


LOOP = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where it was ignored
import duelmatch as dm
prefs = dm.instances.equal_gaps(3, 0.2)
while True:
    dm.simulate(prefs, "car-cond")
    print("once", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_a_loop_over_simulate_can_be_interrupted() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LOOP], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "once\n"
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    _, said = process.communicate(timeout=60)
    assert time.monotonic() - start < 2
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


def test_a_generator_that_returns_no_preferences_is_named() -> None:
    dm.register_generator("mine", lambda: 5)  # type: ignore[arg-type, return-value]
    content = {"problems": [{"generator": "mine"}], "algorithms": [{"name": "borda"}]}
    with pytest.raises(dm.ProblemError, match="the generator 'mine' must return Preferences, not 5"):
        dm.experiments.from_dict(content)
