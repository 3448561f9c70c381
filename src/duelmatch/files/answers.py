"""Answers as CSV: who was preferred to whom at which position, by whom if that is known, and a weight.

What ``duelmatch ask`` keeps has the columns position,winner,loser. What comes from elsewhere may have a
column voter, a column tie (yes or no), or a ranking such as ``ann > bob = cyd`` in place of winner and loser,
in any order of the columns (:func:`read_rankings`).

What is counted, and not estimated, depends on who the judges are, too (:func:`read_sheet`). A row without an
answer is about a judge: that there is one who has said nothing, whom the judge does not judge (``conflict``),
or that what the judge has not said is not counted (``missing``: dropped). A ``struck`` answer takes its judge
out of what was asked. A row that has a candidate under ``withdrawn``, and nothing else, takes the candidate
out of the problem. A position and a candidate under ``chosen`` say which of several line-ups that are equally
good is to be named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

from duelmatch.answers import Answer, ranking_from, ranking_text
from duelmatch.errors import FileError, ProblemError, did_you_mean
from duelmatch.files.documents import AnyPath, Bare, naming, number, read_text
from duelmatch.files.tables import filled_rows
from duelmatch.panel import Conflict
from duelmatch.problem import Problem, seated

ANSWERS_BYTES = 50_000_000
COLUMNS = ("position", "winner", "loser")
ANSWER_COLUMNS = ("position", "winner", "loser", "ranking")
SHEET_COLUMNS = ("conflict", "missing", "struck", "withdrawn", "chosen")
ANY_COLUMNS = ("voter", *ANSWER_COLUMNS, "tie", "weight", "counts", *SHEET_COLUMNS)
PASSED_OVER = ("number", "entry", "time", "question", "flip")
"""Columns of exported studies and of judges that are programs, which say nothing of what an answer is."""

HEADERS = "the header must be position,winner,loser or position,ranking, perhaps with voter, tie and weight"


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer, and the line it stands on."""

    line: int
    answer: Answer


@dataclass(slots=True)
class Sheet:
    """The answers of a panel, and what there is to know of its judges.

    ``problem`` is the one given, without those who withdrew. ``conflicts`` has a single pair, (position,
    first, second), for each that a judge does not judge since the answer was struck. ``dropped`` are the
    judges of whom nothing is open. ``chosen`` maps positions to candidates, a row for each seat.
    """

    problem: Problem
    rows: list[AnswerRow] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    conflicts: dict[str, list[Conflict]] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    chosen: dict[str, Any] = field(default_factory=dict)
    is_preflib: bool = False
    """Whether each voter stands for as many as the weight says."""


def load_rankings(path: AnyPath, problem: Problem | None = None) -> list[AnswerRow]:
    """Read answers of any layout, each checked against the problem, if one is given."""
    with naming(path) as file:
        return list(read_rankings(read_text(file, ANSWERS_BYTES), problem))


def read_rankings(text: str, problem: Problem | None = None) -> Iterator[AnswerRow]:
    """Yield the answers in the text of a file that count, whatever columns it has.

    Without a column position, the problem must have one only. Candidates who withdrew are passed over.

    :raises FileError: naming the line, if a row cannot be understood.
    :raises ProblemError: naming the line, if a row does not fit the problem.
    """
    rows = list(_rows(text, problem))
    gone = {row["withdrawn"] for _, row in rows if row.get("withdrawn")}
    for line, row in rows:
        if not _has_answer(row) or _is_yes(row, "struck", "no", line):
            continue
        if _is_yes(row, "counts", "yes", line):
            answer = _answer(row, line, problem, gone)
            if answer is not None:
                yield AnswerRow(line, answer)


def read_sheet(text: str, problem: Problem) -> Sheet:
    """Read the answers of a panel, with its judges.

    :raises FileError: naming the line, if a row cannot be understood.
    :raises ProblemError: naming the line, if a row does not fit the problem.
    """
    rows = list(_rows(text, problem))
    gone = {row["withdrawn"] for _, row in rows if row.get("withdrawn")}
    sheet = Sheet(problem.without(gone & {*problem.candidates}), list(read_rankings(text, problem)))
    said = {
        (row.answer.voter, row.answer.position, frozenset(pair[:2]))
        for row in sheet.rows
        for pair in row.answer.pairs()
    }
    for line, row in rows:
        voter = row.get("voter", "")
        if row.get("chosen"):
            place = row.get("position", sheet.problem.positions[0])
            before = seated(sheet.chosen[place]) if place in sheet.chosen else ()
            sheet.chosen[place] = (*before, row["chosen"]) if before else row["chosen"]
        elif not _has_answer(row):
            if voter:
                _note_judge(sheet, voter, row, line)
        elif _is_yes(row, "struck", "no", line):
            answer = _answer(row, line, problem, gone)
            for one, other, _ in () if answer is None else answer.pairs():
                if (voter, row["position"], frozenset((one, other))) not in said:
                    sheet.conflicts.setdefault(voter, []).append((row["position"], one, other))
    return sheet


def _note_judge(sheet: Sheet, voter: str, row: Mapping[str, str], line: int) -> None:
    """Note what a row without an answer says of a judge."""
    weight = _weight(row["weight"], line) if "weight" in row else 1.0
    if sheet.weights.setdefault(voter, weight) != weight:
        raise ProblemError(
            f"line {line}: '{voter}' has weight {weight:g} here, and {sheet.weights[voter]:g} before."
        )
    if candidate := row.get("conflict"):
        if candidate not in sheet.problem.candidates:
            raise ProblemError(
                f"line {line}: there is no candidate '{candidate:.80}' to have a conflict with."
            )
        sheet.conflicts.setdefault(voter, []).append(candidate)
    missing = (row.get("missing") or "open").casefold()
    if missing not in ("open", "dropped"):
        raise FileError(f"line {line}: missing must be open or dropped, not '{missing:.40}'.")
    if missing == "dropped":
        sheet.dropped.add(voter)


def _rows(text: str, problem: Problem | None) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a file, by column, and the lines they stand on."""
    rows = filled_rows(text)
    line, cells = next(rows, (1, [""]))
    columns = _columns(line, cells)
    default = problem.positions[0] if problem is not None and len(problem.positions) == 1 else None
    if "position" not in columns and default is None:
        raise FileError(f"line {line}: there is no column 'position', and not only one position.")
    for line, cells in rows:
        if len(cells) != len(columns):
            raise FileError(
                f"line {line}: {len(columns)} columns are expected, but there "
                f"{'is' if len(cells) == 1 else 'are'} {len(cells)}."
            )
        row = {column: _plain(cell) for column, cell in zip(columns, cells, strict=True)}
        if _has_answer(row):
            row.setdefault("position", default or "")
        needed = ("voter", *ANSWER_COLUMNS, "weight") if _has_answer(row) else ("voter", "weight")
        for column in () if row.get("withdrawn") or row.get("chosen") else needed:
            if not row.get(column, "-"):
                raise FileError(f"line {line}: the {column} is empty.")
        yield line, row


def _has_answer(row: Mapping[str, str]) -> bool:
    """Whether a row is an answer, and not about a judge, a candidate or the line-up."""
    if row.get("chosen"):
        return False
    return "voter" not in row or any(row.get(column) for column in ANSWER_COLUMNS)


def _columns(line: int, cells: list[str]) -> list[str]:
    columns = [cell.casefold() for cell in cells]
    for column in columns:
        if column not in (*ANY_COLUMNS, *PASSED_OVER):
            hint = did_you_mean(column, ANY_COLUMNS)
            if ";" in column or "\t" in column:
                hint = " Separate the columns with commas."
            raise FileError(f"line {line}: {HEADERS}, not '{','.join(cells):.80}'.{hint}")
        if columns.count(column) > 1:
            raise FileError(f"line {line}: the column '{column}' is there twice.")
    duels, rankings = {"winner", "loser"} <= {*columns}, "ranking" in columns
    if duels == rankings or (rankings and {"winner", "loser", "tie"} & {*columns}):
        raise FileError(f"line {line}: {HEADERS}, not '{','.join(cells):.80}'.")
    return columns


def _plain(cell: str) -> str:
    """Take away the apostrophe that keeps a spreadsheet from taking a text for a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@") else cell


def _answer(
    row: Mapping[str, str], line: int, problem: Problem | None, gone: AbstractSet[str]
) -> Answer | None:
    """Return the answer that a row has; None if it says nothing of those who have not withdrawn."""
    weight = _weight(row["weight"], line) if "weight" in row else 1.0
    try:
        if "ranking" in row:
            answer = Answer(row["position"], ranking_from(row["ranking"]), row.get("voter"), weight)
        else:
            two = row["winner"], row["loser"]
            if two[0] == two[1]:
                raise ProblemError(f"'{two[0]}' cannot win against itself.")
            tie = _is_yes(row, "tie", "no", line)
            answer = Answer(row["position"], (two,) if tie else two, row.get("voter"), weight)
        if gone & {*answer.candidates}:
            staying = [tuple(name for name in group if name not in gone) for group in answer.groups]
            if sum(map(len, staying)) < 2:
                return None
            answer = replace(answer, ranking=[group for group in staying if group])
        if problem is not None:
            _check_candidates(answer, problem, "ranking" in row)
    except ProblemError as error:
        raise ProblemError(f"line {line}: {error}") from None
    return answer


def _check_candidates(answer: Answer, problem: Problem, written: bool) -> None:
    """Refuse candidates that are none at the position; of a ``written`` ranking a name may have been split.

    :raises ProblemError: naming the first.
    """
    for name in answer.candidates:
        try:
            problem.edge_number(name, answer.position)
        except ProblemError as error:
            odd = [other for other in problem.candidates if name in re.split(r"\s*[<>=]\s*", other)]
            if not written or not odd:
                raise
            quoted = ranking_text(odd[:1])
            raise ProblemError(f"{error} A name that has > or = in it is put in quotes: {quoted}.") from None


def _is_yes(row: Mapping[str, str], column: str, default: str, line: int) -> bool:
    cell = (row.get(column) or default).casefold()
    if cell not in ("yes", "no", "true", "false", "1", "0"):
        raise FileError(f"line {line}: {column} must be yes or no, not '{cell:.40}'.")
    return cell in ("yes", "true", "1")


def _weight(cell: str, line: int) -> float:
    weight = number(Bare(cell, where=f"line {line}: "), "the weight")
    if not 0 < weight < math.inf:
        raise FileError(f"line {line}: the weight must be above 0, not {weight:g}.")
    return weight
