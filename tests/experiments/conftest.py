"""What tests register is forgotten after them."""

from __future__ import annotations

import pytest

from duelmatch.explorers import catalogue
from duelmatch.instances import generators


@pytest.fixture
def own_registrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget after the test what it registers."""
    for module in (catalogue, generators):
        for name in ("_known", "_registered"):
            monkeypatch.setattr(module, name, dict(getattr(module, name)))
