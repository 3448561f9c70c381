"""The oracle of the tests: every maximum matching listed, and every definition applied to the whole list.

Nothing here calls the code under test; ``Problem``, ``Graph`` and ``Preferences`` only carry the input. Here,
preferences are plain m x m matrices, and lists of matchings are arrays with a row per matching and the edge
of each position in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import permutations

import numpy as np
from scipy.optimize import linprog, minimize

from duelmatch.graph import Graph
from duelmatch.preferences import Preferences
from duelmatch.problem import Problem

SEEDS = range(220)
"""Random problems of mixed shape: see :func:`problem`."""

SMALL_SEEDS = tuple(range(1000, 1060))
"""Random problems of at most 4 positions and 5 candidates, for the slow oracles."""

TIE = 1e-12

KINDS = ("quarters", "tenths", "continuous", "sure", "planted")


@cache
def problem(seed: int) -> Problem:
    """Return 1 to 7 positions, up to 7 candidates and a density from 0.2 to 1, all drawn from the seed."""
    rng = np.random.default_rng([seed, 77])
    most_positions, most_candidates = (4, 5) if seed in SMALL_SEEDS else (7, 7)
    positions = int(rng.integers(1, most_positions + 1))
    candidates = int(rng.integers(positions, most_candidates + 1))
    density = float(rng.choice([0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0]))
    if seed == 0:
        positions, candidates, density = 7, 7, 1.0
    present = rng.random((positions, candidates)) < density
    present[np.arange(positions), rng.permutation(candidates)[:positions]] = True
    edges = [(f"c{i}", f"s{j}") for j, i in np.argwhere(present).tolist()]
    names = [f"c{i}" for i in range(candidates)], [f"s{j}" for j in range(positions)]
    return Problem.from_edges(edges, *names)


@cache
def preference_matrix(seed: int) -> np.ndarray:
    """Return win probabilities for :func:`problem`, of a kind that depends on the seed; most have ties."""
    graph = problem(seed).graph
    rng = np.random.default_rng([seed, 78])
    kind = KINDS[seed % len(KINDS)]
    if kind == "planted":
        win = rng.integers(3, 8, (graph.edges, graph.edges)) / 10
        everyone = matchings(graph)
        chosen = everyone[rng.integers(len(everyone))]
        win[chosen, :], win[:, chosen] = 0.6, 0.4
    else:
        win = drawn_wins(rng, kind, graph.edges)
    return mirrored(graph, win)


def drawn_wins(rng: np.random.Generator, kind: str, edges: int) -> np.ndarray:
    """Return win probabilities of one of the KINDS, drawn independently."""
    size = (edges, edges)
    match kind:
        case "quarters":
            return rng.integers(0, 5, size) / 4
        case "tenths":
            return rng.integers(0, 11, size) / 10
        case "continuous":
            return rng.random(size)
    return rng.choice([0.0, 0.5, 1.0], size, p=[0.4, 0.2, 0.4])


def preferences(seed: int) -> Preferences:
    """Return :func:`problem` with its :func:`preference_matrix`."""
    return Preferences.from_matrix(problem(seed), preference_matrix(seed))


def random_answers(known: Preferences, answers: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return wins of the first edge, and duels, by pair, after answers about random pairs."""
    table = known.problem.graph.pair_table
    rng = np.random.default_rng(seed)
    duels = rng.multinomial(answers, np.full(table.count, 1 / table.count))
    wins = rng.binomial(duels, known.matrix[table.first, table.second])
    return wins.astype(float), duels.astype(float)


def graph_of(rows: Sequence[str] | np.ndarray) -> Graph:
    """Build a graph from a row for each position, '1' (or True) where the candidate fits."""
    fits = np.array([list(map(int, row)) for row in rows] if isinstance(rows, Sequence) else rows)
    position, candidate = np.nonzero(fits)
    return Graph.from_edges(fits.shape[1], fits.shape[0], candidate, position)


def band(size: int, reach: int) -> np.ndarray:
    """Mark where candidates fit that have numbers like the position's own."""
    return np.abs(np.subtract.outer(np.arange(size), np.arange(size))) <= reach


def mirrored(graph: Graph, win: np.ndarray) -> np.ndarray:
    """Make a preference matrix of the upper triangle: P[b, a] = 1 - P[a, b] at one position, else 0."""
    matrix = np.zeros((graph.edges, graph.edges))
    for a in range(graph.edges):
        matrix[a, a] = 0.5
        for b in range(a + 1, graph.edges):
            if graph.edge_position[a] == graph.edge_position[b]:
                matrix[a, b], matrix[b, a] = win[a, b], 1 - win[a, b]
    return matrix


@cache
def matchings(graph: Graph) -> np.ndarray:
    """List every maximum matching: try all arrangements of l of the n candidates."""
    ends = zip(graph.edge_position.tolist(), graph.edge_candidate.tolist(), strict=True)
    edge_at = {end: edge for edge, end in enumerate(ends)}
    table = np.array(
        [[edge_at.get((j, i), -1) for i in range(graph.candidates)] for j in range(graph.positions)]
    )
    arrangements = _arrangements(graph.candidates, graph.positions)
    edges = table[np.arange(graph.positions), arrangements]
    return edges[(edges >= 0).all(axis=1)]


@cache
def _arrangements(candidates: int, positions: int) -> np.ndarray:
    return np.array(list(permutations(range(candidates), positions)), dtype=np.intp)


@cache
def indicators(graph: Graph) -> np.ndarray:
    """List chi_M of every maximum matching."""
    everyone = matchings(graph)
    chi = np.zeros((len(everyone), graph.edges))
    chi[np.arange(len(everyone))[:, None], everyone] = 1.0
    return chi


def marginals(graph: Graph) -> np.ndarray:
    return indicators(graph).mean(axis=0)


def those_with(graph: Graph, required: tuple[int, ...] = (), forbidden: tuple[int, ...] = ()) -> np.ndarray:
    """Mark the matchings that contain all of ``required`` and none of ``forbidden``."""
    chi = indicators(graph)
    return chi[:, list(required)].all(axis=1) & ~chi[:, list(forbidden)].any(axis=1)


def largest(graph: Graph, weights: np.ndarray, chosen: np.ndarray) -> float:
    """Return the largest weight of the chosen matchings, minus infinity if there is none."""
    totals = weights[matchings(graph)[chosen]].sum(axis=1)
    return float(totals.max(initial=-np.inf))


# Games


def game_value(x_side: np.ndarray, y_side: np.ndarray, Q: np.ndarray, positions: int) -> float:
    """Return max over mixtures of ``x_side``, min over mixtures of ``y_side``, of x Q y / l.

    A matrix game between two lists of matchings, solved on a growing part of it: each round adds the answers
    that are best in the whole list, until the best answers prove the value from both sides.
    """
    if not len(x_side) or not len(y_side):
        return float("-inf")
    payoff = x_side @ Q / positions
    rows, columns = list(range(min(30, len(x_side)))), list(range(min(30, len(y_side))))
    for _ in range(300):
        mixture, answer = _matrix_game(payoff[rows] @ y_side[columns].T)
        against_x = (mixture @ payoff[rows]) @ y_side.T
        against_y = payoff @ (answer @ y_side[columns])
        if against_y.max() - against_x.min() < 1e-10:
            return float(against_x.min())
        rows = list({*rows, *np.argsort(-against_y)[:10].tolist()})
        columns = list({*columns, *np.argsort(against_x)[:10].tolist()})
    raise AssertionError("the reference game did not settle")


def _matrix_game(payoff: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return optimal mixtures of the rows, who maximise, and of the columns, by one LP."""
    rows, columns = payoff.shape
    solved = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.column_stack([-payoff.T, np.ones(columns)]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solved.status == 0, solved.message
    mixture = np.maximum(solved.x[:-1], 0.0)
    answer = np.maximum(-solved.ineqlin.marginals, 0.0)
    return mixture / mixture.sum(), answer / answer.sum()


# Winners and gaps


def scores_against(graph: Graph, matrix: np.ndarray, matching: np.ndarray) -> np.ndarray:
    """Return f(M, matching) for every M."""
    return matrix[matchings(graph), matching].mean(axis=1)


def borda_scores(graph: Graph, matrix: np.ndarray) -> np.ndarray:
    """Return B(M) for every M: its score against every matching, averaged."""
    chi = indicators(graph)
    return chi @ (matrix @ chi.T).mean(axis=1) / graph.positions


def condorcet_winner(graph: Graph, matrix: np.ndarray) -> np.ndarray | None:
    """Return the matching with f(M, other) > 1/2 against every other, None if there is none."""
    everyone, chi = matchings(graph), indicators(graph)
    for first in range(0, len(everyone), 500):
        scores = chi @ (matrix @ chi[first : first + 500].T) / graph.positions
        against = np.arange(first, first + scores.shape[1])
        scores[against, against - first] = 0.0
        if len(winners := np.flatnonzero((scores < 0.5 - TIE).all(axis=0))):
            return everyone[first + winners[0]]
    return None


@cache
def winner_of(seed: int) -> np.ndarray | None:
    """Return the Condorcet winner of :func:`preference_matrix`."""
    return condorcet_winner(problem(seed).graph, preference_matrix(seed))


def borda_gaps(graph: Graph, matrix: np.ndarray) -> np.ndarray:
    """Definition 3: the loss in w(M) = l B(M) for deciding an edge the other way (any winner if tied)."""
    totals = borda_scores(graph, matrix) * graph.positions
    return _gaps(graph, totals, matchings(graph)[totals.argmax()])


def condorcet_gaps(graph: Graph, matrix: np.ndarray, winner: np.ndarray) -> np.ndarray:
    """Definition 5."""
    return _gaps(graph, scores_against(graph, matrix, winner), winner)


def _gaps(graph: Graph, totals: np.ndarray, winner: np.ndarray) -> np.ndarray:
    gaps = []
    for edge in range(graph.edges):
        contains = indicators(graph)[:, edge] == 1
        wrong = ~contains if edge in winner else contains
        gaps.append(totals.max() - totals[wrong].max(initial=-np.inf))
    return np.array(gaps)


def verification_gaps(graph: Graph, matrix: np.ndarray, winner: np.ndarray) -> dict[int, float]:
    """The verification gap of every edge outside the winner (Section 4.3)."""
    everyone = matchings(graph)
    differing = (everyone != winner).sum(axis=1)
    losses = graph.positions * (0.5 - scores_against(graph, matrix, winner))
    means = np.full(len(everyone), np.inf)
    np.divide(losses, differing, out=means, where=differing > 0)
    return {
        edge: float(means[indicators(graph)[:, edge] == 1].min(initial=np.inf))
        for edge in range(graph.edges)
        if edge not in winner
    }


def width(graph: Graph) -> int:
    """Definition 2: the most edges in a connected component of the union of two different matchings.

    Components that are one common edge do not count: every two different matchings have a larger one. Ends
    early only at 2 l, since no component has more edges than two for every position.
    """
    everyone = matchings(graph)
    candidates = graph.edge_candidate[everyone]
    widest = 0
    for own in candidates:
        others = candidates[(candidates != own).any(axis=1)]
        same = own[None, :, None] == others[:, None, :]
        linked = same | same.transpose(0, 2, 1) | np.eye(graph.positions, dtype=bool)
        linked = linked.astype(np.float32)
        for _ in range(3):
            linked = (linked @ linked > 0).astype(np.float32)
        sizes = linked.sum(axis=2)
        changed = own != others
        widest = max(widest, int(2 * (sizes * changed).max(initial=0)))
        if widest == 2 * graph.positions:
            break
    return widest


# The information limit


def pairs(graph: Graph) -> list[tuple[int, int]]:
    return [
        (a, b)
        for a in range(graph.edges)
        for b in range(a + 1, graph.edges)
        if graph.edge_position[a] == graph.edge_position[b]
    ]


def advantage(graph: Graph, matrix: np.ndarray, criterion: str, winner: np.ndarray) -> np.ndarray:
    """Return D(winner, M) for every M: l (f - 1/2) for Condorcet, w(winner) - w(M) for Borda."""
    everyone = matchings(graph)
    if criterion == "condorcet":
        return (matrix[winner, everyone] - 0.5).sum(axis=1)
    number = int((everyone == winner).all(axis=1).argmax())
    totals = borda_scores(graph, matrix) * graph.positions
    return totals[number] - totals


def rival_costs(graph: Graph, matrix: np.ndarray, criterion: str, winner: np.ndarray) -> np.ndarray:
    """Return c_pair(winner, B)^2 / (2 D(winner, B)^2), a row per rival B and a column per pair.

    D is linear in the pair probabilities, so its coefficients are its changes when one of them changes.
    """
    base = advantage(graph, matrix, criterion, winner)
    coefficients = []
    for a, b in pairs(graph):
        moved = matrix.copy()
        moved[a, b] += 1.0
        moved[b, a] -= 1.0
        coefficients.append(advantage(graph, moved, criterion, winner) - base)
    costs = np.stack(coefficients, axis=1)
    costs[np.abs(costs) < 1e-12] = 0.0
    rivals = (matchings(graph) != winner).any(axis=1)
    return costs[rivals] ** 2 / (2 * base[rivals, None] ** 2)


def information_limit(costs: np.ndarray) -> float:
    """Minimise over allocations omega the largest sum_pair cost / omega: SLSQP on the epigraph.

    The value returned is attained by an allocation, so it is never below the true minimum.
    """
    used = costs[:, costs.any(axis=0)]
    used = used / used.max()
    count = used.shape[1]

    def value(omega: np.ndarray) -> float:
        return float((used / omega).sum(axis=1).max())

    even = np.full(count, 1 / count)
    result = minimize(
        lambda z: z[-1],
        np.append(even, value(even)),
        jac=lambda z: np.append(np.zeros(count), 1.0),
        bounds=[(1e-5, 1.0)] * count + [(0, None)],
        constraints=[
            {
                "type": "ineq",
                "fun": lambda z: z[-1] - (used / z[:-1]).sum(axis=1),
                "jac": lambda z: np.column_stack([used / z[:-1] ** 2, np.ones(len(used))]),
            },
            {
                "type": "eq",
                "fun": lambda z: z[:-1].sum() - 1,
                "jac": lambda z: np.append(np.ones(count), 0.0),
            },
        ],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    omega = np.maximum(result.x[:-1], 1e-5)
    return value(omega / omega.sum()) * float(costs.max())
