"""A store: the studies in one database."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from duelmatch.errors import NotAllowedError, NotThereError, StudyError
from duelmatch.explorers.catalogue import described
from duelmatch.problem import Problem
from duelmatch.studies import schema
from duelmatch.studies.database import Database
from duelmatch.studies.entries import BEGINNING, sealed
from duelmatch.studies.kinds import FOR_PANELS, QUESTIONS_EACH_FOR_PANELS
from duelmatch.studies.links import Access, accesses_in
from duelmatch.studies.log import Transaction, Writer, first_entry
from duelmatch.studies.pictures import claim, keep, picture_data
from duelmatch.studies.settings import Settings
from duelmatch.studies.state import check_beginning, check_size, created_data, read_created
from duelmatch.studies.states import States
from duelmatch.studies.study import Study
from duelmatch.studies.texts import check_names, plain
from duelmatch.studies.values import Listed
from duelmatch.studies.voters import NewVoter, checked_voters, insert_voters, new_voter_id
from duelmatch.studies.webhooks import Webhooks

MOST_STUDIES = 2_000
"""How many study objects are kept; they are small."""

MOST_RECALLED = 20
"""How many open studies a process reads before somebody asks."""


class Store:
    """The studies in a database, which is made ready if it is empty.

    ``clock`` gives the time instead of the database's own clock, for tests and simulations.
    """

    def __init__(self, url: str, clock: Callable[[], float] | None = None) -> None:
        self.database = Database(url, clock=clock)
        try:
            self.database.prepare()
        except BaseException:
            self.database.close()
            raise
        self.states = States(self.database)
        self.writer = Writer(self.database, self.states.evict)
        self.webhooks = Webhooks(self.database)
        self._studies: dict[str, Study] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database. Everything is saved already."""
        self.writer.close()
        self.database.close()

    def create(
        self,
        problem: Problem,
        settings: Settings | None = None,
        name: str = "",
        voters: Iterable[str | NewVoter] = (),
        check: Callable[[Mapping[str, Any]], None] = check_beginning,
    ) -> Study:
        """Begin a study.

        ``voters`` are those who are known at the beginning, by name or as :class:`NewVoter` with a weight and
        conflicts of interest. If the settings name no algorithm they are a panel, and without them it is a
        crowd. ``check`` tries whether a study can begin like this, before anything is written: a server does
        so in another process, since it can take long.

        :raises ProblemError: if there is no such algorithm, or it has no such parameters.
        :raises NotAllowedError: if what is for panels only is given for others.
        """
        name = plain(name, "The name of a study")
        members = [NewVoter(voter) if isinstance(voter, str) else voter for voter in voters]
        settings = (settings or Settings()).settled(named_voters=bool(members))
        if settings.kind == "rounds":
            described(settings.algorithm).check_conditions(problem)
        check_size(settings, len(members), problem, sum(member.excluded(problem) for member in members))
        check_names(problem)
        people = [(new_voter_id(), member) for member in checked_voters(members, problem)]
        if settings.kind != "panel":
            if any(member.weight != 1 or member.conflicts for _, member in people):
                raise NotAllowedError(FOR_PANELS)
            if settings.questions_each is not None:
                raise NotAllowedError(QUESTIONS_EACH_FOR_PANELS)
        elif settings.questions_each == 0:
            raise StudyError("Each judge must be asked at least one question.")
        data = created_data(problem, settings, [member.as_dict(voter) for voter, member in people])
        if read_created(sealed(1, 0.0, "created", data, BEGINNING)[0])[:2] != (problem, settings):
            raise StudyError(
                "A problem must be the same when it is read back; this one has odd names or settings."
            )
        check(data)
        study = secrets.token_hex(8)
        details = *problem.candidate_details.values(), *problem.position_details.values()
        shown = [about.picture for about in details]

        def work(transaction: Transaction) -> None:
            claim(transaction.connection, study, shown, transaction.now)
            transaction.create(study, name, data)
            insert_voters(transaction.connection, study, people)

        self.writer.submit(study, work).result()
        return self.study(study)

    def studies(self) -> list[Listed]:
        """Return the studies, oldest first."""
        columns = schema.studies.c
        query = sa.select(columns.id, columns.name, columns.phase, columns.created_at)
        with self.database.reading() as connection:
            rows = connection.execute(query.order_by(columns.created_at, columns.id))
            return [Listed(*row) for row in rows]

    def study(self, study: str) -> Study:
        """Return a study by its id."""
        if not isinstance(study, str) or not re.fullmatch("[0-9a-f]{1,40}", study):
            raise NotThereError(f"There is no study {study!r:.80}.")
        if (known := self._studies.get(study)) is not None:
            return known
        _, settings, _ = read_created(first_entry(self.database, study))
        found = Study(self.database, self.writer, self.states, study, settings)
        with self._lock:
            if len(self._studies) >= MOST_STUDIES:
                self._studies.clear()
            return self._studies.setdefault(study, found)

    def known(self, study: str) -> Study | None:
        """Return a study by its id, if this process has had to do with it."""
        return self._studies.get(study)

    def access(self, token: str) -> Access | None:
        """Return what a link's token allows; None if it is not one, or was revoked."""
        return self.accesses([token]).get(token)

    def accesses(self, tokens: Iterable[str]) -> dict[str, Access]:
        """Return what the tokens of links allow; those that allow nothing are left out."""
        with self.database.reading() as connection:
            return accesses_in(connection, tokens, self.database.now(connection))

    def shared_secret(self) -> bytes | None:
        """Return something that all servers of this store know, and nobody else; None while it is empty."""
        first = sa.select(schema.links.c.hash).order_by(schema.links.c.id).limit(1)
        with self.database.reading() as connection:
            found: bytes | None = connection.execute(first).scalar_one_or_none()
            return found

    def keep_picture(self, data: bytes) -> str:
        """Keep a picture, small enough and safe to show; return its address, for details of candidates.

        If no study is created or changed to show it, it is deleted after a day.
        """
        return self.writer.submit(
            "", lambda transaction: keep(transaction.connection, data, transaction.now)
        ).result()

    def picture(self, picture: str) -> bytes | None:
        """Return a picture, by the hash in its address."""
        with self.database.reading() as connection:
            return picture_data(connection, picture)

    def recall(self) -> None:
        """Read the newest of the open studies, so that the next who votes there need not wait for it."""
        still_open = [listed for listed in self.studies() if listed.phase == "open"]
        for each in still_open[: -MOST_RECALLED - 1 : -1]:
            self.study(each.id)
            self.states.prepare(each.id)
