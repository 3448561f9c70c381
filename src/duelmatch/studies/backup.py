"""A whole store in one file, and back: all studies, voters and links, for either kind of database.

The file is gzipped JSON, a line per row, with a first line that says what it is and a last one that says
that it is complete. It is made while voting goes on, of one moment; and put back whole or not at all.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from duelmatch.errors import FileError, StoreError
from duelmatch.files.documents import naming
from duelmatch.files.writing import replacing
from duelmatch.studies.database import Database
from duelmatch.studies.migrations import revisions, upgrade_to
from duelmatch.studies.schema import metadata
from duelmatch.version import __version__

FORMAT = "duelmatch store"
VERSION = 1
ROWS_AT_ONCE = 5_000
READABLE_BY_OWNER = 0o600


def backup(database: Database, path: Path) -> dict[str, int]:
    """Write everything into a file, which is there whole or not at all; return the rows of each table."""
    counts = Counter[str]()
    with (
        naming(path) as target,
        database.reading() as connection,
        replacing(target, mode=READABLE_BY_OWNER) as file,
        gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed,
    ):
        for line in _lines(database, connection, counts):
            packed.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
    return dict(counts)


def _lines(database: Database, connection: Connection, counts: Counter[str]) -> Iterator[Any]:
    about = {"format": FORMAT, "version": VERSION, "duelmatch": __version__}
    yield about | {"tables": database.revision(connection)}
    for table in metadata.sorted_tables:
        names = [column.name for column in table.columns]
        yield {"table": table.name, "columns": names}
        rows = connection.execution_options(yield_per=ROWS_AT_ONCE).execute(
            sa.select(table).order_by(*table.primary_key)
        )
        for row in rows:
            counts[table.name] += 1
            yield [value.hex() if isinstance(value, bytes) else value for value in row]
    yield {"end": sum(counts.values())}


def restore(database: Database, path: Path) -> dict[str, int]:
    """Put everything from a file into an empty database; return the rows of each table.

    A file of an older version is brought up to date.

    :raises StoreError: if the database is not empty.
    """
    with naming(path) as file:
        try:
            with gzip.open(file, "rt", encoding="utf-8") as packed:
                return _put_back(database, (json.loads(line) for line in packed))
        except FileNotFoundError:
            raise FileError("There is no such file.") from None
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, FileError | StoreError):
                raise
            raise FileError("This is not a complete backup of duelmatch, so nothing was restored.") from None


def _put_back(database: Database, lines: Iterator[Any]) -> dict[str, int]:
    about = next(lines, None)
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise FileError("This is not a backup of duelmatch. `duelmatch store backup` writes one.")
    if about.get("version") != VERSION or about["tables"] not in revisions():
        raise FileError("A newer version of duelmatch wrote this backup; install that version.")
    with database.writing() as connection:
        database.lock_for_upgrade(connection)
        _check_empty(database, connection)
        upgrade_to(connection, about["tables"])
        try:
            counts = _insert_all(connection, lines)
        except sa.exc.SQLAlchemyError:
            raise ValueError("rows that do not go together") from None
        upgrade_to(connection, "head")
    return counts


def _check_empty(database: Database, connection: Connection) -> None:
    if database.revision(connection) is None:
        return
    if connection.execute(sa.text("SELECT count(*) FROM studies")).scalar_one():
        raise StoreError(f"{database}: There are studies in this database; restore into an empty one.")
    for table in reversed(sa.inspect(connection).get_sorted_table_and_fkc_names()):
        if table[0] is not None:
            connection.execute(sa.text(f"DROP TABLE {table[0]}"))
    if not database.is_sqlite:
        connection.execute(sa.text("DROP FUNCTION IF EXISTS duelmatch_append_only CASCADE"))


def _insert_all(connection: Connection, lines: Iterator[Any]) -> dict[str, int]:
    counts = Counter[str]()
    table: sa.Table | None = None
    names: list[str] = []
    waiting: list[dict[str, Any]] = []
    for line in lines:
        if isinstance(line, list) and table is not None:
            counts[table.name] += 1
            waiting.append(dict(zip(names, map(_value, table.columns, line), strict=True)))
        if table is not None and waiting and (len(waiting) >= ROWS_AT_ONCE or isinstance(line, dict)):
            connection.execute(sa.insert(table), waiting)
            waiting = []
        if isinstance(line, dict) and "end" in line:
            if line["end"] == sum(counts.values()):
                return dict(counts)
            break
        if isinstance(line, dict):
            table = sa.Table(line["table"], sa.MetaData(), autoload_with=connection, resolve_fks=False)
            names = [column.name for column in table.columns]
            if line["columns"] != names:
                raise ValueError("other columns")
    raise ValueError("the end is missing")


def _value(column: sa.Column[Any], value: Any) -> Any:
    return bytes.fromhex(value) if isinstance(column.type, sa.LargeBinary) else value
