"""Studies as files: exported and imported, backed up and restored, and those of older versions."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import duelmatch as dm
from duelmatch.errors import FileError, StoreError
from duelmatch.studies import Question, Settings, Store, Study
from duelmatch.studies.backup import backup, restore
from duelmatch.studies.database import Database, newest_revision
from duelmatch.studies.exchange import export_csv, export_json, import_json
from studies.playing import check_every_question, check_log, question_for, vote

OLD = Path(__file__).parent / "databases"
NewStudy = Callable[..., Study]


def numbered(document: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry as the last of a document."""
    return entry | {"seq": len(document["entries"]) + 1}


EDITS: list[Callable[[dict[str, Any]], Any]] = [
    lambda d: d.update(format="cake"),
    lambda d: d.update(version=99),
    lambda d: d.update(name=""),
    lambda d: d.update(entries=[]),
    lambda d: d.update(entries=7),
    lambda d: d.update(voters=[1]),
    lambda d: d["entries"].pop(3),
    lambda d: d["entries"].append(d["entries"][0]),
    lambda d: d["entries"][0].pop("note"),
    lambda d: d["entries"][0]["note"]["settings"].update(algorithm="magic"),
    lambda d: d["entries"][0]["note"]["problem"].update(positions=["zzz"]),
    lambda d: d["entries"][1].update(voter=2),
    lambda d: d["entries"][1].update(kind="exploded"),
    lambda d: d["entries"][4].update(one=99),
    lambda d: d["entries"][4].update(one=-1),
    lambda d: d["entries"][4].update(question=5),
    lambda d: d["entries"][5].update(one=d["entries"][5]["other"]),
    lambda d: d["entries"][5].update(question=99),
    lambda d: d["entries"][5].update(surprise=1),
    lambda d: d["entries"][5].update(at=1e300),
    lambda d: d["entries"].append(numbered(d, d["entries"][5])),
    lambda d: [
        d["entries"].append(numbered(d, {"kind": "dropped", "at": 1.0, "note": {"candidate": name}}))
        for name in ("ann", "bob", "cyd")
    ],
]


@pytest.fixture
def lived_in(new_study: NewStudy) -> Study:
    """A study in which everything has happened."""
    study = new_study()
    voters = [study.add_voter("=Eve()"), study.add_voter(), study.add_voter("Mallory")]
    for _ in range(5):
        for voter in voters:
            vote(study, voter)
    for voter in voters[:2]:
        question = question_for(study, voter)
        study.tell(voter, question.number, None)
    question = question_for(study, voters[0])
    study.skip(voters[0], question.number, "I know neither")
    question_for(study, voters[0])
    study.undo(voters[1])
    study.correct(2, None)
    study.invalidate(voters[2])
    study.drop("dan")
    study.pause()
    return study


class TestExchange:
    def test_an_imported_study_is_the_same(self, lived_in: Study, store: Store) -> None:
        again = import_json(store, export_json(lived_in, people=True))
        assert again.id != lived_in.id
        assert again.log() == lived_in.log()
        assert again.voters() == lived_in.voters()
        assert again.keys() == []
        assert vars_of(again) == vars_of(lived_in)
        for study in (again, lived_in):
            study.resume()
        for voter in (1, 2):
            asked, expected = question_for(again, voter), question_for(lived_in, voter)
            assert (asked.number, asked.left, asked.right) == (expected.number, expected.left, expected.right)
            assert again.tell(voter, asked.number, asked.left) == lived_in.tell(
                voter, asked.number, asked.left
            )
        check_log(again)

    def test_people_are_left_out_unless_asked_for(self, lived_in: Study) -> None:
        assert "Mallory" not in export_json(lived_in) + export_csv(lived_in)
        assert "Mallory" in export_json(lived_in, people=True)
        assert "Mallory" in export_csv(lived_in, people=True)

    def test_links_are_never_in_it(self, lived_in: Study) -> None:
        token = lived_in.new_key("organiser")
        assert token[:16] not in export_json(lived_in, people=True)

    def test_the_csv_has_every_answer_and_whether_it_counts(self, lived_in: Study) -> None:
        rows = list(csv.DictReader(io.StringIO(export_csv(lived_in))))
        status = lived_in.status()
        assert len(rows) == status.answers
        assert sum(row["counts"] == "yes" for row in rows) == status.counted
        assert [row["counts"] for row in rows if row["question"] == "2"] == ["no"]
        assert sum(row["tie"] == "yes" for row in rows) == 1

    def test_a_spreadsheet_takes_nothing_for_a_formula(self, new_study: NewStudy) -> None:
        study = new_study(dm.Problem.complete(["=1+1", "@ann", "+bob", "-cyd"], ['=HYPERLINK("x")']))
        voter = study.voter_named("=Eve()")
        for _ in range(6):
            vote(study, voter)
        for row in csv.reader(io.StringIO(export_csv(study, people=True))):
            assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)

    def test_an_edited_file_is_refused_in_a_sentence(self, lived_in: Study, store: Store) -> None:
        before = len(store.studies())
        text = export_json(lived_in)
        for change in EDITS:
            document = json.loads(text)
            change(document)
            with pytest.raises(FileError):
                import_json(store, json.dumps(document))
        assert len(store.studies()) == before

    @pytest.mark.parametrize("text", ["", "[]", "{", "nonsense", "[" * 100_000])
    def test_what_is_not_a_study_is_refused(self, store: Store, text: str) -> None:
        with pytest.raises(FileError):
            import_json(store, text)


def vars_of(study: Study) -> dict[str, Any]:
    status = study.status()
    return {name: getattr(status, name) for name in status.__slots__ if name != "id"}


class TestBackups:
    def test_all_of_it_comes_back_even_elsewhere(
        self, new_url: Callable[[], str], postgres: Callable[[], str], tmp_path: Path
    ) -> None:
        with Store(new_url()) as store:
            study = store.create(dm.Problem.complete(["ann", "bob"], ["chair"]), Settings("car-cond"), "x")
            voter = study.add_voter("Ann")
            token = study.new_key("voter", voter)
            vote(study, voter)
            counts = backup(store.database, tmp_path / "all.gz")
            assert counts == {"studies": 1, "voters": 1, "entries": 4, "questions": 1, "secrets": 1}
            for number, address in enumerate((postgres(), f"sqlite:///{tmp_path}/again.db")):
                database = Database(address)
                assert restore(database, tmp_path / "all.gz") == counts
                with pytest.raises(StoreError, match="restore into an empty one"):
                    restore(database, tmp_path / "all.gz")
                database.close()
                with Store(address) as other:
                    again = other.study(study.id)
                    assert again.log() == study.log()
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

    def test_nobody_else_can_read_it(self, store: Store, tmp_path: Path) -> None:
        backup(store.database, tmp_path / "all.gz")
        assert stat.S_IMODE((tmp_path / "all.gz").stat().st_mode) == 0o600
        assert [path.name for path in tmp_path.iterdir()] == ["all.gz"]

    def test_a_broken_backup_restores_nothing(
        self, study: Study, store: Store, new_url: Callable[[], str], tmp_path: Path
    ) -> None:
        backup(store.database, tmp_path / "all.gz")
        whole = gzip.decompress((tmp_path / "all.gz").read_bytes())
        lines = whole.splitlines(keepends=True)
        broken = {
            "cut.gz": (tmp_path / "all.gz").read_bytes()[:-20],
            "short.gz": gzip.compress(b"".join(lines[:-1])),
            "lost.gz": gzip.compress(b"".join(lines[:3] + lines[4:])),
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


class TestOldVersions:
    def test_every_revision_has_left_a_database(self) -> None:
        from alembic.script import ScriptDirectory

        from duelmatch.studies.database import _alembic

        revisions = {step.revision for step in ScriptDirectory.from_config(_alembic()).walk_revisions()}
        assert {path.stem for path in OLD.glob("*.db")} == revisions
        assert {path.stem for path in OLD.glob("*.gz")} == revisions

    @pytest.mark.parametrize("old", sorted(OLD.glob("*.db")), ids=lambda path: path.name)
    def test_a_database_of_an_older_version_is_upgraded(self, old: Path, tmp_path: Path) -> None:
        copy = tmp_path / "old.db"
        shutil.copy(old, copy)
        database = Database(f"sqlite:///{copy}")
        assert database.upgrade() == (old.stem, newest_revision())
        assert database.upgrade() == (newest_revision(), newest_revision())
        database.close()
        with Store(f"sqlite:///{copy}") as store:
            check_old(store)

    @pytest.mark.parametrize("old", sorted(OLD.glob("*.gz")), ids=lambda path: path.name)
    def test_a_backup_of_an_older_version_is_restored(self, old: Path, new_url: Callable[[], str]) -> None:
        address = new_url()
        database = Database(address)
        restore(database, old)
        database.close()
        with Store(address) as store:
            check_old(store)


def check_old(store: Store) -> None:
    (listed,) = store.studies()
    study = store.study(listed.id)
    status = study.status()
    assert (status.answers, status.counted, status.questions) == (29, 19, 31)
    assert status.state == "open"
    check_log(study)
    check_every_question(study.log())
    assert isinstance(study.ask(2), Question)
    assert [key.role for key in study.keys()] == ["organiser", "voter"]
