"""How often ballots are wrong with crowds of every kind, and what they cost. Prints Markdown tables.

    PYTHONPATH=.:tests python benchmarks/ballots.py                     some 40 minutes on one core
    PYTHONPATH=.:tests python benchmarks/ballots.py --runs 30 --seeds 1     a quick look
    PYTHONPATH=.:tests python benchmarks/ballots.py --only costs

The settings are in benchmarks/error_rates/crowds.py. Wrong: the true winner was ruled out at some time.
Costs are geometric means over instances whose information limit is alike.
"""

import argparse
import json
import time

import numpy as np
from benchmarks.error_rates import simulated_crowds as crowds
from benchmarks.error_rates.crowds import DELTA, SOUND, WRONG

import duelmatch as dm
from duelmatch.experiments.simulation import clopper_pearson
from duelmatch.explorers.ballots.explorer import BallotExplorer

CRITERIA = ("condorcet", "borda")
NEAREST = ("exact ties, a given line-up ruled out",)
"""Where the error is nearest to delta there are four times as many runs."""

COSTS = {
    "ballots of 1": {"ballot_size": 1},
    "ballots of 4": {"ballot_size": 4},
    "ballots of 10": {"ballot_size": 10},
    "ballots of 10, 20 voters at a time": {"ballot_size": 10, "together": 20},
    "one ranking of 4": {"ballot_size": 6, "question_size": 4},
}


def errors(runs, wrong_runs):
    """Print how often the winner is ruled out."""
    print(f"\n### Winner ruled out, delta = {DELTA:g}\n")
    print("| crowd | criterion | runs | wrong | rate | 95% interval |\n|---|---|---|---|---|---|")
    for settings, count, label in ((SOUND, runs, ""), (WRONG, wrong_runs, "*wrong way:* ")):
        for name, play in settings.items():
            times = count * 4 if name in NEAREST else count
            for criterion in CRITERIA:
                found = sum(bool(play(criterion, seed)) for seed in range(times))
                low, high = clopper_pearson(found, times, 0.95)
                print(
                    f"| {label}{name} | {criterion} | {times} | {found} | {found / times:.3f} "
                    f"| {low:.3f} to {high:.3f} |",
                    flush=True,
                )


def instances(criterion, count=10, candidates=5, positions=3):
    """Return crowds of consistent voters, with their winners."""
    names = [f"c{number}" for number in range(candidates)]
    problem = dm.Problem.complete(names, [f"s{number}" for number in range(positions)])
    found, seed = [], 0
    while len(found) < count:
        seed += 1
        strengths = np.random.default_rng(seed).normal(0, 0.5, problem.graph.edges)
        crowd = crowds.consistent(problem, strengths)
        preferences = crowd.preferences
        winner = preferences.borda_winner() if criterion == "borda" else preferences.condorcet_winner()
        if winner is not None and 50 < dm.theory.information_limit(preferences, criterion).lower < 500:
            found.append((crowd, winner))
    return found


def mean(values):
    return float(np.exp(np.mean(np.log(values))))


def costs(seeds):
    """Print answers and voters until the winner is certified, delta = 0.05."""
    print("\n### Cost, consistent voters, 5 candidates, 3 positions, delta = 0.05\n")
    print("| | criterion | questions | over ballots of 1 | voters | wrong | ballots a second |")
    print("|---" * 7 + "|")
    for criterion in CRITERIA:
        found = instances(criterion)
        assumed = {"assume_winner": True} if criterion == "condorcet" else {}
        duels = mean(
            [
                dm.simulate(crowd.preferences, criterion, seed=seed, **assumed).duels
                for crowd, _ in found
                for seed in range(seeds)
            ]
        )
        print(f"| single duels (frugal) | {criterion} | {duels:,.0f} | | {duels:,.0f} | | |")
        single = None
        for name, settings in COSTS.items():
            settings = dict(settings)
            together = settings.pop("together", 1)
            answers, voters, wrong, began = [], [], 0, time.process_time()
            for crowd, winner in found:
                for seed in range(seeds):
                    run = BallotExplorer(crowd.problem, criterion, 0.05, seed, **settings, **assumed)
                    crowds.hold(
                        run, crowd, np.random.default_rng([seed, 5]), 10**6, together=together,
                        at_once=10**6 if together == 1 else 1,
                    )  # fmt: skip
                    answers.append(run.answers)
                    voters.append(len(run.state.ballots))
                    wrong += run.result.matching != winner
            speed = sum(voters) / (time.process_time() - began)
            single = single or mean(answers)
            print(
                f"| {name} | {criterion} | {mean(answers):,.0f} | {mean(answers) / single:.2f} "
                f"| {mean(voters):,.0f} | {wrong} of {len(answers)} | {speed:,.0f} |",
                flush=True,
            )


def restoring(ballots=10_000):
    """Print how long it takes to read a log of ballots of 10 about 100 edges, and to see what follows."""
    print(f"\n### Reading a log of {ballots:,} ballots of 10, 100 edges, seconds\n")
    print("| candidates x positions | criterion | answers | parsing JSON | noting events | what follows |")
    print("|---" * 6 + "|")
    for candidates, positions in ((10, 10), (50, 2)):
        names = [f"c{number}" for number in range(candidates)]
        problem = dm.Problem.complete(names, [f"s{number}" for number in range(positions)])
        crowd = crowds.consistent(problem, np.zeros(problem.graph.edges))
        for criterion in CRITERIA:
            log = []
            run = BallotExplorer(
                problem, criterion, 1e-9, 1, record=lambda e, log=log: log.append(json.dumps(e))
            )
            crowds.hold(run, crowd, np.random.default_rng(2), ballots)
            seconds = [time.process_time()]
            events = [json.loads(line) for line in log]
            seconds.append(time.process_time())
            again = BallotExplorer(problem, criterion, 1e-9, 1)
            for event in events:
                again.note(event)
            seconds.append(time.process_time())
            assert again.progress == run.progress
            seconds.append(time.process_time())
            took = " | ".join(f"{second:.2f}" for second in np.diff(seconds))
            print(f"| {candidates} x {positions} | {criterion} | {run.answers:,} | {took} |", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--wrong-runs", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--only", choices=("errors", "costs", "restoring"))
    chosen = parser.parse_args()
    if chosen.only in (None, "restoring"):
        restoring()
    if chosen.only in (None, "costs"):
        costs(chosen.seeds)
    if chosen.only in (None, "errors"):
        errors(chosen.runs, chosen.wrong_runs)


if __name__ == "__main__":
    main()
