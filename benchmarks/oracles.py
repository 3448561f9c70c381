"""The paper's oracle beside the linear program, as one Markdown table: ``python benchmarks/oracles.py``."""

from __future__ import annotations

from time import process_time
from unittest.mock import patch

import numpy as np

from duelmatch import instances
from duelmatch.matchings import subgradient
from duelmatch.matchings.game import Game

SIZES = [(3, 3), (5, 5), (8, 8)]
"""Candidates, positions."""
ACCURACIES = [0.1, 0.03, 0.01]


def main() -> None:
    print(
        "| candidates x positions | eps | the LP | Algorithm 6 with 7, stopped on its proof "
        "| assignment problems | the same as printed | value off by |"
    )
    print("|---|---|---|---|---|---|---|")
    for candidates, positions in SIZES:
        preferences = instances.uniform(candidates, positions, low=0.1, high=0.9, seed=1)
        graph, everything = preferences.problem.graph, np.ones(preferences.problem.graph.edges, np.bool_)
        before = process_time()
        value = Game(graph, preferences.matrix).solve().value
        linear = process_time() - before
        for epsilon in ACCURACIES:
            with patch.object(subgradient, "best_matching", wraps=subgradient.best_matching) as solver:
                before = process_time()
                found = subgradient.solve_by_subgradients(
                    graph, preferences.matrix, everything, everything, epsilon
                )
                seconds = process_time() - before
            printed = as_printed(positions, graph.pairs, epsilon)
            print(
                f"| {candidates} x {positions} | {epsilon} | {1e3 * linear:.1f} ms | {1e3 * seconds:.0f} ms "
                f"| {solver.call_count:,} | {printed:.0e} | {value - found.value:.4f} |",
                flush=True,
            )


def as_printed(positions: int, pairs: int, epsilon: float) -> float:
    """Return T = (4 l K)^2 / eps^2 times 1 + 16 l^2 / eps'^2, where eps' = eps / (2 K sqrt(T))."""
    steps = (4 * positions * pairs / epsilon) ** 2
    accuracy = epsilon / (2 * pairs * steps**0.5)
    return float(steps * (1 + 16 * positions**2 / accuracy**2))


if __name__ == "__main__":
    main()
