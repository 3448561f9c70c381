"""What a run of condorcet or borda promises and reports, from the outside."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import brute
import duelmatch as dm
from cases import each
from duelmatch.experiments.simulation import answer_round
from duelmatch.explorers.frugal import search
from duelmatch.explorers.frugal.listed import Ledger, ListedRivals, Proof
from duelmatch.explorers.frugal.search import FrugalSearch
from duelmatch.explorers.frugal.tables import TabledRivals
from explorers.frugal.watching import PROBLEMS, SQUARE, WIDE, all_decided, play_out, tabled, worlds

BOTH = ("condorcet", "borda")
TRIO = dm.Problem.complete(["a", "b", "c"], ["s"])
CYCLE = dm.Preferences(TRIO, {("s", "a", "b"): 0.8, ("s", "b", "c"): 0.8, ("s", "c", "a"): 0.8})
LADDER = dm.Preferences(TRIO, {("s", "a", "b"): 0.8, ("s", "b", "c"): 0.8, ("s", "a", "c"): 0.8})

both = pytest.mark.parametrize("algorithm", BOTH)


def assumed(algorithm):
    """The setting in which a winner is taken for granted."""
    return {"assume_winner": True} if algorithm == "condorcet" else {}


def planted(problem, lead=0.3, seed=0):
    """Preferences whose Condorcet and Borda winner is the same matching, ahead at every position."""
    graph = problem.graph
    rng = np.random.default_rng(seed)
    everyone = brute.matchings(graph)
    winner = everyone[rng.integers(len(everyone))]
    win = np.full((graph.edges, graph.edges), 0.5)
    win[winner, :], win[:, winner] = 0.5 + lead, 0.5 - lead
    return dm.Preferences.from_matrix(problem, brute.mirrored(graph, win)), problem.matching(winner.tolist())


def states(preferences, algorithm, delta=0.1, seed=0, most_duels=20_000, **parameters):
    """Play a run, that takes a winner for granted, and return it with the progress after every round."""
    parameters = assumed(algorithm) | parameters
    run = dm.explorer(algorithm, preferences.problem, delta, seed, most_duels, **parameters)
    rng = np.random.default_rng([seed, 2])
    seen = [run.progress]
    while not run.done:
        answer_round(run, preferences, rng)
        seen.append(run.progress)
    return run, seen


# Certain answers: a wrong one here would have to be a wrong certificate, at delta = 1e-6


@both
@pytest.mark.parametrize("by_edges", [False, True], ids=["listed", "tabled"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_clear_winner_is_certified(monkeypatch, algorithm, name, by_edges):
    if by_edges:
        tabled(monkeypatch)
    preferences, winner = planted(PROBLEMS[name])
    result = dm.simulate(preferences, algorithm, delta=1e-6, max_duels=50_000, **assumed(algorithm))
    assert (result.status, result.matching) == ("certified", winner)
    assert result.assuming == (() if algorithm == "borda" else (dm.Assumption.CONDORCET_WINNER,))


@both
@pytest.mark.parametrize("name", PROBLEMS)
def test_preferences_of_0_and_1_are_no_trouble(algorithm, name):
    preferences, winner = planted(PROBLEMS[name], lead=0.5, seed=2)
    result = dm.simulate(preferences, algorithm, delta=1e-6, max_duels=50_000)
    assert (result.status, result.matching) == ("certified", winner)


@each("name", PROBLEMS)
def test_a_winner_is_certified_without_assuming_that_there_is_one(name):
    preferences, winner = planted(PROBLEMS[name], seed=3)
    result = dm.simulate(preferences, "condorcet", delta=1e-6, max_duels=50_000, assume_winner=False)
    assert (result.status, result.matching, result.assuming) == ("certified", winner, ())


def test_a_cycle_has_no_winner():
    result = dm.simulate(CYCLE, "condorcet", delta=1e-6, assume_winner=False, max_duels=50_000)
    assert result.status == "no_winner"
    assert result.matching is not None  # the least beaten, by the estimates


def test_nor_has_it_one_in_the_tables(monkeypatch):
    tabled(monkeypatch)
    result = dm.simulate(CYCLE, "condorcet", delta=1e-6, assume_winner=False, max_duels=20_000)
    assert result.status == "no_winner"
    assert result.matching is not None  # the least beaten, by the estimates


@both
def test_an_even_contest_is_never_decided_by_luck_alone(algorithm):
    """Five runs between equals; that one of them decides has a probability of 5e-6 at most."""
    problem = dm.Problem.complete(["a", "b"], ["s"])
    even = dm.Preferences(problem, {("s", "a", "b"): 0.5})
    for seed in range(5):
        result = dm.simulate(even, algorithm, delta=1e-6, seed=seed, max_duels=1_000)
        assert result.status == "budget_spent"


@both
def test_isolated_candidates_and_useless_edges_are_not_asked_about(algorithm):
    problem = PROBLEMS["sparse"]
    run, _ = states(planted(problem)[0], algorithm, batch=20)
    run = dm.explorer(algorithm, problem, 0.1, batch=200)
    asked = {(duel.position, name) for duel in run.ask(200) for name in (duel.first, duel.second)}
    assert ("t", "a") not in asked
    assert not any(position == "s" for position, _ in asked)


# Epsilon


@both
def test_near_enough_is_near_enough(algorithm):
    """Two matchings as good as each other cannot be told apart, and need not be."""
    problem = dm.Problem.complete(["a", "b", "c"], ["s"])
    wins = {("s", "a", "b"): 0.5, ("s", "a", "c"): 0.8, ("s", "b", "c"): 0.8}
    result = dm.simulate(dm.Preferences(problem, wins), algorithm, 1e-6, epsilon=0.1, max_duels=50_000)
    assert result.status == "within_epsilon"
    assert result.epsilon == 0.1
    assert result.matching in ({"s": "a"}, {"s": "b"})


def test_epsilon_means_that_nothing_beats_the_answer_by_more_without_assuming_a_winner():
    weak = {("s", "a", "b"): 0.52, ("s", "b", "c"): 0.52, ("s", "c", "a"): 0.52}
    preferences = dm.Preferences(TRIO, weak)
    result = dm.simulate(preferences, "condorcet", 1e-6, epsilon=0.2, assume_winner=False, max_duels=50_000)
    assert (result.status, result.assuming) == ("within_epsilon", ())
    strong = dm.simulate(CYCLE, "condorcet", 1e-6, epsilon=0.2, assume_winner=False, max_duels=50_000)
    assert strong.status == "no_winner"


def test_epsilon_is_per_position():
    """The winner is ahead by 0.1 at one of two positions: by 0.05 in score, which 0.06 forgives."""
    problem = dm.Problem.from_edges([("a", "s"), ("b", "s"), ("c", "t"), ("d", "t")])
    preferences = dm.Preferences(problem, {("s", "a", "b"): 0.6, ("t", "c", "d"): 0.9})
    statuses = {
        dm.simulate(preferences, "condorcet", 1e-6, seed, epsilon=0.06, max_duels=50_000).status
        for seed in range(5)
    }
    assert "budget_spent" not in statuses
    slack = FrugalSearch(problem.graph, "condorcet", 0.1, 0, epsilon=0.06)._slack
    assert slack == pytest.approx(0.12)


def test_within_epsilon_is_said_only_when_the_bound_on_the_shortfall_has_come_down_to_it(monkeypatch):
    run, positions = FrugalSearch(WIDE.graph, "borda", 0.1, 0, epsilon=0.1), WIDE.graph.positions
    lacking = 0.1311 * positions  # a slack of the grid above epsilon, and the bound is the one above it
    monkeypatch.setattr(run._rivals, "poorest_of", lambda _, slack: 0.0 if slack == lacking else np.inf)
    champion = brute.matchings(WIDE.graph)[0]
    assert run._bound(Proof(1, champion)) == 0.1638
    assert not run._is_proven(Proof(1, champion))
    monkeypatch.setattr(run._rivals, "poorest_of", lambda _, slack: np.inf)
    assert run._is_proven(Proof(2, champion))


@each("algorithm", BOTH)
def test_rejections_and_proofs_share_delta_unless_a_certificate_takes_both(algorithm):
    def parts(**parameters):
        run = FrugalSearch(WIDE.graph, algorithm, 0.1, 0, **parameters)
        proofs = [Proof(number, np.zeros(2, dtype=np.intp)).price for number in range(1, 2000)]
        return np.exp(-run._threshold), np.exp(-run._proof_threshold - np.array(proofs)).sum()

    for parameters in ({"assume_winner": True}, {"assume_winner": True, "epsilon": 0.01}, {"epsilon": 0.01}):
        assert 0.0998 < sum(parts(**parameters)) <= 0.1 + 1e-12
    if algorithm == "condorcet":
        rejections, proofs = parts()
        assert rejections == pytest.approx(0.1)
        assert 0.0998 < proofs <= 0.1 + 1e-12


@pytest.mark.parametrize("parameters", [{}, {"epsilon": 1e-7}], ids=["exact", "epsilon"])
@pytest.mark.parametrize("algorithm", ["condorcet", "borda"])
def test_a_tie_for_the_first_place_is_given_up_in_the_end(algorithm, parameters):
    problem = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
    chances = {("chair", "ann", "bob"): 0.5, ("chair", "ann", "cyd"): 0.7, ("chair", "bob", "cyd"): 0.7}
    result = dm.simulate(dm.Preferences(problem, chances), algorithm, delta=1e-6, seed=1, **parameters)
    assert (result.status, result.matching["chair"] in ("ann", "bob")) == ("budget_spent", True)
    assert search.MOST_DUELS <= result.duels < 1.03 * search.MOST_DUELS


@pytest.mark.parametrize("assume_winner", [False, True])
def test_a_proof_begins_with_nothing_or_with_the_common_wealth(assume_winner):
    """Nothing is known of a champion that may lose; but whoever is no winner by now is none later."""
    run = FrugalSearch(SQUARE.graph, "condorcet", 0.05, 4, 0.02, assume_winner)
    play_out(run, np.random.default_rng(5).uniform(0.4, 0.6, 9), 300)
    proof = Proof(1_000, run._rivals.rows[0])
    run._rivals.begin(proof)
    found = run._rivals.proven(proof, 0.3).wealth
    expected = run._rivals._base.wealth if assume_winner else np.zeros(len(run._rivals.rows))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@each("parameters", [{}, {"epsilon": 0.02}])
def test_the_evidence_of_earlier_reigns_is_kept(monkeypatch, parameters):
    """Each champion has one proof, however often it loses and wins back its place."""
    monkeypatch.setattr(search, "CLEAR", -np.inf)  # so that proofs begin too early
    monkeypatch.setattr(search, "SHORT", np.inf)
    run = FrugalSearch(SQUARE.graph, "condorcet", 0.05, 4, **parameters)
    play_out(run, np.random.default_rng(5).uniform(0.45, 0.55, 9), 6_000)
    champions = [tuple(proof.champion) for proof in run._proofs]
    assert len(champions) == len(set(champions)) >= 2
    assert [proof.number for proof in run._proofs] == list(range(1, len(champions) + 1))
    reigns = [tuple(played.champion) for played in run._history]
    begun = {number: start for number, (_, start) in run._rivals._starts.items()}
    again = [
        proof for proof in run._proofs if _reigns(reigns[begun[proof.number] :], tuple(proof.champion)) > 1
    ]
    assert again, "one of them came back"
    whole = run._rivals.proven(again[0], run._slack).wealth
    own = [number for number, reign in enumerate(reigns) if reign == tuple(again[0].champion)]
    expected = Ledger(np.zeros(len(run._rivals.rows)))
    for number in own:
        if number >= begun[again[0].number]:
            run._rivals._settle_proof(expected, run._history[number], run._slack)
    np.testing.assert_allclose(whole, expected.wealth)


def _reigns(champions, one):
    """Return how often somebody came to be the champion."""
    return sum(now == one != before for before, now in pairwise([None, *champions]))


MODES = [
    ("condorcet", {"assume_winner": True}),
    ("condorcet", {"assume_winner": True, "epsilon": 0.1}),
    ("condorcet", {"assume_winner": False}),
    ("condorcet", {"assume_winner": False, "epsilon": 0.1}),
    ("borda", {}),
    ("borda", {"epsilon": 0.1}),
]


@each(("algorithm", "parameters"), MODES)
@each("voters", [False, True])
def test_a_wrong_leader_seldom_has_a_small_p_value_in_any_mode(algorithm, parameters, voters):
    """Nearly even: with probability 0.2 at most p is ever 0.2 or less of a wrong leader, 16 of 25 by 2e-6."""
    duo = dm.Problem.complete(["a", "b"], ["s"])
    wrong = 0
    for seed in range(25):
        if wrong + 25 - seed < 16:  # whatever happens in the others
            return
        run = dm.explorer(algorithm, duo, 0.05, seed, ballot_size=1, **parameters)
        rng, least = np.random.default_rng([seed, 5]), 1.0
        for number in range(24 if voters else 60):
            for question in run.ask(1, voter=f"v{number}") if voters else run.ask(1):
                run.tell(question, "a" if rng.random() < 0.51 else "b")
            if number % 4:
                continue
            progress = run.progress
            if progress.leader is not None and progress.leader != {"s": "a"}:
                least = min(least, progress.p_value)
        wrong += least <= 0.2
    assert wrong < 16


@each(("algorithm", "parameters"), [mode for mode in MODES if "epsilon" in mode[1] or mode == MODES[2]])
def test_the_shortfall_is_a_bound_at_every_moment(algorithm, parameters):
    """At delta 0.3 it fails in 30% of the runs at most; 12 of 14 by chance with probability 3e-5."""
    wrong, told = 0, 0
    for seed in range(14):
        if wrong + 14 - seed < 12 and told > 14:  # whatever happens in the others
            return
        preferences = dm.instances.uniform(3, 2, low=0.3, high=0.7, seed=seed)
        run = dm.explorer(algorithm, preferences.problem, 0.3, seed, **parameters)
        rng, fails = np.random.default_rng([seed, 6]), False
        while not run.done and run.duels < 500:
            wanted = run.wanted()
            run.tell_wins(rng.binomial(wanted.count, preferences.matrix[wanted.first, wanted.second]))
            if run.duels % 10:
                continue
            progress = run.progress
            if progress.shortfall is not None:
                told += 1
                fails |= falls_short(preferences, algorithm, progress.leader) > progress.shortfall + 1e-9
        wrong += fails
        if run.result.status == "within_epsilon":
            assert run.progress.shortfall <= parameters["epsilon"]
    assert wrong < 12
    assert told > 14


def falls_short(preferences, algorithm, matching):
    edges = preferences.problem.edge_numbers(matching)
    if algorithm == "borda":
        return preferences.borda_score(preferences.borda_winner()) - preferences.borda_score(matching)
    return max(0.0, -preferences.condorcet_margin(edges))


def test_the_shortfall_comes_down():
    preferences = dm.instances.planted(4, 2, gap=0.4, seed=1)
    run = dm.explorer("condorcet", preferences.problem, 0.05, 1)
    rng, bounds = np.random.default_rng(1), []
    while not run.done:
        wanted = run.wanted()
        run.tell_wins(rng.binomial(wanted.count, preferences.matrix[wanted.first, wanted.second]))
        bounds.append(run.progress.shortfall)
    assert bounds[0] is None
    assert bounds[-1] == 0.0
    assert len({bound for bound in bounds if bound is not None}) > 3


def test_where_nothing_is_close_enough_it_is_found_that_there_is_no_winner():
    circle = dm.instances.cyclic(3, 1, strength=0.4)
    assert dm.simulate(circle, "condorcet", 0.05, 1, epsilon=0.1).status == "no_winner"


# What a run reports


@both
@pytest.mark.parametrize("by_edges", [False, True], ids=["listed", "tabled"])
def test_the_possible_winners_only_get_fewer_and_keep_the_winner(monkeypatch, algorithm, by_edges):
    if by_edges:
        tabled(monkeypatch)
    preferences, winner = planted(WIDE)
    run, seen = states(preferences, algorithm, delta=1e-6, batch=5)
    assert seen[0].possible == len(brute.matchings(WIDE.graph))
    assert seen[-1].possible == 1
    for before, after in pairwise(seen):
        assert after.possible <= before.possible
        assert set(before.rejected) <= set(after.rejected)
        assert set(before.accepted) <= set(after.accepted)
        assert {*before.accepted}.isdisjoint(before.rejected)
        if not by_edges:
            assert winner in after.possible_winners
            assert len(after.possible_winners) == after.possible
    assert run.result.matching == winner


@both
@pytest.mark.parametrize("by_edges", [False, True], ids=["listed", "tabled"])
def test_the_p_value_starts_at_1_and_ends_at_delta(monkeypatch, algorithm, by_edges):
    if by_edges:
        tabled(monkeypatch)
    _, seen = states(planted(WIDE)[0], algorithm, delta=0.01)
    assert seen[0].p_value == 1.0
    assert all(0.01 - 1e-12 <= state.p_value <= 1 for state in seen)
    assert seen[-1].p_value == pytest.approx(0.01)


@both
def test_the_p_value_is_no_smaller_than_the_wealth_against_the_winner_allows(algorithm):
    """As long as the leader is wrong, the p-value is at least 1 / (the highest wealth against the winner)."""
    graph = WIDE.graph
    chances = worlds(graph, algorithm)[4][2]
    winner = brute.matchings(graph)[4]
    wrong = 0
    for seed in range(6):
        run = FrugalSearch(graph, algorithm, 0.3, seed, assume_winner=True)
        rounds, wins, highest = run.rounds(), None, 0.0
        rng = np.random.default_rng(seed)
        pair_of = {ends: number for number, ends in enumerate(brute.pairs(graph))}
        for _ in range(120):
            try:
                asked = next(rounds) if wins is None else rounds.send(all_decided(wins))
            except StopIteration:
                break
            rows, peaks = run._rivals.rows, run._rivals._base.peak
            of_winner = (rows == winner).all(axis=1)
            highest = max(highest, float(peaks[of_winner][0])) if of_winner.any() else np.inf
            standing = run.snapshot()
            if standing.leader is not None and not np.array_equal(standing.leader, winner):
                wrong += 1
                assert standing.p_value >= np.exp(-min(highest, run._threshold)) - 1e-12
            ends = zip(asked.first.tolist(), asked.second.tolist(), strict=True)
            wins = rng.binomial(asked.count, chances[[pair_of[pair] for pair in ends]])
    assert wrong > 30


def test_the_p_value_is_valid_without_a_winner():
    """Nobody wins, so a p-value of 0.2 or less may come up in one run of five; in all 14: 2e-10."""
    small = 0
    for seed in range(14):
        _, seen = states(CYCLE, "condorcet", 0.1, seed, assume_winner=False)
        small += any(state.leader is not None and state.p_value <= 0.2 for state in seen)
    assert small < 14


@both
def test_a_foregone_conclusion_is_certain(algorithm):
    only = dm.Problem.from_edges([("a", "s"), ("a", "t"), ("b", "t")])
    run = dm.explorer(algorithm, only)
    assert run.result.status == "certified"
    assert run.progress.p_value <= run.delta


# Batches, order, budgets


@both
def test_a_batch_is_the_least_that_is_asked_at_once(algorithm):
    run = dm.explorer(algorithm, SQUARE, batch=50)
    assert len(run.ask(500)) == 50
    assert len(dm.explorer(algorithm, SQUARE).ask(500)) == 1


@both
def test_rounds_grow_with_the_duels_by_a_fiftieth(algorithm):
    run = FrugalSearch(SQUARE.graph, algorithm, 1e-6, 0, assume_winner=True)
    rounds = run.rounds()
    asked, duels = next(rounds), 0
    for _ in range(200):
        assert asked.total == max(1, int(0.02 * duels))
        duels += asked.total
        asked = rounds.send(all_decided(asked.count // 2))


@both
def test_the_order_of_the_answers_of_a_round_does_not_matter(algorithm):
    preferences, _ = planted(WIDE, lead=0.15)
    rng = np.random.default_rng(1)
    one = dm.explorer(algorithm, WIDE, 0.1, 3, batch=40)
    other = dm.explorer(algorithm, WIDE, 0.1, 3, batch=40)
    while not one.done:
        duels, again = one.ask(1000), other.ask(1000)
        assert duels == again
        answers = [
            duel.first if rng.random() < preferences.probability(duel.position, duel.first, duel.second)
            else duel.second for duel in duels
        ]  # fmt: skip
        for number in range(len(duels)):
            one.tell(duels[number], answers[number])
        for number in rng.permutation(len(duels)).tolist():
            other.tell(again[number], answers[number])
        assert one.progress == other.progress
    assert one.result == other.result


@both
def test_a_round_cut_short_by_the_budget_is_not_used(algorithm):
    preferences, _ = planted(WIDE)
    run = dm.explorer(algorithm, WIDE, 0.1, 0, max_duels=130, batch=50)
    rng = np.random.default_rng(0)
    answer_round(run, preferences, rng)
    answer_round(run, preferences, rng)
    before = run.progress
    while not run.done:
        answer_round(run, preferences, rng)
    assert (run.duels, run.result.status) == (130, "budget_spent")
    assert run.progress.p_value == before.p_value
    assert run.progress.possible == before.possible


# Parameters


@each(
    ("algorithm", "parameters", "sentence"),
    [
        ("condorcet", {"epsilon": 0}, "epsilon must be a number between 1e-09 and 1, not 0."),
        ("borda", {"epsilon": 1.0}, "epsilon must be a number between 1e-09 and 1, not 1.0."),
        ("borda", {"epsilon": "much"}, "epsilon must be a number between 1e-09 and 1, not 'much'."),
        ("condorcet", {"epsilon": float("nan")}, "epsilon must be a number between 1e-09 and 1, not nan."),
        ("condorcet", {"assume_winner": 1}, "assume_winner must be True or False, not 1."),
        ("condorcet", {"assume_winner": "no"}, "assume_winner must be True or False, not 'no'."),
        ("borda", {"assume_winner": False}, "borda has no parameter 'assume_winner'; it has"),
        ("borda", {"batch": 0}, "batch must be a whole number from 1 to 1,000,000, not 0."),
        ("condorcet", {"batch": 2.5}, "batch must be a whole number from 1 to 1,000,000, not 2.5."),
        ("condorcet", {"batch": True}, "batch must be a whole number from 1 to 1,000,000, not True."),
        ("condorcet", {"schedule": "sparse"}, "condorcet has no parameter 'schedule'; it has"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(algorithm, parameters, sentence):
    with pytest.raises(dm.ProblemError) as refusal:
        dm.explorer(algorithm, TRIO, **parameters)
    assert sentence in str(refusal.value)


def test_none_is_the_default_epsilon():
    assert dm.explorer("condorcet", TRIO, epsilon=None).result.epsilon is None


# From tables to lists


@each("assume_winner", [True, False])
def test_only_where_a_winner_is_assumed_are_those_left_in_the_tables_listed(monkeypatch, assume_winner):
    """Else the champion has to beat those who are out as well, and they would not be on the list."""
    monkeypatch.setattr(search, "MOST_LISTED", 3)
    preferences, winner = planted(SQUARE)
    run = dm.explorer("condorcet", SQUARE, 1e-6, 0, assume_winner=assume_winner)
    rng, listed = np.random.default_rng(1), []
    while not run.done:
        answer_round(run, preferences, rng)
        rivals = run._engine._search._rivals
        listed.append(isinstance(rivals, ListedRivals))
        if listed[-1] and not listed[-2]:
            assert len(rivals.rows) <= 3
            assert rivals.edges()[SQUARE.edge_numbers(winner)].all()
    assert (run.result.status, run.result.matching) == ("certified", winner)
    assert (listed[0], listed[-1]) == (False, assume_winner)


def test_tables_see_when_one_matching_is_left_or_none():
    """Edges may be rejected for different reasons until one matching is left, or none."""
    from duelmatch.explorers.frugal.tables import SCALES, Tables

    graph, rng, seen = SQUARE.graph, np.random.default_rng(0), set()
    everyone = brute.matchings(graph)
    for _ in range(300):
        rivals = TabledRivals(graph, np.ones(graph.edges, dtype=bool), True)
        mean, spread = rng.uniform(0, 3), rng.uniform(0.5, 4)
        rivals.base = Tables(rng.normal(mean, spread, (len(SCALES), graph.edges)))
        rivals.reject(np.log(20))
        left = rivals.edges()[everyone].all(axis=1).sum()
        assert rivals.left == min(2, left)
        used = np.zeros(graph.edges, dtype=bool)
        used[everyone[rivals.edges()[everyone].all(axis=1)].ravel()] = True
        assert (rivals.edges() == used).all()
        seen.add(rivals.left)
    assert seen == {0, 1, 2}


def test_of_many_pairs_each_is_drawn_as_often_as_its_share_says(monkeypatch):
    run = FrugalSearch(WIDE.graph, "borda", 0.1, 0)
    shares = np.random.default_rng(0).dirichlet(np.ones(WIDE.graph.pairs))
    shares[[0, -1]] = 0.0
    shares /= shares.sum()
    monkeypatch.setattr(search, "MANY_PAIRS", 0)
    pairs, counts = run._drawn(shares, size := 100_000)
    assert counts.sum() == size
    drawn = np.zeros(len(shares))
    drawn[pairs] = counts
    spread = np.sqrt(size * shares * (1 - shares))
    assert (np.abs(drawn - size * shares) <= 7 * spread).all()  # by chance less than once in 10^9 seeds


def test_what_is_certified_is_still_possible_however_the_answers_drift():
    """Else two events could make a certificate wrong, and each of them has all of delta."""
    problem, ended = dm.Problem.complete(["a", "b"], ["s"]), []
    for seed in range(100, 140):
        run, chance = dm.explorer("condorcet", problem, delta=0.3, seed=seed), np.random.default_rng(seed)
        while not run.done and run.duels < 2_000:
            (duel,) = run.ask(1)
            first = 0.7 if run.duels < 45 else 0.3 if run.duels < 140 else 0.9
            run.tell(duel, min(duel.candidates) if chance.random() < first else max(duel.candidates))
        ended.append((seed, run.result.status))
        if run.result.status == "certified":
            assert run.progress.possible_winners == (run.result.matching,), seed
    assert {"certified", "no_winner"} <= {status for _, status in ended}
