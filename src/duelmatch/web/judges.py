"""Judges in bulk: the page that lists them, the sheet of their links to cut apart, and the list to mail from.

The tokens of links are kept nowhere, so sheet and list are made of what the browser was given when it had the
links made, and sends back.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from duelmatch.files.people import dump_links
from duelmatch.studies import Store, Study, Voter
from duelmatch.web.access import GetStore, GetStudy, organiser_link
from duelmatch.web.answer_pages import voter_name
from duelmatch.web.links import link_of, qr_code
from duelmatch.web.models import MOST_VOTERS
from duelmatch.web.names import Named, Names
from duelmatch.web.pages import page

router = APIRouter(prefix="/studies/{study}", include_in_schema=False, dependencies=[Depends(organiser_link)])

MOST_LISTED = 2_000
"""On one page."""


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
    conflicts: list[tuple[Named, bool]]
    """Every candidate, and whether the voter does not judge them."""

    @property
    def state(self) -> str:
        """What there is to know at a glance."""
        if self.voter.struck:
            return "struck out"
        if self.voter.left:
            return "has left"
        return "has not begun" if self.voter.answers == 0 else ""


def rows_of(study: Study) -> list[JudgeRow]:
    """Return the voters of a study, as many as a page shows."""
    names, dropped = Names.of(study.problem).candidates, study.status().dropped
    return [
        JudgeRow(
            voter,
            voter_name(voter.id, voter.name),
            [(who, name in voter.conflicts) for name, who in names.items() if name not in dropped],
        )
        for voter in study.voters()[:MOST_LISTED]
    ]


@router.get("/judges")
def judges(request: Request, study: GetStudy) -> Response:
    """List the judges: who has not begun, whom they do not judge, and new links."""
    panel = study.settings.kind == "panel"
    rows = rows_of(study)
    waiting = sum(row.state == "has not begun" for row in rows)
    return page(request, "judges.html", study=study, rows=rows, panel=panel, waiting=waiting)


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
