"""The documentation is true: its examples run and give what they show, and nothing is left out.

A page is run from top to bottom in an empty folder. A ```yaml block whose first line is a comment with a
file name is put into that file, ``$ cat FILE`` puts what follows it into FILE, ``$ duelmatch`` commands, to
which ``printf '...' |`` may give an input, must print what is shown (... stands for anything), and >>>
examples are doctests that share their names within the page.
"""

from __future__ import annotations

import ast
import doctest
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import click
import pytest
from click.testing import CliRunner

import duelmatch as dm
import duelmatch.cli
from duelmatch.cli import COMMANDS
from duelmatch.explorers import catalogue
from duelmatch.explorers.catalogue import described
from duelmatch.instances import generators

PROJECT = Path(__file__).parents[1]
DOCS = PROJECT / "docs"
PACKAGE = PROJECT / "src" / "duelmatch"
PAGES = [
    PROJECT / "README.md",
    *sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.relative_to(DOCS).parts),
]
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "env.py"  # which Alembic alone can run
)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INPUT = re.compile(r"printf '(.*)' \| (?=duelmatch )")
ROLE = re.compile(r"\{py:\w+\}`~?([\w.]+)`")
FILE = re.compile(r"`((?:benchmarks|docs|examples|src|tests)/[\w/.-]+)(?:::(\w+))?`")
FAMILY = {"condorcet": "frugal", "borda": "frugal"}
"""Algorithms that share a page."""

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))


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


def printed_by(command: str, typed: str) -> str:
    arguments = shlex.split(command)[1:]
    target = None
    if ">" in arguments:
        arguments, target = arguments[:-2], arguments[-1]
    result = CliRunner().invoke(
        duelmatch.cli.main, arguments, prog_name="duelmatch", env={"COLUMNS": "80"}, input=typed
    )
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
            typed = INPUT.match(command)
            command = INPUT.sub("", command)
            if command.startswith("duelmatch "):
                printed = printed_by(command, typed[1].replace(r"\n", "\n") if typed else "")
                if not doctest.OutputChecker().check_output(output, printed, doctest.ELLIPSIS):
                    assert printed == output, command
    if block.language == "python" and ">>>" in block.text:
        test = doctest.DocTestParser().get_doctest(block.text, names, "example", None, block.line - 1)
        report: list[str] = []
        failed, _ = doctest.DocTestRunner().run(test, out=report.append, clear_globs=False)
        names.update(test.globs)
        assert failed == 0, "".join(report)


@every_page
def test_the_examples_of_a_page_give_what_they_show(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for registry in (catalogue, generators):  # what a page registers is gone with it
        for name in ("_known", "_registered"):
            monkeypatch.setattr(registry, name, dict(getattr(registry, name)))
    names: dict[str, object] = {}
    for block in blocks_of(page):
        run_block(block, names)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_docstring_give_what_they_show(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


@every_page
def test_every_command_on_a_page_is_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = len(re.findall(r"^\$ .*duelmatch", text, re.MULTILINE))
    run = [INPUT.sub("", c) for b in blocks_of(page) if b.language == "console" for c, _ in commands_of(b)]
    assert sum(command.startswith("duelmatch ") for command in run) == shown


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = {DOCS / "index.md"}
    for page in PAGES[1:]:
        for toctree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            lines = (line for line in toctree.splitlines() if line and not line.startswith(":"))
            listed |= {page.parent / f"{line}.md" for line in lines}
    pages = [*PAGES[1:], *(path.with_suffix(".md") for path in (DOCS / "notebooks").glob("*.ipynb"))]
    assert listed == set(pages)


@every_page
def test_the_code_that_a_page_includes_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    included = re.findall(r"^```\{literalinclude\} (\S+)\n:(pyobject|language): (\S+)\n", text, re.MULTILINE)
    assert len(included) == text.count("{literalinclude}")
    for file, kind, name in included:
        source = (page.parent / file).read_text(encoding="utf-8")
        if kind == "language":  # the whole file
            continue
        found: ast.AST = ast.parse(source)
        for part in name.split("."):
            inside = [node for node in ast.iter_child_nodes(found) if getattr(node, "name", None) == part]
            assert inside, f"{file} has no {name}"
            found = inside[0]


@every_page
def test_the_code_the_files_and_the_tests_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in ROLE.findall(text):
        owner, _, member = name.rpartition(".")
        if member not in getattr(resolve_name(owner), "__annotations__", {}):  # the fields of a dataclass
            resolve_name(name)
    for file, test in FILE.findall(text):
        assert (PROJECT / file).exists(), file
        if test:
            tree = ast.parse((PROJECT / file).read_text(encoding="utf-8"))
            assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, test


@pytest.mark.parametrize("name", dm.algorithms())
def test_every_algorithm_has_its_page(name: str) -> None:
    page = (DOCS / "algorithms" / f"{FAMILY.get(name, name)}.md").read_text(encoding="utf-8")
    own = () if described(name).answered_by == "panel" else ("The listing", "Differences")
    for heading in ("What it promises", "When to use it", *own, "Parameters", "Cost"):
        assert f"## {heading}" in page, heading
    for parameter in described(name).defaults:
        assert f"`{parameter}`" in page
    assert f'"{name}"' in page, "an example that is run"


@pytest.mark.parametrize("page", [*sorted(PROJECT.glob("*.md")), *PAGES[1:]], ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    section = re.search(rf"^## duelmatch {name}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section is not None, f"docs/cli.md has no section on {name}"
    command: click.Command = import_module(f"duelmatch.cli.{name}").command
    parts = command.commands if isinstance(command, click.Group) else {}
    for part in parts:
        assert f"`{part}" in section[1] or f"### duelmatch {name} {part}" in section[1], f"{name} {part}"
    for parameter in [*command.params, *(each for part in parts.values() for each in part.params)]:
        if isinstance(parameter, click.Option):
            for option in parameter.opts:
                assert f"`{option}" in section[1], f"{name} {option}"


def test_every_exit_code_is_documented() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    codes = {value for key, value in vars(duelmatch.cli).items() if key.isupper() and isinstance(value, int)}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)} == codes


def test_every_dependency_is_justified() -> None:
    page = (DOCS / "dependencies.md").read_text(encoding="utf-8").lower()
    project = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    for name in re.findall(
        r'^ {4}"([A-Za-z-]+)[>="]', project.partition("[project.scripts]")[0], re.MULTILINE
    ):
        assert name.lower() in page, name
