"""Results are saved as runs finish: nothing is lost, nothing is done twice, and the order does not matter."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest

import duelmatch as dm
from duelmatch import experiments
from duelmatch.experiments import parts, simulation
from duelmatch.experiments.evaluation import cell_summaries
from duelmatch.experiments.folder import Folder
from duelmatch.experiments.page import cell_table, error_table
from duelmatch.experiments.session import Tick
from experiments.small import small_file

MEASURED = {"seconds", "session"}
"""The columns that differ from one time to the next."""


def rows(out: Path) -> list[dict[str, object]]:
    table = experiments.results(out)
    return table.drop_columns(list(MEASURED)).to_pylist()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small experiment, done without interruption in one process."""
    folder = tmp_path_factory.mktemp("whole")
    experiments.run(small_file(folder), folder / "out", jobs=1)
    return folder / "out"


def test_every_run_of_the_grid_is_there_once(whole: Path) -> None:
    experiment = Folder(whole).experiment()
    found = [(row["cell"], row["repetition"]) for row in rows(whole)]
    assert found == [(cell.key, r) for cell in experiment.cells for r in range(6)]


def test_a_run_can_be_repeated_from_its_row(whole: Path) -> None:
    experiment = Folder(whole).experiment()
    cells = {cell.key: cell for cell in experiment.cells}
    for row in rows(whole)[::7]:
        cell = cells[str(row["cell"])]
        result = dm.simulate(
            cell.instance.preferences,
            cell.variant.algorithm,
            cell.delta,
            int(str(row["seed"])),
            cell.max_duels,
            **cell.variant.parameters,
        )
        assert (row["duels"], row["status"]) == (result.duels, result.status)
        assert result.matching is not None
        assert row["matching"] == list(result.matching.values())
        assert row["right"] is True


def test_several_processes_give_the_same_rows(whole: Path, tmp_path: Path) -> None:
    experiments.run(small_file(tmp_path), tmp_path / "out", jobs=2)
    assert rows(tmp_path / "out") == rows(whole)


def test_a_finished_experiment_is_left_alone(whole: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*.parquet")}
    status = experiments.run(small_file(tmp_path), whole)
    assert status.finished
    assert {path: path.stat().st_mtime_ns for path in whole.rglob("*.parquet")} == before
    assert len(status.sessions) == 1


class StopError(Exception):
    pass


def test_what_was_done_before_an_interruption_is_not_done_again(whole: Path, tmp_path: Path) -> None:
    seen: list[int] = []

    def stop(tick: Tick) -> None:
        seen.append(tick.done)
        raise StopError  # after the first batch, which has one run of each of the eight cells at most

    file, out = small_file(tmp_path), tmp_path / "out"
    with pytest.raises(StopError):
        experiments.run(file, out, jobs=1, progress=stop)
    saved = {(row["cell"], row["repetition"]) for row in rows(out)}
    assert len(saved) == seen[-1] < 48
    again: list[int] = []
    experiments.run(file, out, jobs=1, progress=lambda tick: again.append(tick.done))
    assert again[0] > seen[-1]
    sessions = experiments.results(out)["session"].to_pylist()
    assert sessions.count(1) == len(saved)
    assert sessions.count(2) == 48 - len(saved)
    assert rows(out) == rows(whole)


def start(file: Path, out: Path, stderr: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    code = "import sys; from duelmatch.cli import main; main(sys.argv[1:])"
    arguments = ["experiment", "run", str(file), "--out", str(out), "--jobs", "2"]
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.DEVNULL, stderr=stderr
    )


def saved_parts(out: Path) -> int:
    return len(list((out / "runs").glob("part-*"))) if (out / "runs").exists() else 0


def children(process: subprocess.Popen[bytes]) -> list[int]:
    return [child.pid for child in psutil.Process(process.pid).children(recursive=True)]


def is_alive(process: int) -> bool:
    """A zombie, whose end nobody has taken note of yet, is not."""
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    def met() -> bool:
        assert process.poll() is None, "it ended before it could be killed"
        return condition()

    wait_until(met)


def test_kill_9_loses_no_finished_run_and_the_figures_are_the_same_bytes(tmp_path: Path) -> None:
    """Killed twice in the middle, then finished: each run once, and the figures of a run in one go."""
    file = small_file(tmp_path, repetitions=120, algorithms=1, deltas="[0.2]")
    killed, straight = tmp_path / "killed", tmp_path / "straight"
    for more in (2, 1):
        before = saved_parts(killed)
        process = start(file, killed)
        wait_for(lambda before=before, more=more: saved_parts(killed) >= before + more, process)
        workers = children(process)
        assert len(workers) >= 2
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda workers=workers: not any(map(is_alive, workers)))
    status = experiments.status(killed)
    assert 0 < status.done < status.runs
    experiments.run(file, killed, jobs=1)
    experiments.run(file, straight, jobs=1)
    assert len(experiments.status(killed).sessions) == 3
    assert rows(killed) == rows(straight)
    assert experiments.results(killed).num_rows == 2 * 120
    drawn = []
    for out in (killed, straight):
        folder = Folder(out)
        summaries = cell_summaries(folder, folder.experiment())
        pictures = [
            experiments.figure(out, name, tmp_path / f"picture{suffix}").read_bytes()
            for name, suffix in (("duels-by-algorithm", ".svg"), ("duels-against-gap", ".png"))
        ]
        drawn.append((cell_table(summaries), error_table(summaries), pictures))
    assert drawn[0] == drawn[1]


def test_ctrl_c_says_what_is_saved(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(small_file(tmp_path, repetitions=2000), out)
    wait_for(lambda: saved_parts(out) >= 2, process)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert experiments.status(out).done > 0


def test_a_worker_that_is_killed_is_said_and_the_rest_can_be_done(tmp_path: Path) -> None:
    file, out = small_file(tmp_path, repetitions=300, algorithms=1), tmp_path / "out"
    process = start(file, out, stderr=subprocess.PIPE)
    wait_for(lambda: saved_parts(out) >= 2, process)
    grandchildren = [
        worker
        for server in psutil.Process(process.pid).children()  # workers are children of the fork server
        for worker in server.children()
    ]
    grandchildren[0].kill()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 6
    assert b"A worker process was killed" in said
    assert b"Traceback" not in said
    assert 0 < experiments.status(out).done < 1200


def test_a_changed_file_is_noticed_and_refused_unless_told_otherwise(tmp_path: Path) -> None:
    out = tmp_path / "out"
    experiments.run(small_file(tmp_path, repetitions=2), out, jobs=1)
    changed = small_file(tmp_path, repetitions=3, deltas="[0.2]")
    with pytest.raises(dm.FileError, match="has changed since these results were made"):
        experiments.run(changed, out, jobs=1)
    status = experiments.run(changed, out, jobs=1, accept_changes=True)
    assert (status.runs, status.done, status.unused) == (12, 12, 8)
    found = experiments.results(out)
    assert found.num_rows == 12
    assert sorted(found["session"].to_pylist()) == [1] * 8 + [2] * 4


def test_another_version_is_noticed_and_refused_unless_told_otherwise(tmp_path: Path) -> None:
    file, out = small_file(tmp_path, repetitions=2), tmp_path / "out"
    experiments.run(file, out, jobs=1)
    about = json.loads((out / "experiment.json").read_text())
    about["sessions"][0]["versions"]["duelmatch"] = "0.0.1"
    (out / "experiment.json").write_text(json.dumps(about))
    with pytest.raises(dm.FileError, match=r"made with duelmatch 0\.0\.1"):
        experiments.run(file, out, jobs=1)
    experiments.run(file, out, jobs=1, accept_changes=True)


def test_versions_parameters_and_machine_are_beside_the_results(whole: Path) -> None:
    about = json.loads((whole / "experiment.json").read_text())
    assert about["experiment"]["algorithms"][0] == {
        "algorithm": "clucb-borda-pac",
        "parameters": {"epsilon": 0.2},
    }
    (session,) = about["sessions"]
    assert session["versions"]["duelmatch"] == dm.__version__
    assert {"python", "numpy", "scipy", "highspy"} <= set(session["versions"])
    assert session["machine"]["processors"] == os.cpu_count()


def test_two_cannot_run_in_one_folder(tmp_path: Path) -> None:
    file, out = small_file(tmp_path, repetitions=2000), tmp_path / "out"
    process = start(file, out)
    try:
        wait_for(lambda: saved_parts(out) >= 1, process)
        with pytest.raises(dm.FileError, match=f"in use by process {process.pid}"):
            experiments.run(file, out, jobs=1)
    finally:
        process.kill()
        process.wait()


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(dm.FileError, match="There are other files in this folder"):
        experiments.run(small_file(tmp_path), tmp_path, jobs=1)


def test_a_run_that_fails_is_saved_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What really fails (an exact count that is out of reach) takes a minute, so one run is made to fail."""
    simulated_run = simulation.simulated_run
    failing = {cell.seed(1) for cell in experiments.load(small_file(tmp_path)).cells}

    def fail_sometimes(
        prefs: dm.Preferences, algorithm: str, delta: float, seed: int, *rest: Any, **more: Any
    ) -> Any:
        if seed in failing:
            raise dm.TooLargeError("out of reach")
        return simulated_run(prefs, algorithm, delta, seed, *rest, **more)

    monkeypatch.setattr(simulation, "simulated_run", fail_sometimes)
    status = experiments.run(small_file(tmp_path, repetitions=3), tmp_path / "out", jobs=1)
    assert (status.done, status.failed) == (24, 8)
    assert status.failures == ("TooLargeError: out of reach",)
    statuses = experiments.results(tmp_path / "out")["status"].to_pylist()
    assert [place for place, word in enumerate(statuses) if word == "failed"] == list(range(1, 24, 3))


def batch(number: int) -> dict[str, list[object]]:
    row = dict.fromkeys(parts.SCHEMA.names) | {"cell": "a", "repetition": number}
    return {name: [value] for name, value in row.items()}


def test_quick_cells_share_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duelmatch.experiments.tasks.SECONDS", 1e6)
    file = small_file(tmp_path, repetitions=1, deltas=str([0.5 / (k + 1) for k in range(15)]), max_duels="50")
    experiments.run(file, tmp_path / "out", jobs=1)
    table = experiments.results(tmp_path / "out")
    assert (len(set(table["cell"].to_pylist())), table.num_rows) == (60, 60)
    assert saved_parts(tmp_path / "out") == 2, "the first run by itself, as nothing was known of its length"


def test_parts_are_merged_and_nothing_counts_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MERGED", 4)
    saved = parts.Parts(tmp_path)
    for number in range(21):
        saved.append(batch(number))
    assert sorted(part.level for part in saved.parts) == [0, 1, 2]
    again = parts.Parts(tmp_path)
    found = [number for piece in again.batches(["repetition"]) for number in piece["repetition"].to_pylist()]
    assert found == list(range(21))


def test_being_killed_while_merging_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MERGED", 4)
    saved = parts.Parts(tmp_path)
    for number in range(3):
        saved.append(batch(number))
    monkeypatch.setattr(Path, "unlink", _dies)
    with pytest.raises(StopError):
        saved.append(batch(3))
    monkeypatch.undo()
    assert len(list(tmp_path.glob("part-*"))) == 5
    (tmp_path / ".left.tmp").write_bytes(b"half a part")
    again = parts.Parts(tmp_path)
    assert sum(piece.num_rows for piece in again.batches(["repetition"])) == 4
    again.tidy()
    assert [path.name for path in tmp_path.iterdir()] == [again.parts[0].name]


def _dies(path: Path, missing_ok: bool = False) -> None:
    if path.suffix == ".parquet":
        raise StopError


def test_a_damaged_part_is_named(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "part-0-00000000-00000000.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(
        dm.FileError, match=r"part-0-.*The results cannot be read: .*[^.]\. Delete it: its runs are"
    ):
        list(parts.Parts(tmp_path).batches(["cell"]))


def test_an_experiment_without_a_seed_keeps_the_one_it_was_begun_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Problems that are drawn from the seed come back, too."""
    numbers = iter(range(100, 200))
    monkeypatch.setattr("duelmatch.experiments.experiment.drawn_seed", lambda: next(numbers))
    file, out = tmp_path / "unseeded.toml", tmp_path / "out"
    file.write_text(
        'repetitions = 2\n[[problems]]\ngenerator = "uniform"\ncandidates = 3\npositions = 2\n'
        '[[algorithms]]\nname = "clucb-borda-pac"\nepsilon = 0.3\n'
    )
    experiments.run(file, out, jobs=1)
    assert experiments.status(out).seed == 100
    (out / "runs" / "part-0-00000001-00000001.parquet").unlink()
    status = experiments.run(file, out, jobs=1)
    assert (status.seed, status.done, status.unused, len(status.sessions)) == (100, 2, 0, 2)
    seeded = tmp_path / "seeded.toml"
    seeded.write_text("seed = 100\n" + file.read_text())
    experiments.run(seeded, tmp_path / "other", jobs=1)
    assert rows(out) == rows(tmp_path / "other")
    file.write_text(file.read_text() + "[[algorithms]]\nname = 'borda'\nepsilon = 0.3\n")
    with pytest.raises(dm.FileError, match="has changed since these results were made"):
        experiments.run(file, out, jobs=1)
    assert experiments.run(file, out, jobs=1, accept_changes=True).seed == 100


def test_repetitions_that_are_not_wanted_any_more_count_for_no_others(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(whole)
    fewer = replace(folder.experiment(), repetitions=2)
    assert all(done.all() for done in folder.done(fewer).values())
    batches = parts.Parts.batches

    def late_ones(self: parts.Parts, columns: list[str]) -> Iterator[Any]:
        for piece in batches(self, columns):
            yield piece.filter(pa.array(piece["repetition"].to_numpy() >= 2))

    monkeypatch.setattr(parts.Parts, "batches", late_ones)
    assert not any(done.any() for done in folder.done(fewer).values())
