"""The command line: a thin skin over the package, with one file per command.

A command is a module here with a click command called ``command``, and a line in ``COMMANDS``. Modules
are imported when their command runs, so that ``duelmatch --help`` stays quick.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from duelmatch import __version__
from duelmatch.cli.status import INTERRUPTED, PIPE_CLOSED, exit_code, refuse
from duelmatch.errors import DuelmatchError

COMMANDS = {
    "check": "Say what a problem is: its sizes, duels and maximum matchings.",
    "winners": "Find both winners from known preferences.",
    "plan": "Say how many duels to expect, from the bounds.",
    "ask": "Find the winner by asking you, duel by duel.",
    "simulate": "Run an algorithm many times on known preferences.",
    "experiment": "Compare algorithms over thousands of saved runs.",
    "estimate": "Estimate preferences from pairwise results.",
    "study": "Run a study with many voters, kept in a database.",
    "serve": "Serve pages to organise studies and to vote, and the HTTP API.",
    "store": "Upgrade, back up or restore a database of studies.",
    "algorithms": "List the algorithms, what they promise, and when to use them.",
    "examples": "List the bundled examples, or print one.",
    "completion": "Print the script that completes commands in your shell.",
}
"""Each command in the order of ``--help``, and what it does in a line."""


class Commands(click.Group):
    """The commands in COMMANDS, imported on demand, with the exit codes of :mod:`duelmatch.cli.status`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"duelmatch.cli.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line, whatever characters the output can hold."""
        _never_fail_to_encode()
        return super().main(*args, **options)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read the arguments; Ctrl-C is heard here too."""
        try:
            return super().make_context(*args, **options)
        except KeyboardInterrupt:
            refuse("Interrupted.", INTERRUPTED)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; turn what duelmatch refuses into one line, and a closed pipe into silence."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except DuelmatchError as error:
            refuse(str(error), exit_code(error))
        except (KeyboardInterrupt, click.Abort):
            refuse("Interrupted.", INTERRUPTED)
        except BrokenPipeError:
            _discard_output()
            ctx.exit(PIPE_CLOSED)
        return result


def _never_fail_to_encode() -> None:
    """Print, and read, a question mark for a character that the terminal's encoding lacks."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _discard_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter ends without a complaint."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
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
  1    the answer is no (such as: there is no Condorcet winner)
  2    wrong usage
  3    the file or the problem is bad
  4    too large for an exact answer
  5    an optional dependency is missing
  6    a computation gave up
  130  interrupted with Ctrl-C
""",
)
@click.version_option(__version__, prog_name="duelmatch")
def main() -> None:
    """Find the best assignment of candidates to positions from head-to-head duels.

    FILE is a problem as YAML, JSON or CSV, or a bundled example named as example:NAME.
    """
