"""Scores, Borda and Condorcet winners against the list of all matchings, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
import duelmatch as dm
from brute import preferences
from cases import each
from duelmatch.errors import ProblemError
from duelmatch.matchings.decisions import best_matching

every_seed = each("seed", brute.SEEDS)

TEAM = dm.Problem.from_edges([("ann", "chair"), ("bob", "chair"), ("bob", "editor"), ("cyd", "editor")])
WIN = {("chair", "ann", "bob"): 0.55, ("editor", "bob", "cyd"): 0.2}


# Winners


def test_what_rounding_leaves_of_a_tie_of_all_matchings_is_no_defeat() -> None:
    """Whoever fills which position, all candidates are in, and each is worth the same everywhere."""
    strength = [0.0, 0.1, 0.17, 0.23, 0.31]
    problem = dm.Problem.complete([f"c{i}" for i in range(5)], [f"s{j}" for j in range(5)])
    better = 0.5 + np.subtract.outer(strength, strength)
    prefs = dm.Preferences.from_matrix(problem, np.tile(better, (5, 5)))
    assert prefs.condorcet_winner() is None
    assert prefs.least_beaten()[1] == 0.0


@every_seed
def test_scores_are_averages_over_positions(seed: int) -> None:
    problem, prefs = brute.problem(seed), preferences(seed)
    everyone = brute.matchings(problem.graph)
    rng = np.random.default_rng([seed, 21])
    for first, second in everyone[rng.integers(len(everyone), size=(5, 2))]:
        expected = np.mean([prefs.matrix[a, b] for a, b in zip(first, second, strict=True)])
        score = prefs.score(problem.matching(first), problem.matching(second))
        assert score == pytest.approx(expected, abs=1e-15)
        assert score + prefs.score(problem.matching(second), problem.matching(first)) == pytest.approx(1.0)


@every_seed
def test_borda_scores_are_averages_over_all_matchings(seed: int) -> None:
    problem, prefs = brute.problem(seed), preferences(seed)
    everyone = brute.matchings(problem.graph)
    expected = brute.borda_scores(problem.graph, prefs.matrix)
    for number in np.random.default_rng([seed, 22]).integers(len(everyone), size=5):
        score = prefs.borda_score(problem.matching(everyone[number]))
        assert score == pytest.approx(expected[number], abs=1e-13)


@every_seed
def test_the_borda_winner_has_the_highest_score_and_the_margin_tells_whether_it_is_alone(seed: int) -> None:
    problem, prefs = brute.problem(seed), preferences(seed)
    scores = brute.borda_scores(problem.graph, prefs.matrix)
    winner = prefs.borda_winner()
    assert prefs.borda_score(winner) == pytest.approx(scores.max(), abs=1e-13)
    others = np.delete(scores, scores.argmax())
    margin = scores.max() - others.max(initial=-np.inf)
    assert prefs.borda_margin() == pytest.approx(margin, abs=1e-12)
    assert (prefs.borda_margin() == 0) == (margin < brute.TIE)
    if margin > brute.TIE:
        assert winner == problem.matching(brute.matchings(problem.graph)[scores.argmax()])


@every_seed
def test_the_condorcet_winner_is_found_or_shown_not_to_exist(seed: int) -> None:
    problem, expected = brute.problem(seed), brute.winner_of(seed)
    found = preferences(seed).condorcet_winner()
    assert found == (None if expected is None else problem.matching(expected))


def test_the_random_preferences_have_ties_winners_and_no_winners() -> None:
    tied = alone = 0
    for seed in brute.SEEDS:
        scores = np.sort(brute.borda_scores(brute.problem(seed).graph, brute.preference_matrix(seed)))
        tied += len(scores) > 1 and scores[-1] - scores[-2] < brute.TIE
        alone += len(scores) == 1
    winners = sum(brute.winner_of(seed) is not None for seed in brute.SEEDS) - alone
    assert tied > 15
    assert winners > 50
    assert len(brute.SEEDS) - alone - winners > 50


@every_seed
def test_the_condorcet_margin_is_the_narrowest_win(seed: int) -> None:
    graph, prefs = brute.problem(seed).graph, preferences(seed)
    everyone = brute.matchings(graph)
    champion = everyone[np.random.default_rng([seed, 23]).integers(len(everyone))]
    others = everyone[(everyone != champion).any(axis=1)]
    expected = (prefs.matrix[champion, others].mean(axis=1) - 0.5).min(initial=np.inf)
    margin = prefs.condorcet_margin(champion)
    assert margin == pytest.approx(expected, abs=1e-12)
    assert (margin == 0) == (abs(expected) < brute.TIE)


@each("wins", [(0.55, 0.65, 0.3), (0.1, 0.7, 0.7), (0.35, 0.45, 0.7)])
def test_rounding_makes_no_winner_of_a_tie(wins: tuple[float, float, float]) -> None:
    """The two matchings of a ring, of which one scores 1/2 and a bit in floating point."""
    ring = dm.Problem.from_edges([("a", "r"), ("b", "r"), ("b", "s"), ("c", "s"), ("c", "t"), ("a", "t")])
    pairs = [("r", "a", "b"), ("s", "b", "c"), ("t", "c", "a")]
    prefs = dm.Preferences(ring, dict(zip(pairs, wins, strict=True)))
    assert prefs.condorcet_winner() is None
    for chosen in ({"r": "a", "s": "b", "t": "c"}, {"r": "b", "s": "c", "t": "a"}):
        assert prefs.condorcet_margin(ring.edge_numbers(chosen)) == 0


@each("margin", [1e-6, 1e-9, 1e-10, 1e-11, 4e-12])
@each("seed", range(12))
def test_a_winner_by_a_hair_is_a_winner(seed: int, margin: float) -> None:
    problem = dm.instances.random_problem(4, 3, seed=seed)
    graph = problem.graph
    rng = np.random.default_rng(seed)
    matrix = brute.mirrored(graph, 0.5 + rng.integers(-1, 2, (graph.edges, graph.edges)) / 10)
    winner = best_matching(graph, rng.random(graph.edges))
    assert winner is not None
    for edge in set(range(graph.edges)) - set(winner.tolist()):
        own = winner[graph.edge_position[edge]]
        matrix[own, edge] = 0.5 + 3 * margin * (1 + rng.random())
        matrix[edge, own] = 1 - matrix[own, edge]
    assert dm.Preferences.from_matrix(problem, matrix).condorcet_winner() == problem.matching(winner)


def test_a_single_tie_denies_the_condorcet_title() -> None:
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
    win = {("chair", "ann", "bob"): 1.0, ("chair", "ann", "cyd"): 0.5, ("chair", "bob", "cyd"): 0.5}
    assert dm.Preferences(problem, win).condorcet_winner() is None
    win["chair", "ann", "cyd"] = 0.500001
    assert dm.Preferences(problem, win).condorcet_winner() == {"chair": "ann"}


def test_a_winner_of_every_position_may_be_unable_to_fill_two() -> None:
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
    win = {("chair", "ann", other): 0.9 for other in ("bob", "cyd")}
    win |= {("editor", "ann", other): 0.6 for other in ("bob", "cyd")}
    win |= {("chair", "bob", "cyd"): 0.5, ("editor", "bob", "cyd"): 0.9}
    assert dm.Preferences(problem, win).condorcet_winner() == {"chair": "ann", "editor": "bob"}
    win |= {("chair", "ann", "bob"): 0.6}
    assert dm.Preferences(problem, win).condorcet_winner() is None


def test_the_only_matching_wins_by_an_infinite_margin() -> None:
    problem = dm.Problem.from_edges([("ann", "chair"), ("bob", "editor"), ("ann", "editor")])
    prefs = dm.Preferences(problem, {("editor", "ann", "bob"): 1.0})
    assert prefs.condorcet_winner() == prefs.borda_winner() == {"chair": "ann", "editor": "bob"}
    assert prefs.borda_margin() == float("inf")
    assert prefs.borda_score(prefs.borda_winner()) == 0.5


@each("seed", range(4))
def test_a_planted_winner_is_found_among_more_matchings_than_can_be_listed(seed: int) -> None:
    prefs = dm.instances.planted(14, 12, gap=0.01, density=0.7, noise=0.4, seed=seed)
    winner = prefs.condorcet_winner()
    assert winner is not None
    assert prefs.condorcet_margin(prefs.problem.edge_numbers(winner)) == pytest.approx(0.01 / 12)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_renaming_everyone_renames_the_winners(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    prefs = dm.instances.uniform(size, min(size, 3), seed=seed)
    order = rng.permutation(size)
    problem = dm.Problem.complete([f"c{i + 1}" for i in order], prefs.problem.positions)
    renamed = dm.Preferences(problem, dict(prefs.items()))
    assert renamed.condorcet_winner() == prefs.condorcet_winner()
    assert renamed.borda_winner() == prefs.borda_winner()


# Building them


def test_one_direction_of_each_pair_is_enough_and_the_reverse_is_implied() -> None:
    prefs = dm.Preferences(TEAM, WIN)
    assert prefs.probability("chair", "ann", "bob") == 0.55
    assert prefs.probability("chair", "bob", "ann") == pytest.approx(0.45)
    assert prefs.probability("editor", "cyd", "cyd") == 0.5
    both = WIN | {("chair", "bob", "ann"): 0.45, ("chair", "ann", "ann"): 0.5}
    assert dm.Preferences(TEAM, both) == prefs


def test_the_matrix_is_in_edge_order_with_zeros_between_positions_and_cannot_be_changed() -> None:
    prefs = dm.Preferences(TEAM, WIN)
    expected = [[0.5, 0.55, 0, 0], [0.45, 0.5, 0, 0], [0, 0, 0.5, 0.2], [0, 0, 0.8, 0.5]]
    np.testing.assert_allclose(prefs.matrix, expected, atol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        prefs.matrix[0, 1] = 0.9


def test_items_list_every_pair_once_and_build_the_same_preferences() -> None:
    prefs = preferences(3)
    items = dict(prefs.items())
    assert len(items) == prefs.problem.graph.pairs
    assert dm.Preferences(prefs.problem, items) == prefs
    assert dict(dm.Preferences(TEAM, WIN).items()) == WIN


def test_a_matrix_builds_the_same_preferences_and_is_copied() -> None:
    matrix = np.array(dm.Preferences(TEAM, WIN).matrix)
    matrix[0, 2] = 0.7  # another position: ignored
    prefs = dm.Preferences.from_matrix(TEAM, matrix)
    assert prefs == dm.Preferences(TEAM, WIN)
    matrix[0, 1] = 0.9
    assert prefs.probability("chair", "ann", "bob") == 0.55


def test_a_slightly_rounded_matrix_is_made_consistent() -> None:
    matrix = np.array(dm.Preferences(TEAM, WIN).matrix)
    matrix[1, 0] += 5e-10
    matrix[0, 0] += 4e-10
    prefs = dm.Preferences.from_matrix(TEAM, matrix)
    assert prefs.probability("chair", "ann", "bob") + prefs.probability("chair", "bob", "ann") == 1.0
    assert prefs.probability("chair", "ann", "ann") == 0.5


def test_preferences_differ_when_a_probability_or_the_problem_differs() -> None:
    prefs = dm.Preferences(TEAM, WIN)
    assert prefs != dm.Preferences(TEAM, WIN | {("chair", "ann", "bob"): 0.6})
    assert prefs != "prefs"
    larger = dm.Problem.from_edges(TEAM.edges, candidates=["ann", "bob", "cyd", "dan"])
    assert prefs != dm.Preferences(larger, WIN)
    with pytest.raises(TypeError, match="unhashable"):
        hash(prefs)


def test_the_representation_shows_the_pairs() -> None:
    text = repr(dm.Preferences(TEAM, WIN))
    assert "('chair', 'ann', 'bob'): 0.55" in text
    assert "Problem(" in text


def test_rewards_are_named_by_edge() -> None:
    rewards = dm.Preferences(TEAM, WIN).rewards()
    assert list(rewards) == list(TEAM.edges)
    # three matchings: ann-bob, ann-cyd, bob-cyd
    assert rewards["ann", "chair"] == pytest.approx((0.5 + 0.5 + 0.55) / 3)
    assert rewards["cyd", "editor"] == pytest.approx((0.8 + 0.5 + 0.5) / 3)


@pytest.mark.parametrize(
    ("win", "message"),
    [
        ({}, "The probability of 'ann against bob at chair' and 'bob against cyd at editor' is missing"),
        (WIN | {("chair", "bob", "ann"): 0.55}, "contradict each other: they imply both 0.45 and 0.55"),
        (WIN | {("chair", "bob", "ann"): 0.450001}, "contradict each other"),
        (WIN | {("chair", "ann", "ann"): 0.6}, "'ann' against itself at 'chair' is 0.5 by definition"),
        (WIN | {("chair", "ann", "dan"): 0.6}, "There is no candidate 'dan'"),
        (WIN | {("cook", "ann", "bob"): 0.6}, "There is no position 'cook'"),
        (WIN | {("chair", "ann", "cyd"): 0.6}, "'cyd' is not a candidate for position 'chair'"),
        (WIN | {("chair", "ann"): 0.6}, r"A pair is \(position, first, second\), not \('chair', 'ann'\)"),
        ([(("chair", "ann", "bob"), 0.6)], "Preferences are a mapping from"),
    ],
)
def test_bad_preferences_are_refused_by_name(win: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        dm.Preferences(TEAM, win)


@each(
    ("probability", "message"),
    [
        (1.5, "must lie between 0 and 1, not 1.5"),
        (-0.1, "must lie between 0 and 1, not -0.1"),
        (float("nan"), "must lie between 0 and 1, not nan"),
        ("0.5", "must be a number, not '0.5'"),
        (True, "must be a number, not True"),
        (None, "must be a number, not None"),
    ],
)
def test_what_is_no_probability_is_refused(probability: object, message: str) -> None:
    win: dict = WIN | {("chair", "ann", "bob"): probability}
    with pytest.raises(ProblemError, match=message):
        dm.Preferences(TEAM, win)


def test_many_missing_pairs_are_counted_rather_than_listed() -> None:
    with pytest.raises(ProblemError, match=r"… and 7 more is missing"):
        dm.Preferences(dm.Problem.complete(["ann", "bob", "cyd", "dan", "eve"], ["chair"]), {})


def changed(row: int, column: int, value: float) -> np.ndarray:
    matrix = np.array(dm.Preferences(TEAM, WIN).matrix)
    matrix[row, column] = value
    return matrix


@each(
    ("matrix", "message"),
    [
        (np.zeros((3, 3)), "The matrix must be 4 x 4, one row and column per edge, not 3 x 3"),
        (np.zeros(4), "The matrix must be 4 x 4, one row and column per edge, not 4"),
        (changed(0, 1, float("nan")), "must be a probability between 0 and 1"),
        (changed(0, 1, 1.2), "must be a probability between 0 and 1"),
        (changed(0, 1, 0.6), r"P\[a, b\] \+ P\[b, a\] = 1"),
        (changed(2, 2, 0.6), "with 0.5 on its diagonal"),
        ([[0.5, 0.5], [0.5]], "must be a probability between 0 and 1"),
        ("matrix", "must be a probability between 0 and 1"),
    ],
)
def test_bad_matrices_are_refused(matrix: object, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        dm.Preferences.from_matrix(TEAM, matrix)  # type: ignore[arg-type]


@each(
    ("matching", "message"),
    [
        ({"chair": "ann"}, "leaves 'editor' empty"),
        ({"chair": "bob", "editor": "bob"}, "'bob' would fill several"),
        ({"chair": "cyd", "editor": "bob"}, "'cyd' is not a candidate for position 'chair'"),
        ({"chair": "ann", "editor": "bob", "cook": "cyd"}, "There is no position 'cook'"),
    ],
)
def test_scores_of_what_is_no_matching_are_refused(matching: dict, message: str) -> None:
    prefs = dm.Preferences(TEAM, WIN)
    good = {"chair": "ann", "editor": "cyd"}
    for compute in (
        lambda: prefs.score(matching, good),
        lambda: prefs.score(good, matching),
        lambda: prefs.borda_score(matching),
    ):
        with pytest.raises(ProblemError, match=message):
            compute()


def test_probabilities_of_unknown_names_are_refused() -> None:
    prefs = dm.Preferences(TEAM, WIN)
    with pytest.raises(ProblemError, match="There is no candidate 'dan'"):
        prefs.probability("chair", "ann", "dan")
    with pytest.raises(ProblemError, match="There is no position 'cook'"):
        prefs.probability("cook", "ann", "bob")
