"""Running an experiment: what is missing is done, and kept as it is done, until nothing is missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from duelmatch import __version__
from duelmatch.errors import DuelmatchError, FileError
from duelmatch.experiments.batches import Batches
from duelmatch.experiments.experiment import Experiment
from duelmatch.experiments.folder import Folder
from duelmatch.experiments.layout import load
from duelmatch.experiments.running import FAILED, Batch
from duelmatch.experiments.schedulers import Cluster, Here, Processes, Scheduler
from duelmatch.experiments.status import Status, status
from duelmatch.files.locking import Lock

AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Tick:
    """How far it is: all runs and those done; of this session, the duels and the wrong and failed runs."""

    runs: int
    done: int
    duels: int
    wrong: int
    failed: int
    seconds_left: float | None


def run(
    experiment: Experiment | AnyPath,
    out: AnyPath,
    jobs: int | None = None,
    scheduler: str | None = None,
    accept_changes: bool = False,
    progress: Callable[[Tick], None] | None = None,
) -> Status:
    """Do what is missing of an experiment, keep the results in the folder ``out``, and return its status.

    Runs are done by ``jobs`` processes (one for each processor unless told otherwise), or by the Dask cluster
    whose ``scheduler`` is given. Every batch is on the disk before the next is looked at. Called again after
    any kind of end, this does what is missing and nothing else.

    :raises FileError: if ``out`` holds another experiment, unless ``accept_changes``; then the results that
        both have in common are used, and the others are kept.
    """
    wanted = experiment if isinstance(experiment, Experiment) else load(experiment)
    folder = _folder(Path(out), wanted)
    with Lock(folder.path / "lock", folder.path, "Wait for it, or end it."):
        folder = Folder(folder.path)
        folder.parts.tidy()
        _check_same(folder, wanted, accept_changes)
        _do_missing(folder, wanted, jobs, scheduler, progress)
    return status(folder.path)


def _folder(path: Path, wanted: Experiment) -> Folder:
    if Folder.exists(path):
        return Folder(path)
    if path.is_dir() and not all(map(_is_ours, path.iterdir())):
        raise FileError(f"{path}: There are other files in this folder; choose a new one.")
    return Folder.create(path, wanted)


def _is_ours(entry: Path) -> bool:
    """Whether an entry is what being killed at the very beginning may have left."""
    return entry.name in ("lock", "runs", "problems.parquet") or entry.suffix == ".tmp"


def _check_same(folder: Folder, wanted: Experiment, accept_changes: bool) -> None:
    sessions = folder.about["sessions"]
    versions = {session["versions"]["duelmatch"] for session in sessions}
    if versions - {__version__} and not accept_changes:
        raise FileError(
            f"{folder.path}: The results were made with duelmatch {', '.join(sorted(versions))}, and this is "
            f"{__version__}: other versions may give other results. --accept-changes mixes them."
        )
    if folder.about["fingerprint"] == wanted.fingerprint:
        return
    if sessions and not accept_changes:
        raise FileError(
            f"{folder.path}: The experiment has changed since these results were made (the file, or a "
            "problem that it names). Choose another folder, or keep what both have in common with "
            "--accept-changes."
        )
    folder.adopt(wanted)


def _do_missing(
    folder: Folder,
    wanted: Experiment,
    jobs: int | None,
    scheduler: str | None,
    progress: Callable[[Tick], None] | None,
) -> None:
    done = folder.done(wanted)
    left = {key: int((~flags).sum()) for key, flags in done.items()}
    if not any(left.values()):
        return
    workers = _scheduler(min(jobs or processors(), sum(left.values())), scheduler)
    session = folder.begin_session({"jobs": workers.workers, "scheduler": scheduler})
    batches = Batches(wanted.cells, done, workers.workers)
    labels = {cell.key: (cell.instance.label, cell.variant.label, cell.delta) for cell in wanted.cells}
    duels = wrong = failed = 0
    with closing(workers.batches(batches)) as finished:
        for batch in finished:
            _check_version(batch)
            folder.keep(batch, labels[batch.key], session)
            batches.learn(batch)
            left[batch.key] -= len(batch.runs)
            duels += sum(one.duels for one in batch.runs)
            wrong += sum(one.right is False and one.status != "budget_spent" for one in batch.runs)
            failed += sum(one.status == FAILED for one in batch.runs)
            if progress:
                runs_left = sum(left.values())
                seconds = batches.seconds_left(left)
                progress(Tick(wanted.runs, wanted.runs - runs_left, duels, wrong, failed, seconds))


def _scheduler(jobs: int, address: str | None) -> Scheduler:
    if address is not None:
        return Cluster(address)
    return Here() if jobs == 1 else Processes(jobs)


def _check_version(batch: Batch) -> None:
    if batch.version != __version__:
        raise DuelmatchError(f"A worker has duelmatch {batch.version}, and this is {__version__}.")


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
