"""Measure how often the algorithms are wrong, and write the page that says so: ``make stats``."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Hashable, Iterable
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

from statistical import page
from statistical.families import FAMILIES
from statistical.schedules import compare, run_both
from statistical.single import ARMS, run_single
from statistical.trials import CRITERIA, Case, run_trial, summarise

DELTAS = (0.05, 0.2)
FACTORS = (0.3, 0.2, 0.15, 0.1)
"""How much the radii are narrowed to see whether errors would show."""

SCHEDULE_RUNS = {
    "clucb-borda-pac": 300,
    "clucb-borda-exact": 8,
    "car-cond": 30,
    "car-verify": 30,
    "car-parallel": 60,
}
SCHEDULE_FAMILIES = ("easy", "two candidates", "sparse", "one position")

Task = tuple[Hashable, Callable[..., Any], tuple[Any, ...]]
"""(what it belongs to, a function, its arguments)"""


def tasks(runs: int) -> Iterable[Task]:
    """Yield everything there is to run."""
    for algorithm, family, delta in product(CRITERIA, FAMILIES, DELTAS):
        case = Case(algorithm, family, delta)
        yield from ((case, run_trial, (case, run)) for run in range(runs))
    for algorithm, factor in product(CRITERIA, FACTORS):
        case = Case(algorithm, "near-tie", 0.2, factor)
        yield from ((case, run_trial, (case, run)) for run in range(max(1, runs // 3)))
    for algorithm, family in product(CRITERIA, SCHEDULE_FAMILIES):
        number = max(2, SCHEDULE_RUNS[algorithm] * runs // 300)
        yield from (((algorithm, family), run_both, (algorithm, family, run)) for run in range(number))
    for algorithm, arms in product(page.SINGLE_ALGORITHMS, ARMS):
        number = max(1, runs // 10)
        yield from (((algorithm, arms), run_single, (algorithm, arms, run)) for run in range(number))


def call(task: Task) -> tuple[Hashable, Any]:
    what, function, arguments = task
    return what, function(*arguments)


def measure(todo: list[Task], jobs: int) -> dict[Hashable, list[Any]]:
    """Run all tasks and gather their results by what they belong to, saying on stderr how far it is."""
    results: dict[Hashable, list[Any]] = {what: [] for what, _, _ in todo}
    started = said = monotonic()
    with Pool(jobs, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        for done, (what, result) in enumerate(pool.imap_unordered(call, todo, chunksize=5), start=1):
            results[what].append(result)
            if monotonic() - said > 5 or done == len(todo):
                said = monotonic()
                minutes = (said - started) / 60
                left = minutes * (len(todo) - done) / done
                print(
                    f"\r{done:,} of {len(todo):,} runs, {minutes:.0f} min, about {left:.0f} left ",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
    print(file=sys.stderr)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(prog="measure", description=__doc__)
    parser.add_argument("--runs", type=int, default=300, help="runs of each case (300)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--out", type=Path, help="the page to write; standard output unless given")
    options = parser.parse_args()
    try:
        todo = list(tasks(options.runs))
        Random(0).shuffle(todo)  # so that what is left takes as long as what is done
        results = measure(todo, options.jobs)
    except KeyboardInterrupt:
        print("\nStopped; nothing was written.", file=sys.stderr)
        return 130
    cases = {what: summarise(trials) for what, trials in results.items() if isinstance(what, Case)}
    comparisons = {key: compare(results[key]) for key in product(CRITERIA, SCHEDULE_FAMILIES)}
    single = {key: summarise(results[key]) for key in product(page.SINGLE_ALGORITHMS, ARMS)}
    text = page.render(options.runs, cases, comparisons, single)
    if options.out is None:
        print(text)
    else:
        options.out.write_text(text, encoding="utf-8")
    failing = [
        case
        for case, summary in cases.items()
        if case.factor == 1 and summary.wrong > case.delta * summary.runs
    ]
    for case in failing:
        print(f"Wrong too often: {case}: {cases[case].wrong} of {cases[case].runs}", file=sys.stderr)
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
