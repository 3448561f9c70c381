"""Votes per second over real HTTP, and how long voters wait for a question and a receipt.

``python benchmarks/serving.py [--votes N] [--other PYTHON] [--algorithm NAME] [--separately]``
``python benchmarks/serving.py --crowds 200 1000 --studies 50 --servers 1 4 --databases PostgreSQL``
``python benchmarks/serving.py --memory --votes 200000 --databases SQLite``

Three crowds, unless others are named with ``--crowds``: 50 and 200 voters who answer at once, and 1,000 who
pause for 2 seconds after each answer. With ``--studies`` they are shared out among so many studies, with
``--servers`` among so many server processes on one store. ``--memory`` prints how much memory the server has
after every 20,000 votes of 200 voters. The server is `duelmatch serve` in a process of its own, without rate
limits; the voters share this process, each with a connection that is kept. So on two cores the voters take
one of them. Everybody has voted once before it is measured. In a crowd, whoever has finished a ballot is
followed by somebody else. As on the voter's page, an answer brings the next question along, so a request of
its own is for a ballot's first question only; ``--separately`` asks for every question in a request of its
own.

``--other`` is the Python of an environment with another version of duelmatch, which is measured in turns with
this one; the voters speak its dialect of the API. The load of the machine is printed with every line.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product
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

CROWDS = {
    "50": ("50 at once", 50, 0.0),
    "200": ("200 at once", 200, 0.0),
    "1000": ("1,000 at once", 1_000, 0.0),
    "pausing": ("1,000 who pause 2 s", 1_000, PAUSE),
}
STEP = 20_000
"""Votes between two looks at the memory."""


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


@contextmanager
def many_servers(count: int, python: str | None, store: str) -> Iterator[tuple[list[str], list[int]]]:
    """Run servers on one store; give their hosts and ports, and the ids of their processes."""
    with ExitStack() as stack:
        running = [stack.enter_context(server(python, store)) for _ in range(count)]
        yield [address for address, _ in running], [process for _, process in running]


def megabytes(process: int) -> float:
    """Return how much memory a process has."""
    with open(f"/proc/{process}/statm", encoding="ascii") as sizes:
        return int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


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
    """A study, and the tokens of voters who have not come yet."""

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
        "settings": {"algorithm": algorithm, "delta": 1e-9},
    }
    panel = algorithm == "panel"
    if panel:
        new["voters"] = [{"name": f"v{number}"} for number in range(voters)]
    made = await connection.post("", None, new)
    if panel:
        tokens = [each["token"] for each in made["voters"]]
        return Place(made["study"], tokens, is_old, separately)
    count = voters if is_old else voters + (votes + voters) * 3 // (2 * BALLOT)
    tokens = [
        (await connection.post(f"/{made['study']}/voters", made["organiser_token"], {}))["token"]
        for _ in range(count)
    ]
    return Place(made["study"], tokens, is_old, separately)


async def crowd(
    places: list[Place],
    addresses: list[str],
    processes: list[int],
    voters: int,
    votes: int,
    pause: float,
    after: Callable[[int], None],
) -> tuple[float, float]:
    """Let everybody vote; return the seconds that it took, after a first vote each, and the servers'.

    ``after`` is told how many votes are left.
    """
    connections = [Connection(addresses[number % len(addresses)]) for number in range(voters)]
    for connection in connections:
        await connection.open()
    own = [places[number % len(places)] for number in range(voters)]
    chances = [random.Random(number) for number in range(voters)]
    begun = await asyncio.gather(
        *(
            place.vote(connection, place.tokens.pop(), None, chance)
            for place, connection, chance in zip(own, connections, chances, strict=True)
        )
    )
    for place in places:
        place.asks.clear()
        place.tells.clear()
    left = list(range(votes))

    async def work(
        place: Place, connection: Connection, begun: tuple[str, Any], chance: random.Random
    ) -> None:
        token, question = begun
        if pause:
            await asyncio.sleep(chance.uniform(0, pause))
        while left:
            after(left.pop())
            token, question = await place.vote(connection, token, question, chance)
            if pause:
                await asyncio.sleep(chance.uniform(0.5, 1.5) * pause)

    begin, busy = perf_counter(), sum(map(processor_seconds, processes))
    await asyncio.gather(*(work(*each) for each in zip(own, connections, begun, chances, strict=True)))
    return perf_counter() - begin, sum(map(processor_seconds, processes)) - busy


async def measured(
    addresses: list[str],
    processes: list[int],
    options: argparse.Namespace,
    voters: int,
    pause: float,
    after: Callable[[int], None] = lambda left: None,
) -> tuple[list[Place], float, float]:
    with urlopen(f"http://{addresses[0]}/api/v1/openapi.json") as answer:
        is_old = any(path.endswith("/duel") for path in json.load(answer)["paths"])
    each, votes = math.ceil(voters / options.studies), math.ceil(options.votes / options.studies)
    separately = is_old or options.separately
    places = [
        await prepared(addresses[0], options.algorithm, each, votes, is_old, separately)
        for _ in range(options.studies)
    ]
    gc.collect()
    gc.freeze()  # or else all voters pause for 0.1 s now and then, and blame the server
    return places, *await crowd(places, addresses, processes, voters, options.votes, pause, after)


def memory(store: str, options: argparse.Namespace) -> None:
    """Print how much memory a server has, as votes come in."""

    def look(left: int) -> None:
        if left % STEP == 0:
            print(f"| {options.votes - left:,} | {megabytes(processes[0]):,.0f} |", flush=True)

    print("| Votes | MB |\n|---|---|")
    with many_servers(1, None, store) as (addresses, processes):
        _, seconds, _ = asyncio.run(measured(addresses, processes, options, 200, 0.0, look))
        print(f"{options.votes / seconds:,.0f} votes per second")


def row_of(places: list[Place], seconds: float, busy: float) -> list[str]:
    asks = [time for place in places for time in place.asks]
    tells = [time for place in places for time in place.tells]
    times = [
        f"{percentile(each, 0.5):.0f} / {percentile(each, 0.99):.0f}" if each else "none"
        for each in (asks, tells)
    ]
    work = f"{1000 * busy / len(tells):.2f}"
    return [f"{len(tells) / seconds:,.0f}", *times, work, f"{os.getloadavg()[0]:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--votes", type=int, default=5_000)
    parser.add_argument("--algorithm", default="condorcet")
    parser.add_argument("--other", metavar="PYTHON", help="measure another version, in turns")
    parser.add_argument("--databases", nargs="+", default=["SQLite", "PostgreSQL"])
    parser.add_argument("--crowds", nargs="+", choices=CROWDS, default=["50", "200", "pausing"])
    parser.add_argument(
        "--studies", type=int, default=1, help="how many studies to share the voters out among"
    )
    parser.add_argument("--servers", type=int, nargs="+", default=[1], help="how many servers, in turns")
    parser.add_argument("--memory", action="store_true", help="how much memory the server has")
    parser.add_argument("--separately", action="store_true", help="a request for every question")
    parser.add_argument("--turns", type=int, default=1)
    options = parser.parse_args()
    print(f"{options.algorithm} over HTTP, {EDGES} edges, {options.votes:,} votes, {options.studies} studies")
    versions = {"this": None} | ({"other": options.other} if options.other else {})
    with databases() as addresses:
        if options.memory:
            memory(addresses[options.databases[0]](), options)
            return
        print("Milliseconds as p50 / p99")
        print(
            "| Database | Servers | Voters | Version | Votes per second | ask | tell | Processor ms | Load |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for name, crowd_name, count, (version, python) in product(
            options.databases, options.crowds, options.servers, list(versions.items()) * options.turns
        ):
            title, voters, pause = CROWDS[crowd_name]
            with many_servers(count, python, addresses[name]()) as (places, processes):
                found = asyncio.run(measured(places, processes, options, voters, pause))
            row = [name, str(count), title, version, *row_of(*found)]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
