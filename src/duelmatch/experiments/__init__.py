"""Many simulated runs: planned in a file, run in parallel, saved as they finish, resumed, compared, drawn."""

from typing import TYPE_CHECKING

from duelmatch.lazy import lazily

if TYPE_CHECKING:
    from duelmatch.experiments.evaluation import ExperimentStatus, results, status
    from duelmatch.experiments.experiment import Cell, Experiment, Instance, Variant
    from duelmatch.experiments.loading import from_dict, load
    from duelmatch.experiments.reporting import report
    from duelmatch.experiments.session import Tick, run
    from duelmatch.experiments.simulation import Run, simulations, single_cell
    from duelmatch.experiments.summary import Summary, summarise

__all__ = [
    "Cell",
    "Experiment",
    "ExperimentStatus",
    "Instance",
    "Run",
    "Summary",
    "Tick",
    "Variant",
    "from_dict",
    "load",
    "report",
    "results",
    "run",
    "simulations",
    "single_cell",
    "status",
    "summarise",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(
        "duelmatch.experiments",
        {
            "experiment": ("Cell", "Experiment", "Instance", "Variant"),
            "loading": ("from_dict", "load"),
            "reporting": ("report",),
            "evaluation": ("ExperimentStatus", "results", "status"),
            "simulation": ("Run", "simulations", "single_cell"),
            "session": ("Tick", "run"),
            "summary": ("Summary", "summarise"),
        },
    )
