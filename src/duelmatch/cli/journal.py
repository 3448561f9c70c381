"""The answers of a live run on disk: a CSV of votes that loses nothing, whatever happens.

Beside ``votes.csv`` there is ``votes.csv.run.json``, which says which run the answers belong to, since only
the same one can replay them: the problem, the algorithm, its parameters and the seed.

- An answer is on disk (fsync) before :meth:`Journal.append` returns. A process that is killed while it writes
  leaves a torn last line, one without its end; the next start drops it and never reads it as something else.
- Taking an answer back rewrites the file whole or not at all.
- While a run is going on, ``votes.csv.lock`` is locked by the operating system, which unlocks it when the
  process ends, however it ends. So no lock is ever left behind, even if the file is.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import duelmatch as dm
from duelmatch.errors import FileError
from duelmatch.files import VOTES_BYTES, VOTES_HEADER, Vote, append_votes, save_votes, votes_table
from duelmatch.locking import lock
from duelmatch.textfiles import naming, read_text, table, write_text

SETTINGS_BYTES = 100_000

LONGEST_ROW = 10_000
"""Bytes, generously: a vote is three names of 200 characters at most."""

FORMAT = 1
"""Of the settings file; another number means that this program does not understand it."""


class Journal:
    """The votes of one run. As a context manager it is locked, and what was there is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings_path = path.with_name(path.name + ".run.json")
        self.votes: list[Vote] = []
        self.torn = ""
        """What a killed process left of a last line; it does not count."""
        self._lock = _Lock(path)
        self._size = 0

    def __enter__(self) -> Journal:
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
            data = _bytes_of(path)
            sound = sound_length(data)
            try:
                text = data[:sound].decode("utf-8-sig")
            except UnicodeDecodeError:
                raise FileError("This is not UTF-8 text.") from None
            self.votes = [Vote(*cells) for _, cells in table(text, VOTES_HEADER)]
            self.torn = data[sound:].decode("utf-8", errors="replace")
            self._size = sound

    def settings(self) -> dict[str, Any] | None:
        """Return the settings of the run whose answers these are; None if there are no answers."""
        if not self.votes:
            return None
        with naming(self.settings_path) as path:
            if not path.exists():
                raise FileError(
                    f"This file is missing, and without it nobody can tell which run the answers in "
                    f"{self.path.name} belong to. Put it back, or choose another file with --votes."
                )
            try:
                settings = json.loads(read_text(path, SETTINGS_BYTES))
            except (json.JSONDecodeError, RecursionError):
                settings = None
            if not isinstance(settings, dict) or settings.get("format") != FORMAT:
                raise FileError(
                    "This is not what duelmatch wrote there, or a newer version did. Put the right file "
                    "back, or choose another file with --votes."
                )
            return settings

    def begin(self, settings: Mapping[str, Any], problem: dm.Problem) -> None:
        """Make the files ready for the next answer: the settings, the header, no torn line."""
        with naming(self.path) as path:
            votes_table(Vote(position, candidate, candidate) for candidate, position in problem.edges)
            if not self.votes:
                about = {"format": FORMAT, "duelmatch": dm.__version__, **settings}
                write_text(self.settings_path, json.dumps(about, indent=2) + "\n", SETTINGS_BYTES)
                save_votes([], path)
            elif self.torn:
                _cut(path, self._size)
            self._size = path.stat().st_size

    def append(self, vote: Vote) -> None:
        """Add an answer; when this returns, it is on disk."""
        self._check_unchanged()
        append_votes([vote], self.path)
        self.votes.append(vote)
        self._size = self.path.stat().st_size

    def undo(self) -> Vote:
        """Remove the last answer and return it."""
        self._check_unchanged()
        save_votes(self.votes[:-1], self.path)
        self._size = self.path.stat().st_size
        return self.votes.pop()

    def _check_unchanged(self) -> None:
        size = self.path.stat().st_size if self.path.exists() else 0
        if size != self._size:
            raise FileError(
                f"{self.path}: Another program changed this file during the run, so the answer was not kept. "
                "Look at it, then start again."
            )


def fingerprint(problem: dm.Problem) -> str:
    """Return what two problems share only if the same questions can be asked: names, order and edges."""
    content = json.dumps([problem.candidates, problem.positions, problem.edges], separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()


def sound_length(data: bytes) -> int:
    r"""Return how much of a file of votes was completely written.

    Every row ends with a newline, so what follows the last newline is torn; so is a row that ends inside
    quotes, since a name may contain a newline. Everything else is left for the reader to judge.

    >>> sound_length(b"position,winner,loser\nchair,ann,bob\nchair,an")
    36
    """
    sound = data.rfind(b"\n") + 1
    if sound == 0:
        header = ",".join(VOTES_HEADER).encode()
        return 0 if header.startswith(data) else len(data)
    end = sound
    while _ends_in_quotes(data[:end]):
        end = data.rfind(b"\n", 0, end - 1) + 1
        if end == 0 or len(data) - end > LONGEST_ROW:
            return sound
    return end


def _ends_in_quotes(data: bytes) -> bool:
    text = io.StringIO(data.decode("utf-8-sig", errors="replace"), newline="")
    try:
        for _ in csv.reader(text, skipinitialspace=True, strict=True):
            pass
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False


def _bytes_of(path: Path) -> bytes:
    try:
        if not path.exists() or path.stat().st_size == 0:
            return b""
        if path.stat().st_size <= VOTES_BYTES and path.is_file():
            return path.read_bytes()
    except OSError as error:
        raise FileError(f"The file cannot be read: {error.strerror}.") from None
    read_text(path, VOTES_BYTES)  # which says what is wrong
    raise FileError("The file cannot be read.")


def _cut(path: Path, size: int) -> None:
    try:
        with path.open("rb+") as file:
            file.truncate(size)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise FileError(f"The file cannot be written: {error.strerror}.") from None


class _Lock:
    """Keeps a second process from the same votes."""

    def __init__(self, votes: Path) -> None:
        self._votes = votes
        self._path = votes.with_name(votes.name + ".lock")
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        while self._file is None:
            try:
                file = self._path.open("a+", encoding="utf-8")
            except OSError as error:
                raise FileError(f"{self._path}: The file cannot be written: {error.strerror}.") from None
            try:
                lock(file)
                if _is_still_there(file, self._path):
                    self._file = file
            except OSError:
                file.seek(0)
                holder = file.read(20).strip()
                whom = f"process {holder}" if holder.isdecimal() else "another process"
                raise FileError(
                    f"{self._votes}: These votes are in use by {whom}, and two cannot ask at once. End that "
                    "one first, or choose another file with --votes."
                ) from None
            finally:
                if self._file is None:
                    file.close()
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def release(self) -> None:
        assert self._file is not None, "released what was not acquired"
        if os.name != "nt":  # which does not delete open files; elsewhere nobody may lock it in between
            with suppress(OSError):
                self._path.unlink()
        self._file.close()
        self._file = None


def _is_still_there(file: IO[str], path: Path) -> bool:
    """Whether a path still leads to an open file; who held the lock before us may have deleted it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
