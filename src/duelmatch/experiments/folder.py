"""The folder of an experiment: what was planned, on what machine it ran, and the results.

``experiment.json`` says what was asked for and lists the sessions: when, with what versions, on what machine.
``problems.parquet`` holds every instance with its exact probabilities, so that the folder stands for itself.
``runs/`` holds the results (:mod:`duelmatch.experiments.parts`).
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from duelmatch.errors import FileError
from duelmatch.experiments.cell import Instance, Variant
from duelmatch.experiments.experiment import Experiment
from duelmatch.experiments.parts import Parts, words_of
from duelmatch.experiments.tasks import Batch
from duelmatch.files.conditions import conditions_from, conditions_of
from duelmatch.files.documents import explaining, naming, read_text
from duelmatch.files.writing import replacing, write_text
from duelmatch.graph import Mask
from duelmatch.phrases import spoken
from duelmatch.preferences import Preferences
from duelmatch.problem import Problem
from duelmatch.version import __version__

FORMAT = 1
FILE_BYTES = 100_000_000
LIBRARIES = ("numpy", "scipy", "highspy", "numba", "pyarrow", "distributed", "matplotlib")

Done = dict[str, Mask]


class Folder:
    """An experiment on disk. Make one with :meth:`create`, or open what is there."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.exists(self.path):
            raise FileError(
                f"{self.path}: There is no experiment here; `duelmatch experiment run` makes one."
            )
        with naming(self.path / "experiment.json") as file:
            try:
                self.about: dict[str, Any] = json.loads(read_text(file, FILE_BYTES))
                if self.about["format"] != FORMAT:
                    raise FileError("The experiment was made by another version of duelmatch.")
            except (json.JSONDecodeError, KeyError, TypeError):
                raise FileError("The file is damaged.") from None
        self.parts = Parts(self.path / "runs")

    @staticmethod
    def exists(path: Path) -> bool:
        """Whether there is an experiment in a folder."""
        return (path / "experiment.json").exists()

    @classmethod
    def create(cls, path: Path, experiment: Experiment) -> Folder:
        """Begin an experiment in a folder that has none."""
        with naming(path), explaining("made", "folder"):
            (path / "runs").mkdir(parents=True, exist_ok=True)
        _save(path, experiment, [])
        return cls(path)

    def adopt(self, experiment: Experiment) -> None:
        """Put another experiment into the place of this one, and keep the results they share."""
        _save(self.path, experiment, self.about["sessions"])
        self.about = json.loads(read_text(self.path / "experiment.json", FILE_BYTES))

    def begin_session(self, how: dict[str, Any]) -> int:
        """Write down when, how, with what and where runs are made from now on; return its number."""
        sessions = self.about["sessions"]
        sessions.append({"session": len(sessions) + 1, **how, **_surroundings()})
        with naming(self.path / "experiment.json") as file:
            write_text(file, _json(self.about), FILE_BYTES)
        return len(sessions)

    @property
    def seed(self) -> int:
        """The seed of the experiment, given or drawn when the folder was made."""
        seed: int = self.about["experiment"]["seed"]
        return seed

    def experiment(self) -> Experiment:
        """Return the experiment, as it was when it was run."""
        plan = self.about["experiment"]
        return Experiment(
            plan["title"],
            plan["seed"],
            plan["repetitions"],
            tuple(plan["deltas"]),
            tuple(_load_instances(self.path / "problems.parquet")),
            tuple(Variant(entry["algorithm"], entry["parameters"]) for entry in plan["algorithms"]),
            plan["max_duels"],
        )

    def done(self, experiment: Experiment) -> Done:
        """Return, for each cell, which repetitions are done."""
        done = {cell.key: np.zeros(experiment.repetitions, dtype=np.bool_) for cell in experiment.cells}
        for piece in self.parts.batches(["cell", "repetition"]):
            words, codes = words_of(piece["cell"])
            repetitions = piece["repetition"].to_numpy()
            for code, key in enumerate(words):
                own = repetitions[codes == code]
                if key in done:
                    done[key][own[own < experiment.repetitions]] = True
        return done

    def append(self, batch: Batch, labels: Mapping[str, tuple[str, str, float]], session: int) -> None:
        """Add the runs of a batch to the results; when this returns they are on the disk.

        ``labels`` says of every cell what its problem and algorithm are called, and its delta.
        """
        cells = [key for key, done in batch.runs.items() for _ in done]
        problems, algorithms, deltas = zip(*(labels[key] for key in cells), strict=True)
        runs = [run for done in batch.runs.values() for run in done]
        results = [run.result for run in runs]
        matchings = [None if result is None else result.matching for result in results]
        self.parts.append(
            {
                "cell": cells,
                "problem": problems,
                "algorithm": algorithms,
                "delta": deltas,
                "repetition": [run.number for run in runs],
                "seed": [run.seed for run in runs],
                "status": [run.status for run in runs],
                "right": [run.right if run.promised else None for run in runs],
                "allowed": [
                    delta if result is None else result.delta
                    for delta, result in zip(deltas, results, strict=True)
                ],
                "duels": [run.duels for run in runs],
                "seconds": [run.seconds for run in runs],
                "matching": [
                    None if found is None else [spoken(names) for names in found.values()]
                    for found in matchings
                ],
                "failure": [_said(run.failure) for run in runs],
                "session": [session] * len(runs),
            }
        )


def _said(failure: Exception | None) -> str | None:
    return None if failure is None else f"{type(failure).__name__}: {failure}"[:500]


def _save(path: Path, experiment: Experiment, sessions: list[Any]) -> None:
    """Write the problems first: the experiment exists once its description does."""
    _save_instances(path / "problems.parquet", experiment)
    plan = {
        "title": experiment.title,
        "seed": experiment.seed,
        "repetitions": experiment.repetitions,
        "deltas": experiment.deltas,
        "max_duels": experiment.max_duels,
        "algorithms": [
            {"algorithm": variant.algorithm, "parameters": dict(variant.parameters)}
            for variant in experiment.variants
        ],
        "problems": [
            {"family": instance.family, "parameters": dict(instance.parameters)}
            for instance in experiment.instances
        ],
    }
    about = {
        "format": FORMAT,
        "fingerprint": experiment.fingerprint,
        "experiment": plan,
        "sessions": sessions,
    }
    with naming(path / "experiment.json") as file:
        write_text(file, _json(about), FILE_BYTES)


def _json(about: Any) -> str:
    return json.dumps(about, indent=2, ensure_ascii=False) + "\n"


def _surroundings() -> dict[str, Any]:
    versions = {"duelmatch": __version__, "python": platform.python_version()}
    for library in LIBRARIES:
        with suppress(PackageNotFoundError):
            versions[library] = version(library)
    machine = {
        "system": platform.platform(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "byteorder": sys.byteorder,
    }
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions,
        "machine": machine,
    }


def _save_instances(path: Path, experiment: Experiment) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    problems = [instance.preferences.problem for instance in experiment.instances]
    table = pa.table(
        {
            "label": [instance.label for instance in experiment.instances],
            "family": [instance.family for instance in experiment.instances],
            "parameters": [json.dumps(dict(instance.parameters)) for instance in experiment.instances],
            "candidates": [list(problem.candidates) for problem in problems],
            "positions": [list(problem.positions) for problem in problems],
            "edges": [[list(edge) for edge in problem.edges] for problem in problems],
            "conditions": [json.dumps(conditions_of(problem)) for problem in problems],
            "matrix": pa.array(
                [instance.preferences.matrix.astype("<f8").tobytes() for instance in experiment.instances],
                pa.large_binary(),
            ),
        }
    )
    with naming(path), replacing(path) as file:
        pq.write_table(table, file)


def _load_instances(path: Path) -> list[Instance]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"{path}: The problems cannot be read: {str(error).splitlines()[0]}") from None
    instances = []
    for row in rows:
        edges = tuple((candidate, position) for candidate, position in row["edges"])
        conditions = conditions_from(json.loads(row.get("conditions") or "{}"))
        problem = Problem(tuple(row["candidates"]), tuple(row["positions"]), edges, **conditions)
        matrix = np.frombuffer(row["matrix"], dtype="<f8").reshape(len(edges), len(edges))
        preferences = Preferences.from_matrix(problem, matrix)
        instances.append(Instance(row["label"], row["family"], json.loads(row["parameters"]), preferences))
    return instances
