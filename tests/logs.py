"""Logs of explorers as a study would export them: their events as entries of a chain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from random import Random
from typing import Any

from hypothesis import strategies as st

import duelmatch as dm
from duelmatch.errors import FileError
from duelmatch.files.problems import tree_of
from duelmatch.verify import verify

Event = Mapping[str, Any]

PYTHON = re.compile(r"\b(None|True|False|\w+Error|int|str|dict|list|tuple|float|argument|unpack)\b")
"""Words in which nobody is told of damage."""


def log_of(
    problem: dm.Problem,
    settings: Mapping[str, Any],
    events: Iterable[Event],
    result: Any = None,
) -> list[str]:
    """Return the lines of an export; with a ``result`` the study is closed at the end."""
    entries: list[dict[str, Any]] = [
        {"kind": "created", "data": {"problem": tree_of(problem), "settings": dict(settings), "format": 2}}
    ]
    asked_of: dict[int, str] = {}
    for event in events:
        rest = {key: value for key, value in event.items() if key not in ("kind", "voter")}
        voter = event.get("voter") or asked_of.get(event.get("question", 0))
        if event["kind"] == "asked":
            asked_of[event["question"]] = event["voter"]
        entries.append({"kind": event["kind"], "voter": voter, "data": rest})
    if result is not None:
        entries.append({"kind": "closed", "data": {"verdict": verdict_of(result)}})
    return chained(entries)


def verdict_of(result: Any) -> dict[str, Any]:
    """Return a result as a study records it."""
    return {
        "status": result.status,
        "matching": None if result.matching is None else dict(result.matching),
        "shortfall": getattr(result, "shortfall", None),
    }


def chained(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Number entries, and seal each with its hash."""
    before, lines = "0" * 64, []
    for number, entry in enumerate(entries, start=1):
        given = {"v": 2, "seq": number, "at": 1000.0 + number, "by": None, "voter": None, **entry}
        given = {key: value for key, value in given.items() if key != "hash"} | {"before": before}
        before = sha256(json.dumps(given, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        lines.append(json.dumps({**given, "hash": before}))
    return lines


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value in an entry that is not a mapping or a list."""
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else None
    if not children:
        yield path
    for key, child in children or ():
        yield from leaves(child, (*path, key))


@st.composite
def forgeries(draw: st.DrawFn, lines: list[str]) -> list[str]:
    """Draw a log in which an odd value is put into an entry, often the first, with hashes that fit."""
    entries = [json.loads(line) for line in lines]
    inner = entries[draw(st.just(0) | st.integers(0, len(entries) - 1))]
    path = draw(st.sampled_from([path for path in leaves(inner) if path[0] in ("data", "kind")]))
    for key in path[:-1]:
        inner = inner[key]
    odd = [None, True, -1, 1.5, 10**400, "", "x", [], [[]], {}, {"a": None}, [None], "eve"]
    inner[path[-1]] = draw(st.sampled_from(odd))
    return chained(entries)


def said_of(lines: list[str]) -> str:
    """Return what is told to be damaged in a log; nothing if nothing is."""
    try:
        return str(verify(lines).damage or "")
    except FileError as error:
        return str(error)


def some_problem(random: Random) -> dm.Problem:
    """Return a problem of up to 5 candidates and 3 positions in which most can do most."""
    while True:
        names = [f"c{number}" for number in range(random.randint(2, 5))]
        positions = [f"p{number}" for number in range(random.randint(1, min(3, len(names))))]
        edges = [(name, position) for name in names for position in positions if random.random() < 0.85]
        try:
            return dm.Problem.from_edges(edges, names, positions)
        except dm.ProblemError:
            continue
