"""No bet is favourable where the hypothesis that it is made against is true: the heart of the guarantee.

Real runs are watched. In every round, for every rival that may still be the winner, and in every world of a
collection in which it is, the expected factor of a single duel must be at most 1.
"""

from __future__ import annotations

from functools import partialmethod

import numpy as np
import pytest

import brute
from duelmatch.explorers.frugal import search
from duelmatch.explorers.frugal.search import FrugalSearch
from explorers.frugal.watching import PROBLEMS, SPARSE, SQUARE, WIDE, Bet, coefficients, tabled, watch, worlds

FAIR = 1 + 1e-12

MODES = {
    "plain": {},
    "near enough": {"epsilon": 0.04},
    "perhaps none": {"assume_winner": False},
    "perhaps none, near enough": {"assume_winner": False, "epsilon": 0.04},
    "batches": {"batch": 40, "epsilon": 0.03},
}


def truth(problem, seed):
    """Answers that are close to even, so that the champion changes, with a cycle for some seeds."""
    rng = np.random.default_rng(seed)
    graph = problem.graph
    chances = rng.uniform(0.42, 0.58, len(brute.pairs(graph)))
    return np.clip(chances + (rng.random(len(chances)) < 0.2) * rng.choice([-0.5, 0.5], len(chances)), 0, 1)


def check_bets(monkeypatch, problem, criterion, parameters, seed, most_duels=160, chances=None):
    """Watch one run; return the bets."""
    graph = problem.graph
    monkeypatch.setattr(search, "CLEAR", -np.inf)  # so that proofs begin at once
    monkeypatch.setattr(search, "SHORT", np.inf)
    run = FrugalSearch(graph, criterion, 0.2, seed, **({"assume_winner": True} | parameters))
    possible_worlds = worlds(graph, criterion)
    any_world = np.concatenate(possible_worlds)
    seen: list[Bet] = []

    def fair(bet: Bet) -> None:
        assert bet.omega.sum() == pytest.approx(1.0)
        assert (bet.factors > 0).all(), "no duel ruins"
        assert bet.slack == 0.0 or bet.proof
        for place, rival in enumerate(bet.rivals.tolist()):
            there = any_world if bet.proof and not run._assume_winner else possible_worlds[rival]
            behind = (there - 0.5) @ coefficients(graph, criterion, tuple(bet.champion.tolist()))[rival]
            there = there[behind <= -bet.slack + 1e-15]
            if len(there):
                assert bet.expected(place, there).max() <= FAIR
        seen.append(bet)

    chances = truth(problem, seed) if chances is None else chances
    watch(monkeypatch, run, chances, most_duels, fair, seed)
    return seen


def modes():
    for name, parameters in MODES.items():
        yield pytest.param("condorcet", parameters, id=f"condorcet-{name}")
        if "assume_winner" not in parameters:
            yield pytest.param("borda", parameters, id=f"borda-{name}")


@pytest.mark.parametrize(("criterion", "parameters"), list(modes()))
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_no_bet_is_favourable_where_its_rival_is_the_winner(monkeypatch, problem, criterion, parameters):
    bets = check_bets(monkeypatch, problem, criterion, parameters, seed=1)
    assert any(bet.proof for bet in bets) == bool(set(parameters) & {"epsilon", "assume_winner"})


@pytest.mark.parametrize(("criterion", "parameters"), list(modes()))
@pytest.mark.parametrize("problem", [WIDE, SPARSE], ids=["wide", "sparse"])
def test_nor_is_one_in_the_tables(monkeypatch, problem, criterion, parameters):
    tabled(monkeypatch)
    bets = check_bets(monkeypatch, problem, criterion, parameters, seed=2)
    assert any(bet.proof for bet in bets) == bool(set(parameters) & {"epsilon", "assume_winner"})


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_nor_is_one_when_the_rivals_come_to_be_listed(monkeypatch, criterion):
    monkeypatch.setattr(search, "MOST_LISTED", 5)
    kinds = []

    def listed(run, edges, before=None, right=FrugalSearch._listed):
        after = right(run, edges, before)
        kinds.append("tables" if after is None else "list")
        if after is not None and before is not None and before._proven:
            assert len(after.rows) == before.edges()[brute.matchings(run._graph)].all(axis=1).sum()
            np.testing.assert_allclose(after._base.wealth, before.base.wealth(after.rows), atol=1e-9)
            assert after._proven.keys() == before._proven.keys()
            for key, (tables, _) in before._proven.items():
                ledger, _ = after._proven[key]
                np.testing.assert_allclose(ledger.wealth, tables.wealth(after.rows), atol=1e-9)
            kinds.append("moved")
        return after

    monkeypatch.setattr(FrugalSearch, "_listed", listed)
    chances = np.clip(worlds(WIDE.graph, criterion)[4][-1], 0.3, 0.7)
    parameters = {"epsilon": 0.01, "batch": 30}
    check_bets(monkeypatch, WIDE, criterion, parameters, seed=3, most_duels=4000, chances=chances)
    assert kinds[0] == "tables"
    assert kinds[-2:] == ["list", "moved"]
    assert kinds.count("list") == 1


@pytest.mark.parametrize("by_edges", [False, True], ids=["listed", "tabled"])
@pytest.mark.parametrize("assume_winner", [False, True])
def test_nor_is_one_when_some_are_rejected(monkeypatch, by_edges, assume_winner):
    """A champion must be shown to beat also those who are not the winner, unless one is assumed."""
    if by_edges:
        tabled(monkeypatch)
    rejected = []

    def reject(rivals, threshold, right):
        right(rivals, threshold)
        rejected.append(int((~rivals.edges()).sum()))

    for kind in (search.ListedRivals, search.TabledRivals):
        monkeypatch.setattr(kind, "reject", partialmethod(reject, right=kind.reject))
    chances = np.clip(worlds(WIDE.graph, "condorcet")[4][-1], 0.2, 0.8)
    parameters = {"assume_winner": assume_winner, "epsilon": 0.001, "batch": 25}
    check_bets(monkeypatch, WIDE, "condorcet", parameters, seed=5, most_duels=1500, chances=chances)
    assert sum(edges > 0 for edges in rejected) >= 3


def test_an_unfair_bet_would_be_noticed(monkeypatch):
    """Pairs are left out of the design that the gap depends on: the mean of Y is no longer D."""
    right = search.ListedRivals.plan

    def careless(rivals, stakes, *rest):
        omega = right(rivals, stakes, *rest)
        omega[omega.argmin()] = 0.0
        return omega / omega.sum()

    monkeypatch.setattr(search.ListedRivals, "plan", careless)
    with pytest.raises(AssertionError):
        check_bets(monkeypatch, SQUARE, "borda", {}, seed=1)
