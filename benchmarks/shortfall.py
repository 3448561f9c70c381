"""The bound on the shortfall: how often it is too small, and how large it is. Prints Markdown tables.

python benchmarks/shortfall.py --runs 20         every family and mode, so many runs each
python benchmarks/shortfall.py --size 10         beside a bet that knows the champion from the start
"""

import argparse
import sys
from math import log
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.error_rates.bounds import watch
from benchmarks.error_rates.frugal import FAMILIES, instance

from duelmatch.experiments.simulation import clopper_pearson
from duelmatch.explorers.frugal.listed import price
from duelmatch.explorers.frugal.search import FrugalSearch

DELTA = 0.1
MODES = {
    "condorcet": {"criterion": "condorcet"},
    "condorcet, epsilon 0.1": {"criterion": "condorcet", "epsilon": 0.1},
    "condorcet, a winner assumed": {"criterion": "condorcet", "assume_winner": True},
    "condorcet, a winner assumed, epsilon 0.1": {
        "criterion": "condorcet", "assume_winner": True, "epsilon": 0.1
    },
    "borda": {"criterion": "borda"},
    "borda, epsilon 0.1": {"criterion": "borda", "epsilon": 0.1},
}  # fmt: skip
WHEN = (100, 300, 1_000, 3_000)


class Knowing(FrugalSearch):
    """Knows the best matching, and proves nothing but how close it is: one bet per rival, all of delta."""

    def knows(self, best):
        self._best = best
        self._proof_threshold = -log(DELTA) - price(1)  # so that the first proof has all of it
        return self

    def _crown(self, advantage):
        self._champion = self._best
        return self._best

    def _time_for_proof(self, prospects):
        return True


def search(kind, mode, preferences, seed):
    """Begin a run."""
    parameters = dict(MODES[mode])
    return kind(preferences.problem.graph, parameters.pop("criterion"), DELTA, seed, **parameters)


def coverage(runs, most_duels):
    """Print how often the bound was ever too small."""
    total = wrong = 0
    print("| mode | runs | ever too small | 95% interval |\n|---|---|---|---|")
    for mode, parameters in MODES.items():
        criterion = parameters["criterion"]
        count = bad = 0
        for family in FAMILIES:
            if "no winner" in family and (criterion == "borda" or parameters.get("assume_winner")):
                continue
            for run in range(runs):
                preferences = instance(family, criterion, run % 10)
                rng = np.random.default_rng([run, 2])
                bad += watch(search(FrugalSearch, mode, preferences, run), preferences, most_duels, rng)[0]
                count += 1
        low, high = clopper_pearson(bad, count, 0.95)
        print(f"| {mode} | {count:,} | {bad} | {100 * low:.1f}% to {100 * high:.1f}% |", flush=True)
        total, wrong = total + count, wrong + bad
    print(f"\n{wrong} of {total:,}; {100 * DELTA:g}% is allowed.")


def size(runs):
    """Print the median bound of the champion after so many duels, and of a bet that knows the champion."""
    print("| family | mode | " + " | ".join(f"{duels:,} duels" for duels in WHEN) + " |")
    print("|---" * (2 + len(WHEN)) + "|")
    for family in ("Bradley-Terry", "more candidates", "near tie", "no winner"):
        for mode in ("condorcet", "borda"):
            found = {kind: {duels: [] for duels in WHEN} for kind in (FrugalSearch, Knowing)}
            for run in range(runs):
                preferences = instance(family, mode, run % 10)
                for kind in found:
                    begun = search(kind, mode, preferences, run)
                    if kind is Knowing:
                        begun.knows(best_of(preferences, mode))
                    _, end, seen = watch(begun, preferences, WHEN[-1] + 1, np.random.default_rng([run, 2]))
                    for duels in WHEN:
                        last = [bound for when, bound in seen if when <= duels]
                        sure = (
                            end <= duels and begun._ended is not None and begun._ended.status == "certified"
                        )
                        found[kind][duels].append(0.0 if sure else last[-1] if last else 0.5)
            cells = [
                f"{np.median(found[FrugalSearch][duels]):.3f} / {np.median(found[Knowing][duels]):.3f}"
                for duels in WHEN
            ]
            print(f"| {family} | {mode} | " + " | ".join(cells) + " |", flush=True)


def best_of(preferences, criterion):
    """Return the edges of the Borda winner, or of the least beaten matching."""
    found = preferences.borda_winner() if criterion == "borda" else preferences.least_beaten()[0]
    return preferences.problem.edge_numbers(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20, help="runs of each family and mode")
    parser.add_argument("--most-duels", type=int, default=1_000)
    parser.add_argument("--size", type=int, default=0, help="runs to compare the size in; 0 leaves that out")
    options = parser.parse_args()
    if options.runs:
        coverage(options.runs, options.most_duels)
    if options.size:
        size(options.size)


if __name__ == "__main__":
    main()
