"""Are the standings right as often as they say? Prints Markdown tables.

Every run collects answers on an instance of benchmarks/budget.py, half of the runs by random pairs and half
by `condorcet` or `borda` with that budget, and compares each probability of the standings with whether that
candidate is in the best line-up at that position (Condorcet: in the least beaten one). For every run, real
votes are those on candidates of its own, drawn from the 30 with the most votes.

    python benchmarks/calibration.py --runs 100 --save build/calibration.jsonl

Runs are per kind of instance, budget and criterion.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from budget import FAMILIES, play, world
from error_rates.saving import measured

from duelmatch.models.standings import standings_from_counts

BUDGETS = (100, 300, 1_000)
CALLED = ((0.5, 0.45, 0.55), (0.8, 0.75, 0.85), (0.95, 0.925, 0.975))
LARGEST = 100
"""Edges: beyond that the least beaten line-up is out of reach."""


def run(task):
    """Return what the standings said: the probabilities of note, right or wrong, and the shortfalls."""
    family, size, budget, criterion, seed = task
    here = world(family, tuple(size), seed)
    wins, duels, ties = collected(here, criterion, seed, budget)
    standings = standings_from_counts(
        here.problem, wins, duels, criterion, ties, marginals=here.marginals, seed=seed
    )
    best = set(here.best(criterion))
    said = [
        (round(probability, 4), edge in best)
        for edge, probability in enumerate(standings.probability.values())
        if probability >= 0.05
    ]
    leader = here.problem.edge_numbers(standings.leader)
    right = set(leader.tolist()) == best
    actual = here.shortfall(leader, criterion) + (here.least if criterion == "condorcet" else 0.0)
    return {
        "said": said,
        "leader": [standings.leader_probability, right],
        "shortfall": [standings.expected_shortfall, actual],
    }


def collected(here, criterion, seed, budget):
    """Return wins, duels by pair, and ties."""
    if seed % 2:
        return play(here, criterion, seed, budget).answer_counts.counted()
    rng = np.random.default_rng([seed, 6])
    pairs = here.table.count
    duels = rng.multinomial(budget, np.full(pairs, 1 / pairs))
    wins, ties = here.answer(np.arange(pairs), duels, rng)
    return wins + ties / 2, duels.astype(float), int(ties.sum())


def report(results):
    groups = {}
    for (family, _, budget, criterion, seed), found in results:
        how = "steered" if seed % 2 else "random pairs"
        for group in ("all", criterion, family, f"{budget:,} answers", how):
            groups.setdefault(group, []).append(found)
    print("| | runs | called 50% | called 80% | called 95% | shortfall expected | actual |")
    print("|---" * 7 + "|")
    for group, found in groups.items():
        said = np.array([pair for one in found for pair in one["said"]])
        cells = []
        for _, low, high in CALLED:
            chosen = said[(said[:, 0] >= low) & (said[:, 0] <= high)]
            if len(chosen) == 0:
                cells.append("")
                continue
            cells.append(f"{chosen[:, 1].mean():.1%} of {len(chosen):,} (mean {chosen[:, 0].mean():.1%})")
        shortfall = np.array([one["shortfall"] for one in found]).mean(axis=0)
        print(
            f"| {group} | {len(found):,} | "
            + " | ".join(cells)
            + f" | {shortfall[0]:.4f} | {shortfall[1]:.4f} |"
        )
    leader = np.array([one["leader"] for one in groups["all"]], dtype=float)
    print(
        f"\nThe whole leader is the best line-up in {leader[:, 1].mean():.1%} of the runs; "
        f"{leader[:, 0].mean():.1%} was said on average."
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10, help="runs of each kind")
    parser.add_argument("--first", type=int, default=0, help="the number of the first run: its seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, help="a file to save the runs in, and to go on from")
    options = parser.parse_args()
    todo = [
        (family, size, budget, criterion, seed)
        for seed in range(options.first, options.first + options.runs)
        for family, sizes in FAMILIES.items()
        for size in sizes
        if size[0] * size[1] <= LARGEST
        for budget in BUDGETS
        for criterion in ("condorcet", "borda")
    ]
    report(list(measured(run, todo, options.jobs, options.save, json.dumps)))


if __name__ == "__main__":
    main()
