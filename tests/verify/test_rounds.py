"""Logs of studies in rounds: who leaves has no opinions that could be dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

import duelmatch as dm
from duelmatch.studies import Settings, Store, export_log
from duelmatch.verify import verify


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
