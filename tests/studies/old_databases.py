"""Write the database and the backup that later versions must be able to read: ``python old_databases.py``.

Run once per revision of the tables, and kept from then on; test_migration.py opens them all.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

import duelmatch as dm
from duelmatch.errors import ConflictError
from duelmatch.studies import Question, Settings, Store, Study
from duelmatch.studies.backup import backup
from duelmatch.studies.migrations import revisions

FOLDER = Path(__file__).parent / "databases"
PROBLEM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])


def live(study: Study) -> None:
    """Let a bit of everything happen."""
    voters = [voter.id for voter in study.voters()]
    for turn in range(24):
        question = study.ask(voters[turn % 4])
        if isinstance(question, Question):
            winner = None if turn % 10 == 9 else min(question.candidates)
            study.tell(question.voter, question.number, winner)
    skipped = study.ask(voters[0])
    if isinstance(skipped, Question):
        study.skip(voters[0], skipped.number, "I know neither")
    study.correct(3, None)
    with suppress(ConflictError):  # of a crowd, who has handed in the ballot
        study.undo(voters[1])
    study.strike(voters[2])
    study.add("dan", ["editor"], {"title": "Dan"})
    study.new_link("organiser")
    study.new_link("voter", voters[0])


def main() -> None:
    target = FOLDER / f"{revisions()[0]}.db"
    FOLDER.mkdir(exist_ok=True)
    with Store(f"sqlite:///{target}") as store:
        for algorithm in ("panel", "condorcet", "borda", "car-cond"):
            for phase in ("open", "closed"):
                settings = Settings(algorithm, delta=0.2, seed=7)
                study = store.create(PROBLEM, settings, f"{algorithm}, {phase}", ["Eve", "Ned", "Mal", "Zoe"])
                live(study)
                study.close()
                if phase == "open":
                    study.reopen()
        backup(store.database, target.with_suffix(".gz"))
    with sqlite3.connect(target) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
    connection.close()


if __name__ == "__main__":
    main()
