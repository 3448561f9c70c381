"""Many simulated runs: planned in a file, run in parallel, saved as they finish, resumed, compared, drawn."""

from duelmatch.errors import MissingExtraError

try:
    import joblib  # noqa: F401
    import pyarrow  # noqa: F401
except ImportError:
    raise MissingExtraError("Experiments need more: pip install 'duelmatch[experiments]'") from None

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
