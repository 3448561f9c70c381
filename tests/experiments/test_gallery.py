"""Every picture of the documentation has the command that makes it, and those of the gallery work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from duelmatch.cli import main

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
GALLERY = (DOCS / "gallery.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^duelmatch experiment figure .*$", GALLERY, re.MULTILINE)


def test_every_picture_has_its_command() -> None:
    shown = {
        (page.parent / picture).resolve().relative_to(DOCS).as_posix()
        for page in DOCS.rglob("*.md")
        if "_build" not in page.relative_to(DOCS).parts
        for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    made = {f"gallery/{shlex.split(command)[-1]}" for command in COMMANDS}
    table = GALLERY.partition("## Every other picture")[2]
    for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE):
        made |= set(re.findall("`(.*?)`", row))
    assert made == shown


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: shlex.split(command)[-1])
def test_the_command_of_a_picture_makes_it(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a reduced size: one repetition of 60 duels at most, and half of the random instances."""
    _, _, _, file, *rest = shlex.split(command)
    text = (PROJECT / file).read_text(encoding="utf-8")
    text = re.sub(r"^(repetitions|max_duels) = .*\n", "", text, flags=re.MULTILINE)
    text = text.replace("instances = 8", "instances = 2")
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(f"repetitions = 1\nmax_duels = 60\n{text}", encoding="utf-8")
    done = CliRunner().invoke(main, ["experiment", "figure", "small.toml", *rest, "--jobs", "1"])
    said = f"Figure: {rest[-1]}\nResults, kept for other figures: small\n"
    assert (done.exit_code, done.output) == (0, said)
    svg = Path(rest[-1]).read_text(encoding="utf-8")
    assert svg.startswith("<?xml")
    assert "<svg" in svg
