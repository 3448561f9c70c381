"""Play the peers and duelmatch on the same instances, and write docs/peers.md.

    python -m peers --runs 3                                      a quick look, printed
    python -m peers --save build/peers.jsonl --out docs/peers.md  all of it, resumed where it stopped

with PYTHONPATH=benchmarks, in an environment that has the group `peers`: `make peers` makes one.
"""

import argparse
import json
import time
from pathlib import Path

import budget as rules
import numpy as np
from error_rates.saving import measured, saved

from duelmatch.models.standings import standings_from_counts
from peers.askers import ASKERS
from peers.page import render
from peers.readers import READERS, Answers, fitted
from peers.stopping import STOPS, stopped

BUDGETS = (100, 300, 1_000)
FIRST_SEED = 2_000
"""Nothing was tuned on instances from here on."""
RUNS = 36
SLOW, SLOW_EVERY = "arena-rank", 6
"""It compiles every fit, which takes a second and more for each position: it plays one run in so many."""
SLOW_CELLS = (("Bradley-Terry", (8, 4, 1)), ("real votes", (12, 4, 1)))
"""Where arena-rank plays with several positions; with one it plays everywhere."""
CELLS = (
    ("Bradley-Terry", (8, 4, 1)), ("Bradley-Terry", (12, 6, 1)), ("random", (8, 4, 1)),
    ("planted", (8, 4, 1)), ("sparse", (10, 8, 0.3)), ("real votes", (8, 4, 1)), ("real votes", (12, 4, 1)),
    ("Bradley-Terry", (8, 1, 1)), ("Bradley-Terry", (16, 1, 1)), ("random", (8, 1, 1)),
    ("real votes", (12, 1, 1)),
)  # fmt: skip
STOPPING = (("Bradley-Terry", (5, 1, 1)), ("Bradley-Terry", (8, 1, 1)))
STOPPING_RUNS = 20
METHODS = ("duelmatch", "duelmatch standings", "Thompson", "Crowd-BT", *ASKERS, *READERS)


def tasks(runs):
    """Yield all there is to do, the quick ones first, so that a run that was stopped shows most of it."""
    for number in range(runs):
        for family, size in CELLS:
            for method in METHODS:
                if method != SLOW:
                    yield "budget", family, size, method, FIRST_SEED + number
        if number < STOPPING_RUNS:
            for family, size in STOPPING:
                for method in STOPS:
                    if not method.startswith(SLOW):
                        yield "stop", family, size, method, FIRST_SEED + number
        if number % SLOW_EVERY == SLOW_EVERY - 1:
            seed = FIRST_SEED + number // SLOW_EVERY
            for family, size in CELLS:
                if size[1] == 1 or (family, size) in SLOW_CELLS:
                    yield "budget", family, size, SLOW, seed
            for family, size in STOPPING:
                yield "stop", family, size, f"{SLOW}, intervals apart", seed


def run(task):
    kind, family, size, method, seed = task
    real = family == "real votes"
    world = rules.world(family, tuple(size), seed if real and size[1] == 1 else None if real else seed)
    if kind == "stop":
        return stopped(method, world, seed)
    if method in ("duelmatch", "duelmatch standings", "Thompson", "Crowd-BT"):
        found = {criterion: played(method, world, criterion, seed) for criterion in rules.CRITERIA}
    else:
        found = blind(method, world, seed)
    seconds = max(seconds for _, seconds, _ in found.values())
    shortfalls = {criterion: shortfalls for criterion, (shortfalls, *_) in found.items()}
    return {**shortfalls, "seconds": seconds, "certified": sum(sure for *_, sure in found.values())}


def played(method, world, criterion, seed):
    """Return the shortfall at each budget, and the processor time of the largest and if it was certified."""
    if method in ("Thompson", "Crowd-BT"):
        began = time.process_time()
        return rules.PLAY[method](world, criterion, seed, BUDGETS), time.process_time() - began, False
    shortfalls, certified = [], False
    for budget in BUDGETS:
        answers = given(world, seed, budget)
        began = time.process_time()
        if method == "duelmatch":
            result = rules.play(world, criterion, seed, budget).result
            leader, certified = result.matching, result.status == "certified"
        else:
            wins, duels, ties = answers.counts()
            leader = standings_from_counts(world.problem, wins, duels, criterion, ties).leader
        seconds = time.process_time() - began
        shortfalls.append(world.shortfall(world.problem.edge_numbers(leader), criterion))
    return shortfalls, seconds, certified


def blind(method, world, seed):
    """Return the same of those who know no criterion: one line-up, judged by both."""
    shortfalls = {criterion: [] for criterion in rules.CRITERIA}
    for budget in BUDGETS:
        answers = given(world, seed, budget)
        began = time.process_time()
        if method in ASKERS:
            lineup = ASKERS[method](world, seed, budget)
        else:
            lineup = fitted(world, answers, READERS[method])
        seconds = time.process_time() - began
        for criterion, found in shortfalls.items():
            found.append(world.shortfall(lineup, criterion))
    return {criterion: (found, seconds, False) for criterion, found in shortfalls.items()}


def given(world, seed, number):
    """Return the first answers to pairs drawn evenly: the same for all who read them."""
    return Answers.drawn(world, BUDGETS[-1], np.random.default_rng([seed, 3])).first(number)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each cell")
    parser.add_argument("--save", type=Path, help="a file to save the runs in, and to go on from")
    parser.add_argument("--saved", action="store_true", help="play nothing: only what the file has")
    parser.add_argument("--out", type=Path, help="write the page here")
    options = parser.parse_args()
    todo = list(tasks(options.runs))
    if options.saved:
        had = saved(options.save)
        todo = [task for task in todo if json.dumps(task) in had]
    else:
        for method in METHODS[:4]:  # compile, so that no run is charged with it
            run(("budget", "Bradley-Terry", (3, 2, 1), method, 1))
    results = list(measured(run, todo, 1, options.save, json.dumps))
    page = render(results, BUDGETS, METHODS, options.runs)
    if options.out:
        options.out.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
