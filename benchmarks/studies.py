"""Studies: votes per second with 50 voters at once, and how long a log of 100,000 votes takes to restore.

``python benchmarks/studies.py [--votes N] [--algorithm NAME] [--all]``. The voters are threads that call the
study directly, without HTTP; the databases are SQLite in a temporary folder and PostgreSQL, synced to disk.
Restoring is reading the log and letting the explorer think about it, which takes long with many edges.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep

import sqlalchemy as sa

import duelmatch as dm
from duelmatch.explorers.catalogue import DEFAULT
from duelmatch.studies import Question, Settings, Store, Study, schema
from duelmatch.studies.course import Course

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

VOTERS = 50
SIZES = {100: (10, 10), 2000: (50, 40)}


def problem_of(edges: int) -> dm.Problem:
    candidates, positions = SIZES[edges]
    return dm.Problem.complete(
        [f"c{number:02}" for number in range(candidates)], [f"p{number:02}" for number in range(positions)]
    )


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    from postgres import server

    with tempfile.TemporaryDirectory() as folder, server(fsync=True) as postgres:
        yield {"SQLite": f"sqlite:///{folder}/duels.db", "PostgreSQL": postgres}


def percentile(seconds: list[float], part: float) -> float:
    return 1000 * sorted(seconds)[int(part * (len(seconds) - 1))]


def voting(study: Study, votes: int) -> tuple[float, list[float], list[float]]:
    """Return the seconds in all, of each ask, and of each tell."""
    asks: list[float] = []
    tells: list[float] = []
    left = list(range(votes))

    def voter(number: int) -> None:
        chance = random.Random(number)
        me = study.add_voter()
        while left:
            left.pop()
            begin = perf_counter()
            while not isinstance(question := study.ask(me), Question):
                sleep(0.005)
            asked = perf_counter()
            sides = sorted((question.left, question.right))
            study.tell(me, question.number, sides[chance.random() > 0.7])
            asks.append(asked - begin)
            tells.append(perf_counter() - asked)

    threads = [threading.Thread(target=voter, args=(number,)) for number in range(VOTERS)]
    begin = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return perf_counter() - begin, asks, tells


def write_votes(store: Store, study: Study, votes: int) -> None:
    """Write a log of so many votes by one voter, as if they had been given."""
    chance = random.Random(0)
    voter = study.add_voter()
    course = Course(study.problem, (), study.settings)
    entries, questions = [], []
    for number in range(1, votes + 1):
        pair = course.choose({})
        if pair is None:
            raise SystemExit(f"{study.settings.algorithm} was sure after {number - 1:,} votes")
        winner, loser = pair if chance.random() < 0.5 else pair[::-1]
        course.push(number, winner, loser)
        while course.ready:
            course.run.tell_wins(course.take())
            course.install()
        about = {"study": study.id, "at": 0.0, "voter": voter, "question": number}
        entries.append(about | {"seq": 2 * number + 1, "kind": "asked", "one": pair[0], "other": pair[1]})
        entries.append(about | {"seq": 2 * number + 2, "kind": "answered", "one": winner, "other": loser})
        row = {"study": study.id, "number": number, "voter": voter, "left": pair[0], "right": pair[1]}
        answer = {"winner": winner, "answer": 2 * number + 2}
        questions.append(row | answer | {"state": "answered", "expires_at": 0.0})
    with store.database.writing() as connection:
        connection.execute(sa.insert(schema.entries), entries)
        connection.execute(sa.insert(schema.questions), questions)
        values = {"head": 2 * votes + 2, "questions": votes}
        connection.execute(sa.update(schema.studies).where(schema.studies.c.id == study.id).values(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=5_000)
    parser.add_argument("--stored", type=int, default=100_000)
    parser.add_argument("--all", action="store_true", help="restore 2,000 edges too, which takes minutes")
    parser.add_argument("--algorithm", default=DEFAULT)
    options = parser.parse_args()
    print(f"{options.algorithm}, {VOTERS} voters at once, {options.votes:,} votes; milliseconds as p50 / p99")
    print(f"| Database | Edges | Votes per second | ask | tell | Read {options.stored:,} votes | Think |")
    print("|---|---|---|---|---|---|---|")
    with databases() as addresses:
        for name, address in addresses.items():
            for edges in SIZES:
                with Store(address) as store:
                    study = store.create(problem_of(edges), Settings(options.algorithm), f"{edges}")
                    seconds, asks, tells = voting(study, options.votes)
                times = (f"{percentile(all, 0.5):.0f} / {percentile(all, 0.99):.0f}" for all in (asks, tells))
                restored = "| "
                if options.all or edges == min(SIZES):
                    restored = "{:.1f} s | {:.1f} s".format(*restore(address, edges, options))
                rate = options.votes / seconds
                print(f"| {name} | {edges:,} | {rate:,.0f} | {' | '.join(times)} | {restored} |", flush=True)


def restore(address: str, edges: int, options: argparse.Namespace) -> tuple[float, float]:
    """Return the seconds that reading a long log takes, and thinking about it."""
    with Store(address) as store:
        study = store.create(problem_of(edges), Settings(options.algorithm), "long")
        write_votes(store, study, options.stored)
    with Store(address) as store:
        begin = perf_counter()
        board = store.board(study.id)
        read = perf_counter()
        board.think()
        thought = perf_counter()
    assert board.counted == options.stored
    return read - begin, thought - read


if __name__ == "__main__":
    main()
