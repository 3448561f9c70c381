"""Counts of graphs that can take seconds: cached with the graph, and made by another process for a server.

Within :func:`counting_elsewhere`, a count that may take long goes to another process, which can be ended.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar

from duelmatch.graph import Graph

Found = TypeVar("Found")
Elsewhere = Callable[[Callable[[], Any]], Any]
"""What calls a function of no arguments in another process, and returns what that returns."""

QUICK_POSITIONS, QUICK_EDGES = 10, 200
"""A problem of one seat for each has 2^positions states at most, so this takes milliseconds."""

QUICK_CONDITIONS = 20
"""With capacities, seats or rules, a count is quick up to so many edges."""

KEPT = 20
"""Counts kept after their graphs are gone, for when the same graph comes again."""

_kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
_lock = threading.Lock()
_elsewhere: ContextVar[Elsewhere | None] = ContextVar("elsewhere", default=None)


def is_quick(graph: Graph, one_more: bool = False) -> bool:
    """Whether everything about a graph is counted in milliseconds; or about it with one more candidate."""
    edges = graph.edges + graph.positions * one_more
    if not graph.one_to_one:
        return edges <= QUICK_CONDITIONS
    if graph.is_complete and not one_more:
        return True
    return graph.positions <= QUICK_POSITIONS and edges <= QUICK_EDGES


@contextmanager
def counting_elsewhere(elsewhere: Elsewhere | None) -> Iterator[None]:
    """Send the long counts of this thread to another process; with None, count here."""
    token = _elsewhere.set(elsewhere)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def counted(function: Callable[..., Found], graph: Graph, *arguments: Any) -> Found:
    """Return what a module-level function says of a graph, computed once."""
    own = vars(graph).setdefault("counts", {})
    if (function, arguments) not in own:
        with _lock:
            found = _kept.get((function, _content(graph), arguments))
        elsewhere = _elsewhere.get()
        if found is None and elsewhere is not None and not is_quick(graph):
            found = elsewhere(partial(function, graph, *arguments))
        if found is None:
            found = function(graph, *arguments)
        keep_count(found, function, graph, *arguments)
    known: Found = own[function, arguments]
    return known


def keep_count(found: Any, function: Callable[..., Any], graph: Graph, *arguments: Any) -> None:
    """Keep what a function says of a graph, worked out here or elsewhere."""
    vars(graph).setdefault("counts", {})[function, arguments] = found
    with _lock:
        _kept[function, _content(graph), arguments] = found
        while len(_kept) > KEPT:
            _kept.popitem(last=False)


def _content(graph: Graph) -> bytes:
    """Return a digest of all that makes a graph what it is."""
    digest = sha256(repr((graph.candidates, graph.positions)).encode())
    for array in (graph.edge_candidate, graph.edge_position, graph.capacity, graph.seats, graph.weight):
        digest.update(array.tobytes())
    for rule in graph.rules:
        groups = [group.tolist() for group in rule.groups]
        digest.update(repr((rule.edges.tolist(), rule.at_least, rule.at_most, groups)).encode())
    return digest.digest()
