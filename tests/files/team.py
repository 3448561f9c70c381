"""The problem that the tests of files share, and how a refusal is looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duelmatch.errors import FileError, ProblemError
from duelmatch.preferences import Preferences
from duelmatch.problem import Problem

TEAM = Problem.from_edges(
    [("ann", "chair"), ("bob", "chair"), ("bob", "editor"), ("cyd", "editor")],
)
TEAM_PREFERENCES = Preferences(TEAM, {("chair", "ann", "bob"): 0.55, ("editor", "cyd", "bob"): 0.1})
TEAM_YAML = """\
candidates: [ann, bob, cyd]
positions: [chair, editor]
edges:
  chair: [ann, bob]
  editor: [bob, cyd]
preferences:
  chair:
  - [ann, bob, 0.55]
  editor:
  - [cyd, bob, 0.1]
"""
TEAM_JSON = """\
{
  "candidates": ["ann", "bob", "cyd"],
  "positions": ["chair", "editor"],
  "edges": {
    "chair": ["ann", "bob"],
    "editor": ["bob", "cyd"]
  },
  "preferences": {
    "chair": [
      ["ann", "bob", 0.55]
    ],
    "editor": [
      ["cyd", "bob", 0.1]
    ]
  }
}
"""


def write(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def refusal(load: Callable[..., Any], *arguments: object) -> str:
    """Return the sentence of a refusal, having checked what holds for all of them."""
    with pytest.raises((FileError, ProblemError)) as caught:
        load(*arguments)
    sentence = str(caught.value)
    assert caught.value.__cause__ is None
    assert sentence.isprintable()
    assert len(sentence) <= 1000
    assert sentence.endswith((".", "?", "…"))
    return sentence


def check_refused(load: Callable[..., Any], name: str, content: str | bytes | None, fragment: str) -> None:
    """A bad file is refused in a sentence that begins with its path."""
    if content is not None:
        write(name, content)
    sentence = refusal(load, name)
    assert fragment in sentence
    assert sentence.startswith(name.replace("\0", r"\x00") + ": ")
