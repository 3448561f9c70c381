"""The operations of voters.

Two of them, the next question and its answer, make up a vote and nearly all requests there are. They are
served before the routes are looked through: no worker thread and no dependencies, just one await until the
transaction that serves many voters at once is on disk. Everything else about them is as for the others: the
same refusals, and a place in the OpenAPI description.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from duelmatch.errors import NotAllowedError
from duelmatch.files.problems import tree_of
from duelmatch.studies import LARGEST_NUMBER, Access, Feed, Nothing, Question, Receipt, Store, Study
from duelmatch.web import models
from duelmatch.web.access import (
    ONLY_VOTERS,
    ROLES,
    CallingVoter,
    GetAccess,
    GetStudy,
    access_of,
    require_open_link,
)
from duelmatch.web.cookies import bearer_token, forget, remember, remembered
from duelmatch.web.loop_bridge import LoopBridge
from duelmatch.web.problems import REFUSALS, documented, reason_of, refusal

Returned = TypeVar("Returned")
Body = TypeVar("Body", bound=BaseModel)

router = APIRouter(prefix="/studies/{study}", tags=["voter"], responses=documented(401, 404))

LONGEST_WAIT = 5.0
"""Seconds for a transaction. A database that has stopped without a word never ends it, nor the wait."""

NOT_YET = (
    "The server does not get an answer from its database in time, or is still at work on this study. Send "
    "the same again in a moment: an answer counts once."
)

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


async def next_question(request: Request) -> Response:
    """Return my open question, or the next one; asked again, it is the same."""
    asked = await _as_voter(request, lambda feed, voter: feed.ask(voter))
    return _sent(models.Question.model_validate(asked))


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


def direct_routes(prefix: str, responses: dict[int | str, dict[str, Any]]) -> list[APIRoute]:
    """Return the two as FastAPI describes them."""
    schema = models.VoterAnswer.model_json_schema()
    body = {"content": {"application/json": {"schema": schema}}, "required": True}
    secured: dict[str, Any] = {"security": [{"HTTPBearer": []}]}
    return [
        APIRoute(
            f"{prefix}/studies/{{study}}/question",
            next_question,
            methods=["POST"],
            tags=["voter"],
            response_model=models.Question,
            responses={**responses, **documented(401, 404)},
            openapi_extra={"parameters": [_STUDY], **secured},
        ),
        APIRoute(
            f"{prefix}/studies/{{study}}/questions/{{number}}/answer",
            answer,
            methods=["POST"],
            tags=["voter"],
            response_model=models.Kept,
            responses={**responses, **documented(401, 404, 409)},
            openapi_extra={"parameters": [_STUDY, _NUMBER], "requestBody": body, **secured},
        ),
    ]


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
    request.app.state.links.note(token or "", "voter")
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


@router.post("/questions/{number}/skip", status_code=204, responses=documented(409))
def skip(
    study: GetStudy, voter: CallingVoter, access: GetAccess, number: models.Number, why: models.Skip
) -> None:
    """Pass on a question of mine."""
    study.skip(voter, number, why.reason, by=access["voter"].link)


@router.post("/undo", responses=documented(409))
def undo(
    study: GetStudy, voter: CallingVoter, access: GetAccess, last: models.Undo | None = None
) -> models.Question:
    """Take my last answer back; its question is open again. If its number is sent, nothing happens twice."""
    number = last.number if last else None
    return models.Question.model_validate(study.undo(voter, number, by=access["voter"].link))


@router.post("/conflicts", status_code=204, responses=documented(409))
def conflict(study: GetStudy, voter: CallingVoter, access: GetAccess, about: models.Conflicts) -> None:
    """Say whom I cannot judge: I am not asked about them any more.

    On a panel, what I said about them does not count either.
    """
    study.conflict(voter, about.candidates, by=access["voter"].link, own=True)


@router.post("/reports", status_code=204, responses=documented(409))
def report(study: GetStudy, voter: CallingVoter, access: GetAccess, seen: models.Report) -> None:
    """Tell the organiser that something is wrong with a candidate. Sent twice, it is noted once."""
    study.report(voter, seen.candidate, seen.problem, seen.text, by=access["voter"].link)


@router.get("/me")
def me(study: GetStudy, voter: CallingVoter) -> models.Me:
    """Say who I am, how many of my answers there are, and about how many more are wanted.

    In a secret study the numbers are left out that would tell a ballot from others in an export.
    """
    person, settings = study.voters(ids=[voter])[0], study.settings
    tells_count = settings.secret and settings.questions_each is not None
    return models.Me(
        voter=voter,
        name=person.name,
        answers=None if settings.secret else person.answers,
        last=study.last_answered(voter),
        left=None if tells_count else study.questions_left(voter),
        struck=person.struck,
    )


@router.get("/receipts/{number}", responses=documented(409))
def receipt(study: GetStudy, voter: CallingVoter, number: models.Number) -> models.Receipt:
    """Return the receipt of an answer of mine once more; in a secret study, without the answer."""
    kept = study.answer_of(number, voter)
    if kept is None:
        raise HTTPException(404, f"You have not answered question {number}.")
    return models.Receipt.of_study(kept, study.settings.secret)


@router.post(
    "/join",
    status_code=201,
    dependencies=[Depends(require_open_link)],
    responses={
        200: {"model": models.Invited, "description": "This browser has joined before"},
        **documented(409),
    },
)
def join(study: GetStudy, access: GetAccess, request: Request, response: Response) -> models.Invited:
    """Become a voter by an open link; a browser remembers it, and is the same voter if it joins again."""
    known = remembered(request, study.id, "voter")
    if known and "voter" in access and access["voter"].voter is not None:
        response.status_code = 200
        return models.Invited(voter=access["voter"].voter, token=known)
    voter, token = study.join(by=access["open"].link)
    if "authorization" not in request.headers:
        remember(response, request, study.id, "voter", token)
    return models.Invited(voter=voter, token=token)


@router.get("", tags=["organiser"])
def about(study: GetStudy) -> models.About:
    """Say what the study is about, and how questions may be answered."""
    settings = study.settings
    return models.About(
        name=study.name,
        problem=tree_of(study.problem),
        ties=settings.ties,
        skips=settings.skips,
        conflicts=settings.kind != "rounds",
        secret=settings.secret,
    )


def vote_data(study: Study, voter: str | None) -> models.VoteData:
    """Return what a voter's page begins with. Nothing is asked: looking at a page changes nothing."""
    open_question = None if voter is None else study.open_question(voter)
    return models.VoteData(
        **about(study).model_dump(),
        study=study.id,
        me=None if voter is None else me(study, voter),
        question=None if open_question is None else models.Question.model_validate(open_question),
    )


@router.get("/progress", tags=["organiser"])
def progress(study: GetStudy) -> models.Progress:
    """Say how far the study has come."""
    return models.Progress.of_status(study.status(), study.latest_estimates()[0])


@router.post("/forget", status_code=204, tags=["organiser"])
def forget_links(study: GetStudy, request: Request, response: Response) -> None:
    """Let this browser forget its links to the study; the links themselves still work."""
    for role in ROLES:
        forget(response, request, study.id, role)
