"""Databases of older versions are brought up to date, and their studies go on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from duelmatch.explorers.catalogue import Assumption
from duelmatch.studies import Nothing, Question, Store, Study
from duelmatch.studies.backup import restore
from duelmatch.studies.database import Database
from duelmatch.studies.migrations import revisions
from studies.playing import check_every_question, check_log

OLD = Path(__file__).parent / "databases"
SAID: dict[str, dict[str, Any]] = json.loads((OLD / "0001-studies.json").read_text())
"""What version 0.1.0 said of the studies that it left in 0001-studies."""


def test_every_revision_has_left_a_database() -> None:
    for ending in ("db", "gz"):
        assert {path.stem[:4] for path in OLD.glob(f"*.{ending}")} == {*revisions()}


@pytest.mark.parametrize("old", sorted(OLD.glob("*.db")), ids=lambda path: path.name)
def test_a_database_of_an_older_version_is_upgraded(old: Path, tmp_path: Path) -> None:
    copy = tmp_path / "old.db"
    shutil.copy(old, copy)
    database = Database(f"sqlite:///{copy}")
    assert database.upgrade() == (old.stem[:4], revisions()[0])
    assert database.upgrade() == (revisions()[0], revisions()[0])
    database.close()
    with Store(f"sqlite:///{copy}") as store:
        check_old(store)


@pytest.mark.parametrize("old", sorted(OLD.glob("*.gz")), ids=lambda path: path.name)
def test_a_backup_of_an_older_version_is_restored(old: Path, new_url: Callable[[], str]) -> None:
    address = new_url()
    database = Database(address)
    restore(database, old)
    database.close()
    with Store(address) as store:
        check_old(store)


def check_old(store: Store) -> None:
    for listed in store.studies():
        study = store.study(listed.id)
        status = study.status()
        assert status.answers > 0
        assert status.phase == listed.phase
        check_log(study)
        if study.settings.kind != "crowd":
            check_every_question(study.entries(), sides=False)
        ids = [voter.id for voter in study.voters()]
        assert len({*ids}) == len(ids) > 0
        assert all(len(voter) == 16 for voter in ids)
        if status.phase == "open":
            assert isinstance(study.ask(study.add_voter("New")), Question)
            check_log(study)
        for link in study.links():
            assert link.voter is None or link.voter in ids


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The studies of version 0.1.0 in a database that was brought up to date."""
    path = tmp_path_factory.mktemp("upgraded") / "old.db"
    shutil.copy(OLD / "0001-studies.db", path)
    database = Database(f"sqlite:///{path}")
    database.upgrade()
    database.close()
    return path


@pytest.fixture
def old_store(upgraded: Path, tmp_path: Path) -> Iterator[Store]:
    shutil.copy(upgraded, tmp_path / "old.db")
    with Store(f"sqlite:///{tmp_path}/old.db") as store:
        yield store


def studies_of(store: Store, phase: str, *algorithms: str) -> list[tuple[Study, dict[str, Any]]]:
    found = [(store.study(study), said) for study, said in SAID.items() if said["state"] == phase]
    return [(study, said) for study, said in found if study.settings.algorithm in algorithms]


ALL = ("condorcet", "borda", "car-cond")


def test_every_answer_is_still_there(old_store: Store) -> None:
    for phase in ("open", "closed"):
        for study, said in studies_of(old_store, phase, *ALL):
            status = study.status()
            assert (status.answers, status.counted) == (said["answers"], said["counted"])
            answers = [
                [given.question, given.position, *(name for (name,) in given.answer)]
                for given in study.answers(limit=None)
            ]
            assert answers == said["votes"]


def test_closed_studies_keep_their_verdict(old_store: Store) -> None:
    closed = studies_of(old_store, "closed", *ALL)
    assert len(closed) == 3
    for study, said in closed:
        status = study.status()
        assert status.verdict is not None
        result = status.result
        by_rounds = study.settings.algorithm == "car-cond"  # others would have asked other questions today
        assert (result.status, result.duels) == (
            said["status"] if by_rounds else "budget_spent",
            said["duels"],
        )
        assert dict(result.matching or {}) == said["matching"]
        assert result.algorithm == study.settings.algorithm
        assert Assumption.INDEPENDENT_ANSWERS in status.assuming
        assert study.ask(study.voters()[0].id) == Nothing("closed")


def test_rounds_go_on_by_replay(old_store: Store) -> None:
    ((study, said),) = studies_of(old_store, "open", "car-cond")
    status = study.status()
    assert (status.result.status, status.result.duels) == (said["status"], said["duels"])
    assert dict(status.result.matching or {}) == said["matching"]
    voter = next(voter for voter in study.voters() if not voter.struck)
    assert isinstance(study.ask(voter.id), Question)


@pytest.mark.parametrize("algorithm", ["condorcet", "borda"])
def test_old_answers_count_for_the_estimates_not_for_the_proof(old_store: Store, algorithm: str) -> None:
    ((study, _),) = studies_of(old_store, "open", algorithm)
    before = study.status()
    assert before.progress.possible == 6, "nothing is ruled out"
    assert before.open_questions == 0
    struck = next(voter for voter in study.voters() if voter.struck)
    assert struck.answers > 0
    old = next(voter for voter in study.voters() if voter.answers and not voter.struck)
    assert study.ask(old.id) == Nothing("all yours"), "their answers have shaped the questions"
    voter = study.add_voter()
    question = study.ask(voter)
    assert isinstance(question, Question)
    assert question.number == before.questions + 1
    (design,) = [entry for entry in study.entries() if entry.kind == "designed"]
    assert design.data["champion"] == {"chair": "ann", "editor": "cyd"}, "as most had said"
    study.tell(voter, question.number, question.candidates[0])
    given = study.answers(voter=old.id)[0]
    study.correct(given.question, None)
    assert study.status().counted == before.counted
    check_log(study)


def test_links_and_names_are_kept(old_store: Store) -> None:
    for study, _ in studies_of(old_store, "open", *ALL):
        assert [voter.name for voter in study.voters()] == ["V0", "V1", "V2", "V3", "V4", None]
        assert sorted(link.role for link in study.links()) == ["organiser", "voter"]
        (link,) = (link for link in study.links() if link.role == "voter")
        assert link.voter == study.voters()[0].id


def test_a_closed_study_that_is_reopened_goes_on_as_a_crowd(old_store: Store) -> None:
    ((study, said),) = studies_of(old_store, "closed", "condorcet")
    study.reopen()
    status = study.status()
    assert not status.done
    assert status.counted == said["counted"]
    assert isinstance(study.ask(study.add_voter()), Question)
    check_log(study)
