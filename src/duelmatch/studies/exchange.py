"""A study as a file: its log, to be checked or taken elsewhere, and its answers as CSV, to be looked at.

An exported log is JSON, an entry per line, each with the hash of the one before, so that anybody can check it
with ``duelmatch verify``. Names of voters are left out unless they are asked for: then they are in one more
line at the end, which is no part of the log. Links are never in it: they would not work elsewhere.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from duelmatch.answers import Answer, ranking_text
from duelmatch.errors import DuelmatchError, FileError, NotAllowedError
from duelmatch.files.tables import dump_table, harmless
from duelmatch.studies import schema
from duelmatch.studies.entries import BEGINNING, FORMAT, Entry, canonical, checked, line_of
from duelmatch.studies.links import is_id
from duelmatch.studies.state import State
from duelmatch.studies.store import Store
from duelmatch.studies.study import Study
from duelmatch.studies.texts import check_shown, plain
from duelmatch.studies.values import GivenAnswer
from duelmatch.studies.voters import NewVoter, insert_voters

ANSWER_COLUMNS = ("voter", "position", "ranking")
JUDGE_COLUMNS = ("weight", "conflict", "missing", "struck", "withdrawn", "chosen")
"""What the verdict of a panel depends on beside the answers; only those are written that say anything."""

TABLE_COLUMNS = ("entry", "time", "voter", "question", "position", "ranking", "struck", "counts")

SECRET_COLUMNS = ("position", "ranking")
"""Whether an answer counts is not among them: an organiser could see to it that only one voter's do not."""

SET_APART = (
    "The ballot is secret, and one of the judges can be told apart from the others: by a weight, whom they "
    "do not judge, by a struck answer, or because they left. A list of ballots would show whose is theirs. "
    "Export the table of all answers (format=table), which says of none whose it is."
)

ENTRIES_AT_ONCE, AT_ONCE = 200, 1_000
"""Entries of the log and answers that are read at once: some ten milliseconds."""

Row = dict[str, object]


def export_log(study: Study, people: bool = False) -> str:
    """Return the log of a study; with ``people``, the names of voters and of the study in a last line."""
    return "".join(exported_log(study, people))


def exported_log(study: Study, people: bool = False) -> Iterator[str]:
    """Yield the log of a study as it is now, in pieces: nobody else has to wait until all of it is read."""
    before, seen, end = BEGINNING, 0, study.end()
    while seen < end:
        lines = []
        for entry in study.entries(seen, min(ENTRIES_AT_ONCE, end - seen)):
            lines.append(line_of(entry, before))
            before, seen = entry.hash, entry.seq
        yield "\n".join(lines) + "\n"
    if people:
        names = {voter.id: voter.name for voter in study.voters() if voter.name is not None}
        yield json.dumps({"names": {"study": study.name, "voters": names}}) + "\n"


def _latest_first(study: Study) -> Iterator[GivenAnswer]:
    """Yield all answers, the latest first, a page at a time: who votes waits for no more than a page."""
    before = schema.LARGEST_NUMBER
    while page := study.answers(before, limit=AT_ONCE):
        yield from page
        before = page[-1].entry


def export_answers(study: Study, people: bool = False) -> str:
    """Return the answers that count, in order, as ``duelmatch estimate`` and ``decide`` read them."""
    return "".join(exported_answers(study, people))


def export_table(study: Study, people: bool = False) -> str:
    """Return all answers, in order, each with when it came, by whom, and whether it counts."""
    return "".join(exported_table(study, people))


def exported_answers(study: Study, people: bool = False, secretly: bool = False) -> Iterator[str]:
    """Yield the answers that count, in pieces.

    Of a panel, all that its verdict depends on is there: weights, judges who have said nothing, conflicts,
    answers that were struck, candidates who withdrew (:mod:`duelmatch.files.answers`).

    ``secretly``: voters are numbered anew by chance, and nothing is in the order in which it came. Of others
    than a panel, whose verdict needs no ballots, there are no voters at all.

    :raises NotAllowedError: if the ballots of a panel, though secret, can be told apart.
    """
    if study.settings.kind == "panel":
        rows = [*_judge_rows(study), *_counting_rows(study)]
        if secretly:
            _check_all_alike(study, rows)
        yield _written(study, people, ANSWER_COLUMNS, _shuffled(rows) if secretly else rows)
    elif secretly:
        yield from exported_table(study, secretly=True)
    else:
        yield from _in_order(study, people, ANSWER_COLUMNS, _counting_row)


def _check_all_alike(study: Study, rows: Iterable[Row]) -> None:
    """Refuse to list ballots if an organiser knows, or has seen to it, how one of them differs from the rest.

    Who has said nothing has no ballot to be found.
    """
    voters = [voter for voter in study.voters() if voter.answers and not voter.struck]
    apart = any(voter.left or voter.conflicts for voter in voters)
    apart = apart or len({voter.weight for voter in voters}) > 1
    if apart or any(row.get("struck") for row in rows):
        raise NotAllowedError(SET_APART)


def exported_table(study: Study, people: bool = False, secretly: bool = False) -> Iterator[str]:
    """Yield all answers, in pieces; ``secretly``: those that count, neither when they came nor by whom."""
    if secretly:
        answers = [row for given in _latest_first(study) if (row := _counting_row(given)) is not None]
        answers.sort(key=lambda row: (str(row["position"]), str(row["ranking"])))
        yield _csv(SECRET_COLUMNS, answers)
    elif study.settings.kind != "panel":
        yield from _in_order(study, people, TABLE_COLUMNS, _table_row)
    else:
        given = [*_latest_first(study)][::-1]
        yield _written(study, people, TABLE_COLUMNS, [*_judge_rows(study), *map(_table_row, given)])


def _in_order(
    study: Study, people: bool, columns: Sequence[str], row_of: Callable[[GivenAnswer], Row | None]
) -> Iterator[str]:
    """Yield the answers as CSV, a page at a time."""
    names = {voter.id: voter.name for voter in study.voters() if voter.name} if people else {}
    seen, header = 0, _csv(columns, [])
    yield header
    while page := study.answers_after(seen, AT_ONCE):
        seen = page[-1].entry
        rows = [row for given in page if (row := row_of(given)) is not None]
        for row in rows:
            row["voter"] = names.get(str(row["voter"]), row["voter"])
        yield _csv(columns, rows).removeprefix(header)


def _csv(columns: Sequence[str], rows: Iterable[Row]) -> str:
    return dump_table(columns, [[harmless(row.get(name, "")) for name in columns] for row in rows])


def _counting_row(given: GivenAnswer) -> Row | None:
    if not given.counts:
        return None
    return {"voter": given.voter, "position": given.position, "ranking": ranking_text(given.answer)}


def _shuffled(rows: list[Row]) -> list[Row]:
    """Give the voters other names by chance, and put everything in an order that says nothing of when."""
    voters = sorted({str(row["voter"]) for row in rows if row.get("voter")})
    secrets.SystemRandom().shuffle(voters)
    called = {voter: f"voter {number}" for number, voter in enumerate(voters, start=1)}
    for row in rows:
        row["person"], row["voter"] = row.get("voter"), called.get(str(row.get("voter")), "")
    order = ("voter", "position", "ranking", "conflict")
    return sorted(rows, key=lambda row: [str(row.get(name, "")) for name in order])


def _counting_rows(study: Study) -> list[Row]:
    """Return the answers of a panel that count; of several on a pair, the last."""
    judges = {voter.id: voter for voter in study.voters()}
    said: set[tuple[str, str, frozenset[str]]] = set()
    answers: list[Row] = []
    for given in _latest_first(study):
        struck = given.struck and not judges[given.voter].struck
        if not given.counts and not struck:
            continue
        row: Row = {"voter": given.voter, "position": given.position, "struck": "yes" if struck else ""}
        answer = Answer(given.position, given.answer)
        pairs = {(given.voter, given.position, frozenset(pair[:2])): pair for pair in answer.pairs()}
        new = {about: pair for about, pair in pairs.items() if about not in said}
        if struck or len(new) == len(pairs):
            answers.append(row | {"ranking": answer.text})
        else:  # of several answers on a pair, the last counts
            answers += [
                row | {"ranking": ranking_text([(one, other)] if tie else [one, other])}
                for one, other, tie in new.values()
            ]
        if not struck:
            said |= {*new}
    return answers[::-1]


def _table_row(given: GivenAnswer) -> Row:
    time = datetime.fromtimestamp(given.at, UTC).isoformat(timespec="milliseconds")
    row: Row = {name: getattr(given, name) for name in ("entry", "voter", "question", "position")}
    row |= {"time": time, "ranking": ranking_text(given.answer)}
    return row | {"struck": _yes(given.struck), "counts": _yes(given.counts)}


def _judge_rows(study: Study) -> list[Row]:
    """Return what is to be known of a panel: its judges, who has withdrawn, and the line-up, if not alone."""
    status = study.status()
    dropped, result = status.dropped, status.result
    rows: list[Row] = [{"withdrawn": candidate} for candidate in dropped]
    recorded = status.verdict is not None and not status.certain
    if recorded or result.status in ("unbeaten", "tied", "no_winner"):  # others may be as good
        edges = () if result.matching is None else result.matching.edges
        rows += [{"position": position, "chosen": candidate} for candidate, position in edges]
    speaking = {given.voter for given in _latest_first(study) if given.counts}
    for voter in study.voters():
        conflicts = [candidate for candidate in voter.conflicts if candidate not in dropped]
        row: Row = {"voter": voter.id, "missing": "dropped" if voter.open_dropped else ""}
        if not voter.struck and (conflicts or voter.open_dropped or voter.id not in speaking):
            rows += [row | {"conflict": candidate} for candidate in conflicts or [""]]
    return rows


def _written(study: Study, people: bool, columns: Sequence[str], rows: list[Row]) -> str:
    """Return rows of a panel as CSV, with the weights and perhaps the names of the voters."""
    voters = {voter.id: voter for voter in study.voters()}
    weighted = any(voter.weight != 1 for voter in voters.values())
    for row in rows:
        if (voter := voters.get(str(row.get("person", row.get("voter"))))) is not None:
            if "person" not in row:
                row["voter"] = (people and voter.name) or voter.id
            row["weight"] = voter.weight if weighted else ""
    needed = (name for name in JUDGE_COLUMNS if name not in columns and any(row.get(name) for row in rows))
    return _csv((*columns, *needed), rows)


def import_log(store: Store, text: str, name: str = "An imported study") -> Study:
    """Put an exported study into a store, under a new id and without links.

    :raises FileError: if the text is not what :func:`export_log` gave, or anything in it was changed.
    """
    try:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        names = lines.pop()["names"] if lines and "names" in lines[-1] else {}
        entries = list(checked(_entries(lines)))
        if not entries:
            raise FileError("This is not an exported study. `duelmatch study export` writes one.")
        state = State(entries[0])
        state.note(entries[1:])
        check_shown(state.problem)
        people = {voter: plain(of, "A voter's name") for voter, of in names.get("voters", {}).items()}
        name = plain(names.get("study", name), "The name of the study")
    except DuelmatchError as error:
        raise FileError(f"This study cannot be taken in: {error}") from None
    except (json.JSONDecodeError, RecursionError):
        raise FileError(
            "This is not JSON, a line per entry, as `duelmatch study export` writes it."
        ) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileError(
            f"This study cannot be taken in; was the file edited? ({type(error).__name__}: {error!s:.200})"
        ) from None
    return _insert(store, name, people, entries, state)


def _entries(lines: Iterable[Any]) -> Iterator[Entry]:
    before = BEGINNING
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, dict) or line.get("v") != FORMAT:
            raise FileError(f"Line {number} is not an entry of a log of format {FORMAT}.")
        if set(line) != {"v", "seq", "at", "kind", "by", "voter", "data", "before", "hash"}:
            raise FileError(f"Line {number} has other fields than an entry of a log.")
        entry = Entry(*(line[field] for field in Entry._fields))
        if (
            type(entry.seq) is not int
            or type(entry.at) is not float
            or not re.fullmatch("[a-z-]{1,16}", entry.kind)
            or not (entry.by is None or is_id(entry.by))
            or not (entry.voter is None or re.fullmatch("[0-9a-f]{16}", entry.voter))
            or not isinstance(entry.data, dict)
            or line["before"] != before
        ):
            raise FileError(f"Line {number} is not what an entry of a log looks like there.")
        before = entry.hash
        yield entry


def _insert(store: Store, name: str, people: Mapping[str, str], entries: list[Entry], state: State) -> Study:
    study = secrets.token_hex(8)
    row = {"id": study, "name": name, "phase": state.phase, "created_at": entries[0].at}
    with store.database.writing() as connection:
        connection.execute(sa.insert(schema.studies), row | {"seq": state.seq, "hash": state.hash})
        rows = [{"study": study, **entry._asdict(), "data": canonical(entry.data)} for entry in entries]
        connection.execute(sa.insert(schema.entries), rows)
        insert_voters(connection, study, [(voter, NewVoter(people.get(voter))) for voter in state.members])
    return store.study(study)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
