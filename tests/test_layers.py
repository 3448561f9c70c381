"""The arrows of the design point down only."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "src" / "duelmatch"


def test_no_module_imports_one_above_it() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run(
        [linter, "--no-logo", "--no-cache"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_module_has_its_layer() -> None:
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = " ".join(settings["tool"]["importlinter"]["contracts"][0]["layers"])
    listed = set(re.findall(r"duelmatch\.(\w+)", layers))
    found = (path for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists())
    modules = {path.stem for path in found}
    assert modules - {"__init__"} == listed
