"""Preferences estimated from pairwise results: right where the answer is known, close where it is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import duelmatch as dm
from cases import each


def votes_of(*counted: tuple[str, str, int]) -> list[dm.Answer]:
    return [dm.Answer("chair", (winner, loser)) for winner, loser, times in counted for _ in range(times)]


def test_frequencies_are_shares_of_wins_with_imagined_results_added() -> None:
    prefs = dm.estimate_preferences(votes_of(("ann", "bob", 7), ("bob", "ann", 2)), method="frequencies")
    assert prefs.probability("chair", "ann", "bob") == pytest.approx((7 + 0.5) / (9 + 1))


def test_with_two_candidates_both_methods_agree() -> None:
    votes = votes_of(("ann", "bob", 7), ("bob", "ann", 2))
    for smoothing in (0.1, 1, 5):
        strength = dm.estimate_preferences(votes, smoothing=smoothing)
        shares = dm.estimate_preferences(votes, method="frequencies", smoothing=smoothing)
        assert strength.probability("chair", "ann", "bob") == pytest.approx(
            shares.probability("chair", "ann", "bob"), abs=1e-6
        )


def test_bradley_terry_speaks_about_pairs_that_never_met() -> None:
    votes = votes_of(("ann", "bob", 30), ("bob", "ann", 10), ("bob", "cyd", 30), ("cyd", "bob", 10))
    strength = dm.estimate_preferences(votes, smoothing=0.01)
    assert strength.probability("chair", "ann", "cyd") == pytest.approx(0.9, abs=0.01)
    shares = dm.estimate_preferences(votes, method="frequencies", smoothing=0.01)
    assert shares.probability("chair", "ann", "cyd") == 0.5


def test_who_never_lost_is_not_invincible() -> None:
    prefs = dm.estimate_preferences(votes_of(("ann", "bob", 5), ("bob", "cyd", 5)))
    assert 0.5 < prefs.probability("chair", "ann", "cyd") < 1


def test_bradley_terry_finds_the_strengths_that_answers_were_drawn_from() -> None:
    """10,000 answers for each pair: each probability is off by 0.005 (deviation), so 0.03 is six of them."""
    true = dm.instances.bradley_terry(5, 2, spread=1.0, seed=3)
    rng = np.random.default_rng(11)
    votes = [
        dm.Answer(position, (first, second) if wins else (second, first))
        for (position, first, second), probability in true.items()
        for wins in rng.random(10_000) < probability
    ]
    found = dm.estimate_preferences(votes, true.problem)
    assert np.abs(found.matrix - true.matrix).max() < 0.03


@given(st.lists(st.permutations(["a", "b", "c", "d"]).map(lambda names: names[:2]), min_size=1, max_size=40))
def test_the_likeliest_strengths_explain_every_candidates_wins(pairs: list[list[str]]) -> None:
    """At the maximum, each candidate's expected wins equal the wins, smoothing included."""
    problem = dm.Problem.complete(["a", "b", "c", "d"], ["chair"])
    votes = [dm.Answer("chair", (winner, loser)) for winner, loser in pairs]
    matrix = dm.estimate_preferences(votes, problem).matrix
    wins = np.full((4, 4), 0.5)
    for winner, loser in pairs:
        wins["abcd".index(winner), "abcd".index(loser)] += 1
    np.fill_diagonal(wins, 0)
    expected = (wins + wins.T) * matrix
    assert np.allclose(expected.sum(axis=1), wins.sum(axis=1), atol=1e-5)


def test_a_csv_may_have_weights(tmp_path: Path) -> None:
    plain, weighted = tmp_path / "plain.csv", tmp_path / "weighted.csv"
    plain.write_text("position,winner,loser\n" + "chair,ann,bob\n" * 3 + "chair,bob,ann\n")
    weighted.write_text("position,winner,loser,weight\nchair,ann,bob,3\nchair,bob,ann,1\n")
    assert dm.estimate_preferences(plain) == dm.estimate_preferences(weighted)


def test_what_ask_keeps_can_be_estimated_from(tmp_path: Path) -> None:
    problem = dm.instances.example("lineup").problem
    first, second = [candidate for candidate, position in problem.edges if position == problem.positions[0]][
        :2
    ]
    votes = [dm.Answer(problem.positions[0], (first, second))]
    prefs = dm.estimate_preferences(votes, problem)
    assert prefs.probability(problem.positions[0], first, second) > 0.5
    assert prefs.problem == problem


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("position,winner,loser\n", "There are no answers"),
        ("winner,loser\nann,bob\n", "there is no column 'position'"),
        ("position,winner,loser\nchair,ann,ann\n", "line 2: 'ann' cannot win against itself"),
        ("position,winner,loser\nchair,ann,bob\neditor,ann,bob\nweb,ann,bob\n", "3 positions"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "results.csv"
    path.write_text(text)
    with pytest.raises(dm.DuelmatchError, match=rf"results\.csv: .*{sentence}"):
        dm.estimate_preferences(path)


@each(("given", "sentence"), [({"method": "elo"}, "method"), ({"smoothing": 0}, "smoothing")])
def test_parameters_are_checked(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(dm.ProblemError, match=f"The {sentence} must be"):
        dm.estimate_preferences(votes_of(("ann", "bob", 1)), **given)  # type: ignore[arg-type]


def test_a_vote_outside_the_problem_is_refused() -> None:
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    with pytest.raises(dm.ProblemError, match=r"answer 2: .*'zoe'"):
        dm.estimate_preferences(votes_of(("ann", "bob", 1), ("zoe", "bob", 1)), problem)


def test_ties_and_rankings_are_half_wins_and_all_their_pairs() -> None:
    answers = [
        dm.Answer("chair", ["ann", ("bob", "cyd")], "eve"),
        dm.Answer("chair", ["bob", "ann"], weight=2.0),
    ]
    prefs = dm.estimate_preferences(answers, method="frequencies", smoothing=1.0)
    assert prefs.probability("chair", "bob", "cyd") == 0.5
    assert prefs.probability("chair", "ann", "cyd") == pytest.approx(1.5 / 2)
    assert prefs.probability("chair", "ann", "bob") == pytest.approx(1.5 / 4)


def test_a_file_may_have_voters_ties_and_rankings(tmp_path: Path) -> None:
    duels, rankings = tmp_path / "duels.csv", tmp_path / "rankings.csv"
    duels.write_text(
        "voter,position,winner,loser,tie\neve,chair,ann,bob,no\neve,chair,bob,cyd,yes\neve,chair,ann,cyd,\n"
    )
    rankings.write_text('voter,position,ranking\neve,chair,"ann > bob = cyd"\n')
    assert dm.estimate_preferences(duels) == dm.estimate_preferences(rankings)


def test_answers_that_do_not_count_are_left_out(tmp_path: Path) -> None:
    exported = tmp_path / "study.csv"
    exported.write_text(
        "entry,time,voter,question,position,ranking,struck,counts\n"
        "3,2026-01-01,v1,1,chair,ann > bob,no,yes\n4,2026-01-01,v2,2,chair,bob > ann,yes,no\n"
    )
    prefs = dm.estimate_preferences(exported, method="frequencies")
    assert prefs.probability("chair", "ann", "bob") == pytest.approx(1.5 / 2)


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(dm.ProblemError, match=r"an answer is a dm\.Answer or"):
        dm.estimate_preferences([("chair", "ann")])  # type: ignore[list-item]
