"""The database: SQLite or PostgreSQL, opened, migrated, and read or written in transactions; and messages.

What is committed is on disk: SQLite runs with a write-ahead log and ``synchronous=FULL``, PostgreSQL with
``synchronous_commit`` as the server has it, which is on unless somebody turned it off.

One writer at a time: on SQLite per file (``BEGIN IMMEDIATE`` and a busy timeout), on PostgreSQL per study
(its row in ``studies`` is locked). So the entries of a study are numbered and become visible in one order,
and whoever reads sees a beginning of the log without gaps. Readers wait for nobody, and nobody waits for
them.

A file of SQLite that is deleted or replaced while it is open goes on taking what is written, to nowhere. So
every transaction looks whether the file is still the one that was opened, also after its commit; if not,
nothing is acknowledged, and the database cannot be used until it is opened anew. The same goes for a file
that was overwritten with a smaller copy, and for a write-ahead log that has lost its beginning. The file
itself is not opened to look into it: to close it again would release SQLite's locks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from duelmatch.errors import MissingExtraError, StoreError, UnreachableError
from duelmatch.studies.migrations import revisions, upgrade_to

CONNECTIONS = 10
"""How many of a process stay open; as many threads write."""

BUSY_SECONDS = 30.0
"""How long to wait for another process that is writing to a file of SQLite, or changing the tables."""

LOCK_SECONDS = 1.5
"""How long to wait on PostgreSQL for another server that holds a study."""

IDLE_SECONDS = 20.0
"""PostgreSQL ends a transaction that has been idle for so long, and releases its study.

Longer than what is computed in a transaction: the least beaten line-up of a panel can take ten seconds.
"""

STATEMENT_SECONDS = 30.0
"""The longest that PostgreSQL works on one statement."""

LONGEST_MESSAGE = 7_900
"""Bytes; PostgreSQL takes 8,000."""

_MIGRATION_LOCK = 7_306_084_218_213_377
"""The number of PostgreSQL's advisory lock: any that nobody else is likely to use."""

_LOG_BEGINS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
"""The first bytes of a write-ahead log; without them SQLite takes nothing from it when it starts again."""

_POSTGRES_CLOCK = sa.text("SELECT extract(epoch from clock_timestamp())::double precision")


class Database:
    """A database of studies, shared by all threads of a process."""

    def __init__(self, url: str, clock: Callable[[], float] | None = None) -> None:
        self.url = _checked(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            _create_privately(self.url.database or "")
        self._clock = time.time if clock is None and self.is_sqlite else clock
        self._engine = _engine(self.url, self.is_sqlite)
        self._driver: Any = self._engine.dialect.loaded_dbapi
        self._file: tuple[int, int] | None = None
        self._size = 0
        """Bytes of the file, when it was last seen to be whole."""
        self._overwritten = False
        self._damage: str | None = None
        self._unreachable = (self._driver.OperationalError, self._driver.InterfaceError)

    def __str__(self) -> str:
        shown = self.url.set(drivername=self.url.get_backend_name())
        return shown.render_as_string(hide_password=True)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def now(self, connection: Connection) -> float:
        """Return the time by the database's clock, which all processes share: seconds since 1970.

        All who write to a file of SQLite are on one machine, and share its clock.
        """
        if self._clock is not None:
            return self._clock()
        return float(connection.execute(_POSTGRES_CLOCK).scalar_one())

    def touch(self, connection: Connection) -> None:
        """Write something that means nothing, to see that it can be done.

        :raises StoreError: also if damage was found before, whether or not this page is whole.
        """
        if self._damage is not None:
            raise StoreError(f"{self}: The database is damaged: {self._damage}")
        if self.is_sqlite:
            (last,) = connection.exec_driver_sql("PRAGMA user_version").one()
            connection.exec_driver_sql(f"PRAGMA user_version = {(last + 1) % 2**31}")
        else:
            connection.execute(sa.select(sa.func.pg_current_xact_id()))

    def inspect(self) -> None:
        """Go through all pages of a file of SQLite, and remember if one is damaged; that can take seconds."""
        if self.is_sqlite:
            with self.reading() as connection:
                found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
            if found != "ok":
                self._damage = found.splitlines()[-1]

    def _check_file(self) -> int:
        """Refuse to go on with a file that was deleted, replaced or overwritten; return its size."""
        if not self.is_sqlite:
            return 0
        self._check_not(self._overwritten)
        path = self.url.database or ""
        try:
            seen = os.stat(path)
        except OSError:
            found = None
        else:
            found = seen.st_dev, seen.st_ino
        if self._file is None:
            self._file = found
        if found is None or found != self._file:
            raise UnreachableError(
                f"{self}: The file was deleted or replaced. Start again to use what is there."
            )
        return seen.st_size

    def _check_not(self, overwritten: bool) -> None:
        """Refuse to go on with a file that something else has written to, now and from now on."""
        if overwritten:
            self._overwritten = True
            raise UnreachableError(
                f"{self}: The file was overwritten while it was in use. Start again to use what is there."
            )

    def _check_size(self, connection: Connection) -> None:
        """Refuse to go on with a file that has lost pages.

        SQLite shortens a file only after a commit that left it fewer pages, such as that of ``.restore``.
        """
        before = self._size  # first, since other threads make it larger
        size = self._check_file()
        if size < before:
            driver: Any = connection.connection.driver_connection
            pages, bytes_each = (
                driver.execute(f"PRAGMA page_{what}").fetchone()[0] for what in ("count", "size")
            )
            self._check_not(size < pages * bytes_each)
        self._size = size

    def _check_log(self) -> None:
        """Refuse to go on without a write-ahead log; it is empty if there is nothing to take from it."""
        try:
            with open(f"{self.url.database}-wal", "rb", buffering=0) as log:
                begin = log.read(4)
        except OSError:
            raise UnreachableError(f"{self}: The write-ahead log was deleted. Start again.") from None
        self._check_not(bool(begin) and begin not in _LOG_BEGINS)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection to read from; all of it sees the database as it was at one moment."""
        options = (
            {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        )
        with self._explained(), self._engine.connect() as connection:
            self._check_file()
            yield connection.execution_options(**options)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection to write to: all of it is kept, on disk, or nothing."""
        with self._explained(), self._engine.connect() as connection:
            connection.execution_options(duelmatch_writes=True)
            self._check_file()
            with connection.begin():
                if self.is_sqlite:
                    self._check_size(connection)
                else:
                    connection.exec_driver_sql(
                        _set("LOCAL idle_in_transaction_session_timeout", IDLE_SECONDS)
                    )
                yield connection
            if self.is_sqlite:
                self._check_size(connection)
                self._check_log()

    def purge(self) -> None:
        """Let what was deleted vanish from the write-ahead log of SQLite, too, if nobody reads just now.

        PostgreSQL does so when it vacuums.
        """
        if self.is_sqlite:
            with closing(self._driver.connect(self.url.database, timeout=1.0)) as other:
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def messages(self, channel: str) -> Messages | None:
        """Return a channel to the other servers of this database; there is none on SQLite."""
        return None if self.is_sqlite else Messages(self._engine, channel)

    def upgrade(self) -> tuple[str | None, str]:
        """Bring the tables to what this version works with; return the revisions before and after.

        Several processes may do so at once.
        """
        with self.writing() as connection:
            self.lock_for_upgrade(connection)
            before = self.revision(connection)
            self._check_known(before)
            upgrade_to(connection, "head")
            return before, revisions()[0]

    def lock_for_upgrade(self, connection: Connection) -> None:
        """Keep others from changing the tables until the end of the transaction."""
        if not self.is_sqlite:  # which has locked all of it
            connection.exec_driver_sql(_set("LOCAL lock_timeout", BUSY_SECONDS))
            for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
                connection.exec_driver_sql(_set(f"LOCAL {name}", 0))
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))

    def prepare(self) -> None:
        """Make the tables if the database is empty, or see to it that they are the right ones.

        :raises StoreError: if they are those of another version.
        """
        with self.reading() as connection:
            revision = self.revision(connection)
        if revision is None:
            self.upgrade()
            return
        self._check_known(revision)
        if revision != revisions()[0]:
            raise StoreError(
                f"{self}: This database was made by an older version of duelmatch. Make a copy of it, then "
                "bring it up to date with: duelmatch store upgrade"
            )

    def revision(self, connection: Connection) -> str | None:
        """Return the revision of the tables, None if there are none."""
        from alembic.runtime.migration import MigrationContext

        revision = MigrationContext.configure(connection).get_current_revision()
        if revision is None and (others := sa.inspect(connection).get_table_names()):
            raise StoreError(
                f"{self}: This database is not one of duelmatch: it has a table '{others[0]}'. Use another."
            )
        return revision

    def _check_known(self, revision: str | None) -> None:
        if revision is not None and revision not in revisions():
            raise StoreError(
                f"{self}: This database was made by a newer version of duelmatch (its tables are at "
                f"'{revision:.40}'). Install that version."
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn the database's own errors into a sentence."""
        try:
            yield
        except (OperationalError, InterfaceError, *self._unreachable) as error:
            raise UnreachableError(f"{self}: The database cannot be used: {_first_line(error)}") from error
        except (DBAPIError, self._driver.Error) as error:
            if _tells_damage(error):
                self._damage = _first_line(error)
            raise StoreError(f"{self}: The database refused this: {_first_line(error)}") from error
        except SQLAlchemyError as error:
            raise StoreError(f"{self}: {_first_line(error)}") from error


class Messages:
    """A channel to all other servers, through PostgreSQL (LISTEN and NOTIFY); nothing is stored.

    It has a connection of its own, beside the pool, which is opened again if it breaks.
    """

    def __init__(self, engine: Engine, channel: str) -> None:
        self._driver: Any = engine.dialect.loaded_dbapi
        self._options = engine.dialect.create_connect_args(engine.url)[1]
        self._channel = channel
        self._connection: Any = None

    def exchange(self, messages: list[str]) -> list[str]:
        """Send some messages, and return what others have sent since the last time.

        :raises UnreachableError: if the database cannot be reached; what is lost is lost.
        """
        try:
            if self._connection is None:
                self._connection = self._driver.connect(**self._options, autocommit=True)
                self._connection.execute(f"LISTEN {self._channel}")
            for message in messages:
                assert len(message) <= LONGEST_MESSAGE, "it is for messages of a few kilobytes"
                self._connection.execute("SELECT pg_notify(%s, %s)", (self._channel, message))
            own = self._connection.info.backend_pid
            return [notice.payload for notice in self._connection.notifies(timeout=0) if notice.pid != own]
        except self._driver.Error as error:
            self.close()
            raise UnreachableError("The other servers cannot be reached through the database.") from error

    def close(self) -> None:
        """Close the connection."""
        with suppress(self._driver.Error, AttributeError):
            self._connection.close()
        self._connection = None


def _checked(url: str) -> URL:
    try:
        parsed = sa.make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, AttributeError, ValueError):
        raise StoreError(
            f"'{url:.200}' is not the address of a database. Write sqlite:///duels.db for a file, or "
            "postgresql://user:password@host/name."
        ) from None
    if backend in ("postgres", "postgresql"):
        return parsed.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise StoreError(f"Studies are kept in sqlite or postgresql, not in '{backend:.40}'.")
    if parsed.database in (None, "", ":memory:"):
        raise StoreError(
            "A study needs a file that outlives the program: write sqlite:///duels.db, for example."
        )
    return parsed.set(drivername="sqlite+pysqlite")


def _create_privately(path: str) -> None:
    """Make a new file that its owner alone can read: it will have names, and who answered what.

    SQLite gives the same rights to the files that it puts beside it. Whoever wants others is not overruled.
    """
    with suppress(OSError):  # it is there, or cannot be, which SQLite says better
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _engine(url: URL, is_sqlite: bool) -> Engine:
    if is_sqlite:
        engine = sa.create_engine(
            url,
            pool_size=CONNECTIONS,
            max_overflow=-1,
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False, "isolation_level": None},
        )
        sa.event.listen(engine, "connect", _set_up_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": "2"})
    try:
        engine = sa.create_engine(url, pool_size=CONNECTIONS, max_overflow=CONNECTIONS, pool_pre_ping=True)
    except ModuleNotFoundError:
        raise MissingExtraError("PostgreSQL needs psycopg: pip install 'duelmatch[postgres]'") from None
    sa.event.listen(engine, "connect", _set_up_postgres)
    return engine


def _set_up_sqlite(connection: Any, _: object) -> None:
    """Write ahead, so that readers and the writer do not wait for each other, and sync every commit."""
    cursor = connection.cursor()
    (mode,) = cursor.execute("PRAGMA journal_mode=WAL").fetchone()
    if mode != "wal":
        raise StoreError(
            "SQLite cannot write ahead here (WAL), as on some network drives. Choose a local disk."
        )
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA secure_delete=ON")  # a name that was deleted is not in the file any more
    cursor.close()


def _set_up_postgres(connection: Any, _: object) -> None:
    """Wait for others who hold a study, and for the server, but not for long."""
    connection.execute(_set("lock_timeout", LOCK_SECONDS))
    connection.execute(_set("statement_timeout", STATEMENT_SECONDS))
    connection.commit()


def _set(name: str, seconds: float) -> str:
    return f"SET {name} = {1000 * seconds:.0f}"


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("duelmatch_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _tells_damage(error: BaseException) -> bool:
    """Whether a database says that its own pages make no sense."""
    original = getattr(error, "orig", None) or error
    is_sqlite = getattr(original, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
    return is_sqlite or getattr(original, "sqlstate", None) in ("XX001", "XX002")


def _first_line(error: BaseException) -> str:
    original = getattr(error, "orig", None) or error
    lines = str(original).strip().splitlines() or [type(original).__name__]
    return lines[0][:300].rstrip(".") + "."
