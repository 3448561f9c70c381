"""Are the standings right as often as they say? Prints Markdown tables.

Every run collects answers on an instance of benchmarks/budget.py, half of the runs by random pairs and half
by `condorcet` or `borda` with that budget, and compares each probability of the standings with whether that
candidate is in the best line-up at that position (Condorcet: in the least beaten one). For every run, real
votes are those on candidates of its own, drawn from the 30 with the most votes.

    python benchmarks/calibration.py --runs 100 --save build/calibration.jsonl
    python benchmarks/calibration.py --hostile --runs 200      tastes that the model does not expect

Runs are per kind of instance, budget and criterion. The hostile kinds have 4 to 6 candidates and 1 to 3
positions: `circles`, in each of which a candidate beats the next ones with about 0.7; a mixture of three
`rankings`; and strengths with `deviations` that are as large as the strengths themselves.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from budget import FAMILIES, World, play, world
from error_rates.saving import measured

import duelmatch as dm
from duelmatch.models.standings import standings_from_counts

BUDGETS = (100, 300, 1_000)
CALLED = ((0.5, 0.45, 0.55), (0.8, 0.75, 0.85), (0.95, 0.925, 0.975))
LARGEST = 100
"""Edges: beyond that the least beaten line-up is out of reach."""
HOSTILE = ("circles", "rankings", "deviations")


def hostile_world(kind, seed):
    """Draw an instance of a kind that the model of the standings does not expect."""
    rng = np.random.default_rng([seed, HOSTILE.index(kind)])
    candidates, positions = int(rng.integers(4, 7)), int(rng.integers(1, 4))
    problem = dm.Problem.complete(
        [f"c{number}" for number in range(candidates)], [f"p{number}" for number in range(positions)]
    )
    chances = {}
    for position in problem.positions:
        table = np.clip(_tastes(kind, candidates, rng), 0.02, 0.98)
        for one in range(candidates):
            for other in range(one + 1, candidates):
                chances[position, f"c{one}", f"c{other}"] = float(table[one, other])
    return World(dm.Preferences(problem, chances))


def _tastes(kind, candidates, rng):
    if kind == "circles":
        place = rng.permutation(candidates)
        ahead = (place[:, None] - place) % candidates
        table = np.where(ahead == 0, 0.5, np.where(ahead <= (candidates - 1) // 2, 0.7, 0.3))
        table[2 * ahead == candidates] = 0.5
        return table + rng.normal(0, 0.03, table.shape)
    if kind == "rankings":
        ranks = [rng.permutation(candidates) for _ in range(3)]
        shares = rng.dirichlet([1, 1, 1])
        return sum(share * (rank[:, None] > rank) for share, rank in zip(shares, ranks, strict=True))
    strength = rng.normal(0, 0.6, candidates)
    table = strength[:, None] - strength + rng.normal(0, 0.8, (candidates, candidates))
    return 1 / (1 + np.exp(-table))


def run(task):
    """Return what the standings said: the probabilities of note, right or wrong, and the shortfalls."""
    family, size, budget, criterion, seed = task
    here = hostile_world(family, seed) if family in HOSTILE else world(family, tuple(size), seed)
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
    parser.add_argument("--hostile", action="store_true", help="tastes that the model does not expect")
    options = parser.parse_args()
    families = dict.fromkeys(HOSTILE, ((0, 0),)) if options.hostile else FAMILIES
    todo = [
        (family, size, budget, criterion, seed)
        for seed in range(options.first, options.first + options.runs)
        for family, sizes in families.items()
        for size in sizes
        if size[0] * size[1] <= LARGEST
        for budget in BUDGETS
        for criterion in ("condorcet", "borda")
    ]
    report(list(measured(run, todo, options.jobs, options.save, json.dumps)))


if __name__ == "__main__":
    main()
