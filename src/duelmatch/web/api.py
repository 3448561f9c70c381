"""The operations of the API, version 1. Whoever calls is known by their token alone."""

from __future__ import annotations

import json
import math
import re
import threading
from dataclasses import asdict, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel

from duelmatch.errors import FileError
from duelmatch.files.problems import Largest, read_problem, tree_of
from duelmatch.problem import Problem
from duelmatch.studies import Question, Settings
from duelmatch.studies.course import without
from duelmatch.studies.exchange import export_csv, export_json
from duelmatch.studies.store import MOST_PAIRS
from duelmatch.studies.texts import LARGEST_NUMBER
from duelmatch.web import models
from duelmatch.web.access import (
    ROLES,
    AllAccess,
    TheStore,
    TheStudy,
    TheVoter,
    a_creator,
    an_invited,
    an_organiser,
)
from duelmatch.web.cookies import forget, remember, remembered
from duelmatch.web.links import link_of, qr_code
from duelmatch.web.problems import documented
from duelmatch.web.words import LONGEST_TRIAL, votes_to_expect

router = APIRouter(prefix="/api/v1", responses=documented(400, 403, 413, 422, 429, 503))
of_study = APIRouter(prefix="/studies/{study}", responses=documented(401, 404))
organiser = APIRouter(dependencies=[Depends(an_organiser)], tags=["organiser"])
voter = APIRouter(tags=["voter"])

LARGEST = Largest(edges=50_000, duels=MOST_PAIRS)
"""What a problem may have that comes over HTTP."""

MOST_PAIRS_ESTIMATED = 5_000
"""Different duels: 30 candidates for 10 positions. With more of them even a trial's beginning takes long."""

MOST_VOTES_LISTED = 1000
"""In one answer."""

_estimating = threading.Lock()
"""One trial at a time, and nobody waits for it: voters need the threads."""

Number = Annotated[int, Path(ge=1, le=LARGEST_NUMBER)]


def _problem_of(new: models.NewStudy) -> Problem:
    """Return the problem of a new study; it is read as if it came in a file."""
    try:
        text = json.dumps(new.problem)
    except RecursionError:
        raise FileError("The lists and mappings are nested too deeply.") from None
    return read_problem(text, ".json", LARGEST)


@router.post(
    "/studies",
    status_code=201,
    tags=["organiser"],
    responses=documented(401),
    dependencies=[Depends(a_creator)],
)
def create_a_study(store: TheStore, new: models.NewStudy) -> models.Created:
    """Begin a study; the organiser's token is in the answer and nowhere else."""
    problem = _problem_of(new)
    study = store.create(problem, Settings.from_dict(new.settings), new.name)
    return models.Created(study=study.id, organiser_token=study.new_key("organiser"))


@router.post(
    "/problems/read", tags=["organiser"], responses=documented(401), dependencies=[Depends(a_creator)]
)
def read_a_problem(written: models.Written) -> models.Read:
    """Read a problem as people write it: the text of a file, or just names, one on a line."""
    return models.Read(problem=tree_of(read_problem(written.text, f".{written.layout}", LARGEST)))


@router.post("/estimate", tags=["organiser"], responses=documented(401), dependencies=[Depends(a_creator)])
def estimate(new: models.NewStudy) -> models.Estimate:
    """Say how many votes a study takes if three voters of four prefer the best; null if too many to tell."""
    problem = _problem_of(new)
    settings = Settings.from_dict(new.settings)
    if problem.graph.pairs > MOST_PAIRS_ESTIMATED:
        return models.Estimate(votes=None)
    if not _estimating.acquire(blocking=False):
        soon = {"Retry-After": str(math.ceil(LONGEST_TRIAL))}
        raise HTTPException(429, "Another estimate is being made. Wait a moment, then try again.", soon)
    try:
        votes = votes_to_expect(problem, settings.algorithm, settings.delta, LONGEST_TRIAL)
    finally:
        _estimating.release()
    return models.Estimate(votes=votes)


# For voters.


@of_study.post(
    "/join",
    status_code=201,
    tags=["voter"],
    dependencies=[Depends(an_invited)],
    responses={200: {"model": models.Invited, "description": "This browser has joined before"}},
)
def join(study: TheStudy, access: AllAccess, request: Request, response: Response) -> models.Invited:
    """Become a voter by an open link; a browser remembers it, and is the same voter if it joins again."""
    known = remembered(request, study.id, "voter")
    if known and "voter" in access and access["voter"].voter is not None:
        response.status_code = 200
        return models.Invited(voter=access["voter"].voter, token=known)
    number = study.add_voter()
    token = study.new_key("voter", number)
    if "authorization" not in request.headers:
        remember(response, request, study.id, "voter", token)
    return models.Invited(voter=number, token=token)


def _sent(content: BaseModel) -> Response:
    """Return what is sent, ready: for what is called for every vote, FastAPI's own way takes too long."""
    return Response(content.model_dump_json(), media_type="application/json")


@voter.post("/duel", response_model=models.Duel)
def next_duel(study: TheStudy, me: TheVoter) -> Response:
    """Return my open duel, or the next; asked again, it is the same."""
    asked = study.ask(me)
    return _sent(models.Duel.of(asked) if isinstance(asked, Question) else models.Duel(reason=asked.reason))


@voter.post("/duels/{number}/answer", response_model=models.Kept, responses=documented(409))
def answer(study: TheStudy, me: TheVoter, number: Number, said: models.Answer) -> Response:
    """Answer a duel of mine; when this returns, the answer is on disk. Sent twice, it counts once."""
    return _sent(models.Kept.of(study.tell(me, number, said.winner)))


@voter.post("/duels/{number}/skip", status_code=204, responses=documented(409))
def skip(study: TheStudy, me: TheVoter, number: Number, why: models.Skip) -> None:
    """Pass on a duel of mine."""
    study.skip(me, number, why.reason)


@voter.post("/undo", responses=documented(409))
def undo(study: TheStudy, me: TheVoter, last: models.Undo | None = None) -> models.Duel:
    """Take my last answer back; its duel is open again. If its number is sent, nothing happens twice."""
    return models.Duel.of(study.undo(me, last.number if last else None))


@voter.get("/me")
def me(study: TheStudy, me: TheVoter) -> models.Me:
    """Say how many of my answers there are."""
    return models.Me(voter=me, answers=study.answers_by(me), last=study.last_answered(me))


@of_study.get("", tags=["voter", "organiser"])
def about(study: TheStudy) -> models.About:
    """Say what the study is about, and how duels may be answered."""
    settings = study.settings
    tree = tree_of(study.problem)
    return models.About(name=study.name, problem=tree, ties=settings.ties, skips=settings.skips)


@of_study.post("/forget", status_code=204, tags=["voter", "organiser"])
def forget_me(study: TheStudy, request: Request, response: Response) -> None:
    """Let this browser forget its links to the study; the links themselves still work."""
    for role in ROLES:
        forget(response, request, study.id, role)


@of_study.get("/progress", tags=["voter", "organiser"])
def progress(study: TheStudy) -> models.Progress:
    """Say how far the study has come."""
    return models.Progress.of(study.status())


# For organisers.


@organiser.get("/result")
def result(study: TheStudy) -> models.Outcome:
    """Say who should fill what, and how sure that is."""
    return models.Outcome.of(study.status())


@organiser.get("/voters")
def voters(study: TheStudy) -> list[models.VoterRow]:
    """List the voters."""
    return [
        models.VoterRow(**{n: getattr(v, n) for n in models.VoterRow.model_fields}) for v in study.voters()
    ]


@organiser.get("/votes")
def votes(
    study: TheStudy,
    before: Annotated[int, Query(ge=1, le=LARGEST_NUMBER)] = LARGEST_NUMBER,
    voter: Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER)] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_VOTES_LISTED)] = 50,
) -> list[models.VoteRow]:
    """List the latest answers, of all voters or of one, that came before an entry of the log."""
    return [models.VoteRow(**asdict(vote)) for vote in study.votes(before, voter, limit)]


@organiser.post("/voters", status_code=201, responses=documented(409))
def invite(study: TheStudy, new: models.NewVoter) -> models.Invited:
    """Add a voter; the token of their link is in the answer and nowhere else."""
    number = study.add_voter(new.name)
    return models.Invited(voter=number, token=study.new_key("voter", number))


@organiser.post("/open-link", status_code=201)
def open_link(study: TheStudy) -> models.Token:
    """Make a link by which anybody can become a voter, as often as they can pretend to be somebody new."""
    return models.Token(token=study.new_key("open"))


@organiser.get("/links")
def links(study: TheStudy) -> list[models.Link]:
    """List the links, without their secrets."""
    return [models.Link(**{n: getattr(key, n) for n in models.Link.model_fields}) for key in study.keys()]  # noqa: SIM118


@organiser.post("/links/{key}/revoke", status_code=204, responses=documented(409))
def revoke(study: TheStudy, key: Annotated[str, Path(max_length=40)]) -> None:
    """Make a link useless from now on, and the cookies made of it."""
    study.revoke(key, keep_one=True)


@organiser.post("/organiser-link", status_code=201)
def organiser_link(study: TheStudy) -> models.Token:
    """Make another link for organisers."""
    return models.Token(token=study.new_key("organiser"))


@organiser.post("/voters/{number}/link", status_code=201)
def voter_link(study: TheStudy, number: Number) -> models.Token:
    """Make another link for a voter, who lost the first."""
    return models.Token(token=study.new_key("voter", number))


@organiser.post(
    "/qr",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}, "description": "A picture to point a phone at"}},
)
def qr(study: TheStudy, store: TheStore, request: Request, of: models.Token) -> Response:
    """Draw a link of this study as a QR code."""
    access = store.access(of.token)
    if access is None or access.study != study.id:
        raise HTTPException(404, "There is no such link in this study.")
    return Response(qr_code(link_of(request, of.token)), media_type="image/svg+xml")


@organiser.post("/duplicate", status_code=201)
def duplicate(study: TheStudy, store: TheStore, new: models.NewName) -> models.Created:
    """Begin another study of the same candidates and positions, without the votes."""
    problem = without(study.problem, study.status().dropped)
    again = store.create(problem, replace(study.settings, seed=None), new.name)
    return models.Created(study=again.id, organiser_token=again.new_key("organiser"))


@organiser.post("/voters/{number}/{action}", status_code=204)
def judge_a_voter(study: TheStudy, number: Number, action: Literal["invalidate", "reinstate"]) -> None:
    """Let no answer of a voter count, or let them count again."""
    (study.invalidate if action == "invalidate" else study.reinstate)(number)


@organiser.post("/duels/{number}/correct", status_code=204, responses=documented(409))
def correct(study: TheStudy, number: Number, said: models.Answer) -> None:
    """Change an answer, or strike it out with null."""
    study.correct(number, said.winner)


@organiser.post("/drop", status_code=204)
def drop(study: TheStudy, gone: models.Candidate) -> None:
    """Take out a candidate who withdrew."""
    study.drop(gone.candidate)


@organiser.post("/state/{action}", status_code=204, responses=documented(409))
def change_the_state(study: TheStudy, action: Literal["pause", "resume", "close", "reopen"]) -> None:
    """Pause, resume, close or reopen the study."""
    {"pause": study.pause, "resume": study.resume, "close": study.close, "reopen": study.reopen}[action]()


@organiser.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"application/json": {}, "text/csv": {}}, "description": "The study"}},
)
def export(
    study: TheStudy,
    layout: Annotated[Literal["json", "csv"], Query(alias="format")] = "json",
    people: bool = False,
) -> Response:
    """Return all of the study as JSON, or its answers as CSV; names of voters only if asked for."""
    text = (export_csv if layout == "csv" else export_json)(study, people)
    kind = "text/csv" if layout == "csv" else "application/json"
    name = re.sub("[^A-Za-z0-9]+", "-", study.name).strip("-")[:60] or "study"
    disposition = {"Content-Disposition": f'attachment; filename="{name}.{layout}"'}
    return Response(text, media_type=kind, headers=disposition)


of_study.include_router(voter)
of_study.include_router(organiser)
router.include_router(of_study)
