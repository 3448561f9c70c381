"""Capacities, seats, weights and rules of a problem: what they mean, and what is refused."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest

import duelmatch as dm
from cases import each
from duelmatch.errors import NoMatchingError, ProblemError
from duelmatch.problem import Matching, Problem
from duelmatch.rules import Rule

NAMES, PLACES = ["ann", "bob", "cyd", "dan"], ["chair", "jury"]

JURY = Problem.complete(
    NAMES,
    PLACES,
    capacity={"ann": 2},
    seats={"jury": 2},
    weight={"chair": 2},
    rules=[Rule(of=["ann", "bob"], at_most=2), Rule(together=["cyd", ("dan", "jury")])],
)


def test_what_is_the_usual_is_left_out():
    usual = Problem.complete(NAMES, PLACES, capacity={"ann": 1}, seats={"jury": 1}, weight={"chair": 1.0})
    assert usual == Problem.complete(NAMES, PLACES)
    assert usual.conditions == ()
    assert JURY.conditions == ("capacity", "seats", "weight", "rules")
    assert Problem.complete(NAMES, PLACES) != JURY


def test_a_problem_with_conditions_is_hashable_and_survives_pickling():
    again = pickle.loads(pickle.dumps(JURY))
    assert again == JURY
    assert hash(again) == hash(JURY)
    assert again.graph.places == 3
    graph = pickle.loads(pickle.dumps(JURY.graph))
    assert (graph.capacity == JURY.graph.capacity).all()
    assert not graph.start.flags.writeable, "or whatever uses it is compiled a second time"


def test_a_matching_of_several_seats_has_tuples_in_the_order_of_candidates():
    edges = JURY.edge_numbers({"jury": ["dan", "cyd"], "chair": "ann"})
    assert JURY.matching(reversed(edges.tolist())) == {"chair": "ann", "jury": ("cyd", "dan")}
    assert hash(JURY.matching(edges)) == hash(Matching({"jury": ("cyd", "dan"), "chair": "ann"}))


@each(
    ("matching", "sentence"),
    [
        ({"chair": "bob", "jury": "ann"}, "'jury' has 2 seats, but the matching names 1"),
        ({"chair": ("bob", "cyd"), "jury": ("ann", "dan")}, "'chair' has one seat, but the matching names 2"),
        ({"chair": "bob", "jury": ("ann", "ann")}, "fills two seats of 'jury'"),
        ({"chair": "bob", "jury": ("bob", "dan")}, "'bob' can fill 1 at most, but would fill 2"),
        ({"chair": "ann", "jury": ("ann", "bob")}, "breaks the rule that 'ann' and 'bob' fill at most 2"),
        ({"chair": "ann", "jury": ("bob", "cyd")}, "breaks the rule that 'cyd' and 'dan at jury' are all"),
    ],
)
def test_a_matching_that_breaks_a_condition_is_refused(matching, sentence):
    with pytest.raises(ProblemError, match=sentence):
        JURY.edge_numbers(matching)


@each(
    ("conditions", "sentence"),
    [
        ({"capacity": {"ann": 0}}, "capacity of 'ann' must be a whole number of at least 1, not 0"),
        ({"capacity": {"ann": True}}, "must be a whole number of at least 1, not True"),
        ({"capacity": {"eve": 2}}, "The capacity is given for 'eve', but there is no such candidate"),
        ({"capacity": 3}, "The capacity is given by name"),
        ({"seats": {"jury": 1.5}}, "number of seats of 'jury' must be a whole number of at least 1"),
        ({"seats": {"ann": 2}}, "for 'ann', but there is no such position"),
        ({"weight": {"jury": 0}}, "weight of 'jury' must be a number above 0, not 0"),
        ({"weight": {"jury": float("inf")}}, "must be a number above 0, not inf"),
        ({"weight": {"jury": "2"}}, "must be a number above 0, not '2'"),
        ({"weight": {"jury": 1e9}}, "must lie between 1e-06 and 1e\\+06"),
        ({"weight": {"jury": 10**400}}, "must lie between 1e-06 and 1e\\+06, not 1000"),
        ({"capacity": {"ann": 10**30}}, "must be a whole number from 1 to 1,000,000, not 1000"),
        ({"rules": [Rule(of=["eve"], at_most=1)]}, "A rule names 'eve', but there is no such candidate"),
        ({"rules": [Rule(of=[("ann", "cook")], at_most=1)]}, "names 'cook', but there is no such position"),
        ({"rules": ["ann"]}, "A rule is a duelmatch.Rule, not 'ann'"),
        ({"rules": Rule(of=["ann"], at_most=1)}, "The rules are a list of Rule"),
    ],
)
def test_a_bad_condition_is_refused_in_one_sentence(conditions, sentence):
    with pytest.raises(ProblemError, match=sentence):
        Problem.complete(NAMES, PLACES, **conditions)


@each(
    ("said", "sentence"),
    [
        ({}, "A rule needs 'of' or 'together'"),
        ({"of": ["a"]}, "needs 'at_most' or 'at_least'"),
        ({"of": ["a"], "at_most": 10**400}, "'at_most' of a rule must be at most 1,000,000."),
        ({"of": "a", "at_most": 1}, "a list of candidates or edges, not 'a'"),
        ({"of": [3], "at_most": 1}, "speaks of candidates and of edges"),
        ({"of": ["a", "a"], "at_most": 1}, "names 'a' twice"),
        ({"of": ["a"], "at_most": -1}, "a whole number of at least 0, not -1"),
        ({"of": ["a"], "at_least": 0}, "a whole number of at least 1, not 0"),
        ({"of": ["a"], "at_least": 2, "at_most": 1}, "contradicts itself: at least 2 and at most 1"),
        ({"together": ["a"]}, "keeps only 'a' together says nothing"),
        ({"together": ["a", "b"], "at_most": 1}, "either 'together', or 'of'"),
    ],
)
def test_a_rule_that_says_nothing_or_contradicts_itself_is_refused(said, sentence):
    with pytest.raises(ProblemError, match=sentence):
        Rule(**said)


def test_a_rule_about_an_edge_that_is_not_there_is_refused():
    with pytest.raises(ProblemError, match="names 'bob' at 'chair', who is not a candidate for it"):
        Problem.from_edges(
            [("ann", "chair"), ("bob", "jury")], rules=[Rule(of=[("bob", "chair")], at_most=1)]
        )


@each(
    ("conditions", "sentence"),
    [
        (
            {"seats": {"jury": 5}},
            "'jury' has 5 seats, of which 'ann', 'bob', 'cyd' and 'dan' can fill only 4",
        ),
        ({"seats": {"jury": 4}}, "the 2 positions 'chair' and 'jury' have 5 seats, of which .* only 4"),
        (
            {"rules": [Rule(of=["ann"], at_least=2)]},
            "No decision obeys the rule that 'ann' fills at least 2 places",
        ),
        (
            {
                "rules": [
                    Rule(of=["ann"], at_most=1),
                    Rule(of=NAMES[:2], at_most=0),
                    Rule(of=NAMES[2:], at_most=1),
                ]
            },
            "other: 'ann' and 'bob' fill at most 0 places; 'cyd' and 'dan' fill at most 1 place",
        ),
    ],
)
def test_a_problem_without_any_decision_says_why(conditions, sentence):
    with pytest.raises(NoMatchingError, match=sentence):
        Problem.complete(NAMES, PLACES, **conditions)


def test_enough_capacity_makes_a_problem_possible():
    seats = {"jury": 2, "chair": 2}
    with pytest.raises(NoMatchingError, match="4 seats, of which 'ann' and 'bob' can fill only 2"):
        Problem.complete(NAMES[:2], PLACES, seats=seats)
    problem = Problem.complete(NAMES[:2], PLACES, seats=seats, capacity={"ann": 2, "bob": 2})
    assert dm.matchings.count(problem) == 1


@each("seed", range(40))
def test_the_contradictory_rules_named_are_a_smallest_set(seed):
    rng = np.random.default_rng(seed)
    rules = []
    for _ in range(6):
        items = [NAMES[number] for number in rng.permutation(4)[:2].tolist()]
        kind = int(rng.integers(3))
        if kind == 0:
            rules.append(Rule(of=items, at_most=int(rng.integers(0, 2))))
        elif kind == 1:
            rules.append(Rule(of=items, at_least=1))
        else:
            rules.append(Rule(together=items))

    def refused(some):
        try:
            Problem.complete(NAMES, PLACES, rules=some)
        except NoMatchingError as error:
            return str(error)
        return None

    sentence = refused(rules)
    if sentence is None:
        return
    subsets = (some for size in range(1, 7) for some in combinations(rules, size))
    smallest = next(len(some) for some in subsets if refused(list(some)))
    assert sum(sentence.count(rule.sentence) > 0 for rule in dict.fromkeys(rules)) >= smallest
    assert sentence.count(";") == smallest - 1


def test_whoever_cannot_take_conditions_says_so():
    for name in ("car-cond", "car-verify", "car-parallel"):
        with pytest.raises(ProblemError, match=f"{name} cannot take seats and rules: accepted candidates"):
            dm.explorer(name, JURY)


def test_an_algorithm_of_another_package_is_not_given_what_it_does_not_know():
    other = dm.Algorithm("from-elsewhere", "borda", lambda *arguments: None)
    with pytest.raises(ProblemError, match="from-elsewhere cannot take capacity and seats"):
        other.check_conditions(JURY)


@each(
    ("algorithm", "parameters"),
    [("clucb-borda-pac", {"epsilon": 0.15}), ("clucb-borda-exact", {}), ("borda", {})],
)
def test_the_borda_winner_is_found_under_all_conditions_at_once(algorithm, parameters):
    preferences = decided(JURY)
    result = dm.simulate(preferences, algorithm, delta=0.01, seed=3, **parameters)
    assert result.matching == preferences.borda_winner()
    assert "jury: " in str(result)


@each("algorithm", ["car-cond", "car-verify", "car-parallel", "condorcet"])
def test_the_condorcet_winner_is_found_under_capacities_and_weights(algorithm):
    problem = Problem.complete(NAMES, PLACES, capacity={"ann": 2}, weight={"jury": 3})
    preferences = decided(problem)
    result = dm.simulate(preferences, algorithm, delta=0.01, seed=3)
    assert result.status == "certified"
    assert result.matching == preferences.condorcet_winner() == {"chair": "ann", "jury": "ann"}


def test_the_subgradient_method_is_for_matchings():
    problem = Problem.complete(NAMES, PLACES, capacity={"ann": 2})
    with pytest.raises(ProblemError, match="subgradient method is for one-to-one matchings"):
        dm.explorer("car-cond", problem, oracle="subgradient")
    with pytest.raises(ProblemError, match="subgradient method is for one-to-one matchings"):
        dm.matchings.game_value(problem, np.eye(8), method="subgradient")


def decided(problem: Problem) -> dm.Preferences:
    """Return preferences by which everybody beats those after them."""
    place = {name: number for number, name in enumerate(problem.candidates)}
    strength = np.array([-place[candidate] for candidate, _ in problem.edges])
    matrix = np.where(problem.graph.comparable, 0.5 + 0.12 * (strength[:, None] - strength), 0.0)
    return dm.Preferences.from_matrix(problem, matrix)
