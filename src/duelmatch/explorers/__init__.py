"""The algorithms: one file each, reading like its listing in the paper, and the contract they share."""

from duelmatch.explorers.contract import Explorer, Progress, Result
from duelmatch.explorers.driving import answer_round, drive, explore, simulate, simulated_run
from duelmatch.explorers.registry import algorithms, explorer

__all__ = [
    "Explorer",
    "Progress",
    "Result",
    "algorithms",
    "answer_round",
    "drive",
    "explore",
    "explorer",
    "simulate",
    "simulated_run",
]
