"""Find the best assignment of candidates to positions from as few head-to-head questions as possible.

>>> import duelmatch as dm
>>> prefs = dm.instances.paper_example()
>>> prefs.condorcet_winner()
Matching({'s1': 'c2', 's2': 'c4'})

A name is imported when it is first used, so that ``import duelmatch`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duelmatch import experiments, instances, matchings, theory
    from duelmatch.errors import (
        DuelError,
        DuelmatchError,
        FileError,
        MissingExtraError,
        NoMatchingError,
        ProblemError,
        TooLargeError,
    )
    from duelmatch.estimation import estimate_preferences
    from duelmatch.explorers import Explorer, Progress, Result, algorithms, explore, explorer, simulate
    from duelmatch.files.preflib import load_preflib
    from duelmatch.files.problems import load_preferences, load_problem, save_problem
    from duelmatch.preferences import Preferences
    from duelmatch.problem import Details, Duel, Matching, Problem

__version__ = "0.1.0"

__all__ = [
    "Details",
    "Duel",
    "DuelError",
    "DuelmatchError",
    "Explorer",
    "FileError",
    "Matching",
    "MissingExtraError",
    "NoMatchingError",
    "Preferences",
    "Problem",
    "ProblemError",
    "Progress",
    "Result",
    "TooLargeError",
    "algorithms",
    "estimate_preferences",
    "experiments",
    "explore",
    "explorer",
    "instances",
    "load_preferences",
    "load_preflib",
    "load_problem",
    "matchings",
    "save_problem",
    "simulate",
    "theory",
]

_HOMES = {
    "errors": (
        "DuelError",
        "DuelmatchError",
        "FileError",
        "MissingExtraError",
        "NoMatchingError",
        "ProblemError",
        "TooLargeError",
    ),
    "estimation": ("estimate_preferences",),
    "explorers": ("Explorer", "Progress", "Result", "algorithms", "explore", "explorer", "simulate"),
    "files.preflib": ("load_preflib",),
    "files.problems": ("load_preferences", "load_problem", "save_problem"),
    "preferences": ("Preferences",),
    "problem": ("Details", "Duel", "Matching", "Problem"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> object:
        """Import a public name on its first use (PEP 562)."""
        if name in _HOME:
            value = getattr(import_module(f"duelmatch.{_HOME[name]}"), name)
        elif name in __all__:
            value = import_module(f"duelmatch.{name}")
        else:
            raise AttributeError(f"module 'duelmatch' has no attribute '{name}'")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """List what is there, imported or not."""
        return sorted({*globals(), *__all__})
