"""Queries as the driver takes them, for what every vote looks up: SQLAlchemy's way takes ten times longer."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect


class Prepared:
    """A query whose text is made once for each kind of database."""

    def __init__(self, query: sa.Select[Any]) -> None:
        self._query = query
        row: Any = namedtuple  # of names that are known now only, so no type checker can follow
        self._row = row("Row", query.selected_columns.keys())
        self._texts: dict[str, tuple[str, list[str] | None]] = {}

    def one(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """Return the row, or None."""
        cursor = self._execute(connection, values)
        try:
            found = cursor.fetchone()
        finally:
            cursor.close()
        return None if found is None else self._row(*found)

    def many(
        self, connection: Connection, values: Mapping[str, Any], at_once: int
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows as plain tuples, so many at once."""
        cursor = self._execute(connection, values)
        try:
            while rows := cursor.fetchmany(at_once):
                yield rows
        finally:
            cursor.close()

    def _execute(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        dialect = connection.dialect
        text, order = self._texts.get(dialect.name) or self._write(dialect)
        cursor = connection.connection.cursor()
        cursor.execute(text, values if order is None else [values[name] for name in order])
        return cursor

    def _write(self, dialect: Dialect) -> tuple[str, list[str] | None]:
        compiled: Any = self._query.compile(dialect=dialect)
        self._texts[dialect.name] = str(compiled), compiled.positiontup
        return self._texts[dialect.name]
