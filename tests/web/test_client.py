"""The client, against a real server; and against one that is busy, broken or gone."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import duelmatch as dm
from cases import each
from duelmatch.client import Client, NoQuestion, Question, StudyResult
from duelmatch.errors import ConflictError, NotAllowedError, NotThereError, ServerError, StudyError
from duelmatch.studies import Store
from duelmatch.web import Config
from duelmatch.web.config import Rate, Rates
from web.running import served

TEAM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])


@pytest.fixture
def client(place: tuple[str, Store]) -> Client:
    return Client(place[0])


def test_a_panel_decides_and_the_organiser_looks_after_it(client: Client) -> None:
    study = client.create("Who does what?", TEAM, ["Eve", {"name": "Ned", "weight": 2}], {"skips": True})
    assert (study.problem(), repr(study)) == (TEAM, f"<Organiser of study {study.id}>")
    assert study.result(wait=0).standings is None, "nobody has waited for an estimate"
    before = study.result()
    assert before.status == "undecided"  # an open study has not spent its budget
    assert len(before.waiting_for) == 2
    eve, ned = (client.voter(study.id, invited.token) for invited in study.invited)
    question = eve.ask()
    assert isinstance(question, Question)
    assert eve.ask() == question
    eve.skip(question, "cannot say")
    question = eve.ask()
    assert isinstance(question, Question)
    receipt = eve.tell(question, [question.candidates])
    assert (receipt.winner, receipt.answer) == (None, (tuple(sorted(question.candidates)),))
    assert eve.tell(question, None).repeated
    with pytest.raises(ConflictError, match="answered already"):
        eve.tell(question, question.first)
    with pytest.raises(StudyError, match="zoe"):
        eve.tell(question, "zoe")
    assert eve.receipt(question.id).hash == receipt.hash
    assert eve.undo(receipt) == question
    eve.tell(question, question.first)
    for voter in (ned, eve):
        while isinstance(question := voter.ask(), Question):
            voter.tell(question, sorted(question.candidates))
    assert ned.ask() == NoQuestion("done")
    result = study.result()
    assert result.status in ("decided", "unbeaten")
    assert result.matching in ({"chair": "ann", "editor": "bob"}, {"chair": "bob", "editor": "ann"})
    assert (result.error_allowed, study.progress().done) == (0, True)
    given = {voter.name: voter.answers for voter in study.voters()}
    assert given == {voter.name: len(list(study.answers(voter.id))) for voter in study.voters()}
    entries = [answer.entry for answer in study.answers()]
    assert entries == sorted(entries, reverse=True)
    ned_id = study.invited[1].voter
    study.strike(ned_id)
    assert study.progress().answers == given["Eve"]
    study.reinstate(ned_id)
    study.leave(study.invited[0].voter, "dropped")
    study.add("dan", ["chair"])
    study.drop("dan")
    assert study.result().dropped == ("dan",)
    late = client.voter(study.id, study.invite("Zoe", conflicts=["ann"]).token)
    assert late.progress().voters == 3
    late.conflict(["bob"])
    joined = client.join(study.id, study.open_link(judges=True))
    assert joined.progress().voters == 4
    study.change_phase("close")
    assert isinstance(ned.ask(), NoQuestion)
    assert study.export("csv").startswith("voter,")
    assert client.organiser(study.id, study.token).result().hash == study.result().hash


def test_standings_come_with_their_probabilities(client: Client) -> None:
    study = client.create(
        "Crowd", dm.Problem.complete(["ann", "bob"], ["chair"]), settings={"algorithm": "borda"}
    )
    voter = client.voter(study.id, study.invite().token)
    question = voter.ask()
    assert isinstance(question, Question)
    voter.tell(question, "ann")
    deadline = time.monotonic() + 60
    while (standings := study.standings()) is None:  # they take a moment
        assert time.monotonic() < deadline
    assert standings.leader == {"chair": "ann"}
    assert standings.probability["ann", "chair"] > 0.5 > standings.probability["bob", "chair"]


def test_lists_are_read_page_by_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    study = client.create("Who does what?", TEAM, [f"judge {number}" for number in range(7)])
    monkeypatch.setattr("duelmatch.client.PAGE", 3)
    assert [voter.name for voter in study.voters()] == [f"judge {number}" for number in range(7)]
    for invited in study.invited[:4]:
        voter = client.voter(study.id, invited.token)
        question = voter.ask()
        assert isinstance(question, Question)
        voter.tell(question, question.first)
    assert len(list(study.answers())) == 4
    assert len(list(study.answers(study.invited[0].voter))) == 1


def test_refusals_are_raised_as_the_library_would(client: Client) -> None:
    study = client.create("Who does what?", TEAM, ["Eve"])
    eve = client.voter(study.id, study.invited[0].token)
    question = eve.ask()
    assert isinstance(question, Question)
    with pytest.raises(StudyError, match="zoe"):
        eve.tell(question, "zoe")
    with pytest.raises(NotThereError):
        eve.receipt(12)
    with pytest.raises(NotAllowedError, match="Only the organiser can do this"):
        client.organiser(study.id, eve.token).result()
    with pytest.raises(NotAllowedError, match="A valid link for this study is needed"):
        client.voter("0" * 16, eve.token).ask()
    eve.skip(question)
    with pytest.raises(ConflictError, match="skipped"):
        eve.tell(question, "ann")
    with pytest.raises(StudyError, match="name"):
        client.create("", TEAM)


@contextmanager
def answering(*answers: tuple[int, dict[str, str], Any]) -> Iterator[tuple[str, list[str]]]:
    """Give the address of a server that answers like this, in turn, and the paths it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = answers[min(len(asked), len(answers) - 1)]
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            if status == 0:
                self.connection.close()
                return
            self.send_response(status)
            for name, value in (
                {"Content-Type": "application/json", "Content-Length": str(len(data))} | headers
            ).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/below", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


NOTHING = {"number": None, "reason": "waiting"}
BUSY = {"detail": "Too often."}


def test_a_busy_server_is_asked_again_when_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("duelmatch.client.sleep", waits.append)
    busy = [(429, {"Retry-After": "7"}, BUSY), (503, {}, BUSY), (0, {}, b""), (200, {}, NOTHING)]
    with answering(*busy) as (address, asked):
        assert Client(address).voter("s", "t").ask() == NoQuestion("waiting")
    assert asked == ["/below/api/v1/studies/s/question"] * 4
    assert waits[0] == 7
    assert len(waits) == 3


@each(
    ("answer", "sentence"),
    [
        ((429, {"Retry-After": "600"}, BUSY), "Too often."),
        ((502, {}, b"<html>"), "answers with status 502"),
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), "answers with status 302"),
        ((200, {}, b"{"), "not understood"),
        ((200, {}, {"name": "x"}), "StudyProgress lacks"),
    ],
)
def test_what_a_server_cannot_say_is_an_error(answer: tuple[int, dict[str, str], Any], sentence: str) -> None:
    with answering(answer) as (address, asked):
        with pytest.raises(ServerError, match=sentence):
            Client(address).voter("s", "t").progress()
        assert len(asked) == 1


def test_what_must_not_be_done_twice_is_not_sent_twice() -> None:
    for lost in ((0, {}, b""), (503, {}, BUSY)):
        with answering(lost) as (address, asked):
            with pytest.raises(ServerError):
                Client(address).organiser("s", "t").invite("Eve")
            assert len(asked) == 1


def test_what_is_of_another_type_is_refused(client: Client) -> None:
    with pytest.raises(dm.ProblemError, match="A study needs a Problem, not None"):
        client.create("x", None)  # type: ignore[arg-type]
    for voters, sentence in ((5, "a list of names, not 5"), ("eve", "a list of names"), ([5], "not 5")):
        with pytest.raises(StudyError, match=sentence):
            client.create("x", TEAM, voters)  # type: ignore[arg-type]


def test_a_page_of_a_server_is_not_its_address(place: tuple[str, Store]) -> None:
    with pytest.raises(ServerError, match="/nope has no studies: is it the address of a duelmatch server"):
        Client(f"{place[0]}/nope").create("x", TEAM)


def test_a_server_that_is_not_there_and_an_address_that_is_none_are_refused() -> None:
    with pytest.raises(
        ServerError, match=r"127\.0\.0\.1:1 does not answer: no server listens there\. Is .* running\?$"
    ):
        Client("http://127.0.0.1:1", patience=0).voter("s", "t").ask()
    with pytest.raises(ServerError, match="is not the address of a server"):
        Client("127.0.0.1:8000")


def test_rate_limits_are_kept(tmp_path: Path) -> None:
    config = Config(rates=Rates(link=Rate(20, 1)))
    with Store(f"sqlite:///{tmp_path}/duels.db") as store, served(store, config) as address:
        study = Client(address).create("Who does what?", TEAM, ["Eve"])
        for _ in range(3):
            assert isinstance(study.result(), StudyResult)
        impatient = Client(address, patience=0).organiser(study.id, study.token)
        with pytest.raises(ServerError, match="often"):
            [impatient.progress() for _ in range(20)]


def test_what_cannot_be_sent_is_said_without_the_token(client: Client) -> None:
    study = client.create("x", TEAM, ["Eve"])
    eve = client.voter(study.id, study.invited[0].token)
    question = eve.ask()
    assert isinstance(question, Question)
    for token in (f"{eve.token}\n", f"{eve.token} x", f"{eve.token}\x00", f"{eve.token}é"):
        for refused in (client.voter(study.id, token).ask, Client("http://127.0.0.1:1", token).create):
            arguments = () if refused.__name__ == "ask" else ("x", TEAM)
            with pytest.raises(NotAllowedError, match="no token") as caught:
                refused(*arguments)  # type: ignore[operator]
            assert eve.token not in str(caught.value)
    for no_question, sentence in ((NoQuestion("done"), "no question to answer now: done"), (99, "not 99")):
        for act in (lambda: eve.tell(no_question, "ann"), lambda: eve.skip(no_question)):  # type: ignore[arg-type] # noqa: B023
            with pytest.raises(StudyError, match=sentence):
                act()
    for answer in (99, [99], [["ann", 99]]):
        with pytest.raises(StudyError, match="An answer is a name"):
            eve.tell(question, answer)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="the receipt that tell"):
        eve.undo(question)  # type: ignore[arg-type]
