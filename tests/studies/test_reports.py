"""Voters report problems, declare conflicts and judge a part of the candidates, in studies of every kind."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

import duelmatch as dm
from duelmatch.errors import ConflictError, NotAllowedError, NotThereError, ProblemError, StudyError
from duelmatch.studies import NewVoter, Nothing, Question, Settings, Store, Study, export_log
from duelmatch.studies.feed import MOST_REPORTS
from duelmatch.verify import verify
from studies.playing import check_fresh, check_log

TEAM = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor"])


def test_a_problem_is_reported_once_and_resolved(new_study: Callable[..., Study], url: str) -> None:
    for algorithm in ("panel", "condorcet", "car-cond"):
        study = new_study(TEAM, algorithm, ["Eve", "Ned"])
        eve, ned = (voter.id for voter in study.voters())
        for _ in range(2):
            study.report(eve, "ann", "absent", "not at  her table")
        study.report(ned, "ann", "link")
        shown = [(report.voter, report.candidate, report.problem, report.text) for report in study.reports()]
        assert shown == [(ned, "ann", "link", ""), (eve, "ann", "absent", "not at her table")]
        first = study.reports()[-1].entry
        for _ in range(2):
            study.resolve(first)
        assert [report.voter for report in study.reports()] == [ned]
        study.report(eve, "ann", "absent", "not at her table")
        assert len(study.reports()) == 2, "it is wrong again"
        study.close()
        study.report(eve, "bob", "other")
        for wrong, error in (("dim", StudyError), ("absent", ProblemError)):
            with pytest.raises(error):
                study.report(eve, "ann" if wrong == "dim" else "zed", wrong)  # type: ignore[arg-type]
        with pytest.raises(NotThereError):
            study.resolve(1)
        study.reopen()
        study.strike(eve)
        with pytest.raises(NotAllowedError):
            study.report(eve, "cyd", "absent")
        check_log(study)
        check_fresh(study, url)
        assert verify(export_log(study).splitlines()).damage is None


def test_reports_of_a_voter_are_bounded_and_come_in_pages(new_study: Callable[..., Study]) -> None:
    study = new_study(TEAM, "panel", ["Eve", "Ned"])
    eve, ned = (voter.id for voter in study.voters())
    for number in range(MOST_REPORTS):
        study.report(eve, "ann", "other", f"{number}")
    with pytest.raises(ConflictError, match="not solved yet"):
        study.report(eve, "bob", "absent")
    study.report(eve, "ann", "other", "0")
    study.report(ned, "bob", "absent")
    assert study.count_reports() == MOST_REPORTS + 1
    latest, *others = study.reports()
    assert study.reports(limit=1) == [latest]
    assert study.reports(before=latest.entry, limit=2) == others[:2]
    study.resolve(others[0].entry)
    study.report(eve, "bob", "absent")
    assert study.count_reports() == MOST_REPORTS + 1
    with pytest.raises(ConflictError):
        study.report(eve, "bob", "link")
    check_log(study)


def test_a_crowd_is_not_asked_about_whom_a_voter_cannot_judge(store: Store, url: str) -> None:
    study = store.create(TEAM, Settings("condorcet", seed=0), "Crowd")
    asked = 0
    for turn in range(12):
        voter = study.add_voter()
        while isinstance(question := study.ask(voter), Question):
            asked += 1
            if turn % 3 == 0 and "ann" in question.candidates:
                assert "ann" not in study.voters()[-1].conflicts, "it was declared before"
                study.conflict(voter, ["ann"])
                study.conflict(voter, ["ann"])
            else:
                study.tell(voter, question.number, min(question.candidates))
        assert question == Nothing("all yours") or study.status().done
    assert asked > 20
    skipped = [entry for entry in study.entries() if entry.kind == "skipped"]
    assert {entry.data["reason"] for entry in skipped} == {"conflict of interest"}
    check_log(study)
    check_fresh(study, url)
    study.close()
    report = verify(export_log(study).splitlines())
    assert (report.damage, report.differs) == (None, False)


def test_a_judge_of_a_part_of_the_candidates(store: Store) -> None:
    judges = [
        "Eve",
        NewVoter("Zoe", only=["ann", "bob"]),
        NewVoter("Ned", only=["ann", "bob"], conflicts=["bob"]),
    ]
    study = store.create(TEAM, Settings("panel"), "Parts", judges)
    assert [voter.conflicts for voter in study.voters()] == [(), ("cyd", "dan"), ("bob", "cyd", "dan")]
    _, zoe, ned = study.voters()
    question = study.ask(zoe.id)
    assert isinstance(question, Question)
    assert set(question.candidates) == {"ann", "bob"}
    assert study.ask(ned.id) == Nothing("all yours"), "there is nobody to compare with"
    with pytest.raises(ProblemError):
        store.create(TEAM, Settings("panel"), "Parts", [NewVoter("Zoe", only=["zed"])])


def test_walking_is_a_parameter_of_panels_and_crowds(store: Store) -> None:
    for algorithm in ("panel", "condorcet", "borda"):
        settings = Settings(algorithm, parameters={"walking": True})
        study = store.create(TEAM, settings, "Walk", ["Eve"] if algorithm == "panel" else [])
        voter = study.voters()[0].id if algorithm == "panel" else study.add_voter()
        seen: list[set[str]] = []
        while isinstance(question := study.ask(voter), Question):
            seen.append(set(question.candidates))
            study.tell(voter, question.number, min(question.candidates))
        assert len(seen) > 2
        assert all(one & other for one, other in pairwise(seen))
        assert verify(export_log(study).splitlines()).damage is None
    with pytest.raises(ProblemError):
        Settings("car-cond", parameters={"walking": True})
