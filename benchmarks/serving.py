"""Votes per second over real HTTP, and how long voters wait for a question and a receipt.

``python benchmarks/serving.py [--votes N] [--other PYTHON] [--algorithm NAME] [--separately]``

Three crowds: 50 and 200 voters who answer at once, and 1,000 who pause for 2 seconds after each answer. The
server is `duelmatch serve` in a process of its own, without rate limits; the voters share this process, each
with a connection that is kept. So on two cores the voters take one of them. Everybody has voted once before
it is measured. In a crowd, whoever has finished a ballot is followed by somebody else. As on the voter's
page, an answer brings the next question along, so a request of its own is for a ballot's first question only;
``--separately`` asks for every question in a request of its own.

``--other`` is the Python of an environment with another version of duelmatch, which is measured in turns with
this one; the voters speak its dialect of the API. The load of the machine is printed with every line.
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
from dataclasses import dataclass, field
from time import perf_counter, sleep
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

from studies import SIZES, databases, percentile

EDGES = 100
BALLOT = 10
"""Questions until somebody else comes, in a crowd."""

PAUSE = 2.0
"""Seconds between a voter's answers, more or less, of those who pause."""

CROWDS = {"50 at once": (50, 0.0), "200 at once": (200, 0.0), "1,000 who pause 2 s": (1_000, PAUSE)}


@contextmanager
def server(python: str | None, store: str) -> Iterator[tuple[str, int]]:
    """Run a server; give its host and port, and the id of its process."""
    command = [python or sys.executable, "-c", "from duelmatch.cli import main; main()"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    if python is not None:
        environment.pop("PYTHONPATH", None)
    with subprocess.Popen(
        [*command, "serve", "--json", "--no-limits", "--store", store, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        try:
            assert process.stdout
            address = json.loads(process.stdout.readline())["address"]
            while not is_ready(address):
                sleep(0.05)
            yield urlsplit(address).netloc, process.pid
        finally:
            process.terminate()


def is_ready(address: str) -> bool:
    try:
        with urlopen(f"{address}readyz") as answer:
            return bool(answer.status == 200)
    except HTTPError:
        return False


def processor_seconds(process: int) -> float:
    """Return how long a process has been at work; other work on the machine hardly changes that."""
    with open(f"/proc/{process}/stat", encoding="ascii") as stat:
        user, system = stat.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Connection:
    """A connection that is kept, for one caller at a time."""

    def __init__(self, place: str) -> None:
        self._place = place

    async def open(self) -> None:
        host, port = self._place.rsplit(":", 1)
        self._reader, self._writer = await asyncio.open_connection(host, int(port))

    async def post(self, path: str, token: str | None, body: Any = None) -> Any:
        text = "" if body is None else json.dumps(body)
        shown = "" if token is None else f"Authorization: Bearer {token}\r\n"
        request = (
            f"POST /api/v1/studies{path} HTTP/1.1\r\nHost: {self._place}\r\n{shown}"
            f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}"
        ).encode()
        try:
            head = await self._sent(request)
        except (asyncio.IncompleteReadError, ConnectionError):  # it was idle for too long, and closed
            await self.open()
            head = await self._sent(request)
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        content = await self._reader.readexactly(size)
        assert head.startswith(b"HTTP/1.1 20"), content
        return json.loads(content)

    async def _sent(self, request: bytes) -> bytes:
        self._writer.write(request)
        return await self._reader.readuntil(b"\r\n\r\n")


@dataclass
class Place:
    """A study on a server, and the tokens of voters who have not come yet."""

    address: str
    study: str
    tokens: list[str]
    is_old: bool
    """Whether it speaks of duels, as version 0.1.0 does."""
    separately: bool
    """Whether every question is asked for in a request of its own, as it must be there."""
    asks: list[float] = field(default_factory=list)
    tells: list[float] = field(default_factory=list)

    async def vote(
        self, connection: Connection, token: str, question: Any, chance: random.Random
    ) -> tuple[str, Any]:
        """Answer once, and ask before if need be; return who did, perhaps a follower, and what is next."""
        begin = perf_counter()
        known = question
        while question is None or question["number"] is None:
            if question is not None and question["reason"] == "all yours":
                token = self.tokens.pop()
                begin = perf_counter()
            elif question is not None:
                assert question["reason"] == "waiting", question
                await asyncio.sleep(0.005)
            question = await connection.post(f"/{self.study}/{'duel' if self.is_old else 'question'}", token)
        asked = perf_counter()
        if self.is_old:
            said = {"winner": sorted((question["left"], question["right"]))[chance.random() > 0.7]}
            path = f"/{self.study}/duels/{question['number']}/answer"
        else:
            said = {"answer": sorted(question["candidates"])[chance.random() > 0.7]}
            if not self.separately:
                said["next"] = True
            path = f"/{self.study}/questions/{question['number']}/answer"
        kept = await connection.post(path, token, said)
        if question is not known:
            self.asks.append(asked - begin)
        self.tells.append(perf_counter() - asked)
        return token, kept.get("next")


async def prepared(
    address: str, algorithm: str, voters: int, votes: int, is_old: bool, separately: bool
) -> Place:
    """Create a study, and invite as many voters as it takes."""
    connection = Connection(address)
    await connection.open()
    candidates, positions = SIZES[EDGES]
    new = {
        "name": "A benchmark",
        "problem": {
            "candidates": [f"c{number:02}" for number in range(candidates)],
            "positions": [f"p{number:02}" for number in range(positions)],
        },
        "settings": {"algorithm": algorithm},
    }
    panel = algorithm == "panel"
    if panel:
        new["voters"] = [{"name": f"v{number}"} for number in range(voters)]
    made = await connection.post("", None, new)
    if panel:
        tokens = [each["token"] for each in made["voters"]]
        return Place(address, made["study"], tokens, is_old, separately)
    count = voters if is_old else voters + (votes + voters) * 3 // (2 * BALLOT)
    tokens = [
        (await connection.post(f"/{made['study']}/voters", made["organiser_token"], {}))["token"]
        for _ in range(count)
    ]
    return Place(address, made["study"], tokens, is_old, separately)


async def crowd(place: Place, process: int, voters: int, votes: int, pause: float) -> tuple[float, float]:
    """Let everybody vote; return the seconds that it took, after a first vote each, and the server's."""
    connections = [Connection(place.address) for _ in range(voters)]
    for connection in connections:
        await connection.open()
    tokens = [place.tokens.pop() for _ in connections]
    chances = [random.Random(number) for number in range(voters)]
    begun = await asyncio.gather(
        *(
            place.vote(connection, token, None, chance)
            for connection, token, chance in zip(connections, tokens, chances, strict=True)
        )
    )
    place.asks.clear()
    place.tells.clear()
    left = list(range(votes))

    async def work(connection: Connection, begun: tuple[str, Any], chance: random.Random) -> None:
        token, question = begun
        if pause:
            await asyncio.sleep(chance.uniform(0, pause))
        while left:
            left.pop()
            token, question = await place.vote(connection, token, question, chance)
            if pause:
                await asyncio.sleep(chance.uniform(0.5, 1.5) * pause)

    begin, busy = perf_counter(), processor_seconds(process)
    await asyncio.gather(*(work(*each) for each in zip(connections, begun, chances, strict=True)))
    return perf_counter() - begin, processor_seconds(process) - busy


async def measured(
    address: str,
    process: int,
    algorithm: str,
    voters: int,
    votes: int,
    pause: float,
    separately: bool = False,
) -> tuple[Place, float, float]:
    with urlopen(f"http://{address}/api/v1/openapi.json") as answer:
        is_old = any(path.endswith("/duel") for path in json.load(answer)["paths"])
    place = await prepared(address, algorithm, voters, votes, is_old, is_old or separately)
    gc.collect()
    gc.freeze()  # or else all voters pause for 0.1 s now and then, and blame the server
    return place, *await crowd(place, process, voters, votes, pause)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=5_000)
    parser.add_argument("--algorithm", default="condorcet")
    parser.add_argument("--other", metavar="PYTHON", help="measure another version, in turns")
    parser.add_argument("--databases", nargs="+", default=["SQLite", "PostgreSQL"])
    parser.add_argument("--separately", action="store_true", help="a request for every question")
    parser.add_argument("--turns", type=int, default=1)
    options = parser.parse_args()
    print(f"{options.algorithm} over HTTP, {EDGES} edges, {options.votes:,} votes; ms as p50 / p99")
    print("| Database | Voters | Version | Votes per second | ask | tell | Processor ms per vote | Load |")
    print("|---|---|---|---|---|---|---|---|")
    versions = {"this": None} | ({"other": options.other} if options.other else {})
    with databases() as addresses:
        for name in options.databases:
            for title, (voters, pause) in CROWDS.items():
                for version, python in list(versions.items()) * options.turns:
                    with server(python, addresses[name]()) as (address, process):
                        place, seconds, busy = asyncio.run(
                            measured(
                                address,
                                process,
                                options.algorithm,
                                voters,
                                options.votes,
                                pause,
                                options.separately,
                            )
                        )
                    times = [
                        f"{percentile(each, 0.5):.0f} / {percentile(each, 0.99):.0f}" if each else "none"
                        for each in (place.asks, place.tells)
                    ]
                    rate = len(place.tells) / seconds
                    load = os.getloadavg()[0]
                    work = f"{1000 * busy / len(place.tells):.2f}"
                    row = [name, title, version, f"{rate:,.0f}", *times, work, f"{load:.1f}"]
                    print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
