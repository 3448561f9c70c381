"""A long measurement that can be stopped and resumed: every result is saved as a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from duelmatch.experiments.workers import Processes

T = TypeVar("T")


def measured(
    function: Callable[[T], Any],
    tasks: Sequence[T],
    jobs: int,
    path: Path | None = None,
    key: Callable[[T], str] = repr,
) -> Iterator[tuple[T, Any]]:
    """Yield each task with its result: those that a file has, then the others as they finish, saved before.

    Results are what JSON can hold; tuples come back from the file as lists. A task is known in the file by
    its key.
    """
    known = {} if path is None else saved(path)
    left = []
    for number, task in enumerate(tasks):
        if key(task) in known:
            yield task, known[key(task)]
        else:
            left.append((number, task))
    with closing(Processes(jobs).map(partial(_numbered, function), left)) as finished:
        for number, result in finished:
            if path is not None:
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key(tasks[number]), result]) + "\n")
            yield tasks[number], result


def _numbered(function: Callable[[T], Any], numbered: tuple[int, T]) -> tuple[int, Any]:
    number, task = numbered
    return number, function(task)


def saved(path: Path) -> dict[str, Any]:
    """Return what is in a file, and cut off a last line that was not written to its end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        return {}
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    with path.open("rb+") as file:
        file.truncate(whole)
    return dict(json.loads(line) for line in data[:whole].splitlines())
