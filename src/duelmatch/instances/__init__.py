"""Test problems with known preferences: seeded generators, the paper's example, and bundled examples."""

from __future__ import annotations

from pathlib import Path

from duelmatch.errors import ProblemError, did_you_mean, listed
from duelmatch.files.problems import load_preferences
from duelmatch.instances.generators import (
    bradley_terry,
    cyclic,
    equal_gaps,
    paper_example,
    planted,
    random_problem,
    rings,
    uniform,
)
from duelmatch.preferences import Preferences

__all__ = [
    "bradley_terry",
    "cyclic",
    "equal_gaps",
    "example",
    "example_names",
    "example_path",
    "paper_example",
    "planted",
    "random_problem",
    "rings",
    "uniform",
]

_FOLDER = Path(__file__).with_name("examples")


def example_names() -> tuple[str, ...]:
    """Return the names of the bundled examples."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def example_path(name: str) -> Path:
    """Return the file of a bundled example."""
    known = example_names()
    if name not in known:
        hint = did_you_mean(name, known)
        raise ProblemError(f"There is no example '{name:.50}'; the examples are {listed(known)}.{hint}")
    return _FOLDER / f"{name}.yaml"


def example(name: str) -> Preferences:
    """Load a bundled example."""
    return load_preferences(example_path(name))
