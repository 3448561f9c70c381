"""Settings in which condorcet and borda are measured, and one run in one of them.

Run r of a setting is on instance r mod 10 of its family, with seed r. Most families are narrow: a winner
exists, but is so little ahead that an algorithm which decided too early would often be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from time import process_time
from unittest.mock import patch

import numpy as np
from benchmarks.error_rates import beyond
from benchmarks.error_rates.bounds import watch
from benchmarks.error_rates.families import (
    Ahead,
    Family,
    Rng,
    complete,
    first_that_fits,
    margin,
    sparse,
    strengths,
    two_favourites,
)
from benchmarks.error_rates.simulated_crowds import hold, independent
from benchmarks.error_rates.trials import INSTANCES, Trial, judge

import duelmatch as dm
from duelmatch.experiments.simulation import ANSWERS, answer_round
from duelmatch.explorers.ballots.explorer import BallotExplorer
from duelmatch.explorers.frugal.listed import Ledger
from duelmatch.explorers.frugal.search import FrugalSearch
from duelmatch.matchings.decisions import all_matchings
from duelmatch.preferences import Criterion

DELTA = 0.1
MOST_DUELS = 8_000


def ahead(low: float, high: float) -> Ahead:
    """The winner's score against the runner-up is above 1/2, or the runner-up's reward, by so much."""
    return Ahead(borda=(low, high), condorcet=(low, high))


def uniform(low: float, high: float) -> Callable[[dm.Problem, Rng], np.ndarray]:
    return lambda problem, rng: rng.uniform(low, high, (problem.graph.edges,) * 2)


def planted(problem: dm.Problem, rng: Rng) -> np.ndarray:
    """One matching wins all its duels with 0.6; the others are as they happen to be."""
    win = rng.uniform(0.3, 0.7, (problem.graph.edges,) * 2)
    everyone = all_matchings(problem.graph)
    winner = everyone[rng.integers(len(everyone))]
    win[winner, :], win[:, winner] = 0.6, 0.4
    return win


def loses_somewhere(preferences: dm.Preferences, criterion: Criterion) -> bool:
    """The Condorcet winner has an edge that loses to another by far."""
    winner = preferences.condorcet_winner()
    if winner is None or not 0.04 <= margin(preferences, criterion) <= 0.12:
        return False
    edges = preferences.problem.edge_numbers(winner)
    matrix, position = preferences.matrix, preferences.problem.graph.edge_position
    return any((matrix[edge][position == position[edge]] < 0.3).any() for edge in edges)


def no_winner(low: float, high: float) -> Callable[[dm.Preferences, Criterion], bool]:
    """Every matching is beaten, and the one that comes closest to a winner by a margin from low to high."""

    def fits(preferences: dm.Preferences, criterion: Criterion) -> bool:
        everyone = all_matchings(preferences.problem.graph)
        beaten_by = [preferences.matrix[everyone, chosen].mean(axis=1).max() - 0.5 for chosen in everyone]
        return bool(low <= min(beaten_by) <= high)

    return fits


FAMILIES = {
    family.name: family
    for family in (
        Family("random", "3 candidates, 2 positions", complete(3, 2), uniform(0.2, 0.8), ahead(0.04, 0.12)),
        Family(
            "Bradley-Terry",
            "3 candidates, 3 positions, a strength for every candidate at every position",
            complete(3, 3),
            strengths(1.5, noise=0.0),
            ahead(0.04, 0.12),
        ),
        Family(
            "planted",
            "4 candidates, 2 positions, the winner wins each duel with 0.6",
            complete(4, 2),
            planted,
            ahead(0.02, 0.12),
        ),
        Family(
            "sparse",
            "5 candidates, 4 positions, about half of the edges",
            sparse,
            strengths(1.5),
            ahead(0.03, 0.12),
        ),
        Family(
            "more candidates",
            "5 candidates, 2 positions, far from transitive",
            complete(5, 2),
            strengths(1.5, noise=0.3),
            ahead(0.04, 0.12),
        ),
        Family(
            "one position",
            "4 candidates, 1 position; the Condorcet winner is never the Borda winner",
            complete(4, 1),
            two_favourites,
            ahead(0.06, 0.2),
        ),
        Family(
            "near tie",
            "3 candidates, 2 positions, several matchings almost as good as the winner",
            complete(3, 2),
            strengths(0.1, noise=0.02),
            ahead(0.015, 0.03),
        ),
        Family(
            "a hair's breadth",
            "3 candidates, 2 positions, all matchings almost equal: 8,000 duels cannot tell",
            complete(3, 2),
            strengths(0.02, noise=0.002),
            ahead(0.0005, 0.002),
        ),
        Family(
            "a losing edge",
            "3 candidates, 2 positions; the winner loses more than 70% of the duels of one edge with another",
            complete(3, 2),
            uniform(0.1, 0.9),
            loses_somewhere,
        ),
        Family(
            "no winner",
            "3 candidates, 2 positions; every matching is beaten by another",
            complete(3, 2),
            uniform(0.1, 0.9),
            no_winner(0.06, 0.2),
        ),
        Family(
            "hardly no winner",
            "3 candidates, 2 positions; every matching is beaten, but one of them just so",
            complete(3, 2),
            uniform(0.2, 0.8),
            no_winner(0.002, 0.012),
        ),
    )
}


@cache
def instance(family: str, criterion: Criterion, number: int) -> dm.Preferences:
    """Return instance ``number`` of a family."""
    return first_that_fits((FAMILIES | beyond.FAMILIES)[family], criterion, number, 7)


@dataclass(frozen=True)
class Setting:
    """``level`` is the delta that the algorithm is given; one above DELTA breaks it on purpose.

    So does ``bias``, which is added to all that the duels tell against every rival.
    """

    algorithm: Criterion
    family: str
    variant: str = ""
    parameters: tuple[tuple[str, float | bool], ...] = ()
    tabled: bool = False
    out_of_order: bool = False
    bounds: bool = False
    """Whether a bound on the shortfall that is ever too small is the error, instead of a wrong answer."""
    level: float = DELTA
    bias: float = 0.0
    most_duels: int = MOST_DUELS

    @property
    def broken(self) -> bool:
        return self.level != DELTA or self.bias != 0.0


def settings() -> Iterator[Setting]:
    """Yield what is measured, row by row."""
    both: tuple[Criterion, Criterion] = ("condorcet", "borda")
    for algorithm in both:
        for family in list(FAMILIES)[:8]:
            yield Setting(algorithm, family)
        if algorithm == "condorcet":
            yield from _condorcet_only()
        near = (("epsilon", 0.05),)
        yield Setting(algorithm, "near tie", "epsilon 0.05", near)
        yield Setting(algorithm, "random", "epsilon 0.05", near)
        yield Setting(algorithm, "random", "tables", tabled=True)
        yield Setting(algorithm, "a hair's breadth", "tables", tabled=True, most_duels=3_000)
        yield Setting(algorithm, "random", "tables, epsilon 0.05", near, tabled=True)
        for family in ("random", "near tie", "a hair's breadth", "more candidates"):
            yield Setting(algorithm, family, "bound on the shortfall", bounds=True, most_duels=2_000)
        yield Setting(algorithm, "near tie", "bound, epsilon 0.05", near, bounds=True, most_duels=2_000)
        yield Setting(algorithm, "random", "batch 50", (("batch", 50),))
        yield Setting(algorithm, "random", "batch 20, told out of order", (("batch", 20),), out_of_order=True)


def _condorcet_only() -> Iterator[Setting]:
    perhaps = (("assume_winner", False),)
    yield Setting("condorcet", "a losing edge")
    for family in (
        "random",
        "near tie",
        "a hair's breadth",
        "a losing edge",
        "no winner",
        "hardly no winner",
    ):
        yield Setting("condorcet", family, "perhaps none", perhaps)
    yield Setting("condorcet", "no winner", "perhaps none, epsilon 0.05", (*perhaps, ("epsilon", 0.05)))
    for family in ("no winner", "hardly no winner", "near tie"):
        yield Setting("condorcet", family, "perhaps none, bound", perhaps, bounds=True, most_duels=2_000)
    yield Setting("condorcet", "random", "perhaps none, tables", perhaps, tabled=True)
    yield Setting(
        "condorcet", "hardly no winner", "perhaps none, tables", perhaps, tabled=True, most_duels=3_000
    )


def broken_settings() -> Iterator[Setting]:
    """Yield the same algorithms with too low a threshold, and with bets that are too good."""
    both: tuple[Criterion, Criterion] = ("condorcet", "borda")
    for algorithm in both:
        for level in (0.3, 0.5, 0.7, 0.9):
            yield Setting(algorithm, "a hair's breadth", f"threshold of delta = {level}", level=level)
        for bias in (0.05, 0.1):
            yield Setting(algorithm, "a hair's breadth", f"bets better by {bias}", bias=bias)


def run_ballots(setting: Setting, run: int) -> Trial:
    """Let voters come who answer a ballot each."""
    preferences = instance(setting.family, setting.algorithm, run % INSTANCES)
    started = process_time()
    assumed = {"assume_winner": True} if setting.algorithm == "condorcet" else {}
    study = BallotExplorer(
        preferences.problem, setting.algorithm, DELTA, run, ballot_size=beyond.BALLOT_SIZE, **assumed
    )
    voters = MOST_DUELS // beyond.BALLOT_SIZE
    hold(study, independent(preferences), np.random.default_rng([run, ANSWERS]), voters)
    verdict = judge(study.result, preferences, setting.algorithm, DELTA)
    return Trial(verdict, study.answers, process_time() - started)


def run_setting(setting: Setting, run: int) -> Trial:
    preferences = instance(setting.family, setting.algorithm, run % INSTANCES)
    started = process_time()
    assumed = {"assume_winner": True} if setting.algorithm == "condorcet" else {}
    if setting.bounds:
        search = FrugalSearch(
            preferences.problem.graph, setting.algorithm, DELTA, run, **(assumed | dict(setting.parameters))
        )
        rng = np.random.default_rng([run, ANSWERS])
        wrong, duels, _ = watch(search, preferences, setting.most_duels, rng)
        return Trial("wrong" if wrong else "right", duels, process_time() - started)
    with _as_set(setting):
        explorer = dm.explorer(
            setting.algorithm,
            preferences.problem,
            setting.level,
            seed=run,
            max_duels=setting.most_duels,
            **(assumed | dict(setting.parameters)),
        )
        rng = np.random.default_rng([run, ANSWERS])
        while not explorer.done:
            if setting.out_of_order:
                _answer_shuffled(explorer, preferences, rng)
            else:
                answer_round(explorer, preferences, rng)
    verdict = judge(explorer.result, preferences, setting.algorithm, setting.level)
    return Trial(verdict, explorer.duels, process_time() - started)


@contextmanager
def _as_set(setting: Setting) -> Iterator[None]:
    settle, settle_matches = Ledger.settle, Ledger.settle_matches

    def better(ledger, play, rivals, bets, slack=0.0):  # type: ignore[no-untyped-def]
        settle(ledger, play, rivals, bets, slack + setting.bias)

    def better_matches(ledger, bets, pair, looks, wins, losses):  # type: ignore[no-untyped-def]
        ledger._logs += (wins + losses).sum() * np.log1p(bets * setting.bias)
        settle_matches(ledger, bets, pair, looks, wins, losses)

    with ExitStack() as stack:
        if setting.tabled:
            stack.enter_context(patch("duelmatch.explorers.frugal.search.MOST_LISTED", 0))
        if setting.bias:
            stack.enter_context(patch.object(Ledger, "settle", better))
            stack.enter_context(patch.object(Ledger, "settle_matches", better_matches))
        yield


def _answer_shuffled(explorer: dm.Explorer, preferences: dm.Preferences, rng: Rng) -> None:
    """Answer a round in random order, each duel on its own, and give one back on the way."""
    duels = explorer.ask(10_000)
    if len(duels) > 1:
        explorer.release(duels.pop())
    for number in rng.permutation(len(duels)).tolist():
        duel = duels[number]
        first_wins = rng.random() < preferences.probability(duel.position, duel.first, duel.second)
        explorer.tell(duel, duel.first if first_wins else duel.second)
