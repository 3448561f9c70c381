"""The oracle of the tests for decisions beyond one-to-one: all of them listed by name, by the definitions.

Nothing here calls the code under test; ``Problem`` only carries the input, and its rules are read as the
person who wrote them would: names, counted. Random problems mix capacities, seats, weights and rules.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from itertools import combinations, product
from math import prod

import numpy as np

from brute import KINDS, drawn_wins, mirrored
from duelmatch.errors import NoMatchingError
from duelmatch.problem import Problem
from duelmatch.rules import Rule

SEEDS = tuple(range(int(os.environ.get("DUELMATCH_PROBLEMS", "160"))))
"""Ten of each mixture; `make brute` takes 1,008."""

MOST_DECISIONS = 1_500
"""Larger draws are left out, so that every two decisions can be compared."""


@cache
def problem(seed: int) -> Problem:
    """Return a problem with a mixture of conditions: bits 0 to 3 of the seed say which, 0 for all."""
    mixture = seed % 16 or 15
    for attempt in range(10_000):
        rng = np.random.default_rng([seed, attempt, 41])
        try:
            drawn = _draw(rng, mixture)
        except NoMatchingError:
            continue
        if len(decisions(drawn)) <= MOST_DECISIONS:
            return drawn
    raise AssertionError("no problem was found")


def _draw(rng: np.random.Generator, mixture: int) -> Problem:
    positions = int(rng.integers(1, 5))
    candidates = int(rng.integers(2, 7))
    names, places = [f"c{i}" for i in range(candidates)], [f"s{j}" for j in range(positions)]
    density = float(rng.choice([0.5, 0.7, 1.0]))
    present = rng.random((positions, candidates)) < density
    present[np.arange(positions), rng.integers(0, candidates, positions)] = True
    edges = [(names[i], places[j]) for j, i in np.argwhere(present).tolist()]
    capacity = {name: int(rng.integers(1, 4)) for name in names if mixture & 1 and rng.random() < 0.7}
    seats = {place: int(rng.integers(1, 4)) for place in places if mixture & 2 and rng.random() < 0.7}
    weight = {place: float(rng.choice([0.5, 2.0, 3.0])) for place in places if mixture & 4}
    rules = [_rule(rng, names, edges) for _ in range(int(rng.integers(1, 4)))] if mixture & 8 else []
    return Problem.from_edges(
        edges, names, places, capacity=capacity, seats=seats, weight=weight, rules=rules
    )


def _rule(rng: np.random.Generator, names: list[str], edges: list[tuple[str, str]]) -> Rule:
    pool: list = [*names, *edges] if rng.random() < 0.5 else list(names)
    size = int(rng.integers(2, min(4, len(pool)) + 1))
    items = [pool[number] for number in rng.permutation(len(pool))[:size].tolist()]
    kind = int(rng.integers(4))
    if kind == 0:
        return Rule(of=items, at_most=int(rng.integers(0, 3)))
    if kind == 1:
        return Rule(of=items, at_least=int(rng.integers(1, 3)))
    if kind == 2:
        return Rule(of=items, at_least=1, at_most=int(rng.integers(1, 3)))
    return Rule(together=items)


@cache
def decisions(problem: Problem) -> tuple[tuple[tuple[str, str], ...], ...]:
    """List every decision as its (candidate, position) pairs, in the order of the problem's edges."""
    order = {edge: number for number, edge in enumerate(problem.edges)}
    choices = []
    for position in problem.positions:
        who = [candidate for candidate, place in problem.edges if place == position]
        choices.append(list(combinations(who, problem.seats.get(position, 1))))
    if prod(map(len, choices)) > 100_000:
        return ((),) * (MOST_DECISIONS + 1)
    found = []
    for chosen in product(*choices):
        pairs = [
            (candidate, position)
            for position, names in zip(problem.positions, chosen, strict=True)
            for candidate in names
        ]
        load = Counter(candidate for candidate, _ in pairs)
        if all(count <= problem.capacity.get(name, 1) for name, count in load.items()) and all(
            obeys(rule, pairs) for rule in problem.rules
        ):
            found.append(tuple(sorted(pairs, key=order.__getitem__)))
    return tuple(found)


def obeys(rule: Rule, pairs: list[tuple[str, str]]) -> bool:
    """Whether a decision obeys a rule."""

    def meant(item: str | tuple[str, str], pair: tuple[str, str]) -> bool:
        return pair[0] == item if isinstance(item, str) else pair == item

    if rule.together:
        used = [any(meant(item, pair) for pair in pairs) for item in rule.together]
        return all(used) or not any(used)
    count = sum(any(meant(item, pair) for item in rule.of) for pair in pairs)
    return (rule.at_least or 0) <= count <= (len(pairs) if rule.at_most is None else rule.at_most)


@cache
def rows(problem: Problem) -> np.ndarray:
    """Return the decisions as edge numbers, a row each."""
    number = {edge: place for place, edge in enumerate(problem.edges)}
    return np.array([[number[pair] for pair in chosen] for chosen in decisions(problem)], dtype=np.intp)


@cache
def indicators(problem: Problem) -> np.ndarray:
    """Return a 0/1 row per decision."""
    chi = np.zeros((len(decisions(problem)), len(problem.edges)))
    chi[np.arange(len(chi))[:, None], rows(problem)] = 1.0
    return chi


@cache
def preference_matrix(seed: int) -> np.ndarray:
    """Return win probabilities for :func:`problem`, of a kind that depends on the seed; many have ties."""
    drawn = problem(seed)
    rng = np.random.default_rng([seed, 42])
    size = len(drawn.edges)
    kind = KINDS[seed // 16 % len(KINDS)]
    if kind == "planted":
        win = rng.integers(45, 56, (size, size)) / 100
        chosen = rows(drawn)[rng.integers(len(rows(drawn)))]
        win[chosen, :], win[:, chosen] = 0.8, 0.2
    else:
        win = drawn_wins(rng, kind, size)
    return mirrored(drawn.graph, win)


def coefficients(seed: int, criterion: str, chosen: int) -> np.ndarray:
    """Return dD(chosen, B) / dp_pair, a row per decision B: by changing one probability at a time.

    D is f - 1/2 (Condorcet), or the difference of Borda scores, times the number of positions.
    """
    drawn = problem(seed)
    chi, edges = indicators(drawn), drawn.edges
    seats = np.array([drawn.seats.get(place, 1) for _, place in edges])
    weight = np.array([drawn.weight.get(place, 1.0) for _, place in edges]) / seats**2
    total = sum(drawn.weight.get(place, 1.0) for place in drawn.positions) / len(drawn.positions)
    found = []
    for a, b in combinations(range(len(edges)), 2):
        if edges[a][1] == edges[b][1]:
            change = np.zeros((len(edges),) * 2)
            change[a, b], change[b, a] = 1.0, -1.0
            found.append(leads(chi @ (change * weight / total) @ chi.T, criterion, chosen))
    return np.array(found).reshape(-1, len(chi)).T


def leads(scores: np.ndarray, criterion: str, chosen: int) -> np.ndarray:
    """Return by how much a decision is ahead of every other: head to head, or in its Borda score."""
    if criterion == "condorcet":
        return scores[chosen] - scores[chosen, chosen]
    return scores.mean(axis=1)[chosen] - scores.mean(axis=1)


@cache
def scores(seed: int) -> np.ndarray:
    """Return f(M1, M2) for every two decisions: the weighted mean over positions of the mean over seats."""
    drawn, matrix = problem(seed), preference_matrix(seed)
    chi = indicators(drawn)
    total = np.zeros((len(chi), len(chi)))
    for place in drawn.positions:
        here = np.array([position == place for _, position in drawn.edges])
        seats = drawn.seats.get(place, 1)
        share = chi[:, here] @ matrix[np.ix_(here, here)] @ chi[:, here].T / seats**2
        total += drawn.weight.get(place, 1.0) * share
    return total / sum(drawn.weight.get(place, 1.0) for place in drawn.positions)
