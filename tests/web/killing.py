"""Voters over HTTP while the servers are killed, and a checker of what they were told.

The checker knows nothing of duelmatch: it reads the table of entries with the database's own driver and
computes the chain of hashes itself.
"""

from __future__ import annotations

import hashlib
import json
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

import duelmatch as dm

PROBLEM = dm.Problem.complete([f"c{number}" for number in range(12)], ["chair", "editor", "cook"])
CLIENTS = 8
GIVE_UP = 120.0
"""Seconds without any confirmed answer, only 503 for example, after which something is wrong."""


class Client:
    """A voter who tries every request until it is answered, and remembers what was confirmed."""

    def __init__(
        self, port: int, study: str, voter: str, token: str, seconds: float = 10, pause: float = 0
    ) -> None:
        self._base = f"http://127.0.0.1:{port}/api/v1/studies/{study}"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._seconds = seconds
        self._pause = pause
        self._stop = threading.Event()
        self.voter = voter
        self.said: dict[int, str | None] = {}
        self.acknowledged: list[dict[str, Any]] = []
        self.shown: set[int] = set()
        self.statuses: Counter[int] = Counter()
        self.repeated = 0
        """How many answers were sent again because it was not known what had become of them."""
        self.longest = 0.0
        """Seconds that any answer took, 503 included; not those that never came."""
        self.nothing: str | None = None
        """Why there was no question the last time."""

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        chance = random.Random(self.voter)
        following = None
        with httpx2.Client(
            base_url=self._base, headers=self._headers, timeout=self._seconds, trust_env=False
        ) as self._http:
            while not self._stop.is_set():
                question = following or self._post("/question", None)
                following = None
                if not question or question["number"] is None:
                    self.nothing = question and question["reason"]
                    time.sleep(0.02)
                    continue
                self.nothing = None
                self.shown.add(question["number"])
                said = chance.choice([*question["candidates"], None])
                self.said[question["number"]] = said
                body = {"answer": said, "next": chance.random() < 0.5}
                kept = self._post(f"/questions/{question['number']}/answer", body)
                if kept:
                    self.acknowledged.append(kept)
                    self.repeated += kept["repeated"]
                    following = kept["next"]
                    time.sleep(self._pause)

    def _post(self, path: str, body: Any) -> dict[str, Any] | None:
        while not self._stop.is_set():
            begin = time.monotonic()
            try:
                answer = self._http.post(path, json=body)
            except httpx2.TransportError:
                time.sleep(0.01)
                continue
            self.longest = max(self.longest, time.monotonic() - begin)
            self.statuses[answer.status_code] += 1
            if answer.status_code == 503:  # it says itself that it should be tried again
                time.sleep(0.05)
                continue
            result: dict[str, Any] = answer.json()
            return result
        return None


class Servers:
    """Processes that serve one store on one port."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        assert process.stdout
        self.port = int(process.stdout.readline())

    def _tell(self, command: bytes) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(command)
        self._process.stdin.flush()
        assert self._process.stdout.read(1) == b"."

    def kill(self) -> None:
        """Kill one with -9, the frozen one if there is one, and start another."""
        self._tell(b"k")

    def freeze(self) -> None:
        """Stop one where it is."""
        self._tell(b"z")


@contextmanager
def servers(url: str, processes: int) -> Iterator[Servers]:
    """Serve a store by so many processes."""
    script = [sys.executable, Path(__file__).with_name("serving.py"), url, str(processes)]
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield Servers(process)
        finally:
            assert process.stdin
            process.stdin.close()


@contextmanager
def voting(clients: list[Client]) -> Iterator[None]:
    """Let clients vote."""
    threads = [threading.Thread(target=client.run) for client in clients]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for client in clients:
            client.stop()
        for thread in threads:
            thread.join()


def acknowledged(clients: list[Client]) -> int:
    return sum(len(client.acknowledged) for client in clients)


def wait_for_votes(clients: list[Client], votes: int) -> None:
    """Wait until so many more are confirmed."""
    before = last = acknowledged(clients)
    since = time.monotonic()
    while last < before + votes:
        time.sleep(0.005)
        if (now := acknowledged(clients)) > last:
            last, since = now, time.monotonic()
        assert not all(client.nothing in ("done", "all yours") for client in clients), "no questions left"
        assert time.monotonic() - since < GIVE_UP, f"nothing was confirmed for {GIVE_UP} seconds"


# The checker.


def rows_of(url: str, study: str) -> list[dict[str, Any]]:
    """Return the entries of a study as they are in the database."""
    wanted = ("seq", "at", "kind", "by", "voter", "data", "hash")
    columns = ", ".join(f'"{name}"' for name in wanted)
    query = f"SELECT {columns} FROM entries WHERE study = '{study}' ORDER BY seq"
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as database:
            found = database.execute(query).fetchall()
        database.close()
    else:
        import psycopg

        address = urlsplit(url)
        host, name = parse_qs(address.query)["host"][0], address.path[1:]
        with psycopg.connect(host=host, user=address.username, dbname=name) as connection:
            found = connection.execute(query.encode()).fetchall()
    rows = [dict(zip(wanted, row, strict=True)) for row in found]
    return [row | {"data": json.loads(row["data"])} for row in rows]


def check_rows(rows: list[dict[str, Any]], clients: list[Client]) -> dict[int, Mapping[str, Any]]:
    """Check that what was confirmed is there, once, as it was said; return the answers by question."""
    before = "0" * 64
    for number, row in enumerate(rows, start=1):
        assert row["seq"] == number, "nothing is missing"
        sealed = {name: value for name, value in row.items() if name != "hash"} | {"v": 2, "before": before}
        text = json.dumps(sealed, sort_keys=True, separators=(",", ":"))
        before = row["hash"]
        assert hashlib.sha256(text.encode()).hexdigest() == before, "nothing was changed"
    answers: dict[int, Mapping[str, Any]] = {}
    owner = {row["data"]["question"]: row["voter"] for row in rows if row["kind"] == "asked"}
    for row in rows:
        if row["kind"] == "answered":
            assert row["data"]["question"] not in answers, "no question is answered twice"
            answers[row["data"]["question"]] = row
    for client in clients:
        own = {
            number: row["data"]["answer"] for number, row in answers.items() if row["voter"] == client.voter
        }
        check_said(client, own)
        assert client.statuses.keys() <= {200, 503}, client.statuses
        assert {owner[number] for number in client.shown} <= {client.voter}, "nobody sees another's question"
        for kept in client.acknowledged:
            row = answers[kept["number"]]
            assert (row["voter"], row["hash"], row["seq"]) == (client.voter, kept["hash"], kept["entry"])
            assert [sorted(group) for group in row["data"]["answer"]] == kept["answer"]
    return answers


def check_said(client: Client, kept: Mapping[int, list[list[str]]]) -> None:
    """The log has what the client has said, each answer once, however often it was sent.

    Only the last one may be there or not: the client stopped before it heard of it.
    """
    numbers = [answer["number"] for answer in client.acknowledged]
    assert len(set(numbers)) == len(numbers)
    last = next(reversed(client.said), None)
    assert client.said.keys() - {last} <= set(numbers) <= kept.keys() <= client.said.keys()
    for number, answer in kept.items():
        said = client.said[number]
        assert answer[0] == [said] if said is not None else len(answer) == 1
