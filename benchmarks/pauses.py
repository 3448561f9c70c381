"""How long one request can keep all others waiting: the longest pause of the event loop under a hostile mix.

``python benchmarks/pauses.py [--seconds 240] [--databases SQLite]``. While somebody creates the largest
problems allowed, of every algorithm, asks for estimates, votes, looks at results, pages and exports, drops
and adds candidates and strikes voters, as fast as the server lets one person, another asks for /healthz every
10 ms, and a third votes in a small study. Rate limits are off. Shown are the longest waits of the two, the
longest of the hostile requests themselves, and who was answered 503; any other 5xx ends it. Processor time is
what counts on a busy machine: the load is printed.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Callable
from functools import partial
from time import monotonic, sleep
from typing import Any

import httpx2
from serving import server

from studies import databases

SHAPES = {"445 x 2": (445, 2), "100 x 40": (100, 40), "64 x 64": (64, 64), "20 x 20": (20, 20)}
"""The first three have about as many different duels as are allowed."""

SPARSE = {
    "candidates": [f"c{c}" for c in range(27)],
    "edges": {f"p{p}": [f"c{c}" for c in range(27) if (c * c + 3 * p * c + p) % 7 > 1] for p in range(23)},
}
"""Its matchings are counted exactly, which takes some seconds, before the first question is asked."""

ALGORITHMS = ("condorcet", "borda", "panel", "car-cond", "car-parallel", "car-verify", "clucb-borda-exact")


class Longest:
    """The longest waits, by what was waited for."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.times: dict[str, int] = {}
        self.refused: dict[str, int] = {}

    def call(self, name: str, work: Callable[[], httpx2.Response]) -> httpx2.Response:
        begin = monotonic()
        answer = work()
        self.seconds[name] = max(self.seconds.get(name, 0.0), monotonic() - begin)
        self.times[name] = self.times.get(name, 0) + 1
        assert answer.status_code in (*range(500), 503), answer.text
        if answer.status_code == 503:
            self.refused[name] = self.refused.get(name, 0) + 1
        return answer


def hostile(address: str, longest: Longest, end: float) -> None:
    """Create what takes longest, vote in it, and look at it from all sides."""
    problems: dict[str, Any] = {"sparse": SPARSE}
    for name, (candidates, positions) in SHAPES.items():
        problems[name] = {
            "candidates": [f"c{number}" for number in range(candidates)],
            "positions": [f"p{number}" for number in range(positions)],
        }
    with httpx2.Client(base_url=address, timeout=300, trust_env=False) as client:
        for shape, problem in problems.items():
            for algorithm in ALGORITHMS:
                if monotonic() > end:
                    return
                torment(client, longest, f"{algorithm}, {shape}", problem, algorithm)


def torment(client: httpx2.Client, longest: Longest, name: str, problem: Any, algorithm: str) -> None:
    new = {"name": name, "problem": problem, "settings": {"algorithm": algorithm, "seed": 1}}
    new["voters"] = [{"name": f"v{number}"} for number in range(3)]
    longest.call(f"estimate ({name})", lambda: client.post("/api/v1/estimate", json=new))
    made = longest.call(f"create ({name})", lambda: client.post("/api/v1/studies", json=new))
    if made.status_code != 201:
        return
    made_study = made.json()
    base = f"/api/v1/studies/{made_study['study']}"
    organiser = {"Authorization": f"Bearer {made_study['organiser_token']}"}
    cookie = {"Cookie": f"duelmatch-{made_study['study']}-organiser={made_study['organiser_token']}"}
    for voter in made_study["voters"][:2]:
        headers = {"Authorization": f"Bearer {voter['token']}"}
        for _ in range(3):
            asked = longest.call(f"ask ({name})", partial(client.post, f"{base}/question", headers=headers))
            number = asked.json().get("number")
            if number is None:
                break
            said = {"answer": asked.json()["candidates"][0]}
            path = f"{base}/questions/{number}/answer"
            longest.call(f"answer ({name})", partial(client.post, path, json=said, headers=headers))
    for path in ("/result", "/progress", "/export?format=csv", "/export"):
        longest.call(f"GET {path} ({name})", partial(client.get, base + path, headers=organiser))
    page = f"/studies/{made_study['study']}"
    longest.call(f"dashboard ({name})", lambda: client.get(page, headers=cookie))
    dropped = {"candidate": problem["candidates"][0]}
    longest.call(f"drop ({name})", lambda: client.post(f"{base}/drop", json=dropped, headers=organiser))
    late = {"candidate": "late", "positions": ["p0", "p1"]}
    longest.call(f"add ({name})", lambda: client.post(f"{base}/add", json=late, headers=organiser))
    for act in ("strike", "reinstate"):
        path = f"{base}/voters/{made_study['voters'][0]['voter']}/{act}"
        longest.call(f"{act} ({name})", partial(client.post, path, headers=organiser))
    longest.call(f"GET /result ({name})", lambda: client.get(f"{base}/result", headers=organiser))


def healthy(address: str, longest: Longest, stop: threading.Event) -> None:
    with httpx2.Client(base_url=address, timeout=300, trust_env=False) as client:
        while not stop.is_set():
            longest.call("healthz", lambda: client.get("/healthz"))
            sleep(0.01)


def voting(address: str, longest: Longest, stop: threading.Event) -> None:
    """Vote in a small study all the while."""
    problem = {"candidates": ["ann", "bob", "cyd"], "positions": ["chair"]}
    with httpx2.Client(base_url=address, timeout=300, trust_env=False) as client:
        new = {"name": "small", "problem": problem, "settings": {"algorithm": "condorcet", "delta": 1e-9}}
        made = client.post("/api/v1/studies", json=new).json()
        base, organiser = (
            f"/api/v1/studies/{made['study']}",
            {"Authorization": f"Bearer {made['organiser_token']}"},
        )
        headers, asked = organiser, {"number": None}
        while not stop.is_set():
            if asked["number"] is None:
                token = client.post(f"{base}/voters", json={}, headers=organiser).json()["token"]
                headers = {"Authorization": f"Bearer {token}"}
            ask = longest.call("ask elsewhere", partial(client.post, f"{base}/question", headers=headers))
            asked = ask.json() if ask.status_code == 200 else {"number": None}
            if asked["number"] is not None:
                path, said = f"{base}/questions/{asked['number']}/answer", {"answer": asked["candidates"][0]}
                longest.call("answer elsewhere", partial(client.post, path, json=said, headers=headers))
            sleep(0.02)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--databases", nargs="+", default=["SQLite"])
    options = parser.parse_args()
    with databases() as addresses:
        for name in options.databases:
            with server(None, addresses[name]()) as (place, _):
                address, stop = f"http://{place}", threading.Event()
                longest, others = Longest(), Longest()
                threads = [
                    threading.Thread(target=each, args=(address, others, stop)) for each in (healthy, voting)
                ]
                for thread in threads:
                    thread.start()
                try:
                    hostile(address, longest, monotonic() + options.seconds)
                finally:
                    stop.set()
                    for thread in threads:
                        thread.join()
            print(f"{name}, {sum(longest.times.values())} hostile requests, load {os.getloadavg()[0]:.1f}")
            for what, seconds in others.seconds.items():
                times, refused = others.times[what], others.refused.get(what, 0)
                wait = f"{1000 * seconds:,.0f} ms"
                print(f"  longest wait of {times:,} for {what}: {wait}; answered 503: {refused}")
            slowest = sorted(longest.seconds.items(), key=lambda each: -each[1])[:8]
            refusals = sorted(longest.refused.items(), key=lambda each: -each[1])
            print("  answered 503: " + ("; ".join(f"{what} {times}" for what, times in refusals) or "none"))
            print("  slowest: " + "; ".join(f"{what} {seconds:.1f} s" for what, seconds in slowest))


if __name__ == "__main__":
    main()
