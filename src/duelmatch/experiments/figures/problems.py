"""What was asked about: the matrix of probabilities of an instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from duelmatch.drawing import INK
from duelmatch.experiments.figures.style import look
from duelmatch.phrases import printable
from duelmatch.preferences import Preferences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_EDGES = 60
"""More names than this cannot be read."""

MOST_EDGES_WITH_NUMBERS = 16
LONGEST = 18


def preference_matrix(preferences: Preferences) -> Figure:
    """Draw P(row beats column), position by position; what is never compared stays empty."""
    graph = preferences.problem.graph
    comparable = graph.comparable
    shown = np.where(comparable, preferences.matrix, np.nan)
    with look() as figure_class:
        size = float(np.clip(0.36 * graph.edges + 2.2, 3.6, 14.0))
        figure = figure_class(figsize=(size + 1.0, size), facecolor="white", layout="constrained")
        ax = figure.subplots()
        drawn = ax.imshow(shown, cmap="PuOr_r", vmin=0, vmax=1, interpolation="nearest")
        ax.grid(visible=False)
        names = [printable(candidate)[:LONGEST] for candidate, _ in preferences.problem.edges]
        named = graph.edges <= MOST_EDGES
        places = range(graph.edges) if named else []
        ax.set_xticks(places, [names[place] for place in places], rotation=90)
        ax.set_yticks(places, [names[place] for place in places])
        for position, name in enumerate(preferences.problem.positions):
            start, end = graph.start[position] - 0.5, graph.start[position + 1] - 0.5
            ax.plot([start, end, end, start, start], [start, start, end, end, start], color=INK, linewidth=1)
            if named:
                ax.text(end + 0.2, (start + end) / 2, printable(name)[:LONGEST], va="center", fontsize=8.5)
        if graph.edges <= MOST_EDGES_WITH_NUMBERS:
            for row, column in np.argwhere(comparable & ~np.eye(graph.edges, dtype=bool)):
                value = preferences.matrix[row, column]
                dark = abs(value - 0.5) > 0.35
                text = f"{value:.2f}".removeprefix("0") if value < 1 else "1"
                ax.text(
                    column, row, text, ha="center", va="center", fontsize=7, color="white" if dark else INK
                )
        ax.set(xlabel="loses", ylabel="wins")
        figure.colorbar(drawn, ax=ax, label="probability that the row beats the column", shrink=0.8)
        return figure
