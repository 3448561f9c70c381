"""The HTTP API: what it does, what it refuses, and that it describes both."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

import duelmatch as dm
from duelmatch.errors import ConflictError
from duelmatch.files.answers import read_sheet
from duelmatch.files.problems import read_problem
from duelmatch.studies import Store, Study
from duelmatch.verify import verify
from duelmatch.web import Config
from web.running import served

NEW = {
    "name": "Who leads?",
    "problem": {"candidates": ["ann", "<script>alert(1)</script>"], "positions": ["chair"]},
    "settings": {"algorithm": "car-cond", "delta": 0.3},
}

without_a_study = pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
"""For what never comes to the database, which need not be tested with both kinds."""


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
    while (question := voter("POST", "/question"))["number"] is not None:
        assert voter("POST", "/question") == question
        answer = f"/questions/{question['number']}/answer"
        kept = voter("POST", answer, json={"answer": "ann"})
        assert (kept["winner"], kept["repeated"]) == ("ann", False)
        again = voter("POST", answer, json={"answer": "ann"})
        assert again == kept | {"repeated": True}
        assert "answered already, and differently" in voter("POST", answer, json={"answer": None}, expect=409)
        assert voter("GET", f"/receipts/{question['number']}") | {"next": None} == again
    assert question["reason"] == "done"
    assert organiser("GET", "/result")["matching"] == {"chair": "ann"}
    assert voter("GET", "/progress")["done"]
    assert organiser("GET", "/export?format=csv").startswith("voter,position,ranking")
    assert organiser("GET", "/export?format=table").startswith("entry,time,voter,")
    report = verify(organiser("GET", "/export").splitlines(), [kept["hash"]])
    assert (report.damage, report.entries) == (None, organiser("GET", "/result")["entries"])


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_a_panel_decides(client: httpx2.Client, criterion: str) -> None:
    problem = {"candidates": ["ann", "bob", "cyd"], "positions": ["chair", "editor"]}
    voters = [{"name": "eve", "weight": 2}, {"name": "ned", "conflicts": ["cyd"]}, {"name": "zoe"}]
    settings = {"parameters": {"criterion": criterion, "question_size": 3}}
    made = client.post(
        "/api/v1/studies", json={"name": "x", "problem": problem, "voters": voters, "settings": settings}
    ).json()
    organiser = Caller(client, made["study"], made["organiser_token"])
    judges = [Caller(client, made["study"], invited["token"]) for invited in made["voters"]]
    assert [invited["name"] for invited in made["voters"]] == ["eve", "ned", "zoe"]
    assert organiser("GET", "/result")["status"] == "undecided"
    for _ in range(20):
        for judge in judges:
            question = judge("POST", "/question")
            if question["number"] is None:
                continue
            assert judge is not judges[1] or "cyd" not in question["candidates"]
            liked = sorted(question["candidates"], reverse=question["position"] == "editor")
            said = liked if len(liked) > 2 else liked[0]
            kept = judge("POST", f"/questions/{question['number']}/answer", json={"answer": said})
            assert kept["answer"] == [[name] for name in liked]
    result = organiser("GET", "/result")
    assert result["status"] in ("decided", "unbeaten")
    assert (result["matching"], result["shortfall"]) == ({"chair": "ann", "editor": "cyd"}, 0.0)
    assert result["error_allowed"] == 0
    organiser("POST", "/phase/close", 204)
    report = verify(organiser("GET", "/export").splitlines())
    assert report.found is not None
    assert not report.differs
    listed = organiser("GET", "/voters")
    assert [(one["weight"], one["conflicts"]) for one in listed] == [(2, []), (1, ["cyd"]), (1, [])]
    copied = organiser("POST", "/duplicate", 201, json={"name": "Again"})
    assert [invited["name"] for invited in copied["voters"]] == ["eve", "ned", "zoe"]


def test_a_crowd_gets_ballots(client: httpx2.Client) -> None:
    problem = {"candidates": ["ann", "bob", "cyd", "dan"], "positions": ["chair", "editor"]}
    made = client.post("/api/v1/studies", json={"name": "x", "problem": problem}).json()
    organiser = Caller(client, made["study"], made["organiser_token"])
    voter = Caller(client, made["study"], organiser("POST", "/voters", 201, json={})["token"])
    places = []
    while (question := voter("POST", "/question"))["number"] is not None:
        places.append((question["place"], question["of"]))
        voter("POST", f"/questions/{question['number']}/answer", json={"answer": None})
    assert places == [(place, 6) for place in range(1, 7)], "the pairs with the champion at each position"
    assert question["reason"] == "all yours"
    assert organiser("GET", "/result")["error_allowed"] == 0.05


def test_the_organiser_looks_after_a_panel(client: httpx2.Client) -> None:
    problem = {"candidates": ["ann", "bob", "cyd"], "positions": ["chair", "editor"]}
    made = client.post(
        "/api/v1/studies",
        json={"name": "x", "problem": problem, "voters": [{"name": "eve"}, {"name": "ned"}]},
    ).json()
    organiser = Caller(client, made["study"], made["organiser_token"])
    eve, ned = (invited["voter"] for invited in made["voters"])
    judge = Caller(client, made["study"], made["voters"][0]["token"])
    question = judge("POST", "/question")
    number = question["number"]
    judge("POST", f"/questions/{number}/answer", json={"answer": None})
    organiser("POST", f"/questions/{number}/correct", 204, json={"answer": question["candidates"]})
    (given,) = organiser("GET", "/answers")
    assert given["answer"] == [[name] for name in question["candidates"]]
    organiser("POST", f"/questions/{number}/correct", 204, json={"answer": None, "clerical": True})
    (draw,) = organiser("GET", "/answers")[0]["answer"]
    assert sorted(draw) == sorted(question["candidates"])
    organiser("POST", f"/voters/{eve}/leave", 204, json={"open_answers": "dropped"})
    assert judge("POST", "/question")["reason"] == "left"
    organiser("POST", f"/voters/{eve}/return", 204)
    organiser("POST", f"/voters/{eve}/conflicts", 204, json={"candidates": ["cyd"]})
    assert "cyd" not in (judge("POST", "/question")["candidates"] or [])
    organiser("POST", f"/voters/{ned}/rename", 204, json={"name": "Ned K."})
    organiser("POST", f"/voters/{eve}/forget-name", 204)
    assert [voter["name"] for voter in organiser("GET", "/voters")] == [None, "Ned K."]
    organiser(
        "POST", "/add", 204, json={"candidate": "dan", "positions": ["chair"], "details": {"title": "Dan"}}
    )
    organiser("POST", "/edit", 204, json={"name": "y", "positions": {"chair": {"text": "Leads"}}})
    about = organiser("GET", "")
    assert about["name"] == "y"
    assert about["problem"]["candidates"][-1] == {"name": "dan", "title": "Dan"}
    assert about["problem"]["positions"][0] == {"name": "chair", "text": "Leads"}
    log = [json.loads(line) for line in organiser("GET", "/export").splitlines()]
    acting = {
        entry["by"] for entry in log if entry["kind"] in ("corrected", "left", "conflict", "added", "renamed")
    }
    links = {link["id"] for link in organiser("GET", "/links") if link["role"] == "organiser"}
    assert acting == links, "the log names the link that acted"


def test_draws_skips_and_undo(organiser: Caller, invite: Callable[[], Caller]) -> None:
    voter = invite()
    first = voter("POST", "/question")["number"]
    assert len(voter("POST", f"/questions/{first}/answer", json={"answer": None})["answer"]) == 1
    assert voter("POST", "/undo")["number"] == first
    voter("POST", f"/questions/{first}/skip", 204, json={"reason": "no idea"})
    assert "skipped" in voter("POST", f"/questions/{first}/answer", 409, json={"answer": "ann"})
    assert "no answer" in voter("POST", "/undo", 409)


def test_an_open_link_makes_voters(organiser: Caller, client: httpx2.Client) -> None:
    anybody = Caller(client, organiser._study, organiser("POST", "/open-link", 201)["token"])
    joined = anybody("POST", "/join", 201)
    voter = Caller(client, organiser._study, joined["token"])
    assert voter("POST", "/question")["number"] == 1
    assert "open link" in voter("POST", "/join", 403)
    assert "voter" in anybody("POST", "/question", 403)


def test_strangers_become_judges_only_if_that_is_asked_for(client: httpx2.Client) -> None:
    made = client.post("/api/v1/studies", json={**NEW, "settings": {}, "voters": [{"name": "eve"}]}).json()
    organiser = Caller(client, made["study"], made["organiser_token"])
    for body in ({}, {"judges": False}):
        assert "whoever opens it becomes a judge" in organiser("POST", "/open-link", 403, json=body)
    assert "whoever opens it becomes a judge" in organiser("POST", "/open-link", 403)
    token = organiser("POST", "/open-link", 201, json={"judges": True})["token"]
    Caller(client, made["study"], token)("POST", "/join", 201)
    assert sorted(organiser("GET", "/result")["waiting_for"].values()) == [1, 1]
    assert organiser("GET", "/progress")["held_up"] == 0


def test_a_ballot_that_is_left_open_holds_up_answers(client: httpx2.Client) -> None:
    problem = {"candidates": ["ann", "bob", "cyd"], "positions": ["chair"]}
    made = client.post("/api/v1/studies", json={"name": "x", "problem": problem}).json()
    organiser = Caller(client, made["study"], made["organiser_token"])
    silent, other = (organiser("POST", "/voters", 201, json={}) for _ in range(2))
    Caller(client, made["study"], silent["token"])("POST", "/question")
    voter, answers = Caller(client, made["study"], other["token"]), 0
    while (question := voter("POST", "/question"))["number"] is not None:
        voter("POST", f"/questions/{question['number']}/answer", json={"answer": None})
        answers += 1
    assert organiser("GET", "/progress")["held_up"] == answers > 0
    assert organiser("GET", "/result")["waiting_for"] == {silent["voter"]: answers}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (
            {"voters": [{"name": "eve", "weight": 2}]},
            "Weights and conflicts of interest are for panels only.",
        ),
        (
            {"voters": [{"name": "eve", "conflicts": ["ann"]}]},
            "Weights and conflicts of interest are for panels",
        ),
        ({"settings": {"algorithm": "condorcet", "questions_each": 3}}, "questions_each is for panels only"),
        ({"settings": {"algorithm": "car-cond", "questions_each": 3}}, "questions_each is for panels only"),
    ],
)
def test_what_is_for_panels_only_is_refused_when_a_crowd_is_created(
    client: httpx2.Client, more: dict[str, Any], sentence: str
) -> None:
    new = {"name": "x", "problem": NEW["problem"], "settings": {"algorithm": "condorcet"}, **more}
    refused = client.post("/api/v1/studies", json=new)
    assert refused.status_code == 403
    assert checked(refused).startswith(sentence)


def test_an_id_of_no_form_is_refused_in_a_sentence(organiser: Caller) -> None:
    for method, path in (("POST", "/voters/eve/strike"), ("GET", "/answers?voter=eve")):
        assert organiser(method, path, 422).startswith("'voter' must be an id, ")


def test_lists_come_in_pages_that_miss_and_repeat_nobody(
    organiser: Caller, invite: Callable[[], Caller]
) -> None:
    ids = [invite()("GET", "/me")["voter"] for _ in range(7)]
    for path, key, whole in (
        ("/voters", "id", ids),
        ("/links", "id", [link["id"] for link in organiser("GET", "/links")]),
    ):
        found: list[str] = []
        while page := organiser("GET", f"{path}?limit=3" + (f"&after={found[-1]}" if found else "")):
            assert len(page) <= 3
            found += [row[key] for row in page]
        assert found == whole
        organiser("GET", f"{path}?limit=0", 422)
        organiser("GET", f"{path}?limit=1001", 422)
        organiser("GET", f"{path}?after=nobody", 422)
    organiser("GET", f"/voters?after={'0' * 16}", 404)


def test_the_organiser_looks_after_it(organiser: Caller, invite: Callable[[], Caller]) -> None:
    voter = invite()
    me = voter("GET", "/me")["voter"]
    number = voter("POST", "/question")["number"]
    assert "no answer" in organiser("POST", f"/questions/{number}/correct", 409, json={"answer": None})
    voter("POST", f"/questions/{number}/answer", json={"answer": "ann"})
    organiser("POST", f"/questions/{number}/strike", 204)
    assert organiser("GET", "/progress")["answers"] == 0
    (listed,) = organiser("GET", f"/answers?voter={me}&limit=5")
    assert (listed["question"], listed["struck"], listed["counts"]) == (number, True, False)
    assert organiser("GET", f"/answers?before={listed['entry']}") == []
    assert "organiser" in voter("GET", "/answers", 403)
    organiser("POST", f"/voters/{me}/strike", 204)
    assert "taken this voter out" in voter("POST", "/question", 403)
    organiser("POST", f"/voters/{me}/reinstate", 204)
    organiser("POST", "/phase/pause", 204)
    assert voter("POST", "/question")["reason"] == "paused"
    assert "paused" in organiser("POST", "/phase/reopen", 409)
    organiser("POST", "/phase/close", 204)
    assert "closed" in organiser("POST", "/phase/pause", 409)
    (row,) = organiser("GET", "/voters")
    assert (row["id"], row["name"], row["struck"], row["answers"]) == (me, None, False, 1)


def test_a_candidate_withdraws(client: httpx2.Client) -> None:
    problem = {"candidates": ["ann", "bob", "cyd"], "positions": ["chair"]}
    made = client.post("/api/v1/studies", json=NEW | {"problem": problem}).json()
    organiser = Caller(client, made["study"], made["organiser_token"])
    organiser("POST", "/drop", 204, json={"candidate": "ann"})
    assert organiser("GET", "/result")["dropped"] == ["ann"]


def test_details_and_rules_are_told(organiser: Caller) -> None:
    about = organiser("GET", "")
    assert about["problem"]["candidates"] == NEW["problem"]["candidates"]  # type: ignore[index]
    assert (about["ties"], about["skips"]) == (True, True)


ORGANISERS = [
    ("GET", "/result"),
    ("GET", "/voters"),
    ("POST", "/open-link"),
    ("POST", "/phase/close"),
    ("GET", "/export"),
]


@pytest.mark.parametrize(("method", "path"), ORGANISERS)
def test_voters_cannot_do_what_organisers_do(invite: Callable[[], Caller], method: str, path: str) -> None:
    assert "organiser" in invite()(method, path, 403)


@pytest.mark.parametrize(
    ("method", "path"), [*ORGANISERS, ("POST", "/question"), ("GET", "/progress"), ("GET", "/events")]
)
def test_nobody_gets_in_without_a_link_for_this_study(
    client: httpx2.Client, organiser: Caller, study: Study, method: str, path: str
) -> None:
    elsewhere = study.new_link("organiser")
    for token in ("x", "nonsense", "A" * 59, elsewhere):
        stranger = Caller(client, organiser._study, token)
        assert "valid link" in stranger(method, path, 401)
    assert client.request(method, f"/api/v1/studies/{organiser._study}{path}").status_code == 401


def test_a_voter_cannot_answer_for_another(invite: Callable[[], Caller]) -> None:
    one, other = invite(), invite()
    number = one("POST", "/question")["number"]
    assert "somebody else" in other("POST", f"/questions/{number}/answer", 403, json={"answer": "ann"})


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
        NEW | {"settings": {"algorithm": "magic"}},
        NEW | {"voters": [{"name": "eve", "weight": 0}]},
        NEW | {"voters": [{"name": "eve"}, {"name": "eve"}]},
        NEW | {"voters": [{"name": "eve", "conflicts": ["nobody"]}]},
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
    f'"max_answers": 1{"0" * 400}',
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


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('{"problem": {}}', "'name' is missing."),
        ('{"name": "x", "problem": {}, "surprise": 1}', "There is no field 'surprise' here."),
        ('{"name": "x", "problem": []}', "'problem' must be a mapping."),
        ('{"name": 7, "problem": {}}', "'name' must be a text."),
        ('{"name": "", "problem": {}}', "'name' must have at least 1 character."),
        (
            '{"name": "x", "problem": {}, "voters": [{"name": "eve", "weight": 0}]}',
            "'voters.0.weight' must be at least 1.",
        ),
        (
            '{"name": "x", "problem": {}, "voters": [{"name": "eve", "weight": 1.5}]}',
            "'voters.0.weight' must be a whole number.",
        ),
        ("{", "The body of the request is not JSON."),
        ("7", "The body of the request must be a mapping."),
    ],
)
def test_what_is_wrong_with_a_request_is_said_in_a_sentence(
    client: httpx2.Client, body: str, sentence: str
) -> None:
    answer = client.post("/api/v1/studies", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert checked(answer) == sentence


@pytest.mark.parametrize("said", [7, True, {"ann": 1}, ["ann", 7], [["ann", ["bob"]]]])
def test_an_answer_of_no_form_is_refused_in_a_sentence(invite: Callable[..., Any], said: Any) -> None:
    voter = invite()
    number = voter("POST", "/question")["number"]
    refusal = voter("POST", f"/questions/{number}/answer", 422, json={"answer": said})
    assert refusal.startswith("'answer' must be a name, null for no difference, or a ranking")


@pytest.mark.parametrize("levels", [50, 500, 900])
def test_a_deep_problem_is_refused(client: httpx2.Client, levels: int) -> None:
    body = f'{{"name": "x", "problem": {{"candidates": {nested(levels)}}}, "settings": {{}}}}'
    answer = client.post("/api/v1/studies", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert checked(answer)


@pytest.mark.parametrize("number", ["0", "-1", "x", str(2**31), str(2**70), "1.5"])
def test_odd_numbers_are_refused(invite: Callable[[], Caller], number: str) -> None:
    assert invite()("POST", f"/questions/{number}/answer", 422, json={"answer": "ann"})


def test_large_bodies_are_refused(client: httpx2.Client) -> None:
    assert client.post("/api/v1/studies", content=b"x" * 1_000_001).status_code == 413
    unannounced = client.post("/api/v1/studies", content=(b"x" * 1000 for _ in range(1001)))
    assert unannounced.status_code == 413
    assert "too large" in checked(unannounced)
    assert client.get("/healthz").status_code == 200


def test_large_bodies_are_for_organisers_and_for_who_may_create_studies(store: Store, study: Study) -> None:
    """What strangers send is not looked at: to read it would keep everybody waiting."""
    body = b'{"voters":[' + b"[]," * 100_000 + b"[]]}"
    new = json.dumps(NEW | {"name": " " * 70_000 + "x"}).encode()
    from_afar = {"X-Forwarded-For": "192.0.2.7", "Content-Type": "application/json"}
    with (
        served(store, Config(rates=None, create_key="right")) as address,
        httpx2.Client(trust_env=False, base_url=address, timeout=60, headers=from_afar) as client,
    ):

        def post(path: str, token: str, content: bytes | Iterator[bytes] = body) -> httpx2.Response:
            return client.post(path, content=content, headers={"Authorization": f"Bearer {token}"})

        bulk = f"/api/v1/studies/{study.id}/voters/bulk"
        for token in ("x", "right", study.new_link("voter", study.add_voter()), study.new_link("open")):
            refused = post(bulk, token)
            assert refused.status_code == 413
            assert "without an organiser's link" in checked(refused)
        assert post(bulk, "x", (body[at : at + 1000] for at in range(0, len(body), 1000))).status_code == 413
        organiser = study.new_link("organiser")
        assert post(bulk, organiser).status_code == 422, "which is read"
        client.cookies.set(f"duelmatch-{study.id}-organiser", organiser)
        ours = {"Origin": address}
        assert client.post(bulk, content=body, headers=ours).status_code == 422
        client.cookies.clear()
        assert post("/api/v1/studies", "wrong", new).status_code == 413
        assert post("/api/v1/studies", "right", new).status_code != 413
        assert client.post(bulk, content=body[:60_000]).status_code in (400, 401, 422)


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
        stream = events._progress_of(events.WatchedStudy(study), lambda: True)
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
        numbers.append(voter("POST", "/question")["number"])
        voter("POST", f"/questions/{numbers[-1]}/answer", json={"answer": None})
    for _ in range(2):
        assert voter("POST", "/undo", json={"number": numbers[-1]})["number"] == numbers[-1]
    assert voter("GET", "/me")["answers"] == 1
    assert voter("POST", "/undo")["number"] == numbers[0]


def test_two_organisers_cannot_lock_each_other_out(study: Study) -> None:
    keys = [study.new_link("organiser")[:16] for _ in range(2)]
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
    status = study.status
    monkeypatch.setattr(study, "status", lambda: looks.append(1) or status())

    async def watch() -> set[str]:
        watched = events.WatchedStudy(study)
        streams = [events._progress_of(watched, lambda: True) for _ in range(50)]
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
    assert again("GET", "/progress")["answers"] == 0
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
    problem = {"candidates": ["ann", "bob"], "positions": ["chair"]}
    assert answer.json() == {"problem": problem, "conditions": [], "mistakes": []}
    wrong = client.post("/api/v1/problems/read", json={"text": "a: [", "layout": layout})
    assert wrong.status_code == 422
    assert checked(wrong)


@pytest.mark.parametrize(
    ("text", "mistake", "candidates"),
    [
        ("team\tA\nOwls\tx\nOwls\tx", "'Owls'", ["Owls", "Owls"]),
        ("team\tA\nOwls\tx\nFoxes\tmaybe", "line 3: what stands under 'A'", ["Owls", "Foxes"]),
        ("team\tA\tB\tC\nOwls\tx\tx\tx\nFoxes\tx\tx\tx", "fill", ["Owls", "Foxes"]),
        ("team\tA\tA\nOwls\tx\tx\nFoxes\tx\tx", "the same heading", ["Owls", "Foxes"]),
        ("team\tA\nOwls\tx\n\tx\nFoxes\tx", "the name of the candidate is empty", ["Owls", "Foxes"]),
    ],
)
def test_a_table_with_a_mistake_is_read_as_far_as_it_goes(
    client: httpx2.Client, text: str, mistake: str, candidates: list[str]
) -> None:
    new = {"text": text, "layout": None}
    assert mistake in client.post("/api/v1/problems/read", json=new).json()["detail"]
    found = checked(client.post("/api/v1/problems/read", json=new | {"partly": True}))
    assert found["problem"]["candidates"] == candidates
    assert found["problem"]["positions"]
    assert any(mistake in sentence for sentence in found["mistakes"])


@pytest.mark.usefixtures("whole_simulations")
def test_standings_are_an_estimate_from_the_answers_so_far(client: httpx2.Client) -> None:
    problem = {"candidates": ["ann", "bob", "cyd"], "positions": ["chair"]}
    voters = [{"name": name} for name in "abcdefg"]
    made = client.post("/api/v1/studies", json={"name": "x", "problem": problem, "voters": voters}).json()
    organiser = Caller(client, made["study"], made["organiser_token"])
    for invited in made["voters"][:3]:
        judge = Caller(client, made["study"], invited["token"])
        question = judge("POST", "/question")
        judge("POST", f"/questions/{question['number']}/answer", json={"answer": min(question["candidates"])})
    for _ in range(60):
        result = organiser("GET", "/result?wait=3")
        if (standings := result["standings"]) is not None:
            break
    assert (standings["estimate"], standings["answers"], list(standings["leader"])) == (True, 3, ["chair"])
    assert sum(standings["probability"]["chair"].values()) == pytest.approx(1)
    assert 0 < result["answers_left"]["low"] <= result["answers_left"]["high"] <= 18
    progress = organiser("GET", "/progress")
    assert progress["answers_left"] == result["answers_left"]["middle"]
    assert progress["estimated"] == standings["entry"] <= progress["entries"]


def estimate(client: httpx2.Client, study: dict[str, object]) -> httpx2.Response:
    """Ask what to expect, and again while the worker is busy with another test's study."""
    while (answer := client.post("/api/v1/estimate", json=study)).status_code == 429:
        time.sleep(0.2)
    return answer


@without_a_study
def test_what_to_expect_is_estimated(client: httpx2.Client) -> None:
    judges = NEW | {"settings": {}, "voters": [{"name": name} for name in "abcde"]}
    panel = estimate(client, judges | {"minutes": 5}).json()
    assert panel["fewest"] <= panel["low"] <= panel["answers"] <= panel["high"] <= panel["most"]
    assert (panel["questions_each"], panel["seconds_each"], panel["certain"]) == (10, 30.0, 1.0)
    assert "not a promise" in panel["sentences"][-1]
    unnamed = NEW | {"settings": {"algorithm": "panel"}, "judges": 5, "minutes": 5}
    assert estimate(client, unnamed).json() == panel
    large = {"candidates": [str(n) for n in range(101)], "positions": ["a"]}
    nothing = estimate(client, NEW | {"problem": large}).json()
    assert nothing["answers"] is None
    assert "too large" in nothing["sentences"][0]


@without_a_study
def test_who_asks_for_an_estimate_never_waits_for_another(client: httpx2.Client) -> None:
    """Many who wait would take the threads that voters need."""
    from duelmatch.web import creating

    with creating.estimator._lock:
        answer = client.post("/api/v1/estimate", json=NEW)
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    assert "estimate" in checked(answer)
    assert estimate(client, NEW).status_code == 200


@without_a_study
def test_an_estimate_that_takes_long_is_given_up(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from duelmatch.web import creating

    monkeypatch.setattr(creating, "LONGEST_ESTIMATE", 0.0)
    assert estimate(client, NEW).json()["simulations"] == 0


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
    from duelmatch.files import problems

    def unexpected(*_: object) -> None:
        raise AssertionError("it was built")

    monkeypatch.setattr(problems, "Problem", unexpected)
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
    tokens = [study.new_link("organiser") for _ in range(2)]
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


def test_events_end_when_the_link_is_revoked(
    store: Store, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    from duelmatch.web import events

    monkeypatch.setattr(events, "LOOK_EVERY", 0.01)
    token = study.new_link("organiser")
    access = store.access(token)
    assert access is not None

    async def listen() -> int:
        stream = events._progress_of(events.WatchedStudy(study), lambda: study.works(access.link))
        await anext(stream)
        study.revoke(access.link)
        return len([event async for event in stream])

    assert asyncio.run(asyncio.wait_for(listen(), 30)) <= 1


SEATED = """
candidates: [{name: ann, capacity: 2}, bob, cyd, dee]
positions: [{name: chair, weight: 2}, {name: jury, seats: 2}]
rules:
- of: [ann, bob]
  at_most: 2
- together: [cyd, dee]
"""


def test_a_study_with_seats_and_rules_from_a_file_to_its_result(client: httpx2.Client) -> None:
    read = client.post("/api/v1/problems/read", json={"text": SEATED, "layout": "yaml"}).json()
    assert "May fill several positions: ann up to 2." in read["conditions"]
    assert "Rule 2: 'cyd' and 'dee' are all chosen, or none of them is." in read["conditions"]
    new = {
        "name": "x",
        "problem": read["problem"],
        "voters": [{"name": name} for name in ("eve", "ned", "zoe")],
    }
    made = client.post("/api/v1/studies", json=new).json()
    organiser = Caller(client, made["study"], made["organiser_token"])
    judges = [Caller(client, made["study"], invited["token"]) for invited in made["voters"]]
    for _ in range(40):
        for judge in judges:
            question = judge("POST", "/question")
            if question["number"] is not None:
                said = min(question["candidates"])
                judge("POST", f"/questions/{question['number']}/answer", json={"answer": said})
    result = organiser("GET", "/result")
    assert result["status"] in ("decided", "unbeaten")
    assert result["matching"] == {"chair": "ann", "jury": ["cyd", "dee"]}
    organiser("POST", "/phase/close", 204)
    assert organiser("GET", "/result")["matching"] == result["matching"]
    report = verify(organiser("GET", "/export").splitlines())
    assert (report.damage, report.found) == (None, report.recorded)
    assert report.found is not None
    sheet = read_sheet(organiser("GET", "/export?format=csv"), read_problem(SEATED, ".yaml"))
    decision = dm.decide(
        sheet.problem,
        [row.answer for row in sheet.rows],
        voters=tuple(sheet.weights),
        chosen=sheet.chosen,
    )
    assert (decision.result.status, decision.result.matching) == (
        result["status"],
        {"chair": "ann", "jury": ("cyd", "dee")},
    )


def test_what_cannot_take_seats_refuses_in_a_sentence(client: httpx2.Client) -> None:
    problem = {"candidates": ["ann", "bob", "cyd"], "positions": [{"name": "jury", "seats": 2}]}
    refused = client.post(
        "/api/v1/studies", json={"name": "x", "problem": problem, "settings": {"algorithm": "car-cond"}}
    )
    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        "car-cond cannot take seats: accepted candidates would have to be duelled on, which the listing does "
        "not do.",
    )


ONE_SEAT_EACH = """
candidates: [ann, bob, cyd, dee]
positions: [chair, {name: editor, weight: 2}]
rules: [{of: [ann, bob], at_most: 1}]
"""


@pytest.mark.parametrize(
    ("file", "best"),
    [
        (ONE_SEAT_EACH, {"chair": "cyd", "editor": "ann"}),
        (SEATED, {"chair": "ann", "jury": ["cyd", "dee"]}),
    ],
)
def test_a_crowd_votes_under_rules_from_a_file_to_its_result(
    client: httpx2.Client, file: str, best: dict[str, object]
) -> None:
    problem = client.post("/api/v1/problems/read", json={"text": file, "layout": "yaml"}).json()["problem"]
    settings = {"algorithm": "condorcet", "delta": 0.3, "parameters": {"assume_winner": True}}
    made = client.post("/api/v1/studies", json={"name": "x", "problem": problem, "settings": settings}).json()
    organiser = Caller(client, made["study"], made["organiser_token"])
    for number in range(60):
        if organiser("GET", "/progress")["done"]:
            break
        invited = organiser("POST", "/voters", 201, json={"name": f"v{number}"})
        voter = Caller(client, made["study"], invited["token"])
        while (question := voter("POST", "/question"))["number"] is not None:
            said = {"answer": min(question["candidates"])}
            voter("POST", f"/questions/{question['number']}/answer", json=said)
    result = organiser("GET", "/result")
    assert (result["status"], result["matching"]) == ("certified", best)
    organiser("POST", "/phase/close", 204)
    report = verify(organiser("GET", "/export").splitlines())
    assert report.found is not None
    assert (report.damage, report.differs) == (None, False)
