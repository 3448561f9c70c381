"""The page on which an organiser mends what voters read of candidates and positions, at any time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import APIRouter, Depends, Request, Response

from duelmatch.problem import Details
from duelmatch.studies import Study
from duelmatch.web.access import GetStudy, organiser_link
from duelmatch.web.names import Named, Names
from duelmatch.web.pages import page

router = APIRouter(prefix="/studies/{study}", include_in_schema=False, dependencies=[Depends(organiser_link)])


@dataclass(frozen=True, slots=True)
class Entry:
    """A candidate or a position, and what voters read of it."""

    kind: str
    number: int
    who: Named
    about: Details


def entries_of(study: Study) -> tuple[list[Entry], list[Entry]]:
    """Return the candidates who have not withdrawn, and the positions."""
    problem, dropped, names = study.problem, study.status().dropped, Names.of(study.problem)
    candidates = {name: who for name, who in names.candidates.items() if name not in dropped}
    return (
        _entries("candidates", candidates, problem.candidate_details),
        _entries("positions", names.positions, problem.position_details),
    )


def _entries(kind: str, names: Mapping[str, Named], details: Mapping[str, Details]) -> list[Entry]:
    return [
        Entry(kind, number, who, details.get(name, Details()))
        for number, (name, who) in enumerate(names.items(), start=1)
    ]


@router.get("/candidates")
def candidates(request: Request, study: GetStudy) -> Response:
    """Show what voters read of candidates and positions, to change it, and take in a late candidate."""
    who, where = entries_of(study)
    return page(request, "candidates.html", study=study, candidates=who, positions=where)
