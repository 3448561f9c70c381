"""Voters for tests, and what must hold of every log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duelmatch.studies import Entry, Question, Study
from duelmatch.studies.board import Board
from duelmatch.studies.entries import Line


def question_for(study: Study, voter: int) -> Question:
    question = study.ask(voter)
    assert isinstance(question, Question), question
    return question


def vote(study: Study, voter: int, winner: str | None = None) -> Question:
    """Ask, and answer with the winner given, or else with the first in the alphabet."""
    question = question_for(study, voter)
    study.tell(voter, question.number, winner or min(question.left, question.right))
    return question


def lines(entries: Iterable[Entry]) -> list[Line]:
    """Return entries as the database has them."""
    import json

    def text(note: Any) -> str | None:
        return None if note is None else json.dumps(note)

    return [Line(e.seq, e.kind, e.at, e.voter, e.question, e.one, e.other, text(e.note)) for e in entries]


def replayed(entries: Iterable[Entry]) -> Board:
    """Return the board that a log alone gives."""
    first, *others = lines(entries)
    board = Board.of(first)
    board.absorb(others)
    board.think()
    return board


def summary(board: Board, voters: Iterable[int]) -> dict[str, Any]:
    """Return everything that can be told from a board, with each voter's next question."""
    standing = board.standing()
    return {
        "state": board.state,
        "dropped": board.dropped,
        "answers": board.answers,
        "leases": board.leases,
        "voided": board.voided,
        "held": board.held,
        "counted": board.counted,
        "standing": standing,
        "next": [board.choose(voter) for voter in voters],
    }


def check_log(study: Study) -> None:
    """The log is numbered without gaps, explains every question in it, and replays to what the study says."""
    entries = study.log()
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    asked = [entry.question for entry in entries if entry.kind == "asked"]
    assert asked == list(range(1, len(asked) + 1)), "questions are numbered without gaps, and once"
    voters = [entry.voter for entry in entries if entry.kind == "joined" and entry.voter is not None]
    board = study.board()
    assert summary(board, voters) == summary(replayed(entries), voters)


def check_every_question(entries: list[Entry]) -> None:
    """Each question is the one that the entries before it call for, and nobody has two open ones."""
    rows = lines(entries)
    board = Board.of(rows[0])
    for row in rows[1:]:
        if row.kind == "asked":
            assert row.voter is not None
            assert row.one is not None
            assert row.other is not None
            board.think()
            assert board.choose(row.voter) == (min(row.one, row.other), max(row.one, row.other))
            assert all(owner != row.voter for owner, _ in board.leases.values())
        board.absorb([row])
