"""Messages between the servers of one store, through PostgreSQL (LISTEN and NOTIFY); nothing is stored."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from duelmatch.errors import UnreachableError
from duelmatch.studies.database import Database

LONGEST = 7_900
"""Bytes of a message; PostgreSQL takes 8,000."""


class Messages:
    """A channel to all other servers. It has a connection of its own, which is opened again if it breaks."""

    def __init__(self, database: Database, channel: str) -> None:
        self._database = database
        self._channel = channel
        self._connection: Any = None

    def exchange(self, messages: list[str]) -> list[str]:
        """Send some messages, and return what others have sent since the last time.

        :raises UnreachableError: if the database cannot be reached; what is lost is lost.
        """
        import psycopg

        try:
            if self._connection is None:
                self._connection = self._database.connect_alone()
                self._connection.execute(f"LISTEN {self._channel}")
            for message in messages:
                assert len(message) <= LONGEST, "it is for messages of a few kilobytes"
                self._connection.execute("SELECT pg_notify(%s, %s)", (self._channel, message))
            own = self._connection.info.backend_pid
            return [notice.payload for notice in self._connection.notifies(timeout=0) if notice.pid != own]
        except psycopg.Error as error:
            self.close()
            raise UnreachableError("The other servers cannot be reached through the database.") from error

    def close(self) -> None:
        """Close the connection."""
        import psycopg

        with suppress(psycopg.Error, AttributeError):
            self._connection.close()
        self._connection = None
