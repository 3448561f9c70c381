"""Checking the conditions of a problem, and whether a decision meets them, with one clear sentence each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf, nan
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

import numpy as np

from duelmatch.errors import NoMatchingError, ProblemError, listed
from duelmatch.graph import Conditions, EdgeRule, Graph, Indices
from duelmatch.rules import Item, Rule

LARGEST_COUNT = 1_000_000
"""The largest capacity and the largest number of seats."""

LARGEST_WEIGHT = 1e6
"""Weights lie between this and its inverse, so that no sum of them loses digits that matter."""


def _given(what: str, kind: str, values: object, numbers: Mapping[str, int]) -> Iterator[tuple[str, object]]:
    """Yield the values given for the names of a kind."""
    if not isinstance(values, Mapping):
        raise ProblemError(
            f"The {what} is given by name, {{'{next(iter(numbers))}': 2}}, not {values!r:.80}."
        )
    for name, value in values.items():
        if name not in numbers:
            raise ProblemError(f"The {what} is given for {name!r:.80}, but there is no such {kind}.")
        yield name, value


def checked_counts(what: str, kind: str, values: object, numbers: Mapping[str, int]) -> dict[str, int]:
    """Return the capacities or seats that differ from 1, in the order of the names."""
    counts = {}
    for name, value in _given(what, kind, values, numbers):
        if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= LARGEST_COUNT:
            too_large = isinstance(value, Integral) and int(value) > LARGEST_COUNT
            limit = f"from 1 to {LARGEST_COUNT:,}" if too_large else "of at least 1"
            raise ProblemError(f"The {what} of '{name}' must be a whole number {limit}, not {value!r:.80}.")
        counts[name] = int(value)
    return {name: counts[name] for name in numbers if counts.get(name, 1) != 1}


def checked_weights(values: object, numbers: Mapping[str, int]) -> dict[str, float]:
    """Return the weights that differ from 1, in the order of the positions."""
    weights = {}
    for name, value in _given("weight", "position", values, numbers):
        number: Any = value if isinstance(value, Real) and not isinstance(value, bool) else nan
        if not 0 < number < inf:
            raise ProblemError(f"The weight of '{name}' must be a number above 0, not {value!r:.80}.")
        if not 1 / LARGEST_WEIGHT <= number <= LARGEST_WEIGHT:
            raise ProblemError(
                f"The weight of '{name}' must lie between {1 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}, "
                f"not {value!r:.80}."
            )
        weights[name] = float(number)
    return {name: weights[name] for name in numbers if weights.get(name, 1.0) != 1.0}


def checked_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules as a tuple."""
    if isinstance(rules, (str, Rule)) or not isinstance(rules, Iterable):
        raise ProblemError(f"The rules are a list of Rule, not {rules!r:.80}.")
    found = tuple(rules)
    for rule in found:
        if not isinstance(rule, Rule):
            raise ProblemError(f"A rule is a duelmatch.Rule, not {rule!r:.80}.")
    return found


def edge_rule(
    rule: Rule, graph: Graph, candidate_number: Mapping[str, int], position_number: Mapping[str, int]
) -> EdgeRule:
    """Return a rule in edge numbers.

    :raises ProblemError: if it names what is not there.
    """

    def edges_of(item: Item) -> Indices:
        candidate, position = (item, None) if isinstance(item, str) else item
        if candidate not in candidate_number:
            raise ProblemError(f"A rule names '{candidate:.80}', but there is no such candidate.")
        if position is None:
            return np.flatnonzero(graph.edge_candidate == candidate_number[candidate])
        if position not in position_number:
            raise ProblemError(f"A rule names '{position:.80}', but there is no such position.")
        edge = graph.edge_at[position_number[position], candidate_number[candidate]]
        if edge < 0:
            raise ProblemError(f"A rule names '{candidate}' at '{position}', who is not a candidate for it.")
        return np.array([edge], dtype=np.intp)

    groups = [edges_of(item) for item in rule.items]
    edges = np.unique(np.concatenate(groups))
    if rule.together:
        return EdgeRule(edges, groups=tuple(groups))
    return EdgeRule(edges, rule.at_least or 0, rule.at_most)


def applied(
    graph: Graph,
    capacity: object,
    seats: object,
    weight: object,
    rules: Iterable[Rule],
    candidate_number: Mapping[str, int],
    position_number: Mapping[str, int],
) -> tuple[Graph, dict[str, Any]]:
    """Return the graph under these conditions, and what of them differs from 1, checked and read-only.

    :raises NoMatchingError: if no decision is possible.
    :raises ProblemError: for anything else that is wrong.
    """
    capacities = checked_counts("capacity", "candidate", capacity, candidate_number)
    seated = checked_counts("number of seats", "position", seats, position_number)
    weights = checked_weights(weight, position_number)
    found = checked_rules(rules)
    if capacities or seated or weights or found:
        conditions = Conditions(
            np.array([capacities.get(name, 1) for name in candidate_number], dtype=np.intp),
            np.array([seated.get(name, 1) for name in position_number], dtype=np.intp),
            np.array([weights.get(name, 1.0) for name in position_number]),
            tuple(edge_rule(rule, graph, candidate_number, position_number) for rule in found),
        )
        graph = replace(graph, conditions=conditions)
    _check_feasible(graph, tuple(candidate_number), tuple(position_number), found)
    kept: dict[str, dict[str, Any]] = {"capacity": capacities, "seats": seated, "weight": weights}
    return graph, {name: MappingProxyType(values) for name, values in kept.items()} | {"rules": found}


def _check_feasible(
    graph: Graph, candidates: tuple[str, ...], positions: tuple[str, ...], rules: tuple[Rule, ...]
) -> None:
    """Refuse a problem without any decision.

    :raises NoMatchingError: naming positions that share too few candidates, or rules that contradict
    each other.
    """
    if graph.places == graph.positions and graph.capacity.max() == 1:
        if violator := graph.hall_violator():
            raise NoMatchingError(hall_sentence(violator, candidates, positions))
        if not rules:
            return
    from duelmatch.feasibility import contradiction, too_few  # slow to import, and seldom needed

    if lacking := too_few(graph):
        short, shared = [positions[j] for j in lacking[0]], [candidates[i] for i in lacking[1]]
        seats = int(graph.seats[lacking[0]].sum())
        raise NoMatchingError(_seats_sentence(short, shared, seats, lacking[2]))
    if numbers := contradiction(graph):
        said = "; ".join(rules[number].sentence for number in numbers)
        if len(numbers) == 1:
            raise NoMatchingError(f"No decision obeys the rule that {said}. Change it, or drop it.")
        raise NoMatchingError(f"These rules contradict each other: {said}. Change or drop one of them.")


def _seats_sentence(short: list[str], shared: list[str], seats: int, fillable: int) -> str:
    if not shared:
        return f"No decision fills every seat: {listed(short)} has no candidate."
    has = f"'{short[0]}' has" if len(short) == 1 else f"the {len(short)} positions {listed(short)} have"
    return (
        f"No decision fills every seat: {has} {seats} seat{'s' * (seats != 1)}, of which {listed(shared)} "
        f"can fill only {fillable}. Add a candidate, raise a capacity, or have fewer seats."
    )


def hall_sentence(
    violator: tuple[list[int], list[int]], candidates: tuple[str, ...], positions: tuple[str, ...]
) -> str:
    """Say which positions share too few candidates, where all are one-to-one."""
    short = [positions[j] for j in violator[0]]
    shared = [candidates[i] for i in violator[1]]
    if not shared:
        return f"Not every position can be filled: {listed(short)} has no candidate."
    return (
        f"Not every position can be filled: the {len(short)} positions {listed(short)} have only "
        f"{len(shared)} candidate{'s' * (len(shared) > 1)} between them ({listed(shared)}). "
        "Add a candidate to one of them, or drop a position."
    )


def check_seats(chosen: Mapping[str, tuple[str, ...]], seats: Mapping[str, int]) -> None:
    """Refuse a decision, names by position, that does not fill every seat with another candidate."""
    for position, names in chosen.items():
        if len(set(names)) < len(names):
            raise ProblemError(f"A candidate fills two seats of '{position}' in this matching.")
        if len(names) != (wanted := seats.get(position, 1)):
            has = "one seat" if wanted == 1 else f"{wanted} seats"
            raise ProblemError(f"'{position}' has {has}, but the matching names {len(names)} for it.")


def check_capacity(chosen: Mapping[str, tuple[str, ...]], capacity: Mapping[str, int]) -> None:
    """Refuse a decision in which somebody fills more positions than they can."""
    counts = Counter(name for names in chosen.values() for name in names)
    if many := [name for name, count in counts.items() if count > capacity.get(name, 1)]:
        if not capacity:
            raise ProblemError(
                f"A candidate can fill one position only, but {listed(many)} would fill several."
            )
        raise ProblemError(
            f"'{many[0]}' can fill {capacity.get(many[0], 1)} at most, but would fill {counts[many[0]]} "
            "positions."
        )


def check_rules(graph: Graph, decision: Indices, rules: Iterable[Rule]) -> None:
    """Refuse a decision that breaks a rule; those of the graph are the same, in edge numbers."""
    uses = graph.uses(decision)
    for rule, in_edges in zip(rules, graph.rules, strict=True):
        if not in_edges.holds(uses):
            raise ProblemError(f"The matching breaks the rule that {rule.sentence}.")
