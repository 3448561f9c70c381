"""The worked example of Figures 1 to 4, number by number."""

from __future__ import annotations

import numpy as np
import pytest

import brute
import duelmatch as dm

PREFS = dm.instances.paper_example()
TEAM = PREFS.problem
E1, E2, E3, E4, E5 = ("c1", "s1"), ("c2", "s1"), ("c3", "s1"), ("c3", "s2"), ("c4", "s2")
BORDA = dm.Matching({"s1": "c1", "s2": "c4"})
CONDORCET = dm.Matching({"s1": "c2", "s2": "c4"})
EVERYONE = [
    dm.Matching({"s1": "c1", "s2": "c3"}),
    BORDA,
    dm.Matching({"s1": "c2", "s2": "c3"}),
    CONDORCET,
    dm.Matching({"s1": "c3", "s2": "c4"}),
]


def test_figure_1_has_four_candidates_two_positions_and_five_edges_in_order() -> None:
    assert TEAM.candidates == ("c1", "c2", "c3", "c4")
    assert TEAM.positions == ("s1", "s2")
    assert TEAM.edges == (E1, E2, E3, E4, E5)
    assert TEAM.graph.pairs == 4


def test_figure_2_is_the_preference_matrix() -> None:
    np.testing.assert_allclose(
        PREFS.matrix,
        [
            [0.5, 0.45, 1, 0, 0],
            [0.55, 0.5, 0.55, 0, 0],
            [0, 0.45, 0.5, 0, 0],
            [0, 0, 0, 0.5, 0],
            [0, 0, 0, 1, 0.5],
        ],
        atol=1e-15,
    )


def test_there_are_five_maximum_matchings() -> None:
    assert dm.matchings.count(TEAM) == 5
    assert {TEAM.matching(row) for row in brute.matchings(TEAM.graph)} == set(EVERYONE)
    assert set(dm.matchings.sample(TEAM, 300, seed=1)) == set(EVERYONE)


def test_marginals_of_a_uniform_matching() -> None:
    expected = {E1: 0.4, E2: 0.4, E3: 0.2, E4: 0.4, E5: 0.6}
    assert dm.matchings.marginals(TEAM) == pytest.approx(expected, abs=1e-15)


def test_rewards() -> None:
    expected = {E1: 0.58, E2: 0.53, E3: 0.28, E4: 0.20, E5: 0.70}
    assert PREFS.rewards() == pytest.approx(expected, abs=1e-15)


def test_figure_3_the_borda_winner_is_e1_e5() -> None:
    assert PREFS.borda_winner() == BORDA
    assert PREFS.borda_score(BORDA) == pytest.approx(0.64)
    assert PREFS.borda_margin() == pytest.approx(0.64 - 0.615)


def test_figure_4_the_condorcet_winner_is_e2_e5_and_not_the_borda_winner() -> None:
    assert PREFS.condorcet_winner() == CONDORCET
    assert PREFS.borda_score(CONDORCET) == pytest.approx(0.615)
    assert PREFS.condorcet_winner() != PREFS.borda_winner()


def test_the_condorcet_winner_beats_each_of_the_other_four() -> None:
    scores = [PREFS.score(CONDORCET, other) for other in EVERYONE]
    assert scores == pytest.approx([0.775, 0.525, 0.75, 0.5, 0.525])


def test_the_best_matching_under_the_rewards_is_the_borda_winner() -> None:
    assert dm.matchings.best(TEAM, PREFS.rewards()) == BORDA
    assert dm.matchings.best(TEAM, PREFS.rewards(), forbidden=[E1]) == CONDORCET
    assert dm.matchings.best(TEAM, PREFS.rewards(), required=[E4]) == EVERYONE[0]
    assert dm.matchings.best(TEAM, PREFS.rewards(), required=[E3, E4]) is None
    assert dm.matchings.best_other(TEAM, PREFS.rewards(), BORDA) == CONDORCET


def test_the_game_is_even_and_the_condorcet_winner_is_its_only_solution() -> None:
    solution = dm.matchings.solve_game(TEAM, PREFS.matrix)
    assert solution.value == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(solution.x, [0, 1, 0, 0, 1], atol=1e-9)
    # without e2, x can do no better than e1 and e5, which lose to the winner
    assert dm.matchings.game_value(TEAM, PREFS.matrix, forbidden_x=[E2]) == pytest.approx(0.475)


def test_gaps_width_and_hardness() -> None:
    # w(M): 0.78, 1.28, 0.73, 1.23, 0.98
    borda = {E1: 0.05, E2: 0.05, E3: 0.30, E4: 0.50, E5: 0.50}
    assert dm.theory.borda_gaps(PREFS) == pytest.approx(borda)
    assert dm.theory.borda_hardness(PREFS) == pytest.approx(2 / 0.05**2 + 1 / 0.3**2 + 2 / 0.5**2)
    # f(M, winner): 0.225, 0.475, 0.25, 0.5, 0.475
    condorcet = {E1: 0.025, E2: 0.025, E3: 0.025, E4: 0.25, E5: 0.25}
    assert dm.theory.condorcet_gaps(PREFS) == pytest.approx(condorcet)
    # {e3, e5} and {e1, e5} differ from the winner in one position, {e2, e4} in one, {e1, e4} in two
    assert dm.theory.verification_gaps(PREFS) == pytest.approx({E1: 0.05, E3: 0.05, E4: 0.275})
    assert dm.theory.width(TEAM) == 4


def test_figures_5_to_7_every_matching_is_two_perfect_matchings_of_the_completed_graph() -> None:
    """Appendix B.2: with n - l = 2 fictitious positions, each maximum matching counts (n - l)! times."""
    names = TEAM.candidates
    fictitious = [(name, position) for name in names for position in ("s3", "s4")]
    completed = dm.Problem.from_edges([*TEAM.edges, *fictitious], candidates=names)
    assert dm.matchings.count(TEAM) == 5
    assert dm.matchings.count(completed) == 2 * 5
