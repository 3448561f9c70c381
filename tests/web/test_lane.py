"""The fast lane and the long way give the same answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

import duelmatch as dm
from duelmatch.studies import Settings, Store, Study
from duelmatch.web import Config, api, lane
from web.running import served

PROBLEM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "cook"])
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client(store: Store) -> Iterator[httpx2.Client]:
    with (
        served(store, Config(rates=None)) as address,
        httpx2.Client(base_url=address, timeout=30, trust_env=False) as client,
    ):
        yield client


@pytest.fixture
def study(store: Store) -> Study:
    return store.create(PROBLEM, Settings("condorcet"), "Who leads?")


@dataclass
class Both:
    """Sends a request both ways."""

    client: httpx2.Client
    study: Study
    monkeypatch: pytest.MonkeyPatch

    def post(self, path: str, token: str | None, content: bytes | None = None, **headers: str) -> Any:
        """Return the answer, which must be the same on the long way."""
        quick = self._post(path, token, content, headers)
        with self.monkeypatch.context() as patch:
            patch.setattr(lane, "_PATH", re.compile("nothing"))
            slow = self._post(path, token, content, headers)
        assert _seen(quick) == _seen(slow)
        return quick

    def _post(
        self, path: str, token: str | None, content: bytes | None, headers: dict[str, str]
    ) -> httpx2.Response:
        sent = JSON | {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        url = f"/api/v1/studies/{self.study.id}{path}"
        return self.client.post(url, content=content, headers=sent)


def _seen(answer: httpx2.Response) -> tuple[int, dict[str, str], Any]:
    """Return an answer without what may differ: the time, and whether it is a repetition."""
    headers = {
        name: value for name, value in answer.headers.items() if name not in ("date", "content-length")
    }
    content = answer.json()
    content.pop("repeated", None)
    return answer.status_code, headers, content


@pytest.fixture
def both(client: httpx2.Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> Both:
    return Both(client, study, monkeypatch)


def test_votes_take_the_lane(both: Both, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    voter = study.add_voter()
    token = study.new_key("voter", voter)
    monkeypatch.setattr(study.__class__, "ask", None)  # what the long way would call
    monkeypatch.setattr(study.__class__, "tell", None)
    for _ in range(30):
        duel = both._post("/duel", token, None, {}).json()
        said = json.dumps({"winner": min(duel["left"], duel["right"])}).encode()
        kept = both._post(f"/duels/{duel['number']}/answer", token, said, {})
        assert kept.status_code == 200
        assert kept.json()["winner"] == min(duel["left"], duel["right"])
    assert study.answers_by(voter) == 30


def test_duels_and_answers_are_the_same(both: Both, study: Study) -> None:
    token = study.new_key("voter", study.add_voter())
    for winner in ("left", "right", None):
        duel = both.post("/duel", token).json()
        said = json.dumps({"winner": duel[winner] if winner else None}).encode()
        kept = both.post(f"/duels/{duel['number']}/answer", token, said)
        assert kept.json()["tie"] == (winner is None)
    study.pause()
    assert both.post("/duel", token).json()["reason"] == "paused"
    study.resume()
    study.close()
    assert both.post("/duel", token).json()["reason"] == "closed"
    assert [entry.kind for entry in study.log()].count("answered") == 3


def test_the_cookie_of_a_browser_will_do(both: Both, study: Study) -> None:
    token = study.new_key("voter", study.add_voter())
    name = f"duelmatch-{study.id}-voter"
    own = {"Cookie": f"{name}={token}", "Sec_Fetch_Site": "same-origin"}
    number = both.post("/duel", None, **own).json()["number"]
    assert number == 1
    assert both.post("/duel", None, Cookie=f"{name}={token}").status_code == 403
    assert both.post("/duel", None, **own | {"Sec_Fetch_Site": "cross-site"}).status_code == 403
    assert both.post("/duel", None, **own | {"Cookie": f"{name}=nonsense"}).status_code == 401


def test_refusals_are_the_same(both: Both, study: Study, store: Store) -> None:
    voters = [study.add_voter() for _ in range(3)]
    mine, other, gone = (study.new_key("voter", voter) for voter in voters)
    number = both.post("/duel", mine).json()["number"]
    own = f"/duels/{number}/answer"
    said = b'{"winner": "ann"}'
    study.revoke(gone[:16])
    foreign = store.create(PROBLEM, Settings("condorcet"), "Another")
    stranger = foreign.new_key("voter", foreign.add_voter())
    for token, status in ((None, 401), ("nonsense", 401), (gone, 401), (stranger, 401)):
        assert both.post("/duel", token).status_code == status
        assert both.post(own, token, said).status_code == status
    for role in ("organiser", "open"):
        assert both.post("/duel", study.new_key(role)).status_code == 403  # type: ignore[arg-type]
    assert both.post(own, other, said).status_code == 403
    for body in (b"", b"{", b"[]", b'{"winner": 1}', b'{"winner": "zoe"}', b"{}", b'{"winner": "a", "b": 1}'):
        assert both.post(own, mine, body).status_code == 422
    assert both.post(own, mine, said, Content_Type="text/plain").status_code == 422
    for number in (0, 99, 2**31, 10**9, 10**12):
        assert both.post(f"/duels/{number}/answer", mine, said).status_code in (404, 422)
    study.skip(voters[0], 1)
    assert both.post(own, mine, said).status_code == 409
    study.invalidate(voters[1])
    assert both.post("/duel", other).status_code == 403
    assert study.status().answers == 0


def test_a_body_without_end_is_refused(client: httpx2.Client, study: Study) -> None:
    token = study.new_key("voter", study.add_voter())
    headers = JSON | {"Authorization": f"Bearer {token}"}
    url = f"/api/v1/studies/{study.id}/duels/1/answer"
    answer = client.post(url, content=(b" " * 1000 for _ in range(1001)), headers=headers)
    assert answer.status_code == 413
    assert "too large" in answer.json()["detail"]


def test_the_lane_is_named_in_the_metrics(client: httpx2.Client, both: Both, study: Study) -> None:
    both.post("/duel", study.new_key("voter", study.add_voter()))
    assert api.next_duel.__name__ in client.get("/metrics").text


def test_no_ties_where_there_are_none(
    client: httpx2.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = store.create(PROBLEM, Settings("condorcet", ties=False), "No ties")
    both = Both(client, study, monkeypatch)
    token = study.new_key("voter", study.add_voter())
    number = both.post("/duel", token).json()["number"]
    assert both.post(f"/duels/{number}/answer", token, b'{"winner": null}').status_code == 403
