"""How long does the next question take on large problems? Prints a Markdown table.

One question at a time, from `tell` of the last answer to the next duel in hand, after the first, in
milliseconds of processor time. Problems with capacities, seats or rules come last, with panels of five
judges. There Borda counts against a random candidate of each position, as counting is out of reach.
"""

import argparse
import time

import numpy as np

import duelmatch as dm

CANDIDATES = "borda, against candidates"
JUDGES = ["ann", "bob", "cyd", "dee", "eve"]


def measure(preferences, algorithm, questions):
    """Return the time to start and for each further question, in milliseconds."""
    rng = np.random.default_rng(0)
    began = time.process_time()
    if algorithm == "panel":
        run = dm.explorer("panel", preferences.problem, voters=JUDGES)
    elif algorithm == "condorcet":
        run = dm.explorer(algorithm, preferences.problem, seed=1, assume_winner=True)
    elif algorithm == CANDIDATES:
        run = dm.explorer("borda", preferences.problem, seed=1, reference="candidates")
    else:
        run = dm.explorer(algorithm, preferences.problem, seed=1)
    (duel,) = run.ask(1)
    start = time.process_time() - began
    times = []
    for _ in range(questions):
        first, second = duel.candidates
        first_wins = rng.random() < preferences.probability(duel.position, first, second)
        began = time.process_time()
        run.tell(duel, first if first_wins else second)
        asked = run.ask(1)
        times.append(time.process_time() - began)
        if not asked:
            break
        (duel,) = asked
    return 1e3 * start, 1e3 * np.array(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1500, help="for each row (1500)")
    parser.add_argument("--only", default="", help="problems whose name has this in it")
    options = parser.parse_args()
    planted = dm.instances.planted
    both = ("condorcet", "borda")
    rows = [
        ("8 x 8", planted(8, 8, gap=0.2, noise=0.1, seed=1), both),
        ("100 x 20", planted(100, 20, gap=0.2, noise=0.1, seed=1), both),
        ("60 x 60, sparse", planted(60, 60, gap=0.2, noise=0.1, density=0.06, seed=1), both),
        ("200 x 50", planted(200, 50, gap=0.2, noise=0.1, seed=1), ("condorcet", CANDIDATES)),
        (
            "30 x 20, ten rules",
            planted(30, 20, gap=0.2, noise=0.1, rules=10, seed=1),
            ("condorcet", CANDIDATES, "panel"),
        ),
        (
            "100 x 20, capacities",
            planted(100, 20, gap=0.2, noise=0.1, capacity=2, seed=1),
            ("condorcet", CANDIDATES, "panel"),
        ),
        (
            "100 x 20, capacities and seats",
            planted(100, 20, gap=0.2, noise=0.1, capacity=2, seats=2, seed=1),
            ("condorcet", CANDIDATES, "panel"),
        ),
    ]
    print(
        "| problem | algorithm | first | median | mean | 99% | longest (ms) |\n|---|---|---|---|---|---|---|"
    )
    small = rows[0][1]
    for name, preferences, algorithms in rows:
        if options.only not in name:
            continue
        for algorithm in algorithms:
            if algorithm in both:
                dm.simulate(small, algorithm, max_duels=50)  # compile
            try:
                start, times = measure(preferences, algorithm, options.questions)
            except dm.TooLargeError:
                print(f"| {name} | {algorithm} | refused: its exact marginals are out of reach | | | | |")
                continue
            print(
                f"| {name}, {preferences.problem.graph.edges:,} edges | {algorithm} | {start:.0f} "
                f"| {np.median(times):.2f} | {times.mean():.2f} | {np.percentile(times, 99):.0f} "
                f"| {times.max():.0f} |"
            )


if __name__ == "__main__":
    main()
