"""Eight clients vote over HTTP while the servers are killed with -9: nothing is lost or counted twice."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

import duelmatch as dm
from duelmatch.studies import Settings, Store
from studies.playing import check_every_question, check_log

PROBLEM = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor", "cook"])
CLIENTS = 8
GIVE_UP = 240.0
"""Seconds; a test that takes so long has failed."""


class Client:
    """A voter who tries every request until it is answered."""

    def __init__(self, port: int, study: str, voter: int, token: str, stop: threading.Event) -> None:
        self._http = httpx2.Client(
            base_url=f"http://127.0.0.1:{port}/api/v1/studies/{study}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=10,
            trust_env=False,
        )
        self.voter, self._stop = voter, stop
        self.acknowledged: list[dict[str, Any]] = []
        self.shown: set[int] = set()
        self.statuses: set[int] = set()

    def run(self) -> None:
        chance = random.Random(self.voter)
        with self._http:
            while not self._stop.is_set():
                duel = self._post("/duel", None)
                if not duel or duel["number"] is None:
                    time.sleep(0.02)
                    continue
                self.shown.add(duel["number"])
                winner = chance.choice([duel["left"], duel["right"], None])
                kept = self._post(f"/duels/{duel['number']}/answer", {"winner": winner})
                if kept:
                    self.acknowledged.append(kept)

    def _post(self, path: str, body: Any) -> dict[str, Any] | None:
        while not self._stop.is_set():
            try:
                answer = self._http.post(path, json=body)
            except httpx2.TransportError:
                time.sleep(0.01)
                continue
            self.statuses.add(answer.status_code)
            result: dict[str, Any] = answer.json()
            return result
        return None


def acknowledged(clients: list[Client]) -> int:
    return sum(len(client.acknowledged) for client in clients)


def run_clients(
    url: str, processes: int, kills: int, clients: Callable[[int, threading.Event], list[Client]]
) -> list[Client]:
    script = [sys.executable, Path(__file__).with_name("serving.py"), url, str(processes)]
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin
        assert server.stdout
        stop = threading.Event()
        voters = clients(int(server.stdout.readline()), stop)
        threads = [threading.Thread(target=client.run) for client in voters]
        begin = time.monotonic()
        try:
            for thread in threads:
                thread.start()
            chance = random.Random(processes)
            for _ in range(kills):
                before = acknowledged(voters)
                while acknowledged(voters) < before + 3:  # so that it does not die before it has lived
                    time.sleep(0.005)
                    assert time.monotonic() - begin < GIVE_UP
                time.sleep(chance.uniform(0, 0.05))
                server.stdin.write(b"k")
                server.stdin.flush()
                assert server.stdout.read(1) == b"."
        finally:
            stop.set()
            server.stdin.close()
            for thread in threads:
                thread.join()
    return voters


@pytest.mark.parametrize(
    ("kind", "processes", "kills"), [("sqlite", 1, 50), ("postgresql", 2, 50), ("postgresql", 4, 50)]
)
def test_eight_clients_lose_nothing_while_the_servers_are_killed(
    kind: str, processes: int, kills: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/duels.db" if kind == "sqlite" else request.getfixturevalue("postgres")()
    with Store(url) as store:
        study = store.create(PROBLEM, Settings("condorcet", delta=1e-9, lease=2.0), "x")
        tokens = {
            number: study.new_key("voter", number) for number in [study.add_voter() for _ in range(CLIENTS)]
        }

        def clients(port: int, stop: threading.Event) -> list[Client]:
            return [Client(port, study.id, voter, token, stop) for voter, token in tokens.items()]

        voters = run_clients(url, processes, kills, clients)
        log = study.log()
        answered = [entry for entry in log if entry.kind == "answered"]
        by_question = {entry.question: entry for entry in answered}
        assert len(by_question) == len(answered), "no question is answered twice"
        owner = {entry.question: entry.voter for entry in log if entry.kind == "asked"}
        for client in voters:
            assert client.statuses == {200}
            assert {owner[number] for number in client.shown} == {client.voter}, "nobody sees another's duel"
            for kept in client.acknowledged:
                entry = by_question[kept["number"]]
                assert entry.voter == client.voter
                assert (entry.one, entry.other) == tuple(
                    PROBLEM.edge_number(kept[side], kept["position"]) for side in ("winner", "loser")
                )
        check_log(study)
        check_every_question(log)
