"""The operations of organisers. The log names the link by which each of them was done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from duelmatch.studies import (
    LARGEST_NUMBER,
    NewVoter,
    Study,
    check_beginning,
    exported_answers,
    exported_log,
    exported_table,
)
from duelmatch.web import models, wording
from duelmatch.web.access import (
    GetStore,
    GetStudy,
    LastingLink,
    OrganiserLink,
    check_creator,
    lasting_link,
    organiser_link,
)
from duelmatch.web.links import link_of, qr_code
from duelmatch.web.names import Names
from duelmatch.web.problems import documented
from duelmatch.web.watching import FIRST_LOOK
from duelmatch.web.webhooks import checked_url
from duelmatch.web.worker import LONGEST_BEGINNING, PATIENCE, worker

MOST_LISTED = 1000
"""In one response."""

SECRET = "The ballot is secret: nobody sees or changes the answers of a voter."
UNTIL_CLOSED = "The ballot is secret: its votes can be exported once the study is closed."

router = APIRouter(
    prefix="/studies/{study}",
    tags=["organiser"],
    responses=documented(401, 404),
    dependencies=[Depends(organiser_link)],
)

CHANGE: dict[str, Any] = {"status_code": 204, "responses": documented(409)}
"""How an operation that changes something, and returns nothing, is described."""

VoterId = Annotated[str, Path(pattern=models.ID, description="The id of the voter.")]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]

NO_PREVIEW = "The study is secret: what the votes of a single voter change would tell how they voted."

EXPORTS: Mapping[str, tuple[Callable[[Study, bool, bool], Iterator[str]], str, str]] = {
    "log": (lambda study, people, _: exported_log(study, people), "application/x-ndjson", ".jsonl"),
    "csv": (exported_answers, "text/csv", "-votes.csv"),
    "table": (exported_table, "text/csv", "-all-votes.csv"),
}


async def not_secret(study: GetStudy) -> None:
    """Refuse what would show or change a single answer of a secret study."""
    if study.settings.secret:
        raise HTTPException(403, SECRET)


# Where it stands.


@router.get("/result")
def result(
    study: GetStudy, request: Request, wait: Annotated[float, Query(ge=0, le=FIRST_LOOK)] = 0.0
) -> models.Outcome:
    """Say who should fill what, and how sure that is; with standings, which are an estimate.

    The standings are those that were computed last, and newer ones are on their way. When nobody has looked
    yet there are none, unless they are waited for, so many seconds.
    """
    estimates = request.app.state.watcher.estimates(study, patience=wait)
    return models.Outcome.of_status(study.status(), estimates, study.settings.secret)


@router.post("/preview")
def preview(study: GetStudy, change: models.Change) -> models.Preview:
    """Say what striking a voter or an answer, or dropping a candidate, would change. Nothing is changed."""
    action, what = change.chosen
    if study.settings.secret and action != "drop":
        raise HTTPException(403, NO_PREVIEW)
    task = study.preview(action, what)
    found = worker.run(task, seconds=LONGEST_BEGINNING, patience=PATIENCE, of=study.id)
    return models.Preview.shown(found, sentences=wording.preview(found, Names.of(study.problem)))


@router.get("/voters")
def voters(
    study: GetStudy,
    after: models.OfVoter = None,
    limit: Limit = MOST_LISTED,
) -> list[models.Voter]:
    """List the voters in the order in which they joined, a page at a time: those after a voter."""
    secret = study.settings.secret
    odd = {voter: wording.hints(found, secret) for voter, found in study.hints().items()}
    listed = study.voters(after, limit)
    return [models.Voter.of_study(voter, secret, odd.get(voter.id, [])) for voter in listed]


@router.get("/answers", dependencies=[Depends(not_secret)])
def answers(
    study: GetStudy,
    before: models.Before = LARGEST_NUMBER,
    voter: models.OfVoter = None,
    limit: Limit = 50,
) -> list[models.GivenAnswer]:
    """List the latest answers, of all voters or of one, that came before an entry of the log."""
    found = study.answers(before, voter, limit)
    return [models.GivenAnswer.model_validate(each) for each in found]


@router.get(
    "/export",
    response_class=Response,
    responses={
        200: {
            "content": {"application/x-ndjson": {}, "text/csv": {}},
            "description": "The log, or the answers",
        },
        **documented(409),
    },
)
def export(
    study: GetStudy,
    layout: Annotated[Literal["log", "csv", "table"], Query(alias="format")] = "log",
    people: bool = False,
) -> Response:
    """Return the log for `duelmatch verify`, or the answers as CSV; names of voters only if asked for.

    `csv` has the answers that count, as `duelmatch estimate` reads them; `table` has all of them, with times.
    Of a secret study organisers get no log, and the answers, without voters, times and order, once it is
    closed.
    """
    secret = study.settings.secret
    if secret and (layout == "log" or people):
        raise HTTPException(403, SECRET)
    if secret and study.status().phase != "closed":
        raise HTTPException(409, UNTIL_CLOSED)
    write, media_type, suffix = EXPORTS[layout]
    name = re.sub("[^A-Za-z0-9]+", "-", study.name).strip("-")[:60] or "study"
    disposition = {"Content-Disposition": f'attachment; filename="{name}{suffix}"'}
    pieces = write(study, people, secret)
    first = next(pieces)  # a refusal is still one
    return StreamingResponse(chain([first], pieces), media_type=media_type, headers=disposition)


# Voters and links.


@router.post("/voters", status_code=201, responses=documented(409))
def invite(study: GetStudy, by: OrganiserLink, new: models.NewVoter) -> models.Invited:
    """Add a voter; the token of their link is in the response and nowhere else."""
    voter = study.add_voters([new.new], by)[0]
    return models.Invited(voter=voter, name=new.name, token=study.new_link("voter", voter, by=by))


@router.post("/voters/read")
def read_voters(study: GetStudy, written: models.JudgesText) -> list[models.ReadJudge]:
    """Read a list of voters as people write it: one name on a line, or a table with headings."""
    return models.read_judges(written)


@router.post("/voters/bulk", status_code=201, responses=documented(409))
def invite_many(study: GetStudy, by: OrganiserLink, new: models.NewVoters) -> list[models.Invited]:
    """Add many voters, all or none; the tokens of their links are in the response and nowhere else."""
    people = [voter.new for voter in new.voters]
    voters = study.add_voters(people, by=by)
    return _invited(study, voters, by)


@router.post("/voters/links", status_code=201)
def replace_links(study: GetStudy, by: OrganiserLink, whose: models.Voters) -> list[models.Invited]:
    """Make new links for many voters; their earlier ones stop working."""
    return _invited(study, whose.voters, by)


def _invited(study: Study, voters: Sequence[str], by: str) -> list[models.Invited]:
    names = {voter.id: voter.name for voter in study.voters()}
    tokens = study.replace_links(voters, by=by)
    return [
        models.Invited(voter=voter, name=names[voter], token=token)
        for voter, token in zip(voters, tokens, strict=True)
    ]


@router.post("/voters/{voter}/strike", **CHANGE)
def strike_voter(study: GetStudy, by: OrganiserLink, voter: VoterId) -> None:
    """Let no answer of a voter count, and ask them nothing more."""
    study.strike(voter, by=by)


@router.post("/voters/{voter}/reinstate", **CHANGE)
def reinstate(study: GetStudy, by: OrganiserLink, voter: VoterId) -> None:
    """Let the answers of a voter count again."""
    study.reinstate(voter, by=by)


@router.post("/voters/{voter}/leave", **CHANGE)
def leave(study: GetStudy, by: OrganiserLink, voter: VoterId, how: models.Leave) -> None:
    """Ask a voter nothing more; what they have said still counts."""
    study.leave(voter, how.open_answers, by=by)


@router.post("/voters/{voter}/return", **CHANGE)
def come_back(study: GetStudy, by: OrganiserLink, voter: VoterId) -> None:
    """Ask a voter again who had left."""
    study.come_back(voter, by=by)


@router.post("/voters/{voter}/conflicts", **CHANGE)
def conflict(study: GetStudy, by: OrganiserLink, voter: VoterId, about: models.Conflicts) -> None:
    """Let a judge not judge some candidates any more; what they said about them does not count."""
    study.conflict(voter, about.candidates, by=by)


@router.post("/voters/{voter}/conflicts/clear", **CHANGE)
def clear_conflict(study: GetStudy, by: OrganiserLink, voter: VoterId, about: models.Conflicts) -> None:
    """Let a voter judge candidates again; of a panel, what they said about them counts again."""
    study.clear_conflict(voter, about.candidates, by=by)


@router.post("/voters/{voter}/rename", **CHANGE)
def rename_voter(study: GetStudy, by: OrganiserLink, voter: VoterId, new: models.NewName) -> None:
    """Give a voter another name. Names are not in the log."""
    study.rename_voter(voter, new.name, by=by)


@router.post("/voters/{voter}/forget-name", status_code=204)
def forget_voter_name(study: GetStudy, by: OrganiserLink, voter: VoterId) -> None:
    """Delete the name of a voter; their answers stay."""
    study.forget_voter_name(voter, by=by)


@router.post("/voters/{voter}/link", status_code=201)
def voter_link(
    study: GetStudy, by: OrganiserLink, voter: VoterId, lasting: models.Lasting | None = None
) -> models.Token:
    """Make a new link for a voter who lost theirs, which stops working."""
    return models.Token(token=study.replace_links([voter], _seconds(lasting), by=by)[0])


def _seconds(lasting: models.Lasting | None) -> float | None:
    return None if lasting is None else lasting.seconds


@router.post("/open-link", status_code=201, responses=documented(403))
def open_link(study: GetStudy, by: OrganiserLink, sure: models.OpenLink | None = None) -> models.Token:
    """Make a link by which anybody can become a voter, as often as they can pretend to be somebody new.

    For a panel it has to be asked for with `{"judges": true}`: whoever opens it becomes a judge.
    """
    judges = sure is not None and sure.judges
    return models.Token(token=study.new_link("open", judges=judges, seconds=_seconds(sure), by=by))


@router.post("/organiser-link", status_code=201)
def another_organiser_link(
    study: GetStudy, by: OrganiserLink, lasting: models.Lasting | None = None
) -> models.Token:
    """Make another link for organisers."""
    return models.Token(token=study.new_link("organiser", seconds=_seconds(lasting), by=by))


@router.get("/links")
def links(
    study: GetStudy,
    after: Annotated[str | None, Query(pattern="^[A-Za-z0-9_-]{16}$")] = None,
    limit: Limit = MOST_LISTED,
) -> list[models.Link]:
    """List the links without their secrets, a page at a time: those made after a link."""
    return [models.Link.model_validate(link) for link in study.links(after, limit)]


@router.post("/links/{link}/revoke", **CHANGE)
def revoke(study: GetStudy, by: OrganiserLink, link: Annotated[str, Path(max_length=40)]) -> None:
    """Make a link useless from now on, and the cookies made of it."""
    study.revoke(link, keep_one=True, by=by)


@router.post(
    "/qr",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}, "description": "A picture to point a phone at"}},
)
def qr(study: GetStudy, store: GetStore, request: Request, of: models.Token) -> Response:
    """Draw a link of this study as a QR code."""
    access = store.access(of.token)
    if access is None or access.study != study.id:
        raise HTTPException(404, "There is no such link in this study.")
    return Response(qr_code(link_of(request, of.token)), media_type="image/svg+xml")


# Answers and candidates.


@router.post("/questions/{number}/correct", dependencies=[Depends(not_secret)], **CHANGE)
def correct(study: GetStudy, by: OrganiserLink, number: models.Number, meant: models.Correction) -> None:
    """Change an answer to what was meant; a struck one counts again then."""
    said = meant.said
    if said is None:
        if (given := study.answer_of(number)) is None:
            raise HTTPException(409, f"Question {number} has no answer to correct.")
        said = [tuple(name for group in given.answer for name in group)]
    study.correct(number, said, meant.clerical, by=by)


@router.post("/questions/{number}/strike", dependencies=[Depends(not_secret)], **CHANGE)
def strike_answer(study: GetStudy, by: OrganiserLink, number: models.Number) -> None:
    """Let a single answer not count."""
    study.correct(number, None, by=by)


@router.get("/reports")
def reports(
    study: GetStudy,
    before: models.Before = LARGEST_NUMBER,
    limit: Limit = 100,
) -> list[models.GivenReport]:
    """List the latest open reports of voters that came before an entry of the log."""
    found = study.reports(before, limit)
    return [models.GivenReport.model_validate(each) for each in found]


@router.post("/reports/{number}/resolve", status_code=204)
def resolve(study: GetStudy, by: OrganiserLink, number: models.Number) -> None:
    """Note that what was reported, in this entry of the log, is no longer wrong."""
    study.resolve(number, by=by)


@router.post("/drop", **CHANGE)
def drop(study: GetStudy, by: OrganiserLink, gone: models.Candidate) -> None:
    """Take out a candidate who withdrew."""
    study.drop(gone.candidate, by=by)


@router.post("/add", **CHANGE)
def add(study: GetStudy, by: OrganiserLink, new: models.NewCandidate) -> None:
    """Take in a late candidate."""
    details = {name: text for name, text in new.details.given.items() if text is not None}
    study.add(new.candidate, new.positions, details, by=by)


@router.post("/edit", status_code=204)
def edit(study: GetStudy, by: OrganiserLink, changed: models.Edit) -> None:
    """Change the study's name, and titles, texts, pictures and links of candidates and positions."""
    candidates = {name: details.given for name, details in changed.candidates.items()}
    positions = {name: details.given for name, details in changed.positions.items()}
    study.edit(candidates, positions, by, changed.name)


# The study.


@router.post("/phase/{action}", **CHANGE)
def change_phase(
    study: GetStudy, by: OrganiserLink, action: Literal["pause", "resume", "close", "reopen"]
) -> None:
    """Pause, resume, close or reopen the study."""
    getattr(study, action)(by=by)


@router.post("/webhook", status_code=201)
def set_webhook(
    study: GetStudy, store: GetStore, request: Request, by: LastingLink, new: models.NewWebhook
) -> models.SignedWebhook:
    """Call an address when something is decided from now on, in place of another.

    What is sent is signed with the secret in the response, which is nowhere else. An organiser's link that
    expires cannot do this: the address would be called beyond its end.
    """
    url = checked_url(new.url, request.app.state.config)
    study.note_webhook(True, by=by)
    secret = store.webhooks.set(study.id, url, study.status())
    request.app.state.teller.start()
    return models.SignedWebhook(url=url, secret=secret)


@router.get("/webhook")
def webhook(study: GetStudy, store: GetStore) -> models.SetWebhook:
    """Say which address is called, and what went wrong last."""
    found = store.webhooks.of_study(study.id)
    if found is None:
        raise HTTPException(404, "This study has no webhook.")
    return models.SetWebhook(url=found.url, failure=found.failure)


@router.post("/webhook/remove", status_code=204)
def remove_webhook(study: GetStudy, store: GetStore, by: OrganiserLink) -> None:
    """Call nobody any more."""
    if store.webhooks.of_study(study.id) is None:
        return
    study.note_webhook(False, by=by)
    store.webhooks.remove(study.id)


@router.post("/publish", status_code=204)
def publish(study: GetStudy, by: OrganiserLink, result: models.Published) -> None:
    """Show the result to voters on their page, while the study is closed, or no longer."""
    study.publish(result.shown, by=by)


@router.post("/duplicate", status_code=201, dependencies=[Depends(lasting_link)])
def duplicate(study: GetStudy, store: GetStore, request: Request, new: models.Copy) -> models.Created:
    """Create another study of the same candidates, positions and judges, without the answers.

    That is for those who may create studies, with the `key` where one is needed, and not for an organiser's
    link that expires: those of the copy do not.
    """
    check_creator(request, new.key)
    dropped = study.status().dropped
    judges = [
        NewVoter(voter.name, voter.weight, [name for name in voter.conflicts if name not in dropped])
        for voter in study.voters()
        if study.settings.kind == "panel" and not voter.struck and not voter.left
    ]
    problem, settings = study.problem.without(dropped), replace(study.settings, seed=None)
    if settings.kind != "panel":  # a crowd could be created with it once, and never asked less for that
        settings = replace(settings, questions_each=None)
    return created(store.create(problem, settings, new.name, judges, try_beginning))


def try_beginning(data: Mapping[str, Any]) -> None:
    """Begin a study in the worker process first, and refuse it if that takes too long."""
    worker.run(check_beginning, data, seconds=LONGEST_BEGINNING, patience=PATIENCE)


def created(study: Study) -> models.Created:
    """Return a new study with its links."""
    invited = [
        models.Invited(voter=voter.id, name=voter.name, token=study.new_link("voter", voter.id))
        for voter in study.voters()
    ]
    return models.Created(study=study.id, organiser_token=study.new_link("organiser"), voters=invited)
