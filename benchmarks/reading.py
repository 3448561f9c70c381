"""How long each read of the API takes in a study with 100,000 votes.

``python benchmarks/reading.py [--votes 100000] [--databases SQLite PostgreSQL]``. The log is written as if it
had been voted on; ten votes a voter, each of whom has a name and a link. A server process answers; every
request is sent so many times, on one connection, and the longest is shown beside the median, and what it
cost the server in processor time. Of exports, the first piece counts, and the whole is told beside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import httpx2
import sqlalchemy as sa
from serving import processor_seconds, server

from duelmatch.studies import Settings, Store, schema
from studies import databases, problem_of, write_answers

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

TIMES = 15


def prepared(url: str, votes: int) -> tuple[str, str, str, str]:
    """Write the study; return its id, a voter, and the tokens of an organiser and of the voter."""
    with Store(url) as store:
        study = store.create(problem_of(100), Settings("condorcet", delta=1e-9), "long")
        write_answers(store, study, votes, 0)
        members = [voter.id for voter in study.voters()]
        voters = [
            {"study": study.id, "id": voter, "name": f"Voter {number}"}
            for number, voter in enumerate(members)
        ]
        links = [
            {"study": study.id, "id": f"{number:016}", "role": "voter", "voter": voter, "hash": b"x" * 32}
            | {"created_at": float(number)}
            for number, voter in enumerate(members)
        ]
        with store.database.writing() as connection:
            connection.execute(sa.insert(schema.voters), voters)
            connection.execute(sa.insert(schema.links), links)
        middle = members[len(members) // 2]
        return study.id, middle, study.new_link("organiser"), study.new_link("voter", middle)


def reads(voter: str, votes: int) -> Iterator[tuple[str, bool]]:
    """Yield the reads: the path below the study, and whether it is the voter's."""
    for path in ("", "/progress", "/me"):
        yield path, True
    yield "/result", False
    yield "/voters?limit=1000", False
    yield f"/voters?after={voter}&limit=1000", False
    yield "/links?limit=1000", False
    yield f"/links?after={votes // 20:016}&limit=1000", False
    yield "/answers?limit=50", False
    yield f"/answers?before={votes}&limit=1000", False
    yield f"/answers?voter={voter}&limit=1000", False
    for layout in ("log", "csv", "table&people=true"):
        yield f"/export?format={layout}", False
    for page in ("", "/live?voters=50", "/answers", "/result"):
        yield f"page{page}", False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--votes", type=int, default=100_000)
    parser.add_argument("--databases", nargs="+", default=["SQLite", "PostgreSQL"])
    options = parser.parse_args()
    print(f"{options.votes:,} votes; milliseconds until the first byte")
    print("| Database | Read | Median | Longest | Processor | All of it |")
    print("|---|---|---|---|---|---|")
    with databases() as addresses:
        for name in options.databases:
            url = addresses[name]()
            study, voter, organiser, own = prepared(url, options.votes)
            with (
                server(None, url) as (address, process),
                httpx2.Client(timeout=120, trust_env=False) as client,
            ):
                for path, is_voters in reads(voter, options.votes):
                    token = own if is_voters else organiser
                    headers = {"Authorization": f"Bearer {token}"}
                    if path.startswith("page"):
                        place = f"http://{address}/studies/{study}{path.removeprefix('page')}"
                        headers = {"Cookie": f"duelmatch-{study}-organiser={organiser}"}
                    else:
                        place = f"http://{address}/api/v1/studies/{study}{path}"
                    first, whole = [], 0.0
                    busy = processor_seconds(process)
                    for _ in range(3 if "export" in path else TIMES):
                        begin = perf_counter()
                        with client.stream("GET", place, headers=headers) as answer:
                            assert answer.status_code == 200, (path, answer.read())
                            pieces = answer.iter_raw()
                            next(pieces)
                            first.append(1000 * (perf_counter() - begin))
                            for _ in pieces:
                                pass
                        whole = max(whole, 1000 * (perf_counter() - begin))
                    busy = 1000 * (processor_seconds(process) - busy) / len(first)
                    median = sorted(first)[len(first) // 2]
                    shown = path.replace(voter, "ID") or "the study"
                    print(
                        f"| {name} | `{shown}` | {median:.0f} | {max(first):.0f} | {busy:.0f} | {whole:.0f} |"
                    )


if __name__ == "__main__":
    main()
