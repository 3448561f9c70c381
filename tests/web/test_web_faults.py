"""Eight clients vote over HTTP while the servers are killed with -9: nothing is lost or counted twice."""

from __future__ import annotations

import os
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
from duelmatch.studies import Settings, Store, export_log
from duelmatch.verify import verify
from studies.playing import check_every_question, check_log

PROBLEM = dm.Problem.complete([f"c{number}" for number in range(12)], ["chair", "editor", "cook"])
CLIENTS = 8
KILLS = int(os.environ.get("DUELMATCH_KILLS", "6"))
"""Of each test; set the environment variable for a longer one, with more servers."""
SERVERS = [
    ("sqlite", 1, "borda"),
    ("sqlite", 4, "panel"),
    ("postgresql", 2, "panel"),
    ("postgresql", 4, "borda"),
]
if "DUELMATCH_KILLS" in os.environ:
    SERVERS += [("sqlite", 2, "borda"), ("postgresql", 1, "panel")]
LONG: dict[str, dict[str, Any]] = {"panel": {"consistent": False}, "borda": {"ballot_size": 300}}
"""So that the questions do not run out before the last kill."""
GIVE_UP = 120.0
"""Seconds without any acknowledged answer, only 503 for example, after which the test has failed."""


class Client:
    """A voter who tries every request until it is answered."""

    def __init__(self, port: int, study: str, voter: str, token: str, stop: threading.Event) -> None:
        self._http = httpx2.Client(
            base_url=f"http://127.0.0.1:{port}/api/v1/studies/{study}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=10,
            trust_env=False,
        )
        self.voter, self._stop = voter, stop
        self.said: dict[int, str | None] = {}
        self.acknowledged: list[dict[str, Any]] = []
        self.shown: set[int] = set()
        self.statuses: set[int] = set()

    def run(self) -> None:
        chance = random.Random(self.voter)
        following = None
        with self._http:
            while not self._stop.is_set():
                question = following or self._post("/question", None)
                following = None
                if not question or question["number"] is None:
                    time.sleep(0.02)
                    continue
                self.shown.add(question["number"])
                said = chance.choice([*question["candidates"], None])
                self.said[question["number"]] = said
                body = {"answer": said, "next": chance.random() < 0.5}
                kept = self._post(f"/questions/{question['number']}/answer", body)
                if kept:
                    self.acknowledged.append(kept)
                    following = kept["next"]

    def _post(self, path: str, body: Any) -> dict[str, Any] | None:
        while not self._stop.is_set():
            try:
                answer = self._http.post(path, json=body)
            except httpx2.TransportError:
                time.sleep(0.01)
                continue
            self.statuses.add(answer.status_code)
            if answer.status_code == 503:  # another server holds the study for long, perhaps to compile
                time.sleep(0.05)
                continue
            result: dict[str, Any] = answer.json()
            return result
        return None


def wait(progress: Callable[[], list[int]], more: int) -> None:
    """Wait until each of these numbers has grown so much; what others are ahead is no comfort to the last."""
    enough = [number + more for number in progress()]
    missing, since = sum(enough), time.monotonic()
    while missing:
        time.sleep(0.005)
        now = progress()
        left = sum(max(0, goal - number) for number, goal in zip(now, enough, strict=True))
        if left < missing:
            missing, since = left, time.monotonic()
        assert time.monotonic() - since < GIVE_UP, (
            f"nothing more was acknowledged for {GIVE_UP} seconds: {now}"
        )


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
        try:
            for thread in threads:
                thread.start()
            chance = random.Random(processes)
            for _ in range(kills):
                wait(lambda: [sum(len(voter.acknowledged) for voter in voters)], 3)  # it lives before it dies
                time.sleep(chance.uniform(0, 0.05))
                server.stdin.write(b"k")
                server.stdin.flush()
                assert server.stdout.read(1) == b"."
            wait(lambda: [len(voter.acknowledged) for voter in voters], 1)  # nobody is left out for good
        finally:
            stop.set()
            server.stdin.close()
            for thread in threads:
                thread.join()
    return voters


def check_count(client: Client, kept: dict[int, list[list[str]]]) -> None:
    """The log has what the client says it has said, each answer once, however often it tried.

    Only the last one may be there or not: the client stopped before it heard of it.
    """
    numbers = [answer["number"] for answer in client.acknowledged]
    assert len(set(numbers)) == len(numbers)
    last = next(reversed(client.said))
    assert client.said.keys() - {last} <= set(numbers) <= kept.keys() <= client.said.keys()
    for number, answer in kept.items():
        said = client.said[number]
        assert answer[0] == [said] if said is not None else len(answer) == 1


@pytest.mark.parametrize(("kind", "processes", "algorithm"), SERVERS)
def test_eight_clients_lose_nothing_while_the_servers_are_killed(
    kind: str, processes: int, algorithm: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/duels.db" if kind == "sqlite" else request.getfixturevalue("postgres")()
    with Store(url) as store:
        settings = Settings(algorithm, delta=1e-9, lease=2.0, parameters=LONG[algorithm])
        study = store.create(PROBLEM, settings, "x", [f"v{number}" for number in range(CLIENTS)])
        tokens = {voter.id: study.new_link("voter", voter.id) for voter in study.voters()}

        def clients(port: int, stop: threading.Event) -> list[Client]:
            return [Client(port, study.id, voter, token, stop) for voter, token in tokens.items()]

        voters = run_clients(url, processes, KILLS, clients)
        log = study.entries()
        answered = [entry for entry in log if entry.kind == "answered"]
        by_question = {entry.data["question"]: entry for entry in answered}
        assert len(by_question) == len(answered), "no question is answered twice"
        owner = {entry.data["question"]: entry.voter for entry in log if entry.kind == "asked"}
        for client in voters:
            assert client.statuses <= {200, 503}
            assert {owner[number] for number in client.shown} == {client.voter}, (
                "nobody sees another's question"
            )
            for kept in client.acknowledged:
                entry = by_question[kept["number"]]
                assert (entry.voter, entry.hash) == (client.voter, kept["hash"])
                assert [sorted(group) for group in entry.data["answer"]] == kept["answer"]
            check_count(
                client, {n: e.data["answer"] for n, e in by_question.items() if e.voter == client.voter}
            )
        check_log(study)
        check_every_question(log)
        receipts = [kept["hash"] for client in voters for kept in client.acknowledged]
        print(f"{KILLS} kills, {len(receipts)} answers acknowledged, {len(answered)} in the log")
        report = verify(export_log(study).splitlines(), receipts)
        assert (report.damage, report.reason) == (None, None)
