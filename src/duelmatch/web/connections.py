"""Connections with bounds: how many there are, how large the head of a request may be, and how slow.

The parser of uvicorn keeps whatever comes until the head of a request is complete, however long that takes.
It takes what follows a body (trailers) for headers, too, and waits for all of what is answered already. It
queues as many requests as arrive at once, and waits without end for a client to read what it asked for.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST_CONNECTIONS = 4_000
"""Of a server process; the files that it may have open must be more."""

LARGEST_HEAD = 64_000
"""Bytes of the path and all headers, or of anything else that is no body; more is refused when another piece
arrives."""

SLOWEST_HEAD = 10.0
"""Seconds for all of it, from the connection on, or from its first byte if there were requests before; and
for the rest of a request, once it is answered."""

MOST_PIPELINED = 16
"""Requests of a connection that wait for the one before them to be answered."""

SLOWEST_READER = 30.0
"""Seconds in which a client has to read LEAST_READ bytes of what waits for it."""

LEAST_READ = 30_000

TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedConnection(HttpToolsProtocol):
    """A connection that is closed where it goes beyond its bounds."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head = 0
        self._in_head = True
        self._in_request = False
        self._beside = 0
        """Bytes since the last one of a body."""
        self._patience: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._answering: RequestResponseCycle | None = None
        """The request that is being answered; ``cycle`` is the latest one that arrived."""

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
        self._stop_watching_reader()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request."""
        if self._in_head:
            self._head += len(data)
        else:
            self._beside += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            self._watch_reader()
        elif self._beside > LARGEST_HEAD:
            self.transport.abort()
        elif self._in_head and self._head > LARGEST_HEAD:
            self.transport.write(TOO_LARGE)
            self.transport.close()
            self._watch_reader()
        else:
            self._wait()

    def _wait(self) -> None:
        """Limit the time for what the client has to send before anything else can happen."""
        if self._patience is None and (self._in_head or self.cycle.response_complete):
            self._patience = self.loop.call_later(SLOWEST_HEAD, self.transport.abort)

    def on_message_begin(self) -> None:
        """Begin with the head of a request."""
        self._in_head = self._in_request = True
        self._beside = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; what follows the body is none."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Go on with its body, unless too many requests wait already: the parser turns this into a 400."""
        self._head_is_complete()
        if len(self.pipeline) >= MOST_PIPELINED:
            raise OverflowError("Too many requests at once.")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._beside = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._in_request = False
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request, when all of this one is there."""
        super().on_response_complete()
        self._watch_reader()
        if self._in_request and not self.transport.is_closing():
            self._wait()

    def pause_writing(self) -> None:
        """Wait for the client to read, but not for long."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Go on, as the client has read nearly all."""
        self._stop_watching_reader()
        super().resume_writing()
        if self._answering is None or self._answering.response_complete:
            self._watch_reader()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        if not self.flow.write_paused:
            self._stop_watching_reader()
        super()._start_asgi_task(cycle, app)

    def _watch_reader(self) -> None:
        """Limit the time in which the client reads what waits for it; nothing is added to that meanwhile."""
        if self._unread is None:
            unread = self.transport.get_write_buffer_size()
            self._unread = self.loop.call_later(SLOWEST_READER, self._check_reader, unread)

    def _check_reader(self, before: int) -> None:
        """End the connection if too little of what was there before has been read."""
        self._unread = None
        unread = self.transport.get_write_buffer_size()
        if unread and unread > before - LEAST_READ:
            self.transport.abort()
        elif unread:
            self._watch_reader()

    def _stop_watching_reader(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _head_is_complete(self) -> None:
        self._in_head, self._head = False, 0
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
