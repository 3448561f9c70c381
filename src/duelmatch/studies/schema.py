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

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect

LARGEST_NUMBER = 2**31 - 1
"""What a column of integers holds."""

metadata = sa.MetaData()

studies = sa.Table(
    "studies",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("phase", sa.String(10), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("seq", sa.Integer, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
"""``seq`` and ``hash`` are those of the last entry."""

entries = sa.Table(
    "entries",
    metadata,
    sa.Column("study", sa.ForeignKey("studies.id"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("by", sa.String(40)),
    sa.Column("voter", sa.String(16)),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
"""``data`` is canonical JSON, as it was hashed."""

voters = sa.Table(
    "voters",
    metadata,
    sa.Column("study", sa.ForeignKey("studies.id"), primary_key=True),
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("name", sa.String(200)),
    sa.Index("voters_by_name", "study", "name", unique=True),
)

links = sa.Table(
    "links",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("study", sa.ForeignKey("studies.id"), nullable=False, index=True),
    sa.Column("role", sa.String(10), nullable=False),
    sa.Column("voter", sa.String(16)),
    sa.Column("hash", sa.LargeBinary(32), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("revoked_at", sa.Double),
)

pictures = sa.Table(
    "pictures",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("study", sa.String(40), primary_key=True),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
"""``id`` is the SHA-256 of ``data``; ``study`` is empty until one shows it."""

webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("study", sa.ForeignKey("studies.id"), primary_key=True),
    sa.Column("url", sa.String(2000), nullable=False),
    sa.Column("secret", sa.String(100), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("told", sa.Text, nullable=False),
    sa.Column("not_before", sa.Double, nullable=False),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("failure", sa.Text),
)
"""``told`` is JSON: what the receiver knows. Until ``not_before`` a server tells more, or has failed to."""

Values = Mapping[str, Any]


class Prepared:
    """A statement as the driver takes it, for what every vote does: SQLAlchemy's way takes ten times longer.

    Its text is made once for each kind of database. Rows are plain tuples.
    """

    def __init__(self, statement: sa.ClauseElement) -> None:
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
