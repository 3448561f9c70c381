"""Small holes that were found by trying, each closed."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

import httpx2
import pytest
from starlette.datastructures import Headers

import duelmatch as dm
from conftest import PROBLEM
from duelmatch.errors import ConflictError, DuelmatchError, NotAllowedError
from duelmatch.studies import NewVoter, Question, Settings, Store, Study, export_log
from duelmatch.verify import verify
from duelmatch.web import Config
from duelmatch.web.guard import is_our_own
from duelmatch.web.links import PATH
from web.running import served

SAME = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def store(place: tuple[str, Store]) -> Store:
    return place[1]


@pytest.fixture
def study(store: Store) -> Study:
    return store.create(PROBLEM, Settings("condorcet"), "Who leads?")


@pytest.mark.parametrize("algorithm", ["car-cond", "panel", "condorcet"])
def test_a_skip_after_the_lease_is_noted_or_refused_but_not_lost(algorithm: str, tmp_path: Path) -> None:
    now = 1000.0
    with Store(f"sqlite:///{tmp_path}/x.db", clock=lambda: now) as store:
        study = store.create(PROBLEM, Settings(algorithm, lease=10.0), "x", ["eve", "ned"])
        eve, ned = (voter.id for voter in study.voters())
        asked = study.ask(eve)
        assert isinstance(asked, Question)
        now = 100_000.0
        study.ask(ned)  # whoever comes next finds what has expired
        if algorithm == "panel":
            with pytest.raises(ConflictError, match="ask for the next one"):
                study.skip(eve, asked.number, "cannot say")
            return
        for _ in range(2):
            study.skip(eve, asked.number, "cannot say")
        skips = [entry for entry in study.entries() if entry.kind == "skipped"]
        assert [entry.data["question"] for entry in skips] == [asked.number]
        report = verify(export_log(study).splitlines())
        assert (report.damage, study.check()) == (None, study.end())


def test_a_trailing_slash_leads_nowhere_else(address: str, study: Study) -> None:
    token = study.new_link("organiser")
    for path in ("/privacy/", f"/api/v1/studies/{study.id}/progress/", "/new/"):
        headers = {"Host": "evil.example", "Authorization": f"Bearer {token}"}
        answer = httpx2.get(address + path, headers=headers, trust_env=False)
        assert answer.status_code == 404
        assert "location" not in answer.headers


@pytest.mark.parametrize("value", ["Bearer ", "Bearer", "bearer    ", "bearer \t"])
def test_an_empty_token_does_not_pass_for_one(value: str) -> None:
    """Before, the guard let it pass, and the cookie counted in its place."""
    sent = {"authorization": value, "cookie": "a=b", "sec-fetch-site": "cross-site"}
    assert not is_our_own(Headers(sent))


def test_who_shows_an_empty_token_is_nobody(address: str, study: Study) -> None:
    token = study.new_link("voter", study.add_voter())
    headers = SAME | {"Cookie": f"duelmatch-{study.id}-voter={token}", "Authorization": "Bearer"}
    path = f"{address}/api/v1/studies/{study.id}/question"
    assert httpx2.post(path, headers=headers, trust_env=False).status_code == 401


def test_a_personal_link_does_not_silently_make_somebody_else_of_a_voter(address: str, study: Study) -> None:
    voters = [study.add_voter(name) for name in ("eve", "ned")]
    eve, ned = (study.new_link("voter", voter) for voter in voters)
    with httpx2.Client(base_url=address, trust_env=False, headers=SAME, follow_redirects=True) as browser:

        def me() -> str:
            found: str = browser.get(f"/api/v1/studies/{study.id}/me").json()["voter"]
            return found

        browser.get(f"/l/{eve}")
        assert me() == voters[0]
        page = browser.get(f"/l/{ned}")
        assert "Someone else has been voting in this browser" in page.text
        assert me() == voters[0]
        browser.get(f"/l/{study.new_link('voter', voters[0])}")
        assert me() == voters[0], "another link of the same voter needs no question"
        browser.post(f"/l/{ned}")
        assert me() == voters[1]


@pytest.mark.parametrize("other", ["Zoe\u0301  Smith", "Zo\u00e9\u00a0Smith", "Zo\u00e9 \u200bSmith\ufeff"])
def test_names_that_look_the_same_are_the_same(study: Study, store: Store, other: str) -> None:
    study.add_voter("Zo\u00e9 Smith")
    with pytest.raises(ConflictError, match="already"):
        study.add_voter(other)
    with pytest.raises(DuelmatchError, match="called"):
        store.create(PROBLEM, Settings("panel"), "x", ["Zo\u00e9 Smith", other])
    with pytest.raises(DuelmatchError, match="look the same"):
        store.create(dm.Problem.complete(["Zo\u00e9 Smith", other], ["chair"]), name="x")
    study.add("Zo\u00e9 Smith", ["chair"])
    with pytest.raises(DuelmatchError):
        study.add(other, ["chair"])
    with pytest.raises(DuelmatchError, match="cannot be shown"):
        study.add_voter("Zo\u00e9\x07")


def test_joiners_stay_where_a_script_has_them(study: Study) -> None:
    name = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    study.add_voter(name)
    assert name in {voter.name for voter in study.voters()}


def test_a_new_database_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Store(f"sqlite:///{tmp_path}/x.db") as store:
            store.create(PROBLEM, name="x")
            files = list(tmp_path.iterdir())
            assert len(files) == 3
            assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    finally:
        os.umask(before)


def test_a_closed_study_cannot_be_joined(address: str, study: Study) -> None:
    headers = {"Authorization": f"Bearer {study.new_link('open')}"}
    study.close()
    answer = httpx2.post(f"{address}/api/v1/studies/{study.id}/join", headers=headers, trust_env=False)
    assert answer.status_code == 409
    assert not study.voters()


@pytest.mark.parametrize("link", ["javascript:alert(1)", " JavaScript:x", "data:text/html,x"])
def test_links_lead_to_the_web(address: str, study: Study, link: str) -> None:
    headers = {"Authorization": f"Bearer {study.new_link('organiser')}"}
    path = f"{address}/api/v1/studies/{study.id}/edit"
    edit = {"candidates": {"ann": {"link": link}}}
    assert httpx2.post(path, json=edit, headers=headers, trust_env=False).status_code == 422
    about = {"candidates": {"ann": {"link": link}, "bob": {}}, "positions": ["chair"]}
    new = {"name": "x", "problem": about}
    created = httpx2.post(f"{address}/api/v1/studies", json=new, trust_env=False, timeout=60)
    assert created.status_code == 422


def test_the_log_names_the_link_that_did_what(address: str, study: Study) -> None:
    token = study.new_link("organiser")
    base, headers = f"{address}/api/v1/studies/{study.id}", {"Authorization": f"Bearer {token}"}
    begin = study.end()
    with httpx2.Client(trust_env=False, headers=headers) as organiser:
        eve = organiser.post(f"{base}/voters", json={"name": "Eve"}).json()["voter"]
        open_token = organiser.post(f"{base}/open-link").json()["token"]
        joining = {"Authorization": f"Bearer {open_token}"}
        httpx2.post(f"{base}/join", headers=joining, trust_env=False)
        organiser.post(f"{base}/voters/{eve}/forget-name")
        organiser.post(f"{base}/links/{open_token[:16]}/revoke")
        export = organiser.get(f"{base}/export").text
    done = [(entry.kind, entry.by) for entry in study.entries(begin)]
    own, opened = token[:16], open_token[:16]
    assert done == [
        ("joined", own),
        ("linked", own),
        ("linked", own),
        ("joined", opened),
        ("named", own),
        ("revoked", own),
    ]
    assert study.entries()[-1].data == {"link": opened}
    assert verify(export.splitlines()).damage is None
    assert "Eve" not in export
    assert {voter.name for voter in study.voters()} == {None}


def test_a_name_that_was_deleted_is_nowhere_in_the_files(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/x.db") as store:
        study = store.create(PROBLEM, Settings("panel"), "x", ["Zebediah Quill", "Ned"])
        voter = study.voters()[0].id
        study.rename_voter(voter, "Zebediah Quillon")

        def found() -> bool:
            return any(b"Zebediah" in file.read_bytes() for file in tmp_path.iterdir())

        assert found()
        study.forget_voter_name(voter)
        assert not found()
        assert study.check() == study.end()


def test_the_privacy_page_says_what_is_stored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The cookie lasts as long as it says, and neither addresses nor links nor browsers are written down."""
    caplog.set_level(0)
    with Store(f"sqlite:///{tmp_path}/x.db") as store, served(store) as address:
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        token = study.new_link("voter", study.add_voter())
        caller = {"X-Forwarded-For": "203.0.113.77", "User-Agent": "Zebediah/1.0"}
        with httpx2.Client(base_url=address, headers=caller, trust_env=False) as client:
            page = " ".join(client.get("/privacy").text.split())
            cookie = client.get(PATH + token).headers["set-cookie"]
            asked = client.post(f"/api/v1/studies/{study.id}/question", headers=SAME).json()
            said = {"answer": asked["candidates"][0]}
            path = f"/api/v1/studies/{study.id}/questions/{asked['number']}/answer"
            assert client.post(path, json=said, headers=SAME).status_code == 200
        assert "in a cookie for 60 days" in page
        assert "Max-Age=5184000" in cookie
        assert "scripts cannot read it" in page
        assert "httponly" in cookie.lower()
        stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert asked["candidates"][0].encode() in stored
        logged = [str(vars(record)) for record in caplog.records if record.name.startswith("duelmatch")]
        assert logged
        for told in ("203.0.113.77", "127.0.0.1", "Zebediah", token):
            assert told.encode() not in stored, "which the page says"
            assert not any(told in line for line in logged)


def test_a_link_can_expire(url: str) -> None:
    now = 1000.0
    with Store(url, clock=lambda: now) as store:
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        lasting, token = study.new_link("organiser"), study.new_link("organiser", seconds=60)
        assert store.access(token) is not None
        assert {link.id: link.expires_at for link in study.links()} == {
            lasting[:16]: None,
            token[:16]: 1060.0,
        }
        with pytest.raises(ConflictError):
            study.revoke(lasting[:16], keep_one=True)
        now = 1061.0
        assert store.access(token) is None
        assert not study.works(token[:16])
        assert {link.id: link.revoked for link in study.links()} == {lasting[:16]: False, token[:16]: True}
        voter = study.add_voter()
        vote = study.new_link("voter", voter, seconds=60)
        assert store.access(vote) is not None
        study.revoke(vote[:16])
        assert store.access(vote) is None


def test_a_revoked_link_stays_so_when_the_clock_is_set_back(url: str) -> None:
    now = 5000.0
    with Store(url, clock=lambda: now) as store:
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        eve = study.add_voter("eve")
        lasting, revoked = study.new_link("organiser"), study.new_link("organiser")
        ended, ending = study.new_link("open", seconds=60), study.new_link("open", seconds=600)
        lost, ended_before = study.new_link("voter", eve), study.new_link("voter", eve, seconds=60)
        study.revoke(revoked[:16])
        now = 5100.0
        study.revoke(ended[:16])
        (new,) = study.replace_links([eve])
        now = 1000.0
        works = {
            token
            for token in (lasting, revoked, ended, ending, lost, ended_before, new)
            if store.access(token)
        }
        assert works == {lasting, ending, new}
        shown = {link.id: (link.revoked, link.expires_at) for link in study.links()}
        assert shown[revoked[:16]] == shown[ended[:16]] == shown[lost[:16]] == (True, None)
        assert shown[ending[:16]] == (False, 5600.0)


def test_a_link_that_ends_makes_none_that_outlasts_it_and_ends_none_that_does(url: str) -> None:
    now = 1000.0
    with Store(url, clock=lambda: now) as store:
        study = store.create(PROBLEM, Settings("condorcet"), "x")
        owner, lent = study.new_link("organiser"), study.new_link("organiser", seconds=60)
        eve, ned = study.add_voter("eve"), study.add_voter("ned")
        eves = study.new_link("voter", eve)
        by = lent[:16]
        made = [
            study.new_link("organiser", by=by),
            study.new_link("organiser", seconds=3600, by=by),
            study.new_link("voter", ned, by=by),
            study.new_link("open", seconds=10, by=by),
        ]
        ends = {link.id: link.expires_at for link in study.links()}
        assert [ends[token[:16]] for token in made] == [1060.0, 1060.0, 1060.0, 1010.0]
        for lasting in (owner, eves):
            with pytest.raises(NotAllowedError, match="cannot end one that works longer"):
                study.revoke(lasting[:16], keep_one=True, by=made[0][:16])
        with pytest.raises(NotAllowedError, match="cannot end one that works longer"):
            study.replace_links([ned, eve], by=by)
        study.replace_links([ned], by=by)
        study.revoke(made[0][:16], by=by)
        study.revoke(by, by=by)
        assert [store.access(token) is not None for token in (owner, eves, lent)] == [True, True, False]
        opened = study.new_link("open", seconds=10)
        _, joined = study.join(by=opened[:16])
        _, stays = study.join(by=study.new_link("open")[:16])
        now = 5000.0
        assert store.access(joined) is None, (
            "who has joined by an open link is let in no longer than it lasts"
        )
        assert store.access(stays) is not None
        study.revoke(eves[:16], by=owner[:16])


def test_a_lent_link_leaves_nothing_that_lasts(store: Store, address: str) -> None:
    """A copy has links that do not end, and a webhook is called until somebody removes it."""
    study = store.create(PROBLEM, Settings("panel"), "x", ["Eve"])
    for path, body in (("duplicate", {"name": "y"}), ("webhook", {"url": "https://example.org/decided"})):
        codes, studies = [], len(store.studies())
        for seconds in (60, None):
            headers = {"Authorization": f"Bearer {study.new_link('organiser', seconds=seconds)}"}
            url = f"{address}/api/v1/studies/{study.id}/{path}"
            answer = httpx2.post(url, json=body, headers=headers, trust_env=False, timeout=60)
            codes.append(answer.status_code)
            if seconds:
                assert "stops working by itself" in answer.json()["detail"]
                assert (len(store.studies()), store.webhooks.of_study(study.id)) == (studies, None)
        assert codes == [403, 201]


def test_who_may_not_create_studies_may_not_duplicate_them(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/x.db") as store:
        study = store.create(PROBLEM, Settings("panel"), "x", ["Eve"])
        token = study.new_link("organiser")
        headers = {"Authorization": f"Bearer {token}"}

        def tried(config: Config, key: str | None) -> tuple[int, bool, bool]:
            body = {"name": "y"} | ({} if key is None else {"key": key})
            with served(store, config) as address:
                url = f"{address}/api/v1/studies/{study.id}/duplicate"
                made = httpx2.post(url, json=body, headers=headers, trust_env=False, timeout=60)
                page = httpx2.get(f"{address}/studies/{study.id}", headers=headers, trust_env=False).text
            return made.status_code, 'id="duplicate"' in page, 'id="key"' in page

        with_key = Config(create="key", create_key="sesame", rates=None)
        assert tried(with_key, None) == tried(with_key, "wrong") == (401, True, True)
        assert tried(Config(create="nobody", rates=None), None) == (403, False, False)
        assert len(store.studies()) == 1
        assert tried(with_key, "sesame") == (201, True, True)
        assert tried(Config(rates=None), None) == (201, True, False)


UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u200b\u200d\u202e\u2060\u2065\u3164\ufe00\ufe0f\ufeff"
    "\uffa0\ufff0\U0001bca0\U0001d173\U000e0001\U000e0100"
)


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_what_is_not_seen_tells_no_names_apart(study: Study, store: Store, unseen: str) -> None:
    eve = study.add_voter("Eve")
    for name in (f"E{unseen}ve", f"Eve{unseen}", f"{unseen}Eve", f"E\u034f{unseen}ve"):
        with pytest.raises(ConflictError, match="called 'Eve' already"):
            study.add_voter(name)
        study.rename_voter(eve, name)
        assert study.name_of(eve) == "Eve", "it is dropped"
        with pytest.raises(DuelmatchError, match="look the same"):
            store.create(dm.Problem.complete(["Eve", name], ["chair"]), name="x")
    with pytest.raises(DuelmatchError, match="is empty"):
        study.add_voter(unseen)


@pytest.mark.parametrize("other", ["\uff25ve", "Eve\u2800", "\u2800Eve", "Eve\u2028", "E\u200cve"])
def test_a_new_name_is_compared_by_look_with_those_there_are(study: Study, other: str) -> None:
    """Before, only those of one request were."""
    eve, ned = study.add_voter("Eve"), study.add_voter("Ned")
    acts = (
        lambda: study.add_voter(other),
        lambda: study.voter_named(other),
        lambda: study.rename_voter(ned, other),
        lambda: study.add_voters([NewVoter("Zoe"), NewVoter(other)]),
    )
    for act in acts:
        with contextlib.suppress(DuelmatchError):
            assert act() == eve, "as somebody who was there"
    assert [voter.name for voter in study.voters()] == ["Eve", "Ned"]
    study.rename_voter(eve, "\uff25ve")
    study.forget_voter_name(eve)
    study.rename_voter(ned, "Eve")


@pytest.mark.parametrize("unknown", ["\ue000", "\ufffe", "\u0378", "\U0010ffff"], ids=ascii)
def test_characters_that_look_like_any_other_are_in_no_name(study: Study, store: Store, unknown: str) -> None:
    with pytest.raises(DuelmatchError, match=f"not known here: U\\+{ord(unknown):04X}"):
        study.add_voter(f"Eve{unknown}")
    with pytest.raises(DuelmatchError, match="not known here"):
        store.create(dm.Problem.complete(["ann", f"ann{unknown}"], ["chair"]), name="x")
    with pytest.raises(DuelmatchError, match="not known here"):
        study.edit({"ann": {"title": f"Ann{unknown}"}})
    study.edit({"ann": {"text": f"See {unknown}"}})
