"""What follows from a judge's answers, and how it is counted."""

from __future__ import annotations

import numpy as np

import duelmatch as dm
from duelmatch.explorers.panel.bounds import BordaBounds
from duelmatch.explorers.panel.state import UNKNOWN, PanelState


def consistent_state(candidates: int, consistent: bool = True) -> PanelState:
    graph = dm.Problem.complete([f"c{i}" for i in range(candidates)], ["s"]).graph
    return PanelState(
        graph, np.ones((1, graph.pairs), dtype=np.bool_), np.ones(1, dtype=np.int64), consistent
    )


def say(state: PanelState, better: int, worse: int, tie: bool) -> None:
    pair = state.graph.pair_table.number(np.array([better]), np.array([worse]))
    state.tell(0, 0, pair, np.array([0 if tie else 1 if better < worse else -1], dtype=np.int8))


def known(state: PanelState) -> dict[tuple[int, int], int]:
    return {
        (int(a), int(b)): int(value)
        for a, b, value in zip(state.first, state.second, state.opinion[0], strict=True)
        if value != UNKNOWN
    }


def test_what_follows_from_two_answers_is_counted() -> None:
    state = consistent_state(3)
    say(state, 0, 1, tie=False)
    say(state, 1, 2, tie=False)
    assert known(state) == {(0, 1): 1, (1, 2): 1, (0, 2): 1}
    assert state.ahead.tolist() == [1, 1, 1]
    assert state.open.sum() == 0


def test_no_difference_is_transitive_and_carries_the_rest_over() -> None:
    state = consistent_state(4)
    say(state, 0, 1, tie=False)
    say(state, 2, 3, tie=True)
    say(state, 1, 2, tie=True)
    assert known(state) == {(0, 1): 1, (2, 3): 0, (1, 2): 0, (0, 2): 1, (0, 3): 1, (1, 3): 0}


def test_without_consistency_nothing_follows() -> None:
    state = consistent_state(3, consistent=False)
    say(state, 0, 1, tie=False)
    say(state, 1, 2, tie=False)
    assert (0, 2) not in known(state)


def test_an_answer_stands_and_takes_back_what_it_contradicts() -> None:
    state = consistent_state(4)
    say(state, 0, 1, tie=False)
    say(state, 1, 2, tie=False)
    say(state, 2, 3, tie=False)
    assert known(state)[0, 2] == known(state)[0, 3] == known(state)[1, 3] == 1
    say(state, 2, 0, tie=False)  # a circle of the first three
    assert known(state) == {(0, 1): 1, (1, 2): 1, (0, 2): -1, (2, 3): 1, (0, 3): 1, (1, 3): 1}
    say(state, 3, 0, tie=False)  # and of all four: nothing follows any more
    assert known(state) == {(0, 1): 1, (1, 2): 1, (0, 2): -1, (2, 3): 1, (0, 3): -1}


def test_the_closure_is_what_chains_of_answers_say_one_way_only() -> None:
    """By walking every chain; answers at random, so most judges contradict themselves."""
    rng = np.random.default_rng(4)
    for _ in range(400):
        size = int(rng.integers(3, 7))
        state = consistent_state(size)
        said: dict[tuple[int, int], int] = {}
        for pair in rng.permutation(state.pairs)[: rng.integers(1, state.pairs)].tolist():
            a, b = int(state.first[pair]), int(state.second[pair])
            said[a, b] = int(rng.integers(-1, 2))
            say(state, *((a, b) if said[a, b] >= 0 else (b, a)), tie=said[a, b] == 0)
        steps = {(a, b) for (a, b), value in said.items() if value >= 0}
        steps |= {(b, a) for (a, b), value in said.items() if value <= 0}
        chains = {(start, end): end in reached(steps, start) for start in range(size) for end in range(size)}
        expected = dict(said)
        for a, b in zip(state.first.tolist(), state.second.tolist(), strict=True):
            level = {c for c in range(size) if c == a or (chains[a, c] and chains[c, a])}
            contradicted = any(value and {*pair} <= level for pair, value in said.items())
            if (a, b) in said or not (chains[a, b] or chains[b, a]) or (b in level and contradicted):
                continue
            expected[a, b] = int(chains[a, b]) - int(chains[b, a])
        assert known(state) == expected


def reached(steps: set[tuple[int, int]], start: int) -> set[int]:
    found, new = set[int](), {start}
    while new:
        new = {end for begin, end in steps if begin in new} - found
        found |= new
    return found


def test_the_order_of_the_answers_makes_no_difference() -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        answers = [(pair, int(rng.integers(-1, 2))) for pair in rng.permutation(10)[:7].tolist()]
        states = []
        for order in (answers, answers[::-1]):
            state = consistent_state(5)
            for pair, value in order:
                a, b = int(state.first[pair]), int(state.second[pair])
                say(state, *((a, b) if value >= 0 else (b, a)), tie=value == 0)
            states.append(state)
        assert known(states[0]) == known(states[1])
        assert states[0].ahead.tolist() == states[1].ahead.tolist()


def test_what_is_unknown_after_the_closure_can_still_be_anything() -> None:
    """What is inferred from answers on four candidates is what all rankings that agree have in common."""
    rankings = list(weak_orders(4))
    rng = np.random.default_rng(0)
    for _ in range(150):
        state = consistent_state(4)
        truth = rankings[int(rng.integers(len(rankings)))]
        for pair in rng.permutation(6)[: rng.integers(1, 5)].tolist():
            a, b = int(state.first[pair]), int(state.second[pair])
            better, worse = (a, b) if truth[a] <= truth[b] else (b, a)
            say(state, better, worse, tie=truth[a] == truth[b])
        told = known(state)
        agree = [r for r in rankings if all(np.sign(r[b] - r[a]) == v for (a, b), v in told.items())]
        for a, b in zip(state.first.tolist(), state.second.tolist(), strict=True):
            values = {int(np.sign(r[b] - r[a])) for r in agree}
            assert values == ({told[a, b]} if (a, b) in told else {-1, 0, 1})


def weak_orders(size: int) -> set[tuple[int, ...]]:
    places = np.stack(np.meshgrid(*[range(size)] * size), axis=-1).reshape(-1, size)
    return {tuple(np.unique(row, return_inverse=True)[1].tolist()) for row in places}


def test_borda_bounds_of_a_consistent_judge_are_those_of_all_rankings() -> None:
    """One judge, one position: the bound is the least over all rankings that agree with what is known."""
    problem = dm.Problem.complete([f"c{i}" for i in range(4)], ["s"])
    rankings, rng = list(weak_orders(4)), np.random.default_rng(1)
    for _ in range(100):
        state = consistent_state(4)
        truth = rankings[int(rng.integers(len(rankings)))]
        for pair in rng.permutation(6)[: rng.integers(0, 4)].tolist():
            a, b = int(state.first[pair]), int(state.second[pair])
            better, worse = (a, b) if truth[a] <= truth[b] else (b, a)
            say(state, better, worse, tie=truth[a] == truth[b])
        told = known(state)
        agree = [r for r in rankings if all(np.sign(r[b] - r[a]) == v for (a, b), v in told.items())]
        bounds = BordaBounds(state)
        scores = [[sum(np.sign(r[y] - r[x]) for y in range(4)) for x in range(4)] for r in agree]
        for own in range(4):
            least, most = bounds.least(np.array([own])), bounds.most(np.array([own]))
            for other in range(4):
                differences = [score[own] - score[other] for score in scores]
                assert (least[other], most[other]) == (min(differences), max(differences))
    assert problem.graph.pairs == 6
