"""What a problem is, in numbers."""

from __future__ import annotations

from math import log

import pytest

import duelmatch as dm
from cases import each
from duelmatch.matchings.counting import log_count_bound


@each("seed", range(20))
def test_says_what_the_single_functions_say(seed: int) -> None:
    problem = dm.instances.random_problem(5 + seed % 3, 5, density=0.6, seed=seed)
    about = dm.matchings.describe(problem)
    assert about.matchings == dm.matchings.count(problem)
    assert dict(about.share) == pytest.approx(dm.matchings.marginals(problem))
    assert set(about.certain) == dm.matchings.edges_in_every(problem)
    assert set(problem.edges) - set(about.never) == dm.matchings.edges_in_some(problem)


@each("seed", range(20))
def test_the_bound_on_the_number_of_matchings_holds(seed: int) -> None:
    problem = dm.instances.random_problem(5 + seed % 3, 5, density=0.6, seed=seed)
    assert log_count_bound(problem.graph) >= log(dm.matchings.count(problem)) - 1e-9
