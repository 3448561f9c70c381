"""Write the database and the backup that later versions must be able to read: ``python old_databases.py``.

Run once per revision of the tables, and kept from then on; test_files.py opens them all.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duelmatch as dm
from duelmatch.studies import Question, Settings, Store
from duelmatch.studies.backup import backup
from duelmatch.studies.database import newest_revision

FOLDER = Path(__file__).parent / "databases"


def main() -> None:
    target = FOLDER / f"{newest_revision()}.db"
    FOLDER.mkdir(exist_ok=True)
    with Store(f"sqlite:///{target}") as store:
        problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
        study = store.create(problem, Settings("car-cond", delta=0.2), "Who does what?")
        voters = [study.add_voter("Eve"), study.add_voter(), study.add_voter("Mallory")]
        for turn in range(30):
            question = study.ask(voters[turn % 3])
            assert isinstance(question, Question)
            winner = None if turn % 10 == 9 else min(question.left, question.right)
            study.tell(question.voter, question.number, winner)
        skipped = study.ask(voters[0])
        assert isinstance(skipped, Question)
        study.skip(voters[0], skipped.number, "I know neither")
        study.correct(3, None)
        study.undo(voters[1])
        study.invalidate(voters[2])
        study.new_key("organiser")
        study.new_key("voter", voters[0])
        study.close()
        study.reopen()
        backup(store.database, target.with_suffix(".gz"))
    with sqlite3.connect(target) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
    connection.close()


if __name__ == "__main__":
    main()
