"""What to expect of a study that is not there yet. It is simulated, in the worker process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import duelmatch as dm
from duelmatch.explorers.forecast import Forecast
from duelmatch.problem import Problem
from duelmatch.studies import Settings

if TYPE_CHECKING:
    from duelmatch.explorers.continuations import Run

SIMULATING = 2.0
"""Seconds of a processor."""

LONGEST_FORECAST = 60.0
"""Seconds by the clock, on a machine that has other things to do."""

MOST_JUDGES = 1_000
"""Judges of a panel that is simulated."""

Judge = tuple[int, Sequence[str]]
"""The weight, and the candidates who are not judged."""

Plan = tuple[int | None, float | None, float | None]
"""How many people, for how many minutes, and how many seconds a question takes."""


def forecast_of(problem: Problem, settings: Settings, judges: Sequence[Judge], plan: Plan) -> Forecast:
    """Say what to expect of a new study."""
    return dm.forecast(begun(problem, settings, judges[:MOST_JUDGES]), *plan, seconds=SIMULATING)


def begun(problem: Problem, settings: Settings, judges: Sequence[Judge]) -> Run:
    """Begin a run as a study with these settings does."""
    assert settings.algorithm is not None, "the settings are settled"
    if settings.kind == "panel":
        from duelmatch.explorers.panel import PanelExplorer  # compiled, as the other is

        names = [str(number) for number in range(len(judges))]
        return PanelExplorer(
            problem,
            names,
            conflicts={name: conflicts for name, (_, conflicts) in zip(names, judges, strict=True)},
            voter_weight={name: weight for name, (weight, _) in zip(names, judges, strict=True)},
            questions_each=settings.questions_each,
            **settings.parameters,
        )
    if settings.kind == "crowd":
        from duelmatch.explorers.ballots.explorer import BallotExplorer

        return BallotExplorer(
            problem,
            settings.algorithm,  # type: ignore[arg-type]
            settings.delta,
            settings.seed,
            max_answers=settings.max_answers,
            **settings.parameters,
        )
    return dm.explorer(settings.algorithm, problem, settings.delta, settings.seed, **settings.parameters)


def rehearse_forecasts(algorithms: Iterable[str] = ("condorcet", "borda", "panel")) -> None:
    """Run algorithms once on a tiny problem, the way a study does, so that they are compiled."""
    problem = Problem.complete(["a", "b", "c"], ["x", "y"])
    for name in algorithms:
        settings = Settings(name, 0.3, seed=0).settled(named_voters=False)
        dm.forecast(begun(problem, settings, [(1, ())] * 3), 3, 1, simulations=9, seconds=0.05)
