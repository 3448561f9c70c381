"""Logs of studies in rounds, and of those that an older version has run: only the chain is checked."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

import pytest

import duelmatch as dm
from duelmatch.studies import Settings, Store, export_log
from duelmatch.studies.database import Database
from duelmatch.verify import verify

KEPT = Path(__file__).parents[1] / "studies" / "databases" / "0001-studies.db"


def test_old_logs_are_not_recomputed_and_not_accused(tmp_path: Path) -> None:
    path = tmp_path / "duels.db"
    shutil.copy(KEPT, path)
    url = f"sqlite:///{path}"
    Database(url).upgrade()
    with Store(url) as store:
        logs = [export_log(store.study(listed.id), False) for listed in store.studies()]
    assert len(logs) == 6
    for log in logs:
        report = verify(log.splitlines())
        assert (report.damage, report.found, report.differs) == (None, None, False)
        assert report.reason


@pytest.mark.parametrize("open_answers", ["open", "dropped"])
def test_a_voter_may_leave_and_come_back(tmp_path: Path, open_answers: Literal["open", "dropped"]) -> None:
    with Store(f"sqlite:///{tmp_path}/x.db") as store:
        problem = dm.Problem.complete(["ann", "bob"], ["chair"])
        study = store.create(problem, Settings("clucb-borda-pac"), "x")
        voter = study.add_voter()
        study.leave(voter, open_answers)
        study.come_back(voter)
        study.close()
        report = verify(export_log(study).splitlines())
        assert [entry.kind for entry in study.entries()][-3:] == ["left", "returned", "closed"]
        assert (report.damage, report.differs) == (None, False)
