"""The operations of voters, but for the two that make up a vote (:mod:`duelmatch.web.voting`)."""

from __future__ import annotations

from fastapi import APIRouter, Depends, HTTPException, Request, Response

from duelmatch.files.problems import tree_of
from duelmatch.studies import Study
from duelmatch.web import models
from duelmatch.web.access import (
    ROLES,
    CallingVoter,
    GetAccess,
    GetStudy,
    forget,
    remember,
    remembered,
    require_open_link,
)
from duelmatch.web.problems import documented

router = APIRouter(prefix="/studies/{study}", tags=["voter"], responses=documented(401, 404))


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
