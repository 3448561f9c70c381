"""Votes per second over real HTTP with 50 voters at once, and how long they wait for a duel and a receipt.

``python benchmarks/serving.py [--votes N] [--algorithm NAME]``. The server is `duelmatch serve` in a process
of its own, without rate limits; the voters share this process, each with a connection that is kept. So on two
cores the voters take one of them. Everybody has voted once before it is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

from duelmatch.explorers.catalogue import DEFAULT
from duelmatch.studies import Settings, Store
from studies import SIZES, VOTERS, databases, percentile, problem_of


@contextmanager
def server(store: str) -> Iterator[str]:
    """Run a server; give its host and port."""
    command = [
        sys.executable,
        "-c",
        "from duelmatch.cli import main; main()",
        "serve",
        "--json",
        "--no-limits",
    ]
    with subprocess.Popen(
        [*command, "--store", store, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            assert process.stdout
            address = json.loads(process.stdout.readline())["address"]
            while not is_ready(address):
                sleep(0.05)
            yield urlsplit(address).netloc
        finally:
            process.terminate()


def is_ready(address: str) -> bool:
    try:
        with urlopen(f"{address}readyz") as answer:
            return bool(answer.status == 200)
    except HTTPError:
        return False


class Voter:
    """Somebody who votes over HTTP, on a connection that is kept."""

    def __init__(self, place: str, study: str, token: str) -> None:
        self._host, port = place.rsplit(":", 1)
        self._port = int(port)
        self._path = f"/api/v1/studies/{study}"
        self._headers = (
            f"Host: {place}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        )

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)

    async def post(self, path: str, body: Any = None) -> Any:
        text = "" if body is None else json.dumps(body)
        length = f"Content-Length: {len(text)}\r\n\r\n"
        self._writer.write(f"POST {self._path}{path} HTTP/1.1\r\n{self._headers}{length}{text}".encode())
        head = await self._reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        content = await self._reader.readexactly(size)
        assert head.startswith(b"HTTP/1.1 200"), content
        return json.loads(content)


async def vote(voters: list[Voter], votes: int) -> tuple[float, list[float], list[float]]:
    """Return the seconds in all, of each ask, and of each tell."""
    asks: list[float] = []
    tells: list[float] = []
    left = list(range(votes))

    async def work(number: int, voter: Voter) -> None:
        chance = random.Random(number)
        while left:
            left.pop()
            begin = perf_counter()
            while (duel := await voter.post("/duel"))["number"] is None:
                assert duel["reason"] == "waiting", duel
                await asyncio.sleep(0.005)
            asked = perf_counter()
            sides = sorted((duel["left"], duel["right"]))
            await voter.post(f"/duels/{duel['number']}/answer", {"winner": sides[chance.random() > 0.7]})
            asks.append(asked - begin)
            tells.append(perf_counter() - asked)

    await asyncio.gather(*(voter.connect() for voter in voters))
    begin = perf_counter()
    await asyncio.gather(*(work(number, voter) for number, voter in enumerate(voters)))
    assert len(tells) == votes
    return perf_counter() - begin, asks, tells


def voting(place: str, study: str, tokens: list[str], votes: int) -> tuple[float, list[float], list[float]]:
    gc.collect()
    gc.freeze()  # or else all voters pause for 0.1 s now and then, and blame the server
    return asyncio.run(vote([Voter(place, study, token) for token in tokens], votes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=5_000)
    parser.add_argument("--algorithm", default=DEFAULT)
    options = parser.parse_args()
    print(f"{options.algorithm} over HTTP, {VOTERS} voters at once, {options.votes:,} votes; ms as p50 / p99")
    print("| Database | Edges | Votes per second | ask | tell |")
    print("|---|---|---|---|---|")
    with databases() as addresses:
        for name, address in addresses.items():
            for edges in SIZES:
                with Store(address) as store:
                    study = store.create(problem_of(edges), Settings(options.algorithm), f"{edges}")
                    tokens = [study.new_key("voter", study.add_voter()) for _ in range(VOTERS)]
                with server(address) as place:
                    voting(place, study.id, tokens, VOTERS)  # a first vote each, so that all is loaded
                    seconds, asks, tells = voting(place, study.id, tokens, options.votes)
                times = (f"{percentile(all, 0.5):.0f} / {percentile(all, 0.99):.0f}" for all in (asks, tells))
                print(
                    f"| {name} | {edges:,} | {options.votes / seconds:,.0f} | {' | '.join(times)} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
