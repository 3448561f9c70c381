"""Arguments and options that several commands share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from duelmatch.preferences import Preferences
    from duelmatch.problem import Problem

EXAMPLE = "example:"


@dataclass(frozen=True, slots=True)
class Source:
    """The FILE of a command: what the user called it, and where it is."""

    name: str
    path: Path

    def problem(self) -> Problem:
        """Load the problem; a CSV of preferences is one, too."""
        from duelmatch.files import load_preferences, load_problem

        if self._is_preference_table():
            return load_preferences(self.path).problem
        return load_problem(self.path)

    def preferences(self) -> Preferences:
        """Load the preferences."""
        from duelmatch.files import load_preferences

        return load_preferences(self.path)

    def has_preferences(self) -> bool:
        """Whether the file holds preferences, right or wrong, besides the problem."""
        from duelmatch.documents import parse
        from duelmatch.files import PROBLEM_BYTES
        from duelmatch.layout import sections_of
        from duelmatch.textfiles import naming, read_text

        if self.path.suffix.lower() == ".csv":
            return self._is_preference_table()
        with naming(self.path) as file:
            return "preferences" in sections_of(parse(read_text(file, PROBLEM_BYTES), file.suffix.lower()))

    def _is_preference_table(self) -> bool:
        from duelmatch.files import PROBLEM_BYTES
        from duelmatch.textfiles import naming, read_text

        if self.path.suffix.lower() != ".csv":
            return False
        with naming(self.path) as file:
            first_line = read_text(file, PROBLEM_BYTES).lstrip().partition("\n")[0]
        return "probability" in first_line.casefold()


def _source(ctx: click.Context, param: click.Parameter, value: str) -> Source:
    from duelmatch.instances import example_path

    if value.startswith(EXAMPLE):
        return Source(value, example_path(value.removeprefix(EXAMPLE)))
    return Source(value, Path(value))


def _complete_source(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the bundled examples once their prefix is begun, and files."""
    from duelmatch.instances import example_names

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


file_argument = click.argument("source", metavar="FILE", callback=_source, shell_complete=_complete_source)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for other programs to read.")
plot_option = click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PICTURE",
    help="Also draw a picture: a path that ends in .svg, .png or .pdf.",
)
criterion_option = click.option(
    "--criterion",
    type=click.Choice(["borda", "condorcet", "both"]),
    default="both",
    show_default=True,
    help="What makes a matching the best.",
)
