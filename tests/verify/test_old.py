"""Logs of studies that an older version has run: the chain is checked, and no verdict is made up."""

from __future__ import annotations

import shutil
from pathlib import Path

from duelmatch.studies import Store, export_log
from duelmatch.studies.database import Database
from duelmatch.verify import verify

KEPT = Path(__file__).parents[1] / "studies" / "databases" / "0001-studies.db"


def test_are_not_recomputed_and_not_accused(tmp_path: Path) -> None:
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
