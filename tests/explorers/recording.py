"""Runs of every algorithm, put down as digests: what was asked, in what order, and what came of it.

``recorded_runs.json`` beside this file holds the digests; a change that is not meant to change any run leaves
them as they are. After a change that is meant to, record anew and say so in the commit:

    python tests/explorers/recording.py --check     play all of them, and list those that have changed
    python tests/explorers/recording.py             record anew
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

import duelmatch as dm

FILE = Path(__file__).with_name("recorded_runs.json")
MOST_DUELS = 1_500
ASKED = 150

VARIANTS = {
    "condorcet": [
        {"assume_winner": True},
        {"assume_winner": True, "epsilon": 0.1},
        {"assume_winner": False},
        {"assume_winner": False, "epsilon": 0.05},
        {"assume_winner": True, "batch": 7},
    ],
    "borda": [{}, {"epsilon": 0.05}, {"batch": 7}],
    "clucb-borda-pac": [{}, {"epsilon": 0.2, "schedule": "every"}],
    "clucb-borda-exact": [{}, {"schedule": "every"}],
    "car-cond": [{}, {"schedule": "every"}, {"oracle": "subgradient"}],
    "car-verify": [{}, {"schedule": "every"}],
    "car-parallel": [{}, {"schedule": "every"}],
}


def instances():
    """Return the problems by name: with a winner and without, complete and sparse, narrow and clear."""
    make = dm.instances
    row = dm.Problem.from_edges([(f"c{i}", f"s{j}") for j in range(3) for i in (j, j + 1)])
    clear = np.where(np.triu(np.ones((6, 6)), 1) > 0, 0.85, 0.15) + 0.35 * np.eye(6)
    return {
        "paper": make.paper_example(),
        "lineup": make.example("lineup"),
        "clear": make.planted(4, 3, gap=0.4, seed=3),
        "random": make.uniform(3, 2, low=0.1, high=0.9, seed=5),
        "strengths": make.bradley_terry(5, 3, spread=1.5, seed=2),
        "sparse": make.planted(6, 4, gap=0.3, density=0.5, seed=1),
        "no winner": make.cyclic(3, 2, strength=0.4),
        "two candidates": dm.Preferences.from_matrix(row, clear),
        "one position": make.planted(5, 1, gap=0.3, seed=4),
        "many": make.planted(8, 8, gap=0.4, noise=0.4, seed=0),
    }


def digest(content):
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def number(value):
    return None if value is None else float(f"{value:.9g}")


def outcome(run):
    """Return what a run says about itself, as plain data."""
    result, progress = run.result, run.progress
    estimated = result.status == "no_winner"  # the least beaten one
    return [
        result.status,
        None if result.matching is None or estimated else dict(result.matching),
        result.duels,
        number(result.delta),
        number(result.epsilon),
        bool(result.assuming),
        progress.accepted,
        progress.rejected,
        None if progress.leader is None or estimated else dict(progress.leader),
        number(progress.gap),
        progress.duels_left,
        number(progress.p_value),
        progress.possible,
        [dict(matching) for matching in progress.possible_winners],
    ]


def whole_rounds(preferences, algorithm, seed, parameters):
    """Return the digest of a simulated run: every round, every answer, the end."""
    run = dm.explorer(algorithm, preferences.problem, 0.1, seed, MOST_DUELS, **parameters)
    rng = np.random.default_rng([seed, 2])
    played = hashlib.sha256()
    while not run.done:
        wanted = run.wanted()
        if wanted.total > MOST_DUELS - run.duels:
            for duel in run.ask(MOST_DUELS - run.duels):
                wins = rng.random() < preferences.probability(duel.position, duel.first, duel.second)
                run.tell(duel, duel.first if wins else duel.second)
                played.update(f"{duel} {wins}".encode())
            continue
        wins = rng.binomial(wanted.count, preferences.matrix[wanted.first, wanted.second])
        for array in (wanted.first, wanted.second, wanted.count, wins):
            played.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        run.tell_wins(wins)
    return digest([played.hexdigest(), outcome(run)])


def single_questions(preferences, algorithm, seed, parameters):
    """Return the digest of a run that is asked a few questions at a time, answered late or given back."""
    run = dm.explorer(algorithm, preferences.problem, 0.1, seed, None, **parameters)
    rng = np.random.default_rng([seed, 3])
    seen = []
    while run.duels < ASKED and not run.done:
        asked = run.ask(int(rng.integers(1, 6)))
        seen += [[duel.id, duel.position, duel.first, duel.second] for duel in asked]
        open_duels = list(run.open_duels)
        for place in rng.permutation(len(open_duels))[: max(1, len(open_duels) // 2)].tolist():
            duel = open_duels[place]
            if rng.random() < 0.1:
                run.release(duel)
            else:
                wins = rng.random() < preferences.probability(duel.position, duel.first, duel.second)
                run.tell(duel, duel.first if wins else duel.second)
    return digest([seen, outcome(run)])


def cases():
    """Yield (name, function, arguments) of every recorded run."""
    for name, preferences in instances().items():
        for algorithm, variants in VARIANTS.items():
            if name == "many" and algorithm not in ("condorcet", "borda"):
                continue
            for parameters in variants:
                words = " ".join(f"{key}={value}" for key, value in parameters.items())
                for seed in (0, 1):
                    for play in (whole_rounds, single_questions):
                        label = f"{name}, {algorithm} {words}, seed {seed}, {play.__name__}"
                        yield label, play, (preferences, algorithm, seed, parameters)


def main():
    found = {label: play(*arguments) for label, play, arguments in cases()}
    if "--check" in sys.argv:
        recorded = json.loads(FILE.read_text(encoding="utf-8"))
        changed = [label for label in recorded if found.get(label) != recorded[label]]
        print(*changed, f"{len(found)} runs, {len(changed)} have changed", sep="\n")
        return
    FILE.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    print(f"{len(found)} runs")


if __name__ == "__main__":
    main()
