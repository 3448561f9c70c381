"""The three samplers of matchings, time a draw and agreement. Prints two Markdown tables.

python benchmarks/samplers.py                       both, in three minutes of processor time
python benchmarks/samplers.py --only agreement      whether two samplers use the same edges as often
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from math import nan
from time import process_time

import numpy as np
from scipy.stats import chi2

from duelmatch.errors import TooLargeError
from duelmatch.graph import Graph
from duelmatch.instances import random_problem
from duelmatch.matchings.chain import Chain
from duelmatch.matchings.rejection import RejectionSampler
from duelmatch.matchings.sampling import ExactSampler, Sampler

ETA = 0.01
SHAPES = [(10, 10), (20, 20), (30, 30), (40, 40), (60, 30)]
"""Candidates, positions."""
DENSITIES = [0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0]
WITH_CHAIN = {(10, 0.2), (10, 0.5), (20, 0.2), (20, 0.5), (30, 0.2), (30, 0.5)}
"""Candidates and density of those whose chain is timed, too: it takes long to set up."""
LONG_ENOUGH = 1.0
"""Seconds of drawing."""
DRAWS, CHAIN_DRAWS = 20_000, 2_000
"""Of two samplers that are compared; the chain takes milliseconds for each."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=["times", "agreement"], help="one of the two tables")
    only = parser.parse_args().only
    RejectionSampler(Graph.from_edges(2, 2, np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])), 0).draw(1)
    Chain(Graph.from_edges(2, 2, np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])), 0.5, 0)
    if only != "agreement":
        print_times()
        print()
    if only != "times":
        print_agreement()


def print_times() -> None:
    print(
        "| candidates x positions, density | exact: set-up, a draw "
        "| rejection: pilot, a draw, trials a draw | chain |"
    )
    print("|---|---|---|---|")
    for candidates, positions in SHAPES:
        for density in DENSITIES:
            graph = random_problem(candidates, positions, density=density, seed=0).graph
            makers = [exact, rejection] + ([chain] if (candidates, density) in WITH_CHAIN else [])
            cells = [timed(make, graph) for make in makers] + [""] * (3 - len(makers))
            print(f"| {candidates} x {positions}, {density} | {' | '.join(cells)} |", flush=True)


def print_agreement() -> None:
    print("| graph | samplers | draws of each | smallest p-value of a position, times positions |")
    print("|---|---|---|---|")
    for name, graph, samplers in pairs():
        one, other = (make(graph) for make in samplers)
        draws = CHAIN_DRAWS if isinstance(other, Chain) else DRAWS
        value = agreement(graph, one, other, draws)
        print(f"| {name} | {one.method}, {other.method} | {draws:,} | {min(1.0, value):.2f} |", flush=True)


def timed(make: Callable[[Graph], Sampler], graph: Graph) -> str:
    """Return the set-up time and the time a draw, with the trials of the rejection sampler."""
    before = process_time()
    try:
        sampler = make(graph)
        sampler.draw(1)
    except TooLargeError:
        return "out of reach"
    ready = process_time()
    drawn, at_once = 0, 1
    while process_time() - ready < LONG_ENOUGH:
        sampler.draw(at_once)
        drawn += at_once
        at_once = min(2 * at_once, 5_000)
    each = (process_time() - ready) / drawn
    trials = f", {(sampler.trials / (drawn + 1)):.3g}" if isinstance(sampler, RejectionSampler) else ""
    return f"{ready - before:.2g} s, {1e3 * each:.2g} ms{trials}"


def pairs() -> Iterator[tuple[str, Graph, tuple[Callable[[Graph], Sampler], Callable[[Graph], Sampler]]]]:
    """Yield graphs of up to 30 x 30 with two samplers that can both draw from them."""
    for size, density in ((10, 0.3), (15, 0.5), (20, 0.3), (20, 0.8)):
        graph = random_problem(size, size, density=density, seed=3).graph
        yield f"{size} x {size}, {density}", graph, (exact, rejection)
    distance = np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
    position, candidate = np.nonzero(distance <= 3)
    yield "30 x 30, a band of 7", Graph(30, 30, candidate, position), (exact, rejection)
    for density in (0.2, 0.5):
        graph = random_problem(30, 30, density=density, seed=3).graph
        yield f"30 x 30, {density}", graph, (rejection, chain)


def exact(graph: Graph) -> Sampler:
    return ExactSampler(graph, 5)


def rejection(graph: Graph) -> Sampler:
    return RejectionSampler(graph, 6)


def chain(graph: Graph) -> Sampler:
    return Chain(graph, ETA, 7)


def agreement(graph: Graph, one: Sampler, other: Sampler, draws: int) -> float:
    """Return the smallest p-value, over positions, of two samples' chi-square test, times the positions."""
    first, second = (
        np.bincount(sampler.draw(draws).ravel(), minlength=graph.edges) for sampler in (one, other)
    )
    smallest = nan
    for position in range(graph.positions):
        a, b = first[graph.at(position)], second[graph.at(position)]
        often = a + b >= 10
        cells = (
            np.append((a - b)[often], (a - b)[~often].sum()),
            np.append((a + b)[often], (a + b)[~often].sum()),
        )
        used = cells[1] > 0
        statistic = (cells[0][used] ** 2 / cells[1][used]).sum()
        if used.sum() > 1:
            smallest = np.fmin(smallest, chi2.sf(statistic, used.sum() - 1))
    return float(smallest * graph.positions)


if __name__ == "__main__":
    main()
