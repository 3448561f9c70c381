"""An older copy of the database may be put back while a server runs: what it confirms then can be read."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

import duelmatch as dm
from duelmatch.errors import StoreError
from duelmatch.studies import Settings, Store, Study, schema
from studies.playing import check_log, vote

NewStudy = Callable[..., Study]
LARGER = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor", "cook"])


def _set_back(store: Store, study: Study, after: int) -> None:
    """Delete the entries of a study that follow one, which no server would, and say that it was the last."""
    entries, studies = schema.entries, schema.studies
    ends = sa.select(entries.c.hash).where(entries.c.study == study.id, entries.c.seq == after)
    with store.database.writing() as connection:
        if store.database.is_sqlite:
            found = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = found.all()
            for name, _ in triggers:
                connection.exec_driver_sql(f"DROP TRIGGER {name}")
        else:
            connection.exec_driver_sql("ALTER TABLE entries DISABLE TRIGGER USER")
        connection.execute(sa.delete(entries).where(entries.c.study == study.id, entries.c.seq > after))
        values = {"seq": after, "hash": connection.execute(ends).scalar_one()}
        connection.execute(sa.update(studies).where(studies.c.id == study.id).values(values))
        if store.database.is_sqlite:
            for _, statement in triggers:
                connection.exec_driver_sql(statement)
        else:
            connection.exec_driver_sql("ALTER TABLE entries ENABLE TRIGGER USER")


@pytest.mark.parametrize("others_went_on", [0, 1, 3])
def test_votes_go_on_from_the_copy_that_was_put_back(
    store: Store, new_study: NewStudy, others_went_on: int
) -> None:
    """Others, who have read the copy, may have gone on: to fewer, as many or more entries than before."""
    study = new_study(LARGER, "panel", ["eve", "ned"])
    eve, ned = (voter.id for voter in study.voters())
    vote(study, eve)
    end = study.end()
    vote(study, ned)
    _set_back(store, study, end)
    if others_went_on:
        with Store(store.database.url) as other:
            for _ in range(others_went_on):
                vote(other.study(study.id), eve)
    vote(study, ned)
    check_log(study)
    with Store(store.database.url) as other:
        check_log(other.study(study.id))


def test_whoever_only_looks_sees_the_copy_that_was_put_back(store: Store, new_study: NewStudy) -> None:
    study = new_study(LARGER, "panel", ["eve"])
    (eve,) = (voter.id for voter in study.voters())
    end = study.end()
    vote(study, eve)
    assert study.status().answers == 1
    _set_back(store, study, end)
    assert study.status().answers == 0


def test_a_log_that_does_not_end_as_it_should_is_damaged(new_url: Callable[[], str]) -> None:
    with Store(new_url()) as store:
        study = store.create(LARGER, Settings("condorcet"), "x")
        study.rename("y")
        with store.database.writing() as connection:
            connection.execute(sa.update(schema.studies).values(seq=1))
        with pytest.raises(StoreError, match="damaged"):
            study.status()
