"""What an experiment is: instances, variants of algorithms, deltas and repetitions, and the grid they span.

A cell of the grid is one instance, one variant and one delta; it is run ``repetitions`` times. It is known by
its ``key``, a hash of what determines its runs, and the seed of a run follows from key and repetition. So
neither the order of the grid nor anything added to it changes the runs that were there before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from duelmatch.errors import ProblemError
from duelmatch.explorers.catalogue import SEED_BITS, described
from duelmatch.files.layout import conditions_of
from duelmatch.preferences import Criterion, Preferences


def digest(content: Any) -> str:
    """Return a hash of plain data, the same in every process and on every machine."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def derived_seed(*coordinates: Any) -> int:
    """Return the seed that belongs to some coordinates.

    >>> derived_seed(1, "planted", 0) == derived_seed(1, "planted", 0) != derived_seed(1, "planted", 1)
    True
    """
    return int(digest(coordinates), 16) >> (256 - SEED_BITS)


def shown(parameters: Mapping[str, Any]) -> str:
    """Return parameters for a label: 'positions 3, gap 0.1'."""
    return ", ".join(
        f"{name.replace('_', ' ')} {f'{value:g}' if isinstance(value, float) else value}"
        for name, value in parameters.items()
    )


@dataclass(frozen=True)
class Instance:
    """A problem with known preferences: the ``family`` it comes from, and where in the family it stands."""

    label: str
    family: str
    parameters: Mapping[str, Any]
    preferences: Preferences = field(repr=False, compare=False)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the problem and the probabilities; not of names given to them by the experiment."""
        problem = self.preferences.problem
        matrix = hashlib.sha256(self.preferences.matrix.astype("<f8").tobytes()).hexdigest()
        parts = [problem.candidates, problem.positions, problem.edges, matrix]
        conditions = conditions_of(problem)
        return digest([*parts, conditions] if conditions else parts)


@dataclass(frozen=True)
class Variant:
    """An algorithm with the parameters that the experiment gives it."""

    algorithm: str
    parameters: Mapping[str, Any]

    @property
    def label(self) -> str:
        """What the variant is called in tables and figures."""
        return f"{self.algorithm} ({shown(self.parameters)})" if self.parameters else self.algorithm

    @property
    def criterion(self) -> Criterion:
        """What the algorithm looks for."""
        return described(self.algorithm).criterion

    @property
    def epsilon(self) -> float | None:
        """How far from the best an answer may be; None if it has to be the best."""
        epsilon: float | None = described(self.algorithm).checked(self.parameters).get("epsilon")
        return epsilon


@dataclass(frozen=True)
class Cell:
    """One instance, one variant, one delta: what is run many times.

    ``key`` is a hash of all that determines its runs, the seed of the experiment included.
    """

    instance: Instance
    variant: Variant
    delta: float
    max_duels: int | None
    key: str

    @classmethod
    def of(cls, seed: int, instance: Instance, variant: Variant, delta: float, max_duels: int | None) -> Cell:
        """Return the cell with its key."""
        parameters = dict(variant.parameters)
        key = digest([seed, instance.fingerprint, variant.algorithm, parameters, delta, max_duels])
        return cls(instance, variant, delta, max_duels, key[:20])

    def seed(self, repetition: int) -> int:
        """Return the seed of a run, with which :func:`duelmatch.simulate` repeats it."""
        return derived_seed(self.key, repetition)


@dataclass(frozen=True)
class Experiment:
    """A grid of cells, each to be run ``repetitions`` times. ``max_duels`` is the budget of a run.

    If the seed was drawn, since none was given, ``with_seed`` makes the same experiment with another one.
    """

    title: str
    seed: int
    repetitions: int
    deltas: tuple[float, ...]
    instances: tuple[Instance, ...]
    variants: tuple[Variant, ...]
    max_duels: int | None = None
    with_seed: Callable[[int], Experiment] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "instances", tuple(map(_as_saved, self.instances)))
        for what, labels in (
            ("instances", [instance.label for instance in self.instances]),
            ("algorithms", [variant.label for variant in self.variants]),
            ("deltas", [f"{delta!r}" for delta in self.deltas]),
        ):
            twice = next((label for label in labels if labels.count(label) > 1), None)
            if twice is not None:
                hint = "; give one another name" if what == "instances" else ""
                raise ProblemError(f"Two {what} are both '{twice}'{hint}.")
        keys: dict[str, Cell] = {}
        for cell in self.cells:
            other = keys.setdefault(cell.key, cell)
            if other is not cell:
                raise ProblemError(
                    f"'{other.instance.label}' and '{cell.instance.label}' are the same instance: "
                    "remove one, or what differs between them would be luck alone."
                )

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The grid, instance by instance."""
        return tuple(
            Cell.of(self.seed, instance, variant, delta, self.max_duels)
            for instance in self.instances
            for variant in self.variants
            for delta in self.deltas
        )

    @property
    def runs(self) -> int:
        """How many runs the whole grid takes."""
        return len(self.cells) * self.repetitions

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that determines the results; what stands in comments does not."""
        cells = [
            [cell.key, cell.instance.label, dict(cell.instance.parameters), cell.variant.label]
            for cell in self.cells
        ]
        return digest([self.repetitions, cells])


def _as_saved(instance: Instance) -> Instance:
    """Return an instance as it is when saved and loaded: the last bit of P(b, a) is that of 1 - P(a, b)."""
    preferences = instance.preferences
    return replace(instance, preferences=Preferences.from_matrix(preferences.problem, preferences.matrix))
