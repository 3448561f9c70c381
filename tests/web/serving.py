"""Server processes on one port that are killed with -9 again and again, for test_web_faults.py.

``python serving.py ADDRESS PROCESSES`` prints the port. For every byte of its input it kills a process,
starts another, and prints a dot; it ends when the input does.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sys

import alembic.command
import uvicorn
from fastapi import FastAPI

from duelmatch.studies import Store
from duelmatch.web import Config, create_app


def start(app: FastAPI, url: str, listener: socket.socket) -> int:
    process = os.fork()
    if process == 0:
        try:
            app.state.store = Store(url)
            config = uvicorn.Config(app, log_level="critical", lifespan="off")
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            os._exit(1)
    return process


def main() -> None:
    assert alembic.command  # imported once, before the first fork
    url, processes = sys.argv[1], int(sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    print(listener.getsockname()[1], flush=True)
    with Store(url) as store:
        app = create_app(store, Config(rates=None))
    chance = random.Random(1)
    running = [start(app, url, listener) for _ in range(processes)]
    try:
        while os.read(0, 1):
            victim = running.pop(chance.randrange(len(running)))
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
            running.append(start(app, url, listener))
            print(".", end="", flush=True)
    finally:
        for process in running:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


if __name__ == "__main__":
    main()
