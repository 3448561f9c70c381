"""The almost uniform sampler against a plain description of its chain and against enumeration.

Statistical tests have fixed seeds; their thresholds are exceeded by a right sampler with a chance below
1e-6, all of them together.
"""

from copy import deepcopy
from itertools import permutations
from math import ceil, log

import numpy as np
import pytest
from scipy.stats import chi2

from brute import graph_of
from cases import each
from duelmatch.errors import NoMatchingError, ProblemError
from duelmatch.matchings import chain as module
from duelmatch.matchings.chain import Chain

FREE = -1


SQUARE = graph_of(["110", "011", "101"])
WIDE = graph_of(["11010", "01100", "00111"])
BLOCKS = graph_of(["1100", "1100", "0011", "0011"])
FORCED = graph_of(["11000", "11000", "00100", "00110", "10001"])
STAIRS = graph_of(["11111", "11111", "01111", "00111", "00011"])
GRAPHS = {"square": SQUARE, "wide": WIDE, "blocks": BLOCKS, "forced": FORCED, "stairs": STAIRS}
every_graph = each("name", GRAPHS)


def padded(graph):
    is_edge = np.ones((graph.candidates, graph.candidates), dtype=bool)
    is_edge[: graph.positions] = graph.edge_at >= 0
    return is_edge


def all_states(is_edge, activity):
    """List the matchings of n or n - 1 pairs, as the candidate of each position; edges only if 0."""
    n = len(is_edge)
    states = list(permutations(range(n)))
    states += sorted({(*s[:u], FREE, *s[u + 1 :]) for s in states for u in range(n)})
    return [s for s in states if activity > 0 or non_edges(s, is_edge) == 0]


def non_edges(state, is_edge):
    return sum(c != FREE and not is_edge[u, c] for u, c in enumerate(state))


def hole_of(state):
    """Return u n + v, or n^2 for a perfect matching."""
    n = len(state)
    if FREE not in state:
        return n * n
    return state.index(FREE) * n + next(v for v in range(n) if v not in state)


def proposal(state, vertex):
    """Return the matching that JSV's figure 1 proposes for this choice of a vertex."""
    n, new = len(state), list(state)
    if FREE not in state:
        new[vertex - n if vertex >= n else state.index(vertex)] = FREE
        return tuple(new)
    u, v = divmod(hole_of(state), n)
    if vertex >= n:
        new[vertex - n] = v
    else:
        if vertex != v:
            new[state.index(vertex)] = FREE
        new[u] = vertex
    return tuple(new)


def measure(state, is_edge, weight, activity):
    """Return Lambda(M)."""
    return weight[hole_of(state)] * activity ** non_edges(state, is_edge)


def transition_matrix(is_edge, weight, activity):
    states = all_states(is_edge, activity)
    number = {state: i for i, state in enumerate(states)}
    size = np.array([measure(s, is_edge, weight, activity) for s in states])
    matrix = np.zeros((len(states), len(states)))
    for i, state in enumerate(states):
        for vertex in range(2 * len(is_edge)):
            j = number.get(proposal(state, vertex), i)
            matrix[i, j] += min(1, size[j] / size[i]) / (2 * len(is_edge))
        matrix[i, i] += 1 - matrix[i].sum()
    return states, size, matrix


def perfect_times(states, matrix):
    """Return the transition matrix of the chain seen only when it is perfect."""
    perfect = np.array([FREE not in state for state in states])
    leave, back = matrix[np.ix_(perfect, ~perfect)], matrix[np.ix_(~perfect, perfect)]
    stay = matrix[np.ix_(~perfect, ~perfect)]
    excursion = leave @ np.linalg.solve(np.eye(len(stay)) - stay, back)
    return matrix[np.ix_(perfect, perfect)] + excursion


def some_weights(n):
    return np.append(np.random.default_rng(5).uniform(0.2, 4, n * n), 1.0)


@each("activity", [1.0, 0.3, 0.0])
def test_the_described_chain_is_reversible_with_respect_to_lambda(activity):
    _, size, matrix = transition_matrix(padded(SQUARE), some_weights(3), activity)
    flow = size[:, None] * matrix
    np.testing.assert_allclose(flow, flow.T, atol=1e-15)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)


@every_graph
def test_the_described_chain_is_connected_and_uniform_at_perfect_times_without_non_edges(name):
    is_edge = padded(GRAPHS[name])
    states, _, matrix = transition_matrix(is_edge, some_weights(len(is_edge)), 0.0)
    reached = np.linalg.matrix_power(matrix + np.eye(len(matrix)), len(matrix)) > 0
    assert reached.all()
    watched = perfect_times(states, matrix)
    np.testing.assert_allclose(watched, watched.T, atol=1e-12)
    assert (np.diag(watched) > 0).all()


@each(("name", "activity"), [("square", 0.3), ("wide", 0.5), ("stairs", 0.0)])
def test_the_compiled_walk_takes_the_steps_of_the_described_chain(name, activity):
    graph = GRAPHS[name]
    is_edge, n = padded(graph), graph.candidates
    weight = some_weights(n)
    mate, hole = module._perfect_matching(graph), (-1, -1, 0)
    state = tuple(mate[n:].tolist())
    edges = module._between_vertices(is_edge.astype(np.int64))
    weights = module._between_vertices(weight[:-1].reshape(n, n))
    factor = np.array([1 / activity if activity else np.inf, 1.0, activity])
    counts = np.zeros((n * n + 1, n + 1), dtype=np.int64)
    none = np.zeros((0, 0), dtype=np.int64)
    rng, same = np.random.default_rng(8), np.random.default_rng(8)
    expected = np.zeros_like(counts)
    for _ in range(10_000):
        hole = module._walk(mate, hole, edges, weights, factor, 1, counts, none, 0, rng)
        coin, vertex = np.modf(same.random() * 2 * n)
        new = proposal(state, int(vertex))
        now = measure(state, is_edge, weight, activity)
        if coin < measure(new, is_edge, weight, activity) / now:
            state = new
        expected[hole_of(state), non_edges(state, is_edge)] += 1
        free = [] if hole[0] < 0 else [hole[0] - n]
        assert state == tuple(FREE if u in free else int(mate[n + u]) for u in range(n))
        assert hole[2] == non_edges(state, is_edge)
    np.testing.assert_array_equal(counts, expected)


@every_graph
def test_possible_holes_are_those_of_some_matching(name):
    graph = GRAPHS[name]
    holes = {hole_of(state) for state in all_states(padded(graph), 0.0)}
    candidate_of = module._perfect_matching(graph)[graph.candidates :]
    possible = module._possible_holes(padded(graph), candidate_of)
    assert set(np.flatnonzero(possible)) == holes


def test_the_next_activity_keeps_half_of_the_scarcest_count():
    counts = np.array([[60, 40, 0], [0, 80, 20], [80, 0, 20], [100, 0, 0]])
    possible = np.array([True, False, True, True])
    assert module._next_ratio(counts, possible) == 0
    counts[0] = [0, 100, 0]
    assert module._next_ratio(counts, possible) == pytest.approx(0.5)
    counts[0] = [0, 0, 100]
    assert module._next_ratio(counts, possible) == pytest.approx(0.5**0.5)


def test_weights_follow_the_counts_at_the_next_activity():
    counts = np.array([[40, 40], [0, 50], [100, 0]])
    weight = module._reweighted(np.array([3.0, 3.0, 1.0]), counts, 0.5, np.array([True, False, True]))
    np.testing.assert_allclose(weight, [3 * 100 / 60, 3 * 100 / 25, 1])


@every_graph
def test_learned_weights_are_within_a_factor_two_of_the_ideal_ones(name):
    graph = GRAPHS[name]
    chain = Chain(graph, 0.5, seed=1)
    holes = np.array([hole_of(state) for state in all_states(padded(graph), 0.0)])
    number = np.bincount(holes, minlength=len(chain._weight))
    ideal = number[-1] / number[number > 0]
    ratio = chain._weight[number > 0] / ideal
    assert ratio.max() < 2
    assert ratio.min() > 0.5


@each("eta", [0.1, 0.02])
@every_graph
def test_a_draw_is_within_half_of_eta_of_uniform_whatever_the_previous_draw(name, eta):
    graph = GRAPHS[name]
    chain = Chain(graph, eta, seed=2)
    states, _, matrix = transition_matrix(padded(graph), chain._weight, 0.0)
    draw = np.linalg.matrix_power(perfect_times(states, matrix), chain.visits_per_sample)
    assert np.abs(draw - 1 / len(draw)).sum(axis=1).max() / 2 < eta / 2


def numbered_draws(graph, eta, size, seed):
    """Return the draws as numbers among all maximum matchings, and how many those are."""
    enumerated = [
        chosen
        for chosen in permutations(range(graph.candidates), graph.positions)
        if all(graph.edge_at[j, c] >= 0 for j, c in enumerate(chosen))
    ]
    number = {chosen: i for i, chosen in enumerate(enumerated)}
    edges = Chain(graph, eta, seed).draw(size)
    assert (graph.edge_position[edges] == np.arange(graph.positions)).all()
    draws = [number[tuple(row)] for row in graph.edge_candidate[edges].tolist()]
    return np.array(draws), len(enumerated)


def assert_uniform(draws, cells):
    # Failing by chance: 1e-7 for each of the six calls. With eta = 1e-4 draws are as good as independent.
    expected = len(draws) / cells
    statistic = ((np.bincount(draws, minlength=cells) - expected) ** 2 / expected).sum()
    assert statistic < chi2.isf(1e-7, cells - 1)


@every_graph
def test_draws_are_uniform_over_all_matchings(name):
    assert_uniform(*numbered_draws(GRAPHS[name], 1e-4, 20_000, seed=3))


def test_a_draw_does_not_depend_on_the_one_before():
    draws, cells = numbered_draws(WIDE, 1e-4, 40_000, seed=4)
    assert_uniform(draws[::2] * cells + draws[1::2], cells**2)


def test_fewer_visits_than_stated_would_be_noticed(monkeypatch):
    # The two tests above can fail: with a draw at every perfect state, neighbours depend on each other.
    monkeypatch.setattr(module, "ceil", lambda _: 1)
    draws, cells = numbered_draws(WIDE, 1e-4, 40_000, seed=4)
    with pytest.raises(AssertionError):
        assert_uniform(draws[::2] * cells + draws[1::2], cells**2)


@each("eta", [0.3, 0.01])
@every_graph
def test_a_draw_is_the_state_at_the_stated_number_of_perfect_visits(name, eta):
    """Deterministic: the described chain walks with the same random numbers, and counts its own visits."""
    graph = GRAPHS[name]
    is_edge, n = padded(graph), graph.candidates
    chain = Chain(graph, eta, seed=9)
    visits = ceil(n * log(n / eta))
    assert chain.visits_per_sample == visits
    assert chain._hole[0] < 0, "a draw ends in a perfect matching"
    state, rng = tuple(chain._mate[n:].tolist()), deepcopy(chain._rng)
    drawn = graph.edge_candidate[chain.draw(3)]
    for row in drawn.tolist():
        passed = 0
        while passed < visits:
            coin, vertex = np.modf(rng.random() * 2 * n)
            new = proposal(state, int(vertex))
            now = measure(state, is_edge, chain._weight, 0.0)
            if coin < measure(new, is_edge, chain._weight, 0.0) / now:
                state = new
            passed += FREE not in state
        assert list(state[: graph.positions]) == row


def test_the_same_seed_gives_the_same_draws_however_they_are_asked_for():
    draws = Chain(STAIRS, 0.1, seed=6).draw(40)
    again = Chain(STAIRS, 0.1, seed=6)
    np.testing.assert_array_equal(draws, np.concatenate([again.draw(15), again.draw(25)]))
    assert (draws != Chain(STAIRS, 0.1, seed=7).draw(40)).any()


def test_a_smaller_eta_spaces_draws_further_apart():
    near, far = Chain(SQUARE, 0.5, seed=0), Chain(SQUARE, 0.01, seed=0)
    assert near.visits_per_sample < far.visits_per_sample


@each("rows", [["1"], ["01"], ["100", "110", "111"], ["001", "011", "111"], ["0100", "1110", "1100"]])
def test_a_graph_with_one_matching_gives_it_always(rows):
    graph = graph_of(rows)
    draws = Chain(graph, 0.1, seed=0).draw(20)
    np.testing.assert_array_equal(draws, np.tile(graph.some_matching(), (20, 1)))


def test_one_position_gets_each_of_its_candidates():
    draws = Chain(graph_of(["10111"]), 0.1, seed=0).draw(200)
    assert draws.shape == (200, 1)
    assert set(draws.ravel()) == {0, 1, 2, 3}


def test_no_draws_are_an_empty_table():
    assert Chain(WIDE, 0.1, seed=0).draw(0).shape == (0, 3)


@each("eta", [0.0, 1.0, -0.1, float("nan")])
def test_eta_outside_zero_to_one_is_refused(eta):
    with pytest.raises(ProblemError, match="eta must lie between 0 and 1"):
        Chain(SQUARE, eta, seed=0)


def test_a_negative_number_of_draws_is_refused():
    with pytest.raises(ProblemError, match="cannot be negative; it is -1"):
        Chain(SQUARE, 0.1, seed=0).draw(-1)


def test_a_graph_without_a_matching_is_refused():
    with pytest.raises(NoMatchingError, match="No matching fills every position"):
        Chain(graph_of(["100", "100", "011"]), 0.1, seed=0)
