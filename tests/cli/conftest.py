"""Every test of a command runs in an empty folder, with no database named by the environment."""

from __future__ import annotations

from collections.abc import Callable
from functools import partialmethod
from pathlib import Path

import pytest

from duelmatch.studies import Study
from duelmatch.studies.estimates import SIMULATING


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DUELMATCH_STORE", raising=False)


@pytest.fixture(autouse=True)
def _short_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a status simulate for a tenth of the time: estimates are coarser then."""
    monkeypatch.setattr(Study, "estimates", partialmethod(Study.estimates, SIMULATING / 10))


@pytest.fixture
def write() -> Callable[..., str]:
    """Give a function that writes a file and returns its name."""

    def write(text: str, name: str = "problem.yaml") -> str:
        Path(name).write_text(text, encoding="utf-8")
        return name

    return write
