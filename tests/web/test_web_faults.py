"""Eight clients vote over HTTP while the servers are killed with -9: nothing is lost or counted twice."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from duelmatch.studies import Settings, Store, export_log
from duelmatch.verify import verify
from studies.playing import check_every_question, check_log
from web.killing import CLIENTS, PROBLEM, Client, check_rows, rows_of, servers, voting, wait_for_votes
from web.serving import LONG

KILLS = 4
"""Of each test; benchmarks/kills.py does more, and other things to the servers."""


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
