"""Judges in bulk over HTTP, and the address that their links begin with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx2
import pytest

import duelmatch as dm
from duelmatch.studies import NewVoter, Settings, Store, Study
from duelmatch.web import Config
from web.running import served


@pytest.fixture(scope="module")
def store(place: tuple[str, Store]) -> Store:
    return place[1]


@pytest.fixture
def study(store: Store) -> Study:
    return store.create(
        dm.Problem.complete(["ann", "bob", "cyd"], ["chair"]), Settings("panel"), "x", ["Eve"]
    )


def links_in(address: str, study: Study, tokens: list[str]) -> str:
    """Return the list to mail from, for links that were just made."""
    organiser = {"Authorization": f"Bearer {study.new_link('organiser')}"}
    form = {"list": json.dumps([{"token": token} for token in tokens])}
    with httpx2.Client(base_url=address, trust_env=False, headers=organiser) as http:
        answer = http.post(f"/studies/{study.id}/links.csv", data=form)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_links_begin_with_an_address_that_phones_find(store: Store, study: Study) -> None:
    token = study.new_link("voter", study.voters()[0].id)
    with served(store, Config(rates=None)) as address:
        assert f"{address}/l/{token}" in links_in(address, study, [token])
    with served(store, Config(rates=None, nearby="http://192.0.2.7:8000")) as address:
        assert f"http://192.0.2.7:8000/l/{token}" in links_in(address, study, [token])
        page = httpx2.get(f"{address}/new", trust_env=False).text
        assert 'data-address="http://192.0.2.7:8000"' in page
        assert "only this computer finds" not in page
        elsewhere = httpx2.get(f"{address}/new", trust_env=False, headers={"Host": "duels.example.org"}).text
        assert 'data-address="http://duels.example.org"' in elsewhere, "the organiser came that way"
    with served(store, Config(rates=None, address="https://vote.example.org")) as address:
        assert f"https://vote.example.org/l/{token}" in links_in(address, study, [token])


def test_many_judges_are_added_all_or_none_and_their_old_links_die(store: Store, study: Study) -> None:
    organiser = {"Authorization": f"Bearer {study.new_link('organiser')}"}
    base = f"/api/v1/studies/{study.id}"
    with (
        served(store, Config(rates=None)) as address,
        httpx2.Client(base_url=address, trust_env=False, headers=organiser) as http,
    ):
        new = [{"name": "Ned", "weight": 2, "conflicts": ["ann"]}, {"name": "Zoe"}]
        for wrong in ({"name": "Eve"}, {"name": "Gil", "conflicts": ["tom"]}, {"name": "Zoe"}):
            refused = http.post(f"{base}/voters/bulk", json={"voters": [*new, wrong]})
            assert refused.status_code in (409, 422)
            assert len(study.voters()) == 1
        made = http.post(f"{base}/voters/bulk", json={"voters": new}).json()
        assert [(voter.name, voter.weight, voter.conflicts) for voter in study.voters()[1:]] == [
            ("Ned", 2, ("ann",)),
            ("Zoe", 1, ()),
        ]
        ned, zoe = (invited["voter"] for invited in made)
        again = http.post(f"{base}/voters/links", json={"voters": [ned]}).json()
        alone = http.post(f"{base}/voters/{zoe}/link").json()
        for old, token in ((made[0]["token"], again[0]["token"]), (made[1]["token"], alone["token"])):
            assert store.access(old) is None
            assert store.access(token) is not None
            gone = http.post(f"/studies/{study.id}/sheet", data={"list": json.dumps([{"token": old}])})
            assert (gone.status_code, "does not work any more" in gone.text) == (409, True)
        kinds = [entry.kind for entry in study.entries() if entry.by]
        assert kinds.count("revoked") == 2
        foreign = store.create(study.problem, Settings("panel"), "y", ["Eve"])
        token = foreign.new_link("voter", foreign.voters()[0].id)
        sheet = http.post(f"/studies/{study.id}/sheet", data={"list": json.dumps([{"token": token}])})
        assert sheet.status_code == 409, "no study prints the links of another"
        assert http.post(f"/studies/{study.id}/sheet", data={"list": "{"}).status_code == 422
        voter = {"Authorization": f"Bearer {alone['token']}"}
        for path in ("judges", "candidates"):
            assert http.get(f"/studies/{study.id}/{path}", headers=voter).status_code == 403
        assert http.post(f"/studies/{study.id}/sheet", headers=voter).status_code == 403


def test_a_thousand_judges_are_listed_a_page_at_a_time(store: Store, address: str) -> None:
    """All of them with all candidates to tick were 88 megabytes."""
    many = [f"candidate {number}" for number in range(200)]
    people = [NewVoter(f"Judge {number:03}", conflicts=many[:number]) for number in range(120)]
    people[119] = NewVoter("Ève <Ø>", conflicts=["candidate 7"])
    study = store.create(dm.Problem.complete(many, ["chair"]), Settings("panel"), "x", people)
    ids = [voter.id for voter in study.voters()]
    study.strike(ids[3])
    headers = {"Authorization": f"Bearer {study.new_link('organiser')}"}

    def page(**query: str | int) -> tuple[str, list[str], list[str]]:
        url = f"{address}/studies/{study.id}/judges"
        answer = httpx2.get(url, params=query, headers=headers, trust_env=False, timeout=60)
        assert answer.status_code == 200
        text = answer.text
        choices = text.partition('<script id="choices" type="application/json">')[2].partition("<")[0]
        listed = re.findall('<li data-voter="([^"]+)"', text)
        return text, listed, [voter for voter, _ in json.loads(choices or "[]")]

    text, shown, choices = page()
    assert shown == ids[:50]
    assert "120 judges, 119 of whom have not begun" in text
    assert choices == [voter for voter in ids if voter != ids[3]], "of all pages"
    assert "Page 1 of 3" in text
    assert "and 29 more" in text, "of whom judge 49 does not judge"
    assert len(text) < 150_000
    assert text.count("candidate 199") == 2, "its name and its title, once for all judges"
    assert page(page=2)[1] == ids[50:100]
    assert page(page=3)[1] == page(page=99)[1] == ids[100:]
    text, shown, choices = page(find=" ÈVE <")
    assert shown == choices == [ids[119]]
    assert "1 of the 120 judges has “ÈVE &lt;” in the name" in text
    assert "Ève &lt;Ø&gt;" in text
    assert 'data-conflicts="[7]"' in text
    text, shown, _ = page(find="judge 0", page=2)
    assert shown == ids[50:100]
    assert 'href="?page=1&amp;find=judge%200"' in text
    assert "None of the 120 judges" in page(find="Zoe")[0]


def test_the_command_line_makes_the_same_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from duelmatch.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(main, ["study", *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    Path("judges.csv").write_text("name,votes,conflicts,email\nEve,2,ann,eve@example.org\n", encoding="utf-8")
    Path("more.txt").write_text("Ned\nZoe\n", encoding="utf-8")
    Path("team.csv").write_text("project,chair,place\nann,x,table 1\nbob,x,table 2\n", encoding="utf-8")
    run("create", "team.csv", "--judges", "judges.csv")
    made = run("judges", "--add", "more.txt", "--renew", "Eve", "--server", "https://duels.example.org/")
    heading, *rows = made.splitlines()
    assert heading == "name,link"
    assert [row.split(",")[0] for row in rows] == ["Ned", "Zoe", "Eve"]
    assert "https://duels.example.org/l/" in rows[0]
    assert run("judges").count("has not begun") == 3
    assert json.loads(run("judges", "--json"))["voters"][0]["conflicts"] == ["ann"]
