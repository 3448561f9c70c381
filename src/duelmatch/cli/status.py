"""How the program ends: its exit codes, refusals in one line on stderr, and output that nobody can take."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

import click

from duelmatch.errors import DuelmatchError, MissingExtraError, TooLargeError
from duelmatch.files.text import printable

FINE = 0
NO_WINNER = 1
WRONG_USAGE = 2  # click's own
BAD_INPUT = 3
TOO_LARGE = 4
MISSING_EXTRA = 5
GAVE_UP = 6
OUTPUT_FAILED = 7
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
