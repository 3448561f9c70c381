"""The exit codes, and how a refusal is shown: one line on stderr, never a traceback."""

from __future__ import annotations

from typing import NoReturn

import click

from duelmatch.errors import DuelmatchError, MissingExtraError, TooLargeError
from duelmatch.files.text import printable

FINE = 0
ANSWER_IS_NO = 1
WRONG_USAGE = 2  # click's own
BAD_INPUT = 3
TOO_LARGE = 4
MISSING_EXTRA = 5
GAVE_UP = 6
INTERRUPTED = 130
PIPE_CLOSED = 141


def refuse(message: str, exit_code: int) -> NoReturn:
    """Print one line on stderr and leave."""
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
