"""Running a server until it is told to stop, and then letting those who are voting finish."""

from __future__ import annotations

import gc
import logging
import signal
import socket
import threading
from contextlib import suppress
from types import FrameType

import uvicorn
from fastapi import FastAPI

from duelmatch.errors import DuelmatchError, StoreError
from duelmatch.explorers.catalogue import preferred
from duelmatch.problem import Problem
from duelmatch.studies import Store
from duelmatch.web.proxies import Proxies
from duelmatch.web.watching import log_lines
from duelmatch.web.words import CRITERIA, votes_to_expect

LET_FINISH = 10
"""Seconds for requests that are under way when the server is told to stop."""


class _Server(uvicorn.Server):
    """Ends the streams of events when it is told to stop; nobody would wait for their end otherwise."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop, and end well; a second Ctrl-C waits for nobody."""
        self._app.state.stopping = True
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 takes any that is free.

    :raises StoreError: if that cannot be.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=200)
    except OSError as error:
        raise StoreError(f"Nothing can be served at {host}, port {port}: {error.strerror}.") from None


def prepare(app: FastAPI) -> None:
    """Compile what thinks and read the open studies, in another thread; then the server is ready."""
    store: Store = app.state.store

    def work() -> None:
        for criterion in CRITERIA:
            votes_to_expect(Problem.complete(["a", "b"], ["c"]), preferred(criterion), 0.3)
        with suppress(DuelmatchError):  # whoever needs the database is told
            store.recall()
        gc.collect()
        gc.freeze()  # what is there by now stays; to look through it again and again takes 0.1 s each time

    app.state.preparing = threading.Thread(target=work, daemon=True)
    app.state.preparing.start()


def serve(app: FastAPI, listener: socket.socket, proxies: str = "127.0.0.1") -> None:
    """Serve an application until SIGTERM or Ctrl-C; ``proxies`` are believed about who calls."""
    log_lines()
    config = uvicorn.Config(
        Proxies(app, proxies),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_graceful_shutdown=LET_FINISH,
    )
    log = logging.getLogger("duelmatch.web")
    host, port = listener.getsockname()[:2]
    log.info("serving", extra={"about": {"host": host, "port": port}})
    _Server(config, app).run(sockets=[listener])
    log.info("stopped")
