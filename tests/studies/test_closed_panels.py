"""A panel closed early: its study, ``decide`` on its answers, and ``verify`` name the same line-up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import choices
import duelmatch as dm
from duelmatch.files.answers import read_sheet
from duelmatch.studies import Question, Settings, Store, Study, export_answers
from duelmatch.studies.exchange import export_log
from duelmatch.verify import verify

VOTERS = ["eve", "ned", "zoe", "kim"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{tmp_path}/duels.db") as store:
        yield store


def closed_early(store: Store, problem: dm.Problem, criterion: str, seed: int, answers: int) -> Study:
    """Return a study of judges who rank by chance, closed after so many answers each."""
    random = Random(seed)
    study = store.create(
        problem, Settings("panel", parameters={"criterion": criterion}, seed=seed), "Jury", voters=VOTERS
    )
    order = {
        (voter.id, place): random.sample(problem.candidates, len(problem.candidates))
        for voter in study.voters()
        for place in problem.positions
    }
    for _ in range(answers):
        for voter in study.voters():
            question = study.ask(voter.id)
            if isinstance(question, Question):
                ranking = order[voter.id, question.position]
                study.tell(voter.id, question.number, min(question.candidates, key=ranking.index))
    study.close()
    return study


def check_that_all_agree(study: Study, criterion: str) -> None:
    recorded = study.status().result
    sheet = read_sheet(export_answers(study), study.problem)
    decision = dm.decide(
        sheet.problem,
        [row.answer for row in sheet.rows],
        criterion,  # type: ignore[arg-type]
        voters=tuple(sheet.weights),
        chosen=sheet.chosen,
    )
    assert decision.result.status == recorded.status
    assert decision.result.matching == recorded.matching
    assert decision.result.shortfall == recorded.shortfall
    report = verify(export_log(study).splitlines())
    assert report.found is not None
    assert not report.differs
    if criterion == "condorcet" and recorded.status == "budget_spent":
        reopened = verify(export_log(study).splitlines()[:-1]).found
        assert reopened is not None
        assert reopened.shortfall == pytest.approx(recorded.shortfall, abs=1e-12), "found without being told"


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_all_name_the_line_up_that_falls_short_least(store: Store, criterion: str) -> None:
    problem = dm.Problem.complete(["ann", "bob", "cyd", "dan", "fay"], ["chair", "editor", "clerk"])
    open_ones = 0
    for seed in range(8):
        study = closed_early(store, problem, criterion, seed, answers=3 + seed % 3)
        check_that_all_agree(study, criterion)
        open_ones += not study.status().certain
    assert open_ones > 4


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_also_with_seats_capacities_and_rules(store: Store, criterion: str) -> None:
    open_ones = 0
    for seed in choices.SEEDS[3::9]:
        problem = choices.problem(seed)
        if problem.graph.pairs and len(choices.decisions(problem)) <= 60:
            study = closed_early(store, problem, criterion, seed, answers=1 + seed % 2)
            check_that_all_agree(study, criterion)
            open_ones += not study.status().certain
    assert open_ones > 2
