"""The paper's listings, transcribed as plainly as possible: slow, obvious, and read beside the paper.

Each is a generator that yields one duel at a time, (first edge, second edge), is sent whether the first
won, and returns (status, matching). What the listings leave open is settled as in the explorers' modules.
"""

from itertools import count
from math import ceil, inf, log, sqrt

import numpy as np
from scipy.optimize import linear_sum_assignment

from duelmatch.matchings.counting import edge_marginals
from duelmatch.matchings.decisions import decisions_of
from duelmatch.matchings.game import Game


def mwmc(graph, weight, forbidden=()):
    """The edges of a maximum-weight maximum matching, by position."""
    cost = np.full((graph.positions, graph.candidates), inf)
    for e in range(graph.edges):
        if e not in forbidden:
            cost[graph.edge_position[e], graph.edge_candidate[e]] = -weight[e]
    rows, columns = linear_sum_assignment(cost)
    return [int(graph.edge_at[row, column]) for row, column in zip(rows, columns, strict=True)]


def mwmc_other(graph, weight, matching):
    """The best matching other than the given one."""
    best, best_weight = None, -inf
    for e in matching:
        try:
            other = mwmc(graph, weight, forbidden=(e,))
        except ValueError:
            continue
        if (total := sum(weight[f] for f in other)) > best_weight:
            best, best_weight = other, total
    return best


def radius(asked, t, delta, events):
    return sqrt(log(4 * events * t**3 / delta) / 2 / asked) if asked else 1.0


def clucb_epoch(graph, delta, epsilon, exact, rng):
    q = edge_marginals(graph)
    events = max(graph.pairs, graph.edges)
    T = [0] * graph.edges
    X = [0] * graph.edges
    for t in count(1):
        w = [q[e] / 2 + (1 - q[e]) * (X[e] / T[e]) if T[e] else 0.0 for e in range(graph.edges)]
        M = mwmc(graph, w)
        c = [radius(T[e], t, delta, events) * (1 - q[e] if T[e] else 1.0) for e in range(graph.edges)]
        shifted = [
            w[e] - c[e] - epsilon / 4 if e in M else w[e] + c[e] + epsilon / 4 for e in range(graph.edges)
        ]
        rival = mwmc(graph, shifted)
        if exact and rival == M:
            rival = mwmc_other(graph, shifted, M)
            if sum(shifted[e] for e in M) - sum(shifted[e] for e in rival) > 1e-12:
                return "certified", M
        difference = sum(shifted[e] for e in rival) - sum(shifted[e] for e in M)
        if difference <= graph.positions * epsilon:
            return "within_epsilon", M
        z = max(sorted(set(M) ^ set(rival)), key=lambda e: c[e])
        others = [
            e
            for e in range(graph.edges)
            if e != z and graph.edge_position[e] == graph.edge_position[z] and q[e] > 0
        ]
        total = sum(q[e] for e in others)
        draw, below = rng.random(), 0.0
        for opponent in others:
            below += q[opponent] / total
            if draw < below:
                break
        X[z] += yield z, opponent
        T[z] += 1


def clucb_borda_pac(graph, delta, epsilon, seed):
    return (yield from clucb_epoch(graph, delta, epsilon, False, np.random.default_rng([seed, 0])))


def clucb_borda_exact(graph, delta, seed):
    rng = np.random.default_rng([seed, 0])
    for q in count(1):
        status, M = yield from clucb_epoch(graph, delta / (2 * q**2), 2.0**-q, True, rng)
        if status == "certified":
            return status, M


def confidence_matrices(graph, wins, t, delta):
    lower, upper = np.zeros((graph.edges,) * 2), np.zeros((graph.edges,) * 2)
    for e in range(graph.edges):
        for f in range(graph.edges):
            if graph.edge_position[e] != graph.edge_position[f]:
                continue
            asked = wins[e][f] + wins[f][e]
            estimate = wins[e][f] / asked if asked else 0.5
            c = radius(asked, t, delta, graph.pairs)
            lower[e, f] = 0.5 if e == f else max(0.0, estimate - c)
            upper[e, f] = 0.5 if e == f else min(1.0, estimate + c)
    return lower, upper


def car_cond(graph, delta, wins):
    """Returns (status, matching, the last round's number); ``wins`` is filled in."""
    A = [int(e) for e in np.flatnonzero(decisions_of(graph).certain)]
    R = [int(e) for e in np.flatnonzero(~decisions_of(graph).usable)]
    U = [e for e in range(graph.edges) if e not in A and e not in R]
    t = 0
    for q in count(1):
        epsilon = 2.0**-q
        for t in range(ceil(4 ** (q - 1)) + 1 if q > 1 else 1, 4**q + 1):
            if len(A) == graph.positions:
                return "certified", sorted(A), t - 1
            for e in U:
                for f in U:
                    if e < f and graph.edge_position[e] == graph.edge_position[f]:
                        if (yield e, f):
                            wins[e][f] += 1
                        else:
                            wins[f][e] += 1
            lower, upper = confidence_matrices(graph, wins, t, delta)
            lower_game, upper_game = Game(graph, lower), Game(graph, upper)
            accept, reject = [], []
            for e in U:
                in_upper = upper_game.solve([*A, e], R, A, R).value
                in_lower = lower_game.solve([*A, e], R, A, R).value
                ex_upper = upper_game.solve(A, [*R, e], A, R).value
                ex_lower = lower_game.solve(A, [*R, e], A, R).value
                if in_lower > ex_upper + epsilon:
                    accept.append(e)
                elif ex_lower > in_upper + epsilon:
                    reject.append(e)
            A, R = A + accept, R + reject
            U = [e for e in U if e not in A and e not in R]
            if upper_game.solve(A, R, A, R).value == -inf:
                return "no_winner", None, t


def car_verify(graph, delta):
    wins = [[0] * graph.edges for _ in range(graph.edges)]
    status, guess, t = yield from car_cond(graph, 0.01, wins)
    if guess is None or t == 0:
        return status, guess
    while True:
        t += 1
        lower, upper = confidence_matrices(graph, wins, t, delta)
        against = [lower[e, guess[graph.edge_position[e]]] for e in range(graph.edges)]
        if sum(against[e] for e in mwmc(graph, against)) / graph.positions > 0.5 + 1e-12:
            return "no_winner", None
        against = [upper[e, guess[graph.edge_position[e]]] for e in range(graph.edges)]
        rival = mwmc_other(graph, against, guess)
        if sum(against[e] for e in rival) / graph.positions < 0.5 - 1e-12:
            return "certified", guess
        differ = [(e, f) for e, f in zip(rival, guess, strict=True) if e != f]
        e, f = min(differ, key=lambda pair: wins[pair[0]][pair[1]] + wins[pair[1]][pair[0]])
        if (yield e, f):
            wins[e][f] += 1
        else:
            wins[f][e] += 1


def car_parallel(graph, delta):
    runs = []  # [the suspended run, its next duel or None, its result or None]
    for t in count(1):
        for k in count(0):
            if t % 2**k:
                break
            if k == len(runs):
                runs.append(resume(car_verify(graph, delta / 2 ** (k + 1)), None))
                if runs[k][2] and runs[k][2][0] == "certified":
                    return runs[k][2]
            run, wanted, _ = runs[k]
            if wanted is None:
                continue
            runs[k] = resume(run, (yield wanted))
            if runs[k][2] and runs[k][2][0] == "certified":
                return runs[k][2]


def resume(run, answer):
    """Let a suspended run go on for one duel."""
    try:
        return [run, run.send(answer), None]
    except StopIteration as stop:
        return [run, None, stop.value]
