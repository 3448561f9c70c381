"""A vote: the next question and its answer, which are nearly all requests there are.

They are served before the routes are looked through: no worker thread and no dependencies, just one await
until the transaction that serves many voters at once is on disk. Everything else about them is as for the
operations in :mod:`duelmatch.web.voters`: the same refusals, and a place in the OpenAPI description.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from duelmatch.errors import NotAllowedError
from duelmatch.studies import LARGEST_NUMBER, Access, Feed, Nothing, Question, Receipt, Store, Study
from duelmatch.web import models
from duelmatch.web.access import ONLY_VOTERS, access_of, bearer_token, note_link, remembered
from duelmatch.web.problems import REFUSALS, documented, reason_of, refusal

Returned = TypeVar("Returned")
Body = TypeVar("Body", bound=BaseModel)
Waiting = asyncio.Future[Any]

LONGEST_WAIT = 5.0
"""Seconds for a transaction. A database that has stopped without a word never ends it, nor the wait."""

NOT_YET = (
    "The server does not get an answer from its database in time, or is still at work on this study. Send "
    "the same again in a moment: an answer counts once."
)

router = APIRouter(prefix="/studies/{study}", tags=["voter"], responses=documented(401, 404))

_STUDY = {
    "name": "study",
    "in": "path",
    "required": True,
    "description": "The id of the study.",
    "schema": {"type": "string", "pattern": models.ID},
}
_NUMBER = {
    "name": "number",
    "in": "path",
    "required": True,
    "schema": {"type": "integer", "minimum": 1, "maximum": LARGEST_NUMBER},
}
_ANSWER = {
    "content": {"application/json": {"schema": models.VoterAnswer.model_json_schema()}},
    "required": True,
}
_SECURED: dict[str, Any] = {"security": [{"HTTPBearer": []}]}
"""In the OpenAPI description, which FastAPI cannot tell from the functions."""


@router.post("/question", response_model=models.Question, openapi_extra={"parameters": [_STUDY], **_SECURED})
async def next_question(request: Request) -> Response:
    """Return my open question, or the next one; asked again, it is the same."""
    asked = await _as_voter(request, lambda feed, voter: feed.ask(voter))
    return _sent(models.Question.model_validate(asked))


@router.post(
    "/questions/{number}/answer",
    response_model=models.Kept,
    responses=documented(409),
    openapi_extra={"parameters": [_STUDY, _NUMBER], "requestBody": _ANSWER, **_SECURED},
)
async def answer(request: Request) -> Response:
    """Answer a question of mine, and perhaps get the next one.

    When this returns, the answer is on disk. Sent twice, it counts once. In a secret study the first answer
    stays whatever is sent after it, and the receipt does not say what it was: else whoever has a copy of the
    link could try.
    """
    number = _number(request.path_params["number"])
    body = await _body(request, models.VoterAnswer)

    def work(feed: Feed, voter: str) -> tuple[Receipt, Question | Nothing | None, bool]:
        given = voter, number, body.said
        receipt, asked = feed.tell_and_ask(*given) if body.next else (feed.tell(*given), None)
        return receipt, asked, feed.state.settings.secret

    receipt, asked, secret = await _as_voter(request, work)
    following = None if asked is None else models.Question.model_validate(asked)
    return _sent(models.Kept.of_study(receipt, secret, next=following))


class DirectVotes:
    """Serves the two, and passes all other requests on."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._path = re.compile(f"{prefix}/studies/(?P<study>[^/]+)/question(s/(?P<number>[^/]+)/answer)?")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request that is part of a vote."""
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        if not is_post or (found := self._path.fullmatch(scope["path"])) is None:
            await self._app(scope, receive, send)
            return
        operation = next_question if found["number"] is None else answer
        scope["endpoint"], scope["path_params"] = operation, found.groupdict()
        try:
            response = await operation(Request(scope, receive))
        except REFUSALS as error:
            response = refusal(*reason_of(error))
        await response(scope, receive, send)


async def _as_voter(request: Request, work: Callable[[Feed, str], Returned]) -> Returned:
    """Do some work for the calling voter, in the transaction that also looks the token up."""
    store: Store = request.app.state.store
    study_id = request.path_params["study"]
    shown = bearer_token(request.headers)
    token = remembered(request, study_id, "voter") if shown is None else shown
    study = store.known(study_id)
    if study is None or token is None:  # the first request, or one that will be refused
        study = await run_in_threadpool(_found, request, store, study_id)

    def work_of_voter(feed: Feed, access: Access) -> tuple[Returned] | None:
        return None if access.voter is None else (work(feed, access.voter),)

    try:
        waiting, succeed, fail = _bridge(request).expect()
        study.submit_as(token or "", work_of_voter, succeed, fail)
        async with asyncio.timeout(LONGEST_WAIT):
            done: tuple[Returned] | None = await waiting
    except TimeoutError:
        raise HTTPException(503, NOT_YET, {"Retry-After": "2"}) from None
    except NotAllowedError:
        await run_in_threadpool(access_of, request, store, study_id)  # refuses if it was for the token
        raise
    if done is None:
        raise HTTPException(403, ONLY_VOTERS)
    note_link(request, token or "", "voter")
    return done[0]


def _found(request: Request, store: Store, study_id: str) -> Study:
    """Return the study of which a voter is calling, and refuse everybody else."""
    if "voter" not in access_of(request, store, study_id):
        raise HTTPException(403, ONLY_VOTERS)
    return store.study(study_id)


def _bridge(request: Request) -> LoopBridge:
    """Return what brings results to this event loop."""
    state = request.app.state
    if state.bridge is None or state.bridge.loop is not asyncio.get_running_loop():
        state.bridge = LoopBridge()
    bridge: LoopBridge = state.bridge
    return bridge


class LoopBridge:
    """Makes what other threads do awaitable in the event loop in which it is created.

    Results are delivered in batches: waking the loop for every one would take the interpreter away from the
    thread that is at work, and a commit finishes dozens of them at once.
    """

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._finished: deque[tuple[Waiting, Any, BaseException | None]] = deque()
        self._lock = threading.Lock()

    def expect(self) -> tuple[Waiting, Callable[[Any], None], Callable[[BaseException], None]]:
        """Return a future of the event loop, and what another thread calls with its result or exception."""
        waiting = self.loop.create_future()
        return waiting, partial(self._finish, waiting), partial(self._finish, waiting, None)

    def _finish(self, waiting: Waiting, result: Any, error: BaseException | None = None) -> None:
        with self._lock:
            self._finished.append((waiting, result, error))
            first = len(self._finished) == 1
        if first:
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                self.loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        with self._lock:
            finished, self._finished = self._finished, deque()
        for waiting, result, error in finished:
            if waiting.cancelled():
                continue
            if error is not None:
                waiting.set_exception(error)
            else:
                waiting.set_result(result)


def _number(text: str) -> int:
    """Return the number of a question as a path has it."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 1 <= int(text) <= LARGEST_NUMBER):
        raise HTTPException(422, f"The number of a question is from 1 to {LARGEST_NUMBER:,}.")
    return int(text)


async def _body(request: Request, model: type[Body]) -> Body:
    """Read the body of a request."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(422, "The body must be JSON, with the content type application/json.")
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None


def _sent(content: BaseModel) -> Response:
    return Response(content.model_dump_json(), media_type="application/json")
