"""Panels that fill several seats without a list of the decisions, against one with a list."""

import numpy as np
import pytest

import choices
import duelmatch as dm
from cases import each
from duelmatch.explorers.panel import projection
from duelmatch.explorers.panel.listed import Comparisons, ListedCertifier
from duelmatch.explorers.panel.seated import SeatedMethod
from explorers.panel.test_listed import drawn_panel, own_number, scores
from explorers.panel.test_panel_conditions import VOTERS, drawn_answers

SEEDS = [
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
@each("seed", SEEDS[::2])
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


@each("seed", SEEDS[::3])
def test_the_outcome_is_so_by_all_answers(unlisted, seed):
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
