"""Panels with capacities, weights and rules, and one seat for each position, at any size."""

from dataclasses import replace

import numpy as np
import pytest

import choices
import duelmatch as dm
from cases import each
from duelmatch.explorers.panel import bounds
from duelmatch.explorers.panel.seats import Comparisons, ListedCertifier
from duelmatch.matchings import integers, ruled
from duelmatch.matchings.decisions import decisions_of

VOTERS = ["eve", "ned", "zoe"]


def with_one_seat_each(rules: bool = False) -> list[int]:
    found = []
    for seed in choices.SEEDS:
        problem = choices.problem(seed)
        graph = problem.graph
        if graph.conditions is None or graph.places != graph.positions or not graph.pairs:
            continue
        if len(choices.decisions(problem)) <= 300 and (problem.rules or not rules):
            found.append(seed)
    return found


def drawn_answers(problem: dm.Problem, seed: int, chance: float) -> list[dm.Answer]:
    rng = np.random.default_rng([seed, 11])
    answers = []
    for voter in VOTERS:
        for position in problem.positions:
            names = sorted(name for name, place in problem.edges if place == position)
            if len(names) > 1 and rng.random() < chance:
                answers.append(dm.Answer(position, rng.permutation(names).tolist(), voter))
    return answers


def judges(problem: dm.Problem, criterion: str, seed: int) -> tuple:
    """Return the judge by the oracle, the one by the list, and the unit of the one in the other's."""
    run = dm.explorer("panel", problem, voters=VOTERS, criterion=criterion)
    for number, answer in enumerate(drawn_answers(problem, seed, 0.7), start=1):
        about = {"voter": answer.voter, "position": answer.position, "candidates": list(answer.candidates)}
        run.note({"kind": "asked", "question": number, "until": None, **about})
        run.note({"kind": "answered", "question": number, "answer": [list(group) for group in answer.groups]})
    judge = run.standing.now.method.certifier
    listed = ListedCertifier(Comparisons(run.state, criterion, choices.rows(problem)))
    return judge, listed, float(judge.bounds.unit / listed.bounds.unit)  # shares in lowest terms


@each("seed", lambda: with_one_seat_each()[::3])
@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_the_oracle_says_what_a_list_of_all_decisions_says(criterion, seed):
    """Of every decision, whatever is open; the list is the definition, in whole numbers."""
    judge, listed, per_unit = judges(choices.problem(seed), criterion, seed)
    for row in listed.bounds.rows[:40]:
        ours, theirs = judge.verdict(row), listed.verdict(row)
        assert ours.status == theirs.status
        assert ours.shortfall == pytest.approx(theirs.shortfall * per_unit)
        assert judge.may_beat_all(row) == listed.may_beat_all(row)
        one, other = judge.closest_other(row), listed.closest_other(row)
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one[1] == pytest.approx(other[1] * per_unit)
    if criterion == "condorcet":
        assert judge.outlook(0).winners.tolist() == listed.outlook(0).winners.tolist()


@each("seed", lambda: with_one_seat_each(rules=True)[::6])
@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_an_oracle_that_is_cut_short_says_less_and_nothing_wrong(monkeypatch, criterion, seed):
    problem = replace(choices.problem(seed))  # a graph of its own
    monkeypatch.setattr(ruled, "LISTED", 0)
    assert not decisions_of(problem.graph).fast
    judge, listed, per_unit = judges(problem, criterion, seed)
    for nodes in (0, 1, 3):
        monkeypatch.setattr(integers, "MOST_NODES", nodes)
        for row in listed.bounds.rows[:15]:
            ours, theirs = judge.verdict(row), listed.verdict(row)
            assert ours.status in (None, theirs.status) or (ours.status, theirs.status) == (
                "unbeaten",
                "decided",
            )
            assert ours.shortfall >= theirs.shortfall * per_unit - 1e-6
            assert judge.may_beat_all(row) or not listed.may_beat_all(row)
            if (one := judge.closest_other(row)) is not None:
                assert one[1] <= listed.closest_other(row)[1] * per_unit + 1e-6


@each("seed", lambda: with_one_seat_each()[::6])
def test_where_the_oracle_stops_early_the_lead_is_what_its_bound_says(monkeypatch, seed):
    graph, rows = choices.problem(seed).graph, choices.rows(choices.problem(seed))
    rng = np.random.default_rng([seed, 12])
    bound = rng.integers(-3, 4, graph.edges)
    champion = rows[rng.integers(len(rows))]
    bound[champion] = 0
    others = rows[(rows != champion).any(axis=1)]
    if not len(others) or bound[others].sum(axis=1).min() > 0:
        return
    exact = bounds.closest(graph, bound, champion).ahead
    assert exact == bound[others].sum(axis=1).min()
    for less in range(3 * graph.places):
        for met in (champion, others[0], others[-1]):

            def stopped(graph, costs, met=met, less=less):
                return met, integers.cheapest_and_bound(graph, costs)[1] - less

            with monkeypatch.context() as patch:
                patch.setattr(bounds, "cheapest_and_bound", stopped)
                found = bounds.closest(graph, bound, champion).ahead
            assert exact - less / (graph.places + 1) - 1 < found <= exact


def large(kind: str) -> dm.Problem:
    """Return a problem with far more than 20,000 decisions."""
    names, places = [f"c{number}" for number in range(9)], [f"p{number}" for number in range(6)]
    conditions = {
        "capacities": {"capacity": {"c0": 2, "c1": 3}, "weight": {"p0": 2.5}},
        "rules": {
            "weight": {"p1": 2},
            "rules": [
                dm.Rule(of=["c0", "c1", "c2"], at_most=2),
                dm.Rule(of=["c7", "c8"], at_least=1),
                dm.Rule(together=["c3", "c4"]),
            ],
        },
    }[kind]
    return dm.Problem.complete(names, places, **conditions)


def agreeing_panel(problem: dm.Problem, seed: int) -> dm.Panel:
    """Return judges who think much the same, so that there is a winner."""
    rng = np.random.default_rng(seed)
    rankings = {}
    for position in problem.positions:
        liked = rng.normal(size=len(problem.candidates)) * 2
        for voter in [*VOTERS, "pat", "sam"]:
            order = np.argsort(liked + rng.normal(size=len(liked)) * 0.3)
            rankings[voter, position] = [problem.candidates[number] for number in order]
    return dm.Panel(problem, rankings)


def worst_defeat(known: dm.Preferences, matching: dm.Matching) -> float:
    """Return by how much the best of all decisions is ahead of one, as a sum over positions."""
    problem = known.problem
    gains = {
        (name, place): problem.weight.get(place, 1.0)
        * (0.0 if name == matching[place] else known.probability(place, name, matching[place]) - 0.5)
        for name, place in problem.edges
    }
    rival = dm.matchings.best(problem, gains)
    return sum(gains[name, place] for place, name in rival.items())


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
@pytest.mark.parametrize("kind", ["capacities", "rules"])
def test_more_decisions_than_can_be_listed_are_decided(kind, criterion):
    problem = large(kind)
    assert dm.matchings.count(problem) > 20_000
    panel = agreeing_panel(problem, 6)
    known = panel.preferences()
    result = dm.simulate(panel, "panel", criterion=criterion, question_size=4, seed=1)
    if criterion == "borda":
        assert (result.status, result.matching) == ("decided", known.borda_winner())
    else:
        assert result.status in ("decided", "unbeaten")
        assert worst_defeat(known, result.matching) == pytest.approx(0.0, abs=1e-9)
    assert result.duels < len(panel.voters) * problem.graph.pairs / 4


@pytest.mark.parametrize("kind", ["capacities", "rules"])
def test_answers_from_elsewhere_decide_them_too(kind):
    problem = large(kind)
    turned = {
        place: [*problem.candidates[j:], *problem.candidates[:j]] for j, place in enumerate(problem.positions)
    }
    said = [dm.Answer(place, turned[place], voter) for voter in VOTERS for place in problem.positions]
    decision = dm.decide(problem, said)
    assert decision.result.status in ("decided", "unbeaten")
    assert decision.progress.possible is None  # too many to look at
    again = dm.decide(problem, said, chosen=decision.result.matching)
    assert again.result == decision.result
    later = dm.decide(problem, said, voters=["pat"], chosen=decision.result.matching)
    assert later.closest.ahead < decision.closest.ahead
