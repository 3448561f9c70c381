"""Studies as files: exported and imported, backed up and restored."""

from __future__ import annotations

import csv
import gzip
import io
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import duelmatch as dm
from duelmatch.errors import FileError, StoreError
from duelmatch.studies import Question, Settings, Store, Study
from duelmatch.studies.backup import backup, restore
from duelmatch.studies.database import Database
from duelmatch.studies.exchange import export_answers, export_log, export_table, import_log
from studies.playing import check_log, question_for, vote

NewStudy = Callable[..., Study]


@pytest.fixture(params=["panel", "condorcet", "car-cond"])
def lived_in(request: pytest.FixtureRequest, new_study: NewStudy) -> Study:
    """A study in which everything has happened."""
    study = new_study(algorithm=request.param, voters=["=Eve()", "Bob", "Mallory", "Zoe"])
    voters = [voter.id for voter in study.voters()]
    for voter in voters[:3]:
        vote(study, voter)
    for voter in voters[:2]:
        question = question_for(study, voter)
        study.tell(voter, question.number, None)
    question = study.ask(voters[0])
    if isinstance(question, Question):
        study.skip(voters[0], question.number, "I know neither")
    study.ask(voters[0])
    study.undo(voters[1])
    study.correct(2, None)
    study.strike(voters[2])
    study.drop("dan")
    study.pause()
    return study


class TestExchange:
    def test_an_imported_study_is_the_same(self, lived_in: Study, store: Store) -> None:
        again = import_log(store, export_log(lived_in, people=True))
        assert again.id != lived_in.id
        assert again.entries() == lived_in.entries()
        assert again.voters() == lived_in.voters()
        assert again.name == lived_in.name
        assert again.links() == []
        assert replace(again.status(), id="") == replace(lived_in.status(), id="")
        for study in (again, lived_in):
            study.resume()
        for voter in lived_in.voters()[:2]:
            asked, expected = again.ask(voter.id), lived_in.ask(voter.id)
            if isinstance(expected, Question) and isinstance(asked, Question):
                assert (asked.number, asked.candidates) == (expected.number, expected.candidates)
            else:
                assert asked == expected
        check_log(again)

    def test_people_are_left_out_unless_asked_for(self, lived_in: Study) -> None:
        for export in (export_log, export_answers, export_table):
            assert "Eve" not in export(lived_in)
            assert "Eve" in export(lived_in, people=True)

    def test_links_are_never_in_it(self, lived_in: Study) -> None:
        token = lived_in.new_link("organiser")
        assert token[:16] not in export_log(lived_in, people=True)

    def test_the_table_has_every_answer_and_whether_it_counts(self, lived_in: Study) -> None:
        rows = [row for row in csv.DictReader(io.StringIO(export_table(lived_in))) if row["entry"]]
        status = lived_in.status()
        assert len(rows) == status.answers
        assert sum(row["counts"] == "yes" for row in rows) == status.counted
        assert [row["struck"] for row in rows if row["question"] == "2"] == ["yes"]
        exported = list(csv.DictReader(io.StringIO(export_answers(lived_in))))
        counting = [row for row in exported if row["ranking"] and not row.get("struck")]
        assert len(counting) == status.counted
        if lived_in.settings.kind == "panel":
            assert list(exported[0]) == ["voter", "position", "ranking", "struck", "withdrawn"]
            assert {row["withdrawn"] for row in exported} == {"dan", ""}
            assert sum(row["struck"] == "yes" for row in exported) == 1
            assert sum(row["voter"] != "" and row["ranking"] == "" for row in exported) == 2, "of four judges"
        else:
            assert list(exported[0]) == ["voter", "position", "ranking"]
            assert len(exported) == len(counting)
        for row in counting:
            assert " > " in row["ranking"] or " = " in row["ranking"]

    def test_what_is_exported_can_be_estimated_from(self, lived_in: Study, tmp_path: Path) -> None:
        (tmp_path / "answers.csv").write_text(export_answers(lived_in))
        (tmp_path / "table.csv").write_text(export_table(lived_in))
        preferences = dm.estimate_preferences(tmp_path / "answers.csv", lived_in.problem)
        assert preferences == dm.estimate_preferences(tmp_path / "table.csv", lived_in.problem)
        assert preferences.probability("chair", "ann", "cyd") > 0.5

    def test_a_spreadsheet_takes_nothing_for_a_formula(self, new_study: NewStudy) -> None:
        study = new_study(dm.Problem.complete(["=1+1", "@ann", "+bob", "-cyd"], ['=HYPERLINK("x")']))
        voter = study.voter_named("=Eve()")
        for _ in range(6):
            vote(study, voter)
        for row in csv.reader(io.StringIO(export_table(study, people=True))):
            assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)

    @pytest.mark.parametrize("text", ["", "[]", "{", "nonsense", "[" * 100_000, "7", '{"names": {}}'])
    def test_what_is_not_a_study_is_refused(self, store: Store, text: str) -> None:
        with pytest.raises(FileError):
            import_log(store, text)


class TestBackups:
    def test_all_of_it_comes_back_even_elsewhere(
        self, new_url: Callable[[], str], postgres: Callable[[], str], tmp_path: Path
    ) -> None:
        with Store(new_url()) as store:
            study = store.create(dm.Problem.complete(["ann", "bob"], ["chair"]), Settings("car-cond"), "x")
            voter = study.add_voter("Ann")
            token = study.new_link("voter", voter)
            vote(study, voter)
            counts = backup(store.database, tmp_path / "all.gz")
            assert counts == {"studies": 1, "voters": 1, "entries": 4, "links": 1}
            for number, address in enumerate((postgres(), f"sqlite:///{tmp_path}/again.db")):
                database = Database(address)
                assert restore(database, tmp_path / "all.gz") == counts
                with pytest.raises(StoreError, match="restore into an empty one"):
                    restore(database, tmp_path / "all.gz")
                database.close()
                with Store(address) as other:
                    again = other.study(study.id)
                    assert again.entries() == study.entries()
                    assert again.status() == study.status()
                    access = other.access(token)
                    assert access is not None
                    assert access.voter == voter
                    backup(other.database, tmp_path / f"{number}.gz")
                    vote(again, voter)
        assert (
            (tmp_path / "0.gz").read_bytes()
            == (tmp_path / "1.gz").read_bytes()
            == (tmp_path / "all.gz").read_bytes()
        )

    def test_it_goes_into_an_empty_store_too(self, new_url: Callable[[], str], tmp_path: Path) -> None:
        with Store(new_url()) as store:
            store.create(dm.Problem.complete(["ann", "bob"], ["chair"]), Settings("car-cond"), "x")
            backup(store.database, tmp_path / "all.gz")
        address = new_url()
        Store(address).close()
        database = Database(address)
        restore(database, tmp_path / "all.gz")
        database.close()
        with Store(address) as store:
            assert [study.name for study in store.studies()] == ["x"]

    def test_nobody_else_can_read_it(self, store: Store, tmp_path: Path) -> None:
        backup(store.database, tmp_path / "all.gz")
        assert stat.S_IMODE((tmp_path / "all.gz").stat().st_mode) == 0o600
        assert [path.name for path in tmp_path.iterdir()] == ["all.gz"]

    def test_a_broken_backup_restores_nothing(self, new_url: Callable[[], str], tmp_path: Path) -> None:
        with Store(new_url()) as store:
            study = store.create(dm.Problem.complete(["ann", "bob"], ["chair"]), Settings("car-cond"), "x")
            study.add_voter("Ann")
            backup(store.database, tmp_path / "all.gz")
        whole = gzip.decompress((tmp_path / "all.gz").read_bytes())
        lines = whole.splitlines(keepends=True)
        last_row = max(number for number, line in enumerate(lines) if line.startswith(b"["))
        broken = {
            "cut.gz": (tmp_path / "all.gz").read_bytes()[:-20],
            "short.gz": gzip.compress(b"".join(lines[:-1])),
            "lost.gz": gzip.compress(b"".join(lines[:3] + lines[4:])),
            "row.gz": gzip.compress(b"".join(lines[:last_row] + lines[last_row + 1 :])),
            "odd.gz": gzip.compress(whole.replace(b'"columns"', b'"cakes"')),
            "other.gz": gzip.compress(b'{"format": "cake"}\n'),
            "newer.gz": gzip.compress(whole.replace(b'"tables":"', b'"tables":"9')),
            "text.gz": b"nonsense",
            "empty.gz": b"",
        }
        address = new_url()
        database = Database(address)
        for name, content in broken.items():
            (tmp_path / name).write_bytes(content)
            with pytest.raises(FileError):
                restore(database, tmp_path / name)
            with database.reading() as connection:
                assert database.revision(connection) is None, name
        with pytest.raises(FileError, match="no such file"):
            restore(database, tmp_path / "nowhere.gz")
        restore(database, tmp_path / "all.gz")
        database.close()
