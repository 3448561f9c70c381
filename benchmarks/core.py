"""Processor time of the exact core, as one Markdown table: ``python benchmarks/core.py``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from duelmatch import instances, theory
from duelmatch.graph import Graph
from duelmatch.matchings.counting import count_matchings, edge_marginals
from duelmatch.matchings.decisions import allowed_edges, best_matching, decisions_of
from duelmatch.matchings.game import Game

Row = tuple[str, str, str]
"""What was measured, the figure, the target."""

ALONE = """
import resource, time
from duelmatch.instances import random_problem
from duelmatch.matchings.counting import edge_marginals
graph = random_problem(40, 20, density=0.5, seed=0).graph
seconds = []
for _ in range(3):
    before = time.process_time()
    edge_marginals(graph)
    seconds.append(time.process_time() - before)
print(min(seconds), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def main() -> None:
    print("| what | figure | target |")
    print("|---|---|---|")
    for measure in (dense_marginals, sparse_count, games, all_alternatives, information_limits):
        for row in measure():
            print(f"| {' | '.join(row)} |", flush=True)


def dense_marginals() -> Iterator[Row]:
    """The subset dynamic program over 20 positions, in a process of its own to see its memory."""
    output = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True).stdout
    seconds, kibibytes = map(float, output.split())
    unit = 1 if sys.platform == "darwin" else 1 << 10
    yield "marginals, 20 x 40, density 0.5 (best of 3)", f"{seconds:.2f} s", "about 1 s"
    yield "peak memory of that process", f"{kibibytes * unit / 2**20:.0f} MiB", "< 1024 MiB"


def sparse_count() -> Iterator[Row]:
    """A long chain: hopeless by subsets of positions, easy by elimination."""
    graph = chain_of_neighbours(60)
    count, seconds = timed(lambda: count_matchings(graph))
    yield f"exact count, 60 positions in a chain ({count:.2e} matchings)", f"{seconds:.3f} s", "seconds"
    _, seconds = timed(lambda: edge_marginals(graph))
    yield "marginals of the same graph", f"{seconds:.3f} s", "seconds"


def games() -> Iterator[Row]:
    """CAR-Cond's games on a complete 30 x 30 graph: one edge forbidden or required, then another."""
    prefs = instances.uniform(30, 30, seed=0)
    graph, rng = prefs.problem.graph, np.random.default_rng(0)
    game, building = timed(lambda: Game(graph, prefs.matrix))
    first, solving = timed(game.solve)
    cold = building + solving
    yield "LP game, 30 x 30, cold", f"{1000 * cold:.0f} ms", ""
    used = rng.permutation(np.flatnonzero(first.x > 1e-6))[:15]
    for what, sets in (
        ("any edge forbidden", [{"forbidden_x": [edge]} for edge in rng.permutation(graph.edges)[:15]]),
        ("an edge in use forbidden", [{"forbidden_x": [edge]} for edge in used]),
        ("any edge required", [{"required_x": [edge]} for edge in rng.permutation(graph.edges)[:15]]),
    ):
        warm = median(timed(lambda change=change: game.solve(**change))[1] for change in sets)
        yield f"the same, warm, {what} (median of {len(sets)})", f"{1000 * warm:.0f} ms", ""
        yield "cold / warm", f"{cold / warm:.1f}", ">= 8" if "any edge forbidden" in what else ""
    replaced = []
    for _ in range(5):
        noisy = np.clip(prefs.matrix + (prefs.matrix > 0) * rng.normal(0, 0.005, prefs.matrix.shape), 0, 1)

        def step(matrix: np.ndarray = noisy) -> None:
            game.replace_matrix(matrix)
            game.solve()

        replaced.append(timed(step)[1])
    yield "the same, warm, Q changed by 0.005 (median of 5)", f"{1000 * median(replaced):.0f} ms", ""
    yield "proven gap of the cold solution", f"{first.gap:.1e}", "< 1e-9"


def all_alternatives() -> Iterator[Row]:
    """The best weight with and without every edge, at once and by 2 m assignment problems."""
    graph = instances.random_problem(20, 20).graph
    weights = np.random.default_rng(0).random(graph.edges)

    def one_by_one() -> None:
        for edge in range(graph.edges):
            best_matching(graph, weights, allowed_edges(graph, required=[edge]))
            best_matching(graph, weights, allowed_edges(graph, forbidden=[edge]))

    at_once = median(timed(lambda: decisions_of(graph).alternatives(weights))[1] for _ in range(15))
    separately = median(timed(one_by_one)[1] for _ in range(3))
    yield "alternatives(), 20 x 20", f"{1000 * at_once:.2f} ms", ""
    yield "2 m assignment problems instead", f"{1000 * separately:.0f} ms", ""
    yield "ratio", f"{separately / at_once:.0f}", ""


def information_limits() -> Iterator[Row]:
    for criterion in ("condorcet", "borda"):
        prefs = instances.planted(8, 8, gap=0.1, noise=0.1, seed=0)
        limit, seconds = timed(lambda c=criterion, p=prefs: theory.information_limit(p, c))
        yield f"information limit, 8 x 8, {criterion} (T* = {limit.lower:.0f})", f"{seconds:.2f} s", ""


def chain_of_neighbours(positions: int) -> Graph:
    """Each candidate fits its own position and the next, every other one the position before as well."""
    edges = set()
    for candidate in range(positions):
        reach = (0, 1) if candidate % 2 else (-1, 0, 1)
        edges |= {(candidate, candidate + step) for step in reach if 0 <= candidate + step < positions}
    candidate, position = np.array(sorted(edges)).T
    return Graph.from_edges(positions, positions, candidate, position)


def timed(compute: Callable[[], Any]) -> tuple[Any, float]:
    before = process_time()
    result = compute()
    return result, process_time() - before


if __name__ == "__main__":
    main()
