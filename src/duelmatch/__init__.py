"""Find the best assignment of candidates to positions from as few head-to-head questions as possible.

>>> import duelmatch as dm
>>> prefs = dm.instances.paper_example()
>>> prefs.condorcet_winner()
Matching({'s1': 'c2', 's2': 'c4'})
"""

from duelmatch import instances, matchings, theory
from duelmatch.errors import (
    DuelError,
    DuelmatchError,
    FileError,
    MissingExtraError,
    NoMatchingError,
    ProblemError,
    TooLargeError,
)
from duelmatch.explorers import Explorer, Progress, Result, algorithms, explore, explorer, simulate
from duelmatch.files import load_preferences, load_problem, save_problem
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
    "explore",
    "explorer",
    "instances",
    "load_preferences",
    "load_problem",
    "matchings",
    "save_problem",
    "simulate",
    "theory",
]
