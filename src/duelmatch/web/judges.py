"""Judges in bulk: the page that lists them, the sheet of their links to cut apart, and the list to mail from.

The tokens of links are kept nowhere, so sheet and list are made of what the browser was given when it had the
links made, and sends back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from duelmatch.files.people import dump_links
from duelmatch.studies import LARGEST_NUMBER, Store, Study, Voter
from duelmatch.web.access import GetStore, GetStudy, organiser_link
from duelmatch.web.links import link_of, qr_code
from duelmatch.web.models import MOST_VOTERS
from duelmatch.web.names import Named, Names, voter_name
from duelmatch.web.pages import page

router = APIRouter(prefix="/studies/{study}", include_in_schema=False, dependencies=[Depends(organiser_link)])

PER_PAGE = 50
"""Judges: a page of a thousand would be as large as what they and the candidates have in common."""

NAMED = 20
"""So many candidates whom a judge does not judge are named before the list is opened."""


class ShownLink(BaseModel):
    """A link that was just made, and what else a list says of its voter."""

    model_config = ConfigDict(extra="forbid")
    token: str = Field(max_length=100)
    others: dict[str, str] = {}


_links = TypeAdapter(list[ShownLink])


@dataclass(frozen=True, slots=True)
class Card:
    """A link on paper."""

    name: str
    link: str
    others: dict[str, str]

    @property
    def qr(self) -> str:
        """The link, to point a phone at."""
        return qr_code(self.link)


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A voter as the page shows them."""

    voter: Voter
    name: str
    conflicts: list[int]
    """Whom the voter does not judge: their numbers in the list of candidates."""
    named: list[Named]
    """The first of them."""

    @property
    def state(self) -> str:
        """What there is to know at a glance."""
        if self.voter.struck:
            return "struck out"
        if self.voter.left:
            return "has left"
        return "has not begun" if _waits(self.voter) else ""


class JudgePage:
    """A page of the voters of a study, or of those who fit what is looked for; at most the last page."""

    most = MOST_VOTERS
    """How many can get new links at a time."""

    def __init__(self, study: Study, page: int, find: str) -> None:
        self.find = find.strip()
        """What is looked for in their names, whatever its capitals."""
        voters, wanted = study.voters(), self.find.casefold()
        found = [voter for voter in voters if wanted in voter_name(voter.id, voter.name).casefold()]
        self.voters, self.found = len(voters), len(found)
        self.waiting = sum(map(_waits, voters))
        """How many have not begun."""
        self.pages = max(1, math.ceil(len(found) / PER_PAGE))
        self.page = min(page, self.pages)
        self.candidates = Names.of(study.problem).without(study.status().dropped)
        """All who have not withdrawn. They are on the page once, for the script that shows whom to tick."""
        numbers = {who.name: number for number, who in enumerate(self.candidates)}
        shown = found[(self.page - 1) * PER_PAGE : self.page * PER_PAGE]
        self.rows = [_row(voter, self.candidates, numbers) for voter in shown]
        secret = study.settings.secret
        may_get = [voter for voter in found if not (voter.struck or (secret and voter.answers))]
        self.choices = [(voter.id, _waits(voter)) for voter in may_get[:MOST_VOTERS]]
        """Who may get new links, on all pages: the id, and whether they have not begun."""


def _row(voter: Voter, candidates: Sequence[Named], numbers: Mapping[str, int]) -> JudgeRow:
    conflicts = [numbers[name] for name in voter.conflicts if name in numbers]
    named = [candidates[number] for number in conflicts[:NAMED]]
    return JudgeRow(voter, voter_name(voter.id, voter.name), conflicts, named)


def _waits(voter: Voter) -> bool:
    """Whether votes of a voter are waited for who has not begun."""
    return voter.answers == 0 and not (voter.struck or voter.left)


@router.get("/judges")
def judges(
    request: Request,
    study: GetStudy,
    number: Annotated[int, Query(alias="page", ge=1, le=LARGEST_NUMBER)] = 1,
    find: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """List the judges: who has not begun, whom they do not judge, and new links."""
    panel, view = study.settings.kind == "panel", JudgePage(study, number, find)
    return page(request, "judges.html", study=study, view=view, panel=panel)


@router.post("/sheet")
async def sheet(request: Request, study: GetStudy, store: GetStore) -> Response:
    """Return the links as a page to print and to cut apart."""
    return page(request, "sheet.html", study=study, cards=await _cards(request, study, store))


@router.post("/links.csv")
async def mailing_list(request: Request, study: GetStudy, store: GetStore) -> Response:
    """Return the links as a table that programs for mail understand."""
    cards = await _cards(request, study, store)
    text = dump_links([{"name": card.name, **card.others, "link": card.link} for card in cards])
    disposition = {"Content-Disposition": 'attachment; filename="links.csv"'}
    return Response("\ufeff" + text, media_type="text/csv; charset=utf-8", headers=disposition)


async def _cards(request: Request, study: Study, store: Store) -> list[Card]:
    return await run_in_threadpool(_checked_cards, request, await request.body(), study, store)


def _checked_cards(request: Request, body: bytes, study: Study, store: Store) -> list[Card]:
    """Return the links that a form has sent back, if they are of voters of this study."""
    form = parse_qs(body.decode("utf-8", "replace"))
    try:
        shown = _links.validate_json(form.get("list", ["[]"])[0])[:MOST_VOTERS]
    except ValidationError:
        raise HTTPException(422, "The list of links is not whole; go back, and try again.") from None
    names = {voter.id: voter_name(voter.id, voter.name) for voter in study.voters()}
    cards = []
    for link in shown:
        access = store.access(link.token)
        if access is None or access.study != study.id or access.voter is None:
            raise HTTPException(
                409, "One of these links does not work any more. Make new ones for the judges."
            )
        cards.append(Card(names[access.voter], link_of(request, link.token), link.others))
    return cards
