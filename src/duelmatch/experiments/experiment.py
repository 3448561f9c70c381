"""What an experiment is, a grid of cells, and how it is written down: as TOML, or the same as a mapping.

A [[problems]] table names exactly one source: ``generator`` with its parameters, ``file`` (a problem with
preferences), ``votes`` (a CSV of pairwise results, from which preferences are estimated), or ``preflib`` (an
ordinal file). A list in a table stands for each of its values.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any

from duelmatch.errors import FileError, ProblemError, brief, listed
from duelmatch.estimation import estimate_preferences
from duelmatch.experiments.cell import Cell, Instance, Variant, derived_seed, digest, shown
from duelmatch.explorers.catalogue import check, drawn_seed, whole
from duelmatch.files.documents import check_keys, naming, read_text
from duelmatch.files.preflib import load_preflib
from duelmatch.files.problems import EXAMPLE, load_preferences
from duelmatch.instances.generators import generator
from duelmatch.preferences import Preferences

KEYS = ("title", "seed", "repetitions", "max_duels", "deltas", "problems", "algorithms")
FILE_BYTES = 1_000_000
MOST_CELLS = 100_000
MOST_RUNS = 1_000_000_000
SOURCES = ("generator", "file", "votes", "preflib", "preferences")


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

    Besides what a file can say, a problem may be ``{"name": ..., "preferences": Preferences}``. Without a
    seed one is drawn; a folder keeps the one that it was begun with.
    """
    if not isinstance(content, Mapping):
        raise ProblemError(f"An experiment is a mapping with the layout of its file, not {brief(content)}.")
    check_keys(content, KEYS, "An experiment")
    drawn = "seed" not in content
    seed = drawn_seed() if drawn else whole("seed", content["seed"])
    title = content.get("title", "experiment")
    if not isinstance(title, str):
        raise ProblemError(f"title must be text, not {title!r:.80}.")
    max_duels = content.get("max_duels")
    instances = list(_labelled(list(_instances(content, seed, Path(folder)))))
    variants = list(_variants(content))
    deltas = tuple(_deltas(content.get("deltas", [0.05])))
    repetitions = whole("repetitions", content.get("repetitions", 100), 1)
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
        None if max_duels is None else whole("max_duels", max_duels, 1),
        (lambda other: from_dict({**content, "seed": other}, folder)) if drawn else None,
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
            yield from _instances_of(table, seed, folder)
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


def grid(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every choice of one value for each parameter; a list stands for its values.

    >>> list(grid({"gap": [0.1, 0.2], "positions": 3}))
    [{'gap': 0.1, 'positions': 3}, {'gap': 0.2, 'positions': 3}]
    """
    choices = [value if isinstance(value, list) else [value] for value in given.values()]
    for name, values in zip(given, choices, strict=True):
        if not values:
            raise ProblemError(f"The list of '{name}' is empty.")
    for choice in product(*choices):
        yield dict(zip(given, choice, strict=True))


def _instances_of(table: Mapping[str, Any], seed: int, folder: Path) -> Iterator[Instance]:
    """Yield the instances that one [[problems]] table stands for."""
    given = [source for source in SOURCES if source in table]
    if len(given) != 1:
        raise ProblemError(
            f"it needs exactly one of {', '.join(SOURCES[:-1])}, not {listed(given) or 'none'}."
        )
    (source,) = given
    value = table[source]
    rest = {key: entry for key, entry in table.items() if key not in (source, "name")}
    name = table.get("name", value if isinstance(value, str) else source)
    if not isinstance(name, str) or not name:
        raise ProblemError(f"the name must be text, not {name!r:.80}.")
    if source == "generator":
        yield from _generated(name, value, rest, seed)
    elif source == "preferences":
        if not isinstance(value, Preferences):
            raise ProblemError(f"preferences must be Preferences, not {value!r:.80}; in a file, use 'file'.")
        yield Instance(name, name, {}, value)
    else:
        yield Instance(name, name, {}, _loaded(source, value, rest, folder))


def _loaded(source: str, value: Any, rest: Mapping[str, Any], folder: Path) -> Preferences:
    if not isinstance(value, str):
        raise ProblemError(f"{source} must be a path in quotes, not {value!r:.80}.")
    check_keys(rest, {"file": (), "votes": ("method", "smoothing"), "preflib": ()}[source], f"A '{source}'")
    if source == "votes":
        return estimate_preferences(folder / value, **rest)
    if source == "preflib":
        return load_preflib(folder / value)
    return load_preferences(value if value.startswith(EXAMPLE) else folder / value)


def _generated(name: str, called: Any, given: Mapping[str, Any], seed: int) -> Iterator[Instance]:
    """Yield the grid of a generator's parameters.

    ``instances`` draws so many instances at every point of the grid. Their seeds derive from the
    experiment's, unless ``seed`` gives them.
    """
    make = generator(called)
    known = list(signature(make).parameters)
    seeded = "seed" in known
    check_keys(given, [*known, *(["instances"] if seeded else [])], f"'{make.__name__}'")
    draws = whole("instances", given.get("instances", 1), 1)
    if draws > 1 and "seed" in given:
        raise ProblemError("it has both 'instances' and 'seed'; give a list of seeds alone.")
    for parameters in grid({key: value for key, value in given.items() if key != "instances"}):
        _check_numbers(parameters, make)
        for draw in range(draws):
            own = {"seed": derived_seed(seed, make.__name__, parameters, draw)} if seeded else {}
            place = parameters | ({"instance": draw + 1} if draws > 1 else {})
            made = make(**own | parameters)
            if not isinstance(made, Preferences):
                raise ProblemError(f"the generator '{called}' must return Preferences, not {brief(made)}.")
            yield Instance(name, name, place, made)


def _check_numbers(parameters: Mapping[str, Any], make: Callable[..., Preferences]) -> None:
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ProblemError(f"{name} must be a number, not {value!r:.80}.")
        if name in ("candidates", "positions", "seed") and not isinstance(value, int):
            raise ProblemError(f"{name} must be a whole number, not {value!r}.")
    for name, parameter in signature(make).parameters.items():
        if parameter.default is parameter.empty and name not in parameters:
            raise ProblemError(f"'{make.__name__}' needs '{name}'.")


def _labelled(instances: list[Instance]) -> Iterator[Instance]:
    """Add to each label the parameters in which the instances of its family differ."""
    families: dict[str, list[Instance]] = {}
    for instance in instances:
        families.setdefault(instance.family, []).append(instance)
    for instance in instances:
        others = families[instance.family]
        names = dict.fromkeys(name for other in others for name in other.parameters)
        differing = {
            name: instance.parameters[name]
            for name in names
            if name in instance.parameters and len({other.parameters.get(name) for other in others}) > 1
        }
        label = f"{instance.family} ({shown(differing)})" if differing else instance.family
        yield replace(instance, label=label)
