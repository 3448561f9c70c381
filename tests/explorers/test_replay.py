"""Whatever happened to a run, its answers alone bring it back: asked in batches, answered late, released."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import duelmatch as dm
from cases import each
from duelmatch.experiments.simulation import answer_round
from duelmatch.explorers.engine import Outcome, Round, Rounds, Snapshot
from duelmatch.explorers.explorer import Queue

BUDGET = 150
TRIO = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])

Vote = tuple[str, str, str]


class Puzzle:
    """An algorithm whose every round depends on who exactly counted which answer before.

    Its rounds ask the same question on behalf of several pairs, in both directions, and some prescribe an
    order.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.heard: list[int] = []

    def rounds(self) -> Rounds:
        while len(self.heard) < 40:
            rng = np.random.default_rng([self.seed, *self.heard])
            pairs = int(rng.integers(1, 6))
            first = rng.integers(0, 3, pairs)
            second = (first + rng.integers(1, 3, pairs)) % 3
            count = rng.integers(0, 4, pairs)
            order = rng.permutation(np.repeat(np.arange(pairs), count))
            answers = yield Round(
                first, second, count, (lambda order=order: order) if rng.random() < 0.5 else None
            )
            self.heard += answers.wins.tolist()
        return Outcome("certified", np.array([sum(self.heard) % 3]))

    def snapshot(self) -> Snapshot:
        nothing = np.zeros(3, dtype=bool)
        return Snapshot(np.array([sum(self.heard) % 3]), nothing, nothing, float(len(self.heard)), None)


@dataclass
class Life:
    """Things that happen to a run, by chance; the answers are kept in the order in which they were told."""

    run: dm.Explorer
    rng: np.random.Generator
    votes: list[Vote] = field(default_factory=list)

    def live(self, events: int) -> None:
        for _ in range(events):
            happens = [self.ask, self.ask, self.tell, self.tell, self.tell, self.release, self.catch_up]
            happens[self.rng.integers(len(happens))]()

    def ask(self) -> None:
        self.run.ask(int(self.rng.choice([0, 1, 2, 5, 100])))

    def tell(self) -> None:
        if duels := self.run.open_duels:
            duel = duels[self.rng.integers(len(duels))]
            first_wins = self.rng.random() < 0.5
            winner, loser = (duel.first, duel.second) if first_wins else (duel.second, duel.first)
            self.run.tell(duel, winner)
            self.votes.append((duel.position, winner, loser))

    def release(self) -> None:
        if duels := self.run.open_duels:
            self.run.release(duels[self.rng.integers(len(duels))])

    def catch_up(self) -> None:
        for _ in range(len(self.run.open_duels)):
            self.tell()

    def rest(self) -> None:
        for duel in self.run.open_duels:
            self.run.release(duel)


def assert_same_state(one: dm.Explorer, other: dm.Explorer) -> None:
    assert (one.duels, one.done) == (other.duels, other.done)
    assert one.result == other.result
    assert one.progress == other.progress
    wanted, wanted_too = one.wanted(), other.wanted()
    assert np.array_equal(wanted.first, wanted_too.first)
    assert np.array_equal(wanted.second, wanted_too.second)
    assert np.array_equal(wanted.count, wanted_too.count)


def check_that_replays_agree(run: dm.Explorer, again: dm.Explorer, chance: int, moments: list[int]) -> None:
    life, told = Life(run, np.random.default_rng(chance)), 0
    for events in moments:
        life.live(events)
        life.rest()
        again.replay(life.votes[told:])
        told = len(life.votes)
        assert_same_state(run, again)


several_moments = st.lists(st.integers(0, 60), min_size=1, max_size=4)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(puzzle=st.integers(0, 10**6), chance=st.integers(0, 10**6), moments=several_moments)
def test_a_replayed_run_is_the_suspended_one_whoever_asks_the_same_question_twice(
    puzzle: int, chance: int, moments: list[int]
) -> None:
    run, again = (dm.Explorer(TRIO, Puzzle(puzzle), "puzzle", 0.1) for _ in range(2))
    check_that_replays_agree(run, again, chance, moments)


@st.composite
def starts(draw: st.DrawFn) -> tuple[dm.Explorer, dm.Explorer]:
    """Two runs of the same algorithm on the same random problem."""
    positions = draw(st.integers(1, 3))
    candidates = draw(st.integers(max(2, positions), 4))
    density = draw(st.sampled_from([1.0, 0.7, 0.4]))
    problem = dm.instances.random_problem(candidates, positions, density, draw(st.integers(0, 50)))
    algorithm = draw(st.sampled_from(dm.algorithms("crowd")))
    options: dict[str, object] = {
        "seed": draw(st.integers(0, 3)),
        "max_duels": draw(st.sampled_from([BUDGET, None])),
    }
    if algorithm in ("condorcet", "borda"):
        options["batch"] = draw(st.sampled_from([1, 7]))
    else:
        options["schedule"] = draw(st.sampled_from(["sparse", "every"]))
    if algorithm == "clucb-borda-pac":
        options["epsilon"] = 0.4
    run, again = (dm.explorer(algorithm, problem, 0.2, **options) for _ in range(2))  # type: ignore[arg-type]
    return run, again


@settings(max_examples=60, deadline=None, derandomize=True)
@given(pair=starts(), chance=st.integers(0, 10**6), moments=several_moments)
def test_a_replayed_run_of_any_algorithm_is_the_suspended_one(
    pair: tuple[dm.Explorer, dm.Explorer], chance: int, moments: list[int]
) -> None:
    check_that_replays_agree(*pair, chance, moments)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(pair=starts(), chance=st.integers(0, 10**6), told=st.integers(0, 60))
def test_a_run_answered_in_order_goes_on_with_the_same_questions(
    pair: tuple[dm.Explorer, dm.Explorer], chance: int, told: int
) -> None:
    run, again = pair
    life, life_too = (Life(each, np.random.default_rng(chance)) for each in pair)
    while not run.done and run.duels < told:
        run.ask(1)
        life.tell()
    again.replay(life.votes)
    life_too.rng = np.random.default_rng(chance + 1)
    life.rng = np.random.default_rng(chance + 1)
    while not run.done and run.duels < told + 30:
        (duel,), (duel_too,) = run.ask(1), again.ask(1)
        assert duel == duel_too
        life.tell()
        life_too.tell()
    assert_same_state(run, again)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(puzzle=st.integers(0, 10**6), chance=st.integers(0, 10**6), most=st.integers(0, 40))
def test_open_duels_fit_the_budget_and_their_numbers_are_never_used_twice(
    puzzle: int, chance: int, most: int
) -> None:
    run = dm.Explorer(TRIO, Puzzle(puzzle), "puzzle", 0.1, max_duels=most)
    life, highest = Life(run, np.random.default_rng(chance)), 0
    for _ in range(60):
        held = {duel.id for duel in run.open_duels}
        life.live(1)
        new = {duel.id for duel in run.open_duels} - held
        assert not new or min(new) > highest
        highest = max({highest, *new})
        assert run.duels + len(run.open_duels) <= most


def duels(first: list[int], second: list[int], count: list[int]) -> Round:
    numbers: NDArray[np.int64] = np.array(count)
    return Round(np.array(first), np.array(second), numbers)


def test_pairs_take_turns_but_pairs_of_one_question_come_one_after_the_other() -> None:
    assert duels([0, 0, 1], [1, 2, 2], [3, 1, 2]).turns().tolist() == [0, 1, 2, 0, 2, 0]
    assert duels([0, 1, 0], [1, 0, 2], [2, 2, 4]).turns().tolist() == [0, 2, 0, 2, 1, 2, 1, 2]


def test_a_question_is_open_for_one_pair_at_a_time() -> None:
    waiting = Queue(duels([0, 1, 0], [1, 0, 2], [2, 2, 1]))
    assert waiting.take(9, []) == [0, 2, 0]
    assert waiting.take(9, [0]) == []
    assert waiting.take(9, [2]) == [1, 1]
    assert len(waiting) == 0


def test_what_is_put_back_comes_last_but_before_later_pairs_of_its_question() -> None:
    waiting = Queue(duels([0, 1, 0], [1, 0, 2], [1, 1, 2]))
    assert waiting.take(1, []) == [0]
    waiting.put_back(0)
    assert waiting.take(9, []) == [2, 2, 0]
    assert waiting.take(9, []) == [1]


@each("algorithm", ["clucb-borda-pac", "car-parallel"])
def test_some_algorithms_do_ask_the_same_question_for_different_purposes(algorithm: str) -> None:
    """Otherwise the tests above would test nothing that happens."""
    run, rng = dm.explorer(algorithm, TRIO), np.random.default_rng(0)
    rounds_with_twins = 0
    even = dm.Preferences.from_matrix(TRIO, np.full((3, 3), 0.5))
    while run.duels < 400:
        questions = [
            question
            for question, count in zip(run.wanted().questions(), run.wanted().count, strict=True)
            if count
        ]
        rounds_with_twins += len(set(questions)) < len(questions)
        answer_round(run, even, rng)
    assert rounds_with_twins > 5


@pytest.mark.parametrize("sign", ["=", None])
def test_a_tie_is_replayed_in_either_form(sign: str | None) -> None:
    team = dm.Problem.complete(["ann", "bob", "cyd"], ["chair"])
    run = dm.explorer("condorcet", team, seed=1)
    (duel,) = run.ask(1)
    run.tell(duel, None)
    again = dm.explorer("condorcet", team, seed=1)
    again.replay([(duel.position, duel.first, duel.second, sign)])
    assert again.progress == run.progress
    with pytest.raises(dm.DuelError, match=r"or for a tie \(position, one, other, '='\)"):
        again.replay([(duel.position, duel.first, duel.second, "tie")])
