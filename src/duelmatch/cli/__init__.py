"""The command line: a thin skin over the package, with one file per command.

A command is a module here with a click command called ``command``, and a line in ``COMMANDS``. Modules
are imported when their command runs, so that ``duelmatch --help`` stays quick. However a command ends, the
exit code says how: what is refused is one line on stderr, never a traceback.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, NoReturn

import click

from duelmatch.errors import DuelmatchError, MissingExtraError, TooLargeError, did_you_mean
from duelmatch.phrases import printable
from duelmatch.version import __version__

COMMANDS = {
    "check": "Describe a problem: its sizes, duels and maximum matchings.",
    "winners": "Find both winners from known preferences.",
    "plan": "Say how many duels to expect, from the bounds.",
    "decide": "Say what the answers of a panel decide, and what is open.",
    "ask": "Find the winner by asking you, duel by duel.",
    "explore": "Find the winner by asking programs, such as language models.",
    "simulate": "Run an algorithm many times on known preferences.",
    "experiment": "Compare algorithms over thousands of saved runs.",
    "estimate": "Estimate preferences from pairwise answers.",
    "study": "Run a study with many voters, kept in a database.",
    "serve": "Serve pages to organise studies and to vote, and the HTTP API.",
    "verify": "Check the log of a study, and recompute its verdict.",
    "store": "Upgrade, back up or restore a database of studies.",
    "algorithms": "List the algorithms, what they promise, and when to use them.",
    "examples": "List the bundled examples, or print one.",
    "completion": "Print the script that completes commands in your shell.",
}
"""Each command in the order of ``--help``, and what it does in a line."""


GIVEN = "duelmatch.given"
"""Where a context keeps the arguments of the command."""

FINE = 0
NO_WINNER = 1
WRONG_USAGE = 2  # click's own
BAD_INPUT = 3
TOO_LARGE = 4
MISSING_EXTRA = 5
GAVE_UP = 6
OUTPUT_FAILED = 7
DAMAGED = 8
INTERRUPTED = 130
PIPE_CLOSED = 141

CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What the system says when the disk is full, or broken."""


def refuse(message: str, exit_code: int) -> NoReturn:
    """Print one line on stderr and leave."""
    with suppress(OSError):  # stderr may be on the full disk, too
        click.echo(f"Error: {printable(message)}", err=True)
    raise click.exceptions.Exit(exit_code)


def exit_code(error: DuelmatchError) -> int:
    """Return the exit code that tells what went wrong."""
    match error:
        case TooLargeError():
            return TOO_LARGE
        case MissingExtraError():
            return MISSING_EXTRA
        case ValueError():  # FileError and ProblemError
            return BAD_INPUT
    return GAVE_UP


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what duelmatch refuses, and Ctrl-C, into one line on stderr, and a closed pipe into silence."""
    try:
        yield
    except DuelmatchError as error:
        refuse(str(error), exit_code(error))
    except (KeyboardInterrupt, click.Abort):
        refuse("Interrupted.", INTERRUPTED)
    except BrokenPipeError:  # click would end with 1
        raise click.exceptions.Exit(PIPE_CLOSED) from None


@contextmanager
def complete_output() -> Iterator[None]:
    """Make sure that all output is written, or that the exit code says that it is not; never a traceback."""
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise SystemExit(PIPE_CLOSED) from None
        if error.filename is not None or error.errno not in CANNOT_WRITE:
            raise
        with suppress(click.exceptions.Exit):
            refuse(f"The output cannot be written: {error.strerror}.", OUTPUT_FAILED)
        raise SystemExit(OUTPUT_FAILED) from None
    finally:
        _discard_what_is_stuck()


def _discard_what_is_stuck() -> None:
    """Send what cannot be written nowhere, or the interpreter would try again and complain at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Commands(click.Group):
    """The commands in COMMANDS, imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"duelmatch.cli.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments begin with; for a wrong name, propose the nearest right one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"No such command '{name}'.{did_you_mean(name, COMMANDS)}")
        ctx.meta[GIVEN] = args
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line, whatever characters, and however much, the output can hold."""
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        with complete_output(), warnings.catch_warnings():
            warnings.showwarning = _show_warning
            return super().main(*args, **options)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read the arguments."""
        with refusals():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; of an option that is unknown since its algorithm is, say the latter."""
        with refusals():
            try:
                return super().invoke(ctx)
            except click.NoSuchOption as error:
                check_algorithm(ctx.meta.get(GIVEN, []), error.ctx)
                raise


def check_algorithm(arguments: Sequence[str], ctx: click.Context | None) -> None:
    """Refuse arguments that name an algorithm which is not there."""
    from duelmatch.explorers.catalogue import described

    for given, following in zip(arguments, [*arguments[1:], ""], strict=True):
        option, _, value = given.partition("=")
        if option == "--algorithm":
            try:
                described(value or following)
            except DuelmatchError as error:
                raise click.UsageError(str(error), ctx) from None


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"Warning: {printable(str(message))}", err=True)


main = Commands(
    "duelmatch",
    help="""Find the best assignment of candidates to positions from head-to-head duels.

    FILE is a problem as YAML, JSON or CSV, or a bundled example named as example:NAME.
    """,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="""\b
Try:
  duelmatch check example:lineup
  duelmatch winners example:lineup --plot lineup.svg
  duelmatch plan example:lineup
  duelmatch simulate example:lineup
  duelmatch ask example:lineup

\b
Exit codes:
  0    fine
  1    there is no Condorcet winner, and that was the question; a log and its verdict do not agree
  2    wrong usage
  3    the file or the problem is bad
  4    too large for an exact computation
  5    an optional dependency is missing
  6    a computation gave up
  7    the output cannot be written, as on a full disk
  8    a log is damaged
  130  interrupted with Ctrl-C
  141  the reader of the output closed the pipe
""",
)
click.version_option(__version__, prog_name="duelmatch")(main)
