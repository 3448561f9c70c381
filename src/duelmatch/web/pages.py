"""The pages: for voters, for organisers, and what to say to everybody else."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from time import time
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.templating import Jinja2Templates

from duelmatch.phrases import likely
from duelmatch.studies import LARGEST_NUMBER, Access, Role, Study
from duelmatch.version import __version__
from duelmatch.web import languages, wording
from duelmatch.web.access import (
    GetAccess,
    GetStore,
    GetStudy,
    all_remembered,
    organiser_link,
    remember,
    remembered,
    who_creates,
)
from duelmatch.web.answer_pages import TROUBLES, AnswerPage, reports_of
from duelmatch.web.languages import language_of, remember_language, to_translate
from duelmatch.web.links import PATH, address_of, is_of_this_machine
from duelmatch.web.models import Before, OfVoter, PageNumber
from duelmatch.web.names import Names
from duelmatch.web.organising import not_secret
from duelmatch.web.races import PublishedResult
from duelmatch.web.views import Dashboard
from duelmatch.web.voters import vote_data
from duelmatch.web.watching import FIRST_LOOK
from duelmatch.web.worker import PATIENCE

STATIC = Path(__file__).with_name("static")
templates = Jinja2Templates(directory=Path(__file__).with_name("templates"))
templates.env.trim_blocks = templates.env.lstrip_blocks = True
languages.install(templates.env)
templates.env.globals |= {"version": __version__, "reports_of": reports_of, "TROUBLES": TROUBLES}
templates.env.filters |= {
    "likely": likely,
    "counts_times": wording.counts_times,
    "percent": wording.percent,
    "time": wording.written_time,
}

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

NO_LINK = to_translate(
    "This address does not work, or no longer. If somebody sent it to you, ask them for a new one."
)
ORGANISER = to_translate("You are the organiser of this study; make a voter's link to vote yourself.")

REFUSALS = {
    401: (
        to_translate("You need a link"),
        to_translate(
            "Open the link that you were sent once more: this browser does not know you, or no longer."
        ),
    ),
    403: (to_translate("This is not for you"), None),
    404: (to_translate("There is nothing here"), NO_LINK),
    422: (to_translate("There is nothing here"), NO_LINK),
    503: (to_translate("Not right now"), None),
}
"""For people: a title, and a sentence where the usual one is meant for programs."""


def page(request: Request, name: str, status: int = 200, **values: Any) -> Response:
    """Return a page, in English; all of them know what the links of voters begin with."""
    address = address_of(request)
    values |= {"address": address, "unreachable": is_of_this_machine(address)}
    return templates.TemplateResponse(request, name, values, status_code=status)


def voter_page(request: Request, name: str, status: int = 200, **values: Any) -> Response:
    """Return a page in the language of whoever reads it, with a way to choose another."""
    response = page(request, name, status, language=language_of(request), **values)
    remember_language(request, response)
    return response


def refusal_page(request: Request, status: int, detail: str) -> Response:
    """Refuse a request of a browser."""
    title, otherwise = REFUSALS.get(status, (HTTPStatus(status).phrase, None))
    said = languages.catalogue(language_of(request)).gettext
    return voter_page(request, "refusal.html", status, title=said(title), detail=said(otherwise or detail))


@router.get("/")
def home(request: Request, store: GetStore) -> Response:
    """Say what this is, and lead back to the studies that the browser knows."""
    found = [store.access(token) for token in all_remembered(request)]
    doors = {access.study: access for access in found if access is not None and access.role != "organiser"}
    doors |= {access.study: access for access in found if access is not None and access.role == "organiser"}
    known = [(store.study(access.study).name, access.role, _door(access)) for access in doors.values()]
    return page(request, "home.html", create=who_creates(request), known=sorted(known))


@router.get("/privacy")
def privacy(request: Request) -> Response:
    """Say what is stored about a voter."""
    return voter_page(request, "privacy.html")


@router.get("/new")
def new(request: Request) -> Response:
    """Let an organiser create a study."""
    return page(
        request,
        "new.html",
        create=who_creates(request),
        criteria=wording.CRITERIA,
        confidences=wording.CONFIDENCES,
    )


@router.get(PATH + "{token}")
@router.post(PATH + "{token}")
def exchange(request: Request, store: GetStore, token: str) -> Response:
    """Exchange a link for a cookie, so that it stays in no address bar.

    If the browser votes as somebody else already, that takes a POST from the page that says so.
    """
    access = store.access(token)
    if access is None:
        return refusal_page(request, 404, NO_LINK)
    known = store.access(remembered(request, access.study, access.role) or "")
    if request.method == "GET" and access.voter and known is not None and known.voter != access.voter:
        return voter_page(
            request, "somebody_else.html", study=store.study(access.study), link=request.url.path
        )
    response = RedirectResponse(_door(access), status_code=303)
    remember(response, request, access.study, access.role, token)
    return response


def _door(access: Access) -> str:
    return f"/studies/{access.study}" + ("" if access.role == "organiser" else "/vote")


@router.get("/studies/{study}/vote")
def vote(request: Request, study: GetStudy, access: GetAccess) -> Response:
    """Let a voter vote; with only an open link, ask whether to join."""
    if "voter" not in access and "open" not in access:
        raise HTTPException(403, ORGANISER)
    voter = access["voter"].voter if "voter" in access else None
    status, published = study.status(), None
    if status.published and status.phase == "closed":
        published = PublishedResult.of(study, request.app.state.watcher.estimates(study, FIRST_LOOK))
    return voter_page(
        request,
        "vote.html",
        study=study,
        voter_name=None if voter is None else study.name_of(voter),
        ranks=study.settings.parameters.get("question_size", 2) > 2,
        data=vote_data(study, voter).model_dump(),
        organiser="organiser" in access,
        published=published,
    )


@router.get("/studies/{study}")
def dashboard(request: Request, study: GetStudy, access: GetAccess, voters: PageNumber = 1) -> Response:
    """Show an organiser how the study is going."""
    if "organiser" not in access:
        return RedirectResponse(f"/studies/{study.id}/vote", status_code=303)
    watched = _watched(request, study, access, voters)
    return page(request, "dashboard.html", create=who_creates(request), **watched)


def _watched(request: Request, study: Study, access: Mapping[Role, Access], voters: int) -> dict[str, Any]:
    """Return what an organiser sees of a study, with the link that this browser uses and the webhook."""
    webhook = request.app.state.store.webhooks.of_study(study.id)
    view = _dashboard(request, study, voters)
    return {"study": study, "view": view, "own": access["organiser"].link, "webhook": webhook}


def _dashboard(request: Request, study: Study, page: int = 1, patience: float = 0.0) -> Dashboard:
    return Dashboard(study, page, request.app.state.watcher.estimates(study, patience))


@router.get("/studies/{study}/live", dependencies=[Depends(organiser_link)])
def live(request: Request, study: GetStudy, access: GetAccess, voters: PageNumber = 1) -> Response:
    """Return the part of the dashboard that changes."""
    return page(request, "live.html", **_watched(request, study, access, voters))


@router.get("/studies/{study}/answers", dependencies=[Depends(organiser_link), Depends(not_secret)])
def answers(
    request: Request,
    study: GetStudy,
    before: Before = LARGEST_NUMBER,
    voter: OfVoter = None,
) -> Response:
    """List the votes, the latest first, for the organiser to correct or strike out what is wrong."""
    return page(request, "answers.html", study=study, view=AnswerPage(study, before, voter))


@router.get("/studies/{study}/candidates", dependencies=[Depends(organiser_link)])
def candidates(request: Request, study: GetStudy) -> Response:
    """Show what voters read of candidates and positions, to change it, and take in a late candidate."""
    problem, dropped = study.problem, study.status().dropped
    names = Names.of(problem)
    return page(
        request,
        "candidates.html",
        study=study,
        problem=problem,
        candidates=names.without(dropped),
        positions=list(names.positions.values()),
    )


@router.get("/studies/{study}/result", dependencies=[Depends(organiser_link)])
def result(request: Request, study: GetStudy) -> Response:
    """Show the result on a page to print or to share."""
    now = wording.written_time(time(), "minutes")
    view = _dashboard(request, study, patience=PATIENCE)
    return page(request, "result.html", study=study, view=view, now=now)
