"""Secret ballots: whatever an organiser asks for, who answered what is not in it; all else goes on."""

from __future__ import annotations

import csv
import io

import httpx2
import pytest

from conftest import PROBLEM
from duelmatch import Problem
from duelmatch.errors import ConflictError, NotAllowedError
from duelmatch.studies import (
    NewVoter,
    Question,
    Settings,
    Store,
    Study,
    export_log,
    exported_answers,
    exported_table,
    import_log,
)
from duelmatch.verify import verify
from studies.messy import check_export
from studies.playing import vote


@pytest.fixture(scope="module")
def store(place: tuple[str, Store]) -> Store:
    return place[1]


def voted(store: Store, algorithm: str, secret: bool = True) -> Study:
    """Three voters, of whom the last has said nothing yet."""
    study = store.create(PROBLEM, Settings(algorithm, secret=secret), "x", ["Eve", "Ned", "Zoe"])
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
        assert status("POST", f"/voters/{ids[2]}/strike") == 204, "who is struck is known by name"
        assert status("POST", f"/voters/{ids[2]}/reinstate") == 204
        assert status("POST", "/phase/close") == 204
        assert status("POST", "/phase/reopen") == 409
        exports = [organiser.get(f"{base}/export?format={layout}").text for layout in ("csv", "table")]
    for text in exports:
        assert not any(word in text for word in (*ids, "Eve", "Ned", "Zoe"))
    table = [*csv.DictReader(io.StringIO(exports[1]))]
    assert table == sorted(table, key=lambda row: (row["position"], row["ranking"]))
    assert {*table[0]} == {"position", "ranking"}
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


class Caller:
    """Somebody with the token of a link to a study."""

    def __init__(self, address: str, study: Study, token: str) -> None:
        self.base = f"{address}/api/v1/studies/{study.id}"
        self.headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> httpx2.Response:
        return httpx2.get(self.base + path, headers=self.headers, trust_env=False, timeout=60)

    def post(self, path: str, body: object = None) -> httpx2.Response:
        return httpx2.post(self.base + path, headers=self.headers, json=body, trust_env=False, timeout=60)


def test_a_copy_of_a_voters_link_does_not_show_what_they_answered(store: Store, address: str) -> None:
    study = store.create(PROBLEM, Settings("panel", secret=True, questions_each=5), "x", ["Eve", "Ned"])
    eve = study.voters()[0].id
    voter = Caller(address, study, study.new_link("voter", eve))
    asked = voter.post("/question").json()
    told = voter.post(f"/questions/{asked['number']}/answer", {"answer": asked["candidates"][0]}).json()
    assert told["winner"] == asked["candidates"][0], "whoever has just said so may read it"
    path = f"/questions/{asked['number']}/answer"
    again = [voter.post(path, {"answer": name}) for name in (*asked["candidates"], None)]
    receipts = [voter.get(f"/receipts/{asked['number']}"), *again]
    assert [receipt.status_code for receipt in receipts] == [200] * 4, "no try tells right from wrong"
    for receipt in receipts:
        shown = receipt.json()
        assert (shown["entry"], shown["hash"], shown["repeated"]) == (told["entry"], told["hash"], True)
        assert [shown[name] for name in ("position", "answer", "winner")] == [None] * 3
    me = voter.get("/me").json()
    assert (me["answers"], me["left"], me["last"]) == (None, None, asked["number"])
    assert study.answers_by(eve) == 1


def test_who_has_begun_gets_no_new_link_from_an_organiser(store: Store, address: str) -> None:
    study = voted(store, "panel")
    ids = [voter.id for voter in study.voters()]
    organiser = Caller(address, study, study.new_link("organiser"))
    refused = organiser.post(f"/voters/{ids[0]}/link")
    assert refused.status_code == 403
    assert "has begun: whoever has a new link could vote" in refused.json()["detail"]
    assert organiser.post("/voters/links", {"voters": ids}).status_code == 403
    assert organiser.post(f"/voters/{ids[2]}/link").status_code == 201
    assert study.new_link("voter", ids[0]), "whoever has the database can help"
    open_study = voted(store, "panel", secret=False)
    organiser = Caller(address, open_study, open_study.new_link("organiser"))
    assert organiser.post(f"/voters/{open_study.voters()[0].id}/link").status_code == 201


@pytest.mark.parametrize("algorithm", ["panel", "condorcet", "car-cond"])
def test_no_act_on_a_voter_tells_how_many_answers_they_have(
    store: Store, address: str, algorithm: str
) -> None:
    study = voted(store, algorithm)
    begun, not_begun = study.voters()[0].id, study.voters()[2].id
    organiser = Caller(address, study, study.new_link("organiser"))
    before = organiser.get("/progress").json()["answers"]
    acts = (
        {"strike": None, "conflicts": {"candidates": ["ann"]}} if algorithm == "panel" else {"strike": None}
    )
    for act, body in acts.items():
        refused = organiser.post(f"/voters/{begun}/{act}", body)
        assert refused.status_code == 403
        assert "has begun: what changes when their answers count otherwise" in refused.json()["detail"]
    assert organiser.get("/progress").json()["answers"] == before
    for act in ("strike", "reinstate"):
        assert organiser.post(f"/voters/{not_begun}/{act}").status_code == 204
    page = httpx2.get(f"{address}/studies/{study.id}", headers=organiser.headers, trust_env=False).text
    assert f'data-do="voters/{begun}/strike" disabled' in page
    assert f'data-do="voters/{not_begun}/strike" aria' in page


def test_voters_may_say_themselves_whom_they_cannot_judge(store: Store, address: str) -> None:
    study = voted(store, "panel")
    eve = study.voters()[0].id
    voter = Caller(address, study, study.new_link("voter", eve))
    assert voter.post("/conflicts", {"candidates": ["ann"]}).status_code == 204
    organiser = Caller(address, study, study.new_link("organiser"))
    assert organiser.post(f"/voters/{eve}/conflicts/clear", {"candidates": ["ann"]}).status_code == 403


@pytest.mark.parametrize("algorithm", ["panel", "condorcet", "car-cond"])
def test_no_hash_of_a_secret_study_can_be_searched_for(store: Store, algorithm: str) -> None:
    """There are 128 random bits in what is hashed, and they leave the database with the log alone."""
    study = voted(store, algorithm)
    eve = study.voters()[0].id
    asked = study.ask(eve)
    assert isinstance(asked, Question)
    study.skip(eve, asked.number, "cannot say")
    if algorithm == "panel":
        study.undo(eve)
    study.report(eve, "ann", "absent", "not at table 3")
    study.close()
    entries = study.entries()[1:]
    salts = [entry.data["salt"] for entry in entries]
    assert {len(salt) for salt in salts} == {32}
    assert len({*salts}) == len(entries)
    log = export_log(study)
    report = verify(log.splitlines(), receipts=[entry.hash for entry in entries if entry.kind == "answered"])
    assert (report.damage, report.differs) == (None, False)
    assert [each.text for each in study.reports()] == ["not at table 3"]
    assert import_log(store, log).status().result == study.status().result
    for export in (exported_table, exported_answers):
        text = "".join(export(study, secretly=True))
        assert not any(salt in text for salt in salts)
    open_study = voted(store, algorithm, secret=False)
    assert not any("salt" in entry.data for entry in open_study.entries())


@pytest.mark.parametrize("how", ["weight", "conflict", "left", "left open", "struck answer"])
def test_no_ballots_are_listed_where_one_can_be_told_apart(store: Store, how: str) -> None:
    """What the organiser knows, or has seen to, would be beside all answers of that judge."""
    judges = [NewVoter("Eve"), NewVoter("Ned", weight=2 if how == "weight" else 1), NewVoter("Zoe")]
    study = store.create(PROBLEM, Settings("panel", secret=True), "x", judges)
    voters = [voter.id for voter in study.voters()]
    for voter in voters:
        asked = vote(study, voter)
    if how == "conflict":
        study.conflict(voters[1], ["ann"])
    elif how in ("left", "left open"):
        study.leave(voters[1], "dropped" if how == "left" else "open")
    elif how == "struck answer":
        study.correct(asked.number, None)
    study.close()
    with pytest.raises(NotAllowedError, match="told apart"):
        "".join(exported_answers(study, secretly=True))
    table = [*csv.DictReader(io.StringIO("".join(exported_table(study, secretly=True))))]
    assert len(table) == study.status().counted
    assert {*table[0]} == {"position", "ranking"}


def test_of_a_crowd_ballots_are_not_listed_at_all(store: Store) -> None:
    study = voted(store, "condorcet")
    study.leave(study.voters()[0].id)
    study.close()
    text = "".join(exported_answers(study, secretly=True))
    assert text.splitlines()[0] == "position,ranking"
    assert len(text.splitlines()) == 5
