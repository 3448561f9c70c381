"""Secret ballots: whatever an organiser asks for, who answered what is not in it; all else goes on."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import httpx2
import pytest

from conftest import PROBLEM
from duelmatch import Problem
from duelmatch.errors import ConflictError
from duelmatch.studies import NewVoter, Question, Settings, Store, Study, exported_answers
from duelmatch.web import Config
from studies.messy import check_export
from studies.playing import vote
from web.running import served


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store(f"sqlite:///{tmp_path_factory.mktemp('secret')}/duels.db") as store:
        yield store


@pytest.fixture(scope="module")
def address(store: Store) -> Iterator[str]:
    with served(store, Config(rates=None)) as address:
        yield address


def voted(store: Store, algorithm: str, secret: bool = True) -> Study:
    """Three judges, of whom the last has said nothing yet."""
    judges = [NewVoter(name, 3 if name == "Eve" else 1) for name in ("Eve", "Ned", "Zoe")]
    names: list[NewVoter] = judges if algorithm == "panel" else [NewVoter(judge.name) for judge in judges]
    study = store.create(PROBLEM, Settings(algorithm, secret=secret), "x", names)
    for voter in study.voters()[:2]:
        for _ in range(2):
            vote(study, voter.id)
    return study


@pytest.mark.parametrize("algorithm", ["panel", "condorcet", "car-cond"])
def test_the_organiser_cannot_see_who_answered_what(store: Store, address: str, algorithm: str) -> None:
    study = voted(store, algorithm)
    ids = [voter.id for voter in study.voters()]
    headers = {"Authorization": f"Bearer {study.new_link('organiser')}"}
    base = f"/api/v1/studies/{study.id}"
    with httpx2.Client(base_url=address, headers=headers, trust_env=False, timeout=60) as organiser:

        def status(method: str, path: str, body: object = None) -> int:
            return organiser.request(method, base + path, json=body).status_code

        assert organiser.get(base).json()["secret"]
        listed = organiser.get(f"{base}/voters").json()
        assert [(voter["name"], voter["begun"], voter["answers"]) for voter in listed] == [
            ("Eve", True, None),
            ("Ned", True, None),
            ("Zoe", False, None),
        ]
        assert status("GET", "/answers") == 403
        assert status("POST", "/questions/1/strike") == 403
        assert status("POST", "/questions/1/correct", {"answer": "ann"}) == 403
        assert status("GET", "/export") == status("GET", "/export?format=csv&people=true") == 403
        assert status("GET", "/export?format=csv") == status("GET", "/export?format=table") == 409
        outcome = organiser.get(f"{base}/result").json()
        assert set(outcome["waiting_for"].values()) <= {None}
        pages = [organiser.get(f"/studies/{study.id}{part}") for part in ("", "/live", "/answers", "/result")]
        assert [page.status_code for page in pages] == [200, 200, 403, 200]
        assert "has voted" in pages[0].text
        assert "answers?voter=" not in pages[0].text + pages[1].text
        assert status("POST", f"/voters/{ids[0]}/strike") == 204, "who is struck is known by name"
        assert status("POST", f"/voters/{ids[0]}/reinstate") == 204
        assert status("POST", "/phase/close") == 204
        assert status("POST", "/phase/reopen") == 409
        exports = [organiser.get(f"{base}/export?format={layout}").text for layout in ("csv", "table")]
    for text in exports:
        assert not any(word in text for word in (*ids, "Eve", "Ned", "Zoe"))
    table = [*csv.DictReader(io.StringIO(exports[1]))]
    assert table == sorted(table, key=lambda row: (row["position"], row["ranking"]))
    assert {*table[0]}.isdisjoint({"voter", "time", "entry", "question"})
    assert len(table) == 4
    with pytest.raises(ConflictError, match="stays closed"):
        study.reopen()


def test_the_export_of_a_secret_panel_gives_the_same_verdict(store: Store) -> None:
    study = voted(store, "panel")
    for voter in study.voters():
        while isinstance(question := study.ask(voter.id), Question):
            study.tell(voter.id, question.number, max(question.candidates))
    study.close()
    assert study.status().result.status == "decided"
    check_export(study)
    texts = {"".join(exported_answers(study, secretly=True)) for _ in range(50)}
    assert len(texts) > 1, "voters are numbered by chance: of three, all 50 times alike has odds of 6 ** -49"


def test_hints_work_on_secret_ballots_without_counting_or_comparing_votes(store: Store, address: str) -> None:
    """One of five always takes the second shown, and votes against all others, at once."""
    problem = Problem.complete(list("abcdefg"), ["x", "y", "z"])
    names = ["Eve", "Ned", "Zoe", "Joe", "Odd"]
    study = store.create(problem, Settings("panel", secret=True), "x", [NewVoter(name) for name in names])
    for voter in study.voters():
        for _ in range(18):
            question = study.ask(voter.id)
            if isinstance(question, Question):
                winner = question.candidates[1] if voter.name == "Odd" else min(question.candidates)
                study.tell(voter.id, question.number, winner)
    headers = {"Authorization": f"Bearer {study.new_link('organiser')}"}
    with httpx2.Client(base_url=address, headers=headers, trust_env=False, timeout=60) as organiser:
        listed = organiser.get(f"/api/v1/studies/{study.id}/voters").json()
        page = organiser.get(f"/studies/{study.id}/live").text
    odd = {voter["name"]: " ".join(voter["hints"]) for voter in listed}
    assert "Takes the second of the two shown nearly every time." in odd["Odd"]
    assert "Takes the second of the two shown nearly every time." in page
    assert not any("Agrees" in text or " of 1" in text for text in (*odd.values(), page))


def test_a_ballot_is_not_secret_unless_it_is_asked_for(store: Store, address: str) -> None:
    study = voted(store, "panel", secret=False)
    headers = {"Authorization": f"Bearer {study.new_link('organiser')}"}
    answer = httpx2.get(f"{address}/api/v1/studies/{study.id}/answers", headers=headers, trust_env=False)
    assert len(answer.json()) == 4
