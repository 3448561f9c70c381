"""Panels on problems with capacities, seats, weights and rules: against enumeration, and without a list."""

import json
from itertools import product

import numpy as np
import pytest

import choices
import duelmatch as dm
from cases import each
from duelmatch.answers import Answer
from duelmatch.explorers.panel import projection
from duelmatch.explorers.panel.seats import Comparisons, ListedCertifier, SeatedMethod
from explorers.panel.test_panel_conditions import VOTERS, drawn_answers

SEEDS = [
    seed
    for seed in choices.SEEDS[::6]
    if choices.problem(seed).graph.pairs and len(choices.decisions(choices.problem(seed))) <= 300
]


def drawn_panel(problem: dm.Problem, seed: int, voters: int = 5) -> dm.Panel:
    rng = np.random.default_rng([seed, 7])
    rankings = {}
    for voter in range(voters):
        for position in problem.positions:
            names = rng.permutation([name for name, place in problem.edges if place == position]).tolist()
            level = [tuple(names[:2]), *names[2:]] if len(names) > 2 and rng.random() < 0.3 else names
            rankings[f"v{voter}", position] = level
    return dm.Panel(problem, rankings)


def scores(problem: dm.Problem, matrix: np.ndarray) -> np.ndarray:
    """Return f of every two decisions, by the definition."""
    weight = np.array([problem.weight.get(place, 1.0) for _, place in problem.edges])
    seats = np.array([problem.seats.get(place, 1) for _, place in problem.edges])
    total = sum(problem.weight.get(place, 1.0) for place in problem.positions)
    chi = choices.indicators(problem)
    return chi @ (matrix * weight / seats**2) @ chi.T / total


def own_number(problem: dm.Problem, matching: dm.Matching) -> int:
    chi = choices.indicators(problem)
    return int(np.flatnonzero((chi[:, problem.edge_numbers(matching)] == 1).all(axis=1))[0])


@each("seed", SEEDS)
def test_the_outcome_is_so_by_all_answers(seed):
    problem = choices.problem(seed)
    panel = drawn_panel(problem, seed)
    table = scores(problem, panel.preferences().matrix)
    criterion = "condorcet" if seed // 16 % 2 else "borda"  # every mixture of conditions with either
    result = dm.simulate(panel, "panel", criterion=criterion, consistent=bool(seed // 32 % 2), seed=seed)
    own = own_number(problem, result.matching)
    others = np.arange(len(table)) != own
    if criterion == "borda":
        lead = table.mean(axis=1)[own] - table.mean(axis=1)[others].max(initial=-1.0)
        assert lead > 1e-12 if result.status == "decided" else result.status == "tied"
        assert result.status == "decided" or abs(lead) < 1e-12
        return
    worst = 0.5 - table.min(axis=1)
    match result.status:
        case "decided":
            assert (table[own, others] > 0.5 + 1e-12).all()
        case "unbeaten":
            assert worst[own] < 1e-12
        case "no_winner":
            assert worst.min() > 1e-12
            assert worst[own] == pytest.approx(worst.min(), abs=1e-12)
            assert result.shortfall >= worst[own] - 1e-12
        case _:
            raise AssertionError(result.status)


@each("seed", lambda: [seed for seed in choices.SEEDS if 2 <= choices.problem(seed).graph.pairs <= 5][:40])
def test_a_verdict_holds_exactly_if_it_holds_in_every_completion(seed):
    problem = choices.problem(seed)
    rng = np.random.default_rng([seed, 8])
    table = problem.graph.pair_table
    pairs = [
        (problem.edges[a][1], problem.edges[a][0], problem.edges[b][0])
        for a, b in zip(table.first, table.second, strict=True)
    ]
    said = [
        Answer(place, [one, other] if rng.random() < 0.6 else [other, one], voter)
        for voter in ("eve", "ned", "zoe")
        for place, one, other in pairs
        if rng.random() < (0.75 if len(pairs) < 4 else 0.85)
    ]
    if not said or 3 * len(pairs) - len(said) > 6:
        return
    decision = dm.decide(problem, said, consistent=False, voters=["eve", "ned", "zoe"])
    own = own_number(problem, decision.result.matching)
    known = {(answer.voter, answer.position, frozenset(answer.candidates)) for answer in said}
    open_ = [
        (place, one, other)
        for voter in ("eve", "ned", "zoe")
        for place, one, other in pairs
        if (voter, place, frozenset((one, other))) not in known
    ]
    worst = []
    for completion in product((1.0, 0.5, 0.0), repeat=len(open_)):
        matrix = np.where(problem.graph.comparable, 0.5, 0.0)
        counts = dict.fromkeys(pairs, 0.0)
        for answer in said:
            for pair in pairs:
                if pair[0] == answer.position and set(pair[1:]) == set(answer.candidates):
                    counts[pair] += answer.candidates[0] == pair[1]
        for pair, share in zip(open_, completion, strict=True):
            counts[pair] += share
        for a, b, pair in zip(table.first, table.second, pairs, strict=True):
            matrix[a, b], matrix[b, a] = counts[pair] / 3, 1 - counts[pair] / 3
        row = np.delete(scores(problem, matrix)[own], own)
        worst.append(row.min(initial=1.0) - 0.5)
    assert (decision.result.status == "decided") == (min(worst) > 1e-12)
    if decision.result.status != "no_winner":
        assert (decision.result.status in ("decided", "unbeaten")) == (min(worst) > -1e-12)
        assert decision.result.shortfall == pytest.approx(max(0.0, -min(worst)), abs=1e-12)


@each("seed", range(25))
@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_a_rule_that_rules_nothing_out_changes_no_verdict(criterion, seed):
    rng = np.random.default_rng(seed)
    names, places = [f"c{i}" for i in range(4)], ["s", "t"]
    plain = dm.Problem.complete(names, places)
    ruled = dm.Problem.complete(names, places, rules=[dm.Rule(of=names, at_most=2)])
    said = [
        Answer(place, rng.permutation(names).tolist(), voter)
        for voter in ("eve", "ned", "zoe", "pat")
        for place in places
        if rng.random() < 0.8
    ]
    voters = ["eve", "ned", "zoe", "pat"]
    one, other = (dm.decide(p, said, criterion, consistent=False, voters=voters) for p in (plain, ruled))
    assert other.result.shortfall == pytest.approx(one.result.shortfall, abs=1e-12)
    assert other.result.status == one.result.status
    if one.result.status == "decided":
        assert other.result.matching == one.result.matching
        assert other.closest.ahead == pytest.approx(one.closest.ahead)


def jury() -> dm.Problem:
    return dm.Problem.complete(
        ["ann", "bob", "cyd", "dee"],
        ["jury", "chair"],
        seats={"jury": 2},
        capacity={"dee": 2},
        weight={"chair": 2},
        rules=[dm.Rule(of=["ann", "bob"], at_most=1), dm.Rule(together=["cyd", "dee"])],
    )


def test_a_run_is_restored_from_its_events_as_json_has_them():
    problem = jury()
    run = dm.explorer("panel", problem, voters=["eve", "ned"])
    events = []
    run.record = events.append
    while not run.done:
        for voter in ("eve", "ned"):
            for question in run.ask(1, voter=voter):
                run.tell(question, min(question.candidates))
    again = dm.explorer("panel", problem, voters=["eve", "ned"])
    for event in json.loads(json.dumps(events)):
        again.note(event)
    assert again.result == run.result
    assert again.progress == run.progress
    said = []
    again.record = said.append
    again.settle()
    assert said == []  # it backs whom the record has


def test_whoever_is_dropped_leaves_the_rules_too():
    run = dm.explorer("panel", jury(), voters=["eve"])
    with pytest.raises(dm.ProblemError):
        run.drop("cyd")  # dee cannot be chosen without, and two are too few
    free = dm.Problem.complete(
        ["ann", "bob", "cyd"], ["chair"], capacity={"bob": 2}, rules=[dm.Rule(of=["ann", "bob"], at_most=1)]
    )
    run = dm.explorer("panel", free, voters=["eve"])
    run.drop("bob")
    assert run.problem == dm.Problem.complete(
        ["ann", "cyd"], ["chair"], rules=[dm.Rule(of=["ann"], at_most=1)]
    )
    assert dm.Rule(of=["ann"], at_most=1).without("ann") is None
    with pytest.raises(dm.ProblemError, match="Without 'ann' nobody obeys"):
        dm.Rule(of=["ann"], at_least=1).without("ann")


def test_questions_may_ask_for_rankings():
    panel = drawn_panel(jury(), 3)
    result = dm.simulate(panel, "panel", question_size=3, seed=1)
    assert result.status in ("decided", "unbeaten", "no_winner")
    assert result.duels < 5 * 2 * 3


SEATED = [
    seed
    for seed in choices.SEEDS
    if choices.problem(seed).graph.places > choices.problem(seed).graph.positions
    and choices.problem(seed).graph.pairs
    and len(choices.decisions(choices.problem(seed))) <= 300
]
both = pytest.mark.parametrize("criterion", ["condorcet", "borda"])


@pytest.fixture
def unlisted(monkeypatch):
    monkeypatch.setattr(projection, "LISTED", 0)


@both
@each("seed", SEATED[::2])
def test_what_is_certain_is_certain_by_the_list_and_with_nothing_open_it_is_the_same(
    unlisted, criterion, seed
):
    problem = choices.problem(seed)
    for chance in (0.0, 0.6, 1.0):
        run = dm.explorer("panel", problem, voters=VOTERS, criterion=criterion)
        for number, answer in enumerate(drawn_answers(problem, seed, chance), start=1):
            about = {
                "voter": answer.voter,
                "position": answer.position,
                "candidates": list(answer.candidates),
            }
            run.note({"kind": "asked", "question": number, "until": None, **about})
            groups = [list(group) for group in answer.groups]
            run.note({"kind": "answered", "question": number, "answer": groups})
        method = run.standing.now.method
        assert isinstance(method, SeatedMethod)
        judge, listed = (
            method.certifier,
            ListedCertifier(Comparisons(run.state, criterion, choices.rows(problem))),
        )
        per_unit = float(judge.bounds.unit / listed.bounds.unit)
        for row in choices.rows(problem)[:12]:
            ours, theirs = judge.verdict(row), listed.verdict(row)
            assert ours.status is None or ours.status == theirs.status or theirs.status == "decided"
            assert ours.shortfall >= theirs.shortfall * per_unit - 1e-6
            assert judge.may_beat_all(row) or not listed.may_beat_all(row)
            one, other = judge.closest_other(row), listed.closest_other(row)
            assert (one is None) == (other is None)
            if chance == 1.0:
                assert ours.status == theirs.status or theirs.status == "no_winner"
                assert one is None or one[1] == pytest.approx(other[1] * per_unit)


@each("seed", SEATED[::3])
def test_without_a_list_the_outcome_is_so_by_all_answers(unlisted, seed):
    problem = choices.problem(seed)
    panel = drawn_panel(problem, seed)
    table = scores(problem, panel.preferences().matrix)
    for criterion in ("condorcet", "borda"):
        result = dm.simulate(panel, "panel", criterion=criterion, consistent=bool(seed % 2), seed=seed)
        own = own_number(problem, result.matching)
        others = np.arange(len(table)) != own
        ahead = table[own] - 0.5 if criterion == "condorcet" else table.mean(axis=1)[own] - table.mean(axis=1)
        least = ahead[others].min(initial=1.0)
        if result.status == "decided":
            assert least > 1e-12
        elif result.status in ("unbeaten", "tied"):
            assert least > -1e-12
        else:
            assert result.status == "budget_spent"
            assert (table.min(axis=1) < 0.5 - 1e-12).all(), "only where every decision is beaten"


def test_more_decisions_than_can_be_listed_are_decided():
    names = [f"c{number}" for number in range(13)]
    problem = dm.Problem.complete(
        names, ["jury", "board", "chair"], seats={"jury": 3, "board": 2}, capacity={"c0": 2},
        rules=[dm.Rule(of=["c1", "c2"], at_most=1)],
    )  # fmt: skip
    assert dm.matchings.count(problem) > 20_000
    turned = {place: names[4 * j :] + names[: 4 * j] for j, place in enumerate(problem.positions)}
    said = [dm.Answer(place, turned[place], voter) for voter in VOTERS for place in problem.positions]
    best = {"jury": ("c0", "c1", "c3"), "board": ("c4", "c5"), "chair": "c8"}
    for criterion in ("condorcet", "borda"):
        result = dm.decide(problem, said, criterion).result
        assert (result.status, result.matching) == ("decided", best)
    part = dm.decide(problem, said[1:], voters=VOTERS)
    assert part.result.matching == best
    assert part.closest.ahead < dm.decide(problem, said).closest.ahead
