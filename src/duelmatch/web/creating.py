"""Creating studies: reading a problem, estimating what it takes, and beginning.

Whatever somebody sends may take long to read or to begin with, so a worker process tries it first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends

import duelmatch as dm
from duelmatch.errors import FileError, ProblemError
from duelmatch.explorers.result import Forecast
from duelmatch.files.conditions import explained
from duelmatch.files.problems import Largest, read_pasted, read_problem, tree_of
from duelmatch.files.spreadsheets import read_names
from duelmatch.problem import Problem
from duelmatch.studies import MOST_PAIRS, Settings
from duelmatch.web import models
from duelmatch.web.access import GetStore, require_creator
from duelmatch.web.organising import created, try_beginning
from duelmatch.web.problems import documented
from duelmatch.web.worker import (
    LONGEST_BEGINNING,
    LONGEST_ESTIMATE,
    PATIENCE,
    SIMULATING,
    ExhaustedError,
    estimator,
    worker,
)

if TYPE_CHECKING:
    from duelmatch.explorers.continuations import Run

LARGEST = Largest(edges=50_000, duels=MOST_PAIRS)
"""The largest problem accepted over HTTP."""

MOST_PAIRS_ESTIMATED = 5_000
"""Different duels: 30 candidates for 10 positions. With more, even the beginning of a trial takes long."""

MOST_JUDGES = 1_000
"""Judges of a panel that is simulated."""

Judge = tuple[int, Sequence[str]]
"""The weight, and the candidates who are not judged."""

Plan = tuple[int | None, float | None, float | None]
"""How many people, for how many minutes, and how many seconds a question takes."""

router = APIRouter(tags=["organiser"], responses=documented(401), dependencies=[Depends(require_creator)])


def _problem_of(new: models.NewStudy, patience: float) -> Problem:
    """Return the problem of a new study; it is read as if it came in a file."""
    try:
        text = json.dumps(new.problem)
    except RecursionError:
        raise FileError("The lists and mappings are nested too deeply.") from None
    return worker.run(read_problem, text, ".json", LARGEST, seconds=LONGEST_BEGINNING, patience=patience)


@router.post("/studies", status_code=201)
def create_study(store: GetStore, new: models.NewStudy) -> models.Created:
    """Create a study; the tokens of its links are in the response and nowhere else."""
    problem = _problem_of(new, PATIENCE)
    voters = [voter.new for voter in new.voters]
    settings = Settings.from_dict(new.settings)
    return created(store.create(problem, settings, new.name, voters, try_beginning))


@router.post("/problems/read")
def read_text(written: models.ProblemText) -> models.ReadProblem:
    """Read a problem as people write it: the text of a file, cells of a spreadsheet, or just names.

    What has no layout may be a part of a problem: candidates without positions.
    """
    task = written.text, written.layout, written.partly
    return worker.run(_read_text, *task, seconds=LONGEST_BEGINNING, patience=PATIENCE)


def _read_text(text: str, layout: str | None, partly: bool) -> models.ReadProblem:
    problem, mistakes = None, list[str]()
    if layout is None:
        tree = read_pasted(text, LARGEST, mistakes if partly else None)
        try:
            if tree["positions"] and not mistakes:
                problem = read_problem(json.dumps(tree), ".json", LARGEST)
        except (FileError, ProblemError) as error:
            if not partly:
                raise
            mistakes.append(str(error))
    elif layout == "names":
        tree = {"candidates": read_names(text), "positions": []}
    else:
        problem = read_problem(text, f".{layout}", LARGEST)
        tree = tree_of(problem)
    conditions = [] if problem is None else explained(problem)
    return models.ReadProblem(problem=tree, conditions=conditions, mistakes=mistakes)


@router.post("/judges/read")
def read_judges(written: models.JudgesText) -> list[models.ReadJudge]:
    """Read a list of judges as people write it: one name on a line, or a table with headings."""
    return models.read_judges(written)


@router.post("/estimate")
def estimate(new: models.PlannedStudy) -> models.Estimate:
    """Say what to expect of a study, from simulations; with `judges` and `minutes`, what they bring."""
    named = bool(new.voters)
    settings = Settings.from_dict(new.settings | {"seed": 0}).settled(named_voters=named)
    people = len(new.voters) if named else new.judges
    with suppress(ExhaustedError):  # and nobody waits for another's: voters need the threads
        problem = _problem_of(new, patience=0)
        if problem.graph.pairs > MOST_PAIRS_ESTIMATED:
            return models.Estimate.unknown(models.TOO_LARGE_TO_TELL)
        voters = [(voter.weight, voter.conflicts) for voter in new.voters] or [(1, [])] * (people or 1)
        plan = people, new.minutes, new.seconds_each
        task = forecast_of, problem, settings, voters, plan, SIMULATING
        found = estimator.run(*task, seconds=LONGEST_ESTIMATE)
        return models.Estimate.of_forecast(found)
    return models.Estimate.unknown(models.TOO_BUSY_TO_TELL)


# In the worker process.


def forecast_of(
    problem: Problem, settings: Settings, judges: Sequence[Judge], plan: Plan, seconds: float
) -> Forecast:
    """Say what to expect of a new study."""
    return dm.forecast(begun(problem, settings, judges[:MOST_JUDGES]), *plan, seconds=seconds)


def begun(problem: Problem, settings: Settings, judges: Sequence[Judge]) -> Run:
    """Begin a run as a study with these settings does."""
    assert settings.algorithm is not None, "the settings are settled"
    if settings.kind == "panel":
        from duelmatch.explorers.panel import PanelExplorer  # compiled, as the other is

        names = [str(number) for number in range(len(judges))]
        return PanelExplorer(
            problem,
            names,
            conflicts={name: conflicts for name, (_, conflicts) in zip(names, judges, strict=True)},
            voter_weight={name: weight for name, (weight, _) in zip(names, judges, strict=True)},
            questions_each=settings.questions_each,
            **settings.parameters,
        )
    if settings.kind == "crowd":
        from duelmatch.explorers.ballots.explorer import BallotExplorer

        return BallotExplorer(
            problem,
            settings.algorithm,  # type: ignore[arg-type]
            settings.delta,
            settings.seed,
            max_answers=settings.max_answers,
            **settings.parameters,
        )
    return dm.explorer(
        settings.algorithm,
        problem,
        settings.delta,
        settings.seed,
        settings.max_answers,
        **settings.parameters,
    )


def rehearse_forecasts(algorithms: Iterable[str] = ("condorcet", "borda", "panel")) -> None:
    """Run algorithms once on a tiny problem, the way a study does, so that they are compiled.

    Each has a budget, and no limit of time, which compiling would use up.
    """
    problem = Problem.complete(["a", "b", "c"], ["x", "y"])
    for name in algorithms:
        budget = None if name == "panel" else 60
        settings = Settings(name, 0.3, seed=0, max_answers=budget).settled(named_voters=False)
        dm.forecast(begun(problem, settings, [(1, ())] * 3), 3, 1, simulations=9)
