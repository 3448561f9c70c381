"""Whom to tell what a study decides: one address for each study, and what was told there so far.

What is told follows from what the receiver knows and where the study stands, so nothing is lost when a server
stops, and nothing is queued. Several servers of one database take turns: who claims a study tells it.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from duelmatch.studies import schema
from duelmatch.studies.database import Database
from duelmatch.studies.values import Status

CLAIMED = 60.0
"""Seconds that a server has for telling; then another may try."""

Known = Mapping[str, Any]
"""What a receiver knows: the phase, the certain result if there is one, who has which position, and from how
many events: their numbers tell events apart."""

_columns = schema.webhooks.c


@dataclass(frozen=True, slots=True)
class Webhook:
    """The webhook of a study, whose log has ``entries``.

    ``failures`` is how often the next event could not be told, ``failure`` what went wrong last, if it did.
    """

    study: str
    url: str
    secret: str
    known: Known
    failures: int
    failure: str | None
    entries: int

    def __repr__(self) -> str:
        return f"<Webhook of study {self.study}>"  # and not the secret


@dataclass(frozen=True, slots=True)
class News:
    """An event to tell, and what the receiver knows then."""

    event: str
    about: Mapping[str, Any]
    known: Known


def known_of(status: Status) -> dict[str, Any]:
    """Return what somebody knows who has been told where the study stands."""
    certain = status.done and status.outcome not in ("undecided", "budget_spent")
    return {
        "events": 0,
        "phase": status.phase,
        "result": _result(status) if certain else None,
        "positions": {
            position: list(names) if isinstance(names, tuple) else names
            for position, names in status.progress.decided.items()
        },
    }


def _result(status: Status) -> dict[str, Any]:
    matching = status.result.matching
    return {"status": status.outcome, "matching": None if matching is None else matching.as_json()}


def news(before: Known, status: Status) -> News | None:
    """Return the next event to tell somebody who knows this; None if there is none."""
    now, after = known_of(status), {**before, "events": before["events"] + 1}
    old, new = before["positions"], now["positions"]
    for position in dict.fromkeys((*old, *new)):
        if old.get(position) == new.get(position):
            continue
        others = {name: chosen for name, chosen in old.items() if name != position}
        if position not in new:
            return News("position_reopened", {"position": position}, {**after, "positions": others})
        chosen = {position: new[position]}
        about = {"position": position, "candidates": new[position]}
        return News("position_decided", about, {**after, "positions": others | chosen})
    if before["result"] != now["result"]:
        event = "reopened" if now["result"] is None else "decided"
        return News(event, {"result": now["result"]}, {**after, "result": now["result"]})
    if before["phase"] != now["phase"]:
        event = {"open": "opened", "paused": "paused", "closed": "closed"}[status.phase]
        return News(event, {"result": _result(status)}, {**after, "phase": now["phase"]})
    return None


class Webhooks:
    """The webhooks of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def set(self, study: str, url: str, status: Status) -> str:
        """Tell an address from now on, in place of another; return the secret that signs what is sent."""
        secret = f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
        with self._database.writing() as connection:
            connection.execute(sa.delete(schema.webhooks).where(_columns.study == study))
            row: dict[str, Any] = {"study": study, "url": url, "secret": secret}
            row["told"] = json.dumps(known_of(status))
            row |= {"created_at": self._database.now(connection), "not_before": 0.0, "failures": 0}
            connection.execute(sa.insert(schema.webhooks), row)
        return secret

    def remove(self, study: str) -> None:
        """Tell nobody any more."""
        with self._database.writing() as connection:
            connection.execute(sa.delete(schema.webhooks).where(_columns.study == study))

    def of_study(self, study: str) -> Webhook | None:
        """Return the webhook of a study, if it has one."""
        with self._database.reading() as connection:
            return next(_found(connection, _columns.study == study), None)

    def due(self) -> list[Webhook]:
        """Return those that may be called now."""
        with self._database.reading() as connection:
            return list(_found(connection, _columns.not_before <= self._database.now(connection)))

    def claim(self, webhook: Webhook) -> bool:
        """Keep other servers from telling; False if one of them does, or did."""
        with self._database.writing() as connection:
            now = self._database.now(connection)
            free = sa.and_(
                _same(webhook), _columns.told == json.dumps(webhook.known), _columns.not_before <= now
            )
            claimed = sa.update(schema.webhooks).where(free).values(not_before=now + CLAIMED)
            return connection.execute(claimed).rowcount == 1

    def note_told(self, webhook: Webhook, known: Known, failure: str | None = None) -> Webhook:
        """Note what the receiver knows now, or would know if it had not failed too often."""
        with self._database.writing() as connection:
            values = {"told": json.dumps(known), "not_before": 0.0, "failures": 0, "failure": failure}
            connection.execute(sa.update(schema.webhooks).where(_same(webhook)).values(**values))
        return replace(webhook, known=known, failures=0, failure=failure)

    def note_failure(self, webhook: Webhook, failure: str, wait: float) -> None:
        """Note what went wrong, and try again after ``wait`` seconds."""
        with self._database.writing() as connection:
            again = {"not_before": self._database.now(connection) + wait, "failures": webhook.failures + 1}
            values = again | {"failure": failure}
            connection.execute(sa.update(schema.webhooks).where(_same(webhook)).values(**values))


def _found(connection: Connection, which: sa.ColumnElement[bool]) -> Iterator[Webhook]:
    query = sa.select(schema.webhooks, schema.studies.c.seq).join_from(schema.webhooks, schema.studies)
    for row in connection.execute(query.where(which)):
        known = json.loads(row.told)
        yield Webhook(row.study, row.url, row.secret, known, row.failures, row.failure, row.seq)


def _same(webhook: Webhook) -> sa.ColumnElement[bool]:
    """Say which it is; a study may have got another since."""
    return sa.and_(_columns.study == webhook.study, _columns.secret == webhook.secret)
