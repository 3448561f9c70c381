"""A cell: one instance, one variant of an algorithm and one delta, to be run many times.

A cell is known by its ``key``, a hash of what determines its runs, and the seed of a run follows from key and
number. So neither the order of a grid nor anything added to it changes the runs that were there before. Since
the preferences are known, so is a good deal besides: the winner, and hence whether a result is right, the
gaps, and what theory says about the number of duels.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, Literal

import duelmatch.theory as theory
from duelmatch.errors import DuelmatchError, TooLargeError
from duelmatch.explorers.catalogue import SEED_BITS, Algorithm, Assumption, check, described, drawn_seed
from duelmatch.explorers.result import Result
from duelmatch.matchings.decisions import decisions_of
from duelmatch.preferences import TIE, Criterion, Preferences
from duelmatch.problem import Matching

Verdict = Literal["right", "wrong", "refuted", "unfinished", "unknown"]

MOST_EDGES = 100
"""For an information limit: up to here it takes a second or two."""

MOST_CACHED = 256
"""Instances of which a process remembers what is known."""


def digest(content: Any) -> str:
    """Return a hash of plain data, the same in every process and on every machine."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def derived_seed(*coordinates: Any) -> int:
    """Return the seed that belongs to some coordinates.

    >>> derived_seed(1, "planted", 0) == derived_seed(1, "planted", 0) != derived_seed(1, "planted", 1)
    True
    """
    return int(digest(coordinates), 16) >> (256 - SEED_BITS)


def shown(parameters: Mapping[str, Any]) -> str:
    """Return parameters for a label: 'positions 3, gap 0.1'."""
    return ", ".join(
        f"{name.replace('_', ' ')} {f'{value:g}' if isinstance(value, float) else value}"
        for name, value in parameters.items()
    )


@dataclass(frozen=True)
class Instance:
    """A problem with known preferences: the ``family`` it comes from, and where in the family it stands."""

    label: str
    family: str
    parameters: Mapping[str, Any]
    preferences: Preferences = field(repr=False, compare=False)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the problem and the probabilities; not of names given to them by the experiment."""
        problem = self.preferences.problem
        matrix = hashlib.sha256(self.preferences.matrix.astype("<f8").tobytes()).hexdigest()
        parts: list[Any] = [problem.candidates, problem.positions, problem.edges, matrix]
        if problem.graph.conditions is not None:
            from duelmatch.files.conditions import conditions_of

            parts.append(conditions_of(problem))
        return digest(parts)


@dataclass(frozen=True)
class Variant:
    """An algorithm with the parameters that the experiment gives it."""

    algorithm: str
    parameters: Mapping[str, Any]

    @cached_property
    def label(self) -> str:
        """What the variant is called in tables and figures."""
        return f"{self.algorithm} ({shown(self.parameters)})" if self.parameters else self.algorithm

    @cached_property
    def description(self) -> Algorithm:
        """What the catalogue says of the algorithm."""
        return described(self.algorithm)

    @property
    def criterion(self) -> Criterion:
        """What the algorithm looks for."""
        return self.description.criterion

    @cached_property
    def epsilon(self) -> float | None:
        """How far from the best an answer may be; None if it has to be the best."""
        epsilon: float | None = self.description.checked(self.parameters).get("epsilon")
        return epsilon

    @property
    def reference(self) -> str:
        """The reference of Borda: ``decisions`` unless the experiment says otherwise."""
        reference = self.parameters.get("reference", "decisions")
        return reference if isinstance(reference, str) else "given"


class Known:
    """What is known of an instance, by a criterion, before any run: the winner, the gaps, the limit.

    ``winner`` is None if there is none, or if it is out of reach; then ``too_large`` says why. Of Borda
    against a random candidate of each position (the ``reference`` candidates) the winner is known and the
    theory is not; against a sample, or shares that a run was given, neither.
    """

    def __init__(self, preferences: Preferences, criterion: Criterion, reference: str = "decisions") -> None:
        self._preferences, self._criterion, self._reference = preferences, criterion, reference

    @cached_property
    def winner(self) -> Matching | None:
        """The best matching."""
        if self._criterion == "condorcet":
            return self._preferences.condorcet_winner()
        return None if self.too_large else self._preferences.borda_winner(self._of_all)

    @cached_property
    def too_large(self) -> str | None:
        """Why the Borda scores cannot be computed, if so."""
        if self._criterion == "borda" and self._reference not in ("decisions", "candidates"):
            return "Borda is counted against a sample, or against shares, that only a run knows."
        if self._criterion == "borda" and self._reference == "decisions":
            try:
                _ = self._preferences.edge_rewards
            except TooLargeError as error:
                return str(error)
        return None

    @property
    def _of_all(self) -> Literal["decisions", "candidates"]:
        return "candidates" if self._reference == "candidates" else "decisions"

    def endless(self, epsilon: float | None) -> str | None:
        """Return why runs may never end, if so; ``epsilon`` is how far from the best a result may be."""
        if epsilon is not None or self.too_large or self._reference != "decisions":
            return None
        if self._criterion == "condorcet":
            return "there is no Condorcet winner" if self.winner is None else None
        return "two matchings share the best Borda score" if self._preferences.borda_margin() == 0 else None

    def right(self, result: Result) -> bool | None:
        """Whether what a result says is so; None if it says nothing, or the winner is not known.

        A guess is right if it is the winner. A result within epsilon may be that far from the best Borda
        score, or lose by that much: to the Condorcet winner, if the guarantee assumes that there is one, or
        else to any matching.
        """
        if result.status == "no_winner":
            return self.winner is None
        if result.matching is None or self.too_large:
            return None
        allowed = (result.epsilon or 0.0) if result.status == "within_epsilon" else 0.0
        if self._criterion == "borda":
            assert self.winner is not None, "it is not too large"
            score, reference = self._preferences.borda_score, self._of_all
            return score(self.winner, reference) - score(result.matching, reference) <= allowed + TIE
        if allowed == 0.0:
            return result.matching == self.winner
        to_any = Assumption.CONDORCET_WINNER not in result.assuming
        return self._loses_by(result.matching, to_any) <= allowed + TIE

    def promised(self, result: Result) -> bool:
        """Whether the guarantee holds: whatever it assumes about a Condorcet winner is so."""
        assumed = Assumption.CONDORCET_WINNER in result.assuming
        return not (assumed and self._criterion == "condorcet" and self.winner is None)

    def verdict(self, result: Result, delta: float) -> Verdict:
        """Say what a result is, of a run that may be wrong with probability ``delta``.

        Wrong answers break that promise; refuted ones are not so either, but were given with a larger delta:
        car-verify's that there is no winner, which it may say whenever its first guess was wrong.
        """
        if result.status == "budget_spent":
            return "unfinished"
        right = self.right(result)
        if right is None or not self.promised(result):
            return "unknown"
        if right:
            return "right"
        return "wrong" if result.delta <= delta * (1 + 1e-9) else "refuted"

    def _loses_by(self, matching: Matching, to_any: bool) -> float:
        if self.winner is not None and not to_any:
            return self._preferences.score(self.winner, matching) - 0.5
        problem = self._preferences.problem
        shares = self._preferences.shares_against(problem.edge_numbers(matching))
        return float(shares[decisions_of(problem.graph).one(shares)].sum()) - 0.5

    @cached_property
    def gap(self) -> float | None:
        """The smallest gap of an edge; None where gaps are not defined."""
        if self._reference != "decisions":
            return None
        gaps = theory.borda_gaps if self._criterion == "borda" else theory.condorcet_gaps
        with suppress(DuelmatchError):
            smallest = min(gaps(self._preferences).values())
            return smallest if 0 < smallest < inf else None
        return None

    @cached_property
    def limit(self) -> theory.InformationLimit | None:
        """The information limit; None where there is none, or it would take long."""
        if self._preferences.problem.graph.edges <= MOST_EDGES and self._reference == "decisions":
            with suppress(DuelmatchError):
                return theory.information_limit(self._preferences, self._criterion)
        return None


_known: dict[tuple[str, str, str], Known] = {}


@dataclass(frozen=True)
class Cell:
    """One instance, one variant, one delta: what is run many times.

    ``key`` is a hash of all that determines its runs, the seed of the experiment included.
    """

    instance: Instance
    variant: Variant
    delta: float
    max_duels: int | None
    key: str

    @classmethod
    def of(cls, seed: int, instance: Instance, variant: Variant, delta: float, max_duels: int | None) -> Cell:
        """Return the cell with its key."""
        parameters = dict(variant.parameters)
        key = digest([seed, instance.fingerprint, variant.algorithm, parameters, delta, max_duels])
        return cls(instance, variant, delta, max_duels, key[:20])

    def seed(self, number: int) -> int:
        """Return the seed of a run, with which :func:`duelmatch.simulate` repeats it."""
        return derived_seed(self.key, number)

    @property
    def known(self) -> Known:
        """What is known of the instance, worked out once in a process."""
        variant = self.variant
        key = self.instance.fingerprint, variant.criterion, variant.reference
        if key not in _known:
            if len(_known) >= MOST_CACHED:
                _known.clear()
            _known[key] = Known(self.instance.preferences, variant.criterion, variant.reference)
        return _known[key]

    @property
    def limit(self) -> float | None:
        """The information limit in duels; there is none for an answer that need not be the best."""
        limit = None if self.variant.epsilon is not None else self.known.limit
        duels = 0.0 if limit is None else limit.duels(self.delta)
        return duels if 0 < duels < inf else None

    @property
    def upper_bound(self) -> float | None:
        """The upper bound of the algorithm, if one is known."""
        variant = self.variant
        with suppress(DuelmatchError):
            parameters = variant.description.checked(variant.parameters)
            bound = variant.description.upper_bound(self.instance.preferences, self.delta, parameters)
            return bound if bound is not None and 0 < bound < inf else None
        return None


def single_cell(
    preferences: Preferences,
    algorithm: str,
    delta: float = 0.05,
    seed: int | None = None,
    max_duels: int | None = None,
    **parameters: Any,
) -> Cell:
    """Return the cell of an experiment that has no other. Without a ``seed`` one is drawn.

    :raises ProblemError: for an unknown algorithm or parameter, or a value out of range.
    """
    seed = drawn_seed() if seed is None else seed
    variant = Variant(algorithm, check(algorithm, delta, seed, parameters))
    return Cell.of(seed, Instance("", "", {}, preferences), variant, float(delta), max_duels)
