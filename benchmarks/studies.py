"""Studies: votes per second with 50 voters at once, and how long a log of 100,000 answers takes to restore.

``python benchmarks/studies.py [--votes N] [--algorithm NAME ...] [--all]``. The voters are threads that call
the study directly, without HTTP; in a crowd, whoever has finished a ballot is followed by somebody else. The
databases are SQLite in a temporary folder and PostgreSQL, synced to disk. Restoring is reading the log into
memory; looking is the first status after that. In brackets the processor time of it, which other work on the
machine hardly changes.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from time import perf_counter, process_time, sleep

import sqlalchemy as sa

import duelmatch as dm
from duelmatch.studies import Feed, Nothing, Question, Settings, Store, Study, schema
from duelmatch.studies.log import Held
from duelmatch.studies.state import State

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

VOTERS = 50
SIZES = {100: (10, 10), 2000: (50, 40)}
ALGORITHMS = ("condorcet", "panel", "car-cond")


def problem_of(edges: int) -> dm.Problem:
    candidates, positions = SIZES[edges]
    return dm.Problem.complete(
        [f"c{number:02}" for number in range(candidates)], [f"p{number:02}" for number in range(positions)]
    )


@contextmanager
def databases() -> Iterator[dict[str, Callable[[], str]]]:
    """Give what makes a new database and returns its address, on SQLite and on PostgreSQL."""
    from postgres import server

    numbers = count()
    with tempfile.TemporaryDirectory() as folder, server(fsync=True) as postgres:
        yield {
            "SQLite": lambda: f"sqlite:///{folder}/duels{next(numbers)}.db",
            "PostgreSQL": postgres.new_database,
        }


def percentile(seconds: list[float], part: float) -> float:
    return 1000 * sorted(seconds)[int(part * (len(seconds) - 1))]


def voting(study: Study, votes: int) -> tuple[float, list[float], list[float]]:
    """Return the seconds in all, of each ask, and of each tell."""
    asks: list[float] = []
    tells: list[float] = []
    left = list(range(votes))
    members = [voter.id for voter in study.voters()] or [study.add_voter() for _ in range(VOTERS)]

    def voter(number: int) -> None:
        chance = random.Random(number)
        me = members[number]
        while left:
            left.pop()
            begin = perf_counter()
            while not isinstance(question := study.ask(me), Question):
                if question.reason == "all yours":
                    me = study.add_voter()
                elif question.reason == "done":
                    return
                else:
                    sleep(0.005)
            asked = perf_counter()
            study.tell(me, question.number, sorted(question.candidates)[chance.random() > 0.7])
            asks.append(asked - begin)
            tells.append(perf_counter() - asked)

    threads = [threading.Thread(target=voter, args=(number,)) for number in range(VOTERS)]
    begin = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return perf_counter() - begin, asks, tells


def write_answers(store: Store, study: Study, answers: int, judges: int) -> int:
    """Write a log of so many answers, as if they had been given; return how many there are."""
    chance = random.Random(0)
    entries = study.entries()
    state = State(entries[0])
    state.note(entries[1:])
    held = Held(study.id, "long", "open", state.seq, state.hash, 1_000_000.0)
    feed = Feed(state, held)
    voters = list(state.members)
    number = 0
    for told in range(answers):
        while not isinstance(question := asked_of(feed, voters, number), Question):
            number += 1
            if question.reason == "done" or number > 10 * answers:
                return flush(store, study, held, told)
        feed.tell(question.voter, question.number, question.candidates[chance.random() < 0.5])
        number += study.settings.kind == "panel"
    return flush(store, study, held, answers)


def asked_of(feed: Feed, voters: list[str], number: int) -> Question | Nothing:
    """Ask the voter whose turn it is, who joins if need be."""
    if feed.state.settings.kind == "panel":
        return feed.ask(voters[number % len(voters)])
    while number >= len(voters):
        voters.append(f"{len(voters):016x}")
        feed.enter([(voters[-1], 1, ())])
    feed.state.kind.think()
    return feed.ask(voters[number])


def flush(store: Store, study: Study, held: Held, answers: int) -> int:
    with store.database.writing() as connection:
        connection.execute(sa.insert(schema.entries), held.rows)
        end = sa.update(schema.studies).where(schema.studies.c.id == study.id)
        connection.execute(end.values(seq=held.seq, hash=held.hash))
    return answers


def restore(address: str, edges: int, algorithm: str, answers: int) -> str:
    """Return how long reading a long log takes, and the first look at it."""
    judges = 250
    names = [f"J{number}" for number in range(judges)] if algorithm == "panel" else []
    settings = Settings(algorithm, delta=1e-9, parameters={"consistent": False} if names else {})
    with Store(address) as store:
        study = store.create(problem_of(edges), settings, "long", names)
        written = write_answers(store, study, answers, judges)
    gc.collect()  # what was made for writing
    with Store(address) as store:
        begin = perf_counter(), process_time()
        with store.states.reading(study.id) as state:
            read = perf_counter(), process_time()
        assert state.answers == written
        store.study(study.id).status()
        looked = perf_counter(), process_time()
    reading, looking = (
        f"{one[0] - other[0]:.1f} s ({one[1] - other[1]:.1f} s)"
        for one, other in ((read, begin), (looked, read))
    )
    return f"{written:,}: {reading}, {looking}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=5_000)
    parser.add_argument("--stored", type=int, default=100_000)
    parser.add_argument("--all", action="store_true", help="2,000 edges too, which takes minutes")
    parser.add_argument("--algorithm", nargs="*", default=ALGORITHMS)
    options = parser.parse_args()
    print(f"{VOTERS} voters at once, {options.votes:,} votes; milliseconds as p50 / p99")
    print("| Algorithm | Database | Edges | Votes per second | ask | tell | Restored: reading, looking |")
    print("|---|---|---|---|---|---|---|")
    with databases() as addresses:
        for algorithm in options.algorithm:
            for name, new in addresses.items():
                for edges in SIZES if options.all else [min(SIZES)]:
                    row = measured(new(), edges, algorithm, options)
                    print(f"| {algorithm} | {name} | {edges:,} | {row} |", flush=True)


def measured(address: str, edges: int, algorithm: str, options: argparse.Namespace) -> str:
    names = [f"J{number}" for number in range(VOTERS)] if algorithm == "panel" else []
    with Store(address) as store:
        study = store.create(problem_of(edges), Settings(algorithm), f"{edges}", names)
        seconds, asks, tells = voting(study, options.votes)
    times = (f"{percentile(all, 0.5):.0f} / {percentile(all, 0.99):.0f}" for all in (asks, tells))
    restored = restore(address, edges, algorithm, options.stored)
    return f"{len(tells) / seconds:,.0f} | {' | '.join(times)} | {restored}"


if __name__ == "__main__":
    main()
