"""Runs are cut into tasks that take about as long as they should."""

from __future__ import annotations

import pytest

import duelmatch as dm
from duelmatch import experiments
from duelmatch.experiments.simulation import Run
from duelmatch.experiments.tasks import Batch, Batches, Task

CELL = experiments.single_cell(dm.instances.paper_example(), "car-cond", seed=1)


def done(runs: int, seconds: float) -> Batch:
    return Batch(CELL.key, tuple(Run(number, 0, 0.0, None) for number in range(runs)), seconds)


def test_tasks_are_single_runs_first_and_then_as_long_as_they_should_be() -> None:
    batches = Batches([CELL], {CELL.key: range(1000)}, workers=1)
    tasks = iter(batches)
    assert next(tasks) == Task(CELL, (0,))
    assert batches.seconds_left is None
    batches.learn(done(1, seconds=0.01))
    assert len(next(tasks).numbers) == 50
    assert (batches.runs_left, batches.seconds_left) == (999, pytest.approx(9.99))
    batches.learn(done(50, seconds=0.25))
    assert len(next(tasks).numbers) == 100, "what counts is the time per run of the last batch"
    assert [number for task in tasks for number in task.numbers] == list(range(151, 1000))


def test_the_time_left_is_shared_by_the_workers() -> None:
    batches = Batches([CELL], {CELL.key: range(100)}, workers=4)
    batches.learn(done(20, seconds=10.0))
    assert batches.seconds_left == pytest.approx(80 * 0.5 / 4)
