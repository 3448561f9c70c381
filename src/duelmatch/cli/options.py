"""Arguments and options that several commands share: the file, the algorithm and how it is run."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from duelmatch.errors import FileError, ProblemError
from duelmatch.explorers.catalogue import (
    DEFAULT,
    SMALLEST_DELTA,
    Parameter,
    algorithms,
    described,
    drawn_seed,
)

if TYPE_CHECKING:
    from duelmatch.files.problems import Document
    from duelmatch.preferences import Criterion

Command = TypeVar("Command", bound=Callable[..., Any])

STDIN, STDIN_NAME = "-", "standard input"
STDOUT = "-"
ANY_PATH, FILE_PATH = click.Path(path_type=Path), click.Path(dir_okay=False, path_type=Path)
FOLDER_PATH = click.Path(file_okay=False, path_type=Path)
DELTA = 0.05
DELTA_HELP = "How often the result may be wrong: 0.05 is 1 run in 20."


class Source:
    """The FILE of a command: what the user called it, and what is in it, which is read once."""

    def __init__(self, given: str) -> None:
        self.is_stdin = given == STDIN
        self.name = STDIN_NAME if self.is_stdin else given

    @cached_property
    def document(self) -> Document:
        """What is in the file."""
        from duelmatch.files.preflib import ALL_SUFFIXES, open_preflib
        from duelmatch.files.problems import PROBLEM_BYTES, open_document, read_document

        if self.is_stdin:
            with given_text(STDIN, PROBLEM_BYTES) as text:
                pass
            return read_document(text, self.name)
        if Path(self.name).suffix.lower() in ALL_SUFFIXES:
            return open_preflib(self.name)
        return open_document(self.name)

    @property
    def stem(self) -> str:
        """The name without folders and suffix."""
        from duelmatch.files.problems import EXAMPLE

        return Path(self.name.removeprefix(EXAMPLE)).stem


@contextmanager
def given_text(file: str | Path, limit: int) -> Iterator[str]:
    """Give the text of a file, or of standard input (``-``), of ``limit`` bytes at most; refusals name it."""
    from duelmatch.files.documents import naming, read_text

    is_stdin = str(file) == STDIN
    with naming(STDIN_NAME if is_stdin else file) as path:
        if is_stdin and sys.stdin is None:
            raise FileError("It is closed.")
        yield read_text(sys.stdin.buffer if is_stdin else path, limit)


def _source(ctx: click.Context, param: click.Parameter, value: str) -> Source:
    return Source(value)


def _complete_source(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the bundled examples once their prefix is begun, and files."""
    from duelmatch.files.problems import EXAMPLE, example_names

    examples = [EXAMPLE + name for name in example_names()]
    items = [CompletionItem(name) for name in examples if incomplete and name.startswith(incomplete)]
    return items or [CompletionItem(incomplete, type="file")]


class Between(click.FloatRange):
    """A finite number above ``low``, and below ``high`` or at most that."""

    def __init__(self, low: float, high: float | None = None, max_open: bool = True) -> None:
        super().__init__(low, high, min_open=True, max_open=max_open and high is not None)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


def flag(name: str, help: str, *called: str) -> Callable[[Command], Command]:
    """Return an option that is given or not."""
    return click.option(name, *called, is_flag=True, help=help)


file_argument = click.argument("source", metavar="FILE", callback=_source, shell_complete=_complete_source)
plot_option = click.option(
    "--plot",
    type=FILE_PATH,
    metavar="PICTURE",
    help="Also draw a picture, to a path that ends in .svg, .png, .pdf or .pgf.",
)
criterion_option = click.option(
    "--criterion",
    type=click.Choice(["borda", "condorcet", "both"]),
    default="both",
    help="What makes a matching the best.",
)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a run is determined by, besides the problem and the answers; nothing is left open."""

    algorithm: str
    delta: float
    seed: int
    parameters: Mapping[str, Any]

    @property
    def criterion(self) -> Criterion:
        """What makes a matching the best: 'borda' or 'condorcet'."""
        return described(self.algorithm).criterion

    def as_dict(self) -> dict[str, Any]:
        """Return all of it by name; parameters that the algorithm does not have are None."""
        own = {"algorithm": self.algorithm, "delta": self.delta, "seed": self.seed}
        return own | dict.fromkeys(_parameters()) | dict(self.parameters)


def votes_option(ending: str) -> Callable[[Command], Command]:
    """Return the option for the file of a run's answers, called after the problem's with another ending."""
    default = f"FILE's name with .{ending}.csv, here"
    return click.option(
        "--votes",
        type=FILE_PATH,
        metavar="CSV",
        help=f"The file of the answers, where a run is resumed.  [default: {default}]",
    )


def settle(given: Mapping[str, Any], usual: Mapping[str, Any] | None = None) -> RunSettings:
    """Fill in what was not given (None): what is ``usual`` for the command, or else the defaults."""
    values = {name: value for name, value in (usual or {}).items() if value is not None}
    values |= {name: value for name, value in given.items() if value is not None}
    algorithm = described(values.get("algorithm", DEFAULT))
    for name in _parameters():
        if given.get(name) is not None and name not in algorithm.defaults:
            raise click.UsageError(f"{algorithm.name} has no --{name.replace('_', '-')}.")
    try:
        parameters = algorithm.checked({name: values[name] for name in algorithm.defaults if name in values})
    except ProblemError as error:
        raise click.UsageError(str(error)) from None
    seed = values["seed"] if "seed" in values else drawn_seed()
    return RunSettings(algorithm.name, float(values.get("delta", DELTA)), int(seed), parameters)


class AlgorithmName(click.ParamType[str]):
    """The name of an algorithm; for a wrong one, the nearest right one is proposed."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Look the name up."""
        try:
            if described(value).answered_by == "panel":
                self.fail(
                    f"{value} counts a known panel of judges, and here is only a crowd to sample: see "
                    "duelmatch decide --help.",
                    param,
                    ctx,
                )
            return described(value).name
        except ProblemError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the names."""
        return [CompletionItem(name) for name in algorithms("crowd") if name.startswith(incomplete)]


def settings_options(**usual: Any) -> Callable[[Command], Command]:
    """Add the options that :func:`settle` reads: those that all algorithms have, and those of each.

    ``usual`` are the defaults that the command has instead of the algorithms'.
    """
    common = [
        click.option(
            "--algorithm",
            type=AlgorithmName(),
            help=f"What to run; `duelmatch algorithms` lists the names.  [default: {DEFAULT}]",
        ),
        click.option("--delta", type=Between(SMALLEST_DELTA, 1), help=f"{DELTA_HELP}  [default: {DELTA}]"),
        *(_option(owned, usual) for owned in _parameters().values()),
        click.option(
            "--seed",
            type=click.IntRange(0),
            help="The seed of all random choices: the same seed and the same answers give the same run.  "
            "[default: one is drawn, and shown]",
        ),
        click.option(
            "--max-duels", type=click.IntRange(0), help="Stop a run after this many duels, with a guess."
        ),
    ]

    def add(command: Command) -> Command:
        for option in reversed(common):
            command = option(command)
        return command

    return add


def _parameters() -> dict[str, dict[str, Parameter]]:
    """Return the parameters of all algorithms by name, and then by algorithm."""
    found: dict[str, dict[str, Parameter]] = {}
    for name in algorithms("crowd"):
        for parameter in described(name).parameters:
            found.setdefault(parameter.name, {})[name] = parameter
    return found


def _option(owned: Mapping[str, Parameter], usual: Mapping[str, Any]) -> Callable[[Command], Command]:
    """Return the option for a parameter; the first algorithm to have it describes it."""
    parameter = next(iter(owned.values()))
    flag = f"--{parameter.name.replace('_', '-')}"
    users: dict[str, list[str]] = {}
    for name, own in owned.items():
        users.setdefault(_shown(usual.get(own.name, own.default)), []).append(name)
    choices = dict.fromkeys(choice for own in owned.values() for choice in own.choices)
    kinds: dict[type, Any] = {float: float, int: int, str: click.Choice(tuple(choices)), bool: None}
    defaults = "; ".join(f"{value} for {', '.join(names)}" for value, names in users.items())
    return click.option(
        f"{flag}/--no-{flag[2:]}" if parameter.kind is bool else flag,
        type=kinds[parameter.kind],
        default=None,
        help=f"{parameter.help}  [default: {defaults}]",
    )


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
