"""Notebooks as pages. Each is run whenever the pages are built, and has to print what it has stored.

A notebook is a JSON file (nbformat 4) of text in Markdown and code in Python. Ours need nothing of Jupyter
to run, so Python itself runs them here: ``python docs/_extensions/notebooks.py docs/notebooks/*.ipynb``
stores what they print. A figure is stored as SVG, and only that there is one is compared, because its bytes
change with the version of matplotlib.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import json
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CoroutineType
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx
from sphinx.util import logging

Cell = dict[str, Any]


def load(path: Path) -> list[Cell]:
    """Return the cells of a notebook."""
    return list(json.loads(path.read_text(encoding="utf-8"))["cells"])


def outputs(cells: list[Cell]) -> Iterator[list[Cell]]:
    """Run the code of a notebook from top to bottom in an empty folder, and yield what each cell shows."""
    names: dict[str, object] = {"__name__": "__main__"}
    with TemporaryDirectory() as folder, chdir(folder):
        for number, cell in enumerate(code_of(cells), start=1):
            yield list(_shown("".join(cell["source"]), names, number))


def code_of(cells: list[Cell]) -> list[Cell]:
    """Return the cells that are code."""
    return [cell for cell in cells if cell["cell_type"] == "code"]


def comparable(shown: list[Cell]) -> list[str]:
    """Return the texts that a cell shows, with a word in place of each figure."""
    return ["".join(_text(output)) or "a figure" for output in shown]


def _text(output: Cell) -> list[str]:
    return list(output["text"] if output["output_type"] == "stream" else output["data"].get("text/plain", []))


def _shown(source: str, names: dict[str, object], number: int) -> Iterator[Cell]:
    """Run a cell and yield what it prints, then the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(StringIO()) as printed:
        _run(tree, names, number)
        value = _run(ast.Expression(last.value), names, number) if isinstance(last, ast.Expr) else None
    if text := printed.getvalue():
        yield {"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}
    if value is not None:
        data = (
            {"image/svg+xml": _drawn(value)} if hasattr(value, "savefig") else {"text/plain": [repr(value)]}
        )
        yield {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data}


def _run(tree: ast.Module | ast.Expression, names: dict[str, object], number: int) -> Any:
    """Run a part of a cell, in which ``await`` may stand by itself as in Jupyter, and return its value."""
    kind = "exec" if isinstance(tree, ast.Module) else "eval"
    value = eval(compile(tree, f"cell {number}", kind, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    return asyncio.run(value) if isinstance(value, CoroutineType) else value


def _drawn(figure: Any) -> list[str]:
    import matplotlib

    drawn = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "duelmatch", "svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    return drawn.getvalue().splitlines(keepends=True)


def store(path: Path) -> None:
    """Run a notebook and keep what it shows in its file."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for number, (cell, shown) in enumerate(
        zip(code_of(notebook["cells"]), outputs(notebook["cells"]), strict=True), start=1
    ):
        cell["execution_count"], cell["outputs"] = number, shown
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def as_markdown(cells: list[Cell]) -> Iterator[str]:
    """Yield the cells as MyST Markdown, with the outputs that are stored."""
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
            continue
        yield f"```python\n{source}\n```"
        for output in cell["outputs"]:
            if text := "".join(_text(output)).rstrip("\n"):
                yield f"```{{code-block}} text\n:class: output\n\n{text}\n```"
            else:
                svg = "".join(output["data"]["image/svg+xml"]).encode()
                yield f'<img alt="A figure" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}">'


class NotebookParser(MystParser):
    """Reads a notebook as a page, and complains if it does not show what it has stored."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        cells = json.loads(inputstring)["cells"]
        for cell, shown in zip(code_of(cells), outputs(cells), strict=True):
            if comparable(shown) != comparable(cell["outputs"]):
                logging.getLogger(__name__).warning(
                    "A cell shows something else than is stored:\n%s",
                    "".join(cell["source"]),
                    location=document,
                )
        super().parse("\n\n".join([*as_markdown(cells), _download(document)]), document)


def _download(document: nodes.document) -> str:
    return f"{{download}}`This page as a notebook <{Path(document['source']).name}>`"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        store(Path(name))
