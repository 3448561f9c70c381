"""Webhooks: a real receiver is told what is decided, once and signed, and nobody waits for it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

import duelmatch as dm
from cases import each
from duelmatch.client import Client, Organiser, Question
from duelmatch.errors import NotAllowedError, NotThereError, StudyError
from duelmatch.studies import Store
from duelmatch.verify import verify
from duelmatch.web import Config
from duelmatch.web.webhooks import deliver, is_public
from web.running import served

PROBLEM = dm.Problem.from_edges([("ann", "chair"), ("bob", "chair"), ("cyd", "editor"), ("dan", "editor")])


class Receiver:
    """A program that is told things; ``answer`` says with which status it answers the n-th request."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.answer: Callable[[int], int] = lambda _: 204
        self.release = threading.Event()
        self.release.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.requests.append((headers | {"path": self.path}, body))
                status = receiver.answer(len(receiver.requests))
                receiver.release.wait(60)
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self._thread = threading.Thread(target=self.server.serve_forever)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?x=1"

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.requests]

    def close(self) -> None:
        self.release.set()
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = tmp_path_factory.mktemp("webhooks") / "duels.db"
    quick = pytest.MonkeyPatch()
    quick.setattr("duelmatch.web.webhooks.LOOK_EVERY", 0.05)
    quick.setattr("duelmatch.web.webhooks.DELAYS", (0.05, 0.1))
    for limit in ("TIMEOUT", "LONGEST"):  # what hangs is to hang for as long as a test looks at it
        quick.setattr(f"duelmatch.web.webhooks.{limit}", 60.0)
    anywhere = Config(rates=None, webhooks="anywhere")
    with Store(f"sqlite:///{file}") as one, Store(f"sqlite:///{file}") as other:
        with served(one, anywhere) as address, served(other, anywhere) as beside:
            both = Client(beside).create("Beside", PROBLEM, ["Eve"])
            both.set_webhook("http://127.0.0.1:1/")  # so that the server beside looks, too
            yield address
        quick.undo()


@pytest.fixture
def study(address: str) -> Organiser:
    return Client(address).create("Who does what?", PROBLEM, ["Eve"])


def until(happened: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (found := happened()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def vote(address: str, study: Organiser) -> None:
    """Let Eve answer everything."""
    eve = Client(address).voter(study.id, study.invited[0].token)
    while isinstance(question := eve.ask(), Question):
        eve.tell(question, min(question.candidates))


def test_what_is_decided_is_told_once_in_order_and_signed(
    address: str, study: Organiser, receiver: Receiver
) -> None:
    secret = study.set_webhook(receiver.url)
    vote(address, study)
    study.change_phase("close")
    until(lambda: receiver.events and receiver.events[-1]["event"] == "closed")
    events = receiver.events
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    kinds = [event["event"] for event in events]
    assert kinds[-2:] == ["decided", "closed"]
    decided = {event["position"]: event["candidates"] for event in events if "position" in event}
    assert decided == {"chair": "ann", "editor": "cyd"}
    result = study.result()
    assert events[-1]["result"] == {"status": result.status, "matching": dict(result.matching or {})}
    assert (events[-1]["study"], events[-1]["hash"]) == (study.id, result.hash)
    for headers, body in receiver.requests:
        at = headers["webhook-timestamp"]
        signed = f"{headers['webhook-id']}.{at}.".encode() + body
        key = base64.b64decode(secret.removeprefix("whsec_"))
        mac = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        assert headers["webhook-signature"] == f"v1,{mac}"
        assert abs(time.time() - int(at)) < 300
        assert headers["path"] == "/hook?x=1"
    shown = study._get("/webhook")
    assert shown == {"url": receiver.url, "failure": None}
    assert not any(part in study.export() for part in ("/hook", receiver.url, secret))
    study.change_phase("reopen")
    until(lambda: receiver.events[-1]["event"] == "opened")
    assert len({headers["webhook-id"] for headers, _ in receiver.requests}) == len(receiver.requests)
    study._post("/webhook/remove")
    with pytest.raises(NotThereError, match="no webhook"):
        study._get("/webhook")
    study._post("/webhook/remove")
    entries = [json.loads(line) for line in study.export().splitlines()]
    trail = [(entry["data"], entry["by"]) for entry in entries if entry["kind"] == "webhook"]
    assert trail == [({"set": True}, study.token[:16]), ({"set": False}, study.token[:16])]
    assert verify(study.export().splitlines()).damage is None


def test_a_receiver_that_fails_is_told_again_with_the_same_id(study: Organiser, receiver: Receiver) -> None:
    receiver.answer = lambda number: 500 if number <= 2 else 200
    study.set_webhook(receiver.url)
    study.change_phase("pause")
    until(lambda: len(receiver.requests) == 3)
    assert len({headers["webhook-id"] for headers, _ in receiver.requests}) == 1
    until(lambda: study._get("/webhook")["failure"] is None)


def test_an_event_is_given_up_in_the_end_and_redirects_are_not_followed(
    study: Organiser, receiver: Receiver
) -> None:
    receiver.answer = lambda number: 302 if number <= 3 else 200
    study.set_webhook(receiver.url)
    study.change_phase("pause")
    until(lambda: len(receiver.requests) == 3)
    until(lambda: study._get("/webhook")["failure"] == "It answered with status 302.")
    study.change_phase("close")
    until(lambda: len(receiver.requests) == 4)
    assert [event["event"] for event in receiver.events] == ["paused"] * 3 + ["closed"]
    assert {headers["path"] for headers, _ in receiver.requests} == {"/hook?x=1"}


def test_nobody_waits_for_a_receiver_that_hangs(address: str, study: Organiser, receiver: Receiver) -> None:
    receiver.release.clear()
    study.set_webhook(receiver.url)
    study.change_phase("pause")
    until(lambda: receiver.requests)
    study.change_phase("resume")
    vote(address, study)
    assert study.progress().done
    assert len(receiver.requests) == 1  # which still hangs
    receiver.release.set()
    until(lambda: "decided" in [event["event"] for event in receiver.events])


def test_only_public_addresses_are_called_unless_the_server_allows_others(
    place: tuple[str, Store], receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duelmatch.web.webhooks.LOOK_EVERY", 0.05)
    study = Client(place[0]).create("Who does what?", PROBLEM, ["Eve"])
    for host in ("127.0.0.1", "[::1]", "10.1.2.3", "169.254.169.254", "[::ffff:127.0.0.1]"):
        with pytest.raises(NotAllowedError, match="is not an address of the public internet"):
            study.set_webhook(f"http://{host}:{receiver.port}/")
    study.set_webhook(f"http://localhost:{receiver.port}/")  # whose address is not known before it is called
    study.change_phase("pause")
    failure = until(lambda: study._get("/webhook")["failure"])
    assert "is not an address of the public internet" in failure
    known = socket.getaddrinfo
    monkeypatch.setattr(  # a name that led elsewhere when somebody looked
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: known("127.0.0.1" if host == "rebinding.test" else host, *rest, **more),
    )
    study.set_webhook(f"http://rebinding.test:{receiver.port}/")
    study.change_phase("resume")
    until(lambda: study._get("/webhook")["failure"])
    assert receiver.requests == []


@each(
    "url",
    [
        "ftp://example.org/",
        "https://",
        "example.org",
        "https://me:word@example.org/",
        "https://example.org/a b",
        "https://example.org:99999/",
        "https://example.org/#part",
        "http://exämple.org/\r\nX: y",
        "http://exam\x00ple.org/",
        "http://example.org/\x7f",
        "https://example.org/é",
        "https://example\u202e.org/",
    ],
)
def test_what_is_no_address_is_refused(study: Organiser, url: str) -> None:
    with pytest.raises(StudyError, match="A webhook is an address"):
        study.set_webhook(url)


def test_a_certificate_that_nobody_vouches_for_is_refused_and_that_is_said(
    address: str, study: Organiser, receiver: Receiver, tmp_path: Path
) -> None:
    """Whoever is between the server and the receiver could have made it."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = (
        "openssl req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -days 2 -subj /CN=127.0.0.1"
    )
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    receiver.server.socket = context.wrap_socket(receiver.server.socket, server_side=True)
    study.set_webhook(receiver.url.replace("http:", "https:"))
    study.change_phase("pause")
    failure = until(lambda: study._get("/webhook")["failure"])
    assert "self-signed certificate" in failure
    assert not receiver.requests
    page = Request(f"{address}/studies/{study.id}", headers={"Authorization": f"Bearer {study.token}"})
    with urlopen(page) as response:
        assert "self-signed certificate" in response.read().decode()
    study._post("/webhook/remove")


@each(
    "url",
    [
        "http://exam\x00ple.org/",
        f"http://{'a' * 70}.org/",
        "http://127.0.0.1:1/",
        "http://[::1/",
        "http://x:y/",
    ],
)
def test_whatever_goes_wrong_is_said(url: str) -> None:
    assert deliver(url, {}, b"{}", only_public=False)


@each(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("192.168.1.1", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b:1::7f00:1", False),
        ("64:ff9b:2::1", True),
        ("fec0::1", False),
        ("::127.0.0.1", False),
        ("::8.8.8.8", False),
    ],
)
def test_what_is_public(address: str, public: bool) -> None:
    assert is_public(address) is public
