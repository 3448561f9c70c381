"""Results are judged right or wrong as the definitions say, applied to the list of all matchings."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

import brute
import duelmatch as dm
from duelmatch.experiments.cell import Known, Verdict, single_cell
from duelmatch.experiments.simulation import clopper_pearson
from duelmatch.preferences import Criterion

SEEDS = brute.SMALL_SEEDS
EPSILONS = (None, 0.02, 0.1, 0.3)
DELTA = 0.1
ASSUMED = (dm.Assumption.CONDORCET_WINNER,)


def by_definition(result: dm.Result, preferences: dm.Preferences, criterion: Criterion) -> Verdict:
    """Judge a result by enumeration; nothing here calls the code under test."""
    graph, matrix = preferences.problem.graph, preferences.matrix
    winner = brute.condorcet_winner(graph, matrix) if criterion == "condorcet" else None
    if result.status == "budget_spent":
        return "unfinished"
    if result.assuming and winner is None:
        return "unknown"
    false: Verdict = "wrong" if result.delta <= DELTA else "refuted"
    if result.status == "no_winner":
        return "right" if winner is None else false
    assert result.matching is not None
    chosen = np.array(preferences.problem.edge_numbers(result.matching))
    if criterion == "borda":
        scores = brute.borda_scores(graph, matrix)
        loss = float(scores.max() - scores[(brute.matchings(graph) == chosen).all(axis=1)][0])
    elif result.status == "certified":
        return "right" if winner is not None and (winner == chosen).all() else false
    elif result.assuming:
        loss = float(matrix[winner, chosen].mean() - 0.5)
    else:
        loss = float(brute.scores_against(graph, matrix, chosen).max() - 0.5)
    allowed = result.epsilon if result.status == "within_epsilon" else 0.0
    assert allowed is not None
    return "right" if loss <= allowed + 1e-12 else false


def possible_results(preferences: dm.Preferences, criterion: Criterion, seed: int) -> list[dm.Result]:
    """Return results of every kind, about some matchings, good and bad."""
    problem = preferences.problem
    everyone = [problem.matching(row) for row in brute.matchings(problem.graph).tolist()]
    some = [everyone[n] for n in np.random.default_rng(seed).permutation(len(everyone))[:6]]
    best = preferences.condorcet_winner() if criterion == "condorcet" else preferences.borda_winner()
    assumptions = [(), ASSUMED] if criterion == "condorcet" else [()]
    found = [dm.Result("any", "budget_spent", matching, 9, DELTA) for matching in (*some, None)]
    for matching, assuming, delta in product([*some, best], assumptions, (DELTA, 3 * DELTA)):
        if matching is None:
            continue
        found.append(dm.Result("any", "certified", matching, 9, delta, assuming=assuming))
        for epsilon in EPSILONS[1:]:
            found.append(dm.Result("any", "within_epsilon", matching, 9, delta, epsilon, assuming))
    if criterion == "condorcet":
        found += [dm.Result("any", "no_winner", None, 9, delta) for delta in (DELTA, 3 * DELTA)]
    return found


@pytest.mark.parametrize("criterion", ["borda", "condorcet"])
def test_verdicts_are_those_of_the_definitions(criterion: Criterion) -> None:
    seen: set[Verdict] = set()
    for seed in SEEDS:
        problem = brute.problem(seed)
        preferences = dm.Preferences.from_matrix(problem, brute.preference_matrix(seed))
        known = Known(preferences, criterion)
        for result in possible_results(preferences, criterion, seed):
            expected = by_definition(result, preferences, criterion)
            assert known.verdict(result, DELTA) == expected, (seed, result)
            seen.add(expected)
    assert {"right", "wrong", "refuted", "unfinished"} <= seen


def test_a_guess_is_right_if_it_is_the_winner() -> None:
    prefs = dm.Preferences(dm.Problem.complete(["a", "b"], ["s"]), {("s", "a", "b"): 0.6})
    criteria: tuple[Criterion, Criterion] = ("borda", "condorcet")
    for criterion, (chosen, right) in product(criteria, {"a": True, "b": False, "": None}.items()):
        matching = dm.Matching({"s": chosen}) if chosen else None
        guess = dm.Result("any", "budget_spent", matching, 9, DELTA)
        assert Known(prefs, criterion).right(guess) is right, (criterion, chosen)


def test_runs_without_an_end_are_foreseen() -> None:
    pair = dm.Problem.complete(["a", "b"], ["s"])
    tie = dm.Preferences(pair, {("s", "a", "b"): 0.5})
    cycle = dm.instances.cyclic(3, 1)
    assert Known(tie, "borda").endless(None) == "two matchings share the best Borda score"
    assert Known(cycle, "condorcet").endless(None) == "there is no Condorcet winner"
    assert Known(tie, "borda").endless(0.1) is None
    assert Known(cycle, "condorcet").endless(0.1) is None
    clear = dm.Preferences(pair, {("s", "a", "b"): 0.6})
    assert Known(clear, "borda").endless(None) is None
    assert Known(clear, "condorcet").endless(None) is None


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (3, 10), (10, 10), (1, 200)])
def test_intervals_solve_the_equations_that_define_them(hits: int, trials: int) -> None:
    def at_most(k: int, p: float) -> float:
        return sum(comb(trials, i) * p**i * (1 - p) ** (trials - i) for i in range(k + 1))

    low, high = clopper_pearson(hits, trials, 0.95)
    assert low == 0 if hits == 0 else 1 - at_most(hits - 1, low) == pytest.approx(0.025)
    assert high == 1 if hits == trials else at_most(hits, high) == pytest.approx(0.025)


def test_the_key_of_a_cell_depends_on_all_that_its_runs_depend_on() -> None:
    one, other = (dm.instances.planted(3, 2, gap=0.2, seed=seed) for seed in (1, 2))
    cells = [
        single_cell(one, "borda", 0.05, 1, 100),
        single_cell(other, "borda", 0.05, 1, 100),
        single_cell(one, "clucb-borda-exact", 0.05, 1, 100),
        single_cell(one, "borda", 0.1, 1, 100),
        single_cell(one, "borda", 0.05, 2, 100),
        single_cell(one, "borda", 0.05, 1, 101),
        single_cell(one, "borda", 0.05, 1),
        single_cell(one, "borda", 0.05, 1, 100, batch=2),
    ]
    assert len({cell.key for cell in cells}) == len({cell.seed(0) for cell in cells}) == len(cells)
    assert single_cell(one, "borda", 0.05, 1, 100).key == cells[0].key
