"""How long does the next question take on large problems? Prints a Markdown table.

One question at a time, from `tell` of the last answer to the next duel in hand, after the first.
"""

import time

import numpy as np

import duelmatch as dm

QUESTIONS = 1500


def measure(preferences, algorithm):
    """Return the time to start and for each further question, in milliseconds."""
    rng = np.random.default_rng(0)
    began = time.perf_counter()
    assumed = {"assume_winner": True} if algorithm == "condorcet" else {}
    run = dm.explorer(algorithm, preferences.problem, seed=1, **assumed)
    (duel,) = run.ask(1)
    start = time.perf_counter() - began
    times = []
    for _ in range(QUESTIONS):
        first_wins = rng.random() < preferences.probability(duel.position, duel.first, duel.second)
        began = time.perf_counter()
        run.tell(duel, duel.first if first_wins else duel.second)
        asked = run.ask(1)
        times.append(time.perf_counter() - began)
        if not asked:
            break
        (duel,) = asked
    return 1e3 * start, 1e3 * np.array(times)


def main():
    large = dm.instances.planted(100, 20, gap=0.2, noise=0.1, seed=1)
    sparse = dm.instances.planted(60, 60, gap=0.2, noise=0.1, density=0.06, seed=1)
    small = dm.instances.planted(8, 8, gap=0.2, noise=0.1, seed=1)
    print(
        "| problem | algorithm | first | median | mean | 99% | longest (ms) |\n|---|---|---|---|---|---|---|"
    )
    for name, preferences in (("8 x 8", small), ("100 x 20", large), ("60 x 60, sparse", sparse)):
        for algorithm in ("condorcet", "borda"):
            dm.simulate(small, algorithm, max_duels=50)  # compile
            try:
                start, times = measure(preferences, algorithm)
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
