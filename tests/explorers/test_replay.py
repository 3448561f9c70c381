"""Whatever happened to a run, its answers alone bring it back: asked in batches, answered late, released."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import duelmatch as dm

BUDGET = 150

quick = settings(max_examples=120, deadline=None, derandomize=True)


@dataclass(frozen=True)
class Setting:
    """What a run is made of."""

    problem: dm.Problem
    algorithm: str
    schedule: str
    seed: int

    def start(self) -> dm.Explorer:
        epsilon = {"epsilon": 0.4} if self.algorithm == "clucb-borda-pac" else {}
        return dm.explorer(
            self.algorithm,
            self.problem,
            delta=0.2,
            seed=self.seed,
            max_duels=BUDGET,
            schedule=self.schedule,
            **epsilon,
        )


@st.composite
def settings_of_runs(draw: st.DrawFn) -> Setting:
    positions = draw(st.integers(1, 3))
    candidates = draw(st.integers(max(2, positions), 4))
    density = draw(st.sampled_from([1.0, 0.7, 0.4]))
    return Setting(
        dm.instances.random_problem(candidates, positions, density, draw(st.integers(0, 50))),
        draw(st.sampled_from(dm.algorithms())),
        draw(st.sampled_from(["sparse", "every"])),
        draw(st.integers(0, 3)),
    )


events = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask many", "tell", "tell", "tell", "tell all", "release"]),
        st.integers(0, 7),
        st.booleans(),
    ),
    max_size=80,
)


def live_through(run: dm.Explorer, events: list[tuple[str, int, bool]]) -> list[tuple[str, str, str]]:
    """Let things happen to a run; return the answers in the order in which they were told."""
    votes = []

    def tell(duel: dm.Duel, first_wins: bool) -> None:
        winner, loser = (duel.first, duel.second) if first_wins else (duel.second, duel.first)
        run.tell(duel, winner)
        votes.append((duel.position, winner, loser))

    for event, number, first_wins in events:
        duels = run.open_duels
        chosen = duels[number % len(duels)] if duels else None
        if event == "ask":
            run.ask(number)
        elif event == "ask many":
            run.ask(10 * number)
        elif event == "tell all":
            for duel in duels:
                tell(duel, first_wins)
        elif chosen is not None and event == "tell":
            tell(chosen, first_wins)
        elif chosen is not None:
            run.release(chosen)
    return votes


def assert_same_state(one: dm.Explorer, other: dm.Explorer) -> None:
    assert (one.duels, one.done) == (other.duels, other.done)
    assert one.result == other.result
    assert one.progress == other.progress
    wanted, wanted_too = one.wanted(), other.wanted()
    assert np.array_equal(wanted.first, wanted_too.first)
    assert np.array_equal(wanted.second, wanted_too.second)
    assert np.array_equal(wanted.count, wanted_too.count)


@quick
@given(setting=settings_of_runs(), before=events, after=events)
def test_a_replayed_run_is_the_suspended_one(
    setting: Setting, before: list[tuple[str, int, bool]], after: list[tuple[str, int, bool]]
) -> None:
    run, again = setting.start(), setting.start()
    again.replay(live_through(run, before))
    for duel in run.open_duels:
        run.release(duel)
    assert_same_state(run, again)
    again.replay(live_through(run, after))
    for duel in run.open_duels:
        run.release(duel)
    assert_same_state(run, again)


@quick
@given(setting=settings_of_runs(), before=events)
def test_a_run_without_releases_goes_on_with_the_same_questions(
    setting: Setting, before: list[tuple[str, int, bool]]
) -> None:
    run, again = setting.start(), setting.start()
    in_order = [("tell all", 0, first_wins) for _, _, first_wins in before]
    votes = live_through(run, [event for tell in in_order for event in (("ask", 1, True), tell)])
    again.replay(votes)
    while not run.done:
        (duel,), (duel_too,) = run.ask(1), again.ask(1)
        assert (duel.position, duel.first, duel.second) == (
            duel_too.position,
            duel_too.first,
            duel_too.second,
        )
        run.tell(duel, duel.first)
        again.tell(duel_too, duel_too.first)
    assert_same_state(run, again)


@quick
@given(setting=settings_of_runs(), before=events)
def test_the_numbers_of_open_duels_fit_the_budget_and_are_never_used_twice(
    setting: Setting, before: list[tuple[str, int, bool]]
) -> None:
    run = setting.start()
    highest = 0
    for event in before:
        held = {duel.id for duel in run.open_duels}
        live_through(run, [event])
        new = {duel.id for duel in run.open_duels} - held
        assert not new or min(new) > highest
        highest = max({highest, *new})
        assert run.duels + len(run.open_duels) <= BUDGET
