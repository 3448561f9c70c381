"""Measure how often the algorithms are wrong, and write the page that says so: ``make stats``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Hashable, Iterable
from itertools import product
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

from benchmarks.error_rates import beyond, frugal, frugal_page, page
from benchmarks.error_rates.families import FAMILIES
from benchmarks.error_rates.frugal import Setting, broken_settings, run_ballots, run_setting, settings
from benchmarks.error_rates.saving import measured
from benchmarks.error_rates.schedules import compare, run_both
from benchmarks.error_rates.trials import (
    ARMS,
    CRITERIA,
    INSTANCES,
    Case,
    Task,
    Trial,
    run_single,
    run_task,
    run_trial,
    summarise,
)

from duelmatch.preferences import Criterion
from duelmatch.theory import lower_bound

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


def repeated(setting: Setting, runs: int) -> int:
    """Return how often a setting is run, so that every family has ``runs`` runs at least."""
    if setting.variant == "perhaps none" and "no winner" in setting.family:
        return runs
    if setting.variant:
        return max(1, runs // 16)
    return runs if setting.family == "a losing edge" else max(1, runs // 2)  # condorcet's half, and borda's


def frugal_tasks(runs: int) -> list[Task]:
    """Return the runs of condorcet and borda, all settings side by side."""
    todo = [(setting, run, repeated(setting, runs)) for setting in settings() for run in range(runs)]
    todo += [(setting, run, max(1, runs // 10)) for setting in broken_settings() for run in range(runs)]
    todo = sorted((entry for entry in todo if entry[1] < entry[2]), key=lambda entry: entry[1] / entry[2])
    return [(setting, run_setting, (setting, run)) for setting, run, _ in todo]


def beyond_tasks(runs: int) -> list[Task]:
    """Return the runs with capacities, seats, weights and rules, all rows side by side."""
    todo: list[Task] = []
    for run in range(runs):
        for row in beyond.rows():
            setting = Setting(*row)
            todo.append((setting, run_ballots if setting.variant else run_setting, (setting, run)))
        for panel in beyond.panel_rows():
            todo.append((("panel", *panel), beyond.run_panel, (*panel, run)))
    return todo


def key(task: Task) -> str:
    what, _, arguments = task
    return repr((what, arguments))


def measure(todo: list[Task], jobs: int, path: Path | None) -> dict[Hashable, list[Any]]:
    """Run all tasks and gather their results by what they belong to, saying on stderr how far it is."""
    results: dict[Hashable, list[Any]] = {what: [] for what, _, _ in todo}
    started = said = monotonic()
    fresh = 0
    for done, (task, result) in enumerate(measured(run_task, todo, jobs, path, key), start=1):
        what, function, _ = task
        fresh += isinstance(result, tuple)  # what was saved comes back as a list
        results[what].append(tuple(result) if function is run_both else Trial(*result))
        if monotonic() - said > 5 or done == len(todo):
            said = monotonic()
            minutes = (said - started) / 60
            rest = minutes * (len(todo) - done) / max(fresh, 1)
            said_so_far = f"{done:,} of {len(todo):,} runs, {minutes:.0f} min, about {rest:.0f} left "
            print(f"\r{said_so_far}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(prog="error_rates", description=__doc__)
    parts = ("paper", "frugal", "beyond", "all")
    parser.add_argument("--part", choices=parts, default="all", help="what to measure")
    parser.add_argument("--runs", type=int, default=300, help="runs of each case of the paper's (300)")
    parser.add_argument(
        "--frugal-runs", type=int, default=2000, help="runs of each row of condorcet and borda (2000)"
    )
    parser.add_argument(
        "--beyond-runs", type=int, default=500, help="runs of each row with capacities, seats and rules (500)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--out", type=Path, help="the page to write; standard output unless given")
    parser.add_argument(
        "--save", type=Path, help="save results here until the page is written, to go on after Ctrl-C"
    )
    options = parser.parse_args()
    todo: list[Task] = []
    if options.part in ("paper", "all"):
        todo += tasks(options.runs)
        Random(0).shuffle(todo)  # so that what is left takes as long as what is done
    if options.part in ("frugal", "all"):
        todo += frugal_tasks(options.frugal_runs)
    if options.part in ("beyond", "all"):
        todo += beyond_tasks(options.beyond_runs)
    try:
        results = measure(todo, options.jobs, options.save)
    except KeyboardInterrupt:
        print("\nStopped; no page was written.", file=sys.stderr)
        return 130
    text = "" if options.out is None or not options.out.exists() else options.out.read_text(encoding="utf-8")
    failing = []
    if options.part in ("paper", "all"):
        text, failed = paper_page(options.runs, results, text)
        failing += failed
    if options.part in ("frugal", "all"):
        text, failed = frugal_section(options.frugal_runs, results, text)
        failing += failed
    if options.part in ("beyond", "all"):
        text, failed = beyond_section(options.beyond_runs, results, text)
        failing += failed
    if options.out is None:
        print(text)
    else:
        options.out.write_text(text, encoding="utf-8")
    if options.save is not None:
        options.save.unlink(missing_ok=True)  # what it had is on the page now
    for sentence in failing:
        print(sentence, file=sys.stderr)
    return 1 if failing else 0


def paper_page(runs: int, results: dict[Hashable, list[Any]], old: str) -> tuple[str, list[str]]:
    """Return the page with the section about condorcet and borda as it was, and what is wrong too often."""
    cases = {what: summarise(trials) for what, trials in results.items() if isinstance(what, Case)}
    comparisons = {key: compare(results[key]) for key in product(CRITERIA, SCHEDULE_FAMILIES)}
    single = {key: summarise(results[key]) for key in product(page.SINGLE_ALGORITHMS, ARMS)}
    text = page.render(runs, cases, comparisons, single)
    failing = [
        f"Wrong too often: {case}: {summary.wrong} of {summary.runs}"
        for case, summary in cases.items()
        if case.factor == 1 and summary.wrong > case.delta * summary.runs
    ]
    for heading in (frugal_page.HEADING, beyond.HEADING):
        if section := frugal_page.section_of(old, heading):
            text = frugal_page.replace_section(text, section, heading)
    return text, failing


def frugal_section(runs: int, results: dict[Hashable, list[Any]], old: str) -> tuple[str, list[str]]:
    """Return the page with a new section about condorcet and borda, and what is wrong too often."""
    rows = {setting: summarise(results[setting]) for setting in (*settings(), *broken_settings())}
    failing = [
        f"Wrong too often: {setting}: {summary.wrong} of {summary.runs}"
        for setting, summary in rows.items()
        if not setting.broken and summary.interval[0] > frugal.DELTA
    ]
    return frugal_page.replace_section(old, frugal_page.render(runs, rows)), failing


def beyond_section(runs: int, results: dict[Hashable, list[Any]], old: str) -> tuple[str, list[str]]:
    """Return the page with a new section about decisions beyond one-to-one, and what is wrong too often."""
    rows = {row: summarise(results[Setting(*row)]) for row in beyond.rows()}
    limits = {row: beyond_limit(*row) for row in beyond.panel_rows()}
    panels = {row: summarise(results["panel", *row]) for row in beyond.panel_rows()}
    failing = [
        f"Wrong too often: {row}: {summary.wrong} of {summary.runs}"
        for row, summary in rows.items()
        if summary.interval[0] > frugal.DELTA
    ]
    failing += [f"A panel was wrong: {row}" for row, summary in panels.items() if summary.wrong]
    section = beyond.render(runs, rows, limits, panels, frugal.DELTA)
    return frugal_page.replace_section(old, section, beyond.HEADING), failing


def beyond_limit(algorithm: Criterion, family: str) -> float:
    """Return the mean information limit over the instances of a family, in duels."""
    drawn = [frugal.instance(family, algorithm, number) for number in range(INSTANCES)]
    return sum(lower_bound(preferences, algorithm, frugal.DELTA) for preferences in drawn) / INSTANCES


if __name__ == "__main__":
    sys.exit(main())
