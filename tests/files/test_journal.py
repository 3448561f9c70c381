"""The answers of a live run: what was completely written counts, and nothing else does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cases import each
from duelmatch.answers import Answer
from duelmatch.errors import FileError
from duelmatch.files.journal import COMPARISONS, TIES, Journal, sound_length
from duelmatch.files.tables import dump_table
from files.team import TEAM

HEADER = b"position,winner,loser\n"
ANN = Answer("chair", ("ann", "bob"))


@each(
    "answer",
    [
        Answer("chair", ("ann", "annabel")),
        Answer("the\nchair", ('say "hi"', "漢,\n\n字")),
        Answer("a", ('"', "b")),
    ],
)
def test_every_way_to_cut_the_last_line_is_noticed(answer: Answer) -> None:
    before = HEADER + b"chair,annabel,ann\n"
    row = dump_table(COMPARISONS.columns, [COMPARISONS.cells(answer)]).encode().removeprefix(HEADER)
    for kept in range(len(row)):
        assert sound_length(before + row[:kept]) == len(before), row[:kept]
    assert sound_length(before + row) == len(before + row)


def test_every_way_to_cut_the_header_is_noticed() -> None:
    for kept in range(len(HEADER)):
        assert sound_length(HEADER[:kept]) == 0
    assert sound_length(HEADER) == len(HEADER)


def test_zeros_that_a_crashed_disk_left_are_torn() -> None:
    assert sound_length(HEADER + b"chair,ann,bob\n" + bytes(512)) == len(HEADER) + 14


def test_a_stray_quote_far_back_does_not_throw_answers_away() -> None:
    data = HEADER + b'chair,"ann,bob\n' + b"chair,ann,bob\n" * 2000
    assert sound_length(data) == len(data)


def test_a_change_by_another_program_during_the_run_is_noticed() -> None:
    with Journal(Path("team.votes.csv"), COMPARISONS) as journal:
        journal.begin({}, TEAM)
        journal.append(Answer("chair", ("ann", "bob")))
        Path("team.votes.csv").write_text("position,winner,loser\n", encoding="utf-8")
        with pytest.raises(FileError, match="Another program changed"):
            journal.append(Answer("chair", ("ann", "bob")))
        with pytest.raises(FileError, match="Another program changed"):
            journal.undo()


def test_what_was_kept_is_there_again_with_its_settings() -> None:
    with Journal(Path("team.votes.csv"), COMPARISONS) as journal:
        assert journal.settings() is None
        journal.begin({"seed": 7}, TEAM)
        for _ in range(3):
            journal.append(ANN)
        assert journal.undo() == ANN
    assert sorted(os.listdir()) == ["team.votes.csv", "team.votes.csv.run.json"]
    with Journal(Path("team.votes.csv"), COMPARISONS) as journal:
        assert journal.answers == [ANN, ANN]
        assert (journal.settings() or {})["seed"] == 7


def test_the_first_tie_gives_every_row_a_column_for_ties() -> None:
    tie = Answer("chair", (("bob", "ann"),))
    with Journal(Path("team.votes.csv"), COMPARISONS, TIES) as journal:
        journal.begin({}, TEAM)
        for answer in (ANN, tie, ANN):
            journal.append(answer)
    table = "position,winner,loser,tie\nchair,ann,bob,no\nchair,bob,ann,yes\nchair,ann,bob,no\n"
    assert Path("team.votes.csv").read_text(encoding="utf-8") == table
    with Journal(Path("team.votes.csv"), COMPARISONS, TIES) as journal:
        assert journal.answers == [ANN, tie, ANN]


def test_a_full_disk_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with Journal(Path("team.votes.csv"), COMPARISONS) as journal:
        journal.begin({}, TEAM)
        monkeypatch.setattr(os, "fsync", fail)
        for change in (lambda: journal.append(ANN), lambda: journal.begin({}, TEAM)):
            with pytest.raises(
                FileError, match=r"^team\.votes\.csv: The file cannot be written: No space left"
            ):
                change()
