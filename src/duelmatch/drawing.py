"""Pictures of a problem: positions on the left, candidates on the right, matchings in colour.

Needs matplotlib (the extra ``plots``), which is imported when something is drawn. Colours are those of
Okabe and Ito, which people with colour vision deficiencies can tell apart; matchings also differ in
their line style. Characters that the font DejaVu Sans lacks come out as boxes. The same problem gives
the same file, byte for byte, with the same matplotlib.
"""

from __future__ import annotations

import io
import os
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duelmatch.errors import FileError, MissingExtraError, ProblemError
from duelmatch.files.documents import naming
from duelmatch.files.writing import replacing
from duelmatch.matchings import edges_in_every, edges_in_some
from duelmatch.pgf import write_pgf
from duelmatch.phrases import printable
from duelmatch.problem import Matching, Problem, seated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf", ".pgf")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (7, 1.5, 1.5, 1.5)), "-", "-")
INK, GREY, LIGHT = "#222222", "#8C8C8C", "#BEBEBE"
SOME, EVERY, NEVER = "in some maximum matching", "in every maximum matching", "in no maximum matching"

LABEL_WIDTH, LABEL_LINES = 26, 2
"""A name is wrapped after so many characters and cut off after so many lines."""

MOST_RULES = 8
"""At most this many rules are written above the picture."""

GAP = 0.055
"""Inches between the parallel lines of matchings that share an edge."""

SETTINGS = {"svg.hashsalt": "duelmatch", "font.family": "DejaVu Sans", "text.parse_math": False}
METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where everything stands, in inches."""

    width: float
    height: float
    font: float
    position_y: Mapping[str, float]
    candidate_y: Mapping[str, float]


def draw(
    problem: Problem,
    matchings: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    path: str | os.PathLike[str],
    title: str | None = None,
) -> Path:
    """Draw a problem, with ``matchings`` (label to matching) in colour, and return the path.

    The suffix of ``path`` picks the format: .png, .svg, .pdf or .pgf. Candidates are put in an order that
    crosses few lines: opposite their position in the first matching, the others near the positions
    they can fill.

    :raises MissingExtraError: if matplotlib is not installed.
    :raises FileError: if the suffix is another one, or the file cannot be written.
    """
    target = Path(path)
    check_format(target)
    chosen = dict(matchings or {})
    if len(chosen) > len(COLOURS):
        raise ProblemError(f"At most {len(COLOURS)} matchings fit into one picture, not {len(chosen)}.")
    for matching in chosen.values():
        problem.edge_numbers(matching)
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("Drawing needs matplotlib: pip install 'duelmatch[plots]'") from None
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = _figure(Figure, problem, chosen, title)
        save_figure(figure, target, tight=0.2)
    return target


def check_format(path: Path) -> None:
    """Refuse a name for a picture whose ending is not one of FORMATS."""
    if path.suffix.lower() not in FORMATS:
        raise FileError(
            f"{printable(str(path))}: The name of a picture must end in "
            f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}."
        )


def save_figure(figure: Figure, path: Path, tight: float | None = None) -> None:
    """Write a figure in the format that the suffix picks, cut off ``tight`` inches around what is drawn."""
    suffix = path.suffix.lower()
    with naming(path), replacing(path) as file:
        if suffix == ".pgf":
            text = io.StringIO()
            write_pgf(figure, text, tight)
            file.write(text.getvalue().encode())
            return
        cut: dict[str, Any] = {} if tight is None else {"bbox_inches": "tight", "pad_inches": tight}
        figure.savefig(file, format=suffix[1:], dpi=150, metadata=METADATA[suffix], **cut)


def _figure(
    figure_class: type[Figure],
    problem: Problem,
    matchings: Mapping[str, Mapping[str, Any]],
    title: str | None,
) -> Figure:
    layout = _layout(problem, list(matchings.values()))
    figure = figure_class(figsize=(layout.width, layout.height), facecolor="white")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, layout.width), ylim=(0, layout.height))
    axes.axis("off")
    _draw_edges(axes, problem, matchings, layout)
    _draw_matchings(axes, matchings, layout)
    _draw_names(axes, problem, layout)
    if title:
        _write_above(axes, layout, textwrap.fill(printable(title), 60), 0.42, 13)
    if problem.rules:
        said = [f"Rule: {rule.sentence}." for rule in problem.rules[:MOST_RULES]]
        if len(problem.rules) > MOST_RULES:
            said.append(f"… and {len(problem.rules) - MOST_RULES} more rules.")
        text = "\n".join(textwrap.fill(printable(line), 80) for line in said)
        _write_above(axes, layout, text, 1.0 if title else 0.42, 9)
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            handles,
            labels,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.15 / layout.height),
            ncols=len(handles) if len(handles) <= 2 else 1,
            frameon=False,
            fontsize=10,
            handlelength=3.2,
        )
    return figure


def _write_above(axes: Axes, layout: _Layout, text: str, up: float, size: float) -> None:
    middle, y = layout.width / 2, layout.height + up
    axes.text(middle, y, text, ha="center", va="bottom", fontsize=size, color=INK)


def _layout(problem: Problem, matchings: Sequence[Mapping[str, Any]]) -> _Layout:
    rows = max(len(problem.positions), len(problem.candidates))
    font = 11.0 if rows <= 10 else 9.0 if rows <= 24 else 7.0
    row_height = 0.5 if rows <= 6 else 0.42 if rows <= 10 else 0.34 if rows <= 24 else 0.26
    height = min(rows * row_height, 60.0)
    width = min(max(3.6, 0.62 * height), 9.0)
    order = _candidate_order(problem, matchings)
    return _Layout(width, height, font, _spread(problem.positions, height), _spread(order, height))


def _spread(names: Sequence[str], height: float) -> dict[str, float]:
    return {name: height * (1 - (i + 0.5) / len(names)) for i, name in enumerate(names)}


def _candidate_order(problem: Problem, matchings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the candidates from top to bottom, as :func:`draw` says."""
    rows: dict[str, list[int]] = {candidate: [] for candidate in problem.candidates}
    for candidate, position in problem.edges:
        rows[candidate].append(problem.position_number(position))
    place = {candidate: sum(fits) / len(fits) if fits else float("inf") for candidate, fits in rows.items()}
    for matching in reversed(matchings):
        place |= {name: problem.position_number(position) for name, position in Matching(matching).edges}
    return sorted(problem.candidates, key=lambda candidate: place[candidate])


def _draw_edges(
    axes: Axes, problem: Problem, matchings: Mapping[str, Mapping[str, Any]], layout: _Layout
) -> None:
    """Draw the edges outside the matchings thinly, and say which are never used.

    A picture without matchings also says which edges are always used.
    """
    coloured = {edge for matching in matchings.values() for edge in Matching(matching).edges}
    drawn = [edge for edge in problem.edges if edge not in coloured]
    some = edges_in_some(problem)
    every = frozenset() if matchings else edges_in_every(problem)
    thin = 1.0 if len(problem.edges) <= 60 else 0.7
    kinds = (
        (SOME, [e for e in drawn if e in some - every], LIGHT if matchings else GREY, thin, "-"),
        (EVERY, [e for e in drawn if e in every], INK, 2.4, "-"),
        (NEVER, [e for e in drawn if e not in some], GREY, 1.2, (0, (1, 2))),
    )
    name_all = not matchings and sum(bool(edges) for _, edges, *_ in kinds) > 1
    for label, edges, colour, width, style in kinds:
        for number, (candidate, position) in enumerate(edges):
            axes.plot(
                (0, layout.width),
                (layout.position_y[position], layout.candidate_y[candidate]),
                color=colour,
                linewidth=width,
                linestyle=style,
                label=label if number == 0 and (name_all or label != SOME) else None,
                zorder=1,
            )


def _draw_matchings(axes: Axes, matchings: Mapping[str, Mapping[str, Any]], layout: _Layout) -> None:
    """Draw each matching; lines that several share run side by side."""
    for number, (label, matching) in enumerate(matchings.items()):
        for place, (candidate, position) in enumerate(Matching(matching).edges):
            sharing = [
                k for k, other in enumerate(matchings.values()) if candidate in seated(other[position])
            ]
            offset = (sharing.index(number) - (len(sharing) - 1) / 2) * GAP
            start, end = layout.position_y[position], layout.candidate_y[candidate]
            length = ((end - start) ** 2 + layout.width**2) ** 0.5
            across, up = offset * (end - start) / length, -offset * layout.width / length
            axes.plot(
                (across, layout.width + across),
                (start + up, end + up),
                color=COLOURS[number],
                linestyle=STYLES[number],
                linewidth=2.8,
                solid_capstyle="butt",
                label=printable(label) if place == 0 else None,
                zorder=3,
            )


def _draw_names(axes: Axes, problem: Problem, layout: _Layout) -> None:
    columns = (
        ("Positions", layout.position_y, 0.0, "s", "right", -0.16),
        ("Candidates", layout.candidate_y, layout.width, "o", "left", 0.16),
    )
    for heading, places, x, marker, side, shift in columns:
        axes.plot(
            [x] * len(places), list(places.values()), marker, color=INK, markersize=6, clip_on=False, zorder=4
        )
        for name, y in places.items():
            axes.text(
                x + shift,
                y,
                _label(name + _number(problem, name, heading)),
                ha=side,
                va="center",
                fontsize=layout.font,
                color=INK,
                linespacing=0.95,
            )
        axes.text(
            x + shift,
            layout.height + 0.1,
            heading,
            ha=side,
            va="bottom",
            fontsize=layout.font,
            color="#666666",
        )


def _number(problem: Problem, name: str, heading: str) -> str:
    """Return what a name is followed by: its seats and weight, or its capacity."""
    if heading == "Candidates":
        return f" (up to {problem.capacity[name]})" if name in problem.capacity else ""
    seats = [f"{problem.seats[name]} seats"] if name in problem.seats else []
    weight = [f"counts {problem.weight[name]:g}"] if name in problem.weight else []
    return f" ({', '.join(seats + weight)})" if seats or weight else ""


def _label(name: str) -> str:
    lines = textwrap.wrap(
        printable(name), LABEL_WIDTH, max_lines=LABEL_LINES, placeholder=" …", break_on_hyphens=True
    )
    return "\n".join(lines) or printable(name)
