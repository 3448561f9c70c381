"""A panel's verdict is that of the count of all answers, and nothing it says on the way is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import panels
from duelmatch.explorers.panel import PanelExplorer, Question, simulate_panel
from duelmatch.explorers.panel.simulation import answer_of, panel_explorer
from duelmatch.panel import Panel

CRITERIA = ("condorcet", "borda")


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("block", range(3))
def test_the_verdict_is_that_of_all_answers(criterion: str, block: int) -> None:
    for seed in range(20 * block, 20 * (block + 1)):
        panel, ranks = panels.random_panel(seed)
        size = 3 if ranks and seed % 3 == 0 else 2
        result = simulate_panel(panel, criterion, ranks, seed, question_size=size)
        count = panels.Count(panel.problem, panels.opinions_of(panel), panels.weights_of(panel))
        assert result.status != "budget_spent", seed
        assert count.agrees(criterion, result.status, tuple(result.matching.values()), result.shortfall), seed


def play(
    panel: Panel, run: PanelExplorer, rng: np.random.Generator, chaos: float
) -> tuple[set[str], set[str]]:
    """Answer one question, or skip, release, leave; return who left with open answers kept, and dropped."""
    voter = panel.voters[int(rng.integers(len(panel.voters)))]
    if rng.random() < chaos / 4:
        way = "open" if rng.random() < 0.5 else "dropped"
        run.leave(voter, way)
        return ({voter}, set()) if way == "open" else (set(), {voter})
    for question in run.ask(int(rng.integers(1, 4)), voter=voter if rng.random() < 0.8 else None):
        if run.done or question not in run.open_duels:
            break
        if rng.random() < chaos:
            (run.skip if rng.random() < 0.5 else run.release)(question)
        else:
            run.tell(question, answer_of(panel, question))
    return set(), set()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("block", range(2))
def test_skips_and_leavers_never_make_it_wrong_nor_wait_for_ever(criterion: str, block: int) -> None:
    for seed in range(20 * block, 20 * (block + 1)):
        panel, ranks = panels.random_panel(seed, most=5)
        rng = np.random.default_rng([seed, 7])
        run = panel_explorer(panel, criterion, ranks)
        told: set[panels.Key] = set()
        original = run.tell

        def tell(question: Question, answer: object, told: set[panels.Key] = told, original=original) -> None:  # type: ignore[no-untyped-def]
            told.add((question.voter or "", question.position, question.first, question.second))
            original(question, answer)

        run.tell = tell  # type: ignore[method-assign]
        dropped: dict[str, set[panels.Key]] = {}
        for _ in range(3000):
            if run.done:
                break
            _, out = play(panel, run, rng, 0.1)
            for voter in out:
                row = panel.voters.index(voter)
                dropped[voter] = {key for key in keys_of(panel, voter) if not counts(panel, run, row, key)}
            if rng.random() < 0.02:
                for question in run.open_duels:
                    run.release(question)
        else:
            for question in run.open_duels:
                run.release(question)
            assert run.done, f"panel {seed} waits for what nobody can answer"
        opinions = panels.opinions_of(panel)
        for gone in dropped.values():
            for key in gone:
                opinions.pop(key, None)
        count = panels.Count(panel.problem, opinions, panels.weights_of(panel))
        result = run.result
        assert count.agrees(criterion, result.status, tuple(result.matching.values()), result.shortfall), seed


def keys_of(panel: Panel, voter: str) -> list[panels.Key]:
    return [(voter, *pair) for pair in panels.pairs(panel.problem)]


def counts(panel: Panel, run: PanelExplorer, row: int, key: panels.Key) -> bool:
    """Whether an opinion is counted: read off the state, since what was inferred before leaving stays."""
    _, position, first, second = key
    edges = [panel.problem.edge_number(name, position) for name in (first, second)]
    pair = int(panel.problem.graph.pair_table.number(*map(np.array, edges)))
    return bool(run.state.counted[row, pair])


MOST_OPEN = 6


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("block", range(3))
def test_what_is_certain_holds_in_every_completion(criterion: str, block: int) -> None:
    """And the other way round: while the leader is not yet certain, some completion makes it lose."""
    looked = 0
    for seed in range(15 * block, 15 * (block + 1)):
        panel, ranks = panels.random_panel(seed, most=3, most_voters=3)
        weights, opinions = panels.weights_of(panel), panels.opinions_of(panel)
        run = panel_explorer(panel, criterion, ranks)
        rng = np.random.default_rng(seed)
        while True:
            missing = [key for key in opinions if is_open(panel, run, key)]
            if len(missing) <= MOST_OPEN:
                looked += 1
                known = {key: value for key, value in opinions.items() if key not in missing}
                verdict, lineup = run.result, tuple(run.result.matching.values())
                every = [
                    panels.Count(panel.problem, filled, weights)
                    for filled in panels.completions(panel.problem, known, missing, ranks)
                ]
                shortfall = verdict.shortfall
                assert all(c.agrees(criterion, verdict.status, lineup, shortfall) for c in every), seed
                if criterion == "condorcet":
                    worst = max(count.shortfall(criterion, lineup) for count in every)
                    assert shortfall == pytest.approx(worst, abs=1e-12), seed
                possible = {tuple(matching.values()) for matching in run.progress.possible_winners}
                assert set.union(*(count.winners(criterion) for count in every)) <= possible, seed
            if run.done:
                break
            asked = run.ask(1, voter=panel.voters[int(rng.integers(len(panel.voters)))])
            for question in asked:
                run.tell(question, answer_of(panel, question))
    assert looked > 20


def is_open(panel: Panel, run: PanelExplorer, key: panels.Key) -> bool:
    voter, position, first, second = key
    edges = [panel.problem.edge_number(name, position) for name in (first, second)]
    pair = int(panel.problem.graph.pair_table.number(*map(np.array, edges)))
    return bool(run.state.opinion[panel.voters.index(voter), pair] == 2)
