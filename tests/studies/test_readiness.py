"""Whether the database takes what is written: deleted, replaced, damaged or full, nothing is acknowledged."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
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


def _grown(store: Store, study: Study, file: Path) -> Path:
    """Return a copy of a database, which is then made larger, all of it in the file itself."""
    copy = file.with_name("copy.db")
    store.database.purge()
    shutil.copyfile(file, copy)
    with store.database.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE filler AS SELECT randomblob(100000) AS bytes")
    study.add_voter()
    store.database.purge()
    assert copy.stat().st_size < file.stat().st_size
    return copy


def _copy_over(copy: Path, file: Path) -> None:
    shutil.copyfile(copy, file)


def _cut_short(copy: Path, file: Path) -> None:
    os.truncate(file, copy.stat().st_size)


def _lose_the_log(copy: Path, file: Path) -> None:
    os.truncate(f"{file}-wal", 0)


@pytest.mark.parametrize("overwrite", [_copy_over, _cut_short, _lose_the_log])
def test_nothing_is_acknowledged_into_an_overwritten_file(
    store: Store, study: Study, file: Path, overwrite: Callable[[Path, Path], None]
) -> None:
    copy = _grown(store, study, file)
    study.add_voter()
    overwrite(copy, file)
    with pytest.raises(UnreachableError, match="overwritten"):
        study.add_voter()
    for _ in range(2):
        with pytest.raises(UnreachableError, match="overwritten"):
            store.writer.check(60)
    with pytest.raises(UnreachableError, match="overwritten"), store.database.reading():
        pass


def test_a_file_that_is_overwritten_during_a_transaction_is_noticed_after_it(
    store: Store, study: Study, file: Path
) -> None:
    copy = _grown(store, study, file)
    with pytest.raises(UnreachableError, match="overwritten"):
        study.submit(lambda feed: _copy_over(copy, file)).result(60)


def test_a_smaller_copy_that_sqlite_restores_is_used(store: Store, study: Study, file: Path) -> None:
    copy = _grown(store, study, file)
    for checkpoint in (False, True):
        with closing(sqlite3.connect(copy)) as older, closing(sqlite3.connect(file)) as restored:
            older.backup(restored)
        if checkpoint:
            store.database.purge()
        store.writer.check(60)
        assert study.add_voter()
        store.database.purge()
        assert file.stat().st_size < copy.stat().st_size + 100_000
        assert study.add_voter()


def test_a_transaction_that_writes_nothing_needs_no_log(store: Store, study: Study) -> None:
    store.database.purge()
    with store.database.writing():
        pass


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
