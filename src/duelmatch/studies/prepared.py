"""Statements as the driver takes them, for what every vote does: SQLAlchemy's way takes ten times longer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect

Values = Mapping[str, Any]


class Prepared:
    """A statement whose text is made once for each kind of database. Rows are plain tuples."""

    def __init__(self, statement: sa.ClauseElement) -> None:
        self._statement = statement
        self._texts: dict[str, tuple[str, list[str] | None]] = {}

    def one(self, connection: Connection, values: Values) -> Any:
        """Return the row, or None."""
        cursor = self.run(connection, values)
        try:
            return cursor.fetchone()
        finally:
            cursor.close()

    def many(self, connection: Connection, values: Values, at_once: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows in batches."""
        cursor = self.run(connection, values)
        try:
            while rows := cursor.fetchmany(at_once):
                yield rows
        finally:
            cursor.close()

    def run(self, connection: Connection, values: Values) -> Any:
        """Run it, and return the driver's cursor."""
        text, order = self._text(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.execute(text, values if order is None else [values[name] for name in order])
        return cursor

    def run_for_each(self, connection: Connection, rows: Sequence[Values]) -> None:
        """Run it once for each of the rows."""
        text, order = self._text(connection.dialect)
        cursor = connection.connection.cursor()
        try:
            cursor.executemany(
                text, rows if order is None else [[row[name] for name in order] for row in rows]
            )
        finally:
            cursor.close()

    def _text(self, dialect: Dialect) -> tuple[str, list[str] | None]:
        known = self._texts.get(dialect.name)
        if known is None:
            compiled: Any = self._statement.compile(dialect=dialect)
            known = self._texts[dialect.name] = str(compiled), compiled.positiontup
        return known
