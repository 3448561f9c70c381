"""Known preferences made from real votes: data/llmfao-counts.csv, completed by a model with ties.

Davidson's model (1970): with strengths s at a position, a win of a, a win of b and a tie between them are as
likely as exp(s_a) : exp(s_b) : nu exp((s_a + s_b) / 2). Strengths are penalised (normal, deviation 1). A
pair's own votes are added to WEIGHT imagined ones that follow the model, so that what contradicts
it is kept where there are votes: these preferences are not Bradley-Terry.
"""

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

import duelmatch as dm

FILE = Path(__file__).with_name("data") / "llmfao-counts.csv"
WEIGHT = 5.0
"""In votes; about the number of votes that a pair has itself."""


MOST_VOTED = 30
"""Candidates are drawn from so many."""


def real_votes(candidates, seed=None, positions=4):
    """Return preferences over the candidates with the most votes, and the probability of a tie by pair.

    With a seed, so many are drawn from the MOST_VOTED instead. Positions are the first so many by name.
    """
    names, counts, fits = counted()
    fits = dict(sorted(fits.items())[:positions])
    chosen = names[:candidates]
    if seed is not None:
        drawn = np.random.default_rng([seed, 9]).choice(MOST_VOTED, candidates, replace=False)
        chosen = [names[number] for number in sorted(drawn.tolist())]
    problem = dm.Problem.complete(chosen, sorted(fits))
    win, ties = {}, {}
    for position, predicted in fits.items():
        for i, a in enumerate(chosen):
            for b in chosen[i + 1 :]:
                three = WEIGHT * predicted(a, b)
                three = three + counts[position, a, b] + counts[position, b, a][::-1]
                three /= three.sum()
                win[position, a, b] = float(three[0] + three[1] / 2)
                ties[position, a, b] = float(three[1])
    preferences = dm.Preferences(problem, win)
    table = problem.graph.pair_table
    edges = problem.edges
    share = [
        ties[edges[one][1], edges[one][0], edges[other][0]]
        for one, other in zip(table.first, table.second, strict=True)
    ]
    return preferences, np.array(share)


@cache
def counted():
    """Return the names by their votes, the counts of the pairs, and the model of each position."""
    counts, votes = defaultdict(lambda: np.zeros(3)), defaultdict(float)
    with FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            three = np.array([float(row[name]) for name in ("a_wins", "ties", "b_wins")])
            counts[row["position"], row["a"], row["b"]] += three
            votes[row["a"]] += three.sum()
            votes[row["b"]] += three.sum()
    names = sorted(votes, key=lambda name: (-votes[name], name))
    fits = {}
    for position in sorted({position for position, _, _ in counts}):
        own = {(a, b): three for (place, a, b), three in counts.items() if place == position}
        fits[position] = fitted(names, own)
    return names, counts, fits


def fitted(names, counts):
    """Return a function that says how likely a win, a tie and a defeat of one against another are."""
    number = {name: place for place, name in enumerate(names)}
    first = np.array([number[a] for a, _ in counts])
    second = np.array([number[b] for _, b in counts])
    three = np.array(list(counts.values()))

    def logs(strength, log_nu):
        a, b = strength[first], strength[second]
        scores = np.stack([a, log_nu + (a + b) / 2, b], axis=1)
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)

    def loss(x):
        return -(three * logs(x[:-1], x[-1])).sum() + (x[:-1] ** 2).sum() / 2

    def slope(x):
        missing = three.sum(axis=1, keepdims=True) * np.exp(logs(x[:-1], x[-1])) - three
        out = np.append(x[:-1], missing[:, 1].sum())
        np.add.at(out, first, missing[:, 0] + missing[:, 1] / 2)
        np.add.at(out, second, missing[:, 2] + missing[:, 1] / 2)
        return out

    found = minimize(loss, np.zeros(len(names) + 1), jac=slope, method="BFGS", options={"gtol": 1e-6}).x

    def predicted(one, other):
        a, b = found[number[one]], found[number[other]]
        scores = np.array([a, found[-1] + (a + b) / 2, b])
        return np.exp(scores - np.logaddexp.reduce(scores))

    return predicted
