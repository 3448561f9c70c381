"""The paper's bounds, transcribed from its theorems and applied to the list of all matchings."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log

import numpy as np
import pytest

import brute
import duelmatch as dm
from cases import each
from duelmatch.errors import ProblemError, TooLargeError
from duelmatch.matchings.decisions import all_matchings
from duelmatch.theory import bounds

SEEDS = (*range(0, 220, 10), *range(4, 220, 20), *brute.SMALL_SEEDS)


def preferences(seed: int, shrink: float = 1.0) -> dm.Preferences:
    """The preferences of a seed, pulled towards 1/2."""
    matrix = np.array(brute.preference_matrix(seed))
    known = matrix + matrix.T > 0.5
    matrix[known] = 0.5 + shrink * (matrix[known] - 0.5)
    return dm.Preferences.from_matrix(brute.problem(seed), matrix)


def star(positions: int, gap: float) -> dm.Preferences:
    """Every position has its own candidate and may also take the one spare candidate, who is worse."""
    own = [(f"own{j}", f"s{j}") for j in range(positions)]
    spare = [("spare", f"s{j}") for j in range(positions)]
    problem = dm.Problem.from_edges(own + spare)
    win = {(f"s{j}", f"own{j}", "spare"): 0.5 + gap for j in range(positions)}
    return dm.Preferences(problem, win)


def hardness_of(prefs: dm.Preferences, epsilon: float) -> float:
    """H^B_epsilon of Theorem 1, from the definitions."""
    graph = prefs.problem.graph
    gaps = brute.borda_gaps(graph, prefs.matrix)
    width = brute.width(graph)
    return sum(
        epsilon**-2 if gap < 1e-11 else min(width**2 / gap**2, epsilon**-2) for gap in gaps if gap < inf
    )


# Upper bounds


@each("seed", SEEDS)
def test_the_pac_bound_is_that_of_appendix_b_4(seed: int) -> None:
    prefs, delta, epsilon = preferences(seed), 0.05, (0.02, 0.5)[seed // 10 % 2]
    hardness = hardness_of(prefs, epsilon)
    expected = 985 * hardness * log(4 * hardness / delta) + 2 * len(prefs.problem.edges) if hardness else 0.0
    found = dm.theory.clucb_borda_pac_bound(prefs, delta, epsilon)
    assert found == pytest.approx(expected, rel=1e-6)


@each("seed", SEEDS)
def test_the_exact_bound_adds_up_the_epochs_until_the_smallest_gap_is_seen(seed: int) -> None:
    prefs, delta = preferences(seed), 0.1
    smallest = float(brute.borda_gaps(prefs.problem.graph, prefs.matrix).min())
    found = dm.theory.clucb_borda_exact_bound(prefs, delta)
    if smallest < 1e-11:
        assert found == inf
        return
    if smallest == inf:
        assert found == 0.0
        return
    expected, epoch = 0.0, 0
    while True:
        epoch += 1
        expected += dm.theory.clucb_borda_pac_bound(prefs, delta / (2 * epoch**2), 0.5**epoch)
        if 0.5**epoch < smallest / len(prefs.problem.positions) * (1 - 1e-12):
            break
    assert found == pytest.approx(expected)


@each("seed", SEEDS)
def test_the_car_cond_bound_adds_up_the_pairs_that_need_duels(seed: int) -> None:
    prefs, winner, delta = preferences(seed), brute.winner_of(seed), 0.02
    if winner is None:
        for compute in (dm.theory.car_cond_bound, dm.theory.car_verify_bound, dm.theory.car_parallel_bound):
            with pytest.raises(ProblemError, match="have no Condorcet winner"):
                compute(prefs, delta)
        return
    graph = prefs.problem.graph
    gaps = brute.condorcet_gaps(graph, prefs.matrix, winner)
    pairs = brute.pairs(graph)
    expected = 0.0
    for a, b in pairs:
        gap = max(gaps[a], gaps[b])
        if gap < inf:
            expected += 162 / gap**2 * log(162 * len(pairs) / (delta * gap**2))
    assert dm.theory.car_cond_bound(prefs, delta) == pytest.approx(expected, rel=1e-9)


@each("seed", [seed for seed in SEEDS if seed % 5 == 4])
def test_the_car_verify_bound_is_the_largest_number_of_duels_that_its_inequality_allows(seed: int) -> None:
    prefs, winner, delta = preferences(seed), brute.winner_of(seed), 0.003
    assert winner is not None
    graph = prefs.problem.graph
    gaps = brute.verification_gaps(graph, prefs.matrix, winner).values()
    hardness = sum(gap**-2 for gap in gaps if gap < inf)
    guess = dm.theory.car_cond_bound(prefs, 0.01)
    found = dm.theory.car_verify_bound(prefs, delta)
    if hardness == 0:
        assert found == guess
        return

    def allowed(duels: float) -> float:
        logarithm = log(4 * len(brute.pairs(graph)) * duels**3 / delta)
        return guess + 2 * hardness * logarithm + graph.edges - graph.positions

    assert found == pytest.approx(allowed(found), rel=1e-9)
    assert allowed(1.001 * found) < 1.001 * found
    assert allowed(0.999 * found) > 0.999 * found


@each("delta", [0.3, 0.009, 1e-9])
def test_the_car_parallel_bound_adds_up_the_sub_runs_that_may_be_the_first_to_keep_their_word(
    delta: float,
) -> None:
    prefs = dm.instances.planted(4, 3, gap=0.3, seed=1)
    expected = 0.0
    for k in range(40):
        unlucky = np.prod([0.01 + delta / 2 ** (i + 1) for i in range(k)])
        expected += unlucky * 2 ** (k + 1) * dm.theory.car_verify_bound(prefs, delta / 2 ** (k + 1))
    found = dm.theory.car_parallel_bound(prefs, delta)
    assert found == pytest.approx(expected, rel=1e-12)
    assert found > 2 * dm.theory.car_verify_bound(prefs, delta / 2)


def test_runs_of_car_parallel_take_far_fewer_duels_than_their_bound() -> None:
    prefs = dm.instances.planted(3, 2, gap=0.4, seed=1)
    duels = [dm.simulate(prefs, "car-parallel", 0.005, seed=seed).duels for seed in range(5)]
    assert max(duels) < dm.theory.car_parallel_bound(prefs, 0.005)


def test_with_nothing_to_decide_no_bound_asks_for_a_duel() -> None:
    prefs = dm.Preferences(dm.Problem.from_edges([("ann", "chair"), ("bob", "editor")]), {})
    assert dm.theory.clucb_borda_pac_bound(prefs, 0.1, 0.1) == 0.0
    assert dm.theory.clucb_borda_exact_bound(prefs, 0.1) == 0.0
    assert dm.theory.car_cond_bound(prefs, 0.1) == 0.0
    assert dm.theory.car_verify_bound(prefs, 0.1) == 0.0
    assert dm.theory.car_parallel_bound(prefs, 0.1) == 0.0
    assert dm.theory.paper_lower_bound(prefs, "borda", 0.05) == dm.theory.PaperLowerBound(0.0)
    assert dm.theory.paper_lower_bound(prefs, "condorcet", 0.05) == dm.theory.PaperLowerBound(0.0)


# Lower bounds


@each("shrink", [1.0, 0.1, 0.02])
@each("seed", SEEDS)
def test_theorem_3_holds_where_some_gamma_meets_its_conditions(seed: int, shrink: float) -> None:
    prefs, delta = preferences(seed, shrink), 0.05
    graph, positions = prefs.problem.graph, len(prefs.problem.positions)
    gaps = brute.borda_gaps(graph, prefs.matrix)
    undecided = gaps < inf
    found = dm.theory.paper_lower_bound(prefs, "borda", delta)
    if not undecided.any():
        assert found == dm.theory.PaperLowerBound(0.0)
        return
    total = len(brute.matchings(graph))
    through = brute.indicators(graph).sum(axis=0)[undecided]
    farthest = max(abs(prefs.matrix[a, b] - 0.5) for a, b in brute.pairs(graph))
    gamma = np.linspace(0, 0.25, 40_001)[1:-1]
    gamma = np.append(gamma, farthest) if 0 < farthest < 0.25 else gamma
    meets = farthest <= gamma + 1e-12
    meets &= (total / (total - through)).max() <= (1 - 4 * gamma) / (4 * gamma * positions) + 1e-9
    if not meets.any():
        assert found.duels is None
        assert found.unmet is not None
        assert "of 1/2" in found.unmet
        return
    assert found.unmet is None
    hardness = inf if gaps.min() < 1e-11 else (gaps[undecided] ** -2).sum()
    factor = 0.2 * gamma * (1 - gamma) * (4 * gamma * positions / (1 - 4 * gamma)) ** 2
    expected = factor[meets].max() * hardness * log(1 / delta)
    assert found.duels == pytest.approx(expected, rel=1e-2)  # as fine as the grid of gammas


def test_theorem_3_is_met_by_some_of_these_and_not_by_others() -> None:
    met = [
        dm.theory.paper_lower_bound(preferences(seed, shrink), "borda", 0.05).unmet is None
        for seed in SEEDS[::3]
        for shrink in (1.0, 0.1, 0.02)
    ]
    assert 20 < sum(met) < len(met) - 20


def theorem_6_conditions(prefs: dm.Preferences, winner: np.ndarray) -> bool:
    """Word for word, with the largest admissible gamma."""
    graph = prefs.problem.graph
    everyone = [frozenset(row.tolist()) for row in brute.matchings(graph)]
    champion = frozenset(winner.tolist())

    def score(first: frozenset[int], second: frozenset[int]) -> float:
        return float(prefs.matrix[sorted(first), sorted(second)].mean())

    for matching in everyone:
        if matching == champion:
            continue
        for other in everyone:
            if other != matching and score(other, matching) >= 0.5 - 1e-12:
                if score(matching, champion) > score(matching, other) + 1e-12:
                    return False
                if not champion - matching <= other - matching:
                    return False
    gamma = 1 / (2 * (2 + graph.positions))
    return all(abs(prefs.matrix[a, b] - 0.5) < gamma for a, b in brute.pairs(graph))


def check_theorem_6(prefs: dm.Preferences, winner: np.ndarray) -> bool:
    """Compare with the transcription; say whether the conditions were met."""
    delta, graph = 0.05, prefs.problem.graph
    found = dm.theory.paper_lower_bound(prefs, "condorcet", delta)
    if not theorem_6_conditions(prefs, winner):
        assert found.duels is None
        assert found.unmet
        return False
    gamma = 1 / (2 * (2 + graph.positions))
    gaps = brute.condorcet_gaps(graph, prefs.matrix, winner)
    outside = [gaps[e] for e in range(graph.edges) if e not in winner]
    hardness = sum(1 / (graph.positions**2 * gap**2) for gap in outside)
    assert found.unmet is None
    assert found.duels == pytest.approx(0.4 * gamma * (1 - gamma) * hardness * log(1 / delta))
    return True


@each("shrink", [1.0, 0.1])
@each("seed", brute.SMALL_SEEDS)
def test_theorem_6_holds_where_its_conditions_are_met(seed: int, shrink: float) -> None:
    prefs = preferences(seed, shrink)
    winner = brute.condorcet_winner(prefs.problem.graph, prefs.matrix)
    if winner is None:
        with pytest.raises(ProblemError, match="have no Condorcet winner"):
            dm.theory.paper_lower_bound(prefs, "condorcet", 0.05)
    else:
        check_theorem_6(prefs, winner)


@each("positions", [1, 2, 3, 5])
def test_theorem_6_is_met_by_stars_whose_probabilities_are_close_to_one_half(positions: int) -> None:
    limit = 1 / (2 * (2 + positions))
    for gap, expected in ((0.5 * limit, True), (0.99 * limit, True), (1.01 * limit, False)):
        prefs = star(positions, gap)
        winner = prefs.problem.edge_numbers({f"s{j}": f"own{j}" for j in range(positions)})
        assert check_theorem_6(prefs, winner) == expected
    unmet = dm.theory.paper_lower_bound(star(positions, 0.4), "condorcet", 0.05).unmet
    assert unmet == f"every probability must be within {limit:.3g} of 1/2, but one is 0.4 away"


def test_theorem_6_is_not_met_when_someone_else_beats_a_loser() -> None:
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
    win = {("chair", "ann", "bob"): 0.55, ("chair", "ann", "cyd"): 0.6, ("chair", "bob", "cyd"): 0.55}
    unmet = dm.theory.paper_lower_bound(dm.Preferences(problem, win), "condorcet", 0.05).unmet
    assert unmet is not None
    assert "whoever beats a matching must use the winner's edges" in unmet


def test_theorem_6_counts_a_tie_as_a_defeat() -> None:
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
    win = {("chair", "ann", "bob"): 0.55, ("chair", "ann", "cyd"): 0.6, ("chair", "bob", "cyd"): 0.5}
    prefs = dm.Preferences(problem, win)
    assert not check_theorem_6(prefs, problem.edge_numbers({"chair": "ann"}))


def test_theorem_6_is_refused_where_its_conditions_cannot_be_checked() -> None:
    prefs = dm.instances.planted(7, 7, gap=0.01, noise=0.01, seed=1)
    message = r"compares every two of 5040 matchings; the limit is 3000 matchings"
    with pytest.raises(TooLargeError, match=message):
        dm.theory.paper_lower_bound(prefs, "condorcet", 0.05)


@each("criterion", ["borda", "condorcet"])
def test_both_theorems_want_a_delta_below_a_tenth(criterion: str) -> None:
    prefs = star(2, 0.01)
    unmet = dm.theory.PaperLowerBound(None, "delta must be below 0.1")
    assert dm.theory.paper_lower_bound(prefs, criterion, 0.1) == unmet  # type: ignore[arg-type]
    assert dm.theory.paper_lower_bound(prefs, criterion, 0.0999).duels  # type: ignore[arg-type]


def test_an_unknown_criterion_is_refused() -> None:
    with pytest.raises(ProblemError, match="must be 'borda' or 'condorcet', not 'copeland'"):
        dm.theory.paper_lower_bound(star(2, 0.01), "copeland", 0.05)  # type: ignore[arg-type]


BOUNDS: dict[str, Callable[[dm.Preferences, float], object]] = {
    "PAC": lambda prefs, delta: dm.theory.clucb_borda_pac_bound(prefs, delta, 0.1),
    "exact": dm.theory.clucb_borda_exact_bound,
    "CAR-Cond": dm.theory.car_cond_bound,
    "CAR-Verify": dm.theory.car_verify_bound,
    "Theorem 3": lambda prefs, delta: dm.theory.paper_lower_bound(prefs, "borda", delta),
    "Theorem 6": lambda prefs, delta: dm.theory.paper_lower_bound(prefs, "condorcet", delta),
}


@each("delta", [0.0, 1.0, -1.0, 1.5, float("nan")])
@each("name", BOUNDS)
def test_a_delta_out_of_range_is_refused(name: str, delta: float) -> None:
    with pytest.raises(ProblemError, match="delta must lie between 0 and 1"):
        BOUNDS[name](dm.instances.paper_example(), delta)


@each("epsilon", [0.0, -0.1, float("nan")])
def test_the_pac_bound_needs_an_epsilon_above_0(epsilon: float) -> None:
    with pytest.raises(ProblemError, match="epsilon must be above 0"):
        dm.theory.clucb_borda_pac_bound(dm.instances.paper_example(), 0.05, epsilon)


@each("seed", range(0, 220, 10))
def test_the_list_of_all_matchings_is_complete(seed: int) -> None:
    graph = brute.problem(seed).graph
    found = all_matchings(graph)
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, brute.matchings(graph).tolist()))


def test_lower_bounds_stay_below_upper_bounds() -> None:
    prefs = star(3, 0.05)
    lower = dm.theory.paper_lower_bound(prefs, "condorcet", 0.01).duels
    assert lower is not None
    assert lower < dm.theory.lower_bound(prefs, "condorcet", 0.01) < dm.theory.car_cond_bound(prefs, 0.01)
    assert bounds.VERIFICATION_DELTA == 0.01
