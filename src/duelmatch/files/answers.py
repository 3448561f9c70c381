"""Answers as CSV: who was preferred to whom at which position, and perhaps a weight."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from duelmatch.errors import FileError, ProblemError
from duelmatch.files.documents import Bare, number
from duelmatch.files.tables import append_table, dump_exactly, read_table
from duelmatch.files.text import AnyPath, naming, read_text, write_text
from duelmatch.problem import Problem

ANSWERS_BYTES = 50_000_000
COLUMNS = ("position", "winner", "loser")
WEIGHTED_COLUMNS = (*COLUMNS, "weight")


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
