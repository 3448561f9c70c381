"""Uploaded pictures of candidates, kept beside the log, which names each by the hash of its bytes.

Whoever fills in a form uploads pictures before there is a study to show them. Until one does, a picture
belongs to none, and after a day it is deleted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from duelmatch.errors import StudyError
from duelmatch.studies import schema

UPLOADED = re.compile(r"/pictures/([0-9a-f]{64})\Z")
"""The address of an uploaded picture on the server that has it."""

KEPT_WITHOUT_STUDY = 86_400.0
"""Seconds."""

_columns = schema.pictures.c


def keep(connection: Connection, data: bytes, now: float) -> str:
    """Keep a picture that no study shows yet, and return its address."""
    old = sa.and_(_columns.study == "", _columns.created_at < now - KEPT_WITHOUT_STUDY)
    connection.execute(sa.delete(schema.pictures).where(old))
    picture = hashlib.sha256(data).hexdigest()
    _insert(connection, picture, "", data, now)
    return f"/pictures/{picture}"


def claim(connection: Connection, study: str, addresses: Iterable[str | None], now: float) -> None:
    """Let a study have the uploaded pictures among some addresses for good.

    :raises StudyError: if there is no such picture.
    """
    names = [found[1] for address in addresses if address and (found := UPLOADED.match(address))]
    known = {picture: picture_data(connection, picture) for picture in names}
    if None in known.values():
        raise StudyError("A picture was uploaded too long ago, or on another server; choose it again.")
    for picture, data in known.items():
        _insert(connection, picture, study, data or b"", now)


def picture_data(connection: Connection, picture: str) -> bytes | None:
    """Return a picture, by the hash that names it."""
    query = sa.select(_columns.data).where(_columns.id == picture).limit(1)
    return connection.execute(query).scalar_one_or_none()


def _insert(connection: Connection, picture: str, study: str, data: bytes, now: float) -> None:
    same = sa.and_(_columns.id == picture, _columns.study == study)
    if connection.execute(sa.update(schema.pictures).where(same).values(created_at=now)).rowcount == 0:
        row = {"id": picture, "study": study, "created_at": now, "data": data}
        connection.execute(sa.insert(schema.pictures), row)
