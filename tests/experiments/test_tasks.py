"""Runs are cut into tasks that take about as long as they should."""

from __future__ import annotations

import pytest

import duelmatch as dm
from duelmatch import experiments
from duelmatch.experiments import tasks
from duelmatch.experiments.cell import Cell
from duelmatch.experiments.simulation import Run
from duelmatch.experiments.tasks import Batch, Batches, Task, run_batch

CELL = experiments.single_cell(dm.instances.paper_example(), "car-cond", seed=1)


def done(task: Task, seconds_each: float) -> Batch:
    runs = {cell.key: tuple(Run(number, 0, 0.0, None) for number in numbers) for cell, numbers in task.parts}
    return Batch(runs, {key: seconds_each * len(own) for key, own in runs.items()})


def grid(number: int) -> list[Cell]:
    prefs = dm.instances.paper_example()
    return [
        experiments.single_cell(prefs, "car-cond", delta=0.1 / (place + 1), seed=1) for place in range(number)
    ]


def test_tasks_are_single_runs_first_and_then_as_long_as_they_should_be() -> None:
    batches = Batches([CELL], {CELL.key: range(1000)}, workers=1)
    first = next(batches)
    assert first.parts == ((CELL, (0,)),)
    assert batches.seconds_left is None
    batches.learn(done(first, 0.01))
    ((_, second),) = next(batches).parts
    assert len(second) == 50
    assert batches.runs_left == 999
    assert batches.seconds_left == pytest.approx(9.99)
    batches.learn(done(Task(((CELL, second),), 0.5), 0.005))
    ((_, third),) = next(batches).parts
    assert len(third) == 100, "what counts is the time per run of the last batch"
    rest = [number for task in batches for _, numbers in task.parts for number in numbers]
    assert rest == list(range(151, 1000))


def test_the_time_left_is_shared_by_the_workers() -> None:
    batches = Batches([CELL], {CELL.key: range(100)}, workers=4)
    batches.learn(done(Task(((CELL, tuple(range(20))),), 0.5), 0.5))
    assert batches.seconds_left == pytest.approx(80 * 0.5 / 4)


def test_cells_that_take_little_time_share_a_task() -> None:
    cells = grid(300)
    batches = Batches(cells, {cell.key: range(2) for cell in cells}, workers=1)
    batches.learn(done(next(batches), 0.01))
    sizes, seen = [], [(cells[0].key, 0)]
    for task in batches:
        sizes.append(len(task.parts))
        seen += [(cell.key, number) for cell, numbers in task.parts for number in numbers]
        batches.learn(done(task, 0.01))
    assert sorted(seen) == sorted((cell.key, number) for cell in cells for number in range(2))
    assert max(sizes) == 50, "of 0.01 seconds each"
    assert len(sizes) == 13, "600 runs of 0.01 seconds"


def test_a_worker_stops_when_its_time_is_over_and_the_rest_is_handed_out_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]

    def slow(cell: Cell, number: int) -> Run:
        clock[0] += 0.2
        return Run(number, 0, 0.2, None)

    monkeypatch.setattr(tasks, "run_once", slow)
    monkeypatch.setattr(tasks, "perf_counter", lambda: clock[0])
    one, other, third = cells = grid(3)
    batch = run_batch(Task(((one, (0, 1)), (other, (4, 5, 6)), (third, (0,))), 0.5))
    assert [run.number for run in batch.runs[one.key]] == [0, 1]
    assert [run.number for run in batch.runs[other.key]] == [4], "begun before the time was over"
    assert batch.left == {other.key: (5, 6), third.key: (0,)}
    batches = Batches(cells, {one.key: range(2), other.key: range(4, 8), third.key: range(1)}, workers=1)
    handed_out = [next(batches) for _ in cells]
    assert handed_out[2].parts == ((third, (0,)),)
    batches.learn(batch)
    rest = {cell.key: numbers for task in batches for cell, numbers in task.parts}
    assert rest[third.key] == (0,), "though all of it had been handed out before"
    assert batches.runs_left == 4


def test_however_long_it_takes_the_first_run_of_a_task_is_done() -> None:
    batch = run_batch(Task(((CELL, (0, 1)),), 0.0))
    assert (len(batch.runs[CELL.key]), batch.left) == (1, {CELL.key: (1,)})
