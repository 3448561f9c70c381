"""Arguments and options that several commands share."""

from __future__ import annotations

import math
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from duelmatch.errors import FileError

if TYPE_CHECKING:
    from duelmatch.files.problems import Document

EXAMPLE = "example:"
STDIN, STDIN_NAME = "-", "standard input"
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
        from duelmatch.files.problems import PROBLEM_BYTES, open_document, read_document
        from duelmatch.instances import example_path

        if self.is_stdin:
            return read_document(stdin_text(PROBLEM_BYTES), self.name)
        if self.name.startswith(EXAMPLE):
            return open_document(example_path(self.name.removeprefix(EXAMPLE)))
        return open_document(self.name)

    @property
    def stem(self) -> str:
        """The name without folders and suffix."""
        return Path(self.name.removeprefix(EXAMPLE)).stem


def stdin_text(limit: int) -> str:
    """Return what comes from standard input, which is text of at most ``limit`` bytes."""
    from duelmatch.files.text import naming, read_text

    with naming(STDIN_NAME):
        if sys.stdin is None:
            raise FileError("It is closed.")
        return read_text(sys.stdin.buffer, limit)


def _source(ctx: click.Context, param: click.Parameter, value: str) -> Source:
    return Source(value)


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
    help="Also draw a picture, to a path that ends in .svg, .png or .pdf.",
)
criterion_option = click.option(
    "--criterion",
    type=click.Choice(["borda", "condorcet", "both"]),
    default="both",
    show_default=True,
    help="What makes a matching the best.",
)
