"""How an experiment is written down: a TOML document, or the same as a Python mapping, into an Experiment."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from duelmatch.errors import FileError, ProblemError
from duelmatch.experiments.experiment import Experiment, Instance, Variant
from duelmatch.experiments.problems import grid, instances_of, labelled
from duelmatch.explorers.catalogue import check
from duelmatch.files.documents import check_keys, whole
from duelmatch.files.text import naming, read_text

KEYS = ("title", "seed", "repetitions", "max_duels", "deltas", "problems", "algorithms")
FILE_BYTES = 1_000_000
MOST_CELLS = 100_000
MOST_RUNS = 1_000_000_000


def load(path: str | os.PathLike[str]) -> Experiment:
    """Read an experiment file. Paths in it start from the folder it is in.

    :raises FileError: if the file cannot be read or understood.
    :raises ProblemError: if what it says is not an experiment.
    """
    with naming(path) as file:
        text = read_text(file, FILE_BYTES)
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise FileError(f"The TOML is broken: {error}.") from None
        return from_dict({"title": file.stem} | content, folder=file.parent)


def from_dict(content: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Experiment:
    """Return the experiment that a mapping with the layout of the file describes.

    Besides what a file can say, a problem may be ``{"name": ..., "preferences": Preferences}``.
    """
    check_keys(content, KEYS, "An experiment")
    seed = whole(content.get("seed", 0), "seed", 0)
    title = content.get("title", "experiment")
    if not isinstance(title, str):
        raise ProblemError(f"title must be text, not {title!r:.80}.")
    max_duels = content.get("max_duels")
    instances = list(labelled(list(_instances(content, seed, Path(folder)))))
    variants = list(_variants(content))
    deltas = tuple(_deltas(content.get("deltas", [0.05])))
    repetitions = whole(content.get("repetitions", 100), "repetitions", 1)
    cells = len(instances) * len(variants) * len(deltas)
    if cells > MOST_CELLS or cells * repetitions > MOST_RUNS:
        raise ProblemError(
            f"The grid has {cells:,} cells and {cells * repetitions:,} runs, where {MOST_CELLS:,} cells and "
            f"{MOST_RUNS:,} runs are allowed."
        )
    return Experiment(
        title,
        seed,
        repetitions,
        deltas,
        tuple(instances),
        tuple(variants),
        None if max_duels is None else whole(max_duels, "max_duels", 1),
    )


def _tables(content: Mapping[str, Any], key: str, example: str) -> list[Mapping[str, Any]]:
    tables = content.get(key)
    if not isinstance(tables, (list, tuple)) or not all(isinstance(table, Mapping) for table in tables):
        raise ProblemError(f"An experiment needs {key}, such as: [[{key}]] {example}")
    if not tables:
        raise ProblemError(f"The list of {key} is empty.")
    return list(tables)


def _instances(content: Mapping[str, Any], seed: int, folder: Path) -> Iterator[Instance]:
    for number, table in enumerate(_tables(content, "problems", 'file = "example:lineup"'), start=1):
        try:
            yield from instances_of(table, seed, folder)
        except (ProblemError, FileError) as error:
            raise ProblemError(f"Problem {number}: {error}") from None


def _variants(content: Mapping[str, Any]) -> Iterator[Variant]:
    for table in _tables(content, "algorithms", 'name = "car-cond"'):
        if "name" not in table:
            raise ProblemError("An algorithm has no 'name'.")
        for parameters in grid({key: value for key, value in table.items() if key != "name"}):
            check(table["name"], 0.05, 0, parameters)
            yield Variant(table["name"], parameters)


def _deltas(given: Any) -> Iterator[float]:
    deltas = given if isinstance(given, (list, tuple)) else [given]
    if not deltas:
        raise ProblemError("The list of deltas is empty.")
    for delta in deltas:
        if isinstance(delta, bool) or not isinstance(delta, (int, float)) or not 1e-100 <= delta < 1:
            raise ProblemError(f"A delta must lie between 0 and 1, not {delta!r:.80}.")
        yield float(delta)
