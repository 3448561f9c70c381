"""The tables, as the newest migration leaves them.

``entries`` is the log: rows are added and never changed, which the database itself sees to. ``studies`` has
where each log ends, and its row is what a writer locks. ``voters`` holds the names, ``links`` the hashes of
the tokens; neither is part of the log, so a name can be deleted, and neither is exported with it.
``pictures`` has what was uploaded: the log names pictures by their hashes. ``webhooks`` has whom to tell what
a study decides; it is not part of the log either, since its addresses and secrets are nobody else's business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from sqlalchemy import (
    ClauseElement,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)
from sqlalchemy.engine import Connection, Dialect

LARGEST_NUMBER = 2**31 - 1
"""What a column of integers holds."""

metadata = MetaData()

studies = Table(
    "studies",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("phase", String(10), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("hash", String(64), nullable=False),
)
"""``seq`` and ``hash`` are those of the last entry."""

entries = Table(
    "entries",
    metadata,
    Column("study", ForeignKey("studies.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("by", String(40)),
    Column("voter", String(16)),
    Column("data", Text, nullable=False),
    Column("hash", String(64), nullable=False),
)
"""``data`` is canonical JSON, as it was hashed."""

voters = Table(
    "voters",
    metadata,
    Column("study", ForeignKey("studies.id"), primary_key=True),
    Column("id", String(16), primary_key=True),
    Column("name", String(200)),
    Index("voters_by_name", "study", "name", unique=True),
)

links = Table(
    "links",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("study", ForeignKey("studies.id"), nullable=False, index=True),
    Column("role", String(10), nullable=False),
    Column("voter", String(16)),
    Column("hash", LargeBinary(32), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("revoked_at", Double),
)

pictures = Table(
    "pictures",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("study", String(40), primary_key=True),
    Column("created_at", Double, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""``id`` is the SHA-256 of ``data``; ``study`` is empty until one shows it."""

webhooks = Table(
    "webhooks",
    metadata,
    Column("study", ForeignKey("studies.id"), primary_key=True),
    Column("url", String(2000), nullable=False),
    Column("secret", String(100), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("told", Text, nullable=False),
    Column("not_before", Double, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("failure", Text),
)
"""``told`` is JSON: what the receiver knows. Until ``not_before`` a server tells more, or has failed to."""

Values = Mapping[str, Any]


class Prepared:
    """A statement as the driver takes it, for what every vote does: SQLAlchemy's way takes ten times longer.

    Its text is made once for each kind of database. Rows are plain tuples.
    """

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._texts: dict[str, tuple[str, list[str] | None]] = {}

    def one(self, connection: Connection, values: Values) -> Any:
        """Return the row, or None."""
        with closing(self.run(connection, values)) as cursor:
            return cursor.fetchone()

    def many(self, connection: Connection, values: Values, at_once: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows in batches."""
        with closing(self.run(connection, values)) as cursor:
            while rows := cursor.fetchmany(at_once):
                yield rows

    def run(self, connection: Connection, values: Values) -> Any:
        """Run it, and return the driver's cursor."""
        text, order = self._text(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.execute(text, values if order is None else [values[name] for name in order])
        return cursor

    def run_for_each(self, connection: Connection, rows: Sequence[Values]) -> None:
        """Run it once for each of the rows."""
        text, order = self._text(connection.dialect)
        many = rows if order is None else [[row[name] for name in order] for row in rows]
        with closing(connection.connection.cursor()) as cursor:
            cursor.executemany(text, many)

    def _text(self, dialect: Dialect) -> tuple[str, list[str] | None]:
        known = self._texts.get(dialect.name)
        if known is None:
            compiled: Any = self._statement.compile(dialect=dialect)
            known = self._texts[dialect.name] = str(compiled), compiled.positiontup
        return known
