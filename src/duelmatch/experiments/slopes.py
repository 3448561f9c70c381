"""Series of cells that differ in one thing only, and the slopes fitted to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from scipy import stats

from duelmatch.experiments.cell import Cell, Variant, shown
from duelmatch.experiments.evaluation import CellSummary
from duelmatch.experiments.simulation import CONFIDENCE
from duelmatch.theory.width import best_width_bound

FEWEST_POINTS = 4
"""For a slope: a line through three has one degree of freedom left, and an interval that says nothing."""

LEAST_RANGE = 1.5
"""The largest x over the smallest, for a power law to be told from chance."""

_HARDNESS = ("gap", "strength", "spread", "noise", "low", "high", "seed", "instance")
_SIZE = ("positions", "candidates", "seed", "instance")


@dataclass(frozen=True)
class Slope:
    """A fitted slope with its 95% interval (Student's t, from the scatter of the points)."""

    value: float
    low: float
    high: float
    points: int

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Series:
    """The cells of one variant in one panel, by x; ``x`` and the mean number of duels are what is drawn."""

    panel: str
    variant: Variant
    x: tuple[float, ...]
    summaries: tuple[CellSummary, ...]

    @property
    def scattered(self) -> bool:
        """Whether these are random instances, between which there is nothing to draw a line through."""
        return any({"instance", "seed"} & set(s.cell.instance.parameters) for s in self.summaries)

    @property
    def means(self) -> tuple[float, ...]:
        """The mean number of duels at each x."""
        return tuple(summary.mean for summary in self.summaries)

    def power(self) -> Slope | None:
        """Return s of duels ~ x^s; None if x hardly changes."""
        if self.x[-1] < LEAST_RANGE * self.x[0]:
            return None
        return fit([log(x) for x in self.x], [log(max(mean, 1)) for mean in self.means])

    def per_nat(self) -> Slope | None:
        """Return b of duels ~ a + b ln(1 / x): the duels that one more nat of certainty costs."""
        return fit([-log(x) for x in self.x], list(self.means))


@dataclass(frozen=True)
class Axis:
    """What a figure is drawn against: x of a cell, and what the cells of a panel have in common."""

    name: str
    x: Callable[[Cell], float | None]
    common: Callable[[Cell], tuple[str, ...]]


def _without(names: tuple[str, ...]) -> Callable[[Cell], tuple[str, ...]]:
    def common(cell: Cell) -> tuple[str, ...]:
        shared = {name: value for name, value in cell.instance.parameters.items() if name not in names}
        family = f"{cell.instance.family} ({shown(shared)})" if shared else cell.instance.family
        return family, f"delta {cell.delta:g}"

    return common


AXES: dict[str, Axis] = {
    "gap": Axis("smallest gap of an edge", lambda cell: cell.known.gap, _without(_HARDNESS)),
    "positions": Axis(
        "number of positions l",
        lambda cell: float(len(cell.instance.preferences.problem.positions)),
        _without(_SIZE),
    ),
    "width": Axis(
        "width of the graph",
        lambda cell: float(best_width_bound(cell.instance.preferences.problem)),
        _without(("ring",)),
    ),
    "delta": Axis("delta", lambda cell: cell.delta, lambda cell: (cell.instance.label,)),
    "bound": Axis("the paper's upper bound", lambda cell: cell.upper_bound, lambda cell: ()),
}


def series_along(summaries: Iterable[CellSummary], axis: Axis) -> list[Series]:
    """Return the series along an axis that have at least two different x, in the order of the grid."""
    found: dict[tuple[Any, ...], list[tuple[float, CellSummary]]] = {}
    for summary in summaries:
        cell = summary.cell
        x = axis.x(cell)
        if x is not None and len(summary.duels):
            title = f"{cell.variant.criterion.capitalize()}: {', '.join(axis.common(cell))}"
            found.setdefault((title.removesuffix(": "), cell.variant.label), []).append((x, summary))
    series = []
    for (panel, _), points in found.items():
        points.sort(key=lambda point: point[0])
        if len({x for x, _ in points}) >= 2:
            own = tuple(summary for _, summary in points)
            series.append(Series(panel, own[0].cell.variant, tuple(x for x, _ in points), own))
    return series


def fit(x: list[float], y: list[float]) -> Slope | None:
    """Fit a straight line by least squares.

    >>> fit([0, 1, 2, 3], [1, 3, 5, 7])
    Slope(value=2.0, low=2.0, high=2.0, points=4)
    """
    if len(set(x)) < FEWEST_POINTS:
        return None
    line = stats.linregress(x, y)
    radius = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(x) - 2) * np.nan_to_num(line.stderr))
    return Slope(float(line.slope), float(line.slope) - radius, float(line.slope) + radius, len(x))
