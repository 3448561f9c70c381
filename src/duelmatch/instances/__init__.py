"""Test problems with known preferences: seeded generators, the paper's example, and bundled examples."""

from duelmatch.instances.bundled import example, example_names, example_path
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
