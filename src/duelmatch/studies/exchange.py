"""A study as a file: all of it as JSON, to be taken elsewhere, or its answers as CSV, to be looked at.

What is known of a person is left out unless it is asked for, and links are never in it: they would not work
elsewhere.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from duelmatch.errors import DuelmatchError, FileError
from duelmatch.files.tables import dump_table
from duelmatch.problem import Problem
from duelmatch.studies import schema
from duelmatch.studies.board import Board, created_note, read_created
from duelmatch.studies.course import without
from duelmatch.studies.entries import KINDS, Entry, Line
from duelmatch.studies.settings import Settings
from duelmatch.studies.store import Store
from duelmatch.studies.study import Study
from duelmatch.studies.texts import plain
from duelmatch.version import __version__

FORMAT = "duelmatch study"
VERSION = 1
LARGEST = 2**31 - 1

ANSWER_COLUMNS = ("number", "time", "voter", "question", "position", "winner", "loser", "tie", "counts")
ABOUT_A_QUESTION = ("asked", "answered", "skipped", "released", "corrected", "undone")
EARLIEST, LATEST = 0.0, 2.0**37
"""Seconds since 1970: what can be written as a date."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


def export_json(study: Study, people: bool = False) -> str:
    """Return all of a study; with ``people``, the names of voters too."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "duelmatch": __version__,
        "name": study.name,
    }
    if people:
        document["voters"] = {
            str(voter.number): voter.name for voter in study.voters() if voter.name is not None
        }
    entries = [_without_nothing(entry) for entry in study.log()]
    lines = ",\n".join("    " + json.dumps(entry, ensure_ascii=False) for entry in entries)
    head = json.dumps(document, ensure_ascii=False, indent=2)
    return f'{head[:-2]},\n  "entries": [\n{lines}\n  ]\n}}\n'


def export_csv(study: Study, people: bool = False) -> str:
    """Return the answers that were given, in order, each with whether it counts."""
    board = study.board()
    names = {voter.number: voter.name for voter in study.voters()} if people else {}
    at = {entry.question: entry for entry in study.log() if entry.kind == "answered"}
    rows = []
    with board.lock:
        for question, answer in board.answers.items():
            winner, position = study.problem.edges[answer.winner]
            loser, _ = study.problem.edges[answer.loser]
            voter = names.get(answer.voter) or str(answer.voter)
            time = datetime.fromtimestamp(at[question].at, UTC).isoformat(timespec="milliseconds")
            row = (at[question].seq, time, voter, question, position, winner, loser)
            rows.append([*map(harmless, row), _yes(answer.tie), _yes(board.counts(question))])
    return dump_table(ANSWER_COLUMNS, rows)


def harmless(cell: object) -> object:
    """Keep a spreadsheet from taking a text for a formula.

    >>> harmless("=1+1"), harmless("ann"), harmless(-1)
    ("'=1+1", 'ann', -1)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def import_json(store: Store, text: str) -> Study:
    """Put a study that was exported into a store, under a new id and without links.

    :raises FileError: if the text is not what :func:`export_json` gave.
    """
    document = _document(text)
    try:
        name = plain(document.get("name"), "The name of the study")
        people = {int(number): plain(voter, "A voter's name") for number, voter in document["voters"].items()}
        lines = list(_lines(document["entries"]))
        problem, settings = read_created(lines[0].note or "")
        _check(lines, problem)
        Board.of(lines[0]).absorb(lines[1:])
    except DuelmatchError as error:
        raise FileError(f"This study cannot be taken in: {error}") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise FileError(
            f"This study cannot be taken in; was the file edited? ({type(error).__name__}: {error!s:.200})"
        ) from None
    return _insert(store, name, people, lines, problem, settings)


def _document(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise FileError(f"This is not JSON: {error!s:.200}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileError("This is not an exported study. `duelmatch study export` writes one as JSON.")
    if document.get("version") != VERSION:
        raise FileError("Another version of duelmatch exported this study; this one cannot read it.")
    return {"voters": {}, **document}


def _lines(entries: Iterable[Mapping[str, Any]]) -> Iterator[Line]:
    for number, entry in enumerate(entries, start=1):
        note = entry.get("note")
        read = Entry(**{**entry, "note": note})
        if read.seq != number or read.kind not in KINDS or (read.kind == "created") != (number == 1):
            raise ValueError(f"entry {number} is not what should be there")
        numbers = (read.voter, read.question, read.one, read.other)
        if not all(value is None or (type(value) is int and 0 <= value <= LARGEST) for value in numbers):
            raise ValueError(f"entry {number} has an odd number")
        text = None if note is None else json.dumps(note, separators=(",", ":"))
        yield Line(number, read.kind, float(read.at), *numbers, text)


def _check(lines: list[Line], problem: Problem) -> None:
    """See to it that voters and questions are numbered as they came up, and answers fit the questions."""
    voters = 0
    asked: dict[int, tuple[int, frozenset[int]]] = {}
    answered: set[int] = set()
    dropped: list[str] = []
    for line in lines[1:]:
        _expect(line, EARLIEST <= line.at <= LATEST)
        if line.kind == "dropped":
            dropped.append(json.loads(line.note or "")["candidate"])
            problem.candidate_number(dropped[-1])
            without(problem, dropped)
        if line.kind == "joined":
            voters += 1
            _expect(line, line.voter == voters)
        elif line.voter is not None:
            _expect(line, 1 <= line.voter <= voters)
        if line.kind == "asked":
            edges = [line.one, line.other]
            _expect(line, line.voter is not None and line.question == len(asked) + 1 and None not in edges)
            _expect(line, len({problem.edges[edge][1] for edge in edges}) == 1 and line.one != line.other)  # type: ignore[index]
            asked[len(asked) + 1] = (line.voter, frozenset(edges))  # type: ignore[arg-type, assignment]
        elif line.question is not None:
            voter, pair = asked[line.question]
            _expect(line, line.voter in (None, voter))
            struck = line.kind == "corrected" and line.one is None and line.other is None
            if line.kind in ("answered", "corrected") and not struck:
                _expect(line, {line.one, line.other} == pair)
            if line.kind in ("answered", "corrected", "undone"):
                _expect(line, (line.question in answered) == (line.kind != "answered"))
            if line.kind in ("answered", "undone"):
                answered ^= {line.question}
        else:
            _expect(line, line.kind not in ABOUT_A_QUESTION)


def _expect(line: Line, truth: bool) -> None:
    if not truth:
        raise ValueError(f"entry {line.seq} does not go with those before it")


def _insert(
    store: Store,
    name: str,
    people: Mapping[int, str],
    lines: list[Line],
    problem: Problem,
    settings: Settings,
) -> Study:
    study = secrets.token_hex(8)
    rows = [{"study": study, **line._asdict()} for line in lines]
    rows[0]["note"] = created_note(problem, settings)
    board = Board.of(lines[0])
    board.absorb(lines[1:])
    voters = [line.voter for line in lines if line.kind == "joined"]
    with store.database.writing() as connection:
        connection.execute(
            sa.insert(schema.studies),
            {
                "id": study,
                "name": name,
                "state": board.state,
                "settings": json.dumps(settings.as_dict(), separators=(",", ":")),
                "created_at": lines[0].at,
                "head": len(lines),
                "questions": sum(line.kind == "asked" for line in lines),
                "voters": len(voters),
            },
        )
        connection.execute(sa.insert(schema.entries), rows)
        if voters:
            blocked = board.voided
            connection.execute(
                sa.insert(schema.voters),
                [
                    {
                        "study": study,
                        "number": number,
                        "name": people.get(number or 0),
                        "blocked": int(number in blocked),
                    }
                    for number in voters
                ],
            )
        if questions := list(_questions(study, lines, board)):
            connection.execute(sa.insert(schema.questions), questions)
    return store.study(study)


def _questions(study: str, lines: list[Line], board: Board) -> Iterator[dict[str, Any]]:
    """Return what the log says about each question; the leases of the open ones are over."""
    answered = {line.question: line.seq for line in lines if line.kind == "answered"}
    skipped = {line.question for line in lines if line.kind == "skipped"}
    for line in lines:
        if line.kind != "asked" or line.question is None:
            continue
        answer = board.answers.get(line.question)
        if answer is not None:
            state = "answered"
        elif line.question in board.leases:
            state = "open"
        else:
            state = "skipped" if line.question in skipped else "released"
        yield {
            "study": study,
            "number": line.question,
            "voter": line.voter,
            "left": line.one,
            "right": line.other,
            "state": state,
            "expires_at": line.at,
            "winner": None if answer is None else answer.winner,
            "tie": int(answer is not None and answer.tie),
            "answer": None if answer is None else answered[line.question],
        }


def _without_nothing(entry: Entry) -> dict[str, Any]:
    values = {name: getattr(entry, name) for name in Entry.__dataclass_fields__}
    return {name: value for name, value in values.items() if value is not None}


def _yes(value: bool) -> str:
    return "yes" if value else "no"
