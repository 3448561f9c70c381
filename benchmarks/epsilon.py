"""What does an epsilon buy where nothing is taken for granted? Duels, and errors, beside those of 0.1.0.

Instances: real votes (real_votes.py) and tastes that are not transitive: all probabilities drawn from
[0.2, 0.8] (``uniform``), or circles, where each candidate beats the next ones with 0.7. A run ends after MOST
duels. The script keeps to what 0.1.0 knows too, so that it can be run with either installed:

    python benchmarks/epsilon.py --runs 8 --save new.json
    python benchmarks/epsilon.py --runs 8 --save new.json --before old.json        a table of both
"""

import argparse
import json
import time
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
from real_votes import real_votes

import duelmatch as dm

DELTA = 0.05
MOST = 40_000
EPSILONS = (0.2, 0.1)
INSTANCES = {
    "real votes 8 x 4": ("real", 8, 4, 0),
    "random 6 x 4, seed 3": ("random", 6, 4, 3),
    "random 6 x 3, seed 5": ("random", 6, 3, 5),
    "random 6 x 3, seed 6": ("random", 6, 3, 6),
    "random 5 x 3, seed 2": ("random", 5, 3, 2),
    "random 6 x 4, seed 11": ("random", 6, 4, 11),
    "random 5 x 5, seed 12": ("random", 5, 5, 12),
    "random 8 x 2, seed 13": ("random", 8, 2, 13),
    "circles 5 x 3": ("circles", 5, 3, 1),
}


@cache
def instance(name):
    """Return the preferences, the worst defeat per position of each matching, and its Borda score."""
    kind, candidates, positions, seed = INSTANCES[name]
    if kind == "real":
        preferences, _ = real_votes(candidates)
    elif kind == "random":
        preferences = dm.instances.uniform(candidates, positions, low=0.2, high=0.8, seed=seed)
    else:
        preferences = circles(candidates, positions, seed)
    names, places = preferences.problem.candidates, preferences.problem.positions
    everyone = [
        dm.Matching(dict(zip(places, some, strict=True))) for some in permutations(names, len(places))
    ]
    win = np.array(
        [
            [[0.5 if a == b else preferences.probability(p, a, b) for b in names] for a in names]
            for p in places
        ]
    )
    chosen = np.array(list(permutations(range(len(names)), len(places))))
    score = sum(win[j][np.ix_(chosen[:, j], chosen[:, j])] for j in range(len(places))) / len(places)
    defeat, borda = 0.5 - score.min(axis=1), score.mean(axis=1)
    truth = {matching: (float(d), float(b)) for matching, d, b in zip(everyone, defeat, borda, strict=True)}
    return preferences, truth, float(defeat.min())


def circles(candidates, positions, seed):
    """Return tastes that run in a circle at every position, each in an order of its own."""
    rng = np.random.default_rng(seed)
    names = [f"c{number}" for number in range(candidates)]
    places = [f"p{number}" for number in range(positions)]
    wins = {}
    for place in places:
        order = rng.permutation(candidates)
        for i in range(candidates):
            for step in range(1, (candidates + 1) // 2):
                wins[place, names[order[i]], names[order[(i + step) % candidates]]] = 0.7
    return dm.Preferences(dm.Problem.complete(names, places), wins)


def play(name, criterion, epsilon, seed):
    """Return the duels of one run, how it ended, and whether what it says is right."""
    preferences, truth, least = instance(name)
    parameters = {"assume_winner": False} if criterion == "condorcet" else {}
    began = time.process_time()
    run = dm.explorer(criterion, preferences.problem, delta=DELTA, seed=seed, epsilon=epsilon, **parameters)
    answers = np.random.default_rng([seed, 2])
    while not run.done and run.duels < MOST:
        wanted = run.wanted()
        run.tell_wins(answers.binomial(wanted.count, preferences.matrix[wanted.first, wanted.second]))
    status = run.result.status if run.done else "given up"
    right = True
    if status in ("certified", "within_epsilon"):
        allowed = 1e-9 if status == "certified" else epsilon
        best = max(borda for _, borda in truth.values())
        defeat, borda = truth[run.result.matching]
        right = (defeat if criterion == "condorcet" else best - borda) <= allowed + 1e-9
    elif status == "no_winner":
        right = least > 1e-9
    seconds = time.process_time() - began
    return {"duels": min(run.duels, MOST), "status": status, "right": right, "seconds": seconds}


def table(new, old):
    """Print the medians, a row per instance, old and new."""
    columns = [(criterion, epsilon) for criterion in ("condorcet", "borda") for epsilon in EPSILONS]
    print("| instance (least worst defeat) | " + " | ".join(f"{c} {e}" for c, e in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    factors = {column: [] for column in columns}
    for name in INSTANCES:
        cells = []
        for criterion, epsilon in columns:
            now, before = (chosen(runs, name, criterion, epsilon) for runs in (new, old))
            if not now:
                cells.append("")
                continue
            ends = sorted({run["status"] for run in now} - {"within_epsilon"})
            text = f"{np.median([run['duels'] for run in now]):,.0f}"
            if before:
                middle = np.median([run["duels"] for run in before])
                text = f"{middle:,.0f} -> {text}"
                factors[criterion, epsilon].append(middle / np.median([run["duels"] for run in now]))
            cells.append(text + (f" ({', '.join(ends)})" if ends else ""))
        print(f"| {name} ({instance(name)[2]:.3f}) | " + " | ".join(cells) + " |")
    if old:
        means = [f"{np.exp(np.mean(np.log(factors[c]))):.1f}" if factors[c] else "" for c in columns]
        print("| times fewer, geometric mean | " + " | ".join(means) + " |")
    for label, runs in (("before", old), ("now", new)):
        if runs:
            wrong = sum(not run["right"] for run in runs.values())
            seconds, duels = (sum(run[key] for run in runs.values()) for key in ("seconds", "duels"))
            print(f"\n{label}: {wrong} wrong of {len(runs)}, {1e6 * seconds / duels:.1f} us a duel")


def chosen(runs, name, criterion, epsilon):
    start = f"{name}|{criterion}|{epsilon}|"
    return [run for key, run in runs.items() if key.startswith(start)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--save", type=Path, required=True, help="a file to save the runs in, and to go on from"
    )
    parser.add_argument("--before", type=Path, help="runs of another version, to stand beside")
    parser.add_argument("--only", choices=("condorcet", "borda"))
    options = parser.parse_args()
    found = json.loads(options.save.read_text()) if options.save.exists() else {}
    for seed in range(options.first, options.first + options.runs):
        for name in INSTANCES:
            for criterion in (options.only,) if options.only else ("condorcet", "borda"):
                for epsilon in EPSILONS:
                    key = f"{name}|{criterion}|{epsilon}|{seed}"
                    if key not in found:
                        found[key] = play(name, criterion, epsilon, seed)
                        options.save.write_text(json.dumps(found))
    table(found, json.loads(options.before.read_text()) if options.before else {})


if __name__ == "__main__":
    main()
