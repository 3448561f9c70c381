"""Test problems with known preferences: seeded generators, the paper's example, and bundled examples."""

from __future__ import annotations

from duelmatch.files.problems import EXAMPLE, example_names, example_path, load_preferences
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


def example(name: str) -> Preferences:
    """Load a bundled example."""
    return load_preferences(EXAMPLE + name)
