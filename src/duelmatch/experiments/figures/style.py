"""How figures look: one hand for all of them, colours that everybody can tell apart, files without a date.

An algorithm has the same colour in every figure; markers differ too, also between its variants. Black is
kept for the information limit, and grey for what is not a result.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from duelmatch.drawing import INK, SETTINGS, save_figure
from duelmatch.errors import MissingExtraError
from duelmatch.experiments.cell import Variant
from duelmatch.explorers.catalogue import algorithms
from duelmatch.phrases import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Item = TypeVar("Item")

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#882255",
    "#332288",
    "#999933",
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
MOST_PANELS = 6
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PANEL, ALONE = (4.1, 3.2), (6.8, 4.0)
"""Inches, of one panel among several, and of one that has the figure for itself."""

_LOOK = {
    **SETTINGS,
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9.5,
    "font.size": 9,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.markersize": 5,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


class Styles:
    """The colour and marker of each variant of an experiment."""

    def __init__(self, variants: Sequence[Variant]) -> None:
        names = list(algorithms("crowd"))
        self._of: dict[str, tuple[str, str]] = {}
        for variant in variants:
            siblings = [other.label for other in variants if other.algorithm == variant.algorithm]
            number = names.index(variant.algorithm)
            marker = MARKERS[(number + 3 * siblings.index(variant.label)) % len(MARKERS)]
            self._of[variant.label] = (COLOURS[number % len(COLOURS)], marker)

    def colour(self, variant: Variant) -> str:
        """Return the colour of the algorithm."""
        return self._of[variant.label][0]

    def marker(self, variant: Variant) -> str:
        """Return the marker of the variant."""
        return self._of[variant.label][1]


@contextmanager
def look() -> Iterator[type[Figure]]:
    """Give the class of figures, with our settings in force."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("Figures need matplotlib: pip install 'duelmatch[plots]'") from None
    with matplotlib.rc_context(_LOOK):
        yield Figure


def panels(
    figure_class: type[Figure], number: int, size: tuple[float, float] | None = None
) -> tuple[Figure, list[Axes]]:
    """Return a figure with so many panels, three in a row."""
    size = size or (ALONE if number == 1 else PANEL)
    columns = min(number, 3)
    rows = -(-number // 3)
    figure = figure_class(
        figsize=(max(columns * size[0], 4.8), rows * size[1]), facecolor="white", layout="constrained"
    )
    grid = figure.subplots(rows, columns, squeeze=False)
    axes = list(grid.flat)
    for unused in axes[number:]:
        unused.set_visible(False)
    return figure, axes[:number]


def variant_handles(variants: Sequence[Variant], styles: Styles) -> list[Any]:
    """Return an entry of a legend for each variant, once."""
    from matplotlib.lines import Line2D

    once = {variant.label: variant for variant in variants}
    return [
        Line2D([], [], color=styles.colour(variant), marker=styles.marker(variant), label=plain(label))
        for label, variant in once.items()
    ]


def legend_below(figure: Figure, handles: list[Any]) -> None:
    """Put one legend under all panels."""
    width, height = figure.get_size_inches()
    columns = max(1, min(len(handles), int(width // 2.2)))
    figure.set_size_inches(width, height + 0.25 * -(-len(handles) // columns))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=9)


def number(value: float) -> str:
    """Return a number for the label of a tick.

    >>> number(0.05), number(2000), number(1e6), number(2e-7)
    ('0.05', '2,000', '10⁶', '2×10⁻⁷')
    """
    if 0.001 <= value < 10_000:
        return f"{value:,.12g}"
    mantissa, _, exponent = f"{value:.0e}".partition("e")
    power = "10" + str(int(exponent)).translate(_RAISED)
    return power if mantissa == "1" else f"{mantissa}×{power}"


def _label_plainly(axis: Any) -> None:
    """Label a log axis at powers of ten; at 2 and 5 too, or evenly, if it is short; unless labels are set."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if axis.get_scale() != "log" or isinstance(axis.get_major_locator(), FixedLocator):
        return
    low, high = sorted(axis.get_view_interval())  # an axis may run backwards
    if low > 0 and high < 4 * low:
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    elif low > 0 and high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.set_minor_formatter(NullFormatter())


def plain(text: str, width: int = 52, lines: int = 3) -> str:
    """Return text for a figure, wrapped."""
    wrapped = textwrap.wrap(printable(text), width, max_lines=lines, placeholder=" …", break_on_hyphens=False)
    return "\n".join(wrapped)


def spread_out(found: Sequence[Item], most: int = MOST_PANELS) -> list[Item]:
    """Return at most so many of a list, from its first to its last.

    >>> spread_out("abcdefgh", 3)
    ['a', 'e', 'h']
    """
    if len(found) <= most:
        return list(found)
    return [found[round(place * (len(found) - 1) / (most - 1))] for place in range(most)]


def save(figure: Figure, *files: Path) -> None:
    """Write a figure to files, in the formats that their endings pick: the same data, the same bytes."""
    with look():
        for axes in figure.axes:
            _label_plainly(axes.xaxis)
            _label_plainly(axes.yaxis)
        for file in files:
            save_figure(figure, file)
            figure.set_layout_engine(None)  # it stays as it is, which saves half of the time
