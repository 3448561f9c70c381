"""The capacities, seats, weights and rules of a problem in files, in JSON and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duelmatch.errors import FileError, listed
from duelmatch.files.documents import Tree, check_keys, items_of, name, number, row_of, shown
from duelmatch.problem import Problem
from duelmatch.rules import Item, Rule

RULE_KEYS = ("of", "at_most", "at_least", "together")


def rules_of(tree: Tree) -> tuple[Rule, ...]:
    """Return the rules that a section describes."""
    rules = []
    for entry in items_of(tree, "The key 'rules'", "rules, each with 'of' or 'together'"):
        if not isinstance(entry, dict):
            raise FileError(
                f"A rule must be a mapping with the keys {listed(RULE_KEYS)}, not {shown(entry)}."
            )
        check_keys(entry, RULE_KEYS, "A rule")
        said: dict[str, Any] = {}
        for key, value in entry.items():
            if key in ("of", "together"):
                said[key] = [
                    _item(item) for item in items_of(value, f"'{key}' of a rule", "candidates or edges")
                ]
            else:
                said[key] = whole_or_not(number(value, f"'{key}' of a rule"))
        rules.append(Rule(**said))
    return tuple(rules)


def _item(tree: Tree) -> Item:
    if isinstance(tree, list):
        candidate, position = row_of(tree, "An edge in a rule", ("candidate", "position"))
        return name(candidate, "A candidate"), name(position, "A position")
    return name(tree, "A candidate")


def whole_or_not(value: float) -> Any:
    """Return a number as a whole one if it is; what is not is left to the problem to refuse."""
    return int(value) if value.is_integer() else value


def rule_entry(rule: Rule) -> dict[str, object]:
    """Return a rule as a file holds it."""
    entry: dict[str, object] = {}
    for key in RULE_KEYS:
        value = getattr(rule, key)
        if isinstance(value, tuple):
            value = [item if isinstance(item, str) else list(item) for item in value] or None
        if value is not None:
            entry[key] = value
    return entry


def conditions_of(problem: Problem) -> dict[str, Any]:
    """Return the capacities, seats, weights and rules of a problem, as JSON holds them; {} if it has none."""
    return {
        name: [rule_entry(rule) for rule in problem.rules]
        if name == "rules"
        else dict(getattr(problem, name))
        for name in problem.conditions
    }


def conditions_from(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a Problem that :func:`conditions_of` describes."""
    rules: list[dict[str, Any]] = [
        {key: _items(value) if isinstance(value, list) else value for key, value in entry.items()}
        for entry in tree.get("rules", ())
    ]
    return {**tree, "rules": tuple(Rule(**entry) for entry in rules)}


def _items(entries: list[Any]) -> list[Item]:
    return [entry if isinstance(entry, str) else (entry[0], entry[1]) for entry in entries]


def explained(problem: Problem) -> list[str]:
    """Return a sentence for each kind of condition that a problem has, and one for each rule."""
    sentences = []
    if problem.capacity:
        several = [f"{name} up to {number}" for name, number in problem.capacity.items()]
        sentences.append(f"May fill several positions: {', '.join(several)}.")
    if problem.seats:
        seats = [f"{name} {number}" for name, number in problem.seats.items()]
        sentences.append(f"Positions of several seats, each for another candidate: {', '.join(seats)}.")
    if problem.weight:
        weights = [f"{name} {number:g}" for name, number in problem.weight.items()]
        others = "" if len(weights) == len(problem.positions) else "; the others count 1"
        sentences.append(f"What positions count: {', '.join(weights)}{others}.")
    sentences += [f"Rule {number}: {rule.sentence}." for number, rule in enumerate(problem.rules, start=1)]
    return sentences
