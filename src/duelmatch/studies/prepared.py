"""Queries as the driver takes them, for what every vote looks up: SQLAlchemy's way takes ten times longer."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect


class Prepared:
    """A query for one row, whose text is made once for each kind of database."""

    def __init__(self, query: sa.Select[Any]) -> None:
        self._query = query
        row: Any = namedtuple  # of names that are known now only, so no type checker can follow
        self._row = row("Row", query.selected_columns.keys())
        self._texts: dict[str, tuple[str, list[str] | None]] = {}

    def one(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """Return the row, or None."""
        dialect = connection.dialect
        text, order = self._texts.get(dialect.name) or self._write(dialect)
        cursor = connection.connection.cursor()
        try:
            cursor.execute(text, values if order is None else [values[name] for name in order])
            found = cursor.fetchone()
        finally:
            cursor.close()
        return None if found is None else self._row(*found)

    def _write(self, dialect: Dialect) -> tuple[str, list[str] | None]:
        compiled: Any = self._query.compile(dialect=dialect)
        self._texts[dialect.name] = str(compiled), compiled.positiontup
        return self._texts[dialect.name]
