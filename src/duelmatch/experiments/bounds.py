"""What theory says about a cell: its gap, the paper's bound, the information limit; None if it is silent."""

from __future__ import annotations

from contextlib import suppress
from math import isfinite

import duelmatch.theory as theory
from duelmatch.errors import DuelmatchError
from duelmatch.experiments.experiment import Cell
from duelmatch.explorers.catalogue import described
from duelmatch.preferences import Criterion
from duelmatch.theory import InformationLimit

MOST_EDGES = 100
"""For an information limit: up to here it takes a second or two."""


class Bounds:
    """Works out each once for an instance and a criterion."""

    def __init__(self) -> None:
        self._gaps: dict[tuple[str, Criterion], float | None] = {}
        self._limits: dict[tuple[str, Criterion], InformationLimit | None] = {}

    def gap(self, cell: Cell) -> float | None:
        """Return the smallest gap of an edge, by the criterion of the algorithm."""
        criterion = cell.variant.criterion
        known = cell.instance.label, criterion
        if _other_reference(cell):
            return None
        if known not in self._gaps:
            gaps = theory.borda_gaps if criterion == "borda" else theory.condorcet_gaps
            try:
                smallest = min(gaps(cell.instance.preferences).values())
                self._gaps[known] = smallest if isfinite(smallest) and smallest > 0 else None
            except DuelmatchError:
                self._gaps[known] = None
        return self._gaps[known]

    def limit(self, cell: Cell) -> float | None:
        """Return the information limit in duels; there is none for an answer that need not be the best."""
        if cell.variant.epsilon is not None or _other_reference(cell):
            return None
        preferences, criterion = cell.instance.preferences, cell.variant.criterion
        known = cell.instance.label, criterion
        if known not in self._limits:
            self._limits[known] = None
            if preferences.problem.graph.edges <= MOST_EDGES:
                with suppress(DuelmatchError):
                    self._limits[known] = theory.information_limit(preferences, criterion)
        limit = self._limits[known]
        return None if limit is None else _useful(limit.duels(cell.delta))

    def upper(self, cell: Cell) -> float | None:
        """Return the upper bound of the algorithm, if one is known."""
        algorithm = described(cell.variant.algorithm)
        try:
            parameters = algorithm.checked(cell.variant.parameters)
            bound = algorithm.upper_bound(cell.instance.preferences, cell.delta, parameters)
        except DuelmatchError:
            return None
        return None if bound is None else _useful(bound)


def _other_reference(cell: Cell) -> bool:
    """Whether Borda is counted against others than all matchings, of which theory says nothing."""
    return bool(cell.variant.parameters.get("reference", "decisions") != "decisions")


def _useful(duels: float) -> float | None:
    return duels if isfinite(duels) and duels > 0 else None
