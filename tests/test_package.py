"""The wheel has everything that the package needs, and works without the extras.

Installing it into fresh environments, with and without extras, takes minutes: `python benchmarks/package.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

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


def test_the_citations_name_this_version() -> None:
    assert f"\nversion: {dm.__version__}\n" in (PROJECT / "CITATION.cff").read_text("utf-8")
    assert f"version = {{{dm.__version__}}}" in (PROJECT / "docs" / "index.md").read_text("utf-8")
