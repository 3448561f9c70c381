"""How many duels do the algorithms need, as multiples of the information limit? Prints Markdown tables.

The limit is T* kl(delta, 1 - delta), see docs/concepts.md: no algorithm that is wrong at most delta often
does with fewer duels on average. The instances are seeded draws of six families, the first of each size
whose limit at delta = 0.05 lies between 150 and 40,000 duels.

    python benchmarks/frugal.py                  the whole suite, some 20 minutes on two cores
    python benchmarks/frugal.py --runs 2 --paper-runs 1      a quick look
    python benchmarks/frugal.py --plot docs/images/frugal.svg
    python benchmarks/frugal.py --means --runs 16 --first 7000     only geometric means, five minutes
"""

import argparse
import json
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
from error_rates.saving import measured

import duelmatch as dm
from duelmatch.theory.limit import binary_divergence

DELTAS = (0.1, 0.05, 1e-3)
NEW = {"condorcet": "condorcet", "borda": "borda"}
PAPER = {"condorcet": ("car-cond", "car-verify", "car-parallel"), "borda": ("clucb-borda-exact",)}
SIZES = {  # candidates, positions, density
    "random": ((3, 3, 1), (4, 4, 1), (5, 5, 0.7), (6, 6, 0.6)),
    "Bradley-Terry": ((3, 3, 1), (4, 4, 1), (5, 5, 1), (6, 6, 1)),
    "planted": ((3, 3, 1), (5, 5, 1), (7, 7, 1), (8, 8, 1)),
    "sparse": ((5, 5, 0.5), (6, 6, 0.5), (8, 8, 0.4), (10, 8, 0.3)),
    "n > l": ((3, 2, 1), (4, 3, 1), (6, 3, 1), (8, 4, 0.5)),
    "one position": ((3, 1, 1), (5, 1, 1), (10, 1, 1)),
}
EASIEST, HARDEST = 150, 40_000


def draw(family, candidates, positions, density, seed):
    """Return the preferences of one instance of a family."""
    if family == "one position":
        return single(candidates)
    if family in ("random", "sparse", "n > l"):
        return dm.instances.uniform(candidates, positions, density=density, seed=seed)
    if family == "Bradley-Terry":
        return dm.instances.bradley_terry(candidates, positions, density=density, spread=0.8, seed=seed)
    return dm.instances.planted(candidates, positions, gap=0.1, density=density, noise=0.2, seed=seed)


def single(arms, ahead=0.6):
    """Return one position whose winner beats each of the others with the same probability, all else even."""
    names = [f"c{number}" for number in range(arms)]
    wins = {("s", names[0], other): ahead for other in names[1:]}
    wins |= {("s", a, b): 0.5 for i, a in enumerate(names[1:], 1) for b in names[i + 1 :]}
    return dm.Preferences(dm.Problem.complete(names, ["s"]), wins)


@cache
def instance(criterion, family, candidates, positions, density):
    """Return the first instance that fits, its winner, T* and its seed."""
    for seed in range(1, 1000):
        preferences = draw(family, candidates, positions, density, seed)
        borda = criterion == "borda"
        winner = preferences.borda_winner() if borda else preferences.condorcet_winner()
        if winner is None:
            continue
        limit = dm.theory.information_limit(preferences, criterion).lower
        if family == "one position" or EASIEST <= limit * binary_divergence(0.05) <= HARDEST:
            return preferences, winner, limit, seed
    raise AssertionError("no instance fits")


def run(job):
    """Return what one run needed."""
    criterion, family, size, algorithm, delta, seed, parameters = job
    preferences, winner, limit, _ = instance(criterion, family, *size)
    began = time.process_time()
    assumed = {"assume_winner": True} if algorithm == "condorcet" else {}
    result = dm.simulate(preferences, algorithm, delta=delta, seed=seed, **(assumed | parameters))
    return {
        "criterion": criterion, "family": family, "size": size, "algorithm": algorithm, "delta": delta,
        "seed": seed, "batch": parameters.get("batch", 1), "duels": result.duels,
        "ratio": result.duels / (limit * binary_divergence(delta)),
        "seconds": time.process_time() - began, "right": result.matching == winner,
    }  # fmt: skip


def jobs(runs, paper_runs, batch):
    """Yield every run of the suite, car-parallel last, which takes half the time."""
    plans = [(criterion, NEW[criterion], DELTAS, runs, {}) for criterion in NEW]
    plans += [(criterion, name, DELTAS, paper_runs, {}) for criterion in NEW for name in PAPER[criterion]]
    if batch > 1:
        plans += [(criterion, NEW[criterion], (0.05,), runs, {"batch": batch}) for criterion in NEW]
    for criterion, algorithm, deltas, repetitions, parameters in sorted(
        plans, key=lambda p: "parallel" in p[1]
    ):
        for family, sizes in SIZES.items():
            for size in sizes:
                for delta in deltas:
                    for seed in range(repetitions):
                        yield criterion, family, size, algorithm, delta, seed, parameters


MEANS = {  # criterion, delta, parameters
    "`condorcet`, a winner taken for granted, delta 0.05": ("condorcet", 0.05, {}),
    "the same, delta 0.001": ("condorcet", 1e-3, {}),
    "`condorcet`, nothing taken for granted, delta 0.05": ("condorcet", 0.05, {"assume_winner": False}),
    "`borda`, delta 0.05": ("borda", 0.05, {}),
}


def means(runs, first, job_count, save):
    """Print the geometric mean of duels / limit over all instances, with its standard error, for every mode.

    The last column is beside the limit of problems that are known to have a winner.
    """
    places = [(family, size) for family, sizes in SIZES.items() for size in sizes]
    print("| | duels / limit | wrong | beside the limit with a winner |\n|---|---|---|---|")
    for name, (criterion, delta, parameters) in MEANS.items():
        todo = [
            (criterion, family, size, NEW[criterion], delta, seed, parameters)
            for family, size in places
            for seed in range(first, first + runs)
        ]
        results = [result for _, result in measured(run, todo, job_count, save, json.dumps)]
        logs = np.log([result["ratio"] for result in results]).reshape(len(places), runs)
        mean = np.exp(logs.mean())
        error = mean * np.sqrt((logs.var(axis=1, ddof=1) / runs).sum()) / len(places)
        wrong = sum(not result["right"] for result in results)
        beside = ""
        if criterion == "condorcet" and not parameters:
            shares = np.log([winner_limit_share(family, size) for family, size in places])
            known = np.isfinite(shares)
            beside = f"{np.exp((logs.mean(axis=1) - shares)[known].mean()):.2f} ({known.sum()} instances)"
        print(f"| {name} | {mean:.2f} ({error:.2f}) | {wrong} of {len(results)} | {beside} |", flush=True)


@cache
def winner_limit_share(family, size):
    """Return the limit of problems that have a winner over that of those that may have none, if known."""
    preferences, _, limit, _ = instance("condorcet", family, *size)
    with suppress(dm.TooLargeError):
        return dm.theory.information_limit(preferences, "condorcet", assume_winner=True).lower / limit
    return np.nan


def spread(values):
    """Return the median and the interval that holds 90% of the values."""
    low, middle, high = np.percentile(values, [5, 50, 95])
    return f"{short(middle)} ({short(low)} - {short(high)})"


def short(value):
    return f"{value:.2f}" if value < 9.95 else f"{value:.1f}" if value < 99.5 else f"{value:,.0f}"


def table(results, batch):
    """Print duels / limit by family, then by delta, and the times."""
    for criterion in ("condorcet", "borda"):
        names = [NEW[criterion], *PAPER[criterion]]
        mine = [r for r in results if r["criterion"] == criterion]
        for delta in DELTAS:
            print(f"\n### {criterion.capitalize()}, delta = {delta:g}: duels / information limit\n")
            print("| family | " + " | ".join(names) + " | times fewer, at least |")
            print("|---" * (len(names) + 2) + "|")
            for family in [*SIZES, "all"]:
                chosen = [r for r in mine if r["delta"] == delta and r["batch"] == 1]
                chosen = [r for r in chosen if family in ("all", r["family"])]
                by_name = {name: [r for r in chosen if r["algorithm"] == name] for name in names}
                cells = [spread([r["ratio"] for r in by_name[n]]) if by_name[n] else "" for n in names]
                print(f"| {family} | " + " | ".join(cells) + f" | {times_fewer(by_name, names)} |")
        batched = [r for r in mine if r["batch"] == batch and r["delta"] == 0.05]
        same = {(r["family"], tuple(r["size"])) for r in batched}
        one = [r for r in mine if r["algorithm"] == NEW[criterion] and r["batch"] == 1 and r["delta"] == 0.05]
        one = [r["ratio"] for r in one if (r["family"], tuple(r["size"])) in same]
        if batch > 1 and batched:
            many = [r["ratio"] for r in batched]
            print(
                f"\n{batch} at a time, delta = 0.05, {len(same)} instances: {spread(many)}; "
                f"one at a time on the same: {spread(one)}; ratio of the means "
                f"{np.mean(many) / np.mean(one):.2f}."
            )
    print("\n### Time, right answers\n\n| algorithm | us a duel | s a run, median | longest | runs | wrong |")
    print("|---|---|---|---|---|---|")
    for name in dict.fromkeys(r["algorithm"] for r in results):
        mine = [r for r in results if r["algorithm"] == name]
        seconds, duels = [r["seconds"] for r in mine], [r["duels"] for r in mine]
        print(
            f"| {name} | {1e6 * sum(seconds) / sum(duels):.1f} | {np.median(seconds):.2f} "
            f"| {max(seconds):.2f} | {len(mine):,} | {sum(not r['right'] for r in mine)} |"
        )


def times_fewer(by_name, names):
    """Return how many times fewer duels than the paper's first algorithm, where that is least."""
    factors = []
    for key in {(r["family"], tuple(r["size"])) for r in by_name[names[0]]}:
        mean = [
            np.mean([r["duels"] for r in by_name[name] if (r["family"], tuple(r["size"])) == key] or [np.nan])
            for name in names[:2]
        ]
        factors.append(mean[1] / mean[0])
    return short(min(factors)) if factors else ""


def plot(results, path):
    """Draw duels / limit by family, every algorithm in its colour, medians and 90% intervals."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "duelmatch"
    from matplotlib import pyplot as plt

    colours = dict(
        zip(
            ["new", "car-cond", "car-verify", "car-parallel", "clucb-borda-exact"],
            ["#0072B2", "#D55E00", "#CC79A7", "#E69F00", "#009E73"],
            strict=True,
        )
    )
    marks = {0.1: "o", 0.05: "s", 1e-3: "D"}
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True, layout="constrained")
    for axis, criterion in zip(axes, ("condorcet", "borda"), strict=True):
        names = [NEW[criterion], *PAPER[criterion]]
        for row, family in enumerate(SIZES):
            for number, name in enumerate(names):
                for nudge, delta in zip((-0.07, 0, 0.07), DELTAS, strict=True):
                    chosen = [
                        r["ratio"]
                        for r in results
                        if (r["criterion"], r["family"], r["algorithm"], r["delta"], r["batch"])
                        == (criterion, family, name, delta, 1)
                    ]
                    if not chosen:
                        continue
                    low, middle, high = np.percentile(chosen, [5, 50, 95])
                    height = row + 0.22 * (number - (len(names) - 1) / 2) + nudge
                    colour = colours["new" if name == NEW[criterion] else name]
                    axis.plot([low, high], [height, height], color=colour, linewidth=1.2)
                    axis.plot(
                        middle,
                        height,
                        marks[delta],
                        color=colour,
                        markersize=4,
                        label=name if row == 0 and delta == 0.05 else None,
                    )
        axis.set_xscale("log")
        axis.axvline(1, color="#444", linewidth=1)
        axis.grid(axis="x", alpha=0.3)
        axis.set_title(f"{criterion.capitalize()} winner", fontsize=11)
        axis.set_xlabel("duels / information limit")
        axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncol=4, frameon=False)
    axes[0].set_yticks(range(len(SIZES)), list(SIZES))
    axes[0].invert_yaxis()
    figure.savefig(path, metadata={"Date": None} if str(path).endswith("svg") else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--runs", type=int, default=20, help="runs of the new algorithms per instance and delta"
    )
    parser.add_argument("--paper-runs", type=int, default=2, help="runs of the paper's")
    parser.add_argument("--batch", type=int, default=50, help="also ask so many at once")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", type=Path, help="a file to save the runs in, and to go on from")
    parser.add_argument("--without", action="append", default=[], help="leave an algorithm of the paper out")
    parser.add_argument("--plot", help="write a figure to this file")
    parser.add_argument("--means", action="store_true", help="only geometric means, of every mode")
    parser.add_argument("--first", type=int, default=0, help="with --means, the first seed")
    options = parser.parse_args()
    if options.means:
        means(options.runs, options.first, options.jobs, options.save)
        return
    todo = [
        job for job in jobs(options.runs, options.paper_runs, options.batch) if job[3] not in options.without
    ]
    results = [result for _, result in measured(run, todo, options.jobs, options.save, json.dumps)]
    table(results, options.batch)
    if options.plot:
        plot(results, options.plot)


if __name__ == "__main__":
    main()
