"""Plays duelmatch 0.1.0 for budget.py, in a process and an environment of its own.

Reads a task as a line of JSON from standard input and writes the leaders, as edge numbers, as a line of JSON.
"""

import json
import sys

import numpy as np

import duelmatch as dm


def leaders(task):
    """Return the leader when each budget is spent; what an unfinished round says does not count."""
    problem = dm.Problem.from_edges(
        [tuple(edge) for edge in task["edges"]], task["candidates"], task["positions"]
    )
    chance = np.array(task["matrix"])
    run = dm.explorer(task["criterion"], problem, delta=0.05, seed=task["seed"])
    rng = np.random.default_rng([task["seed"], 2])
    leader, found = None, []
    for budget in task["budgets"]:
        while not run.done:
            wanted = run.wanted()
            if run.duels + wanted.total > budget:
                break
            run.tell_wins(rng.binomial(wanted.count, chance[wanted.first, wanted.second]))
        leader = run.result.matching or leader
        found.append(None if leader is None else problem.edge_numbers(leader).tolist())
    return found


for line in sys.stdin:
    print(json.dumps(leaders(json.loads(line))), flush=True)
