"""Answers as CSV: who was preferred to whom at which position, by whom if that is known, and a weight.

What ``duelmatch ask`` keeps has the columns position,winner,loser (:class:`Comparison`). What comes from
elsewhere may have a column voter, a column tie (yes or no), or a ranking such as ``ann > bob = cyd`` in place
of winner and loser, in any order of the columns (:func:`read_rankings`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from duelmatch.answers import Answer, ranking_from
from duelmatch.errors import FileError, ProblemError, did_you_mean
from duelmatch.files.documents import Bare, number
from duelmatch.files.tables import append_table, dump_exactly, filled_rows, read_table
from duelmatch.files.text import AnyPath, naming, read_text, write_text
from duelmatch.problem import Problem

ANSWERS_BYTES = 50_000_000
COLUMNS = ("position", "winner", "loser")
WEIGHTED_COLUMNS = (*COLUMNS, "weight")
ANY_COLUMNS = ("voter", "position", "winner", "loser", "tie", "ranking", "weight", "counts")
PASSED_OVER = ("number", "entry", "time", "question", "struck")
"""Columns that an exported study has, and that say nothing of what an answer is."""

HEADERS = "the header must be position,winner,loser or position,ranking, perhaps with voter, tie and weight"


@dataclass(frozen=True, slots=True)
class Comparison:
    """An answer: at ``position``, ``winner`` was preferred to ``loser``.

    ``weight`` says how often, or how much it counts.
    """

    position: str
    winner: str
    loser: str
    weight: float = 1.0

    def edges(self, problem: Problem) -> tuple[int, int]:
        """Return the numbers of the winner's and the loser's edge.

        :raises ProblemError: if the problem has no such duel.
        """
        edges = (
            problem.edge_number(self.winner, self.position),
            problem.edge_number(self.loser, self.position),
        )
        if self.winner == self.loser:
            raise ProblemError(f"'{self.winner}' cannot win against itself.")
        return edges


def load_answers(path: AnyPath, problem: Problem | None = None) -> list[Comparison]:
    """Read answers, each checked against the problem, if one is given."""
    with naming(path) as file:
        _check_is_csv(file)
        return read_answers(read_text(file, ANSWERS_BYTES), problem)


def read_answers(text: str, problem: Problem | None = None) -> list[Comparison]:
    """Read answers from the text of a file."""
    answers = []
    for line, (position, winner, loser, *weight) in read_table(text, COLUMNS, WEIGHTED_COLUMNS)[1]:
        answer = Comparison(position, winner, loser, *(_weight(cell, line) for cell in weight))
        if problem is not None:
            try:
                answer.edges(problem)
            except ProblemError as error:
                raise ProblemError(f"line {line}: {error}") from None
        answers.append(answer)
    return answers


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer, and the line it stands on."""

    line: int
    answer: Answer


def load_rankings(path: AnyPath, problem: Problem | None = None) -> list[AnswerRow]:
    """Read answers of any layout, each checked against the problem, if one is given."""
    with naming(path) as file:
        return list(read_rankings(read_text(file, ANSWERS_BYTES), problem))


def read_rankings(text: str, problem: Problem | None = None) -> Iterator[AnswerRow]:
    """Yield the answers in the text of a file that count, whatever columns it has.

    Without a column position, the problem must have one only.

    :raises FileError: naming the line, if a row cannot be understood.
    :raises ProblemError: naming the line, if a row does not fit the problem.
    """
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
        row = {"position": default or ""} | {
            column: _plain(cell) for column, cell in zip(columns, cells, strict=True)
        }
        for column, cell in row.items():
            if not cell and column not in (*PASSED_OVER, "tie", "counts"):
                raise FileError(f"line {line}: the {column} is empty.")
        if not _is_yes(row, "counts", "yes", line):
            continue
        try:
            answer = _answer(row, line)
            if problem is not None:
                for name in answer.candidates:
                    problem.edge_number(name, answer.position)
        except ProblemError as error:
            raise ProblemError(f"line {line}: {error}") from None
        yield AnswerRow(line, answer)


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


def _answer(row: Mapping[str, str], line: int) -> Answer:
    weight = _weight(row["weight"], line) if "weight" in row else 1.0
    if "ranking" in row:
        return Answer(row["position"], ranking_from(row["ranking"]), row.get("voter"), weight)
    two = row["winner"], row["loser"]
    if two[0] == two[1]:
        raise ProblemError(f"'{two[0]}' cannot win against itself.")
    tie = _is_yes(row, "tie", "no", line)
    return Answer(row["position"], (two,) if tie else two, row.get("voter"), weight)


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


def save_answers(answers: Iterable[Comparison], path: AnyPath) -> None:
    """Write answers as a new file, in place of an old one."""
    with naming(path) as file:
        _check_is_csv(file)
        write_text(file, answers_table(answers), ANSWERS_BYTES)


def append_answers(answers: Iterable[Comparison], path: AnyPath) -> None:
    """Add answers at the end of a file with the same columns, which is made if it is not there."""
    with naming(path) as file:
        _check_is_csv(file)
        append_table(file, answers_table(answers), ANSWERS_BYTES)


def answers_table(answers: Iterable[Comparison]) -> str:
    """Return the text of a file of answers; it has weights only if one of them is not 1.

    :raises FileError: if a name would not be the same when the file is read.
    """
    given = list(answers)
    if all(answer.weight == 1 for answer in given):
        return dump_exactly(COLUMNS, [(a.position, a.winner, a.loser) for a in given])
    return dump_exactly(WEIGHTED_COLUMNS, [(a.position, a.winner, a.loser, repr(a.weight)) for a in given])


def _check_is_csv(file: Path) -> None:
    if file.suffix.lower() != ".csv":
        raise FileError("Answers are kept as CSV: the name of the file must end in .csv.")
