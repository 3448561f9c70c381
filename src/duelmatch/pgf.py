r"""Figures as PGF, which a LaTeX document reads with ``\input`` and sets in its own font.

matplotlib writes PGF itself, but asks LaTeX how wide every text is. Here matplotlib measures in its own font
instead, so that nothing else need be installed; a text is anchored where it stands, and the document's font
makes it a little wider or narrower around that point.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TextIO

from duelmatch.errors import FileError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_SPOKEN = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "×": r"\ensuremath{\times}",
    "−": r"\ensuremath{-}",
    "…": r"\ldots{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_HEAD = r"""%% A picture for LaTeX: \usepackage{pgf} in the preamble, and \input{this file} where it belongs.
\begingroup%%
\makeatletter%%
\begin{pgfpicture}%%
\pgfpathrectangle{\pgfqpoint{%fin}{%fin}}{\pgfqpoint{%fin}{%fin}}%%
\pgfusepath{use as bounding box, clip}%%
"""
_TAIL = r"""\end{pgfpicture}%
\makeatother%
\endgroup%
"""


def as_tex(text: str) -> str:
    r"""Return what LaTeX takes for a text.

    >>> print(as_tex("5% of 2×10⁻⁷"))
    5\% of 2\ensuremath{\times}10\textsuperscript{-7}
    """
    escaped = "".join(_SPOKEN.get(character, character) for character in text)
    return re.sub(
        "[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda found: rf"\textsuperscript{{{found[0].translate(_RAISED)}}}", escaped
    )


def write_pgf(figure: Figure, file: TextIO, tight: float | None = None) -> None:
    """Write a figure; if ``tight`` is given, cut off around what is drawn, with so many inches of margin.

    :raises FileError: if the figure has an image in it, which PGF could only refer to.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.backends.backend_pgf import RendererPgf

    width, height = figure.get_size_inches()
    ruler = RendererAgg(width * figure.dpi, height * figure.dpi, figure.dpi)

    class Renderer(RendererPgf):  # type: ignore[misc]
        def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> Any:
            return ruler.get_text_width_height_descent(s, prop, ismath)

        def draw_text(self, gc: Any, x: Any, y: Any, s: str, *rest: Any, **options: Any) -> None:
            super().draw_text(gc, x, y, as_tex(s), *rest, **options)

        def draw_image(self, *_: Any, **__: Any) -> None:
            raise FileError("PGF cannot hold this figure, since there is an image in it; use .svg or .pdf.")

    x, y = 0.0, 0.0
    if tight is not None:
        box = figure.get_tightbbox(ruler).padded(tight)
        x, y, width, height = box.x0, box.y0, box.width, box.height
    with matplotlib.rc_context({"pgf.rcfonts": False}):
        file.write(_HEAD % (x, y, width, height))
        figure.draw(Renderer(figure, file))
        file.write(_TAIL)
