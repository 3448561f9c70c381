"""Find the best assignment of candidates to positions from as few head-to-head questions as possible.

>>> import duelmatch as dm
>>> prefs = dm.instances.paper_example()
>>> prefs.condorcet_winner()
Matching({'s1': 'c2', 's2': 'c4'})

A name is imported when it is first used, so that ``import duelmatch`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from duelmatch.version import __version__ as __version__

if TYPE_CHECKING:
    from duelmatch import experiments, instances, matchings, theory
    from duelmatch.answers import Answer
    from duelmatch.errors import (
        AlgorithmError,
        DuelError,
        DuelmatchError,
        FileError,
        JudgeError,
        MissingExtraError,
        NoMatchingError,
        ProblemError,
        TooLargeError,
    )
    from duelmatch.estimation import estimate_preferences
    from duelmatch.experiments.simulation import simulate
    from duelmatch.explorers.catalogue import (
        Algorithm,
        Assumption,
        Parameter,
        algorithms,
        register_algorithm,
    )
    from duelmatch.explorers.explorer import Explorer, explore, explorer
    from duelmatch.explorers.forecasting import forecast
    from duelmatch.explorers.judging import JudgedResult, JudgeRecord, explore_async
    from duelmatch.explorers.panel.decision import decide
    from duelmatch.explorers.result import Forecast, Progress, Result
    from duelmatch.files.preflib import load_preflib
    from duelmatch.files.problems import load_preferences, load_problem, save_problem
    from duelmatch.instances.generators import register_generator
    from duelmatch.models.standings import Standings, standings
    from duelmatch.panel import Panel
    from duelmatch.preferences import Preferences
    from duelmatch.problem import Details, Duel, Matching, Problem
    from duelmatch.rules import Rule

__all__ = [
    "Algorithm",
    "AlgorithmError",
    "Answer",
    "Assumption",
    "Details",
    "Duel",
    "DuelError",
    "DuelmatchError",
    "Explorer",
    "FileError",
    "Forecast",
    "JudgeError",
    "JudgeRecord",
    "JudgedResult",
    "Matching",
    "MissingExtraError",
    "NoMatchingError",
    "Panel",
    "Parameter",
    "Preferences",
    "Problem",
    "ProblemError",
    "Progress",
    "Result",
    "Rule",
    "Standings",
    "TooLargeError",
    "algorithms",
    "decide",
    "estimate_preferences",
    "experiments",
    "explore",
    "explore_async",
    "explorer",
    "forecast",
    "instances",
    "load_preferences",
    "load_preflib",
    "load_problem",
    "matchings",
    "register_algorithm",
    "register_generator",
    "save_problem",
    "simulate",
    "standings",
    "theory",
]

_HOMES: dict[str, tuple[str, ...]] = {
    "answers": ("Answer",),
    "errors": (
        "AlgorithmError",
        "DuelError",
        "DuelmatchError",
        "FileError",
        "JudgeError",
        "MissingExtraError",
        "NoMatchingError",
        "ProblemError",
        "TooLargeError",
    ),
    "estimation": ("estimate_preferences",),
    "experiments": (),
    "experiments.simulation": ("simulate",),
    "explorers.catalogue": (
        "Algorithm",
        "Assumption",
        "Parameter",
        "algorithms",
        "register_algorithm",
    ),
    "explorers.explorer": ("Explorer", "explore", "explorer"),
    "explorers.forecasting": ("forecast",),
    "explorers.judging": ("JudgeRecord", "JudgedResult", "explore_async"),
    "explorers.panel.decision": ("decide",),
    "explorers.result": ("Forecast", "Progress", "Result"),
    "files.preflib": ("load_preflib",),
    "files.problems": ("load_preferences", "load_problem", "save_problem"),
    "instances": (),
    "instances.generators": ("register_generator",),
    "matchings": (),
    "models.standings": ("Standings", "standings"),
    "panel": ("Panel",),
    "preferences": ("Preferences",),
    "problem": ("Details", "Duel", "Matching", "Problem"),
    "rules": ("Rule",),
    "theory": (),
}
"""Where each name lives; a module that is mapped to nothing is itself one."""

if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name):
        for module, names in _HOMES.items():
            if name in names or (name == module and not names):
                found = import_module(f"{__name__}.{module}")
                globals()[name] = getattr(found, name) if names else found
                return globals()[name]
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

    def __dir__():
        return sorted({*globals(), *__all__})
