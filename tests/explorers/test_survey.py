"""The algorithm of docs/extending/algorithm.md is the one in tests/survey.py, and keeps the contract."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import duelmatch as dm
from duelmatch.testing import ExplorerConformance
from survey import SURVEY

TESTS = Path(__file__).parents[1]


class TestSurvey(ExplorerConformance):
    algorithm, parameters = "survey", {"times": 30}

    @pytest.fixture(autouse=True)
    def registered(self) -> None:
        dm.register_algorithm(SURVEY)


def test_the_page_shows_the_file() -> None:
    page = (TESTS.parent / "docs" / "extending" / "algorithm.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert (TESTS / "survey.py").read_text(encoding="utf-8") in shown


def test_a_registration_ends_with_the_test_that_made_it() -> None:
    assert "survey" not in dm.algorithms()
