"""Running a server until it is told to stop, with a graceful shutdown."""

from __future__ import annotations

import errno
import gc
import logging
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from types import FrameType

import uvicorn
from fastapi import FastAPI

from duelmatch.errors import DuelmatchError, StoreError
from duelmatch.studies import Store, rehearse
from duelmatch.web.connections import MOST_CONNECTIONS, BoundedConnection
from duelmatch.web.creating import rehearse_forecasts
from duelmatch.web.metrics import configure_logging
from duelmatch.web.proxies import Proxies
from duelmatch.web.rates import share_rates
from duelmatch.web.worker import estimator, picture_worker, round_worker, worker

LET_FINISH = 10
"""Seconds for requests that are under way when the server is told to stop."""

WATCHDOG_EVERY = 5
"""Seconds between two signs of life for systemd."""


async def tell_watchdog() -> None:
    """Tell systemd, if it has started us, that the event loop is not stuck (``WatchdogSec`` in the unit)."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as messages:
            messages.setblocking(False)
            messages.sendto(b"WATCHDOG=1", address.replace("@", "\0", 1) if address[0] == "@" else address)


class _Server(uvicorn.Server):
    """Ends the event streams when it is told to stop; they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin a graceful shutdown; a second Ctrl-C ends it at once."""
        self._app.state.stopping = True
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 takes any that is free.

    :raises StoreError: if that is not possible.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=200)
    except OSError as error:
        said = os.strerror(error.errno) if error.errno and error.errno > 0 else f"{error.strerror}"
        other = " Choose another one with --port." if error.errno == errno.EADDRINUSE else ""
        raise StoreError(f"Nothing can be served at {host}, port {port}: {said}.{other}") from None


def prepare(app: FastAPI) -> None:
    """Compile the algorithms and read the open studies, in another thread; then the server is ready."""
    store: Store = app.state.store

    def work() -> None:
        worker.begin()  # it compiles at the same time, for what is pasted into the first page
        share_rates(app)
        app.state.teller.start()
        rehearse_forecasts()
        rehearse()
        with suppress(DuelmatchError):  # callers who need the database are told
            store.database.inspect()
            store.recall()
            worker.start()
        gc.collect()
        gc.freeze()  # these objects stay; each full collection would take 0.1 s to go through them

    app.state.preparing = threading.Thread(target=work, daemon=True)
    app.state.preparing.start()


def serve(
    app: FastAPI, listener: socket.socket, proxies: str = "127.0.0.1", log_requests: bool = True
) -> None:
    """Serve an application until SIGTERM or Ctrl-C; ``proxies`` are trusted for client addresses.

    Without ``log_requests`` only what goes wrong is logged.
    """
    configure_logging(logging.INFO if log_requests else logging.WARNING)
    _allow_many_files()
    config = uvicorn.Config(
        Proxies(app, proxies),
        http=BoundedConnection,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_graceful_shutdown=LET_FINISH,
        timeout_notify=WATCHDOG_EVERY,
        callback_notify=tell_watchdog,
    )
    log = logging.getLogger("duelmatch.web")
    host, port = listener.getsockname()[:2]
    server = _Server(config, app)
    try:
        with server.capture_signals():  # or Ctrl-C could leave a half-made event loop
            log.info("serving", extra={"about": {"host": host, "port": port}})
            server.run(sockets=[listener])
    finally:
        app.state.watcher.close()
        for each in (worker, round_worker, picture_worker, estimator):
            each.close()
    log.info("stopped")


def leave(app: FastAPI) -> None:
    """End the process at once if it was told to stop while it still compiles.

    A compiler cannot be interrupted: a usual end would wait for it where it is waited for, and tear its
    thread down otherwise, which is a crash ("terminate called without an active exception"). Answers are on
    the disk before they are confirmed, so nothing is lost.
    """
    preparing: threading.Thread | None = app.state.preparing
    if preparing is not None and preparing.is_alive():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _allow_many_files() -> None:
    """Let this process have a file open for every connection, as far as the system allows it."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 2 * MOST_CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 2 * MOST_CONNECTIONS)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
