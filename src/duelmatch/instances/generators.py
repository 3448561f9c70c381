"""Seeded generators of problems with known preferences, by name: the same arguments give the same instance.

Other packages add theirs by an entry point in the group ``duelmatch.instances`` that leads to a function, or
by calling :func:`register_generator`. A generator returns :class:`duelmatch.Preferences`; its parameters are
numbers, and if one of them is called ``seed``, an experiment draws as many instances as it is asked for.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, wraps
from importlib.metadata import entry_points
from inspect import signature
from numbers import Integral, Real
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from duelmatch.errors import NoMatchingError, ProblemError, brief, did_you_mean, listed
from duelmatch.matchings.decisions import decisions_of
from duelmatch.preferences import Preferences
from duelmatch.problem import Problem
from duelmatch.rules import Rule

Generator = Callable[..., Preferences]
Given = ParamSpec("Given")
Made = TypeVar("Made", Problem, Preferences)

MOST_TRIES = 100
"""For each rule of a planted instance."""

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

GROUP = "duelmatch.instances"
"""The entry points of other packages' generators."""


def _of_numbers(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """Refuse arguments that are no numbers, and fractions where the function says ``int``."""
    kinds = {name: parameter.annotation for name, parameter in signature(make).parameters.items()}

    @wraps(make)
    def checked(*arguments: Given.args, **named: Given.kwargs) -> Made:
        for name, value in signature(make).bind(*arguments, **named).arguments.items():
            kind, called = (Integral, "whole number") if kinds[name] == "int" else (Real, "number")
            if isinstance(value, bool) or not isinstance(value, kind):
                raise ProblemError(f"{name} must be a {called}, not {brief(value)}.")
        return make(*arguments, **named)

    return checked


@_of_numbers
def random_problem(candidates: int, positions: int, density: float = 1.0, seed: int = 0) -> Problem:
    """Return a problem with each edge present with probability ``density``, and a matching for certain.

    Candidates are called c1, c2, ... and positions s1, s2, .... A random matching is put in first, so that
    every position can be filled whatever the density.
    """
    if not 1 <= positions <= candidates:
        raise ProblemError(
            "There must be at least one position and as many candidates as positions, not "
            f"{candidates} candidate{'s' * (candidates != 1)} for {positions}."
        )
    if not 0 <= density <= 1:
        raise ProblemError(f"The density must lie between 0 and 1, not {density!r}.")
    rng = np.random.default_rng(seed)
    present = rng.random((positions, candidates)) < density
    present[np.arange(positions), rng.permutation(candidates)[:positions]] = True
    return _problem(present)


@_of_numbers
def uniform(
    candidates: int,
    positions: int,
    density: float = 1.0,
    low: float = 0.3,
    high: float = 0.7,
    seed: int = 0,
) -> Preferences:
    """Return independent probabilities, uniform between ``low`` and ``high``: often no Condorcet winner."""
    if not 0 <= low <= high <= 1:
        raise ProblemError(f"The probabilities must satisfy 0 <= low <= high <= 1, not {low!r} and {high!r}.")
    problem = random_problem(candidates, positions, density, seed)
    rng = np.random.default_rng([seed, 1])
    return _from_upper(problem, rng.uniform(low, high, (problem.graph.edges,) * 2))


@_of_numbers
def bradley_terry(
    candidates: int, positions: int, density: float = 1.0, spread: float = 0.5, seed: int = 0
) -> Preferences:
    """Return p(a, b) = 1 / (1 + exp(s_b - s_a)), a strength s per edge, normal with deviation ``spread``."""
    if not 0 <= spread < np.inf:
        raise ProblemError(f"The spread must be at least 0 and finite, not {spread!r}.")
    problem = random_problem(candidates, positions, density, seed)
    strength = np.random.default_rng([seed, 1]).normal(0.0, spread, problem.graph.edges)
    return _from_upper(problem, expit(strength[:, None] - strength[None, :]))


@_of_numbers
def planted(
    candidates: int,
    positions: int,
    gap: float = 0.1,
    density: float = 1.0,
    noise: float = 0.2,
    seed: int = 0,
    *,
    capacity: int = 1,
    seats: int = 1,
    weight: float = 1.0,
    rules: int = 0,
) -> Preferences:
    """Return an instance with a planted Condorcet winner whose every edge wins its duels with 1/2 + ``gap``.

    All other duels are uniform within ``noise`` of 1/2. A rival that differs in d positions loses with
    1/2 - gap d / l.

    Every candidate has the ``capacity``, every position has the ``seats``, the first one the ``weight``, and
    so many random ``rules`` say of two candidates each that they fill one place at most between them. Then
    the winner still beats every other decision: its edges win their duels with all others, and those that a
    rival shares with it draw. (The two edges of a duel between seats of the winner are even.)

    :raises ProblemError: if nothing could be decided, or not with so many rules.
    """
    _check_advantage("gap", gap)
    if not 0 <= noise <= 0.5:
        raise ProblemError(f"The noise must lie between 0 and 0.5, not {noise!r}.")
    problem = random_problem(candidates, positions, density, seed)
    if (capacity, seats, weight, rules) != (1, 1, 1.0, 0):
        problem = _constrained(problem, capacity, seats, weight, rules, seed)
    graph = problem.graph
    rng = np.random.default_rng([seed, 1])
    matrix = rng.uniform(0.5 - noise, 0.5 + noise, (graph.edges,) * 2)
    winner = decisions_of(graph).one(rng.random(graph.edges))  # random enough to plant
    matrix[winner, :] = 0.5 + gap
    matrix[:, winner] = 0.5 - gap
    matrix[np.ix_(winner, winner)] = 0.5
    return _from_upper(problem, matrix)


def _constrained(
    problem: Problem, capacity: int, seats: int, weight: float, rules: int, seed: int
) -> Problem:
    found = replace(
        problem,
        capacity=dict.fromkeys(problem.candidates, capacity),
        seats=dict.fromkeys(problem.positions, seats),
        weight={problem.positions[0]: weight},
    )
    rng = np.random.default_rng([seed, 2])
    for _ in range(MOST_TRIES * rules):
        if len(found.rules) == rules:
            break
        two = sorted(rng.permutation(len(problem.candidates))[:2].tolist())
        rule = Rule(of=tuple(problem.candidates[number] for number in two), at_most=1)
        with suppress(NoMatchingError):
            found = replace(found, rules=(*found.rules, rule))
    if len(found.rules) < rules:
        raise ProblemError(
            f"No decision is left with so many rules; ask for fewer than {len(found.rules) + 1}."
        )
    return found


@_of_numbers
def cyclic(candidates: int, positions: int, strength: float = 0.1) -> Preferences:
    """Return a complete instance without a Condorcet winner: at each position, everyone beats the next ones.

    Candidate i beats the following (n - 1) // 2 candidates around the circle with 1/2 + ``strength``, and
    ties with the one opposite if n is even. Every matching loses to itself moved back by one candidate.
    """
    if not candidates >= 3:
        raise ProblemError(f"A cycle needs at least 3 candidates, not {candidates}.")
    _check_advantage("strength", strength)
    problem = random_problem(candidates, positions)
    candidate = problem.graph.edge_candidate
    ahead = (candidate[None, :] - candidate[:, None]) % candidates
    wins = (ahead >= 1) & (ahead <= (candidates - 1) // 2)
    return _from_upper(problem, 0.5 + strength * (wins.astype(float) - wins.T))


@_of_numbers
def equal_gaps(positions: int, gap: float = 0.1) -> Preferences:
    """Return the complete l x l instance in which every edge is equally hard to decide.

    The winner gives position j its j-th candidate, who beats all others there with 1/2 + ``gap``; all
    other duels are even. Every Condorcet gap is 2 gap / l and every Borda gap 2 gap.
    """
    if not positions >= 2:
        raise ProblemError(f"Equal gaps need at least 2 positions, not {positions}.")
    _check_advantage("gap", gap)
    return _diagonal(random_problem(positions, positions), gap)


@_of_numbers
def rings(positions: int, ring: int = 2, gap: float = 0.1) -> Preferences:
    """Return l positions in rings of ``ring`` each, which differ in the width of the graph and in no gap.

    The j-th position of a ring is open to the j-th candidate of the ring and to the next one around, so a
    ring has two matchings, and the width is 2 ``ring``. The j-th candidate beats the next with 1/2 + gap /
    ring. Then every Borda gap is ``gap``, every Condorcet gap gap / l, and H^B is 2 l / gap^2, whatever the
    width.
    """
    if not (ring >= 2 and positions % ring == 0):
        raise ProblemError(
            f"A ring has 2 positions or more, a number that divides them all: not {ring!r} of {positions}."
        )
    _check_advantage("gap", gap)
    own = np.arange(positions)
    present = np.eye(positions, dtype=bool)
    present[own, np.where((own + 1) % ring, own + 1, own + 1 - ring)] = True
    return _diagonal(_problem(present), gap / ring)


def paper_example() -> Preferences:
    """Return the worked example of the paper's Figures 1 to 4."""
    problem = Problem.from_edges(
        [("c1", "s1"), ("c2", "s1"), ("c3", "s1"), ("c3", "s2"), ("c4", "s2")],
        candidates=["c1", "c2", "c3", "c4"],
    )
    return Preferences(
        problem,
        {
            ("s1", "c1", "c2"): 0.45,
            ("s1", "c1", "c3"): 1.0,
            ("s1", "c2", "c3"): 0.55,
            ("s2", "c3", "c4"): 0.0,
        },
    )


def _problem(present: NDArray[np.bool_]) -> Problem:
    """Return the problem with candidates c1, c2, ... at positions s1, s2, ..., from rows of positions."""
    names = [f"c{i + 1}" for i in range(present.shape[1])], [f"s{j + 1}" for j in range(len(present))]
    return Problem.from_edges([(names[0][i], names[1][j]) for j, i in np.argwhere(present)], *names)


def _diagonal(problem: Problem, gap: float) -> Preferences:
    """Let the j-th candidate win all duels at the j-th position with 1/2 + ``gap``; all others are even."""
    wins = (problem.graph.edge_candidate == problem.graph.edge_position).astype(float)
    return _from_upper(problem, 0.5 + gap * (wins[:, None] - wins[None, :]))


def _from_upper(problem: Problem, matrix: NDArray[np.float64]) -> Preferences:
    """Keep the upper triangle of a matrix, mirror it, and put 1/2 on the diagonal."""
    upper = np.triu(matrix, 1)
    return Preferences.from_matrix(
        problem, upper + np.tril(1.0 - upper.T, -1) + 0.5 * np.eye(problem.graph.edges)
    )


def _check_advantage(name: str, value: float) -> None:
    if not 0 < value <= 0.5:
        raise ProblemError(f"The {name} must lie above 0 and be at most 0.5, not {value!r}.")


BUILT_IN: dict[str, Generator] = {
    "bradley_terry": bradley_terry,
    "cyclic": cyclic,
    "equal_gaps": equal_gaps,
    "paper_example": paper_example,
    "planted": planted,
    "rings": rings,
    "uniform": uniform,
}

_known = dict(BUILT_IN)
_registered: dict[str, Generator] = {}


def register_generator(name: str, make: Generator) -> None:
    """Make a generator known by its name, to experiment files; registering it again replaces it.

    :raises ProblemError: if the name is one of this package's.
    """
    _discover()
    _add(name, make)
    _registered[name] = make


def registered_generators() -> dict[str, Generator]:
    """Return those that were registered by a call, by name: other processes have to be told of them."""
    return dict(_registered)


def generator(name: object) -> Generator:
    """Return a generator; dashes and underscores are the same.

    :raises ProblemError: if there is none of this name.
    """
    _discover()
    wanted = str(name).replace("-", "_")
    if wanted not in _known:
        hint = did_you_mean(wanted, _known)
        raise ProblemError(f"there is no generator '{name!s:.50}'; there are {listed(_known, 9)}.{hint}")
    return _known[wanted]


def _add(name: object, make: object) -> None:
    if not isinstance(name, str) or not callable(make):
        raise ProblemError(f"A generator is a name and a function, not {name!r:.50} and {make!r:.80}.")
    name = name.replace("-", "_")
    if not NAME.fullmatch(name):
        raise ProblemError(
            f"A generator is named in small letters, digits and underscores or dashes, not {name!r:.50}."
        )
    if name in BUILT_IN:
        raise ProblemError(f"'{name}' is a generator of duelmatch; choose another name.")
    _known[name] = make


@cache
def _discover() -> None:
    """Find the generators of installed packages, once. What cannot be loaded is left out, with a warning."""
    for entry in entry_points(group=GROUP):
        try:
            _add(entry.name, entry.load())
        except (Exception, SystemExit) as error:  # whatever another package does, this one goes on
            package = entry.dist.name if entry.dist else entry.value
            warnings.warn(f"The generator '{entry.name}' of {package} cannot be used: {error}", stacklevel=2)
