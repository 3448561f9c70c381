"""One process at a time; whoever dies does not hold it any more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from duelmatch.errors import FileError
from duelmatch.files import locking
from duelmatch.files.locking import Lock

HOLD = """
from pathlib import Path
from duelmatch.files.locking import Lock
with Lock(Path("lock"), Path("votes.csv"), "Wait."):
    print("held", flush=True)
    input()
"""


def lock() -> Lock:
    return Lock(Path("lock"), Path("votes.csv"), "Wait for it.")


def test_a_lock_can_be_taken_again_once_released_and_leaves_nothing():
    for _ in range(2):
        with lock():
            assert Path("lock").read_text() == f"{os.getpid()}\n"
        assert os.listdir() == []


def test_the_holder_is_named():
    message = f"^votes.csv: This is in use by process {os.getpid()}. Wait for it.$"
    with lock(), pytest.raises(FileError, match=message):
        lock().acquire()


def test_a_killed_process_releases_it():
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FileError, match=f"in use by process {holder.pid}"):
            lock().acquire()
        holder.kill()
    assert Path("lock").exists()
    with lock():
        assert Path("lock").read_text() == f"{os.getpid()}\n"


def test_a_folder_that_is_not_there_is_said():
    with pytest.raises(FileError, match=r"nowhere: The lock file lock cannot be made: No such file"):
        Lock(Path("nowhere/lock"), Path("nowhere"), "").acquire()


def test_a_file_that_was_removed_before_it_is_locked_is_made_anew(monkeypatch):
    """As by its last holder, between our opening and our locking it."""
    take, taken = locking._lock, []

    def late(file):
        if not taken:
            Path("lock").unlink()
        taken.append(file)
        take(file)

    monkeypatch.setattr(locking, "_lock", late)
    with lock():
        assert len(taken) == 2
        assert Path("lock").read_text() == f"{os.getpid()}\n"
        with pytest.raises(FileError, match="in use"):
            lock().acquire()
