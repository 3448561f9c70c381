"""What a server allows of everything at once: connections, headers, bodies, states in memory, streams."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import uvicorn
from fastapi import HTTPException

from conftest import PROBLEM
from duelmatch.studies import Settings, Store, Study
from duelmatch.studies import states as states_module
from duelmatch.web import Config, connections, limits
from duelmatch.web.connections import BoundedConnection
from duelmatch.web.events import StreamCount
from duelmatch.web.serving import tell_watchdog


@pytest.fixture(scope="module")
def store(place: tuple[str, Store]) -> Store:
    return place[1]


@pytest.fixture
def study(store: Store) -> Study:
    return store.create(PROBLEM, Settings("condorcet"), "x")


def connected(address: str) -> socket.socket:
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60)


def is_cut_off(client: socket.socket, pieces: Iterable[bytes], seconds: float = 0.0) -> bool:
    """Whether the server ends a connection on which pieces arrive, so many seconds apart."""
    try:
        for piece in pieces:
            client.sendall(piece)
            time.sleep(seconds)
    except OSError:
        return True
    return False


def received(client: socket.socket, pause: float = 0.0) -> bytes:
    """Return what the server sends until it ends the connection, read with pauses."""
    pieces = []
    while piece := client.recv(20_000):
        pieces.append(piece)
        time.sleep(pause)
    return b"".join(pieces)


def test_headers_without_end_are_refused(address: str) -> None:
    with connected(address) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        try:
            for _ in range(10_000):
                client.sendall(b"A: " + b"b" * 10_000 + b"\r\n")
        except OSError:
            pass
        else:
            raise AssertionError("100 MB of headers were taken")
        try:
            received = client.recv(1000)
        except ConnectionResetError:
            return
        assert received.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("begin", [b"", b"GET / HT", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /"])
def test_a_head_that_does_not_come_is_not_waited_for(
    address: str, begin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SLOWEST_HEAD", 0.2)
    with connected(address) as client:
        client.sendall(begin)
        try:
            while client.recv(1000):
                pass
        except ConnectionResetError:
            pass


CHUNKED = (
    b"Host: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0"
)
ANSWERED_AT_ONCE = b"POST /nothing HTTP/1.1\r\n" + CHUNKED
WAITED_FOR = b"POST /api/v1/estimate HTTP/1.1\r\n" + CHUNKED


@pytest.mark.parametrize("begun", [ANSWERED_AT_ONCE, WAITED_FOR])
@pytest.mark.parametrize(
    "pieces",
    [[b"\r\n", b"A: " + b"b" * 10_000 + b"\r\n"], [b"\r\n", b"A" * 10_000], [b";a=", b"a" * 10_000]],
    ids=["trailers", "one trailer", "a chunk's extension"],
)
def test_what_follows_a_body_without_end_is_not_taken(
    address: str, begun: bytes, pieces: list[bytes]
) -> None:
    first, then = pieces
    with connected(address) as client:
        assert is_cut_off(client, [begun + first, *[then] * 10_000])


def test_what_follows_a_body_is_no_header(address: str) -> None:
    with connected(address) as client:
        client.sendall(WAITED_FOR + b"\r\nAuthorization: Bearer x\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 4")
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"200 OK" in client.recv(1000), "the connection goes on"


@pytest.mark.parametrize("piece", [b"A: b\r\n", b"\r\n"])
def test_the_rest_of_what_was_answered_is_not_waited_for(
    address: str, piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SLOWEST_HEAD", 0.2)
    with connected(address) as client:
        assert is_cut_off(client, [ANSWERED_AT_ONCE + b"\r\n", *[piece] * 600], 0.05)


def test_a_body_that_does_not_come_is_not_waited_for(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SLOWEST_BODY", 0.2)
    with connected(address) as client:
        head = b"POST /api/v1/estimate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        client.sendall(head + b"Content-Length: 1000\r\n\r\n{")
        assert client.recv(1000).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 2000000\r\n\r\n{",
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (64_001, b" " * 64_001),
    ],
    ids=["announced", "chunked"],
)
def test_the_rest_of_a_large_body_is_not_waited_for(
    address: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SLOWEST_BODY", 0.2)
    with connected(address) as client:
        client.settimeout(20)
        head = b"POST /api/v1/estimate HTTP/1.1\r\nHost: example.org\r\nContent-Type: application/json\r\n"
        client.sendall(head + body)
        answer = received(client)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in answer.lower()


ALIVE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def test_some_requests_may_be_sent_before_the_first_is_answered(address: str) -> None:
    last = ALIVE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with connected(address) as client:
        client.sendall(ALIVE * connections.MOST_PIPELINED + last)
        assert received(client).count(b"200 OK") == connections.MOST_PIPELINED + 1


def test_requests_without_end_are_not_queued(address: str) -> None:
    with connected(address) as client:
        client.settimeout(20)
        try:
            client.sendall(ALIVE * 2_000)
            answers = received(client)
        except ConnectionError:
            return
        assert answers.count(b"HTTP/1.1 ") <= connections.MOST_PIPELINED + 2
        assert b"HTTP/1.1 400 " in answers


LARGE = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def test_a_response_that_nobody_reads_is_not_waited_for(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SLOWEST_READER", 0.2)
    parts = urlsplit(address)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(20)
        client.connect((parts.hostname, parts.port))
        assert is_cut_off(client, [LARGE * 10] * 10, 0.3)


@contextmanager
def answering(app: Any) -> Iterator[tuple[uvicorn.Server, socket.socket]]:
    """Serve any application; give the server and a client whose buffers, like the server's, take little."""
    config = uvicorn.Config(app, log_level="error", lifespan="off", ws="none", http=BoundedConnection)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as client:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(20)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            client.connect(listener.getsockname())
            yield server, client
        finally:
            client.close()
            server.force_exit = server.should_exit = True
            thread.join()


def ends_soon(going_on: Collection[object]) -> bool:
    """Whether nothing of this goes on any more, before long."""
    end = time.monotonic() + 8
    while going_on and time.monotonic() < end:
        time.sleep(0.05)
    return not going_on


def test_what_was_being_answered_ends_with_its_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Another request that waits behind it is the last that the connection knows of."""

    async def endless(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(1_000):
            await send({"type": "http.response.body", "body": bytes(1_000_000), "more_body": True})

    monkeypatch.setattr(connections, "SLOWEST_READER", 0.2)
    with answering(endless) as (server, client):
        monkeypatch.setattr(logging.getLogger("uvicorn"), "propagate", True)
        client.sendall(ALIVE * 2)
        assert client.recv(1)
        assert ends_soon(server.server_state.tasks)
    assert not caplog.records


@pytest.mark.parametrize("ending", [b"", b"Connection: close\r\n"])
def test_the_unread_rest_of_a_response_is_not_waited_for(
    ending: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is too small for the transport to say that it waits."""

    async def short(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(60_000)})

    monkeypatch.setattr(connections, "SLOWEST_READER", 0.2)
    with answering(short) as (server, client):
        client.sendall(ALIVE[:-2] + ending + b"\r\n")
        assert client.recv(1)
        assert ends_soon(server.server_state.connections)


def test_a_response_that_is_read_slowly_is_sent_to_its_end(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SLOWEST_READER", 0.3)
    monkeypatch.setattr(connections, "LEAST_READ", 1)
    last = LARGE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with connected(address) as client:
        client.sendall(LARGE * 10 + last)
        assert received(client, 0.005).count(b"200 OK") == 11


def test_a_stream_of_events_goes_on_as_long_as_it_is_read(
    address: str, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SLOWEST_READER", 0.1)
    shown = {"Authorization": f"Bearer {study.new_link('organiser')}"}
    path = f"{address}/api/v1/studies/{study.id}/events"
    with httpx2.stream("GET", path, trust_env=False, timeout=20, headers=shown) as stream:
        lines = (line for line in stream.iter_lines() if line.startswith("id: "))
        first = next(lines)
        study.add_voter()
        assert next(lines) != first


def test_there_are_so_many_connections_and_no_more(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with httpx2.Client(trust_env=False, base_url=address) as client:
        assert client.get("/healthz").status_code == 200
        monkeypatch.setattr(connections, "MOST_CONNECTIONS", 0)
        with pytest.raises(httpx2.TransportError):
            httpx2.get(f"{address}/healthz", trust_env=False)
        assert client.get("/healthz").status_code == 200, "who is connected stays so"


def test_states_in_memory_are_bounded_by_what_they_take(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = (store.create(PROBLEM, Settings("condorcet"), "x") for _ in range(3))
    monkeypatch.setattr(states_module, "MOST_BYTES", 20_000)
    first.status()
    second.status()
    assert store.states.known(first.id)
    for _ in range(40):
        second.add_voter()
    third.status()
    assert [store.states.known(study.id) for study in (first, second, third)] == [False, False, True]
    assert first.status().voters == 0
    assert second.status().voters == 40


def test_the_voters_of_one_study_leave_streams_for_others(study: Study) -> None:
    count, config = StreamCount(), Config(streams=4, streams_per_link=4)
    for number in range(2):
        count.begin(f"voter {number}", study.id, config)
    with pytest.raises(HTTPException):
        count.begin("voter 3", study.id, config)
    for number in range(2):
        count.begin(f"other {number}", "another", config)
    for number in range(4):
        count.begin(f"organiser {number}", None, config)
    with pytest.raises(HTTPException):
        count.begin("organiser 5", None, config)
    count.end("voter 0", study.id)
    count.begin("voter 3", study.id, config)


def test_the_dashboard_shows_the_latest_reports_and_how_many_more_there_are(
    address: str, study: Study
) -> None:
    for _ in range(21):
        voter = study.add_voter()
        for number in range(5):
            study.report(voter, "ann", "other", f"{number}")
    shown = {"Authorization": f"Bearer {study.new_link('organiser')}"}
    with httpx2.Client(trust_env=False, base_url=address, timeout=60, headers=shown) as client:
        page = client.get(f"/studies/{study.id}").text
        assert page.count("/resolve") == 100
        assert "5 more, from before these" in page
        reports = f"/api/v1/studies/{study.id}/reports"
        listed = client.get(reports).json()
        assert len(listed) == 100
        assert len(client.get(reports, params={"before": listed[-1]["entry"]}).json()) == 5


def test_systemd_is_told_that_the_loop_is_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    path = f"{tmp_path}/notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(path)
        monkeypatch.setitem(os.environ, "NOTIFY_SOCKET", path)
        asyncio.run(tell_watchdog())
        assert systemd.recv(100) == b"WATCHDOG=1"
