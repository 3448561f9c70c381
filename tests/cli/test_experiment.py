"""``duelmatch experiment``: what it prints, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import duelmatch as dm
from duelmatch.cli import main
from experiments.small import small_file


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], env={"COLUMNS": "100"})


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    file = small_file(folder, repetitions=2, gap="[0.3]")
    ran = invoke("experiment", "run", file, "--out", folder / "out", "--jobs", 1)
    assert ran.exit_code == 0, ran.output
    assert "Small: all 8 runs are done, with seed 7." in ran.output
    assert ran.stderr == "", "quiet where there is no terminal"
    return folder / "out"


def test_status_counts_the_runs_of_every_cell(out: Path) -> None:
    shown = invoke("experiment", "status", out)
    assert "Small: 8 of 8 runs done" in shown.output
    assert shown.output.count("2 of 2") == 4
    answer = json.loads(invoke("experiment", "status", out, "--json").output)
    assert (answer["runs"], answer["done"], answer["failed"], answer["unused"]) == (8, 8, 0, 0)
    assert len(answer["cells"]) == 4


def test_report_says_where_it_is(out: Path, tmp_path: Path) -> None:
    answer = json.loads(invoke("experiment", "report", out, "--to", tmp_path / "r", "--json").output)
    assert Path(answer["report"]).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "figures/error-rate.png" in answer["files"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("run", "no.toml", "--out", "x"), 3, "no.toml: There is no such file."),
        (("run", "no.toml"), 2, "Missing option '--out'"),
        (("run", "no.toml", "--out", "x", "--jobs", 1, "--scheduler", "tcp://h:1"), 2, "give one"),
        (("status", "nowhere"), 3, "nowhere: There is no experiment here"),
        (("report", "nowhere"), 3, "nowhere: There is no experiment here"),
    ],
)
def test_refusals_are_one_line(arguments: tuple[object, ...], code: int, sentence: str) -> None:
    shown = invoke("experiment", *arguments)
    assert shown.exit_code == code
    assert sentence in shown.output
    assert "Traceback" not in shown.output


def test_a_terminal_shows_a_bar(tmp_path: Path) -> None:
    """In a real pseudo-terminal: runs done, wrong answers, time left."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    import os

    leader, follower = pty.openpty()
    code = "import sys; from duelmatch.cli import main; main(sys.argv[1:])"
    arguments = [
        "experiment",
        "run",
        str(small_file(tmp_path, 3, 1)),
        "--out",
        str(tmp_path / "out"),
        "--jobs",
        "1",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stderr=follower,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(follower)
    shown = b""
    try:
        while piece := os.read(leader, 4096):
            shown += piece
    except OSError:  # how Linux says that the other side is closed
        pass
    assert process.wait() == 0
    assert b"12/12" in shown
    assert b"0 wrong answers" in shown
    assert b"left" in shown


def test_help_stays_quick_and_teaches() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from duelmatch.cli import main\n"
        "shown = CliRunner().invoke(main, ['experiment', 'run', '--help']).output\n"
        "assert '[[problems]]' in shown, shown\n"
        "assert not {'numpy', 'pyarrow', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, out: Path) -> None:
    for name in [module for module in sys.modules if module.startswith("duelmatch.experiments")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(dm, "experiments", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    shown = invoke("experiment", "status", out)
    assert shown.exit_code == 5
    assert "pip install 'duelmatch[experiments]'" in shown.output
