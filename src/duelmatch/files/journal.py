"""The answers of a live run on disk: a CSV that loses nothing, whatever happens.

Beside ``votes.csv`` there is ``votes.csv.run.json``, which says which run the answers belong to, since only
the same one can replay them: the problem, the algorithm, its parameters and the seed.

- An answer is on disk (fsync) before :meth:`Journal.append` returns. A process that is killed while it writes
  leaves a torn last line, one without its end; the next start drops it and never reads it as something else.
- Taking an answer back rewrites the file whole or not at all.
- While a run is going on, ``votes.csv.lock`` is locked (:mod:`duelmatch.files.locking`).
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from duelmatch.answers import Answer
from duelmatch.errors import FileError
from duelmatch.files.answers import ANSWERS_BYTES, COLUMNS
from duelmatch.files.conditions import conditions_of
from duelmatch.files.documents import decoded, explaining, naming, read_bytes, read_text
from duelmatch.files.locking import Lock
from duelmatch.files.tables import append_table, dump_exactly, read_table
from duelmatch.files.writing import write_text
from duelmatch.problem import Problem
from duelmatch.version import __version__

SETTINGS_BYTES = 100_000

LONGEST_ROW = 10_000
"""Bytes, generously: an answer is three names of 200 characters at most."""

FORMAT = 1
"""Of the settings file; another number means that this program does not understand it."""


Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Layout(Generic[Kept]):
    """How an answer is written into a row."""

    columns: tuple[str, ...]
    read: Callable[[Sequence[str]], Kept]
    cells: Callable[[Kept], tuple[str, ...]]


COMPARISONS: Layout[Answer] = Layout(
    COLUMNS,
    lambda cells: Answer(cells[0], (cells[1], cells[2])),
    lambda answer: (answer.position, *answer.candidates),
)
"""What a person says who is asked about two at a time."""

TIES: Layout[Answer] = Layout(
    (*COLUMNS, "tie"),
    lambda cells: Answer(cells[0], ((cells[1], cells[2]),) if cells[3] == "yes" else (cells[1], cells[2])),
    lambda answer: (answer.position, *answer.candidates, "yes" if len(answer.groups) == 1 else "no"),
)
"""The same, from the first tie on."""


class Journal(Generic[Kept]):
    """The answers of one run. As a context manager it is locked, and what was there is read."""

    def __init__(self, path: Path, layout: Layout[Kept], wider: Layout[Kept] | None = None) -> None:
        """Keep answers at a path, in a layout, or in a wider one from the first that needs it."""
        self.path = path
        self.settings_path = path.with_name(path.name + ".run.json")
        self._layout, self._wider = layout, wider
        self.answers: list[Kept] = []
        self.torn = ""
        """What a killed process left of a last line; it does not count."""
        lock = path.with_name(path.name + ".lock")
        self._lock = Lock(lock, path, "End that one first, or choose another file for the answers.")
        self._size = 0

    def __enter__(self) -> Journal[Kept]:
        self._lock.acquire()
        try:
            self._read()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _read(self) -> None:
        with naming(self.path) as path:
            data = read_bytes(path, ANSWERS_BYTES) if path.exists() else b""
            if self._wider is not None and data.startswith(",".join(self._wider.columns).encode()):
                self._layout = self._wider
            sound = sound_length(data, self._layout.columns)
            if sound:
                _, rows = read_table(decoded(data[:sound]), self._layout.columns)
                self.answers = [self._layout.read(cells) for _, cells in rows]
            self.torn = data[sound:].decode("utf-8", errors="replace")
            self._size = sound

    def settings(self) -> dict[str, Any] | None:
        """Return the settings of the run whose answers these are; None if there are no answers."""
        if not self.answers:
            return None
        with naming(self.settings_path) as path:
            if not path.exists():
                raise FileError(
                    f"This file is missing, and without it nobody can tell which run the answers in "
                    f"{self.path.name} belong to. Put it back, or choose another file for the answers."
                )
            try:
                settings = json.loads(read_text(path, SETTINGS_BYTES))
            except (json.JSONDecodeError, RecursionError):
                settings = None
            if not isinstance(settings, dict) or settings.get("format") != FORMAT:
                raise FileError(
                    "This is not what duelmatch wrote there, or a newer version did. Put the right file "
                    "back, or choose another file for the answers."
                )
            return settings

    def begin(self, settings: Mapping[str, Any], problem: Problem) -> None:
        """Make the files ready for the next answer: the settings, the header, no torn line."""
        with naming(self.path) as path:
            dump_exactly(("candidate", "position"), problem.edges)  # refuses names that a CSV cannot hold
            if self.torn and self.answers:
                _cut(path, self._size)
        if not self.answers:
            self._save([])
            about = {"format": FORMAT, "duelmatch": __version__, **settings}
            with naming(self.settings_path) as path:
                write_text(path, json.dumps(about, indent=2) + "\n", SETTINGS_BYTES)
        self._size = self._size_on_disk()

    def append(self, answer: Kept) -> None:
        """Add an answer; when this returns, it is on disk."""
        self._check_unchanged()
        if self._wider is not None and self._layout.read(self._layout.cells(answer)) != answer:
            self._layout = self._wider
            self._save([*self.answers, answer])
        else:
            with naming(self.path) as path:
                append_table(path, self._table([answer]), ANSWERS_BYTES)
        self.answers.append(answer)
        self._size = self._size_on_disk()

    def undo(self) -> Kept:
        """Remove the last answer and return it."""
        self._check_unchanged()
        self._save(self.answers[:-1])
        self._size = self._size_on_disk()
        return self.answers.pop()

    def _save(self, answers: Sequence[Kept]) -> None:
        with naming(self.path) as path:
            if path.suffix.lower() != ".csv":
                raise FileError("Answers are kept as CSV: the name of the file must end in .csv.")
            write_text(path, self._table(answers), ANSWERS_BYTES)

    def _table(self, answers: Sequence[Kept]) -> str:
        return dump_exactly(self._layout.columns, [self._layout.cells(answer) for answer in answers])

    def _size_on_disk(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _check_unchanged(self) -> None:
        if self._size_on_disk() != self._size:
            raise FileError(
                f"{self.path}: Another program changed this file during the run, so the answer was not kept. "
                "Look at it, then start again."
            )


def fingerprint(problem: Problem) -> str:
    """Return what two problems share only if the same questions can be asked.

    That is names, order and edges, and what else a decision must obey, if anything.
    """
    parts = [problem.candidates, problem.positions, problem.edges]
    conditions = conditions_of(problem)
    content = json.dumps([*parts, conditions] if conditions else parts, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()


def sound_length(data: bytes, columns: tuple[str, ...] = COLUMNS) -> int:
    r"""Return how much of a file of answers was completely written.

    Every row ends with a newline, so what follows the last newline is torn; so is a row that ends inside
    quotes, since a name may contain a newline. Everything else is left for the reader to judge.

    >>> sound_length(b"position,winner,loser\nchair,ann,bob\nchair,an")
    36
    """
    sound = data.rfind(b"\n") + 1
    if sound == 0:
        header = ",".join(columns).encode()
        return 0 if header.startswith(data) else len(data)
    end = 0
    file = io.StringIO(data[:sound].decode("latin-1"), newline="")  # a character for each byte
    try:
        for _ in csv.reader(file, skipinitialspace=True, strict=True):
            end = file.tell()
    except csv.Error as error:
        if end and "unexpected end of data" in str(error) and len(data) - end <= LONGEST_ROW:
            return end
    return sound


def _cut(path: Path, size: int) -> None:
    with explaining("written"), open(path, "rb+") as file:
        file.truncate(size)
        file.flush()
        os.fsync(file.fileno())
