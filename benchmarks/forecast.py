"""Are forecasts right as often as they say? The number of answers that studies really take, beside the range.

    python benchmarks/forecast.py --cases 40

Every case is a study with judges or voters of its own, asked to the end. Before its first answer, and again
after some, it is forecast how many more it takes; a range that is right in 8 of 10 cases has the real number
in it that often. Judges rank by utilities: strengths with a spread, and tastes; in `camps` two halves have
strengths of their own, which no strengths of the model explain.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from time import process_time

import numpy as np

import duelmatch as dm
from duelmatch.explorers.result import Forecast

SPREADS = (0.3, 0.6, 1.2)
MOST_ANSWERS = 4_000
"""Studies of a crowd are followed so far."""


def panel_study(candidates: int, positions: int, judges: int, spread: float, camps: int, seed: int):
    """Return a run, and what lets one judge answer one question."""
    problem = dm.Problem.complete([f"c{n}" for n in range(candidates)], [f"p{n}" for n in range(positions)])
    rng = np.random.default_rng([seed, 1])
    strengths = spread * rng.standard_normal((camps, problem.graph.edges))
    utility = strengths[np.arange(judges) % camps] + rng.gumbel(size=(judges, problem.graph.edges))
    edge = {each: number for number, each in enumerate(problem.edges)}
    run = dm.explorer("panel", problem, voters=[str(n) for n in range(judges)])

    def turn() -> int:
        given = 0
        for judge in rng.permutation(judges).tolist():
            for question in run.ask(1, voter=str(judge)):
                run.tell(question, liked(question, utility[judge], edge))
                given += 1
        return given

    return run, turn


def crowd_study(candidates: int, positions: int, criterion: str, spread: float, seed: int):
    """Return a run of voters who rank, and what lets one of them fill in a ballot."""
    problem = dm.Problem.complete([f"c{n}" for n in range(candidates)], [f"p{n}" for n in range(positions)])
    rng = np.random.default_rng([seed, 2])
    strengths = spread * rng.standard_normal(problem.graph.edges)
    edge = {each: number for number, each in enumerate(problem.edges)}
    run = dm.explorer(criterion, problem, seed=seed).ballots

    def turn() -> int:
        utility = strengths + rng.gumbel(size=len(strengths))
        questions = run.ask(100, voter=f"v{len(run.state.parts)}")
        for question in questions:
            run.tell(question, liked(question, utility, edge))
        return len(questions)

    return run, turn


def liked(question, utility, edge):
    """Return the candidate that somebody likes best."""
    return max(question.candidates, key=lambda name: utility[edge[name, question.position]])


def judged(found: Forecast, actual: int | None) -> tuple[bool, bool]:
    """Return whether the real number (None: more than was followed) is in the range, and if it has an end."""
    real = float("inf") if actual is None else actual
    low = found.low if found.low is not None else (found.simulated or 0)
    high = float("inf") if found.high is None else found.high
    return low <= real <= high, found.high is not None


def main() -> None:
    """Run the cases, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=40, help="cases of each kind and spread")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", help="kinds that contain this")
    parser.add_argument("--seconds", type=float, default=4.0, help="seconds of a processor for a forecast")
    options = parser.parse_args()
    kinds = {
        "panel 5 x 3, 20 judges": (lambda spread, seed: panel_study(5, 3, 20, spread, 1, seed), 100),
        "panel 8 x 4, 20 judges": (lambda spread, seed: panel_study(8, 4, 20, spread, 1, seed), 200),
        "panel 5 x 3, two camps": (lambda spread, seed: panel_study(5, 3, 20, spread, 2, seed), 100),
        "crowd 4 x 1, condorcet": (lambda spread, seed: crowd_study(4, 1, "condorcet", spread, seed), 100),
        "crowd 3 x 2, borda": (lambda spread, seed: crowd_study(3, 2, "borda", spread, seed), 100),
    }
    print("| study | forecast after | cases | in the range | with an end | middle / real (median) |")
    print("|---|---|---|---|---|---|")
    pooled: dict[str, list[bool]] = defaultdict(list)
    for kind, (begin, some) in kinds.items():
        if options.only and options.only not in kind:
            continue
        rows: dict[int, list[tuple[bool, bool, float | None]]] = defaultdict(list)
        began = process_time()
        for spread in SPREADS:
            for seed in range(options.first, options.first + options.cases):
                run, turn = begin(spread, seed)
                given, forecasts = 0, {}
                while not run.done and given < MOST_ANSWERS:
                    for moment in (0, some):
                        if given >= moment and moment not in forecasts:
                            found = dm.forecast(run, simulations=9, seconds=options.seconds, seed=seed)
                            forecasts[moment] = given, found
                    given += turn()
                actual = given if run.done else None
                for moment, (before, found) in forecasts.items():
                    left = None if actual is None else actual - before
                    inside, ended = judged(found, left)
                    ratio = found.middle / left if found.middle and left else None
                    rows[moment].append((inside, ended, ratio))
        for moment, cases in sorted(rows.items()):
            ratios = [ratio for _, _, ratio in cases if ratio is not None]
            middle = f"{np.median(ratios):.2f}" if ratios else ""
            inside, ended = (np.mean([case[place] for case in cases]) for place in (0, 1))
            pooled["all"] += [case[0] for case in cases]
            print(f"| {kind} | {moment} | {len(cases)} | {inside:.0%} | {ended:.0%} | {middle} |")
        print(f"{kind}: {process_time() - began:.0f} s of a processor", file=sys.stderr, flush=True)
        sys.stdout.flush()
    print(f"| all | | {len(pooled['all'])} | {np.mean(pooled['all']):.1%} | | |")


if __name__ == "__main__":
    main()
