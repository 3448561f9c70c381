"""The notebooks of the documentation show what they have stored."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of Sphinx's own imports
    from docs._extensions import notebooks

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@every_notebook
def test_a_notebook_shows_what_it_has_stored(path: Path) -> None:
    cells = notebooks.load(path)
    for cell, shown in zip(notebooks.code_of(cells), notebooks.outputs(cells), strict=True):
        assert notebooks.comparable(shown) == notebooks.comparable(cell["outputs"])


def test_a_cell_that_shows_something_else_is_noticed() -> None:
    cell = {"cell_type": "code", "source": ["x = 2\n", "print(x)\n", "x + 1"], "outputs": []}
    [shown] = notebooks.outputs([cell])
    assert notebooks.comparable(shown) == ["2\n", "3"]
    assert notebooks.comparable(shown) != notebooks.comparable(cell["outputs"])
    assert "2\n```" in "\n".join(notebooks.as_markdown([{**cell, "outputs": shown}]))


@every_notebook
def test_the_pages_that_a_notebook_leads_to_are_there(path: Path) -> None:
    text = "\n".join("".join(cell["source"]) for cell in notebooks.load(path))
    targets = [target.partition("#")[0].partition(")")[0] for target in text.split("](")[1:]]
    assert targets
    for target in targets:
        assert (path.parent / target).exists(), target
