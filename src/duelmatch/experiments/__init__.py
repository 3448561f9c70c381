"""Many simulated runs: planned in a file, run in parallel, saved as they finish, resumed, compared, drawn."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duelmatch.experiments.cell import Cell, Instance, Variant, single_cell
    from duelmatch.experiments.evaluation import ExperimentStatus, results, status
    from duelmatch.experiments.experiment import Experiment, from_dict, load
    from duelmatch.experiments.reporting import figure, report
    from duelmatch.experiments.session import Tick, run
    from duelmatch.experiments.simulation import Run, Summary, simulations, summarise

__all__ = [
    "Cell",
    "Experiment",
    "ExperimentStatus",
    "Instance",
    "Run",
    "Summary",
    "Tick",
    "Variant",
    "figure",
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

_HOMES = {
    "cell": ("Cell", "Instance", "Variant", "single_cell"),
    "evaluation": ("ExperimentStatus", "results", "status"),
    "experiment": ("Experiment", "from_dict", "load"),
    "reporting": ("figure", "report"),
    "session": ("Tick", "run"),
    "simulation": ("Run", "Summary", "simulations", "summarise"),
}

if not TYPE_CHECKING:

    def __getattr__(name):
        for module, names in _HOMES.items():
            if name in names:
                globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
                return globals()[name]
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

    def __dir__():
        return sorted({*globals(), *__all__})
