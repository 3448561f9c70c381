"""A thousand kill -9 while people vote over HTTP: is anything that was confirmed lost, or there twice?

``python benchmarks/kills.py [--kills 1000] [--save build/kills.jsonl] [--only NAME ...]``. Eight voters send
every request until it is answered, so a vote whose receipt got lost is sent again. The kills are shared out:

- 1 server on SQLite, 2 and 4 on PostgreSQL: one of the servers is killed at any moment;
- database: PostgreSQL's own main process is killed, and started again;
- frozen: one of two servers on PostgreSQL is stopped (SIGSTOP) for a second or two, perhaps in the middle of
  a transaction, and then killed; meanwhile the other one has to answer;
- full disk: the file system of the SQLite file fills up, only what the write-ahead log has room for can be
  confirmed, the server is killed, and then there is room again (needs root, for a small tmpfs);
- deleted file: the SQLite file, its write-ahead log or both are deleted under the server, which must not
  confirm anything from then on; it is killed, and the file put back.

After every twenty kills a checker that shares no code with duelmatch reads the table, recomputes the chain
of hashes and compares it with every receipt (tests/web/killing.py); then `duelmatch verify` reads the export.
Each twenty are a line in the file of ``--save``; started again, it goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import duelmatch as dm
from duelmatch.studies import Settings, Store, export_log
from duelmatch.verify import verify
from postgres import PostgresServer, server
from web.killing import (
    CLIENTS,
    Client,
    Servers,
    acknowledged,
    check_rows,
    rows_of,
    servers,
    voting,
    wait_for_votes,
)

PROBLEM = dm.Problem.complete([f"c{number:02}" for number in range(60)], ["chair", "editor"])
PARAMETERS: dict[str, dict[str, Any]] = {"panel": {"consistent": False}, "borda": {"ballot_size": 1_000}}
"""Studies with 8,000 questions and more for eight voters: those who go on voting on a server that is not
killed would run out of fewer before a batch is over."""

BATCH = 20
GIVE_UP = 900.0
"""Seconds for a batch."""

SMALL_DISK = "24m"


@dataclass
class Place:
    """Where a batch happens."""

    url: str
    servers: Servers
    clients: list[Client]
    chance: random.Random
    end: float
    postgres: PostgresServer | None = None
    file: Path | None = None

    def votes(self, number: int = 3) -> None:
        wait_for_votes(self.clients, number)

    def refused(self) -> None:
        """Wait until everybody was told 503."""
        before = [client.statuses[503] for client in self.clients]
        while any(client.statuses[503] <= count for client, count in zip(self.clients, before, strict=True)):
            time.sleep(0.005)
            assert time.monotonic() < self.end, "somebody is still confirmed"

    def pause(self, most: float) -> None:
        time.sleep(self.chance.uniform(0, most))


def kill(place: Place) -> None:
    place.pause(0.05)
    place.servers.kill()


def kill_database(place: Place) -> None:
    assert place.postgres
    place.pause(0.05)
    place.postgres.kill()
    while True:
        try:
            place.postgres.start()
            return
        except RuntimeError:  # what it had started is not gone yet
            time.sleep(0.1)


def freeze(place: Place) -> None:
    place.pause(0.05)
    place.servers.freeze()
    time.sleep(place.chance.uniform(0.5, 2.5))
    place.servers.kill()


def fill_disk(place: Place) -> None:
    assert place.file
    filler = place.file.with_name("filler")
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 65536):
                pass
        except OSError:
            pass
        for size in (4096, 512, 1):
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue
    place.refused()  # though not at once: what the write-ahead log has room for is safe there
    place.servers.kill()
    filler.unlink()


def delete_file(place: Place) -> None:
    assert place.file
    place.pause(0.05)
    files = [place.file, Path(f"{place.file}-wal")]
    gone = place.chance.choice([files, files[:1], files[1:]])
    for file in files:
        os.link(file, file.with_suffix(".kept" + file.suffix))
    for file in gone:
        file.unlink()
    place.refused()
    before = acknowledged(place.clients)
    time.sleep(0.3)
    assert acknowledged(place.clients) == before, "nothing is confirmed into a deleted file"
    Path(f"{place.file}-shm").unlink(missing_ok=True)
    for file in files:  # first: a server that is started meanwhile would begin a new file
        file.unlink(missing_ok=True)
        os.rename(file.with_suffix(".kept" + file.suffix), file)
    place.servers.kill()


@dataclass(frozen=True)
class Cell:
    """What is done, to how many servers, and its share of all kills; ``each``: kills that one time counts."""

    do: Callable[[Place], None]
    processes: int
    postgres: bool
    share: float
    each: int = 1


CELLS = {
    "1 server on SQLite": Cell(kill, 1, False, 0.30),
    "2 servers on PostgreSQL": Cell(kill, 2, True, 0.24),
    "4 servers on PostgreSQL": Cell(kill, 4, True, 0.24),
    "database": Cell(kill_database, 2, True, 0.06),
    "frozen": Cell(freeze, 2, True, 0.06),
    "full disk": Cell(fill_disk, 1, False, 0.04),
    "deleted file": Cell(delete_file, 1, False, 0.06, 2),
}


@contextmanager
def small_disk() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "none", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def batch(name: str, number: int) -> dict[str, Any]:
    """Do it twenty times, and check; return what is to be told of it."""
    cell, chance = CELLS[name], random.Random(f"{name} {number}")
    algorithm = ("panel", "borda")[number % 2]
    with ExitStack() as stack:
        postgres = file = None
        if cell.postgres:
            postgres = stack.enter_context(server(fsync=True))
            url = postgres.new_database()
        else:
            disk = small_disk() if cell.do is fill_disk else tempfile.TemporaryDirectory()
            file = Path(stack.enter_context(disk)) / "duels.db"
            url = f"sqlite:///{file}"
        with Store(url) as store:
            settings = Settings(algorithm, delta=1e-9, lease=2.0, parameters=PARAMETERS[algorithm])
            study = store.create(PROBLEM, settings, "x", [f"v{voter}" for voter in range(CLIENTS)])
            tokens = {voter.id: study.new_link("voter", voter.id) for voter in study.voters()}
        begin = time.monotonic()
        with servers(url, cell.processes) as running:
            patience, pause = (2.5, 0.05) if cell.do is freeze else (10.0, 0.0)
            clients = [
                Client(running.port, study.id, voter, token, patience, pause)
                for voter, token in tokens.items()
            ]
            place = Place(url, running, clients, chance, begin + GIVE_UP, postgres, file)
            with voting(clients):
                for _ in range(BATCH // cell.each):
                    place.votes()
                    cell.do(place)
                place.votes()
        answers = check_rows(rows_of(url, study.id), clients)
        receipts = [kept["hash"] for client in clients for kept in client.acknowledged]
        with Store(url) as store:
            report = verify(export_log(store.study(study.id)).splitlines(), receipts)
        assert (report.damage, report.reason) == (None, None), (report.damage, report.reason)
    return {
        "cell": name,
        "batch": number,
        "algorithm": algorithm,
        "kills": BATCH,
        "confirmed": len(receipts),
        "in the log": len(answers),
        "sent again": sum(client.repeated for client in clients),
        "503": sum(client.statuses[503] for client in clients),
        "longest": round(max(client.longest for client in clients), 2),
        "seconds": round(time.monotonic() - begin, 1),
    }


def summary(lines: list[dict[str, Any]]) -> Iterator[str]:
    titles = ("kills", "confirmed", "in the log", "sent again", "503")
    yield f"| | {' | '.join(titles)} | longest wait for an answer |"
    yield "|---|" + "---|" * (len(titles) + 1)
    for name in [*CELLS, "in all"]:
        own = [line for line in lines if name in (line["cell"], "in all")]
        if own:
            sums = (f"{sum(line[title] for line in own):,}" for title in titles)
            yield f"| {name} | {' | '.join(sums)} | {max(line['longest'] for line in own):.1f} s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--save", type=Path, default=Path("build/kills.jsonl"))
    parser.add_argument("--only", nargs="*", choices=CELLS, default=list(CELLS))
    options = parser.parse_args()
    options.save.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        [json.loads(line) for line in options.save.read_text().splitlines()] if options.save.exists() else []
    )
    done = {(line["cell"], line["batch"]) for line in lines}
    wanted = [
        (name, number)
        for name in options.only
        for number in range(round(options.kills * CELLS[name].share / BATCH))
    ]
    for name, number in sorted(wanted, key=lambda each: each[1]):
        if (name, number) in done:
            continue
        if CELLS[name].do is fill_disk and os.geteuid() != 0:
            print("full disk: left out, since only root can make a small one", file=sys.stderr)
            continue
        lines.append(batch(name, number))
        print(json.dumps(lines[-1]), flush=True)
        with options.save.open("a") as file:
            file.write(json.dumps(lines[-1]) + "\n")
    print("\n".join(summary(lines)))


if __name__ == "__main__":
    main()
