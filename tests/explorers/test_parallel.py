"""CAR-Parallel interleaves its sub-runs as the listing says, whatever their rounds look like."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

import numpy as np
import pytest

import duelmatch as dm
from duelmatch.explorers import car_parallel
from duelmatch.explorers.engine import Outcome, Round, Rounds, Snapshot

PROBLEM = dm.Problem.complete([f"c{i}" for i in range(12)], ["chair"])
DELTA = 0.08


class Scripted:
    """A sub-run that asks about one pair only, that of its number, in rounds of the given sizes."""

    started: list[Scripted]
    sizes = (1,)
    ends: dict[int, tuple[int, Outcome]]
    """By number: after how many duels it ends, and how."""

    def __init__(self, graph: object, delta: float, *, schedule: str, oracle: str) -> None:
        self.number = len(self.started)
        self.delta = delta
        self.duels = 0
        self.wins = 0
        self.started.append(self)

    def rounds(self) -> Rounds:
        length, outcome = self.ends.get(self.number, (10**9, Outcome("no_winner", None)))
        for place in count(self.number):
            if self.duels == length:
                return outcome
            size = min(self.sizes[place % len(self.sizes)], length - self.duels)
            won = yield Round(np.array([self.number]), np.array([self.number + 1]), np.array([size]))
            self.duels += size
            self.wins += int(won.wins[0])
        raise AssertionError("unreachable")

    def snapshot(self) -> Snapshot:
        nothing = np.zeros(12, dtype=bool)
        return Snapshot(None, nothing, nothing, None, None)


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(car_parallel, "CarVerify", Scripted)
    Scripted.started, Scripted.sizes, Scripted.ends = [], (1,), {}


def start() -> dm.Explorer:
    return dm.explorer("car-parallel", PROBLEM, delta=DELTA)


def asked_by(duel: dm.Duel) -> int:
    return int(duel.first[1:])


def sub_runs_in_order() -> Iterator[tuple[int, int]]:
    """Yield (tick, sub-run) as the listing resumes them."""
    for tick in count(1):
        for k in count(0):
            if tick % 2**k:
                break
            yield tick, k


SIZES = pytest.mark.parametrize("sizes", [(1,), (2,), (5, 1, 3), (1, 40), (1000,)], ids=str)


@SIZES
def test_tick_t_resumes_every_sub_run_whose_power_of_two_divides_t(sizes: tuple[int, ...]) -> None:
    Scripted.sizes = sizes
    run = start()
    order = []
    for _ in range(600):
        (duel,) = run.ask(1)
        order.append(asked_by(duel))
        run.tell(duel, duel.first)
    assert order == [k for _, k in islice(sub_runs_in_order(), 600)]


@SIZES
def test_after_t_ticks_sub_run_k_has_had_its_share(sizes: tuple[int, ...]) -> None:
    Scripted.sizes = sizes
    run, asked = start(), [0] * 12
    for tick in range(1, 201):
        due = 2 * tick - tick.bit_count() - run.duels  # the sum of tick // 2^k, less what has been asked
        for _ in range(due):
            (duel,) = run.ask(1)
            asked[asked_by(duel)] += 1
            run.tell(duel, duel.second)
        assert asked == [tick // 2**k for k in range(12)]


def test_the_sub_runs_share_delta_by_halves() -> None:
    run = start()
    while len(Scripted.started) < 8:
        (duel,) = run.ask(1)
        run.tell(duel, duel.first)
    assert [sub_run.delta for sub_run in Scripted.started] == [DELTA / 2 ** (k + 1) for k in range(8)]
    assert sum(sub_run.delta for sub_run in Scripted.started) < DELTA
    assert run.duels == 2 * 127 - (127).bit_count() + 7  # number 7 starts when tick 128 comes to it


@SIZES
def test_whole_rounds_are_shared_out_like_single_duels(sizes: tuple[int, ...]) -> None:
    Scripted.sizes = sizes
    run = start()
    while run.duels < 500:
        wanted = run.wanted()
        run.tell_wins(np.where(wanted.first % 2 == 0, wanted.count, 0))
    resumed = [k for _, k in islice(sub_runs_in_order(), run.duels)]
    for sub_run in Scripted.started:
        complete = sub_run.duels
        assert complete <= resumed.count(sub_run.number) < complete + max(sizes)
        assert sub_run.wins == (complete if sub_run.number % 2 == 0 else 0)


@SIZES
def test_the_first_to_certify_ends_the_run_at_once(sizes: tuple[int, ...]) -> None:
    Scripted.sizes = sizes
    Scripted.ends = {2: (8, Outcome("certified", np.array([4])))}
    run = start()
    while not run.done:
        (duel,) = run.ask(1)
        last = asked_by(duel)
        run.tell(duel, duel.first)
    assert last == 2
    moments = list(islice(sub_runs_in_order(), run.duels))
    assert [k for _, k in moments].count(2) == 8
    assert moments[-1] == (32, 2)  # 3, 4 and 5 would have been next
    assert run.result.status == "certified"
    assert run.result.delta == DELTA
    assert run.result.matching == dm.Matching({"chair": "c4"})


@SIZES
def test_a_refuted_sub_run_is_asked_no_more_and_the_others_keep_their_ticks(sizes: tuple[int, ...]) -> None:
    Scripted.sizes = sizes
    refuted = Outcome("no_winner", None, 0.01)
    Scripted.ends = {0: (7, refuted), 1: (3, refuted), 3: (1, refuted)}
    run, order = start(), []
    for _ in range(60):
        (duel,) = run.ask(1)
        order.append(asked_by(duel))
        run.tell(duel, duel.first)
    lengths = {0: 7, 1: 3, 3: 1}
    expected = []
    for _, k in sub_runs_in_order():
        if expected.count(k) < lengths.get(k, 10**9):
            expected.append(k)
        if len(expected) == 60:
            break
    assert order == expected
    assert not run.done
