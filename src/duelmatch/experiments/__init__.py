"""Many simulated runs: planned in a file, run in parallel, saved as they finish, resumed, compared, drawn."""

from typing import TYPE_CHECKING

from duelmatch.lazy import lazily

if TYPE_CHECKING:
    from duelmatch.experiments.experiment import Cell, Experiment, Instance, Variant
    from duelmatch.experiments.layout import from_dict, load
    from duelmatch.experiments.report import report
    from duelmatch.experiments.session import Tick, run
    from duelmatch.experiments.status import Status, results, status

__all__ = [
    "Cell",
    "Experiment",
    "Instance",
    "Status",
    "Tick",
    "Variant",
    "from_dict",
    "load",
    "report",
    "results",
    "run",
    "status",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(
        "duelmatch.experiments",
        {
            "experiment": ("Cell", "Experiment", "Instance", "Variant"),
            "layout": ("from_dict", "load"),
            "report": ("report",),
            "session": ("Tick", "run"),
            "status": ("Status", "results", "status"),
        },
    )
