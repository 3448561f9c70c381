"""Standings: an estimate from all answers."""

from __future__ import annotations

import numpy as np
import pytest

import duelmatch as dm
from brute import random_answers
from duelmatch.experiments.simulation import simulated_run
from duelmatch.models.standings import _tables, standings_from_counts

BOTH = ("condorcet", "borda")
both = pytest.mark.parametrize("criterion", BOTH)
TEAM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
LOPSIDED = [
    ("chair", "ann", "bob"),
    ("chair", "ann", "cyd"),
    ("editor", "bob", "cyd"),
    ("editor", "bob", "ann"),
]


@both
def test_who_wins_every_duel_leads_and_is_nearly_sure(criterion):
    found = dm.standings(TEAM, 25 * LOPSIDED, criterion)
    assert found.leader == {"chair": "ann", "editor": "bob"}
    assert found.probability["ann", "chair"] > 0.95
    assert found.expected_shortfall < 0.01
    assert found.leader_probability > 0.9
    assert found.answers == 100


@both
def test_without_answers_everything_is_open(criterion):
    found = dm.standings(TEAM, [], criterion)
    shares = [found.probability[name, "chair"] for name in TEAM.candidates]
    assert sum(shares) == pytest.approx(1.0)
    assert max(shares) < 0.5
    assert found.expected_shortfall > 0.03


@both
def test_each_position_has_one_candidate_in_the_best_matching(criterion):
    found = dm.standings(TEAM, LOPSIDED, criterion)
    for position in TEAM.positions:
        assert sum(found.probability[name, position] for name in TEAM.candidates) == pytest.approx(1.0)
    for name in TEAM.candidates:
        assert sum(found.probability[name, position] for position in TEAM.positions) <= 1.0 + 1e-9


def test_the_same_seed_gives_the_same_standings():
    assert dm.standings(TEAM, LOPSIDED, seed=3) == dm.standings(TEAM, LOPSIDED, seed=3)


def test_answers_come_in_many_forms():
    ranking = dm.Answer("chair", ["ann", ("bob", "cyd")], voter="eve")
    forms = [
        [ranking],
        [("chair", "ann", "bob"), ("chair", "ann", "cyd"), ("chair", "bob", "cyd", "=")],
        [dm.Answer("chair", ["ann", "bob"]), ("chair", "ann", "cyd"), dm.Answer("chair", [("cyd", "bob")])],
    ]
    first, *others = [dm.standings(TEAM, answers) for answers in forms]
    assert all(other == first for other in others)
    assert first.answers == 3


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (("chair", "ann"), "answer 1: an answer is a dm.Answer or .position, winner, loser."),
        (("chair", "ann", "zoe"), "answer 1: .*zoe"),
        (("chair", "ann", "ann"), "answer 1: 'ann' is ranked twice"),
        (3, "answer 1: an answer is a dm.Answer"),
    ],
)
def test_what_is_no_answer_is_refused_in_a_sentence(answer, sentence):
    with pytest.raises(dm.ProblemError, match=sentence):
        dm.standings(TEAM, [answer])


def test_what_is_no_list_of_answers_or_no_problem_is_refused_in_a_sentence():
    problem = dm.Problem.complete(["ann", "bob"], ["chair"])
    with pytest.raises(dm.ProblemError, match="must be a list of them, not None"):
        dm.standings(problem, None)
    with pytest.raises(dm.ProblemError, match="needs a Problem, not 5"):
        dm.standings(5, [])


def test_a_criterion_that_does_not_exist_is_refused():
    with pytest.raises(dm.ProblemError, match="'borda' or 'condorcet'"):
        dm.standings(TEAM, [], "best")  # type: ignore[arg-type]


ALL_FOUR = dm.Problem.complete(
    ["ann", "bob", "cyd", "dan"],
    ["chair", "jury"],
    capacity={"ann": 2},
    seats={"jury": 2},
    weight={"chair": 2.0},
    rules=[dm.Rule(of=["cyd"], at_least=1)],
)


@both
def test_capacities_seats_weights_and_rules_are_obeyed(criterion):
    alphabetical = [
        (position, one, other)
        for position in ALL_FOUR.positions
        for one in ALL_FOUR.candidates
        for other in ALL_FOUR.candidates
        if one < other
    ]
    found = dm.standings(ALL_FOUR, 12 * alphabetical, criterion)
    assert found.leader == {"chair": "ann", "jury": ("ann", "cyd")}
    assert sum(found.probability[name, "jury"] for name in ALL_FOUR.candidates) == pytest.approx(2.0)
    assert found.probability["cyd", "jury"] + found.probability["cyd", "chair"] >= 1.0
    assert found.leader_probability > 0.5
    assert "jury: ann (" in str(found)
    assert " and cyd (" in str(found)


@both
def test_a_run_with_seats_and_rules_has_standings_too(criterion):
    run = dm.explorer(criterion, ALL_FOUR, seed=1, batch=60)
    for duel in run.ask(60):
        run.tell(duel, min(duel.candidates))
    assert run.standings().leader["chair"] == "ann"
    ballots = dm.explorer(criterion, ALL_FOUR, seed=1)
    for question in ballots.ask(4, voter="eve"):
        ballots.tell(question, min(question.candidates))
    assert ballots.standings().answers == 4


def test_large_problems_under_rules_take_good_decisions_and_fewer_draws():
    names, positions = [f"c{number}" for number in range(12)], list("stuvwx")
    rules = [dm.Rule(of=names[:3], at_most=1), dm.Rule(together=names[3:5])]
    found = dm.standings(dm.Problem.complete(names, positions, rules=rules), [], "condorcet")
    assert sum(found.probability.values()) == pytest.approx(len(positions))


def test_a_circle_has_no_condorcet_winner_and_borda_always_one():
    trio = dm.Problem.complete(["a", "b", "c"], ["s"])
    circle = 100 * [("s", "a", "b"), ("s", "b", "c"), ("s", "c", "a")]
    assert dm.standings(trio, circle, "condorcet").winner_probability < 0.05
    assert dm.standings(trio, circle, "borda").winner_probability == 1.0


def test_ties_leave_less_open_than_coins():
    trio = dm.Problem.complete(["a", "b", "c"], ["s"])
    table = trio.graph.pair_table
    wins, duels = np.array([33.0, 33.0, 30.0]), np.full(table.count, 60.0)
    coins = standings_from_counts(trio, wins, duels, "borda", ties=0)
    ties = standings_from_counts(trio, wins, duels, "borda", ties=120)
    assert ties.probability["a", "s"] > coins.probability["a", "s"] + 0.03


@both
def test_a_panel_with_nothing_open_is_certain(criterion):
    preferences = dm.instances.bradley_terry(5, 3, spread=1.0, seed=2)
    wins, duels = random_answers(preferences, 900)
    found = standings_from_counts(preferences.problem, wins, duels, criterion, awaited=np.zeros(len(wins)))
    count = dm.Preferences.from_matrix(preferences.problem, shares(preferences.problem, wins, duels))
    best = count.borda_winner() if criterion == "borda" else count.least_beaten()[0]
    assert found.leader == best
    assert found.leader_probability == 1.0


def test_a_panel_with_much_open_is_not():
    preferences = dm.instances.bradley_terry(5, 3, spread=0.5, seed=2)
    wins, duels = random_answers(preferences, 60)
    found = standings_from_counts(
        preferences.problem, wins, duels, "borda", awaited=20 - np.minimum(duels, 20)
    )
    assert found.leader_probability < 0.9


def shares(problem, wins, duels):
    table, size = problem.graph.pair_table, problem.graph.edges
    matrix = np.full((size, size), 0.5)
    matrix[table.first, table.second] = wins / duels
    matrix[table.second, table.first] = 1 - wins / duels
    return matrix


@both
def test_a_run_tells_the_standings_from_all_its_answers(criterion):
    preferences = dm.instances.bradley_terry(4, 2, spread=1.0, seed=1)
    run = simulated_run(preferences, criterion, seed=1, max_duels=120)
    assert run.standings().answers == run.duels == 120
    assert run.standings().criterion == criterion


def test_the_seed_is_that_of_the_draws():
    answers = [("chair", "ann", "bob"), ("editor", "bob", "ann")]
    one, again, other = (dm.standings(TEAM, answers, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one.probability != other.probability


def test_no_more_answers_come_than_are_awaited():
    """Of ten that were given and ten that are open, no more than twenty are won, and none is lost again."""
    graph = dm.Problem.complete(["ann", "bob"], ["chair"]).graph
    rng, ten = np.random.default_rng(1), np.array([10.0])
    won, lost = (_tables(graph, np.array([wins]), ten, 0.0, ten, rng, 2_000) for wins in (10.0, 0.0))
    assert won.max() == 1.0
    assert lost.min() == 0.0
    assert won.min() >= 0.5 >= lost.max()


def test_a_run_counts_the_answers_of_a_round_that_is_not_complete():
    run = dm.explorer("condorcet", TEAM, seed=1, batch=10)
    for duel in run.ask(3):
        run.tell(duel, None)
    assert run.standings().answers == 3
    assert run.progress.leader is None


def test_counts_do_not_depend_on_who_is_named_first():
    run = dm.explorer("condorcet", TEAM, seed=1, batch=50)
    while run.duels < 50:
        (duel,) = run.ask()
        run.tell(duel, min(duel.candidates))
    wins, duels, ties = run.answer_counts.counted()
    assert (wins == duels).all()
    assert (duels.sum(), ties) == (50, 0)


def test_rounds_are_counted_the_same_however_many_have_come(monkeypatch):
    preferences = dm.instances.bradley_terry(4, 2, spread=1.0, seed=1)
    run = simulated_run(preferences, "car-cond", seed=1, max_duels=300)
    monkeypatch.setattr("duelmatch.explorers.explorer.MOST_UNCOUNTED", 3)
    often = simulated_run(preferences, "car-cond", seed=1, max_duels=300)
    for one, other in zip(run.answer_counts.counted(), often.answer_counts.counted(), strict=True):
        assert np.array_equal(one, other)


@both
def test_a_run_of_voters_counts_everybody_but_who_is_struck(criterion):
    run = dm.explorer(criterion, TEAM, seed=1, ballot_size=2)
    for voter in ("eve", "ned", "zed"):
        for question in run.ask(2, voter=voter):
            run.tell(question, min(question.candidates) if voter != "zed" else None)
    run.ballots.strike("ned")
    assert run.standings().answers == 4
    run.ballots.reinstate("ned")
    assert run.standings().answers == 6


@both
def test_who_has_left_is_in_no_standings(criterion):
    run = dm.explorer(
        criterion, dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor"]), seed=1
    )
    for number in range(20):
        for question in run.ask(4, voter=f"voter {number}"):
            run.tell(question, min(question.candidates))
    assert "ann" in run.standings().leader.values()
    run.ballots.drop("ann")
    found = run.standings()
    assert "ann" not in found.leader.values()
    assert found.probability["ann", "chair"] == found.probability["ann", "editor"] == 0.0


def test_standings_are_against_the_reference_of_the_run():
    prefs = dm.instances.example("lineup")
    problem = prefs.problem
    first = {edge: float(edge[0] == problem.candidates[0]) for edge in problem.edges}
    runs = [dm.explorer("borda", problem, seed=1, batch=200, reference=name) for name in ("decisions", first)]
    for run in runs:
        for duel in run.ask(200):
            run.tell(
                duel,
                duel.first
                if prefs.probability(duel.position, duel.first, duel.second) > 0.5
                else duel.second,
            )
    one, other = (run.standings() for run in runs)
    assert one.expected_shortfall != other.expected_shortfall


AGAINST_DAN = {("dan", "chair"): 1.0, ("dan", "jury"): 1.0}


@pytest.mark.parametrize(
    ("reference", "met"),
    [
        ("decisions", None),
        ("candidates", [0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0.5]),
        (AGAINST_DAN, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0]),
    ],
    ids=["decisions", "candidates", "given"],
)
def test_standings_of_a_run_of_duels_are_those_of_its_answers_against_its_reference(reference, met):
    problem = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "jury"], seats={"jury": 2})
    run = dm.explorer("borda", problem, seed=1, batch=60, reference=reference)
    answers = []
    for duel in run.ask(60):
        run.tell(duel, min(duel.candidates))
        answers.append((duel.position, min(duel.candidates), max(duel.candidates)))
    marginals = None if met is None else np.array(met)
    assert run.standings() == dm.standings(problem, answers, "borda", marginals=marginals)


@both
def test_it_says_that_it_is_an_estimate(criterion):
    assert "an estimate from 4 answers" in str(dm.standings(TEAM, LOPSIDED, criterion))


@both
def test_the_leader_is_as_good_as_expected_on_average(criterion):
    """Over 40 instances of the kind the model describes, expected and actual shortfall agree roughly."""
    expected, actual = [], []
    for seed in range(40):
        preferences = dm.instances.bradley_terry(5, 2, spread=0.8, seed=seed)
        wins, duels = random_answers(preferences, 100, seed)
        found = standings_from_counts(preferences.problem, wins, duels, criterion)
        expected.append(found.expected_shortfall)
        if criterion == "borda":
            best = preferences.borda_score(preferences.borda_winner())
            actual.append(best - preferences.borda_score(found.leader))
        else:
            edges = preferences.problem.edge_numbers(found.leader)
            actual.append(max(0.0, -preferences.condorcet_margin(edges)))
    assert 0.5 < np.mean(actual) / np.mean(expected) < 1.5
