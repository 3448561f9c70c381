"""The command line as tests use it: in this process, or as a program of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from click.testing import CliRunner, Result

from duelmatch.cli import main

PROGRAM = [sys.executable, "-m", "duelmatch"]


def run(*arguments: str, code: int | None = None, stdin: str | None = None) -> Result:
    """Run a command in this process; if an exit code is given, it must end with that."""
    result = CliRunner().invoke(main, arguments, stdin, prog_name="duelmatch", env={"COLUMNS": "80"})
    assert code is None or result.exit_code == code, result.output
    return result


def read(*arguments: str) -> Any:
    """Return what a command prints with --json, and nothing else."""
    result = run(*arguments, "--json", code=0)
    assert result.stderr == ""
    return json.loads(result.stdout)


def flat(text: str) -> str:
    """Return a text without the line breaks of the terminal."""
    return " ".join(text.split())


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell in which ``duelmatch`` is this program."""
    function = f'duelmatch() {{ {" ".join(PROGRAM)} "$@"; }}'
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {function}; {line}"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=os.environ | environment,
    )
