"""Eight clients vote over HTTP while the servers are killed with -9: nothing is lost or counted twice."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import httpx2
import pytest

from duelmatch.studies import Settings, Store, export_log
from duelmatch.verify import verify
from duelmatch.web import Config
from duelmatch.web import voting as voting_module
from studies.playing import check_every_question, check_log
from web.killing import CLIENTS, PROBLEM, Client, check_rows, rows_of, servers, voting, wait_for_votes
from web.running import served
from web.serving import LONG

KILLS = 4
"""Of each test; benchmarks/kills.py does more, and other things to the servers."""


def test_votes_do_not_wait_for_a_database_that_has_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are refused in time, may be sent again, and count once."""
    with Store(f"sqlite:///{tmp_path}/x.db") as store, served(store, Config(rates=None)) as address:
        study = store.create(PROBLEM, Settings("panel"), "x", ["Eve", "Ned"])
        eve, ned = (study.new_link("voter", voter.id) for voter in study.voters())

        def post(path: str, token: str, body: dict[str, str] | None = None) -> httpx2.Response:
            url, headers = f"{address}/api/v1/studies/{study.id}{path}", {"Authorization": f"Bearer {token}"}
            return httpx2.post(url, json=body or {}, headers=headers, trust_env=False, timeout=20)

        question = post("/question", eve).json()
        answer = f"/questions/{question['number']}/answer", eve, {"answer": question["candidates"][0]}
        stopped, goes_on = threading.Event(), threading.Event()
        store.writer.submit("", lambda transaction: (stopped.set(), goes_on.wait(60)))
        assert stopped.wait(10)
        monkeypatch.setattr(voting_module, "LONGEST_WAIT", 0.3)
        try:
            for refused in (post(*answer), post("/question", ned)):
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
                assert "Send the same again" in refused.json()["detail"]
        finally:
            goes_on.set()
            monkeypatch.undo()
        kept = post(*answer)
        assert (kept.status_code, kept.json()["repeated"]) == (200, True)
        assert post("/question", ned).status_code == 200
        assert study.status().answers == 1


@pytest.mark.parametrize(
    ("kind", "processes", "algorithm"),
    [
        ("sqlite", 1, "borda"),
        ("sqlite", 4, "panel"),
        ("postgresql", 2, "panel"),
        ("postgresql", 4, "borda"),
    ],
)
def test_eight_clients_lose_nothing_while_the_servers_are_killed(
    kind: str, processes: int, algorithm: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/duels.db" if kind == "sqlite" else request.getfixturevalue("postgres")()
    with Store(url) as store:
        settings = Settings(algorithm, delta=1e-9, lease=2.0, parameters=LONG[algorithm])
        study = store.create(PROBLEM, settings, "x", [f"v{number}" for number in range(CLIENTS)])
        tokens = {voter.id: study.new_link("voter", voter.id) for voter in study.voters()}
        chance = random.Random(processes)
        with servers(url, processes) as running:
            clients = [Client(running.port, study.id, voter, token) for voter, token in tokens.items()]
            with voting(clients):
                for _ in range(KILLS):
                    wait_for_votes(clients, 3)  # so that it does not die before it has lived
                    time.sleep(chance.uniform(0, 0.05))
                    running.kill()
                for client in clients:
                    wait_for_votes([client], 1)  # nobody is left out for good
        check_rows(rows_of(url, study.id), clients)
        check_log(study)
        check_every_question(study.entries())
        receipts = [kept["hash"] for client in clients for kept in client.acknowledged]
        report = verify(export_log(study).splitlines(), receipts)
        assert (report.damage, report.reason) == (None, None)
