"""Who may do what, and what browsers are kept from: cookies, other sites, limits, logs."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.datastructures import Headers
from starlette.requests import Request

from duelmatch.errors import StoreError
from duelmatch.studies import Store, Study
from duelmatch.web import Config, Rate, Rates, create_app
from duelmatch.web.access import note_link
from duelmatch.web.guard import is_our_own
from duelmatch.web.links import qr_code
from duelmatch.web.metrics import JsonFormatter
from duelmatch.web.proxies import Proxies, is_local
from duelmatch.web.rates import FORGET_AFTER, MOST_REMEMBERED, Buckets, RateLimit, network_of
from web.running import served

SAME = {"Sec-Fetch-Site": "same-origin"}
NEW = {
    "name": "Who leads?",
    "problem": {"candidates": ["=1+1", "<b>bob</b>"], "positions": ["chair"]},
    "settings": {"algorithm": "car-cond", "delta": 0.3},
}


@pytest.fixture(scope="module")
def store(place: tuple[str, Store]) -> Store:
    return place[1]


@pytest.fixture
def visit(address: str) -> Iterator[Callable[[str], httpx2.Client]]:
    """Give a function that follows a link with a browser of its own."""
    clients = []

    def follow(token: str) -> httpx2.Client:
        client = httpx2.Client(base_url=address, trust_env=False, follow_redirects=True, timeout=30)
        clients.append(client)
        client.get(f"/l/{token}")
        return client

    yield follow
    for client in clients:
        client.close()


# Links and cookies.


def test_a_link_becomes_a_cookie_that_scripts_cannot_read(address: str, study: Study) -> None:
    token = study.new_link("organiser")
    answer = httpx2.get(f"{address}/l/{token}", trust_env=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/studies/{study.id}"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"duelmatch-{study.id}-organiser={token};")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_over_https_the_cookie_is_secure_and_of_this_host_only(address: str, study: Study) -> None:
    headers = {"X-Forwarded-Proto": "https"}
    token = study.new_link("organiser")
    answer = httpx2.get(f"{address}/l/{token}", headers=headers, trust_env=False)
    assert answer.headers["set-cookie"].startswith(f"__Host-duelmatch-{study.id}-organiser=")
    assert "Secure" in answer.headers["set-cookie"].split("; ")
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
    cookie = {"Cookie": f"duelmatch-{study.id}-organiser={token}"}
    plain = httpx2.get(f"{address}/api/v1/studies/{study.id}", headers=headers | cookie, trust_env=False)
    assert plain.status_code == 401, "a cookie that another host could have set does not count"


def test_a_revoked_link_and_its_cookie_are_useless(
    visit: Callable[[str], httpx2.Client], study: Study, store: Store
) -> None:
    organiser = visit(study.new_link("organiser"))
    voter = visit(study.new_link("voter", study.add_voter()))
    path = f"/api/v1/studies/{study.id}"
    assert voter.post(f"{path}/question", headers=SAME).status_code == 200
    links = organiser.get(f"{path}/links").json()
    (link,) = [link["id"] for link in links if link["role"] == "voter"]
    assert not {"hash", "token"} & set(links[0])
    assert organiser.post(f"{path}/links/{link}/revoke", headers=SAME).status_code == 204
    assert voter.post(f"{path}/question", headers=SAME).status_code == 401
    (own,) = [link["id"] for link in links if link["role"] == "organiser"]
    assert organiser.post(f"{path}/links/{own}/revoke", headers=SAME).status_code == 409
    assert organiser.post(f"{path}/organiser-link", headers=SAME).status_code == 201
    assert organiser.post(f"{path}/links/{own}/revoke", headers=SAME).status_code == 204
    assert organiser.get(f"{path}/links").status_code == 401


def test_a_lost_link_can_be_replaced(visit: Callable[[str], httpx2.Client], study: Study) -> None:
    voter = study.add_voter()
    answer = visit(study.new_link("organiser")).post(
        f"/api/v1/studies/{study.id}/voters/{voter}/link", headers=SAME
    )
    assert visit(answer.json()["token"]).get(f"/api/v1/studies/{study.id}/me").json() == {
        "voter": voter,
        "name": None,
        "last": None,
        "answers": 0,
        "left": None,
        "struck": False,
    }


def test_a_browser_can_hold_several_roles_and_forget_them(
    visit: Callable[[str], httpx2.Client], study: Study
) -> None:
    browser = visit(study.new_link("organiser"))
    browser.get(f"/l/{study.new_link('voter', study.add_voter())}")
    path = f"/api/v1/studies/{study.id}"
    assert browser.post(f"{path}/question", headers=SAME).status_code == 200
    assert browser.get(f"{path}/result").status_code == 200
    assert browser.post(f"{path}/forget", headers=SAME).status_code == 204
    assert browser.get(f"{path}/result").status_code == 401


def test_an_open_link_makes_one_voter_per_browser(
    visit: Callable[[str], httpx2.Client], study: Study
) -> None:
    token = study.new_link("open")
    browser = visit(token)
    assert study.voters() == [], "looking makes no voter, or previews of links would"
    assert browser.post(f"/api/v1/studies/{study.id}/join", headers=SAME).status_code == 201
    again = browser.post(f"/api/v1/studies/{study.id}/join", headers=SAME)
    assert (again.status_code, again.json()["voter"]) == (200, study.voters()[0].id), (
        "who joins twice is one voter"
    )
    browser.get(f"/l/{token}")
    assert '"me": {"answers": 0' in browser.get(f"/studies/{study.id}/vote").text
    assert len(study.voters()) == 1


def test_one_study_does_not_open_another(
    visit: Callable[[str], httpx2.Client], study: Study, new_study: Callable[..., Study]
) -> None:
    other = new_study()
    browser = visit(study.new_link("organiser"))
    for path in (f"/studies/{other.id}", f"/studies/{other.id}/live", f"/api/v1/studies/{other.id}/export"):
        assert browser.get(path).status_code == 401
    token = other.new_link("voter", other.add_voter())
    answer = browser.post(f"/api/v1/studies/{study.id}/qr", json={"token": token}, headers=SAME)
    assert answer.status_code == 404


def test_a_voter_sees_no_page_of_the_organiser(visit: Callable[[str], httpx2.Client], study: Study) -> None:
    browser = visit(study.new_link("voter", study.add_voter("Eve")))
    assert browser.get(f"/studies/{study.id}").url.path.endswith("/vote")
    assert browser.get(f"/studies/{study.id}/live").status_code == 403
    assert browser.get(f"/studies/{study.id}/result").status_code == 403


# Other sites.


@pytest.mark.parametrize(
    ("headers", "ours"),
    [
        ({"sec-fetch-site": "same-origin", "cookie": "a=b"}, True),
        ({"sec-fetch-site": "none", "cookie": "a=b"}, True),
        ({"sec-fetch-site": "same-site", "cookie": "a=b"}, False),
        ({"sec-fetch-site": "cross-site", "cookie": "a=b"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "http://us", "host": "us"}, False),
        ({"origin": "http://us", "host": "us", "cookie": "a=b"}, True),
        ({"origin": "http://us:81", "host": "us:80"}, False),
        ({"origin": "null", "host": "us"}, False),
        ({"origin": "http://[", "host": "us"}, False),
        ({"origin": "http://["}, False),
        ({"origin": ""}, False),
        ({"cookie": "a=b"}, False),
        ({}, True),
        ({"authorization": "Bearer x", "sec-fetch-site": "cross-site"}, True),
    ],
)
def test_where_a_change_may_come_from(headers: dict[str, str], ours: bool) -> None:
    assert is_our_own(Headers(headers)) == ours


def test_another_site_cannot_vote_or_close(visit: Callable[[str], httpx2.Client], study: Study) -> None:
    browser = visit(study.new_link("organiser"))
    foreign = (
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://["},
        {},
    )
    for headers in foreign:
        answer = browser.post(f"/api/v1/studies/{study.id}/phase/close", headers=headers)
        assert answer.status_code == 403
        assert "another site" in answer.json()["detail"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert study.status().phase == "open"


# What every answer carries.


def test_every_answer_has_the_headers_and_no_page_has_inline_code(
    visit: Callable[[str], httpx2.Client], study: Study
) -> None:
    browser = visit(study.new_link("organiser"))
    browser.get(f"/l/{study.new_link('voter', study.add_voter())}")
    here = f"/studies/{study.id}"
    pages = ("/", "/new", "/privacy", here, f"{here}/vote", f"{here}/live", f"{here}/result", "/nothing")
    for path in (*pages, "/static/vote.js", f"/api/v1{here}"):
        answer = browser.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store")
        assert "server" not in answer.headers or "uvicorn" in answer.headers["server"]
        if path.startswith("/static"):
            continue
        scripts = re.sub(r"<script type=.application/json.", "", answer.text)  # data, which is not run
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style", scripts), path


def test_names_are_escaped_in_pages_and_csv(visit: Callable[[str], httpx2.Client], address: str) -> None:
    made = httpx2.post(f"{address}/api/v1/studies", json=NEW, trust_env=False).json()
    browser = visit(made["organiser_token"])
    browser.post(f"/api/v1/studies/{made['study']}/voters", json={"name": "<i>eve</i>"}, headers=SAME)
    text = browser.get(f"/studies/{made['study']}").text
    assert "<b>bob" not in text
    assert "&lt;b&gt;bob&lt;/b&gt;" in text
    assert "<i>eve" not in text
    voter = visit(
        browser.post(f"/api/v1/studies/{made['study']}/voters", json={}, headers=SAME).json()["token"]
    )
    number = voter.post(f"/api/v1/studies/{made['study']}/question", headers=SAME).json()["number"]
    path = f"/api/v1/studies/{made['study']}/questions/{number}/answer"
    assert voter.post(path, json={"answer": "=1+1"}, headers=SAME).status_code == 200
    assert ',"""=1+1"" > ' in browser.get(f"/api/v1/studies/{made['study']}/export?format=table").text


def test_files_outside_the_static_folder_are_not_served(address: str) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/"):
        assert httpx2.get(address + path, trust_env=False).status_code == 404


# Who may begin studies.


def test_who_may_begin_a_study(store: Store) -> None:
    with served(store, Config("nobody", rates=None)) as address:
        answer = httpx2.post(f"{address}/api/v1/studies", json=NEW, trust_env=False)
        assert answer.status_code == 403
    with served(store, Config("key", "sesame", rates=None)) as address:
        for key, status in (("", 401), ("wrong", 401), ("sesame", 201), ("sésame", 401)):
            headers = {b"Authorization": f"Bearer {key}".encode()} if key else {}
            answer = httpx2.post(f"{address}/api/v1/studies", json=NEW, headers=headers, trust_env=False)
            assert answer.status_code == status
        estimate = httpx2.post(f"{address}/api/v1/estimate", json=NEW, trust_env=False)
        assert estimate.status_code == 401
    with served(store, Config("key", None, rates=None)) as address:
        answer = httpx2.post(f"{address}/api/v1/studies", json=NEW, trust_env=False)
        assert answer.status_code == 401


def test_the_key_is_not_shown() -> None:
    assert "sesame" not in repr(Config("key", "sesame"))


# Limits.


def test_who_calls_too_often_is_told_when_to_come_back(store: Store, study: Study) -> None:
    rates = Rates(link=Rate(0.01, 3), address=Rate(0.01, 8), create=Rate(0.01, 1))
    tokens = [study.new_link("voter", study.add_voter()) for _ in range(2)]
    with served(store, Config(rates=rates)) as address, httpx2.Client(trust_env=False) as client:

        def me(token: str) -> httpx2.Response:
            headers = {"Authorization": f"Bearer {token}"}
            return client.get(f"{address}/api/v1/studies/{study.id}/me", headers=headers)

        assert [me(tokens[0]).status_code for _ in range(4)] == [200, 200, 200, 429]
        refused = me(tokens[0])
        assert refused.headers["content-type"] == "application/problem+json"
        assert int(refused.headers["retry-after"]) > 0
        assert me(tokens[1]).status_code == 200, "one voter's limit is not another's"
        codes = [client.post(f"{address}/api/v1/studies", json=NEW).status_code for _ in range(2)]
        assert codes == [201, 429]
        unknown = [client.get(f"{address}/").status_code for _ in range(8)]
        assert unknown[0] == 200
        assert unknown[-1] == 429, "the address has its own limit"
        assert me(tokens[1]).status_code == 200, "which is not for those whose links are known"
        assert client.get(f"{address}/healthz").status_code == 200


def test_a_hall_behind_one_address_votes_by_an_open_link(store: Store, study: Study) -> None:
    """The open link is in everybody's cookies; before, they all shared its limit, and the address's."""
    rates = Rates(link=Rate(0.01, 5), address=Rate(0.01, 70))
    open_link = study.new_link("open")
    codes = []
    with served(store, Config(rates=rates)) as address:
        for _ in range(12):
            with httpx2.Client(trust_env=False, base_url=address, headers=SAME, timeout=30) as browser:
                browser.get(f"/l/{open_link}")
                browser.post(f"/api/v1/studies/{study.id}/join")
                codes += [browser.post(f"/api/v1/studies/{study.id}/question").status_code for _ in range(4)]
    assert codes == [200] * 48


def test_made_up_tokens_get_no_bucket_and_empty_nobody_elses(store: Store, study: Study) -> None:
    real, guessed = study.new_link("voter", study.add_voter()), study.new_link("organiser")
    app = create_app(store, Config(rates=Rates(link=Rate(0.01, 2))))
    links, addresses = app.state.buckets["link"], app.state.buckets["address"]
    note_link(Request({"type": "http", "app": app}), real, "voter")
    note_link(Request({"type": "http", "app": app}), study.new_link("open"), "open")
    limit = RateLimit(app, app.state.buckets)

    def wait(token: str) -> float:
        headers = [(b"authorization", f"Bearer {token}".encode())]
        client = ("192.0.2.7", 1)
        return limit._wait(
            {"type": "http", "method": "GET", "path": "/", "headers": headers, "client": client}
        )

    assert wait(real) == 0
    assert not addresses._levels, "a link that is known is counted by itself"
    assert wait(guessed) == wait(real[:16] + guessed[16:]) == 0, "the id of a link is no secret"
    assert (len(links._levels), len(addresses._levels)) == (1, 1)
    assert wait(real) > 0


def test_through_a_proxy_nobody_creates_studies_without_the_key(store: Store) -> None:
    """The address that a proxy on this machine calls from is this machine's."""
    through = [{"X-Forwarded-For": "203.0.113.9"}, {"Via": "1.1 caddy"}, {"Host": "duels.example.org"}]
    with served(store, Config(rates=None)) as address, httpx2.Client(trust_env=False, timeout=30) as client:
        path = f"{address}/api/v1/studies"
        assert client.post(path, json=NEW).status_code == 201
        assert [client.post(path, json=NEW, headers=headers).status_code for headers in through] == [403] * 3
        assert "command line" in client.get(f"{address}/new", headers=through[0]).text
    with served(store, Config("local", "sesame", rates=None)) as address:
        path, key = f"{address}/api/v1/studies", {"Authorization": "Bearer sesame"}
        assert httpx2.post(path, json=NEW, headers=through[0], trust_env=False).status_code == 401
        created = httpx2.post(path, json=NEW, headers=through[0] | key, trust_env=False)
        assert created.status_code == 201


@pytest.mark.parametrize(
    "hosts",
    [
        *(
            [host]
            for host in (b"x@evil.example", b"[::1", b"\xff\xfe", b"evil.example:99999999", b"", b"a:b:c")
        ),
        *([host] for host in (b"evil.example", b"localhost.evil.example", b"localhost@evil.example")),
        [b"localhost", b"evil.example"],
        [],
    ],
    ids=repr,
)
def test_a_host_that_makes_no_sense_is_not_this_one(hosts: list[bytes]) -> None:
    assert not is_local(_called_by(hosts))


@pytest.mark.parametrize("host", [b"127.0.0.1:8000", b"[::1]:8000", b"[::1]", b"Localhost", b"localhost:80"])
def test_this_host_is_known_by_its_own_names(host: bytes) -> None:
    assert is_local(_called_by([host]))
    assert not is_local(_called_by([host], "192.0.2.7"))


def _called_by(hosts: list[bytes], client: str = "127.0.0.1") -> Request:
    scope = {"type": "http", "scheme": "http", "server": ("127.0.0.1", 8000), "client": (client, 1)}
    place = {"path": "/metrics", "query_string": b"", "headers": [(b"host", host) for host in hosts]}
    return Request(scope | place)


def test_a_link_has_one_limit_however_it_is_shown(store: Store, study: Study) -> None:
    """What else is in the headers makes nobody a new caller."""
    token = study.new_link("voter", study.add_voter())
    cookie = f"duelmatch-{study.id}-voter={token}"
    shown = [
        {"Authorization": f"Bearer {token}"},
        {"Authorization": f"bearer {token}"},
        {"Cookie": cookie},
        {"Cookie": f"{cookie}; junk=1"},
        {"Cookie": f"junk=2; {cookie}", "Authorization": "Basic junk"},
    ]
    rates = Rates(link=Rate(0.01, 2))
    with served(store, Config(rates=rates)) as address, httpx2.Client(trust_env=False) as client:
        path = f"{address}/api/v1/studies/{study.id}/me"
        codes = [client.get(path, headers=headers).status_code for headers in shown]
    assert codes == [200, 200, 429, 429, 429]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.7", "::ffff:192.0.2.7", True),
        ("192.0.2.7", "192.0.2.8", False),
        ("odd", "odd", True),
    ],
)
def test_an_address_of_ipv6_is_its_network(one: str, other: str, same: bool) -> None:
    assert (network_of(one) == network_of(other)) == same


def test_what_costs_more_has_limits_of_its_own(store: Store, study: Study) -> None:
    rates = Rates(read=Rate(0.01, 1), join=Rate(0.01, 1))
    headers = {"Authorization": f"Bearer {study.new_link('open')}"}
    with served(store, Config(rates=rates)) as address, httpx2.Client(trust_env=False, timeout=120) as client:

        def code(path: str, body: object, headers: dict[str, str] | None = None) -> int:
            return client.post(f"{address}/api/v1/{path}", json=body, headers=headers).status_code

        assert code("estimate", NEW) == 200
        assert code("problems/read", {"text": "candidates: [a]\npositions: [b]"}) == 429
        assert [code(f"studies/{study.id}/join", {}, headers) for _ in range(2)] == [201, 429]


@pytest.mark.parametrize(
    ("believed", "peer", "hops", "caller"),
    [
        ("*", "172.17.0.1", "127.0.0.1, 203.0.113.9", "203.0.113.9"),
        ("*", "172.17.0.1", "203.0.113.9:4711", "203.0.113.9"),
        ("*", "172.17.0.1", "[2001:db8::7]:80", "2001:db8::7"),
        ("*", "172.17.0.1", "", "172.17.0.1"),
        ("127.0.0.1", "127.0.0.1", "10.0.0.1, 203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "203.0.113.9", "127.0.0.1", "203.0.113.9"),
        ("172.16.0.0/12, 10.1.1.1", "172.17.0.1", "8.8.8.8, 203.0.113.9, 10.1.1.1", "203.0.113.9"),
        ("172.16.0.0/12", "::ffff:172.17.0.1", "203.0.113.9", "203.0.113.9"),
        ("172.16.0.0/12", "172.17.0.1", "172.17.0.5, 172.17.0.2", "172.17.0.5"),
        ("", "127.0.0.1", "203.0.113.9", "127.0.0.1"),
    ],
)
def test_strangers_cannot_invent_their_address(believed: str, peer: str, hops: str, caller: str) -> None:
    import asyncio

    seen = {}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.update(scope)

    headers = [(b"x-forwarded-for", hops.encode()), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "scheme": "http", "client": (peer, 1), "headers": headers}
    asyncio.run(Proxies(app, believed)(scope, None, None))  # type: ignore[arg-type]
    assert seen["client"][0] == caller
    forwarded = believed and peer != "203.0.113.9"
    assert seen["scheme"] == ("https" if forwarded else "http")


def test_proxies_are_addresses() -> None:
    with pytest.raises(StoreError, match="addresses or networks"):
        Proxies(None, "my-proxy")  # type: ignore[arg-type]


def test_callers_are_remembered_as_hashes_for_an_hour_at_most() -> None:
    now = 0.0
    buckets = Buckets(Rate(0.0001, 1), lambda: now)
    assert buckets.wait("address 192.0.2.7") == 0
    assert buckets.wait("address 192.0.2.7") > 0
    assert b"192.0.2.7" not in repr(buckets.__dict__).encode()
    key = buckets._key
    now = FORGET_AFTER + 1
    assert buckets.wait("address 192.0.2.7") == 0
    assert buckets._key != key


def test_strangers_do_not_fill_the_memory() -> None:
    buckets = Buckets(Rate(1, 1), lambda: 0.0)
    for number in range(MOST_REMEMBERED + 10):
        buckets.wait(str(number))
    assert len(buckets._levels) == MOST_REMEMBERED


# Logs and metrics.


def test_logs_and_metrics_have_no_secrets(
    address: str, study: Study, caplog: pytest.LogCaptureFixture
) -> None:
    token = study.new_link("organiser")
    with caplog.at_level(logging.INFO, logger="duelmatch.web"):
        httpx2.get(f"{address}/l/{token}?secret=1", trust_env=False)
        headers = {"Authorization": f"Bearer {token}"}
        httpx2.get(f"{address}/api/v1/studies/{study.id}/result", headers=headers, trust_env=False)
        httpx2.get(f"{address}/static/vote.js", trust_env=False)
        httpx2.get(f"{address}/{token}", trust_env=False)
    lines = [
        json.loads(JsonFormatter().format(record)) for record in caplog.records if hasattr(record, "about")
    ]
    assert [(line["operation"], line["status"]) for line in lines] == [
        ("exchange", 303),
        ("result", 200),
        ("static", 200),
        ("other", 404),
    ]
    metrics = httpx2.get(f"{address}/metrics", trust_env=False).text
    assert 'duelmatch_requests_total{method="GET",operation="exchange",status="303"}' in metrics
    for text in (json.dumps(lines), metrics):
        assert token not in text
        assert "secret" not in text
        assert "127.0.0.1" not in text


def test_metrics_are_for_this_machine_unless_said_otherwise(store: Store, address: str) -> None:
    elsewhere = {"X-Forwarded-For": "192.0.2.7"}
    assert httpx2.get(f"{address}/metrics", headers=elsewhere, trust_env=False).status_code == 404
    for name, value in (("X-Forwarded-For", "127.0.0.1"), ("X-Real-IP", "::1"), ("Via", "1.1 proxy")):
        assert httpx2.get(f"{address}/metrics", headers={name: value}, trust_env=False).status_code == 404
    with served(store, Config(metrics="anybody")) as other:
        assert httpx2.get(f"{other}/metrics", headers=elsewhere, trust_env=False).status_code == 200


def test_a_qr_code_is_a_picture_without_anything_else() -> None:
    picture = qr_code("http://127.0.0.1/l/" + "A" * 59)
    assert picture.startswith("<svg")
    assert "style" not in picture
    assert "script" not in picture


def test_the_tests_that_the_documentation_names_are_there() -> None:
    tests = Path(__file__).parents[1]
    page = (tests.parent / "docs" / "serving.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:web|studies)/test_\w+\.py)(?:::(\w+))?`", page)
    assert len(named) > 20
    for file, function in named:
        assert f"def {function}" in (tests / file).read_text(encoding="utf-8"), f"{file}::{function}"
