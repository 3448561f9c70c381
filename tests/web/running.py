"""A real server in a thread, for tests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from duelmatch.studies import Store
from duelmatch.web import Config, create_app
from duelmatch.web.connections import BoundedConnection
from duelmatch.web.rates import share_rates
from duelmatch.web.worker import worker


@contextmanager
def served(store: Store, config: Config | None = None) -> Iterator[str]:
    """Serve a store; give the address."""
    worker.start()
    app = create_app(store, config)
    sharing = share_rates(app, every=0.1)
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="critical", lifespan="off", ws="none", http=BoundedConnection)
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            app.state.stopping = True
            server.should_exit = True
            thread.join()
            if sharing is not None:
                sharing.join()
