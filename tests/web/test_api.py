"""The HTTP API: what it does, what it refuses, and that it describes both."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from duelmatch.errors import ConflictError
from duelmatch.studies import Store, Study
from duelmatch.web import Config
from web.running import served

NEW = {
    "name": "Who leads?",
    "problem": {"candidates": ["ann", "<script>alert(1)</script>"], "positions": ["chair"]},
    "settings": {"algorithm": "car-cond", "delta": 0.3},
}


@pytest.fixture(scope="session")
def client(store: Store) -> Iterator[httpx2.Client]:
    """A client of a real server, in a thread of its own."""
    with (
        served(store, Config(rates=None)) as address,
        httpx2.Client(base_url=address, timeout=30, trust_env=False) as client,
    ):
        yield client


class Caller:
    """Somebody with a link to a study."""

    def __init__(self, client: httpx2.Client, study: str, token: str) -> None:
        self._client, self._study = client, study
        self._headers = {"Authorization": f"Bearer {token}"}

    def __call__(self, method: str, path: str, expect: int = 200, **options: Any) -> Any:
        url = f"/api/v1/studies/{self._study}{path}"
        answer = self._client.request(method, url, headers=self._headers, **options)
        assert answer.status_code == expect, answer.text
        return checked(answer)


def checked(answer: httpx2.Response) -> Any:
    """Return what an answer holds; a refusal must be a problem."""
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert set(problem) == {"title", "status", "detail"}
        assert problem["status"] == answer.status_code
        return problem["detail"]
    if answer.content and answer.headers["content-type"] == "application/json":
        return answer.json()
    return answer.text


@pytest.fixture
def organiser(client: httpx2.Client) -> Caller:
    created = client.post("/api/v1/studies", json=NEW)
    assert created.status_code == 201
    return Caller(client, created.json()["study"], created.json()["organiser_token"])


@pytest.fixture
def invite(organiser: Caller, client: httpx2.Client) -> Callable[[], Caller]:
    return lambda: Caller(client, organiser._study, organiser("POST", "/voters", 201, json={})["token"])


def test_a_study_from_beginning_to_end(organiser: Caller, invite: Callable[[], Caller]) -> None:
    voter = invite()
    while (duel := voter("POST", "/duel"))["number"] is not None:
        assert voter("POST", "/duel") == duel
        kept = voter("POST", f"/duels/{duel['number']}/answer", json={"winner": "ann"})
        assert (kept["winner"], kept["repeated"]) == ("ann", False)
        assert voter("POST", f"/duels/{duel['number']}/answer", json={"winner": "ann"})["repeated"]
    assert duel["reason"] == "done"
    assert organiser("GET", "/result")["matching"] == {"chair": "ann"}
    assert voter("GET", "/progress")["done"]
    assert json.loads(json.dumps(organiser("GET", "/export")))["format"] == "duelmatch study"
    assert organiser("GET", "/export?format=csv").startswith("number,time,voter,")


def test_ties_skips_and_undo(organiser: Caller, invite: Callable[[], Caller]) -> None:
    voter = invite()
    first = voter("POST", "/duel")["number"]
    assert voter("POST", f"/duels/{first}/answer", json={"winner": None})["tie"]
    assert voter("POST", "/undo")["number"] == first
    voter("POST", f"/duels/{first}/skip", 204, json={"reason": "no idea"})
    assert "skipped" in voter("POST", f"/duels/{first}/answer", 409, json={"winner": "ann"})
    assert "no answer" in voter("POST", "/undo", 409)


def test_an_open_link_makes_voters(organiser: Caller, client: httpx2.Client) -> None:
    anybody = Caller(client, organiser._study, organiser("POST", "/open-link", 201)["token"])
    joined = anybody("POST", "/join", 201)
    voter = Caller(client, organiser._study, joined["token"])
    assert voter("POST", "/duel")["number"] == 1
    assert "open link" in voter("POST", "/join", 403)
    assert "voter" in anybody("POST", "/duel", 403)


def test_the_organiser_looks_after_it(organiser: Caller, invite: Callable[[], Caller]) -> None:
    voter = invite()
    duel = voter("POST", "/duel")["number"]
    voter("POST", f"/duels/{duel}/answer", json={"winner": "ann"})
    organiser("POST", f"/duels/{duel}/correct", 204, json={"winner": None})
    assert organiser("GET", "/progress")["votes"] == 0
    (listed,) = organiser("GET", "/votes?voter=1&limit=5")
    assert (listed["question"], listed["struck"], listed["counts"]) == (duel, True, False)
    assert organiser("GET", f"/votes?before={listed['entry']}") == []
    assert "organiser" in voter("GET", "/votes", 403)
    organiser("POST", "/voters/1/invalidate", 204)
    assert "taken this voter out" in voter("POST", "/duel", 403)
    organiser("POST", "/voters/1/reinstate", 204)
    organiser("POST", "/state/pause", 204)
    assert voter("POST", "/duel")["reason"] == "paused"
    assert "paused" in organiser("POST", "/state/reopen", 409)
    organiser("POST", "/state/close", 204)
    assert "closed" in organiser("POST", "/state/pause", 409)
    organiser("POST", "/drop", 204, json={"candidate": "ann"})
    assert organiser("GET", "/result")["dropped"] == ["ann"]
    assert organiser("GET", "/voters") == [{"number": 1, "name": None, "blocked": False, "answers": 1}]


def test_details_and_rules_are_told(organiser: Caller) -> None:
    about = organiser("GET", "")
    assert about["problem"]["candidates"] == NEW["problem"]["candidates"]  # type: ignore[index]
    assert (about["ties"], about["skips"]) == (True, True)


ORGANISERS = [
    ("GET", "/result"),
    ("GET", "/voters"),
    ("POST", "/open-link"),
    ("POST", "/state/close"),
    ("GET", "/export"),
]


@pytest.mark.parametrize(("method", "path"), ORGANISERS)
def test_voters_cannot_do_what_organisers_do(invite: Callable[[], Caller], method: str, path: str) -> None:
    assert "organiser" in invite()(method, path, 403)


@pytest.mark.parametrize(
    ("method", "path"), [*ORGANISERS, ("POST", "/duel"), ("GET", "/progress"), ("GET", "/events")]
)
def test_nobody_gets_in_without_a_link_for_this_study(
    client: httpx2.Client, organiser: Caller, study: Study, method: str, path: str
) -> None:
    elsewhere = study.new_key("organiser")
    for token in ("x", "nonsense", "A" * 59, elsewhere):
        stranger = Caller(client, organiser._study, token)
        assert "valid link" in stranger(method, path, 401)
    assert client.request(method, f"/api/v1/studies/{organiser._study}{path}").status_code == 401


def test_a_voter_cannot_answer_for_another(invite: Callable[[], Caller]) -> None:
    one, other = invite(), invite()
    duel = one("POST", "/duel")["number"]
    assert "somebody else" in other("POST", f"/duels/{duel}/answer", 403, json={"winner": "ann"})


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        NEW | {"name": ""},
        NEW | {"name": "x" * 201},
        NEW | {"name": "a\0b"},
        NEW | {"problem": {}},
        NEW | {"problem": {"candidates": [["a"]], "positions": ["p"]}},
        NEW | {"problem": {"candidates": ["a"], "positions": ["p", "q"]}},
        NEW | {"settings": {}},
        NEW | {"settings": {"algorithm": "magic"}},
        NEW | {"settings": {"algorithm": ["x"]}},
        NEW | {"settings": {"algorithm": "car-cond", "delta": "x"}},
        NEW | {"settings": {"algorithm": "car-cond", "seed": -1}},
        NEW | {"settings": {"algorithm": "car-cond", "parameters": {"oracle": {}}}},
        NEW | {"settings": {"algorithm": "car-cond", "surprise": 1}},
        NEW | {"surprise": 1},
        [],
        7,
    ],
)
def test_an_odd_study_is_refused(client: httpx2.Client, wrong: Any) -> None:
    answer = client.post("/api/v1/studies", json=wrong)
    assert answer.status_code == 422
    assert checked(answer)


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


ODD_SETTINGS = [
    r'"algorithm": "\ud800"',
    f'"algorithm": {nested(500)}',
    f'"delta": 1{"0" * 400}',
    '"delta": NaN',
    f'"lease": 1{"0" * 400}',
    '"lease": Infinity',
    f'"max_votes": 1{"0" * 400}',
    f'"ties": {nested(500)}',
    r'"\ud800": 1',
    '"parameters": [["batch", 1]]',
    r'"parameters": {"\ud800": 1}',
    r'"parameters": {"epsilon": "\ud800"}',
    f'"parameters": {{"epsilon": {nested(500)}}}',
    '"parameters": {"batch": 1000001}',
    '"algorithm": "clucb-borda-pac", "parameters": {"epsilon": 1e-200}',
    *(
        f'"parameters": {{"{name}": 3}}'
        for name in ("problem", "algorithm", "seed", "delta", "max_duels", "graph", "self")
    ),
]


@pytest.mark.parametrize("settings", ODD_SETTINGS, ids=lambda text: text[:60])
def test_odd_settings_are_refused(client: httpx2.Client, settings: str) -> None:
    problem = json.dumps(NEW["problem"])
    body = f'{{"name": "x", "problem": {problem}, "settings": {{"algorithm": "condorcet", {settings}}}}}'
    for path in ("studies", "estimate"):
        answer = client.post(f"/api/v1/{path}", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422
        assert len(checked(answer)) < 300


@pytest.mark.parametrize("levels", [50, 500, 900])
def test_a_deep_problem_is_refused(client: httpx2.Client, levels: int) -> None:
    body = f'{{"name": "x", "problem": {{"candidates": {nested(levels)}}}, "settings": {{}}}}'
    answer = client.post("/api/v1/studies", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert checked(answer)


@pytest.mark.parametrize("number", ["0", "-1", "x", str(2**31), str(2**70), "1.5"])
def test_odd_numbers_are_refused(invite: Callable[[], Caller], number: str) -> None:
    assert invite()("POST", f"/duels/{number}/answer", 422, json={"winner": "ann"})


def test_large_bodies_are_refused(client: httpx2.Client) -> None:
    assert client.post("/api/v1/studies", content=b"x" * 1_000_001).status_code == 413
    unannounced = client.post("/api/v1/studies", content=(b"x" * 1000 for _ in range(1001)))
    assert unannounced.status_code == 413
    assert "too large" in checked(unannounced)
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"name": NaN}'])
def test_what_is_not_json_is_refused(client: httpx2.Client, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/api/v1/studies", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert checked(answer)


def test_other_paths_and_methods_are_refused_alike(client: httpx2.Client) -> None:
    assert checked(client.get("/api/v1/nonsense")) == "Not Found"
    assert client.delete("/api/v1/studies").status_code == 405


def test_health(client: httpx2.Client) -> None:
    assert client.get("/healthz").text == "alive\n"
    assert client.get("/readyz").text == "ready\n"


def test_every_refusal_is_described(client: httpx2.Client) -> None:
    description = client.get("/api/v1/openapi.json").json()
    assert "ValidationError" not in json.dumps(description)
    for path, operations in description["paths"].items():
        for operation in operations.values():
            codes = set(operation["responses"])
            assert {"422", "503"} <= codes
            assert ("{study}" not in path) or {"401", "403", "404"} <= codes
            for code, response in operation["responses"].items():
                assert int(code) < 400 or list(response["content"]) == ["application/problem+json"]


def test_progress_is_sent_as_events(store: Store, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first event comes at once, the next when something has happened."""
    import asyncio

    from duelmatch.web import events

    monkeypatch.setattr(events, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(events, "CHECK_EVERY", 10**9)

    async def listen() -> list[dict[str, Any]]:
        stream = events._progress_of(events.Feed(study), lambda: True)
        first = await anext(stream)
        study.add_voter()
        second = await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        return [json.loads(text.split("data: ")[1]) for text in (first, second)]

    first, second = asyncio.run(listen())
    assert (first["voters"], second["voters"]) == (0, 1)


def test_an_undo_that_is_sent_again_takes_one_answer(invite: Callable[[], Caller]) -> None:
    voter = invite()
    numbers = []
    for _ in range(2):
        numbers.append(voter("POST", "/duel")["number"])
        voter("POST", f"/duels/{numbers[-1]}/answer", json={"winner": None})
    for _ in range(2):
        assert voter("POST", "/undo", json={"number": numbers[-1]})["number"] == numbers[-1]
    assert voter("GET", "/me")["answers"] == 1
    assert voter("POST", "/undo")["number"] == numbers[0]


def test_two_organisers_cannot_lock_each_other_out(study: Study) -> None:
    keys = [study.new_key("organiser")[:16] for _ in range(2)]
    with ThreadPoolExecutor(2) as threads:
        ends = list(threads.map(lambda key: _revoked(study, key), keys))
    assert sorted(ends) == [False, True]


def _revoked(study: Study, key: str) -> bool:
    try:
        study.revoke(key, keep_one=True)
    except ConflictError:
        return False
    return True


def test_many_who_watch_look_once(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    from duelmatch.web import events

    looks = []
    head = study.head
    monkeypatch.setattr(study, "head", lambda: looks.append(1) or head())

    async def watch() -> set[str]:
        feed = events.Feed(study)
        streams = [events._progress_of(feed, lambda: True) for _ in range(50)]
        return set(await asyncio.gather(*(anext(stream) for stream in streams)))

    assert len(asyncio.run(watch())) == 1
    assert len(looks) == 1


def test_a_study_is_duplicated_without_votes_and_who_withdrew(
    client: httpx2.Client, organiser: Caller, invite: Callable[[], Caller]
) -> None:
    problem = {"candidates": ["ann", "bob", "cyd"], "positions": ["chair"]}
    made = client.post("/api/v1/studies", json=NEW | {"problem": problem}).json()
    first = Caller(client, made["study"], made["organiser_token"])
    first("POST", "/drop", 204, json={"candidate": "bob"})
    copied = first("POST", "/duplicate", 201, json={"name": "Again"})
    again = Caller(client, copied["study"], copied["organiser_token"])
    about = again("GET", "")
    assert about["name"] == "Again"
    assert about["problem"]["candidates"] == ["ann", "cyd"]
    assert again("GET", "/progress")["votes"] == 0
    assert "organiser" in invite()("POST", "/duplicate", 403, json={"name": "Mine"})


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("yaml", "candidates: [ann, bob]\npositions: [chair]\n"),
        ("csv", "candidate,position\nann,chair\nbob,chair\n"),
        ("json", '{"candidates": ["ann", "bob"], "positions": ["chair"]}'),
    ],
)
def test_a_written_problem_is_read(client: httpx2.Client, layout: str, text: str) -> None:
    answer = client.post("/api/v1/problems/read", json={"text": text, "layout": layout})
    assert answer.json() == {"problem": {"candidates": ["ann", "bob"], "positions": ["chair"]}}
    wrong = client.post("/api/v1/problems/read", json={"text": "a: [", "layout": layout})
    assert wrong.status_code == 422
    assert checked(wrong)


def test_the_votes_to_expect_are_estimated(client: httpx2.Client) -> None:
    easy, hard = (
        client.post("/api/v1/estimate", json=NEW | {"settings": {"algorithm": "car-cond", "delta": delta}})
        for delta in (0.3, 0.001)
    )
    assert 0 < easy.json()["votes"] < hard.json()["votes"]
    large = {"candidates": [str(n) for n in range(101)], "positions": ["a"]}
    assert client.post("/api/v1/estimate", json=NEW | {"problem": large}).json() == {"votes": None}


def test_who_asks_for_an_estimate_never_waits_for_another(client: httpx2.Client) -> None:
    """Many who wait would take the threads that voters need."""
    from duelmatch.web import api

    with api._estimating:
        answer = client.post("/api/v1/estimate", json=NEW)
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    assert "estimate" in checked(answer)
    assert client.post("/api/v1/estimate", json=NEW).status_code == 200


def test_an_estimate_that_takes_long_is_given_up(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from duelmatch.web import api

    monkeypatch.setattr(api, "LONGEST_TRIAL", 0.0)
    assert client.post("/api/v1/estimate", json=NEW).json() == {"votes": None}


def test_health_needs_no_thread() -> None:
    """All threads can be waiting for the database."""
    from inspect import iscoroutinefunction

    from duelmatch.web import app

    assert iscoroutinefunction(app._alive)
    assert iscoroutinefunction(app._metrics)


def test_a_few_names_cannot_mean_a_million_edges(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are counted before there is a problem."""
    from duelmatch.files import layout, problems

    def unexpected(*_: object) -> None:
        raise AssertionError("it was built")

    for module in (problems, layout):
        monkeypatch.setattr(module, "Problem", unexpected)
    wide = {kind: [f"{kind}{n}" for n in range(1000)] for kind in ("candidates", "positions")}
    one = {"candidates": wide["candidates"], "edges": {"p": wide["candidates"]}}
    csv = "candidate,position\n" + "".join(f"c{n},p\n" for n in range(1000))
    asked = [("problems/read", {"text": csv, "layout": "csv"})]
    for problem in (wide, one):
        asked.append(("problems/read", {"text": json.dumps(problem), "layout": "json"}))
        asked += [(path, NEW | {"problem": problem}) for path in ("studies", "estimate")]
    for path, body in asked:
        answer = client.post(f"/api/v1/{path}", json=body)
        assert answer.status_code == 422
        assert "too large for a study" in checked(answer)


def test_streams_are_counted_until_they_end(store: Store, study: Study) -> None:
    config = Config(rates=None, streams=3, streams_per_link=2)
    tokens = [study.new_key("organiser") for _ in range(2)]
    with served(store, config) as address, httpx2.Client(trust_env=False, timeout=30) as client:

        def watch(token: str) -> Any:
            headers = {"Authorization": f"Bearer {token}"}
            return client.stream("GET", f"{address}/api/v1/studies/{study.id}/events", headers=headers)

        with watch(tokens[0]), watch(tokens[0]) as second:
            assert second.status_code == 200
            with watch(tokens[0]) as third:
                assert third.status_code == 429
                assert "too many places" in json.loads(third.read())["detail"]
                assert int(third.headers["retry-after"]) > 0
            with watch(tokens[1]) as other, watch(tokens[1]) as last:
                assert (other.status_code, last.status_code) == (200, 429)
                assert "on this server" in json.loads(last.read())["detail"]
        for _ in range(100):  # the server notices soon that somebody has gone
            with watch(tokens[0]) as again:
                if again.status_code == 200:
                    return
            time.sleep(0.1)
        raise AssertionError("streams that ended still count")


def test_events_end_when_the_link_is_revoked(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    from duelmatch.web import events

    monkeypatch.setattr(events, "LOOK_EVERY", 0.01)
    token = study.new_key("organiser")
    access = study.store.access(token)
    assert access is not None

    async def listen() -> int:
        stream = events._progress_of(events.Feed(study), lambda: study.works(access.key))
        await anext(stream)
        study.revoke(access.key)
        return len([event async for event in stream])

    assert asyncio.run(asyncio.wait_for(listen(), 30)) <= 1
