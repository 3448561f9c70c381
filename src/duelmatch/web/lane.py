"""The fast lane: the two requests that every vote is made of, answered without going through the framework.

What is served here is what nothing is wrong with: a voter's own token, a duel, an answer. All else goes the
long way, through :mod:`duelmatch.web.api`, which says no where it must; so there is one place that refuses,
and both ways give the same answers. The lane needs no thread for a request: it waits in the event loop until
the transaction is on disk that did the work of many.
"""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import Future
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duelmatch.errors import DuelmatchError
from duelmatch.studies import Nothing, Question, Receipt, Store, Study
from duelmatch.studies.desk import Desk, Think
from duelmatch.studies.texts import LARGEST_NUMBER
from duelmatch.web import api, models
from duelmatch.web.cookies import remembered
from duelmatch.web.mail import Mail
from duelmatch.web.problems import refusal

Returned = TypeVar("Returned")

_PATH = re.compile(r"/api/v1/studies/([0-9a-f]{16})/(?:duel|duels/([1-9][0-9]{0,9})/answer)")


class Lane:
    """Answers the requests of voters, or passes them on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._mail: Mail | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on as it came."""
        found = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if found is None or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        store: Store = scope["app"].state.store
        study = store.known(found[1])
        token = _token(Request(scope), found[1])
        if study is None or token is None:
            await self._app(scope, receive, send)
            return
        read: list[Message] = []
        sent: models.Duel | models.Kept | None = None
        try:
            if found[2] is None:
                sent = await self._ask(study, token)
            else:
                sent = await self._tell(study, token, int(found[2]), await _body(scope, receive, read))
        except (DuelmatchError, ValidationError):
            pass  # it is refused on the long way
        except HTTPException as error:  # the body is too large
            await refusal(error.status_code, error.detail, dict(error.headers or {}))(scope, receive, send)
            return
        if sent is None:
            await self._app(scope, _again(read, receive), send)
            return
        scope["endpoint"] = api.next_duel if found[2] is None else api.answer
        await _send(sent, send)

    async def _ask(self, study: Study, token: str) -> models.Duel | None:
        def work(desk: Desk) -> Question | Nothing | Think | None:
            voter = desk.voter_with(token)
            return None if voter is None else desk.ask(voter)

        while True:
            asked = await self._done(study.submit(work))
            match asked:
                case None:
                    return None
                case Question():
                    return models.Duel.of(asked)
                case Nothing():
                    return models.Duel(reason=asked.reason)
            await self._done(study.store.think(study.id))

    async def _tell(self, study: Study, token: str, number: int, body: bytes | None) -> models.Kept | None:
        if body is None or number > LARGEST_NUMBER:
            return None
        winner = models.Answer.model_validate_json(body).winner
        if winner is None and not study.settings.ties:
            return None

        def work(desk: Desk) -> Receipt | None:
            voter = desk.voter_with(token)
            return None if voter is None else desk.tell(voter, number, winner)

        receipt = await self._done(study.submit(work))
        return None if receipt is None else models.Kept.of(receipt)

    def _done(self, work: Future[Returned]) -> asyncio.Future[Returned]:
        if self._mail is None:
            self._mail = Mail()
        return self._mail.bring(work)


def _token(request: Request, study: str) -> str | None:
    """Return the token of a voter's link, if there is just that."""
    authorization = request.headers.get("authorization")
    if authorization is None:
        return remembered(request, study, "voter")
    scheme, _, token = authorization.partition(" ")
    return token if scheme == "Bearer" else None


async def _body(scope: Scope, receive: Receive, read: list[Message]) -> bytes | None:
    """Return a body of JSON; None if it is said to be something else."""
    if dict(scope["headers"]).get(b"content-type") != b"application/json":
        return None
    while not read or read[-1].get("more_body"):
        read.append(await receive())
    return b"".join(message.get("body", b"") for message in read)


def _again(read: list[Message], receive: Receive) -> Receive:
    """Give what was read once more, and then the rest."""
    messages = iter(read)

    async def received() -> Message:
        return next(messages, None) or await receive()

    return received


async def _send(content: BaseModel, send: Send) -> None:
    body = content.model_dump_json().encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
