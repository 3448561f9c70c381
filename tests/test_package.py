"""The wheel has everything that the package needs, and works without the extras; so does the container file.

Installing it into fresh environments, with and without extras, takes minutes: `python benchmarks/package.py`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib import import_module
from pathlib import Path
from zipfile import ZipFile

import click
import pytest

import duelmatch as dm

PROJECT = Path(__file__).parents[1]
BARE = """
import importlib.abc, sys

EXTRAS = {"matplotlib", "pyarrow", "distributed", "dask", "sqlalchemy", "alembic", "fastapi", "starlette",
          "uvicorn", "jinja2", "segno", "prometheus_client", "psycopg", "pydantic", "PIL", "polib"}

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from duelmatch.cli import main
main()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--wheel-dir", folder, PROJECT], check=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_has_every_file_of_the_package_and_what_describes_it(wheel: Path) -> None:
    package = PROJECT / "src" / "duelmatch"
    files = {
        f"duelmatch/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        described = archive.read(metadata).decode()
    assert files <= names
    assert {name for name in names if not name.startswith("duelmatch/")} == {
        metadata.replace("METADATA", part)
        for part in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    }
    assert f"\nVersion: {dm.__version__}\n" in described
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    assert {line.split()[-1] for line in described.splitlines() if line.startswith("Provides-Extra")} == set(
        extras
    )


def test_without_the_extras_it_works_and_says_what_is_missing(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}

    def bare(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", BARE, *arguments]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert bare("--version").stdout == f"duelmatch, version {dm.__version__}\n"
    found = bare("winners", "example:lineup")
    assert (found.returncode, found.stderr) == (0, "")
    for command, extra in (
        ("serve", "web"),
        ("study list", "studies"),
        ("winners example:lineup --plot x.svg", "plots"),
    ):
        refused = bare(*command.split())
        assert refused.returncode != 0
        assert f"duelmatch[{extra}]" in refused.stderr, (command, refused.stderr)
        assert "Traceback" not in refused.stderr


def test_installed_into_an_environment_of_its_own_it_has_its_command_and_its_extras(
    wheel: Path, tmp_path: Path
) -> None:
    """What it depends on is borrowed from here, by a file of paths, since nothing is downloaded in a test."""
    environment = tmp_path / "environment"
    venv.create(environment)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", "--no-deps", "--no-index", wheel], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def installed(*command: str | Path) -> str:
        return subprocess.run(
            command, env=clean, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    begin = "import duelmatch.studies as s; s.Store('sqlite:///duels.db').close(); print(s.__file__)"
    assert installed(python, "-c", begin).strip() == str(packages / "duelmatch" / "studies" / "__init__.py")
    assert (tmp_path / "duels.db").exists()  # the migrations are in the wheel
    command = python.with_name("duelmatch")
    assert installed(command, "--version") == f"duelmatch, version {dm.__version__}\n"


def container() -> list[tuple[str, str]]:
    """Return the instructions of the container file, each with what follows it."""
    text = (PROJECT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2]) for line in lines]


def test_the_container_file_has_what_it_copies_installs_and_runs() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    ignored = (PROJECT / ".dockerignore").read_text("utf-8").splitlines()
    instructions = container()
    for word, rest in instructions:
        if word == "FROM":
            version = re.fullmatch(r"python:(\d\.\d+)-slim( AS build)?", rest)
            assert version
            assert f"Programming Language :: Python :: {version[1]}" in project["classifiers"]
        if word == "COPY" and not rest.startswith("--from=build"):
            for name in rest.split()[:-1]:
                assert (PROJECT / name).exists()
                assert f"!{name}" in ignored
        for extras in re.findall(r"\.whl\)\[(.*?)\]", rest):
            assert set(extras.split(",")) <= set(project["optional-dependencies"])
    words = dict(instructions)
    program, *command = json.loads(words["CMD"])
    assert program in project["scripts"]
    name, *options = command
    serve: click.Command = import_module(f"duelmatch.cli.{name}").command
    with serve.make_context(name, options) as context:
        assert context.params["host"] == "0.0.0.0"
    variable, _, url = words["ENV"].partition("=")
    assert variable in {str(parameter.envvar) for parameter in serve.params}
    assert url == f"sqlite:///{words['VOLUME']}/duels.db"
    assert words["VOLUME"] == words["WORKDIR"]


def test_the_citations_name_this_version() -> None:
    assert f"\nversion: {dm.__version__}\n" in (PROJECT / "CITATION.cff").read_text("utf-8")
    assert f"version = {{{dm.__version__}}}" in (PROJECT / "docs" / "index.md").read_text("utf-8")
