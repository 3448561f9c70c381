"""Votes per second over real HTTP with 50 voters at once, and how long they wait for a duel and a receipt.

``python benchmarks/serving.py [--votes N] [--algorithm NAME]``. The server is `duelmatch serve` in a process
of its own, without rate limits; the voters are threads of this process, each with a connection that is kept.
So on two cores the voters take one of them. Everybody has voted once before it is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from time import perf_counter, sleep
from typing import Any
from urllib.parse import urlsplit

from duelmatch.cli.settings import DEFAULT_ALGORITHM
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
            yield urlsplit(json.loads(process.stdout.readline())["address"]).netloc
        finally:
            process.terminate()


class Voter:
    """Somebody who votes over HTTP."""

    def __init__(self, place: str, study: str, token: str) -> None:
        self._connection = HTTPConnection(place, timeout=60)
        self._path = f"/api/v1/studies/{study}"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def post(self, path: str, body: Any = None) -> Any:
        text = None if body is None else json.dumps(body)
        self._connection.request("POST", self._path + path, text, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return json.loads(content)


def voting(place: str, study: str, tokens: list[str], votes: int) -> tuple[float, list[float], list[float]]:
    """Return the seconds in all, of each ask, and of each tell."""
    asks: list[float] = []
    tells: list[float] = []
    left = list(range(votes))

    def vote(number: int, token: str) -> None:
        chance, voter = random.Random(number), Voter(place, study, token)
        while True:
            try:
                left.pop()
            except IndexError:
                return
            begin = perf_counter()
            while (duel := voter.post("/duel"))["number"] is None:
                assert duel["reason"] == "waiting", duel
                sleep(0.005)
            asked = perf_counter()
            sides = sorted((duel["left"], duel["right"]))
            voter.post(f"/duels/{duel['number']}/answer", {"winner": sides[chance.random() > 0.7]})
            asks.append(asked - begin)
            tells.append(perf_counter() - asked)

    threads = [threading.Thread(target=vote, args=pair) for pair in enumerate(tokens)]
    begin = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tells) == votes
    return perf_counter() - begin, asks, tells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=5_000)
    parser.add_argument("--algorithm", default=DEFAULT_ALGORITHM)
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
