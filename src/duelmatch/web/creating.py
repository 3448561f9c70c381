"""Creating studies: reading a problem, estimating what it takes, and beginning."""

from __future__ import annotations

import json
import math
import threading

from fastapi import APIRouter, Depends, HTTPException

from duelmatch.errors import FileError
from duelmatch.files.problems import Largest, read_problem, tree_of
from duelmatch.problem import Problem
from duelmatch.studies import MOST_PAIRS, NewVoter, Settings
from duelmatch.web import models
from duelmatch.web.access import GetStore, require_creator
from duelmatch.web.estimating import LONGEST_TRIAL, answers_to_expect
from duelmatch.web.organising import created
from duelmatch.web.problems import documented

LARGEST = Largest(edges=50_000, duels=MOST_PAIRS)
"""The largest problem accepted over HTTP."""

MOST_PAIRS_ESTIMATED = 5_000
"""Different duels: 30 candidates for 10 positions. With more, even the beginning of a trial takes long."""

router = APIRouter(tags=["organiser"], responses=documented(401), dependencies=[Depends(require_creator)])

_estimating = threading.Lock()
"""One trial at a time, and nobody waits for it: voters need the threads."""


def _problem_of(new: models.NewStudy) -> Problem:
    """Return the problem of a new study; it is read as if it came in a file."""
    try:
        text = json.dumps(new.problem)
    except RecursionError:
        raise FileError("The lists and mappings are nested too deeply.") from None
    return read_problem(text, ".json", LARGEST)


@router.post("/studies", status_code=201)
def create_study(store: GetStore, new: models.NewStudy) -> models.Created:
    """Create a study; the tokens of its links are in the response and nowhere else."""
    problem = _problem_of(new)
    voters = [NewVoter(voter.name, voter.weight, voter.conflicts) for voter in new.voters]
    return created(store, store.create(problem, Settings.from_dict(new.settings), new.name, voters))


@router.post("/problems/read")
def read_text(written: models.ProblemText) -> models.ReadProblem:
    """Read a problem as people write it: the text of a file, or just names, one on a line."""
    return models.ReadProblem(problem=tree_of(read_problem(written.text, f".{written.layout}", LARGEST)))


@router.post("/estimate")
def estimate(new: models.NewStudy) -> models.Estimate:
    """Say how many answers a study takes if three voters of four prefer the best; null if too many."""
    problem = _problem_of(new)
    settings = Settings.from_dict(new.settings).settled(named_voters=bool(new.voters))
    if problem.graph.pairs > MOST_PAIRS_ESTIMATED:
        return models.Estimate(answers=None)
    if not _estimating.acquire(blocking=False):
        soon = {"Retry-After": str(math.ceil(LONGEST_TRIAL))}
        raise HTTPException(429, "Another estimate is being made. Wait a moment, then try again.", soon)
    try:
        answers = answers_to_expect(problem, settings, len(new.voters), LONGEST_TRIAL)
    finally:
        _estimating.release()
    return models.Estimate(answers=answers)
