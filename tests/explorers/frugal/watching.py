"""Real runs of the frugal search, watched bet by bet, beside what the bets must be by definition.

Nothing here uses the stakes, the bounds or the estimates of the code under test: D(A, B) is computed from
whole preference matrices by :mod:`brute`, and its coefficients by changing one probability at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import brute
from duelmatch.explorers.engine import Outcome, RoundAnswers
from duelmatch.explorers.frugal import listed, search, stakes, tables
from duelmatch.explorers.frugal.search import FrugalSearch
from duelmatch.graph import Graph
from duelmatch.problem import Problem

SQUARE = Problem.complete(["a", "b", "c"], ["s", "t", "u"])
WIDE = Problem.complete(["a", "b", "c", "d"], ["s", "t"])
ALONE = Problem.complete(["a", "b", "c", "d"], ["s"])
SPARSE = Problem.from_edges(
    [
        ("a", "s"),  # alone at s, so not usable at t
        ("a", "t"),
        ("b", "t"),
        ("c", "t"),
        ("c", "u"),
        ("d", "u"),
        ("e", "u"),
        ("e", "v"),
        ("d", "v"),
    ],
    candidates=["a", "b", "c", "d", "e", "nobody's choice"],
)
PROBLEMS = {"square": SQUARE, "wide": WIDE, "alone": ALONE, "sparse": SPARSE}


@cache
def coefficients(graph: Graph, criterion: str, champion: tuple[int, ...]) -> np.ndarray:
    """Return dD(champion, B) / dp_pair: a row per matching B, a column per pair."""
    even = brute.mirrored(graph, np.full((graph.edges, graph.edges), 0.5))
    rows = []
    for a, b in brute.pairs(graph):
        moved = even.copy()
        moved[a, b], moved[b, a] = 1.0, 0.0
        rows.append(2 * brute.advantage(graph, moved, criterion, np.array(champion)))
    return np.stack(rows, axis=1)


def gaps(graph: Graph, criterion: str, champion: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Return D(champion, B) for all matchings B; ``chances`` are the probabilities of the pairs."""
    return coefficients(graph, criterion, tuple(champion.tolist())) @ (chances - 0.5)


def is_winner(graph: Graph, criterion: str, number: int, chances: np.ndarray) -> bool:
    """Whether no matching does better, in the comparison of the criterion, than this one."""
    everyone = brute.matchings(graph)
    return bool((gaps(graph, criterion, everyone[number], chances) >= -1e-12).all())


@cache
def worlds(graph: Graph, criterion: str) -> list[np.ndarray]:
    """Return, for each matching, pair probabilities under which it is the winner: a row per world.

    Winners by far, by a hair, by certainty, those who lose at some of the positions, and 1/2 everywhere.
    """
    rng = np.random.default_rng(3)
    ends = np.array(brute.pairs(graph))
    found: list[list[np.ndarray]] = []
    for number, matching in enumerate(brute.matchings(graph)):
        first, second = np.isin(ends[:, 0], matching), np.isin(ends[:, 1], matching)
        towards = first.astype(float) - second
        of_number = [np.full(len(ends), 0.5)]
        for lead in (1e-9, 0.05, 0.2, 0.5, 0.5):
            for attempt in range(400):
                others = rng.choice([0.0, 0.5, 1.0], len(ends)) if attempt % 2 else rng.random(len(ends))
                own = np.where(rng.random(len(ends)) < 0.35, rng.uniform(-0.5, lead, len(ends)), lead)
                chances = np.clip(np.where(towards != 0, 0.5 + towards * own, others), 0.0, 1.0)
                if is_winner(graph, criterion, number, chances):
                    of_number.append(chances)
                    break
        found.append(of_number)
    return [np.stack(of_number) for of_number in found]


@dataclass
class Bet:
    """One settlement of one ledger: against which matchings, with what expected factor in each world."""

    proof: bool
    champion: np.ndarray
    omega: np.ndarray
    rivals: np.ndarray
    """Numbers of the matchings."""
    factors: np.ndarray
    """(first lost, first won) x pairs x rivals: what a single duel multiplies the wealth by."""
    slack: float
    """By how much the champion must lose for the bet not to be favourable."""

    def expected(self, rival: int, chances: np.ndarray) -> np.ndarray:
        """Return the expected factor of a single duel in every world."""
        lost, won = self.factors[:, :, rival]
        each = chances * won + (1 - chances) * lost
        return each @ self.omega


def watch(
    monkeypatch: pytest.MonkeyPatch,
    run: FrugalSearch,
    chances: np.ndarray,
    most_duels: int,
    settled: Callable[[Bet], None],
    seed: int = 0,
) -> Outcome | None:
    """Play a run with answers drawn from ``chances`` and show every bet, before it is settled."""
    graph = run._graph
    everyone = {tuple(row): number for number, row in enumerate(brute.matchings(graph).tolist())}
    pair_of = {ends: number for number, ends in enumerate(brute.pairs(graph))}

    def single_duels(play, wealth_after) -> np.ndarray:
        factors = np.ones((2, run._pairs.count, len(wealth_after(None))))
        before, drawn = wealth_after(None), np.flatnonzero(play.omega > 0)
        tied = drawn[len(plays) % len(drawn)]  # one pair in each round, and all in turn
        for pair in drawn:
            single = np.array([pair]), np.array([1])
            for won in (0, 1):
                one = *single, all_decided(np.array([won]))
                factors[won, pair] = np.exp(wealth_after(one) - before)
            if pair == tied:
                tie = *single, RoundAnswers(np.array([0]), np.array([1]))
                middle = factors[:, pair].mean(axis=0)  # so ties change no expectation
                np.testing.assert_allclose(np.exp(wealth_after(tie) - before), middle, rtol=1e-9)
        return factors

    def remembered(self, champion, prospects, pairs, duels, answers, tangent):
        played = right_played(self, champion, prospects, pairs, duels, answers, tangent)
        plays[id(played)] = (
            self,
            (champion, prospects),
            tangent,
            played,
        )  # which keeps it, and its id, for as long as this lasts
        return played

    def show(played, rows, proof, slack, wealth_after) -> None:
        play, backed, tangent, _ = plays[id(played)]

        def after(one):
            return wealth_after(None if one is None else right_played(play, *backed, *one, tangent))

        settled(
            Bet(
                proof, played.champion, play.omega,
                np.array([everyone[tuple(row)] for row in rows.tolist()], dtype=np.intp),
                single_duels(play, after), slack,
            )
        )  # fmt: skip

    def settle_list(self, played, rivals, bets, slack=0.0):
        def wealth_after(one):
            copy = deepcopy(self)
            if one is not None:
                list_settle(copy, one, rivals, bets, slack)
            return copy.wealth

        show(played, rivals, self is not run._rivals._base, slack, wealth_after)
        list_settle(self, played, rivals, bets, slack)

    def settle_matches(self, bets, pair, looks, wins, losses):
        """Bets on an opponent for each rival: nothing but the pairs drawn, and who won them, may matter."""
        omega, before = run._rivals._omega, self.wealth
        factors = np.ones((2, run._pairs.count, len(before)))
        for number in np.flatnonzero(omega > 0):
            one, none = np.zeros((2, run._pairs.count), dtype=np.int64)
            one[number] = 1
            for won, (won_duels, lost_duels) in enumerate(((none, one), (one, none))):
                copy = deepcopy(self)
                list_matches(copy, bets, pair, looks, won_duels, lost_duels)
                factors[won, number] = np.exp(copy.wealth - before)
        rows = np.array([everyone[tuple(row)] for row in run._rivals.rows.tolist()], dtype=np.intp)
        settled(Bet(False, run._champion, omega, rows, factors, 0.0))
        list_matches(self, bets, pair, looks, wins, losses)

    def settle_tables(self, played, graph, slack=0.0):
        rivals = run._rivals
        edges = rivals._alive if rivals._forget else run._usable
        rows = brute.matchings(graph)[edges[brute.matchings(graph)].all(axis=1)]

        def wealth_after(one):
            copy = tables.Tables(self.logs.copy())
            if one is not None:
                tables_settle(copy, one, graph, slack)
            return copy.wealth(rows)

        show(played, rows, self is not rivals.base, slack, wealth_after)
        tables_settle(self, played, graph, slack)

    plays: dict[int, tuple] = {}
    right_played = stakes.Play.played
    monkeypatch.setattr(stakes.Play, "played", remembered)
    list_settle, tables_settle = listed.Ledger.settle, tables.Tables.settle
    list_matches = listed.Ledger.settle_matches
    monkeypatch.setattr(listed.Ledger, "settle", settle_list)
    monkeypatch.setattr(listed.Ledger, "settle_matches", settle_matches)
    monkeypatch.setattr(tables.Tables, "settle", settle_tables)
    try:
        return play_out(run, chances, most_duels, seed, pair_of)
    finally:
        monkeypatch.setattr(listed.Ledger, "settle", list_settle)
        monkeypatch.setattr(listed.Ledger, "settle_matches", list_matches)
        monkeypatch.setattr(tables.Tables, "settle", tables_settle)
        monkeypatch.setattr(stakes.Play, "played", right_played)


def play_out(
    run: FrugalSearch, chances: np.ndarray, most_duels: int, seed: int = 0, pair_of: dict | None = None
) -> Outcome | None:
    """Answer the rounds of a run; None if it wants more than ``most_duels``."""
    pair_of = pair_of or {ends: number for number, ends in enumerate(brute.pairs(run._graph))}
    rng = np.random.default_rng([seed, 9])
    rounds, wins, duels = run.rounds(), None, 0
    while duels < most_duels:
        try:
            asked = next(rounds) if wins is None else rounds.send(all_decided(wins))
        except StopIteration as stop:
            return stop.value
        ends = zip(asked.first.tolist(), asked.second.tolist(), strict=True)
        wins = rng.binomial(asked.count, chances[[pair_of[pair] for pair in ends]])
        duels += asked.total
    return None


def all_decided(wins: np.ndarray) -> RoundAnswers:
    """Answers without a tie."""
    return RoundAnswers(wins, np.zeros_like(wins))


def tabled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the rivals by their edges, however few they are."""
    monkeypatch.setattr(search, "MOST_LISTED", 0)
