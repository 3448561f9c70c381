"""Whole files: what is refused before it is read, and that a file is written whole or not at all."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cases import each
from duelmatch.errors import FileError
from duelmatch.files.documents import read_text
from duelmatch.files.problems import load_problem, save_problem
from duelmatch.files.tables import append_table
from duelmatch.files.writing import replacing, write_text
from files.team import TEAM, TEAM_YAML, check_refused, refusal, write


@each(
    ("name", "content", "fragment"),
    [
        ("missing.yaml", None, "missing.yaml: There is no such file."),
        ("team.txt", "candidates: [ann]", "must end in .yaml, .yml, .json or .csv"),
        ("team", "candidates: [ann]", "must end in .yaml, .yml, .json or .csv"),
        ("no\0pe.yaml", None, "cannot have a null character"),
        ("empty.yaml", "", "empty.yaml: The file is empty."),
        ("empty.json", " \n", "The file is empty."),
        ("empty.csv", b"\xef\xbb\xbf\n", "The file is empty."),
        ("comment.yaml", "# nothing\n", "The file is empty."),
        ("null.json", "null", "The file is empty."),
        ("zero.yaml", b"\x7fELF\0\0", "not a text file: byte 4 is zero"),
        ("utf16.csv", "candidate,position".encode("utf-16"), "not a text file"),
        ("latin.yaml", "candidates: [J\xf6rg]".encode("latin-1"), "not UTF-8 text: byte 14 is wrong"),
        ("bom.csv", b"\xef\xbb\xbfann\xff", "not UTF-8 text: byte 6 is wrong"),
    ],
)
def test_what_is_not_a_text_file_is_refused(name, content, fragment):
    check_refused(load_problem, name, content, fragment)


def test_a_directory_is_not_a_file():
    Path("team.yaml").mkdir()
    sentence = "team.yaml: This is a directory, not a file."
    assert refusal(load_problem, "team.yaml") == refusal(save_problem, TEAM, "team.yaml") == sentence


def test_a_pipe_is_neither_waited_for_nor_replaced():
    os.mkfifo("team.yaml")
    sentence = "team.yaml: This is a device or pipe, not a file."
    assert refusal(load_problem, "team.yaml") == refusal(save_problem, TEAM, "team.yaml") == sentence
    assert stat.S_ISFIFO(os.stat("team.yaml").st_mode)


def test_a_link_to_an_open_pipe_is_not_replaced():
    """As /dev/stdout is in a pipeline, and what a shell makes of >(...)."""
    reading, writing = os.pipe()
    try:
        with pytest.raises(FileError, match="device or pipe"), replacing(Path(f"/dev/fd/{writing}")) as file:
            file.write(b"x")
    finally:
        os.close(reading)
        os.close(writing)


def test_permission_denied_is_said(monkeypatch):
    def deny(*_, **__):
        raise PermissionError(13, "Permission denied")

    write("team.yaml", TEAM_YAML)
    monkeypatch.setattr("builtins.open", deny)
    sentence = "team.yaml: The file cannot be read: Permission denied."
    assert refusal(load_problem, Path("team.yaml")) == sentence
    assert "cannot be written: Permission denied" in refusal(save_problem, TEAM, "team.yaml")
    assert "cannot be written: Permission denied" in refusal(append_table, Path("votes.csv"), "a,b\n", 100)


def test_a_file_over_the_limit_is_too_large():
    write("large.yaml", TEAM_YAML + "#" * 10_000_000)
    assert "too large: more than 5,000,000 bytes" in refusal(load_problem, "large.yaml")


def test_a_file_may_be_as_large_as_the_limit():
    write_text(Path("cafe"), "cafe", 4)
    assert read_text(Path("cafe"), 4) == "cafe"
    assert read_text(io.BytesIO(b"cafe"), 4) == "cafe"
    with pytest.raises(FileError, match="too large to load: 5 bytes of 4"):
        write_text(Path("cafe"), "cafes", 4)


@pytest.fixture
def steps(monkeypatch):
    """Note what is flushed to the disk, and when a file takes the place of another."""
    noted, sync, replace = [], os.fsync, os.replace

    def synced(descriptor):
        noted.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def replaced(*paths):
        noted.append("replaced")
        replace(*paths)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    return noted


def test_a_file_is_on_the_disk_before_it_takes_the_place_of_another_and_its_name_after_that(steps):
    write_text(Path("team.yaml"), "new", 10)
    assert steps == ["file", "replaced", "folder"]


def test_what_is_appended_is_on_the_disk_and_so_is_the_name_of_a_new_file(steps):
    append_table(Path("votes.csv"), "a,b\n1,2\n", 100)
    assert steps == ["file", "folder"]
    append_table(Path("votes.csv"), "a,b\n3,4\n", 100)
    assert steps == ["file", "folder", "file"]


def test_a_failed_save_leaves_the_old_file_and_nothing_else(monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    write("team.yaml", "old")
    monkeypatch.setattr(os, "fsync", fail)
    sentence = "team.yaml: The file cannot be written: No space left on device."
    assert refusal(save_problem, TEAM, "team.yaml") == sentence
    assert os.listdir() == ["team.yaml"]
    assert Path("team.yaml").read_text() == "old"


def test_saving_keeps_the_mode_of_the_file_and_follows_a_link():
    write("real.yaml", "old")
    os.chmod("real.yaml", 0o640)
    os.symlink("real.yaml", "team.yaml")
    save_problem(TEAM, "team.yaml")
    assert Path("team.yaml").is_symlink()
    assert load_problem("real.yaml") == TEAM
    assert stat.S_IMODE(os.stat("real.yaml").st_mode) == 0o640


def test_saving_into_no_directory_or_under_no_known_ending_is_refused():
    assert "No such file or directory" in refusal(save_problem, TEAM, "nowhere/team.yaml")
    assert "must end in .yaml" in refusal(save_problem, TEAM, "team.txt")


def test_a_file_can_be_for_its_owner_alone():
    write("secret", "old")
    with replacing(Path("secret"), mode=0o600) as file:
        file.write(b"new")
    assert stat.S_IMODE(os.stat("secret").st_mode) == 0o600
    assert Path("secret").read_bytes() == b"new"


@each("error", [KeyboardInterrupt(), FileError("It is wrong.")])
def test_what_fails_while_it_is_written_leaves_the_old_file(error):
    def fail():
        with replacing(Path("team.yaml")) as file:
            file.write(b"half")
            raise error

    write("team.yaml", "old")
    with pytest.raises(type(error)):
        fail()
    assert os.listdir() == ["team.yaml"]
    assert Path("team.yaml").read_text() == "old"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_while_writing_is_said():
    with (
        pytest.raises(FileError, match="cannot be written: No space left on device"),
        replacing(Path("a")),
        open("/dev/full", "wb") as full,
    ):
        full.write(b"x" * 100_000)


def test_an_open_file_can_be_read_too():
    assert read_text(io.BytesIO(b"caf\xc3\xa9"), 10) == "café"
    with pytest.raises(FileError, match="too large: more than 3 bytes"):
        read_text(io.BytesIO(b"cafe"), 3)


@each("module", ["documents", "writing", "tables", "locking"])
def test_the_lower_modules_do_not_load_numpy(module):
    code = f"import sys, duelmatch.files.{module}; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
