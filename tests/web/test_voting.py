"""The two requests that every vote is made of: served directly, and refused like all others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

import duelmatch as dm
from duelmatch.studies import Settings, Store, Study
from duelmatch.web import voting

PROBLEM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "cook"])
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def study(store: Store) -> Study:
    return store.create(PROBLEM, Settings("condorcet"), "Who leads?")


@dataclass
class Caller:
    """Sends requests about one study."""

    client: httpx2.Client
    study: Study

    def post(
        self, path: str, token: str | None, content: bytes | None = None, **headers: str
    ) -> httpx2.Response:
        sent = JSON | {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        answer = self.client.post(f"/api/v1/studies/{self.study.id}{path}", content=content, headers=sent)
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert set(answer.json()) == {"title", "status", "detail"}
        return answer

    def answer(self, number: int, token: str, said: Any, **more: Any) -> Any:
        body = json.dumps({"answer": said, **more}).encode()
        answer = self.post(f"/questions/{number}/answer", token, body)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def caller(client: httpx2.Client, study: Study) -> Caller:
    return Caller(client, study)


def new_voter(study: Study) -> tuple[str, str]:
    voter = study.add_voter()
    return voter, study.new_link("voter", voter)


def test_no_thread_waits_for_a_vote(caller: Caller, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a study is known, only the writer's thread works for a vote."""
    voter, token = new_voter(study)
    caller.post("/question", token)

    async def unexpected(*_: object) -> None:
        raise AssertionError("a worker thread was used")

    monkeypatch.setattr(voting, "run_in_threadpool", unexpected)
    while (question := caller.post("/question", token).json())["number"] is not None:
        kept = caller.answer(question["number"], token, min(question["candidates"]))
        assert kept["winner"] == min(question["candidates"])
    assert study.answers_by(voter) == 4, "the pairs with the champion at each position"


def test_answers_of_every_kind(caller: Caller, study: Study) -> None:
    _, token = new_voter(study)
    for said in ("name", "ranking", "tie in a ranking", None):
        question = caller.post("/question", token).json()
        one, other = question["candidates"]
        answers = {"name": other, "ranking": [other, one], "tie in a ranking": [[one, other]], None: None}
        kept = caller.answer(question["number"], token, answers[said])
        draw = said in (None, "tie in a ranking")
        assert kept["answer"] == ([sorted([one, other])] if draw else [[other], [one]])
        assert kept["winner"] == (None if draw else other)
        entry = study.entries(kept["entry"] - 1, 1)[0]
        assert (entry.kind, entry.hash) == ("answered", kept["hash"])
    study.pause()
    assert caller.post("/question", token).json()["reason"] == "paused"
    study.resume()
    study.close()
    assert caller.post("/question", token).json()["reason"] == "closed"
    assert [entry.kind for entry in study.entries()].count("answered") == 4


def test_an_answer_brings_the_next_question_along(caller: Caller, study: Study) -> None:
    voter, token = new_voter(study)
    question, kinds = caller.post("/question", token).json(), []
    while question["number"] is not None:
        kept = caller.answer(question["number"], token, None, next=True)
        assert caller.post("/question", token).json() == kept["next"]
        again = caller.answer(question["number"], token, None, next=True)
        assert again == kept | {"repeated": True}
        question = kept["next"]
        kinds = [entry.kind for entry in study.entries(kept["entry"] - 1, 3)]
        assert kinds[0] == "answered"
    assert question["reason"] == "all yours"
    assert study.answers_by(voter) == 4
    assert [entry.kind for entry in study.entries()].count("asked") == 4


def test_no_question_is_put_to_who_does_not_want_it(caller: Caller, study: Study) -> None:
    _, token = new_voter(study)
    kept = caller.answer(caller.post("/question", token).json()["number"], token, None)
    assert kept["next"] is None
    assert study.entries()[-1].kind == "answered"
    assert study.status().open_questions == 0


def test_a_receipt_is_returned_though_no_question_follows(caller: Caller, study: Study) -> None:
    voter, token = new_voter(study)
    number = caller.post("/question", token).json()["number"]
    study.pause()
    kept = caller.answer(number, token, None, next=True)
    assert kept["next"]["reason"] == "paused"
    study.resume()
    study.strike(voter)
    again = caller.answer(number, token, None, next=True)
    assert (again["hash"], again["repeated"], again["next"]) == (kept["hash"], True, None)


def test_the_log_names_the_voters_link(caller: Caller, study: Study) -> None:
    _, token = new_voter(study)
    number = caller.post("/question", token).json()["number"]
    kept = caller.answer(number, token, None)
    assert study.entries(kept["entry"] - 1, 1)[0].by == token[:16]


def test_the_cookie_of_a_browser_will_do(caller: Caller, study: Study) -> None:
    _, token = new_voter(study)
    name = f"duelmatch-{study.id}-voter"
    own = {"Cookie": f"{name}={token}", "Sec_Fetch_Site": "same-origin"}
    assert caller.post("/question", None, **own).json()["number"] == 1
    assert caller.post("/question", None, Cookie=f"{name}={token}").status_code == 403
    assert caller.post("/question", None, **own | {"Sec_Fetch_Site": "cross-site"}).status_code == 403
    assert caller.post("/question", None, **own | {"Cookie": f"{name}=nonsense"}).status_code == 401
    organiser = f"duelmatch-{study.id}-organiser={study.new_link('organiser')}"
    assert caller.post("/question", None, **own | {"Cookie": organiser}).status_code == 403


def test_what_is_refused(caller: Caller, study: Study, store: Store) -> None:
    (me, mine), (you, other), (_, gone) = (new_voter(study) for _ in range(3))
    number = caller.post("/question", mine).json()["number"]
    own = f"/questions/{number}/answer"
    said = json.dumps({"answer": caller.post("/question", mine).json()["candidates"][0]}).encode()
    study.revoke(gone[:16])
    foreign = store.create(PROBLEM, Settings("condorcet"), "Another")
    _, stranger = new_voter(foreign)
    for token in (None, "nonsense", gone, stranger):
        assert caller.post("/question", token).status_code == 401
        assert caller.post(own, token, said).status_code == 401
    for role in ("organiser", "open"):
        assert caller.post("/question", study.new_link(role)).status_code == 403  # type: ignore[arg-type]
    assert caller.post(own, other, said).status_code == 403
    odd: list[Any] = [
        1,
        "zoe",
        [],
        ["ann"],
        ["ann", "ann"],
        [["ann", "bob", "cyd"]],
        {"ann": 1},
        [[]],
        [None],
    ]
    bodies = [json.dumps({"answer": answer}).encode() for answer in odd]
    for body in (b"", b"{", b"[]", b"{}", b'{"answer": "ann", "b": 1}', b"\xff", b"[" * 60_000, *bodies):
        assert caller.post(own, mine, body).status_code == 422, body[:80]
    assert caller.post(own, mine, said, Content_Type="text/plain").status_code == 422
    for wrong in (0, 99, 2**31, 10**9, 10**12, "x", "1.5", "-1"):
        assert caller.post(f"/questions/{wrong}/answer", mine, said).status_code in (404, 422)
    study.skip(me, number)
    assert caller.post(own, mine, said).status_code == 409
    study.strike(you)
    assert caller.post("/question", other).status_code == 403
    assert study.status().answers == 0


def test_an_unknown_study_is_no_different(caller: Caller, client: httpx2.Client, study: Study) -> None:
    _, token = new_voter(study)
    headers = {"Authorization": f"Bearer {token}"}
    for unknown in ("0" * 16, "nonsense"):
        answer = client.post(f"/api/v1/studies/{unknown}/question", headers=headers)
        assert answer.status_code == 401


def test_a_body_without_end_is_refused(client: httpx2.Client, study: Study) -> None:
    _, token = new_voter(study)
    headers = JSON | {"Authorization": f"Bearer {token}"}
    url = f"/api/v1/studies/{study.id}/questions/1/answer"
    answer = client.post(url, content=(b" " * 1000 for _ in range(1001)), headers=headers)
    assert answer.status_code == 413
    assert "too large" in answer.json()["detail"]


def test_the_operations_are_named_in_the_metrics(client: httpx2.Client, caller: Caller, study: Study) -> None:
    caller.post("/question", new_voter(study)[1])
    assert 'operation="next_question"' in client.get("/metrics").text


def test_no_draws_where_there_are_none(client: httpx2.Client, store: Store) -> None:
    study = store.create(PROBLEM, Settings("condorcet", ties=False), "No ties")
    caller = Caller(client, study)
    _, token = new_voter(study)
    number = caller.post("/question", token).json()["number"]
    assert caller.post(f"/questions/{number}/answer", token, b'{"answer": null}').status_code == 403


def test_a_refusal_costs_nobody_else_their_vote(caller: Caller, study: Study, store: Store) -> None:
    """Those who share a transaction with a wrong request do not notice it."""
    from concurrent.futures import ThreadPoolExecutor

    tokens = [new_voter(study)[1] for _ in range(8)] + [study.new_link("organiser"), "nonsense"]
    with ThreadPoolExecutor(len(tokens)) as threads:
        codes = list(threads.map(lambda token: caller.post("/question", token).status_code, tokens))
    assert codes == [200] * 8 + [403, 401]
