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

DEFAULT_ALGORITHM = "condorcet"
"""What is run unless told otherwise."""

PARAMETERS = ("epsilon", "schedule", "oracle", "assume_winner", "batch")
"""What some algorithms take besides delta and the seed."""

Criterion = Literal["borda", "condorcet"]


@dataclass(frozen=True, slots=True)
class About:
    """An algorithm in plain words, and its parameters with the values they have unless told otherwise."""

    criterion: Criterion
    guarantee: str
    use: str
    parameters: Mapping[str, Any]


ALGORITHMS: Mapping[str, About] = {
    "condorcet": About(
        "condorcet",
        "The Condorcet winner, if there is one, or one that loses to it by epsilon at most; wrong with "
        "probability delta at most. With --no-assume-winner, also if there is none.",
        "To find the matching that beats every other, with as few duels as can be.",
        {"epsilon": None, "assume_winner": True, "batch": 1},
    ),
    "borda": About(
        "borda",
        "The Borda winner, or a score within epsilon of the best; wrong with probability delta at most. "
        "Without epsilon, never ends if two share the best score.",
        "To find the best on average, with as few duels as can be; when a winner must exist.",
        {"epsilon": None, "batch": 1},
    ),
    "clucb-borda-pac": About(
        "borda",
        "The Borda score is within epsilon of the best; wrong with probability delta at most.",
        "To compare with the paper: a matching that does well on average, close calls left undecided.",
        {"epsilon": 0.05, "schedule": "sparse"},
    ),
    "clucb-borda-exact": About(
        "borda",
        "The Borda winner; wrong with probability delta at most. Never ends if two share the best score.",
        "To compare with the paper: the very best on average, whatever it takes.",
        {"schedule": "sparse"},
    ),
    "car-cond": About(
        "condorcet",
        "The Condorcet winner, if there is one; wrong with probability delta at most.",
        "To compare with the paper, when a Condorcet winner is sure to exist.",
        {"schedule": "sparse", "oracle": "lp"},
    ),
    "car-verify": About(
        "condorcet",
        "The Condorcet winner; wrong with probability delta at most, even if there is none.",
        "To compare with the paper, when it is not sure that a Condorcet winner exists.",
        {"schedule": "sparse", "oracle": "lp"},
    ),
    "car-parallel": About(
        "condorcet",
        "As car-verify, and few duels on average. Never ends if there is no winner.",
        "To compare with the paper, when delta is very small and the average cost counts.",
        {"schedule": "sparse", "oracle": "lp"},
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
        return own | {name: self.parameters.get(name) for name in PARAMETERS}


def settle(given: Mapping[str, Any], usual: Mapping[str, Any] | None = None) -> Settings:
    """Fill what was not given (None) with what is ``usual``, if anything is, or else with the defaults."""
    values = {name: value for name, value in (usual or {}).items() if value is not None}
    values |= {name: value for name, value in given.items() if value is not None}
    algorithm = values.get("algorithm", DEFAULT_ALGORITHM)
    own = ALGORITHMS[algorithm].parameters
    for name in PARAMETERS:
        if given.get(name) is not None and name not in own:
            raise click.UsageError(f"{algorithm} has no --{name.replace('_', '-')}.")
    parameters = {name: values.get(name, default) for name, default in own.items()}
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
        help="How much worse than the best is good enough, which saves duels where it is close: how much "
        "condorcet may lose to the winner by, how far the Borda score may be below the best.  "
        "[default: none, the very best; 0.05 for clucb-borda-pac]",
    ),
    click.option(
        "--assume-winner/--no-assume-winner",
        default=None,
        help="Whether condorcet may take for granted that a Condorcet winner exists. If not, it proves that "
        "its answer beats every other, or says that none does, which takes more duels.  [default: assume it]",
    ),
    click.option(
        "--batch",
        type=click.IntRange(1, 1_000_000),
        help="How many duels condorcet and borda want answered at least before they think again: as many as "
        "are asked at the same time.  [default: 1; 5 for ask, so that there is something to skip to; 10 for "
        "a study]",
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
