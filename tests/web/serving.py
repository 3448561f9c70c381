"""Server processes on one port that are killed with -9 again and again, for killing.py.

``python serving.py ADDRESS PROCESSES`` prints the port. Its input is a byte for each thing to do, after which
it prints a dot: ``k`` kills a process and starts another, ``z`` stops one for good (SIGSTOP), which is then
the next to be killed. It ends when the input does.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
from typing import Any

import alembic.command
import uvicorn

from duelmatch.studies import Settings, Store, rehearse
from duelmatch.web import Config, create_app

LONG: dict[str, dict[str, Any]] = {"panel": {"consistent": False}, "borda": {"ballot_size": 300}}
"""Parameters of studies whose questions do not run out before the last kill."""


def start(config: uvicorn.Config, url: str, listener: socket.socket) -> int:
    process = os.fork()
    if process == 0:
        try:
            config.app.state.store = Store(url)  # type: ignore[union-attr]
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            os._exit(1)
    return process


def main() -> None:
    assert alembic.command  # imported once, before the first fork
    url, processes = sys.argv[1], int(sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    rehearse([Settings(name, parameters=given) for name, given in LONG.items()])  # or each would compile
    with Store(url) as store:
        app = create_app(store, Config(rates=None))
    config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none")
    config.load()
    print(listener.getsockname()[1], flush=True)
    chance = random.Random(1)
    running = [start(config, url, listener) for _ in range(processes)]
    frozen: list[int] = []
    try:
        while command := os.read(0, 1):
            if command == b"z":
                frozen.append(chance.choice(running))
                os.kill(frozen[0], signal.SIGSTOP)
            else:
                victim = frozen.pop() if frozen else chance.choice(running)
                os.kill(victim, signal.SIGKILL)
                os.waitpid(victim, 0)
                running[running.index(victim)] = start(config, url, listener)
            print(".", end="", flush=True)
    finally:
        for process in running:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


if __name__ == "__main__":
    main()
