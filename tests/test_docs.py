"""The documentation is true: its examples run and give what they show, and nothing is left out.

A page is run from top to bottom in an empty folder. A ```yaml block whose first line is a comment with a
file name is put into that file, ``$ cat FILE`` puts what follows it into FILE, ``$ duelmatch`` commands must
print what is shown, and >>> examples are doctests that share their names within the page.
"""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import duelmatch.cli
from duelmatch.cli import COMMANDS, status

PROJECT = Path(__file__).parents[1]
DOCS = PROJECT / "docs"
PACKAGE = PROJECT / "src" / "duelmatch"
PAGES = [PROJECT / "README.md", *sorted(DOCS.glob("*.md"))]
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        yield Block(match[1], match[2], text.count("\n", 0, match.start()) + 2)


def commands_of(block: Block) -> Iterator[tuple[str, str]]:
    """Yield each command after a $, and the output shown below it."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def printed_by(command: str) -> str:
    arguments = shlex.split(command)[1:]
    target = None
    if ">" in arguments:
        arguments, target = arguments[:-2], arguments[-1]
    result = CliRunner().invoke(duelmatch.cli.main, arguments, prog_name="duelmatch", env={"COLUMNS": "80"})
    if target is None:
        return result.output
    Path(target).write_text(result.stdout, encoding="utf-8")
    return result.stderr


def run_block(block: Block, names: dict[str, object]) -> None:
    if block.language == "yaml" and (name := re.match(r"# (\S+\.yaml)\n", block.text)):
        Path(name[1]).write_text(block.text, encoding="utf-8")
    if block.language == "console":
        for command, output in commands_of(block):
            if command.startswith("cat "):
                Path(command.removeprefix("cat ")).write_text(output, encoding="utf-8")
            if command.startswith("duelmatch "):
                assert printed_by(command) == output, command
    if block.language == "python" and ">>>" in block.text:
        test = doctest.DocTestParser().get_doctest(block.text, names, "example", None, block.line - 1)
        report: list[str] = []
        failed, _ = doctest.DocTestRunner().run(test, out=report.append, clear_globs=False)
        names.update(test.globs)
        assert failed == 0, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_give_what_they_show(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks_of(page):
        run_block(block, names)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_docstring_give_what_they_show(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_on_a_page_is_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = len(re.findall(r"^\$ duelmatch", text, re.MULTILINE))
    run = [c for b in blocks_of(page) if b.language == "console" for c, _ in commands_of(b)]
    assert sum(command.startswith("duelmatch") for command in run) == shown


def test_every_page_is_in_the_table_of_contents() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    toctree = re.search(r"```\{toctree\}\n(.*?)```", index, re.DOTALL)
    assert toctree is not None
    listed = {line for line in toctree[1].splitlines() if line and not line.startswith(":")}
    assert listed == {page.stem for page in DOCS.rglob("*.md") if "_build" not in page.parts} - {"index"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    section = re.search(rf"^## duelmatch {name}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section is not None, f"docs/cli.md has no section on {name}"
    for parameter in import_module(f"duelmatch.cli.{name}").command.params:
        if isinstance(parameter, click.Option):
            for option in parameter.opts:
                assert f"`{option}" in section[1], f"{name} {option}"


def test_every_exit_code_is_documented() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    codes = {value for key, value in vars(status).items() if key.isupper() and isinstance(value, int)}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)} == codes


def test_every_dependency_is_justified() -> None:
    page = (DOCS / "dependencies.md").read_text(encoding="utf-8").lower()
    project = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    for name in re.findall(
        r'^ {4}"([A-Za-z-]+)[>="]', project.partition("[project.scripts]")[0], re.MULTILINE
    ):
        assert name.lower() in page, name
