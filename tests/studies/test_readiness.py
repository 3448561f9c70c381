"""Whether the database takes what is written: deleted, replaced, damaged or full, nothing is acknowledged."""

from __future__ import annotations

import os
import resource
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PROBLEM
from duelmatch.errors import StoreError, UnreachableError
from duelmatch.studies import Settings, Store, Study


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "duels.db"


@pytest.fixture
def store(file: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{file}") as store:
        yield store


@pytest.fixture
def study(store: Store) -> Study:
    return store.create(PROBLEM, Settings("condorcet"), "x")


def test_a_database_that_takes_what_is_written_is_ready(url: str) -> None:
    with Store(url) as store:
        for _ in range(3):
            store.writer.check(60)


@pytest.mark.parametrize("gone", ["", "-wal"])
def test_nothing_is_acknowledged_into_a_deleted_file(
    store: Store, study: Study, file: Path, gone: str
) -> None:
    Path(f"{file}{gone}").unlink()
    with pytest.raises(UnreachableError, match="deleted"):
        study.add_voter()
    with pytest.raises(UnreachableError, match="deleted"):
        store.writer.check(60)


def test_nothing_is_acknowledged_into_a_replaced_file(store: Store, study: Study, file: Path) -> None:
    copy = file.with_name("copy.db")
    shutil.copyfile(file, copy)
    os.replace(copy, file)
    with pytest.raises(UnreachableError, match="replaced"):
        study.add_voter()
    with pytest.raises(UnreachableError, match="replaced"):
        store.writer.check(60)


def test_a_file_that_is_deleted_during_a_transaction_is_noticed_after_it(study: Study, file: Path) -> None:
    with pytest.raises(UnreachableError, match="deleted"):
        study.submit(lambda feed: file.unlink()).result(60)


def test_a_full_disk_is_noticed_and_forgotten_when_there_is_room(store: Store, study: Study) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        for attempt in (study.add_voter, lambda: store.writer.check(60)):
            with pytest.raises(StoreError):
                attempt()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    store.writer.check(60)
    assert study.add_voter()


def test_damaged_pages_are_noticed(file: Path) -> None:
    with Store(f"sqlite:///{file}") as store:
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        for _ in range(300):
            study.submit(lambda feed: feed.rename("x" * 150))
        study.rename("y")
    size = file.stat().st_size
    with file.open("r+b") as pages:
        pages.seek(size // 2)
        pages.write(b"\xff" * 8192)
    with Store(f"sqlite:///{file}") as store:
        store.writer.check(60)
        store.database.inspect()
        with pytest.raises(StoreError, match="damaged"):
            store.writer.check(60)


def test_a_thread_that_cannot_be_started_costs_one_answer_only(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(f"sqlite:///{file}") as store:
        start = threading.Thread.start

        def refuse(thread: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(UnreachableError, match="thread"):
            store.create(PROBLEM, Settings("condorcet"), "x")
        monkeypatch.setattr(threading.Thread, "start", start)
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        monkeypatch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(UnreachableError, match="thread"):
            study.add_voter()
        monkeypatch.undo()
        assert study.add_voter()
        store.writer.check(60)
