"""Which algorithm a command runs, and how: the catalogue, the options, and what they come to.

The names are repeated from :mod:`duelmatch.explorers` so that help and completion need not import it; a test
keeps the two alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import click

from duelmatch.cli.options import Between

DEFAULT_ALGORITHM = "car-verify"
"""What is run unless told otherwise."""

DEFAULTS: Mapping[str, Any] = {"epsilon": 0.05, "schedule": "sparse", "oracle": "lp"}
"""The parameters that some algorithms take, with the values they have unless told otherwise."""


Criterion = Literal["borda", "condorcet"]


@dataclass(frozen=True, slots=True)
class About:
    """An algorithm in plain words."""

    criterion: Criterion
    guarantee: str
    use: str
    parameters: tuple[str, ...]


ALGORITHMS: Mapping[str, About] = {
    "clucb-borda-pac": About(
        "borda",
        "The Borda score is within epsilon of the best; wrong with probability delta at most.",
        "To find a matching that does well on average, when close calls need not be decided.",
        ("epsilon", "schedule"),
    ),
    "clucb-borda-exact": About(
        "borda",
        "The Borda winner; wrong with probability delta at most. Never ends if two share the best score.",
        "To find the very best on average, whatever it takes.",
        ("schedule",),
    ),
    "car-cond": About(
        "condorcet",
        "The Condorcet winner, if there is one; wrong with probability delta at most.",
        "To find the matching that beats every other, when one is sure to exist.",
        ("schedule", "oracle"),
    ),
    "car-verify": About(
        "condorcet",
        "The Condorcet winner; wrong with probability delta at most, even if there is none.",
        "When it is not sure that a Condorcet winner exists.",
        ("schedule", "oracle"),
    ),
    "car-parallel": About(
        "condorcet",
        "As car-verify, and few duels on average. Never ends if there is no winner.",
        "When delta is very small and the average cost counts.",
        ("schedule", "oracle"),
    ),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is determined by, besides the problem and the answers; nothing is left open."""

    algorithm: str
    delta: float
    seed: int
    parameters: Mapping[str, Any]

    @property
    def criterion(self) -> Criterion:
        """What makes a matching the best: 'borda' or 'condorcet'."""
        return ALGORITHMS[self.algorithm].criterion

    def as_dict(self) -> dict[str, Any]:
        """Return all of it by name; parameters that the algorithm does not have are None."""
        own = {"algorithm": self.algorithm, "delta": self.delta, "seed": self.seed}
        return own | {name: self.parameters.get(name) for name in DEFAULTS}


def settle(given: Mapping[str, Any], recorded: Mapping[str, Any] | None = None) -> Settings:
    """Fill what was not given (None) from an earlier run, if there is one, or else with the defaults."""
    values = dict(recorded or {}) | {name: value for name, value in given.items() if value is not None}
    algorithm = values.get("algorithm", DEFAULT_ALGORITHM)
    taken = ALGORITHMS[algorithm].parameters
    for name in DEFAULTS:
        if given.get(name) is not None and name not in taken:
            raise click.UsageError(f"{algorithm} has no --{name}.")
    parameters = {name: values.get(name) or DEFAULTS[name] for name in taken}
    return Settings(algorithm, float(values.get("delta", 0.05)), int(values.get("seed", 0)), parameters)


Command = TypeVar("Command", bound=Callable[..., Any])


def settings_options(command: Command) -> Command:
    """Add the options that :func:`settle` reads."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option(
        "--algorithm",
        type=click.Choice(tuple(ALGORITHMS)),
        metavar="NAME",
        help=f"What to run; `duelmatch algorithms` lists the names.  [default: {DEFAULT_ALGORITHM}]",
    ),
    click.option("--delta", type=Between(0, 1), help="How often the answer may be wrong.  [default: 0.05]"),
    click.option(
        "--epsilon",
        type=Between(0, 1),
        help=f"How far from the best score clucb-borda-pac may end.  [default: {DEFAULTS['epsilon']}]",
    ),
    click.option(
        "--schedule",
        type=click.Choice(["sparse", "every"]),
        help="Think after every round, as in the paper, or a few percent apart.  [default: sparse]",
    ),
    click.option(
        "--oracle",
        type=click.Choice(["lp", "subgradient"]),
        help="How the car algorithms solve their games: exactly, or as in the paper.  [default: lp]",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**63 - 1),
        help="Where random choices start from; the same seed gives the same run.  [default: 0]",
    ),
    click.option("--max-duels", type=click.IntRange(0), help="Stop a run after so many duels, with a guess."),
)
