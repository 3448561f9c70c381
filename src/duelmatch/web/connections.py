"""Connections with bounds: how many there are, how large the head of a request may be, and how slow.

The parser of uvicorn keeps whatever comes until the head of a request is complete, however long that takes.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_CONNECTIONS = 4_000
"""Of a server process; the files that it may have open must be more."""

LARGEST_HEAD = 64_000
"""Bytes of the path and all headers; more is refused when another piece arrives."""

SLOWEST_HEAD = 10.0
"""Seconds for all of it, from the connection on, or from its first byte if there were requests before."""

TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedConnection(HttpToolsProtocol):
    """A connection that is closed where it goes beyond its bounds."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head = 0
        self._in_head = True
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._patience = self.loop.call_later(SLOWEST_HEAD, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._head_is_complete()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request."""
        self._head += len(data) if self._in_head else 0
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        if self._head > LARGEST_HEAD:
            self.transport.write(TOO_LARGE)
            self.transport.close()
        elif self._patience is None:
            self._patience = self.loop.call_later(SLOWEST_HEAD, self.transport.abort)

    def on_message_begin(self) -> None:
        """Begin with the head of a request."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Go on with its body."""
        self._head_is_complete()
        super().on_headers_complete()

    def _head_is_complete(self) -> None:
        self._in_head, self._head = False, 0
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
