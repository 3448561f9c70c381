"""``duelmatch serve``: it listens, logs lines of JSON, and stops when told to."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import httpx2
import pytest
from pydantic import Field, TypeAdapter

from conftest import PROBLEM
from duelmatch.cli import main
from duelmatch.studies import Settings, Store
from duelmatch.web import create_app


def test_it_serves_and_stops_with_a_stream_open(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with Store(url) as store:
        study = store.create(PROBLEM, Settings("car-cond"), "A study")
        headers = {"Authorization": f"Bearer {study.new_link('organiser')}"}
    script = [sys.executable, "-c", "from duelmatch.cli import main; main()"]
    process = subprocess.Popen(
        [*script, "serve", "--store", url, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        text=True,
    )
    with process:
        try:
            assert process.stdout
            found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert found
            events = f"{found[0]}/api/v1/studies/{study.id}/events"
            with httpx2.stream("GET", events, headers=headers, timeout=30, trust_env=False) as stream:
                lines = stream.iter_lines()
                assert next(lines).startswith("id: ")
                process.send_signal(signal.SIGTERM)
                assert list(lines), "the stream is ended, not cut"
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    logged = [json.loads(line) for line in errors.splitlines()]
    assert [line["event"] for line in logged] == ["serving", "request", "stopped"]
    assert logged[1]["operation"] == "events"
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no Ctrl-C for a group of processes")
@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_ctrl_c_right_after_the_start_is_quiet(tmp_path: Path, seconds: float) -> None:
    """A terminal sends Ctrl-C to all processes; the worker died of it in the middle of its imports."""
    script = [sys.executable, "-c", "from duelmatch.cli import main; main()"]
    process = subprocess.Popen(
        [*script, "serve", "--store", f"sqlite:///{tmp_path}/x.db", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1", "NUMBA_CACHE_DIR": str(tmp_path / "nothing-compiled")},
        start_new_session=True,
    )
    with process:
        try:
            assert process.stderr
            assert b"serving" in process.stderr.readline()
            time.sleep(seconds)
            os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    logged = [line for line in errors.splitlines() if json.loads(line)["event"] != "request"]
    assert [json.loads(line)["event"] for line in logged] == ["stopped"]
    assert process.returncode == 0


def test_the_demo_has_voters(tmp_path: Path) -> None:
    from duelmatch.web import demo

    with Store(f"sqlite:///{tmp_path}/duels.db") as store:
        study = demo.create_demo(store)
        with demo.simulated_voters(study, pause=0.01):
            while study.status().counted < 20:
                time.sleep(0.02)
            study.drop("boats")
            study.pause()
            study.resume()
            before = study.status().counted
            while study.status().counted < before + 20:
                time.sleep(0.02)
        assert len([voter for voter in study.voters() if voter.answers]) > demo.VOTERS


def test_the_demo_can_be_watched_and_voted_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from duelmatch.web import serving

    monkeypatch.setattr(serving, "serve", lambda app, listener, proxies: None)
    url = f"sqlite:///{tmp_path}/x.db"
    run = CliRunner().invoke(main, ["serve", "--demo", "--json", "--store", url, "--port", "0"])
    said = json.loads(run.stdout)
    with Store(url) as store:
        roles = [store.access(said[link].rsplit("/", 1)[1]).role for link in ("demo", "vote")]  # type: ignore[union-attr]
    assert roles == ["organiser", "open"]


def test_only_our_own_reading_of_proxies_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ``*``, uvicorn's would take the first address of a list that a stranger can begin."""
    from duelmatch.web import create_app, serving
    from duelmatch.web.proxies import Proxies
    from duelmatch.web.worker import Worker

    seen = []

    class Server(serving._Server):
        def run(self, sockets: Any = None) -> None:
            seen.append(self.config)

    monkeypatch.setattr(serving, "_Server", Server)
    monkeypatch.setattr(serving, "configure_logging", lambda level: None)
    workers = "worker", "round_worker", "picture_worker", "estimator"
    for name in workers:  # other tests need those that are running
        monkeypatch.setattr(serving, name, Worker())
    with Store(f"sqlite:///{tmp_path}/x.db") as store, serving.listen("127.0.0.1", 0) as listener:
        serving.serve(create_app(store), listener, "*")
    assert isinstance(seen[0].app, Proxies)
    assert not seen[0].proxy_headers


def test_wrong_proxies_are_refused_before_anything_is_printed(tmp_path: Path) -> None:
    from click.testing import CliRunner

    arguments = ["serve", "--proxies", "foo", "--store", f"sqlite:///{tmp_path}/x.db", "--port", "0"]
    run = CliRunner().invoke(main, arguments)
    assert run.stdout == ""
    assert run.stderr.startswith("Error: Proxies are addresses or networks")
    assert not list(tmp_path.iterdir())


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    import socket

    from click.testing import CliRunner

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        run = CliRunner().invoke(main, ["serve", "--store", f"sqlite:///{tmp_path}/x.db", "--port", port])
    assert run.exit_code != 0
    sentence = (
        f"Error: Nothing can be served at 127.0.0.1, port {port}: Address already in use. Choose another"
    )
    assert " ".join(run.stderr.split()).startswith(sentence)
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("terminal", "arguments", "logged"),
    [
        (True, [], False),
        (True, ["--log-requests"], True),
        (False, [], True),
        (False, ["--no-log-requests"], False),
    ],
)
def test_requests_are_not_logged_on_a_terminal_unless_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool, arguments: list[str], logged: bool
) -> None:
    from click.testing import CliRunner, _NamedTextIOWrapper

    from duelmatch.web import serving

    served: list[tuple[Any, ...]] = []
    monkeypatch.setattr(serving, "prepare", lambda app: None)
    monkeypatch.setattr(serving, "serve", lambda *given: served.append(given))
    monkeypatch.setattr(_NamedTextIOWrapper, "isatty", lambda self: terminal)
    url = f"sqlite:///{tmp_path}/x.db"
    CliRunner().invoke(main, ["serve", "--store", url, "--port", "0", *arguments], catch_exceptions=False)
    assert [given[-1] for given in served] == [logged]


@pytest.mark.parametrize(
    ("arguments", "create", "printed"),
    [
        ([], "local", False),
        (["--create-key", "sesame"], "key", False),
        (["--create", "local", "--create-key", "sesame"], "local", False),
        (["--host", "0.0.0.0"], "key", True),
        (["--host", "0.0.0.0", "--create-key", "sesame"], "key", False),
        (["--create", "nobody"], "nobody", False),
    ],
)
def test_who_may_create_studies_depends_on_where_it_listens(
    arguments: list[str], create: str, printed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond this machine, a key is needed unless it is said otherwise."""
    from click.testing import CliRunner

    from duelmatch.web import serving

    seen = []
    monkeypatch.setattr(serving, "prepare", lambda app: None)
    monkeypatch.setattr(serving, "serve", lambda app, *_: seen.append(app.state.config))
    options = ["--store", f"sqlite:///{tmp_path}/x.db", "--port", "0"]
    run = CliRunner().invoke(main, ["serve", *options, *arguments])
    assert run.exit_code == 0, run.output
    assert seen[0].create == create
    assert ("key for creating studies" in run.output) == printed
    assert (seen[0].create_key is not None) == (create == "key" or "sesame" in arguments)
    assert "sesame" not in run.output


def test_the_unit_and_the_container_have_bounds_and_fail_closed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    found = re.search(r"```ini\n(.*?)```", page, re.DOTALL)
    assert found
    unit = dict(line.split("=", 1) for line in found[1].splitlines() if "=" in line)
    assert "--create key" in unit["ExecStart"]
    assert not unit["EnvironmentFile"].startswith("-"), "without its key, the unit is not to start"
    assert {"LimitNOFILE", "MemoryMax", "TasksMax", "WatchdogSec", "UMask"} <= unit.keys()
    assert all(option in page for option in ("--memory", "--pids-limit", "--ulimit nofile"))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_in_the_documentation_is_one(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "serving.md"
    found = re.search(r"```ini\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    unit = tmp_path / "duelmatch.service"
    unit.write_text(found[1].replace("/opt/duelmatch/bin/duelmatch", sys.executable), encoding="utf-8")
    run = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert unit.name not in run.stderr


def test_the_health_check_of_the_container_finds_a_running_server_healthy(place: tuple[str, Store]) -> None:
    text = (Path(__file__).parents[2] / "Containerfile").read_text(encoding="utf-8")
    found = re.search(r"^HEALTHCHECK CMD (.*)$", text, re.MULTILINE)
    assert found
    program, option, code = json.loads(found[1])
    assert (program, option) == ("python", "-c")
    address, _ = place
    for where, healthy in ((address, True), ("http://127.0.0.1:9", False)):
        tried = code.replace("http://127.0.0.1:8000", where)
        assert tried != code
        done = subprocess.run([sys.executable, "-c", tried], capture_output=True, check=False)
        assert (done.returncode == 0) == healthy


def test_the_log_of_a_server_has_no_warnings_about_aliases(tmp_path: Path) -> None:
    """FastAPI makes its fields at the first request, and what it ignores then, other threads may show."""
    with warnings.catch_warnings(), Store(f"sqlite:///{tmp_path}/duels.db") as store:
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="alias"):
            TypeAdapter(Annotated[str, Field(alias="study")])
        create_app(store)
        TypeAdapter(Annotated[str, Field(alias="study")])
