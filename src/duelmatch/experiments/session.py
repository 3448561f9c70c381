"""Running an experiment: what is missing is done, and saved as it is done, until nothing is missing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from duelmatch.errors import DuelmatchError, FileError
from duelmatch.experiments.evaluation import ExperimentStatus, status
from duelmatch.experiments.experiment import Experiment, load
from duelmatch.experiments.folder import Folder
from duelmatch.experiments.simulation import FAILED
from duelmatch.experiments.tasks import Batches, run_batch
from duelmatch.experiments.workers import Cluster, Processes, processors
from duelmatch.files.documents import AnyPath, explaining, naming
from duelmatch.files.locking import Lock
from duelmatch.version import __version__


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
) -> ExperimentStatus:
    """Do what is missing of an experiment, save the results in the folder ``out``, and return its status.

    Runs are done by ``jobs`` processes (one for each processor unless told otherwise), or by the Dask cluster
    whose ``scheduler`` is given. Every batch is on the disk before the next is looked at. Called again after
    any kind of end, this does what is missing and nothing else.

    :raises FileError: if ``out`` holds another experiment, unless ``accept_changes``; then the results that
        both have in common are used, and the others stay.
    """
    wanted = experiment if isinstance(experiment, Experiment) else load(experiment)
    path = Path(out)
    _make(path)
    with Lock(path / "lock", path, "Wait for it, or end it."):
        folder = Folder(path) if Folder.exists(path) else Folder.create(path, wanted)
        folder.parts.tidy()
        if wanted.with_seed is not None:
            wanted = wanted.with_seed(folder.seed)
        _check_same(folder, wanted, accept_changes)
        _do_missing(folder, wanted, jobs, scheduler, progress)
    return status(path)


def _make(path: Path) -> None:
    """Make the folder, unless it is there and holds an experiment, or nothing."""
    if path.is_dir() and not Folder.exists(path) and not all(map(_is_ours, path.iterdir())):
        raise FileError(f"{path}: There are other files in this folder; choose a new one.")
    with naming(path), explaining("made", "folder"):
        path.mkdir(parents=True, exist_ok=True)


def _is_ours(entry: Path) -> bool:
    """Whether an entry is what being killed at the very beginning may have left."""
    return entry.name in ("lock", "runs", "problems.parquet") or entry.suffix == ".tmp"


def _check_same(folder: Folder, wanted: Experiment, accept_changes: bool) -> None:
    sessions = folder.about["sessions"]
    versions = {session["versions"]["duelmatch"] for session in sessions}
    if versions - {__version__} and not accept_changes:
        raise FileError(
            f"{folder.path}: The results were made with duelmatch {', '.join(sorted(versions))}, and this is "
            f"{__version__}: other versions may give other results. To mix them, accept "
            "changes (--accept-changes)."
        )
    if folder.about["fingerprint"] == wanted.fingerprint:
        return
    if sessions and not accept_changes:
        raise FileError(
            f"{folder.path}: The experiment has changed since these results were made (the file, or a "
            "problem that it names). Choose another folder, or accept changes (--accept-changes), to keep "
            "what both have in common."
        )
    folder.adopt(wanted)


def _do_missing(
    folder: Folder,
    wanted: Experiment,
    jobs: int | None,
    scheduler: str | None,
    progress: Callable[[Tick], None] | None,
) -> None:
    missing = {key: np.flatnonzero(~done).tolist() for key, done in folder.done(wanted).items()}
    left = sum(map(len, missing.values()))
    if not left:
        return
    workers = Processes(min(jobs or processors(), left)) if scheduler is None else Cluster(scheduler)
    session = folder.begin_session({"jobs": workers.number, "scheduler": scheduler})
    batches = Batches(wanted.cells, missing, workers.number)
    labels = {cell.key: (cell.instance.label, cell.variant.label, cell.delta) for cell in wanted.cells}
    duels = wrong = failed = 0
    algorithms = [variant.algorithm for variant in wanted.variants]
    with closing(workers.map(run_batch, batches, algorithms)) as finished:
        for batch in finished:
            if batch.version != __version__:
                raise DuelmatchError(f"A worker has duelmatch {batch.version}, and this is {__version__}.")
            folder.append(batch, labels, session)
            batches.learn(batch)
            runs = [one for done in batch.runs.values() for one in done]
            duels += sum(one.duels for one in runs)
            wrong += sum(one.wrong and one.promised for one in runs)
            failed += sum(one.status == FAILED for one in runs)
            if progress:
                done = wanted.runs - batches.runs_left
                progress(Tick(wanted.runs, done, duels, wrong, failed, batches.seconds_left))
