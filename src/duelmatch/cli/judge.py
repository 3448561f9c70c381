"""A judge that is a command: it is given a question as JSON on standard input, and prints who is better.

    {"question": 7, "judge": "judge-1", "position": {"name": "chair"},
     "candidates": [{"name": "ann", "title": "Ann Lee", "text": "Has led two teams."}, {"name": "bob"}]}

The candidates come in the order to show; what is known of a candidate or position stands beside its name.
The answer is the name of one of the two, or = for no difference, and nothing else. A command is started for
every question. It fails if it takes too long, ends with another exit code than 0, or prints anything else.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict

import click

from duelmatch.cli.dialogue import NO_DIFFERENCE
from duelmatch.errors import JudgeError
from duelmatch.problem import Details, Duel, Problem

MOST_OUTPUT = 10_000
"""Bytes; a name has 200 characters at most."""

SHOWN = 200
"""Characters of what a judge printed that are shown in a message."""


class CommandJudge:
    """Starts a command for every question."""

    def __init__(self, name: str, command: str, problem: Problem, timeout: float) -> None:
        self._name, self._problem, self._timeout = name, problem, timeout
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise click.UsageError(f"--judge '{command:.80}' is not a command: {error}.") from None
        if not self._words or shutil.which(self._words[0]) is None:
            raise click.UsageError(f"--judge '{command:.80}': there is no such program to run.")

    async def __call__(self, duel: Duel) -> str | None:
        """Return what the command says.

        :raises JudgeError: if that is no answer.
        """
        process = await self._started()
        try:
            async with asyncio.timeout(self._timeout):
                printed, complaint = await _talk(process, self._question(duel))
                code = await process.wait()
        except BaseException as error:
            await _end(process)
            if isinstance(error, TimeoutError):
                raise JudgeError(f"It did not answer within {self._timeout:g} seconds.") from None
            raise
        if code:
            last = complaint.strip().splitlines()[-1:]
            why = f": {last[0]:.{SHOWN}}" if last else " and printed nothing on stderr"
            raise JudgeError(f"It ended with exit code {code}{why}.")
        return self._answer(printed, duel)

    async def _started(self) -> Process:
        """Start the command; who cancels this cannot lose sight of it."""
        in_group = os.name != "nt"
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *self._words, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=in_group
            )
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            await _end(await starting)
            raise
        except OSError as error:
            raise JudgeError(f"It cannot be started: {error.strerror}.") from None

    def _question(self, duel: Duel) -> bytes:
        candidates = [_described(name, self._problem.candidate_details) for name in duel.candidates]
        position = _described(duel.position, self._problem.position_details)
        question = {"question": duel.id, "judge": self._name, "position": position, "candidates": candidates}
        return json.dumps(question).encode() + b"\n"

    def _answer(self, printed: bytes, duel: Duel) -> str | None:
        answer = printed.decode("utf-8", errors="replace").strip()
        if answer in duel.candidates:
            return answer
        if answer == NO_DIFFERENCE:
            return None
        said = f"It printed '{answer:.{SHOWN}}'" if answer else "It printed nothing"
        raise JudgeError(f"{said}, and not one of the two names, nor = for no difference.")


def _described(name: str, details: Mapping[str, Details]) -> dict[str, str]:
    about = asdict(details.get(name, Details()))
    return {"name": name} | {key: value for key, value in about.items() if value is not None}


async def _talk(process: Process, question: bytes) -> tuple[bytes, str]:
    """Send a question; return what is printed, and the end of what is said on stderr."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    complaining = asyncio.create_task(_end_of(process.stderr))
    try:
        with suppress(BrokenPipeError, ConnectionResetError):  # it need not read the question
            process.stdin.write(question)
            await process.stdin.drain()
            process.stdin.close()
        printed = b""
        while chunk := await process.stdout.read(MOST_OUTPUT):
            printed += chunk
            if len(printed) > MOST_OUTPUT:
                raise JudgeError(f"It printed more than {MOST_OUTPUT:,} bytes.")
        return printed, await complaining
    finally:
        complaining.cancel()


async def _end_of(stream: asyncio.StreamReader) -> str:
    kept = b""
    while chunk := await stream.read(MOST_OUTPUT):
        kept = (kept + chunk)[-MOST_OUTPUT:]
    return kept.decode("utf-8", errors="replace")


async def _end(process: Process) -> None:
    """End a command with whatever it has started. Who cancels this waits for that all the same."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    ending, cancelled = asyncio.ensure_future(_drained(process)), False
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


async def _drained(process: Process) -> None:
    """Read the pipes of a command to their ends, or the event loop would find them open at its own."""
    assert process.stdout is not None
    assert process.stderr is not None
    with suppress(TimeoutError):  # something may have left the group, and hold them open
        async with asyncio.timeout(1):
            await asyncio.gather(_end_of(process.stdout), _end_of(process.stderr), process.wait())
