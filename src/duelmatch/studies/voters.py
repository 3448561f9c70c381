"""Voters: who is to be asked, and their names, which stay out of the log."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from duelmatch.errors import StudyError
from duelmatch.problem import Problem
from duelmatch.studies import schema
from duelmatch.studies.texts import look_alike, look_of, plain

LARGEST_WEIGHT = 1_000

_columns = schema.voters.c


def new_voter_id() -> str:
    """Return an id that says nothing about the voter: 16 hexadecimal digits."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class NewVoter:
    """A voter to be: a name that stays out of the log, a weight, and candidates the voter does not judge.

    Whoever has a part of the candidates ``only`` does not judge the others of this moment.
    """

    name: str | None = None
    weight: int = 1
    conflicts: Collection[str] = ()
    only: Collection[str] | None = None

    def excluded(self, problem: Problem) -> int:
        """Return how many candidates the voter will not judge, at least, before they are listed."""
        others = 0 if self.only is None else max(0, len(problem.candidates) - len({*self.only}))
        return max(len({*self.conflicts}), others)

    def checked(self, problem: Problem) -> NewVoter:
        """Return the same with plain text, if it is about this problem."""
        name = None if self.name is None else plain(self.name, "The name of a voter")
        if type(self.weight) is not int or not 1 <= self.weight <= LARGEST_WEIGHT:
            raise StudyError(
                f"A weight is a whole number from 1 to {LARGEST_WEIGHT}, not {self.weight!r:.40}."
            )
        conflicts = list(self.conflicts)
        for candidate in (*conflicts, *(self.only or ())):
            problem.candidate_number(candidate)
        if self.only is not None:
            named = {*self.only, *conflicts}
            conflicts += [name for name in problem.candidates if name not in named]
        return NewVoter(name, self.weight, tuple(conflicts))

    def as_dict(self, voter: str) -> dict[str, Any]:
        """Return what the log has of a voter."""
        return {"id": voter, "weight": self.weight, "conflicts": list(self.conflicts)}


def checked_voters(voters: Iterable[NewVoter], problem: Problem) -> list[NewVoter]:
    """Return the same with plain text, if nobody could take one for another."""
    checked = [voter.checked(problem) for voter in voters]
    if twice := look_alike(voter.name for voter in checked if voter.name is not None):
        raise StudyError(f"Two voters are called '{twice:.80}'.")
    return checked


def insert_voters(connection: Connection, study: str, people: Iterable[tuple[str, NewVoter]]) -> None:
    """Note the names of voters, by their ids."""
    rows = [{"study": study, "id": voter, "name": each.name} for voter, each in people]
    if rows:
        connection.execute(sa.insert(schema.voters), rows)


def taken_name(
    connection: Connection, study: str, names: Collection[str | None], but_of: str | None = None
) -> str | None:
    """Return the name of a voter of the study, except of one, that looks like one of these."""
    wanted = {look_of(name) for name in names if name is not None}
    if not wanted:
        return None
    query = sa.select(_columns.id, _columns.name).where(_columns.study == study, _columns.name.is_not(None))
    known = connection.execute(query)
    return next((row.name for row in known if row.id != but_of and look_of(row.name) in wanted), None)


def voter_called(connection: Connection, study: str, name: str | None) -> str | None:
    """Return the id of the voter of this name."""
    query = sa.select(_columns.id).where(_columns.study == study, _columns.name == name)
    found: str | None = connection.execute(query).scalar_one_or_none()
    return found


def set_name(connection: Connection, study: str, voter: str, name: str | None) -> None:
    """Give a voter another name, or none."""
    change = sa.update(schema.voters).where(_columns.study == study, _columns.id == voter)
    connection.execute(change.values(name=name))


def names_in(
    connection: Connection, study: str, voters: Collection[str] | None = None
) -> dict[str, str | None]:
    """Return the names of these voters, or of all, by id."""
    query = sa.select(_columns.id, _columns.name).where(_columns.study == study)
    if voters is not None:
        query = query.where(_columns.id.in_(voters))
    return {row.id: row.name for row in connection.execute(query)}
