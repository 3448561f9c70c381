"""The pages: for voters, for organisers, and what to say to everybody else."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.templating import Jinja2Templates

from duelmatch.explorers.catalogue import preferred
from duelmatch.studies.keys import Access
from duelmatch.studies.texts import LARGEST_NUMBER
from duelmatch.version import __version__
from duelmatch.web import words
from duelmatch.web.access import AllAccess, TheStore, TheStudy, an_organiser
from duelmatch.web.ballots import Ballots
from duelmatch.web.config import Config
from duelmatch.web.cookies import all_remembered, remember
from duelmatch.web.links import PATH
from duelmatch.web.views import Dashboard, about, counted, percent

STATIC = Path(__file__).with_name("static")
templates = Jinja2Templates(directory=Path(__file__).with_name("templates"))
templates.env.trim_blocks = templates.env.lstrip_blocks = True
templates.env.globals["version"] = __version__
templates.env.filters |= {"about": about, "counted": counted, "percent": percent}

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

MOST_UNSEEN = 1000
"""With more answers to go through, the page is there before what it shows."""

NO_LINK = "This address does not work, or no longer. If somebody sent it to you, ask them for a new one."

REFUSALS = {
    401: (
        "You need a link",
        "Open the link that you were sent once more: this browser does not know you, or no longer.",
    ),
    403: ("This is not for you", None),
    404: ("There is nothing here", NO_LINK),
    422: ("There is nothing here", NO_LINK),
    503: ("Not right now", None),
}
"""What to say to people: a title, and a sentence where the usual one is for programs."""


def page(request: Request, name: str, status: int = 200, **values: Any) -> Response:
    """Return a page."""
    return templates.TemplateResponse(request, name, values, status_code=status)


def refusal_page(request: Request, status: int, detail: str) -> Response:
    """Say no to somebody with a browser."""
    title, otherwise = REFUSALS.get(status, (HTTPStatus(status).phrase, None))
    return page(request, "refusal.html", status, title=title, detail=otherwise or detail)


@router.get("/")
def home(request: Request, store: TheStore) -> Response:
    """Say what this is, and lead back to the studies that the browser knows."""
    found = [store.access(token) for token in all_remembered(request)]
    doors = {access.study: access for access in found if access is not None and access.role != "organiser"}
    doors |= {access.study: access for access in found if access is not None and access.role == "organiser"}
    known = [(store.study(access.study).name, access.role, _door(access)) for access in doors.values()]
    return page(request, "home.html", create=_config(request).create, known=sorted(known))


@router.get("/privacy")
def privacy(request: Request) -> Response:
    """Say what is stored about a voter."""
    return page(request, "privacy.html")


@router.get("/new")
def new(request: Request) -> Response:
    """Let an organiser begin a study."""
    return page(
        request,
        "new.html",
        create=_config(request).create,
        criteria=words.CRITERIA,
        algorithms={criterion: preferred(criterion) for criterion in words.CRITERIA},
        confidences=words.CONFIDENCES,
    )


@router.get(PATH + "{token}")
def exchange(request: Request, store: TheStore, token: str) -> Response:
    """Exchange a link for a cookie, so that it stays in no address bar."""
    access = store.access(token)
    if access is None:
        return refusal_page(request, 404, NO_LINK)
    response = RedirectResponse(_door(access), status_code=303)
    remember(response, request, access.study, access.role, token)
    return response


def _door(access: Access) -> str:
    return f"/studies/{access.study}" + ("" if access.role == "organiser" else "/vote")


@router.get("/studies/{study}/vote")
def vote(request: Request, study: TheStudy, access: AllAccess) -> Response:
    """Let a voter vote; who has an open link only is asked whether they want to join."""
    if "voter" not in access and "open" not in access:
        raise HTTPException(403, "You are the organiser of this study; make a voter's link to vote yourself.")
    return page(request, "vote.html", study=study, joined="voter" in access, organiser="organiser" in access)


@router.get("/studies/{study}")
def dashboard(request: Request, study: TheStudy, access: AllAccess) -> Response:
    """Show an organiser how the study is going."""
    if "organiser" not in access:
        return RedirectResponse(f"/studies/{study.id}/vote", status_code=303)
    view = None if study.unseen() > MOST_UNSEEN else Dashboard.of(study)
    return page(request, "dashboard.html", study=study, view=view, own=access["organiser"].key)


@router.get("/studies/{study}/live", dependencies=[Depends(an_organiser)])
def live(request: Request, study: TheStudy, access: AllAccess) -> Response:
    """Return the part of the dashboard that changes."""
    own = access["organiser"].key
    return page(request, "live.html", study=study, view=Dashboard.of(study), own=own)


@router.get("/studies/{study}/votes", dependencies=[Depends(an_organiser)])
def votes(
    request: Request,
    study: TheStudy,
    before: Annotated[int, Query(ge=1, le=LARGEST_NUMBER)] = LARGEST_NUMBER,
    voter: Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER)] = None,
) -> Response:
    """List the votes, the latest first, for the organiser to strike out what is wrong."""
    return page(request, "votes.html", study=study, view=Ballots.of(study, before, voter))


@router.get("/studies/{study}/result", dependencies=[Depends(an_organiser)])
def result(request: Request, study: TheStudy) -> Response:
    """Show the result on a page to print or to hand around."""
    now = f"{datetime.now(UTC):%-d %B %Y, %H:%M} UTC"
    return page(request, "result.html", study=study, view=Dashboard.of(study), now=now)


def _config(request: Request) -> Config:
    config: Config = request.app.state.config
    return config
